//! Types as text.

use std::fmt::Write;

use super::text::{comment, key};
use super::{Object, Type};

/// What is said beside the types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// Everything that a schema says about a member.
    All,
    /// Nothing.
    None,
}

/// Width of a line up to which an object stays on one.
const WIDTH: usize = 100;

impl Type {
    /// The type as text. Lines after the first are indented by `indent` steps of two spaces.
    pub(crate) fn render(&self, indent: usize, comments: Comments) -> String {
        match self {
            Type::Unknown => "unknown".to_owned(),
            Type::Never => "never".to_owned(),
            Type::Word(word) | Type::Named(word) => word.clone(),
            Type::Array(each) => array(each, indent, comments),
            Type::Tuple { items, rest } => tuple(items, rest.as_deref(), indent, comments),
            Type::Object(object) => object.render(indent, comments),
            Type::Union(types) => {
                let types: Vec<_> = types.iter().map(|one| one.render(indent, comments)).collect();
                types.join(" | ")
            }
            Type::Intersection(types) => {
                let part = |one: &Type| match one {
                    Type::Union(_) => format!("({})", one.render(indent, comments)),
                    one => one.render(indent, comments),
                };
                let types: Vec<_> = types.iter().map(part).collect();
                types.join(" & ")
            }
        }
    }
}

fn array(each: &Type, indent: usize, comments: Comments) -> String {
    let text = each.render(indent, comments);
    match each {
        Type::Union(_) | Type::Intersection(_) => format!("Array<{text}>"),
        _ if text.contains('\n') => format!("Array<{text}>"),
        _ => format!("{text}[]"),
    }
}

fn tuple(items: &[(Type, bool)], rest: Option<&Type>, indent: usize, comments: Comments) -> String {
    let item = |(item, required): &(Type, bool)| match (required, item) {
        (true, item) => item.render(indent, comments),
        (false, Type::Union(_) | Type::Intersection(_)) => format!("({})?", item.render(indent, comments)),
        (false, item) => format!("{}?", item.render(indent, comments)),
    };
    let mut places: Vec<_> = items.iter().map(item).collect();
    // Not `Array`: a type that is spread so could not refer to itself.
    places.extend(rest.map(|rest| match rest {
        Type::Union(_) | Type::Intersection(_) => format!("...({})[]", rest.render(indent, comments)),
        rest => format!("...{}[]", rest.render(indent, comments)),
    }));
    format!("[{}]", places.join(", "))
}

impl Object {
    fn render(&self, indent: usize, comments: Comments) -> String {
        if self.members.is_empty() {
            return match &self.others {
                None => "Record<string, never>".to_owned(),
                // Not `Record`: that could not refer to itself.
                Some(others) => format!("{{ [key: string]: {} }}", others.render(indent, comments)),
            };
        }
        let members = self.members(indent + 1, comments);
        let width: usize = members.iter().map(|(_, member)| member.len() + 2).sum();
        let short = indent * 2 + width + 4 <= WIDTH;
        if short && members.iter().all(|(comment, member)| comment.is_none() && !member.contains('\n')) {
            let members: Vec<_> = members.into_iter().map(|(_, member)| member).collect();
            return format!("{{ {} }}", members.join("; "));
        }
        let margin = "  ".repeat(indent);
        let mut text = "{\n".to_owned();
        for (comment, member) in members {
            if let Some(comment) = comment {
                let _ = writeln!(text, "{margin}  /** {comment} */");
            }
            let _ = writeln!(text, "{margin}  {member};");
        }
        let _ = write!(text, "{margin}}}");
        text
    }

    /// Each member's comment and text.
    fn members(&self, indent: usize, comments: Comments) -> Vec<(Option<String>, String)> {
        let mut members: Vec<_> = self
            .members
            .iter()
            .map(|member| {
                let said = member.said.as_deref().filter(|_| comments == Comments::All).and_then(comment);
                let mark = if member.required { "" } else { "?" };
                (said, format!("{}{mark}: {}", key(&member.name), member.holds.render(indent, comments)))
            })
            .collect();
        members.extend(self.others.as_ref().map(|_| (None, "[key: string]: unknown".to_owned())));
        members
    }
}
