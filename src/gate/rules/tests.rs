//! Rules, guards and patterns in tables.

use serde_json::json;

use super::*;
use crate::model::path::WsPath;
use crate::tools;

fn call(tool: &str, paths: &[&str]) -> CallFacts {
    CallFacts {
        tool: tool.to_owned(),
        arguments: json!({}).into(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        changes: tool != "read_file" && tool != "list_dir",
        caller: "mcp:local".to_owned(),
    }
}

fn rule(decision: Decision) -> Rule {
    Rule { decision, tools: None, paths: None, callers: None, reason: None, matches: vec![], spares: vec![] }
}

fn on(decision: Decision, tools: &[&str], paths: &[&str]) -> Rule {
    let list = |items: &[&str]| (!items.is_empty()).then(|| items.iter().map(|item| (*item).to_owned()).collect());
    Rule { tools: list(tools), paths: list(paths), ..rule(decision) }
}

fn rules(list: &[Rule]) -> Rules {
    let mut rules = Rules::open();
    for (n, rule) in list.iter().enumerate() {
        rules.add(rule, &format!("line {n}"), None).expect("a rule");
    }
    rules
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    }
}

fn refused(rule: &Rule) -> String {
    let mut registry = Registry::new();
    tools::register(&mut registry).expect("tools");
    Rules::open().add(rule, "toolgate.toml:7", Some(&registry)).expect_err("a fault").to_string()
}

#[test]
fn a_pattern_matches_as_in_gitignore() {
    for (patterns, hit, spared) in [
        (
            &["secrets/**"][..],
            &["secrets/k", "secrets/a/b", "secrets"][..],
            &["secret", "a/secrets/k", "secrets.txt"][..],
        ),
        (&["secrets"], &["secrets", "secrets/k", "a/secrets", "a/secrets/k"], &["secretsx", "a/xsecrets"]),
        (&["secrets/"], &["secrets", "a/secrets/k"], &["secretsx"]),
        (&["./secrets"], &["secrets", "secrets/k"], &["a/secrets"]),
        (&["*.env"], &[".env", "a.env", "x/y/b.env"], &[".env.example", "env", "a.envx"]),
        (&["**/.git/**"], &[".git", ".git/config", "a/b/.git/hooks/x"], &[".gitignore", "a/.github/x"]),
        (&["src/*.rs"], &["src/a.rs"], &["src/a/b.rs", "a/src/b.rs"]),
        (&["src/**/t.rs"], &["src/t.rs", "src/a/b/t.rs"], &["t.rs"]),
        (&["*", "!docs"], &["a", "src/docs.md", ""], &["docs", "a/docs/b"]),
        (&["**"], &["", ".", "a/b"], &[]),
        (&["{a,b}/c?"], &["a/cx", "b/cy/z"], &["a/c", "c/cx"]),
        (&["a[0-9].txt"], &["a1.txt", "d/a2.txt"], &["ab.txt"]),
    ] {
        let rules = rules(&[on(Decision::Deny, &[], patterns)]);
        for (path, want) in hit.iter().map(|path| (path, "deny")).chain(spared.iter().map(|path| (path, "allow"))) {
            assert_eq!(word(&rules.judge(&call("read_file", &[path]))), want, "{patterns:?} on {path:?}");
        }
    }
}

#[test]
fn b092_a_rule_matches_what_is_opened_however_it_is_typed() {
    let rules = rules(&[on(Decision::Deny, &[], &["secrets/**"])]);
    for typed in ["secrets/k", "./secrets/../secrets/k", "secrets//k", "a/../secrets/./k"] {
        let path = WsPath::parse(typed).expect("a path");
        assert_eq!(word(&rules.judge(&call("read_file", &[path.as_str()]))), "deny", "{typed}");
    }
}

