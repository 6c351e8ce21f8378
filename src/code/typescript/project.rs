//! From a schema to its type.

use serde_json::{Map, Value};

use super::kinds;
use super::literal::{kind, literal};
use super::settle::settle;
use super::{Projection, Taken, Type, intersection, union};

/// How deep a schema is followed.
const DEEPEST: usize = 24;

/// How many schemas, and bytes of literals, are looked at for one type. References can make a small schema endless.
const MOST: usize = 64 * 1024;

/// Values of an `enum` that are spelled out.
const MOST_VALUES: usize = 64;

/// The type of what `schema` takes, written for JSON Schema 2020-12. Recursive types get names that begin with `prefix`
/// and are not yet taken.
///
/// Total: whatever is no schema, refers to nothing, is too deep or too large, is `unknown`. What TypeScript has no word
/// for (`not`, `if`, `dependent…`, `propertyNames`, `contains`, patterns, formats and ranges) is left out, so that a
/// type may take more than its schema, but not less.
pub(crate) fn project(schema: &Value, prefix: &str, taken: &mut Taken) -> Projection {
    let mut walk = Walk {
        root: schema,
        prefix,
        taken,
        open: Vec::new(),
        aliases: Vec::new(),
        done: Vec::new(),
        depth: 0,
        structure: 0,
        spent: 0,
    };
    let root = walk.target(String::new(), schema);
    let Walk { aliases, .. } = walk;
    settle(Projection { root, aliases })
}

/// A schema that is being followed, by the pointer to it.
struct Open {
    pointer: String,
    /// The name it got when something in it referred to it.
    name: Option<String>,
    /// How many objects and arrays lay around it.
    structure: usize,
}

pub(super) struct Walk<'a> {
    root: &'a Value,
    prefix: &'a str,
    taken: &'a mut Taken,
    open: Vec<Open>,
    aliases: Vec<(String, Type)>,
    /// The recursive types that are declared, by pointer.
    done: Vec<(String, String)>,
    /// Schemas around.
    depth: usize,
    /// Objects and arrays around: a type may refer to itself only from inside of one.
    structure: usize,
    spent: usize,
}

impl<'a> Walk<'a> {
    /// The type of a member's or an item's schema.
    pub(super) fn inside(&mut self, schema: &'a Value) -> Type {
        self.structure += 1;
        let inside = self.deeper(|walk| walk.schema(schema, false));
        self.structure -= 1;
        inside
    }

