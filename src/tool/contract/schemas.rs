//! Two schemas of one tool compared: what is taken away, what is added.

mod fields;
mod values;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::Report;

/// Which way the values of a schema go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the caller: to take less than before breaks calls.
    Given,
    /// To the caller: to give more than before breaks those who read it.
    Returned,
}

/// Reports how `new` differs from `old`.
pub(super) fn compare(direction: Direction, old: &Value, new: &Value, report: &mut Report<'_>) {
    let mut comparison = Comparison { direction, roots: (old, new), open: Vec::new(), lines: Vec::new() };
    comparison.schema(old, new, "");
    for (breaking, line) in comparison.lines {
        report.add(breaking, line);
    }
}

/// A comparison under way.
struct Comparison<'a> {
    direction: Direction,
    roots: (&'a Value, &'a Value),
    /// Pairs that are being compared further out; recursive schemas meet them again.
    open: Vec<(*const Value, *const Value)>,
    lines: Vec<(bool, String)>,
}

type Rules = Map<String, Value>;

/// Deeper than any sensible schema; only references that lead in circles get here.
const DEEPEST: usize = 100;

impl<'a> Comparison<'a> {
    /// Less is valid than before.
    fn narrowed(&mut self, line: String) {
        self.lines.push((self.direction == Direction::Given, line));
    }

    /// More is valid than before.
    fn widened(&mut self, line: String) {
        self.lines.push((self.direction == Direction::Returned, line));
    }

    /// Something else is valid than before.
    fn changed(&mut self, line: String) {
        self.lines.push((true, line));
    }

    /// The same is valid as before.
    fn noted(&mut self, line: String) {
        self.lines.push((false, line));
    }

    /// What is at `at`, in words.
    fn what(&self, at: &str) -> String {
        match (self.direction, at) {
            (Direction::Given, "") => "arguments".to_owned(),
            (Direction::Returned, "") => "output".to_owned(),
            (Direction::Given, at) => format!("field {at}"),
            (Direction::Returned, at) => format!("output field {at}"),
        }
    }

    fn schema(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        let old = target(self.roots.0, old);
        let new = target(self.roots.1, new);
        let pair: (*const Value, *const Value) = (old, new);
        if self.open.contains(&pair) {
            return;
        }
        if self.open.len() >= DEEPEST {
            return self.changed(format!("{} is nested too deeply to be compared", self.what(at)));
        }
        self.open.push(pair);
        let (old, new) = (rules(old), rules(new));
        self.annotations(old, new, at);
        if self.types(old, new, at) {
            self.values(old, new, at);
            self.limits(old, new, at);
            self.object(old, new, at);
            self.items(old, new, at);
            self.alternatives(old, new, at);
            self.others(old, new, at);
        }
        self.open.pop();
    }

    fn annotations(&mut self, old: &Rules, new: &Rules, at: &str) {
        let what = self.what(at);
        if old.get("description") != new.get("description") {
            self.noted(format!("changed description of {what}"));
        }
        if old.get("default") != new.get("default") {
            let shown = |rules: &Rules| rules.get("default").map_or_else(|| "none".to_owned(), values::literal);
            self.noted(format!("changed default of {what} from {} to {}", shown(old), shown(new)));
        }
        let deprecated = |rules: &Rules| rules.get("deprecated") == Some(&Value::Bool(true));
        if !deprecated(old) && deprecated(new) {
            self.noted(format!("{what} is deprecated now"));
        }
    }

    fn items(&mut self, old: &'a Rules, new: &'a Rules, at: &str) {
        let (then, now) = (old.get("items"), new.get("items"));
        if then.is_some() || now.is_some() {
            self.schema(then.unwrap_or(&ANY), now.unwrap_or(&ANY), &format!("{at}[]"));
        }
    }