#[test]
fn the_strictest_stands_whatever_the_order() {
    use Decision::{Allow, Ask, Deny};
    for (decisions, want) in [
        (&[][..], "allow"),
        (&[Allow][..], "allow"),
        (&[Allow, Ask], "ask"),
        (&[Ask, Allow], "ask"),
        (&[Ask, Deny, Allow], "deny"),
        (&[Deny, Ask], "deny"),
        (&[Allow, Deny], "deny"),
    ] {
        let list: Vec<Rule> = decisions.iter().map(|decision| rule(*decision)).collect();
        assert_eq!(word(&rules(&list).judge(&call("write_file", &["a"]))), want, "{decisions:?}");
        assert_eq!(word(&rules(&list).judge(&call("undo_change", &[]))), want, "{decisions:?} without a path");
    }
}

#[test]
fn of_several_paths_the_strictest_stands() {
    let mut rules = rules(&[
        on(Decision::Allow, &[], &["src/**"]),
        on(Decision::Ask, &[], &["docs/**"]),
        on(Decision::Deny, &[], &["*.env"]),
    ]);
    for (paths, want) in [
        (&["src/a", "src/b"][..], "allow"),
        (&["src/a", "docs/b"], "ask"),
        (&["docs/b", "src/a", "x/.env"], "deny"),
        (&["src/a", "other"], "allow"),
    ] {
        assert_eq!(word(&rules.judge(&call("move_path", paths))), want, "{paths:?}");
    }
    rules.otherwise(Decision::Deny);
    for (paths, want) in [(&["src/a", "src/b"][..], "allow"), (&["src/a", "other"], "deny"), (&[], "deny")] {
        assert_eq!(word(&rules.judge(&call("move_path", paths))), want, "{paths:?} with otherwise");
    }
}

#[test]
fn tools_and_callers_are_globs_too() {
    let only =
        Rule { callers: Some(vec!["mcp:*".into(), "!mcp:me".into()]), ..on(Decision::Deny, &["*", "!read_*"], &[]) };
    let rules = rules(&[only]);
    for (tool, caller, want) in [
        ("write_file", "mcp:local", "deny"),
        ("write_file", "mcp:https://me.example/x", "deny"),
        ("write_file", "mcp:me", "allow"),
        ("write_file", "cli", "allow"),
        ("read_file", "mcp:local", "allow"),
    ] {
        let facts = CallFacts { caller: caller.to_owned(), ..call(tool, &["a"]) };
        assert_eq!(word(&rules.judge(&facts)), want, "{tool} by {caller}");
    }
}

#[test]
fn case_is_folded_where_that_is_asked() {
    for (folds, path, want) in [
        (false, "Secrets/k", "allow"),
        (true, "Secrets/k", "deny"),
        (true, "SECRETS", "deny"),
        (true, "CAFE\u{301}/x", "deny"),
        (false, "CAFE\u{301}/x", "allow"),
        // On no file system do these two look different.
        (false, "cafe\u{301}/x", "deny"),
    ] {
        let mut rules = Rules::folding_case(folds);
        rules.add(&on(Decision::Deny, &[], &["secrets/**", "caf\u{e9}/**"]), "here", None).expect("a rule");
        assert_eq!(word(&rules.judge(&call("read_file", &[path]))), want, "{path} {folds}");
    }
}

