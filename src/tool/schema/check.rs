//! Arguments held against a schema: slips mended, every fault listed.

use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::{Map, Number, Value};

use super::fault::{Fault, Place, literal, shown};
use super::full::Full;
use super::repair::{Slips, Types, mend};
use crate::tool::near::nearest;

/// Holds arguments against the schema that is advertised for them.
///
/// Most schemas use few keywords, and those are checked here by walking the schema as it is, since compiling a full
/// validator costs more than a thousand checks. A schema that uses other keywords gets one on its first check.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolgate::tool::schema::Validator;
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
///     "required": ["path"],
///     "additionalProperties": false,
/// });
/// let validator = Validator::new(Arc::new(schema));
/// assert_eq!(validator.check(json!({"path": "a", "limit": "5"})), Ok(json!({"path": "a", "limit": 5})));
///
/// let faults = validator.check(json!({"pth": "a", "limit": 0})).unwrap_err();
/// let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
/// assert_eq!(lines, [
///     "missing required field: path",
///     "unknown field: pth (did you mean path?)",
///     "limit: must be at least 1, got 0",
/// ]);
/// ```
#[derive(Debug)]
pub struct Validator {
    schema: Arc<Value>,
    full: OnceLock<Option<Full>>,
}

/// So many faults are listed; the others are counted.
const LISTED: usize = 20;

/// JSON text is never so deep. Text inside of text could be, and references that lead in a circle are.
const DEEPEST: usize = 256;

/// The type that arguments have.
static OBJECT: LazyLock<Value> = LazyLock::new(|| "object".into());

impl Validator {
    /// A validator for `schema`. Nothing is compiled yet.
    #[must_use]
    pub fn new(schema: Arc<Value>) -> Self {
        Validator { schema, full: OnceLock::new() }
    }

    /// The arguments as the tool is to see them, with slips mended that leave no doubt.
    ///
    /// # Errors
    /// Everything that is wrong with them, up to a sensible number.
    pub fn check(&self, arguments: Value) -> Result<Value, Vec<Fault>> {
        self.judge(arguments, Slips::Mended)
    }

    /// Like [`Validator::check`], but a text that should be a number, a list or an object is a fault.
    ///
    /// # Errors
    /// Everything that is wrong with them, up to a sensible number.
    pub fn check_exactly(&self, arguments: Value) -> Result<Value, Vec<Fault>> {
        self.judge(arguments, Slips::Told)
    }

    fn judge(&self, mut arguments: Value, slips: Slips) -> Result<Value, Vec<Fault>> {
        let mended = mend(&mut arguments, Types::new(&OBJECT), slips);
        if !arguments.is_object() {
            return Err(vec![Fault::not_an_object(&arguments, mended.err())]);
        }
        let mut walk = Walk { root: &self.schema, faults: Vec::new(), more: 0, depth: 0, slips };
        walk.value(&self.schema, &mut arguments, Place::Root);
        if let Some(full) = self.full.get_or_init(|| Full::where_needed(&self.schema)) {
            full.check(&self.schema, &arguments, &mut |fault| walk.report_once(fault));
        }
        let Walk { mut faults, more, .. } = walk;
        if faults.is_empty() {
            return Ok(arguments);
        }
        if more > 0 {
            faults.push(Fault::more(more));
        }
        Err(faults)
    }
}

/// One walk through a schema and a value at once.
struct Walk<'s> {
    root: &'s Value,
    faults: Vec<Fault>,
    more: usize,
    depth: usize,
    slips: Slips,
}

impl<'s> Walk<'s> {
    fn report(&mut self, fault: Fault) {
        if self.faults.len() < LISTED { self.faults.push(fault) } else { self.more += 1 }
    }

    /// For faults of the full validator, which finds those of this walk again.
    fn report_once(&mut self, fault: Fault) {
        if !self.faults.iter().any(|known| known.field() == fault.field() && known.keyword() == fault.keyword()) {
            self.report(fault);
        }
    }

    fn wrong(&mut self, place: Place<'_>, keyword: &'static str, what: String) {
        self.report(Fault::wrong(place.to_string(), keyword, what));
    }

    fn value(&mut self, schema: &'s Value, value: &mut Value, place: Place<'_>) {
        if self.depth == DEEPEST {
            return self.wrong(place, "$ref", "is nested too deeply".to_owned());
        }
        self.depth += 1;
        self.rules(schema, value, place);
        self.depth -= 1;
    }

