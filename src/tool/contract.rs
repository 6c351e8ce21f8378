//! Whether a published list of tools still holds: compatible changes and breaking ones.

mod list;
mod schemas;

use std::fmt;

use serde_json::Value;

use crate::tool::near::nearest;
use list::Listed;
use schemas::{Direction, bare};

pub use list::NotAToolList;

/// One way in which today's tools differ from the published ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Whether a call that was right then may be wrong now, or an answer may lack what was promised.
    pub breaking: bool,
    /// The tool.
    pub tool: String,
    /// What differs, in one line, without the tool's name.
    pub line: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.breaking { "breaking" } else { "compatible" };
        write!(f, "{kind}: {}: {}", self.tool.escape_debug(), self.line)
    }
}

/// How the tools of `today` differ from those that were `published`, tool by tool.
///
/// Both are lists in any shape that [`export`](crate::tool::export) makes, bare or as the `tools` of an object. Where
/// it cannot be told whether old calls still fit, the difference counts as breaking.
///
/// ```
/// use serde_json::json;
/// use toolgate::tool::contract::compare;
///
/// let tool = |field: &str| {
///     let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
///     json!([{"name": "patch_file", "description": "…", "input_schema": schema}])
/// };
/// assert!(compare(&tool("old_str"), &tool("old_str"))?.is_empty());
/// let lines: Vec<String> = compare(&tool("old_str"), &tool("find"))?.iter().map(ToString::to_string).collect();
/// assert_eq!(lines, [
///     "breaking: patch_file: removed field old_str (renamed to find?)",
///     "breaking: patch_file: new required field find",
/// ]);
/// # Ok::<(), toolgate::tool::contract::NotAToolList>(())
/// ```
///
/// # Errors
/// One of them is no list of tools.
pub fn compare(published: &Value, today: &Value) -> Result<Vec<Difference>, NotAToolList> {
    let before = list::read(published).map_err(|fault| fault.in_the("published list"))?;
    let after = list::read(today).map_err(|fault| fault.in_the("list of today"))?;
    let mut found = Vec::new();
    for (name, old) in &before {
        match after.get(name) {
            Some(new) => compare_tool(old, new, &mut Report { tool: name, found: &mut found }),
            None => {
                let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
                let same = || added.clone().find(|(_, new)| bare(&new.input) == bare(&old.input));
                let guess =
                    nearest(name, added.clone().map(|(name, _)| *name)).or_else(|| same().map(|(name, _)| *name));
                Report { tool: name, found: &mut found }.breaking(format!("removed tool{}", renamed(guess)));
            }
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        Report { tool: name, found: &mut found }.compatible("added tool".to_owned());
    }
    found.sort_by(|a, b| a.tool.cmp(&b.tool));
    Ok(found)
}

fn compare_tool(old: &Listed<'_>, new: &Listed<'_>, report: &mut Report<'_>) {
    if old.description != new.description {
        report.compatible("changed description".to_owned());
    }
    schemas::compare(Direction::Given, &old.input, &new.input, report);
    match (old.output, new.output) {
        (Some(old), Some(new)) => schemas::compare(Direction::Returned, old, new, report),
        (Some(_), None) if new.can_say_more => report.breaking("removed outputSchema".to_owned()),
        (None, Some(_)) if old.can_say_more => report.compatible("added outputSchema".to_owned()),
        _ => {}
    }
    if !(old.can_say_more && new.can_say_more) {
        return;
    }
    if old.title != new.title {
        report.compatible("changed title".to_owned());
    }
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        let (then, now) = (old.hint(hint), new.hint(hint));
        if then != now {
            report.compatible(format!("changed {hint} from {then} to {now}"));
        }
    }
}

fn renamed(guess: Option<&str>) -> String {
    guess.map(|name| format!(" (renamed to {}?)", name.escape_debug())).unwrap_or_default()
}

/// Where differences of one tool are put down.
struct Report<'a> {
    tool: &'a str,
    found: &'a mut Vec<Difference>,
}

impl Report<'_> {
    fn add(&mut self, breaking: bool, line: String) {
        self.found.push(Difference { breaking, tool: self.tool.to_owned(), line });
    }

    fn breaking(&mut self, line: String) {
        self.add(true, line);
    }

    fn compatible(&mut self, line: String) {
        self.add(false, line);
    }
}

#[cfg(test)]
mod tests;