#[test]
fn b093_a_rule_that_can_match_nothing_is_an_error() {
    let relative = "write it relative to the workspace's folder, such as secrets/** or **/*.env";
    for (tools, paths, want) in [
        (
            &[][..],
            &["/**"][..],
            format!("paths: the pattern \"/**\" is absolute, which no path of a workspace is; {relative}"),
        ),
        (
            &[],
            &["C:/x"],
            format!("paths: the pattern \"C:/x\" is absolute, which no path of a workspace is; {relative}"),
        ),
        (&[], &["~/x"], format!("paths: the pattern \"~/x\" is absolute, which no path of a workspace is; {relative}")),
        (
            &[],
            &["../x"],
            format!("paths: the pattern \"../x\" has a part . or .., which no path that is opened has; {relative}"),
        ),
        (
            &[],
            &["a/{b,..}/c"],
            format!(
                "paths: the pattern \"a/{{b,..}}/c\" has a part . or .., which no path that is opened has; {relative}"
            ),
        ),
        (
            &[],
            &["a/./b"],
            format!("paths: the pattern \"a/./b\" has a part . or .., which no path that is opened has; {relative}"),
        ),
        (&[], &["a//b"], "paths: the pattern \"a//b\" has an empty part, which no path has".into()),
        (
            &[],
            &["secrets\\k"],
            "paths: the pattern \"secrets\\\\k\" has a backslash between folders; write / instead".into(),
        ),
        (&[], &[""], "paths: the pattern \"\" is empty, so it matches nothing".into()),
        (&[], &["!"], "paths: the pattern \"!\" is empty, so it matches nothing".into()),
        (&[], &["a "], "paths: the pattern \"a \" begins or ends with a space, or holds a NUL".into()),
        (&[], &["a[b"], "paths: the pattern \"a[b\" cannot be read: unclosed character class; missing ']'".into()),
        (
            &[],
            &["!a"],
            "paths: the list only takes out, so it matches nothing; leave the key out to match everything".into(),
        ),
        (
            &["read_file("],
            &[],
            "tools: the pattern \"read_file(\" can match no tool: the name of a tool has no '('".into(),
        ),
        (&["read_fil"], &[], "tools: the pattern \"read_fil\" matches no tool; did you mean read_file?".into()),
        (&["zebra*"], &[], "tools: the pattern \"zebra*\" matches no tool".into()),
        (&["*", "!zebra"], &[], "tools: the pattern \"!zebra\" matches no tool".into()),
    ] {
        assert_eq!(refused(&on(Decision::Deny, tools, paths)), format!("toolgate.toml:7: {want}"));
    }
    let empty = Rule { tools: Some(vec![]), ..rule(Decision::Deny) };
    assert_eq!(
        refused(&empty),
        "toolgate.toml:7: tools: the list is empty, so it matches nothing; leave the key out to match everything"
    );
}

#[test]
fn examples_are_held_against_the_rule() {
    let example = |tool: Option<&str>, path: Option<&str>| Example {
        tool: tool.map(str::to_owned),
        path: path.map(str::to_owned),
        caller: None,
    };
    let base = on(Decision::Deny, &["write_file"], &["secrets/**"]);
    let good = Rule {
        matches: vec![
            example(Some("write_file"), Some("secrets/k")),
            example(None, Some("./secrets//k")),
            example(None, Some("a/../secrets")),
        ],
        spares: vec![
            example(Some("read_file"), Some("secrets/k")),
            example(None, Some("secret")),
            example(Some("write_file"), None),
        ],
        ..base.clone()
    };
    assert!(Rules::open().add(&good, "here", None).is_ok());
    for (matches, spares, want) in [
        (
            Some(example(Some("write_file"), Some("src/k"))),
            None,
            "matches: the example { tool = \"write_file\", path = \"src/k\" } is not hit by this rule",
        ),
        (
            Some(example(Some("write_file"), None)),
            None,
            "matches: the example { tool = \"write_file\" } is not hit by this rule",
        ),
        (
            None,
            Some(example(None, Some("secrets/k"))),
            "spares: the example { path = \"secrets/k\" } is hit by this rule",
        ),
        (
            None,
            Some(example(Some("wipe_file"), Some("a"))),
            "spares: the example { tool = \"wipe_file\", path = \"a\" } names a tool that does not exist; did you mean write_file?",
        ),
        (
            Some(example(None, Some("../x"))),
            None,
            "matches: the example { path = \"../x\" } can be no call: the path leads outside the workspace",
        ),
    ] {
        let bad = Rule { matches: matches.into_iter().collect(), spares: spares.into_iter().collect(), ..base.clone() };
        assert_eq!(refused(&bad), format!("toolgate.toml:7: {want}"));
    }
}

#[test]
fn b091_what_is_in_a_git_folder_is_not_changed() {
    let mut rules = Rules::open();
    rules.guard(Guard::git());
    for path in [
        ".git",
        ".git/hooks/pre-commit",
        "vendor/s/.git/config",
        ".GIT/config",
        "a/.Git",
        ".g\u{200c}it/config",
        ".git./config",
        ".git /x",
        ".git::$INDEX_ALLOCATION/x",
        "GIT~1/config",
    ] {
        assert_eq!(word(&rules.judge(&call("write_file", &[path]))), "deny", "{path}");
        assert_eq!(word(&rules.judge(&call("move_path", &["a", path]))), "deny", "{path}");
        assert_eq!(word(&rules.judge(&call("read_file", &[path]))), "allow", "reading {path}");
    }
    for path in [".gitignore", ".github/x", "git/config", "a.git/config", ".gitmodules"] {
        assert_eq!(word(&rules.judge(&call("write_file", &[path]))), "allow", "{path}");
    }
}