    fn rules(&mut self, schema: &'s Value, value: &mut Value, place: Place<'_>) {
        let rules = match schema {
            Value::Object(rules) => rules,
            Value::Bool(false) => return self.wrong(place, "false", "nothing is allowed here".to_owned()),
            _ => return,
        };
        if let Some(target) = reference(self.root, rules) {
            self.value(target, value, place);
        }
        if let Some(wanted) = rules.get("type").map(Types::new) {
            let text = mend(value, wanted, self.slips);
            if !wanted.hold(value) {
                let mut what = format!("expected {}, got {}", wanted.shown(), shown(value));
                if let Err(fault) = text {
                    what.push_str(&format!(" ({fault})"));
                }
                return self.wrong(place, "type", what);
            }
        }
        if let Some(Value::Array(allowed)) = rules.get("enum")
            && !allowed.iter().any(|one| same(one, value))
        {
            self.wrong(place, "enum", not_one_of(allowed, value));
        }
        if let Some(only) = rules.get("const").filter(|only| !same(only, value)) {
            self.wrong(place, "const", format!("must be {}, got {}", literal(only), shown(value)));
        }
        match value {
            Value::Object(fields) => self.object(rules, fields, place),
            Value::Array(items) => self.array(rules, items, place),
            Value::String(text) => self.string(rules, text, place),
            Value::Number(number) => self.number(rules, number, place),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(&mut self, rules: &'s Map<String, Value>, fields: &mut Map<String, Value>, place: Place<'_>) {
        let properties = rules.get("properties").and_then(Value::as_object);
        let required = rules.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if fields.values().any(Value::is_null) {
            fields.retain(|name, value| {
                let optional = || !required.iter().any(|one| one == name);
                let refused =
                    || properties.and_then(|all| all.get(name)).is_some_and(|schema| !takes_null(self.root, schema, 0));
                !(value.is_null() && optional() && refused())
            });
        }
        for name in required.iter().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.report(Fault::missing(Place::Field(&place, name).to_string()));
            }
        }
        let others = if rules.contains_key("patternProperties") { None } else { rules.get("additionalProperties") };
        for (name, value) in fields {
            let here = Place::Field(&place, name);
            match (properties.and_then(|all| all.get(name)), others) {
                (Some(schema), _) => self.value(schema, value, here),
                (None, Some(Value::Bool(false))) => {
                    let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                    self.report(Fault::unknown(here.to_string(), nearest(name, known).map(str::to_owned)));
                }
                (None, Some(schema)) => self.value(schema, value, here),
                (None, None) => {}
            }
        }
    }

    fn array(&mut self, rules: &'s Map<String, Value>, items: &mut [Value], place: Place<'_>) {
        let count = items.len() as u64;
        if let Some(least) = limit(rules, "minItems").filter(|least| count < *least) {
            self.wrong(place, "minItems", format!("needs at least {}, got {count}", many(least, "item")));
        }
        if let Some(most) = limit(rules, "maxItems").filter(|most| count > *most) {
            self.wrong(place, "maxItems", format!("takes at most {}, got {count}", many(most, "item")));
        }
        if let (Some(schema), None) = (rules.get("items"), rules.get("prefixItems")) {
            for (index, item) in items.iter_mut().enumerate() {
                self.value(schema, item, Place::Item(&place, index));
            }
        }
    }

    fn string(&mut self, rules: &'s Map<String, Value>, text: &str, place: Place<'_>) {
        let (least, most) = (limit(rules, "minLength"), limit(rules, "maxLength"));
        if least.is_none() && most.is_none() {
            return;
        }
        let count = text.chars().count() as u64;
        if let Some(least) = least.filter(|least| count < *least) {
            let what = match (least, count) {
                (1, _) => "must not be empty".to_owned(),
                _ => format!("needs at least {}, got {count}", many(least, "character")),
            };
            self.wrong(place, "minLength", what);
        }
        if let Some(most) = most.filter(|most| count > *most) {
            self.wrong(place, "maxLength", format!("takes at most {}, got {count}", many(most, "character")));
        }
    }

    fn number(&mut self, rules: &'s Map<String, Value>, number: &Number, place: Place<'_>) {
        let least = rules.get("minimum").and_then(Value::as_number);
        let most = rules.get("maximum").and_then(Value::as_number);
        if let Some(least) = least.filter(|least| below(number, least)) {
            self.wrong(place, "minimum", format!("must be at least {least}, got {number}"));
        }
        if let Some(most) = most.filter(|most| below(most, number)) {
            self.wrong(place, "maximum", format!("must be at most {most}, got {number}"));
        }
    }
}

/// The schema that a local `$ref` means.
pub(super) fn reference<'s>(root: &'s Value, rules: &Map<String, Value>) -> Option<&'s Value> {
    root.pointer(rules.get("$ref")?.as_str()?.strip_prefix('#')?)
}

fn takes_null(root: &Value, schema: &Value, hops: usize) -> bool {
    let Value::Object(rules) = schema else { return schema != &Value::Bool(false) };
    let branches = |keyword: &str| rules.get(keyword).and_then(Value::as_array);
    rules.get("type").is_none_or(|types| Types::new(types).name("null"))
        && rules.get("enum").and_then(Value::as_array).is_none_or(|all| all.contains(&Value::Null))
        && rules.get("const").is_none_or(Value::is_null)
        && branches("anyOf").is_none_or(|all| all.iter().any(|one| takes_null(root, one, hops)))
        && branches("oneOf").is_none_or(|all| all.iter().any(|one| takes_null(root, one, hops)))
        && (hops > 8 || reference(root, rules).is_none_or(|target| takes_null(root, target, hops + 1)))
}

fn limit(rules: &Map<String, Value>, keyword: &str) -> Option<u64> {
    rules.get(keyword)?.as_u64()
}

fn many(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Equal as JSON, where 5 and 5.0 are one number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => !below(a, b) && !below(b, a),
        _ => a == b,
    }
}

fn below(a: &Number, b: &Number) -> bool {
    let whole = |n: &Number| n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a < b,
        _ => matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a < b),
    }
}

fn not_one_of(allowed: &[Value], value: &Value) -> String {
    const SHOWN: usize = 30;
    let mut list: Vec<String> = allowed.iter().take(SHOWN).map(literal).collect();
    if allowed.len() > SHOWN {
        list.push(format!("… ({} in all)", allowed.len()));
    }
    let mut what = format!("must be one of {}, got {}", list.join(", "), shown(value));
    if let Some(meant) = value.as_str().and_then(|word| nearest(word, allowed.iter().filter_map(Value::as_str))) {
        what.push_str(&format!(" (did you mean {meant:?}?)"));
    }
    what
}

#[cfg(test)]
mod tests;
