//! Configuration: what is read, and the faults that are told.

mod trusting;

use serde_json::json;

use super::*;
use crate::gate::{CallFacts, Verdict};
use crate::tool::registry::Registry;
use crate::tools;

/// A user with a configuration folder, and a folder that is served.
struct Home {
    folder: tempfile::TempDir,
}

#[expect(clippy::disallowed_methods, reason = "a test's own files")]
impl Home {
    fn new() -> Self {
        let home = Home { folder: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir(home.root()).expect("a folder");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder").join(name)
    }

    fn root(&self) -> PathBuf {
        self.path("repo")
    }

    fn trust(&self) -> Trust {
        Trust::at(self.path("state/trust"))
    }

    fn user(&self, text: &str) -> &Self {
        std::fs::write(self.path("user.toml"), text).expect("a file");
        self
    }

    fn repository(&self, text: &str) -> &Self {
        std::fs::write(self.root().join(FILE_NAME), text).expect("a file");
        self
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        Config::load(&Sources {
            named: None,
            usual: Some(self.path("user.toml")),
            folders: vec![Folder::only(self.root())],
            trust: Some(self.trust()),
        })
    }

    fn config(&self) -> Config {
        self.load().expect("a configuration").config
    }

    /// The message of a fault, without the folder that it is in.
    fn plain(&self, error: &ConfigError) -> String {
        error.to_string().replace(&self.path("").display().to_string(), "")
    }

    fn judge(&self, tool: &str, path: &str) -> &'static str {
        let policy = self.policy(&self.config()).expect("a policy");
        let call = CallFacts {
            tool: tool.to_owned(),
            arguments: json!({"path": path}).into(),
            paths: vec![path.to_owned()],
            changes: tool != "read_file",
            caller: "mcp:local".to_owned(),
        };
        match policy.rules.judge(&call) {
            Verdict::Allow => "allow",
            Verdict::Ask(_) => "ask",
            Verdict::Deny(_) => "deny",
        }
    }

    fn policy(&self, config: &Config) -> Result<crate::gate::policy::Policy, ConfigError> {
        let mut registry = Registry::new();
        tools::register(&mut registry).expect("tools");
        config.policy(Setup { registry: &registry, folders: &[Folder::only(self.root())], folds_case: false })
    }
}

#[test]
fn without_files_everything_is_as_built_in() {
    let home = Home::new();
    let loaded = home.load().expect("a configuration");
    assert!(loaded.left_out.is_empty() && loaded.config.protect_git && !loaded.config.read_only);
    assert_eq!(loaded.config.settings(Settings::served()), Settings::served());
    assert_eq!((home.judge("write_file", "a"), home.judge("write_file", "a/.git/config")), ("allow", "deny"));
    let missing = Sources { named: Some(home.path("no.toml")), ..Sources::default() };
    assert_eq!(
        home.plain(&Config::load(&missing).expect_err("a fault")),
        "the configuration no.toml cannot be read: there is no such file"
    );
}