#[test]
fn guards_hold_beside_rules_that_allow() {
    let mut rules = rules(&[rule(Decision::Allow)]);
    rules.guard(Guard::read_only("--read-only"));
    assert_eq!(word(&rules.judge(&call("read_file", &["a"]))), "allow");
    for paths in [&["a"][..], &[]] {
        assert_eq!(
            rules.judge(&call("write_file", paths)).or_refuse().expect_err("denied").message,
            "denied: --read-only says: nothing may be changed in this workspace. Do not look for a way around it: go on \
             without this call, or tell the person what it was for."
        );
    }
    let mut rules = Rules::open();
    rules.guard(Guard::below(&WsPath::parse("Toolgate.toml").expect("a path"), "me", "it decides").asking());
    for (path, want) in
        [("toolgate.toml", "ask"), ("TOOLGATE.TOML", "ask"), ("toolgate.toml2", "allow"), ("a/toolgate.toml", "allow")]
    {
        assert_eq!(word(&rules.judge(&call("write_file", &[path]))), want, "{path}");
    }
}

#[test]
fn a_denial_says_who_why_and_what_next() {
    let cases = [
        (
            Rule { reason: Some("keys stay here!".into()), ..on(Decision::Deny, &[], &["secrets"]) },
            "the rule at line 0 says: keys stay here! Do",
        ),
        (on(Decision::Deny, &[], &["secrets"]), "the rule at line 0 says: read_file on secrets/k is not allowed. Do"),
        (on(Decision::Ask, &["read_file"], &[]), "the rule at line 0 says: read_file needs a person's word. Do"),
    ];
    for (rule, want) in cases {
        let error = rules(&[rule]).judge(&call("read_file", &["secrets/k"])).or_refuse().expect_err("denied");
        assert!(error.message.starts_with(&format!("denied: {want}")), "{}", error.message);
        assert_eq!(error.details["by"], "the rule at line 0");
    }
}

#[test]
fn a_rule_of_one_folder_means_the_same_below_it() {
    let folder = WsPath::parse("docs").expect("a path");
    for (patterns, hit, spared) in [
        (
            &["secrets/**"][..],
            &["docs/secrets/k", "docs/secrets"][..],
            &["secrets/k", "docs/a/secrets/k", "code/secrets/k"][..],
        ),
        (&["secrets"], &["docs/secrets", "docs/a/secrets/k"], &["secrets", "code/secrets", "docs/secretsx"]),
        (&["secrets/"], &["docs/secrets/k", "docs/a/secrets/k"], &["secrets/k"]),
        (&["./secrets"], &["docs/secrets/k"], &["docs/a/secrets", "secrets"]),
        (&["*.env", "!sub/*.env"], &["docs/a.env", "docs/x/a.env"], &["a.env", "docs/sub/a.env", "code/a.env"]),
        (&["*"], &["docs", "docs/a", "docs/a/b"], &["code/a", "a/docs", "."]),
        (&["**/x"], &["docs/x", "docs/a/x"], &["x", "code/x"]),
        (&["**/*"], &["docs", "docs/a", "docs/a/x"], &["a", "code/x"]),
        (&["**", "!*"], &["docs"], &["docs/a", "code"]),
    ] {
        let rules = rules(&[on(Decision::Deny, &[], patterns).below(&folder)]);
        let judged = |path: &str| word(&rules.judge(&call("read_file", &[path])));
        hit.iter().for_each(|path| assert_eq!(judged(path), "deny", "{patterns:?} {path}"));
        spared.iter().for_each(|path| assert_eq!(judged(path), "allow", "{patterns:?} {path}"));
    }
    let everywhere = rules(&[rule(Decision::Deny).below(&folder)]);
    assert_eq!(word(&everywhere.judge(&call("read_file", &["code/a"]))), "deny", "what is stricter holds everywhere");
    let mut only_here = rules(&[rule(Decision::Allow).below(&folder)]);
    only_here.otherwise(Decision::Deny);
    let judged = |path: &str| word(&only_here.judge(&call("read_file", &[path])));
    assert_eq!((judged("docs/a"), judged("code/a")), ("allow", "deny"), "what is laxer does not");
}