    /// The type of a schema; `within` one that lists its members already, a part says only what it adds.
    fn schema(&mut self, schema: &'a Value, within: bool) -> Type {
        self.spent += 1;
        let rules = match schema {
            Value::Bool(false) => return Type::Never,
            Value::Object(rules) if self.depth <= DEEPEST && self.spent <= MOST => rules,
            _ => return Type::Unknown,
        };
        if self.depth > 0 && rules.contains_key("$id") {
            // A document of its own: what its references mean is another question.
            return Type::Unknown;
        }
        if let Some(values) = values(rules) {
            return self.listed(rules, &values);
        }
        if rules
            .get("not")
            .is_some_and(|not| matches!(not, Value::Bool(true)) || not.as_object().is_some_and(Map::is_empty))
        {
            return Type::Never;
        }
        let own = kinds::of(self, rules, within);
        let mut parts: Vec<Type> = rules.get("$ref").map(|reference| self.reference(reference)).into_iter().collect();
        let lists = within || rules.contains_key("properties");
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = rules.get(keyword) {
                parts.push(union(self.parts(branches, lists)));
            }
        }
        if let Some(Value::Array(all)) = rules.get("allOf") {
            parts.extend(self.parts(all, lists));
        }
        let says_less = parts.contains(&Type::Unknown);
        let mut all = intersection(std::iter::once(own).chain(parts));
        if says_less {
            // What it leaves out may have listed members.
            open(&mut all);
        }
        if rules.get("nullable") == Some(&Value::Bool(true)) { union([all, Type::word("null")]) } else { all }
    }

    fn parts(&mut self, schemas: &'a [Value], lists: bool) -> Vec<Type> {
        let mut parts = Vec::new();
        for schema in schemas {
            parts.push(self.deeper(|walk| walk.schema(schema, lists)));
        }
        parts
    }

    /// Parts are as deep as what they are parts of, but not endlessly so.
    fn deeper(&mut self, then: impl FnOnce(&mut Self) -> Type) -> Type {
        self.depth += 1;
        let made = then(self);
        self.depth -= 1;
        made
    }

    /// One of these values, as far as the schema's `type` lets them be.
    fn listed(&mut self, rules: &Map<String, Value>, values: &[&Value]) -> Type {
        let fit = || values.iter().filter(|value| kinds::takes(rules, value));
        if fit().count() > MOST_VALUES {
            return union(fit().map(|value| kind(value)));
        }
        self.spent += fit().map(|value| value.to_string().len()).sum::<usize>();
        if self.spent > MOST {
            return union(fit().map(|value| kind(value)));
        }
        let nothing = Value::Null;
        let nullable = (rules.get("nullable") == Some(&Value::Bool(true))).then_some(&nothing);
        union(fit().copied().chain(nullable).map(literal))
    }

    fn reference(&mut self, reference: &Value) -> Type {
        let Some((pointer, target)) = reference.as_str().and_then(|text| resolve(self.root, text)) else {
            return Type::Unknown;
        };
        if let Some((_, name)) = self.done.iter().find(|(done, _)| *done == pointer) {
            return Type::Named(name.clone());
        }
        let Some(at) = self.open.iter().position(|open| open.pointer == pointer) else {
            return self.deeper(|walk| walk.target(pointer, target));
        };
        let Some(open) = self.open.get_mut(at) else { return Type::Unknown };
        if self.structure == open.structure {
            return Type::Unknown;
        }
        if let Some(name) = &open.name {
            return Type::Named(name.clone());
        }
        let name = free_name(self.prefix, &open.pointer, self.taken);
        open.name = Some(name.clone());
        Type::Named(name)
    }

    /// A schema that can be referred to. It is declared beside if something in it does.
    fn target(&mut self, pointer: String, schema: &'a Value) -> Type {
        self.open.push(Open { pointer, name: None, structure: self.structure });
        let made = self.schema(schema, false);
        match self.open.pop() {
            Some(Open { pointer, name: Some(name), .. }) => {
                self.aliases.push((name.clone(), made));
                self.done.push((pointer, name.clone()));
                Type::Named(name)
            }
            _ => made,
        }
    }
}

/// Lets an object have members that are not listed.
fn open(of: &mut Type) {
    match of {
        Type::Object(object) => {
            object.others.get_or_insert_with(|| Box::new(Type::Unknown));
        }
        Type::Union(types) | Type::Intersection(types) => types.iter_mut().for_each(open),
        _ => {}
    }
}

/// The values that a schema lists.
fn values(rules: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (rules.get("const"), rules.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// What a reference inside of the document points to, and its pointer without needless escapes.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<(String, &'a Value)> {
    let pointer = percent_decoded(reference.strip_prefix('#')?)?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    let target = root.pointer(&pointer)?;
    Some((pointer, target))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A name for the type at `pointer`, such as `Search_Node`, that nothing else has.
fn free_name(prefix: &str, pointer: &str, taken: &mut Taken) -> String {
    let last = pointer.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or("Root");
    let stem = format!("{}_{}", in_pascal_case(prefix), in_pascal_case(last));
    let name = std::iter::once(stem.clone())
        .chain((2..).map(|count: u32| format!("{stem}{count}")))
        .find(|name| !taken.contains(name))
        .unwrap_or(stem);
    taken.insert(name.clone());
    name
}

/// `read_file` is `ReadFile`; what cannot stand in a name is left out.
fn in_pascal_case(text: &str) -> String {
    let mut name = String::new();
    for part in text.split(|char: char| !char.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let (first, rest) = part.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
        name.insert(0, 'T');
    }
    name.truncate(60);
    name
}