#[test]
fn every_key_is_read() {
    let home = Home::new();
    home.user(
        r#"
        results = "structured"
        read_only = true
        durability = "process"
        protect_git = false
        otherwise = "ask"

        [limits]
        read_lines = 1
        read_bytes = 2
        list_entries = 3
        image_bytes = 4
        resource_bytes = 6
        edit_bytes = 5
        delete_bytes = 7
        delete_entries = 8

        [[rule]]
        decision = "deny"
        tools = ["write_file", "patch_*"]
        paths = ["secrets/**", "!secrets/README.md"]
        callers = ["mcp:*"]
        reason = "keys stay here"
        matches = [{ tool = "write_file", path = "secrets/k" }]
        spares = [{ path = "secrets/README.md" }, { path = "src/a", caller = "cli" }]

        [[hook]]
        name = "lint"
        phase = "post"
        tools = ["write_file"]
        command = ["lint", "--quick"]
        timeout_ms = 5
        on_failure = "allow"

        [[hook]]
        name = "lint"
        phase = "pre"
        shell = "exit 0"

        [descriptions.read_file]
        variant = "short"
        text = "Reads a file."

        [log]
        redact = ["write_file.content"]

        [retention]
        days = 7
        max_bytes = 8

        [approval]
        timeout_ms = 9
        "#,
    );
    let loaded = home.load().expect("a configuration");
    let config = &loaded.config;
    assert_eq!((config.results, config.read_only, config.protect_git), (Results::Structured, true, false));
    assert_eq!((config.durability, config.otherwise), (Durability::Process, Decision::Ask));
    let limits = config.settings(Settings::served()).limits;
    assert_eq!((limits.read_lines, limits.read_bytes, limits.list_entries), (1, 2, 3));
    assert_eq!((limits.image_bytes, limits.resource_bytes, limits.edit_bytes), (4, 6, 5));
    assert_eq!((limits.delete_bytes, limits.delete_entries), (7, 8));
    assert_eq!((config.rules.len(), config.rules[0].line.as_str()), (1, "line 18 of the user's configuration"));
    assert_eq!(config.hooks.iter().map(|hook| hook.value.timeout_ms).collect::<Vec<_>>(), [5, 10_000]);
    assert_eq!(config.descriptions[0].value.1, Description { variant: "short".into(), text: "Reads a file.".into() });
    assert_eq!((config.redact[0].value.as_str(), loaded.left_out.len()), ("write_file.content", 0));
    assert_eq!((config.retention.days, config.retention.max_bytes), (Some(7), Some(8)));
    assert_eq!(config.approval.timeout_ms.map(u64::from), Some(9));
    assert_eq!(home.policy(config).expect("a policy").hooks.len(), 2);
}

#[test]
fn a_fault_is_told_with_its_place_and_what_was_meant() {
    let hook = |rest: &str| format!("[[hook]]\nname = \"h\"\nphase = \"pre\"\n{rest}");
    let rule = |rest: &str| format!("\n\n[[rule]]\ndecision = \"deny\"\n{rest}");
    for (text, want) in [
        ("read_onyl = true".into(), "user.toml:1:1: unknown key read_onyl; did you mean read_only?"),
        ("\n[limits]\n\u{e4} = 1".into(), "user.toml:3:1: invalid unquoted key, expected letters, numbers, `-`, `_`"),
        ("\n[limits]\n  readlines = 1".into(), "user.toml:3:3: unknown key readlines; did you mean read_lines?"),
        ("[log]\nzebra = 1".into(), "user.toml:2:1: unknown key zebra; there may be redact"),
        ("results = \"txet\"".into(), "user.toml:1:11: unknown value txet; did you mean text?"),
        ("read_only = 1".into(), "user.toml:1:13: invalid type: integer `1`, expected a boolean"),
        ("read_only = true\nread_only = false".into(), "user.toml:2:1: duplicate key"),
        ("[limits]\nread_lines = 0".into(), "user.toml:2:14: invalid value: integer `0`, expected a nonzero u64"),
        ("[limits".into(), "user.toml:1:8: unclosed table, expected `]`"),
        (rule("path = [\"a\"]"), "user.toml:5:1: unknown key path; did you mean paths?"),
        (rule("matches = [{ pth = \"a\" }]"), "user.toml:5:14: unknown key pth; did you mean path?"),
        ("[[rule]]\npaths = [\"a\"]".into(), "user.toml:1:1: missing field `decision`"),
        (hook("comand = [\"a\"]"), "user.toml:4:1: unknown key comand; did you mean command?"),
    ] {
        let home = Home::new();
        let error = home.user(&text).load().expect_err(want);
        assert_eq!(home.plain(&error), want, "{text}");
    }
    for (text, want) in [
        (
            rule("paths = [\"/**\"]"),
            "user.toml:3:1: paths: the pattern \"/**\" is absolute, which no path of a workspace is; write it relative to the workspace's folder, such as secrets/** or **/*.env",
        ),
        (
            rule("tools = [\"read_fil\"]"),
            "user.toml:3:1: tools: the pattern \"read_fil\" matches no tool; did you mean read_file?",
        ),
        (
            rule("paths = [\"a\"]\nmatches = [{ path = \"b\" }]"),
            "user.toml:3:1: matches: the example { path = \"b\" } is not hit by this rule",
        ),
        (hook(""), "user.toml:1:1: a hook needs command = [\"program\", \"argument\"] or shell = \"a line\""),
        (
            "[descriptions.readfile]\nvariant = \"a\"\ntext = \"b\"".into(),
            "user.toml:1:15: there is no tool \"readfile\"; did you mean read_file?",
        ),
        ("[log]\nredact = [\"content\"]".into(), "user.toml:2:11: redact takes arguments such as write_file.content"),
        ("[log]\nredact = [\"write_file.contents\"]".into(), "user.toml:2:11: write_file has no argument \"contents\""),
        (
            "[log]\nredact = [\"*.contnet\"]".into(),
            "user.toml:2:11: no tool that it stands for has an argument \"contnet\"",
        ),
        ("[log]\nredact = [\"run_code.cod\"]".into(), "user.toml:2:11: run_code has no argument \"cod\""),
    ] {
        let home = Home::new();
        let error = home.policy(&home.user(&text).config()).expect_err(want);
        assert_eq!(home.plain(&error), want, "{text}");
    }
    let home = Home::new();
    let twice = format!("{}\n{}", hook("shell = \"a\""), hook("shell = \"b\""));
    let want = "user.toml:5:1: there is a hook \"h\" for this phase already, at user.toml:1:1";
    assert_eq!(home.plain(&home.user(&twice).load().expect_err(want)), want);
}

