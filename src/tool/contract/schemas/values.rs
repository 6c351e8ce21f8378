//! What single values may be: types, choices and limits.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Comparison, Rules, branches};

/// Which end of a range a keyword is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Least,
    Most,
}

/// The keywords that are limits.
pub(super) const LIMITS: [(&str, End); 10] = [
    ("minimum", End::Least),
    ("exclusiveMinimum", End::Least),
    ("minLength", End::Least),
    ("minItems", End::Least),
    ("minProperties", End::Least),
    ("maximum", End::Most),
    ("exclusiveMaximum", End::Most),
    ("maxLength", End::Most),
    ("maxItems", End::Most),
    ("maxProperties", End::Most),
];

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

impl Comparison<'_> {
    /// Compares types; false if they have nothing in common, and the rest need not be looked at.
    pub(super) fn types(&mut self, old: &Rules, new: &Rules, at: &str) -> bool {
        let (then, now) = (types_of(old, 0), types_of(new, 0));
        if then == now {
            return true;
        }
        let line = format!("of {} from {} to {}", self.what(at), in_words(&then), in_words(&now));
        if now.is_superset(&then) {
            self.widened(format!("widened type {line}"));
        } else if now.is_subset(&then) {
            self.narrowed(format!("narrowed type {line}"));
        } else {
            self.changed(format!("changed type {line}"));
        }
        !then.is_disjoint(&now)
    }

    /// Compares the values that are listed one by one.
    pub(super) fn values(&mut self, old: &Rules, new: &Rules, at: &str) {
        let what = self.what(at);
        match (choices(old), choices(new)) {
            (None, None) => {}
            (None, Some(now)) => self.narrowed(format!("{what} takes only {} now", list(&now))),
            (Some(then), None) => self.widened(format!("{what} is not limited to {} any more", list(&then))),
            (Some(then), Some(now)) => {
                let gone: Vec<&Value> = then.iter().copied().filter(|value| !now.contains(value)).collect();
                let come: Vec<&Value> = now.iter().copied().filter(|value| !then.contains(value)).collect();
                if !gone.is_empty() {
                    self.narrowed(format!("{what} has lost {}", list(&gone)));
                }
                if !come.is_empty() {
                    self.widened(format!("{what} has gained {}", list(&come)));
                }
            }
        }
    }

    /// Compares the ends of ranges.
    pub(super) fn limits(&mut self, old: &Rules, new: &Rules, at: &str) {
        for (keyword, end) in LIMITS {
            let bound =
                |rules: &Rules| rules.get(keyword).and_then(Value::as_f64).filter(|b| !says_nothing(keyword, *b));
            let (then, now) = (bound(old), bound(new));
            if then == now {
                continue;
            }
            let shown = |bound: Option<f64>| bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
            let line = format!("{keyword} of {} from {} to {}", self.what(at), shown(then), shown(now));
            let tighter = match (then, now) {
                (None, _) => true,
                (_, None) => false,
                (Some(then), Some(now)) => (now > then) == (end == End::Least),
            };
            if tighter {
                self.narrowed(format!("tightened {line}"));
            } else {
                self.widened(format!("loosened {line}"));
            }
        }
    }
}

/// Nothing has fewer than no items.
fn says_nothing(keyword: &str, bound: f64) -> bool {
    bound <= 0.0 && matches!(keyword, "minLength" | "minItems" | "minProperties")
}

/// The types that a schema allows. Every integer is a number.
fn types_of(rules: &Rules, depth: usize) -> BTreeSet<&str> {
    let mut types: BTreeSet<&str> = match rules.get("type") {
        Some(Value::String(one)) => [one.as_str()].into(),
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => match branches(rules).filter(|_| depth < 16) {
            Some(branches) => branches
                .into_iter()
                .flat_map(|branch| match branch {
                    Value::Object(rules) if !rules.contains_key("$ref") => types_of(rules, depth + 1),
                    _ => TYPES.into(),
                })
                .collect(),
            None => TYPES.into(),
        },
    };
    if types.contains("number") {
        types.insert("integer");
    }
    types
}

fn in_words(types: &BTreeSet<&str>) -> String {
    if types.len() == TYPES.len() {
        return "any".to_owned();
    }
    let shown = |name: &&&str| !(**name == "integer" && types.contains("number"));
    types.iter().filter(shown).map(|name| name.escape_debug().to_string()).collect::<Vec<_>>().join(" or ")
}

fn choices(rules: &Rules) -> Option<Vec<&Value>> {
    match (rules.get("const"), rules.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(several))) => Some(several.iter().collect()),
        _ => None,
    }
}

fn list(values: &[&Value]) -> String {
    values.iter().map(|value| literal(value)).collect::<Vec<_>>().join(", ")
}

/// A value as JSON in one line, cut where it is long.
pub(super) fn literal(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
