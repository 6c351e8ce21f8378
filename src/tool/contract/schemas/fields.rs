//! The fields of objects: removed, renamed, added, required.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{ANY, Comparison, Direction, Rules, join};
use crate::tool::contract::renamed;
use crate::tool::near::nearest;

impl<'a> Comparison<'a> {
    /// Compares which fields there are, and each of them.
    pub(super) fn object(&mut self, old: &'a Rules, new: &'a Rules, at: &str) {
        let (then, now) = (Fields::of(old), Fields::of(new));
        let added: Vec<&str> = now.names.iter().copied().filter(|name| !then.names.contains(name)).collect();
        for name in &then.names {
            let here = join(at, name);
            let what = self.what(&here);
            match (now.names.contains(name), now.others) {
                (true, _) => {
                    match (then.required.contains(name), now.required.contains(name)) {
                        (true, false) => self.widened(format!("{what} is optional now")),
                        (false, true) => self.narrowed(format!("{what} is required now")),
                        _ => {}
                    }
                    self.schema(then.schema(name), now.schema(name), &here);
                }
                // Not listed any more, but still allowed for.
                (false, Others::Some(schema)) => self.schema(then.schema(name), schema, &here),
                (false, _) => {
                    let guess = renamed(guess(name, &then, &now, &added));
                    self.changed(format!("removed {what}{guess}"));
                }
            }
        }
        for name in added {
            let here = join(at, name);
            let what = self.what(&here);
            match (now.required.contains(name), self.direction) {
                (true, Direction::Given) => self.changed(format!("new required {what}")),
                (false, Direction::Given) => self.noted(format!("added optional {what}")),
                (_, Direction::Returned) if matches!(then.others, Others::None) => {
                    self.changed(format!("added {what}, where no other fields were promised"));
                }
                (_, Direction::Returned) => self.noted(format!("added {what}")),
            }
            if let Others::Some(schema) = then.others {
                // It was allowed for already, and said to be like this.
                self.schema(schema, now.schema(name), &here);
            }
        }
        let what = self.what(at);
        match (then.others, now.others) {
            (Others::None, Others::None) | (Others::Any, Others::Any) => {}
            (_, Others::None) => self.narrowed(format!("{what}: fields that are not listed are refused now")),
            (Others::None, _) => self.widened(format!("{what}: fields that are not listed are allowed now")),
            (then, now) => self.schema(then.schema(), now.schema(), &join(at, "*")),
        }
    }
}

/// The fields of an object's schema.
struct Fields<'a> {
    names: BTreeSet<&'a str>,
    required: BTreeSet<&'a str>,
    properties: Option<&'a Rules>,
    others: Others<'a>,
}

/// Which fields may be there beside the listed ones.
#[derive(Clone, Copy)]
enum Others<'a> {
    None,
    Any,
    Some(&'a Value),
}

impl<'a> Others<'a> {
    fn schema(self) -> &'a Value {
        if let Others::Some(schema) = self { schema } else { &ANY }
    }
}

impl<'a> Fields<'a> {
    fn of(rules: &'a Rules) -> Self {
        let properties = rules.get("properties").and_then(Value::as_object);
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
        let listed = properties.into_iter().flat_map(Map::keys).map(String::as_str);
        let others = match rules.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Others::Any,
            Some(Value::Bool(false)) => Others::None,
            Some(schema) => Others::Some(schema),
        };
        Fields { names: listed.chain(required.iter().copied()).collect(), required, properties, others }
    }

    fn schema(&self, name: &str) -> &'a Value {
        self.properties.and_then(|all| all.get(name)).unwrap_or(&ANY)
    }
}

/// What a removed field is probably called now: a name like it, or else the only new one of its kind.
fn guess<'a>(name: &str, then: &Fields<'_>, now: &Fields<'_>, added: &[&'a str]) -> Option<&'a str> {
    nearest(name, added.iter().copied()).or_else(|| {
        let alike = |new: &&&str| {
            then.required.contains(name) == now.required.contains(**new)
                && then.schema(name).get("type") == now.schema(new).get("type")
        };
        let mut alike = added.iter().filter(alike);
        alike.next().filter(|_| alike.next().is_none()).copied()
    })
}
