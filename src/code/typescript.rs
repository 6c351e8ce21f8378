//! JSON Schemas as TypeScript types: total, with `unknown` where nothing better can be said.

mod kinds;
mod literal;
mod project;
mod render;
mod settle;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) use project::project;
pub(crate) use render::Comments;

/// What `schema` takes, declared as the type `name`; a recursive type that it needs is declared before it.
///
/// ```
/// use serde_json::json;
/// use toolgate::code::typescript::declare;
///
/// let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}, "tag": {"enum": ["a", "b"]}}});
/// assert_eq!(
///     declare("List", &schema),
///     "type List_Root = { next?: List_Root; tag?: \"a\" | \"b\" };\ntype List = List_Root;\n"
/// );
/// assert_eq!(declare("Any", &json!({"$ref": "elsewhere.json"})), "type Any = unknown;\n");
/// ```
#[must_use]
pub fn declare(name: &str, schema: &Value) -> String {
    let Projection { root, aliases } = project(schema, name, &mut Taken::from([name.to_owned()]));
    let mut text = String::new();
    for (name, alias) in aliases.iter().map(|(name, alias)| (name.as_str(), alias)).chain([(name, &root)]) {
        text.push_str(&format!("type {name} = {};\n", alias.render(0, Comments::All)));
    }
    text
}

/// A TypeScript type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    /// Anything; nothing is known.
    Unknown,
    /// Nothing at all.
    Never,
    /// A type's or a literal's own text, such as `string` or `"a"`.
    Word(String),
    /// A recursive type that is declared beside.
    Named(String),
    /// A list of the same.
    Array(Box<Type>),
    /// A list with its own type for each place.
    Tuple {
        /// The types of the first places, and whether each must be there.
        items: Vec<(Type, bool)>,
        /// The type of all others, if there may be others.
        rest: Option<Box<Type>>,
    },
    /// An object.
    Object(Object),
    /// One of several.
    Union(Vec<Type>),
    /// All of several.
    Intersection(Vec<Type>),
}

/// An object's type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Object {
    /// Its named members, by name.
    pub(crate) members: Vec<Member>,
    /// What every other member holds, if there may be others.
    pub(crate) others: Option<Box<Type>>,
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) holds: Type,
    /// What is said about it, as it came.
    pub(crate) said: Option<String>,
}

/// A schema's type, and the recursive types that it needs declared beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Projection {
    pub(crate) root: Type,
    pub(crate) aliases: Vec<(String, Type)>,
}

/// Parts of a union or an intersection.
const MOST_PARTS: usize = 1_000;

/// Names that are taken already in one declaration file.
pub(crate) type Taken = BTreeSet<String>;

impl Type {
    fn word(text: &str) -> Type {
        Type::Word(text.to_owned())
    }

    /// Whether `undefined`, that is nothing, will do as well: an object none of whose members must be there.
    pub(crate) fn may_be_left_out(&self) -> bool {
        match self {
            Type::Unknown => true,
            Type::Object(object) => object.members.iter().all(|member| !member.required),
            _ => false,
        }
    }
}

/// One of `types`. What is in it twice or says nothing more is left out.
fn union(types: impl IntoIterator<Item = Type>) -> Type {
    let mut all = Vec::new();
    for one in types {
        match one {
            Type::Unknown => return Type::Unknown,
            Type::Never => {}
            Type::Union(more) => more.into_iter().for_each(|one| push_new(&mut all, one)),
            one => push_new(&mut all, one),
        }
    }
    match all.len() {
        0 => Type::Never,
        1 => all.swap_remove(0),
        // To compare each with each would take too long.
        MOST_PARTS.. => Type::Unknown,
        _ => Type::Union(all),
    }
}

/// All of `types`. A type that says nothing is left out: it would hide what the others say.
fn intersection(types: impl IntoIterator<Item = Type>) -> Type {
    let mut all = Vec::new();
    for one in types {
        match one {
            Type::Never => return Type::Never,
            Type::Unknown => {}
            Type::Intersection(more) => more.into_iter().for_each(|one| push_new(&mut all, one)),
            one => push_new(&mut all, one),
        }
    }
    match all.len() {
        0 => Type::Unknown,
        1 => all.swap_remove(0),
        _ => Type::Intersection(all),
    }
}

fn push_new(all: &mut Vec<Type>, one: Type) {
    if all.len() < MOST_PARTS && !all.contains(&one) {
        all.push(one);
    }
}