#[test]
fn a_repositorys_file_with_a_fault_stops_the_start() {
    let home = Home::new();
    let error = home.repository("[[rule]]\ndecison = \"deny\"").load().expect_err("a fault");
    assert_eq!(
        home.plain(&error),
        "repo/toolgate.toml:2:1: unknown key decison; did you mean decision? (this file came with the folder that is \
         served, and what it forbids would not hold; correct or remove it)"
    );
}

#[test]
fn what_is_no_file_is_not_read() {
    let home = Home::new();
    let unreadable = |home: &Home| home.plain(&home.load().expect_err("a fault"));
    #[cfg(unix)]
    {
        rustix::fs::mkfifoat(rustix::fs::CWD, home.path("user.toml"), 0o600.into()).expect("a pipe");
        assert_eq!(unreadable(&home), "the configuration user.toml cannot be read: it is not a regular file");
    }
    let home = Home::new();
    home.user(&" ".repeat((1 << 20) + 1));
    assert_eq!(unreadable(&home), "the configuration user.toml cannot be read: it is longer than 1048576 bytes");
}

#[test]
fn a_byte_order_mark_is_not_content() {
    let home = Home::new();
    assert!(home.user("\u{feff}read_only = true").config().read_only);
}

#[test]
#[cfg(target_os = "linux")]
fn where_the_users_file_is() {
    for (config, home, want) in [
        (Some("/c"), Some("/h"), Some("/c/toolgate/toolgate.toml")),
        (Some("relative"), Some("/h"), Some("/h/.config/toolgate/toolgate.toml")),
        (None, Some("/h"), Some("/h/.config/toolgate/toolgate.toml")),
        (None, None, None),
    ] {
        let file = user_file(|name| match name {
            "XDG_CONFIG_HOME" => config.map(Into::into),
            "HOME" => home.map(Into::into),
            _ => None,
        });
        assert_eq!(file.as_deref(), want.map(Path::new));
    }
}

#[test]
fn the_configuration_has_a_schema() {
    let schema = schema();
    let check = jsonschema::validator_for(&schema).expect("a schema");
    assert!(check.is_valid(&json!({
        "results": "text",
        "rule": [{"decision": "ask", "paths": ["a"], "matches": [{"tool": "t"}]}],
        "hook": [{"name": "h", "phase": "pre", "shell": "x"}],
        "descriptions": {"t": {"variant": "v", "text": "t"}},
        "log": {"redact": ["a.b"]},
        "limits": {"read_lines": 1},
    })));
    for bad in [
        json!({"zebra": 1}),
        json!({"limits": {"read_lines": 0}}),
        json!({"rule": [{}]}),
        json!({"rule": [{"decision": "ask", "odd": 1}]}),
    ] {
        assert!(!check.is_valid(&bad), "{bad}");
    }
}