    /// `anyOf` and `oneOf`: who gives must find every old alternative among the new ones, who reads the other way round.
    fn alternatives(&mut self, old: &'a Rules, new: &'a Rules, at: &str) {
        let (then, now) = (branches(old), branches(new));
        let alike = match (&then, &now) {
            (None, None) => true,
            (Some(then), Some(now)) => {
                then.len() == now.len() && then.iter().zip(now).all(|(then, now)| bare(then) == bare(now))
            }
            _ => false,
        };
        if alike {
            return;
        }
        // A schema without alternatives is its own only one; what it says beside them is compared elsewhere.
        let (old, new) = (json!(without_alternatives(old)), json!(without_alternatives(new)));
        let (then, now) = (then.unwrap_or_else(|| vec![&old]), now.unwrap_or_else(|| vec![&new]));
        let fits = |old: &Value, new: &Value| {
            let (roots, open) = (self.roots, self.open.clone());
            let mut inner = Comparison { direction: self.direction, roots, open, lines: Vec::new() };
            inner.schema(old, new, at);
            !inner.lines.iter().any(|(breaking, _)| *breaking)
        };
        let all_fit = match self.direction {
            Direction::Given => then.iter().all(|old| now.iter().any(|new| fits(old, new))),
            Direction::Returned => now.iter().all(|new| then.iter().any(|old| fits(old, new))),
        };
        let what = self.what(at);
        if all_fit {
            self.noted(format!("changed alternatives of {what}, compatibly"));
        } else {
            self.changed(format!("changed alternatives of {what}"));
        }
    }

    /// Keywords that are only told apart.
    fn others(&mut self, old: &Rules, new: &Rules, at: &str) {
        let what = self.what(at);
        let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).filter(|word| !is_compared(word)).collect();
        for keyword in keywords {
            match (old.get(keyword), new.get(keyword)) {
                (None, Some(now)) => self.narrowed(format!("{what} has {keyword} {} now", values::literal(now))),
                (Some(then), None) => {
                    self.widened(format!("{what} has no {keyword} {} any more", values::literal(then)))
                }
                (Some(then), Some(now)) if bare(then) != bare(now) => {
                    let (then, now) = (values::literal(then), values::literal(now));
                    self.changed(format!("changed {keyword} of {what} from {then} to {now}"));
                }
                _ => {}
            }
        }
    }
}

static ANY: LazyLock<Value> = LazyLock::new(|| json!({}));
static NOTHING: LazyLock<Value> = LazyLock::new(|| json!({"not": {}}));

/// The keywords of a schema, also of a bare `true` or `false`.
fn rules(schema: &Value) -> &Rules {
    static EMPTY: LazyLock<Rules> = LazyLock::new(Rules::new);
    let schema = if schema == &Value::Bool(false) { &*NOTHING } else { schema };
    schema.as_object().unwrap_or(&EMPTY)
}

/// What a local reference means; the schema itself if it is none.
fn target<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    const FARTHEST: usize = 16;
    let mut schema = schema;
    for _ in 0..FARTHEST {
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
        match reference.and_then(|pointer| root.pointer(pointer)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

fn branches(rules: &Rules) -> Option<Vec<&Value>> {
    ["anyOf", "oneOf"].into_iter().find_map(|keyword| rules.get(keyword)?.as_array()).map(|all| all.iter().collect())
}

fn without_alternatives(rules: &Rules) -> Rules {
    rules
        .iter()
        .filter(|(word, _)| !matches!(word.as_str(), "anyOf" | "oneOf"))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

fn is_compared(keyword: &str) -> bool {
    values::LIMITS.iter().any(|(limit, _)| *limit == keyword)
        || matches!(
            keyword,
            "type"
                | "enum"
                | "const"
                | "properties"
                | "required"
                | "additionalProperties"
                | "items"
                | "anyOf"
                | "oneOf"
                | "description"
                | "title"
                | "default"
                | "examples"
                | "deprecated"
                | "format"
                | "$schema"
                | "$comment"
                | "$ref"
                | "$defs"
                | "readOnly"
                | "writeOnly"
        )
}

/// A schema without what it says to people.
pub(super) fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(rules) => rules
            .iter()
            // A field may be called so; then it is a schema, not a text.
            .filter(|(word, value)| {
                !(matches!(word.as_str(), "description" | "title" | "$comment") && value.is_string())
            })
            .map(|(word, value)| (word.clone(), bare(value)))
            .collect(),
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// `name` inside `at`.
fn join(at: &str, name: &str) -> String {
    let plain =
        name == "*" || (!name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')));
    match (at, plain) {
        (at, false) => format!("{at}[{name:?}]"),
        ("", true) => name.to_owned(),
        (at, true) => format!("{at}.{name}"),
    }
}