/// To judge what is in a folder by its names is to judge each of them.
#[test]
fn inside_of_a_folder_as_one_by_one() {
    use Decision::{Allow, Ask, Deny};
    let below =
        ["a", "a/b", "a/.git", "a/.git/x", "secrets", "secrets/k", "secrets/pub", "x.env", "CAFE\u{301}", "GIT~1"];
    type Line = (Decision, &'static [&'static str], &'static [&'static str]);
    let tables: [&[Line]; 12] = [
        &[],
        &[(Deny, &[], &["secrets/**"])],
        &[(Deny, &[], &["top/secrets/**"])],
        &[(Deny, &[], &["*.env"]), (Allow, &[], &["**"])],
        &[(Ask, &[], &["top/*/b"])],
        &[(Deny, &[], &["**", "!top", "!other/**"])],
        &[(Deny, &[], &["secrets", "!top/secrets/pub"])],
        &[(Deny, &["read_file"], &["secrets"])],
        &[(Deny, &["move_*"], &["./top/a/b"])],
        &[(Ask, &[], &["top/[ab]/b", "t?p/x.env"])],
        &[(Deny, &[], &["caf\u{e9}"])],
        &[(Deny, &[], &["topp/**", "to", "b"])],
    ];
    for (list, otherwise, git, folds) in tables.iter().flat_map(|list| {
        [(Allow, false, false), (Allow, true, false), (Deny, false, true), (Ask, true, true)]
            .map(|(otherwise, git, folds)| (list, otherwise, git, folds))
    }) {
        let mut rules = Rules::folding_case(folds);
        for (decision, tools, paths) in *list {
            rules.add(&on(*decision, tools, paths), "line 1", None).expect("a rule");
        }
        rules.otherwise(otherwise);
        if git {
            rules.guard(Guard::git());
            rules.guard(Guard::below(&WsPath::parse("top/a/b").expect("a path"), "us", "ours").asking());
        }
        for folder in ["top", "other", "top/deep", "b"] {
            let facts = call("move_path", &[folder]);
            let paths: Vec<_> = below.iter().map(|name| format!("{folder}/{name}")).collect();
            let all: Vec<_> = std::iter::once(folder).chain(paths.iter().map(String::as_str)).collect();
            let one_by_one = rules.judge(&call("move_path", &all));
            let mut at_once = rules.judge(&facts);
            if rules.concern_inside(&facts, folder) {
                at_once = at_once.and(rules.judge_inside(&facts, folder, below));
            }
            assert_eq!(word(&at_once), word(&one_by_one), "{list:?} {otherwise:?} {git} {folds} {folder}");
        }
    }
}

#[test]
fn a_rule_about_another_place_needs_no_look_inside() {
    for (pattern, folder, concerns) in [
        ("secrets/**", "src", false),
        ("secrets/**", "secrets", true),
        ("a/b/**", "a", true),
        ("a/b/**", "a/c", false),
        ("a/b*/c", "a", true),
        ("a/b*/c", "b", false),
        ("secrets", "src", true),
        ("*.env", "src", true),
        ("./secrets", "src", false),
    ] {
        let rules = rules(&[on(Decision::Deny, &[], &[pattern])]);
        assert_eq!(rules.concern_inside(&call("move_path", &[folder]), folder), concerns, "{pattern} {folder}");
        let others =
            self::rules(&[on(Decision::Deny, &["read_file"], &[pattern]), on(Decision::Allow, &[], &[pattern])]);
        assert!(!others.concern_inside(&call("move_path", &[folder]), folder), "{pattern} {folder}");
    }
}
