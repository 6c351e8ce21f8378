//! The globs of rules: any text as patterns, any text as paths.

use toolgate::gate::rules::Decision;
use toolgate::gate::{CallFacts, Verdict};
use toolgate::serde_json::json;
use toolgate::{Rule, Rules, WsPath};

/// Reads patterns and paths, a line each, with an empty line between.
pub fn globs(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (patterns, paths) = text.split_once("\n\n").unwrap_or((&text, "a/b"));
    let patterns: Vec<String> = patterns.lines().take(8).map(str::to_owned).collect();
    let folder = WsPath::parse("some/folder").expect("a path");
    let here = Rule {
        decision: Decision::Deny,
        tools: None,
        paths: Some(patterns.clone()),
        callers: None,
        reason: None,
        matches: Vec::new(),
        spares: Vec::new(),
    };
    for folds in [false, true] {
        let compiled = |rule: &Rule| {
            let mut rules = Rules::folding_case(folds);
            rules.add(rule, "here", None).map(|()| rules)
        };
        let (Ok(rules), below) = (compiled(&here), compiled(&here.clone().below(&folder))) else { continue };
        let below = below.unwrap_or_else(|fault| panic!("{fault}, but only below a folder: {patterns:?}"));
        for path in paths.lines().take(32).filter_map(|path| WsPath::parse(path).ok()) {
            let hit = denies(&rules, &path);
            let inside = denies(&below, &path.under(&folder));
            // The folder itself is a name there, and here it is none.
            assert!(path.is_root() || hit == inside, "{patterns:?} on {path:?} means the same below a folder");
            assert!(
                !denies(&below, &path) || path.is_within(&folder),
                "{patterns:?} below a folder is not about {path:?}"
            );
            if !patterns.iter().any(|pattern| pattern.starts_with('!')) {
                assert!(
                    !hit || denies(&rules, &path.join("inner")),
                    "{patterns:?} hits {path:?} and not what is in it"
                );
            }
        }
    }
}

fn denies(rules: &Rules, path: &WsPath) -> bool {
    let call = CallFacts {
        tool: "read_file".to_owned(),
        arguments: json!({}).into(),
        paths: vec![path.to_string()],
        changes: false,
        caller: "cli".to_owned(),
    };
    matches!(rules.judge(&call), Verdict::Deny(_))
}
