//! One tool's declaration.

use super::Described;
use crate::code::typescript::text::{comment, first_sentence, key};
use crate::code::typescript::{Comments, Taken, Type, project};
use crate::model::error::ErrorCode;

/// Bytes of one tool's types; what would be longer says less.
const LONGEST: usize = 64 * 1024;

/// A tool's types and what is said about it.
#[derive(Debug, Clone)]
pub(super) struct Declaration {
    name: String,
    description: String,
    arguments: Type,
    output: Type,
    aliases: Vec<(String, Type)>,
}

impl Declaration {
    pub(super) fn of(tool: &Described<'_>, taken: &mut Taken) -> Self {
        let arguments = project(tool.arguments, tool.name, taken);
        let output = project(tool.output, &format!("{}_output", tool.name), taken);
        let mut made = Declaration {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            arguments: arguments.root,
            output: output.root,
            aliases: arguments.aliases.into_iter().chain(output.aliases).collect(),
        };
        if made.length() > LONGEST {
            made = Declaration { arguments: Type::Unknown, output: Type::Unknown, aliases: Vec::new(), ..made };
        }
        made
    }

    fn length(&self) -> usize {
        let aliases: usize = self.aliases(Comments::All).map(|(_, alias)| alias.len()).sum();
        self.member(Comments::All).len() + aliases
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The recursive types that it needs, each with its name.
    pub(super) fn aliases(&self, comments: Comments) -> impl Iterator<Item = (&str, String)> {
        self.aliases.iter().map(move |(name, alias)| (name.as_str(), alias.render(0, comments)))
    }

    /// The member of `tools`, as lines that begin with two spaces.
    ///
    /// It is written as a property, not as a method: `new(args)` would be a construct signature.
    pub(super) fn member(&self, comments: Comments) -> String {
        let said = match comments {
            Comments::All => comment(&self.description),
            Comments::None => self.in_short(),
        };
        let said = said.map_or_else(String::new, |said| format!("  /** {said} */\n"));
        let arguments = self.arguments.render(1, comments);
        let mark = if self.arguments.may_be_left_out() { "?" } else { "" };
        let output = self.output.render(1, comments);
        format!("{said}  {}: (args{mark}: {arguments}) => Promise<{output}>;\n", key(&self.name))
    }

    /// What it is for, in one sentence.
    pub(super) fn in_short(&self) -> Option<String> {
        first_sentence(&self.description)
    }
}

/// The class of what a failed call rejects with.
pub(super) fn errors() -> String {
    let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| format!("\"{code}\"")).collect();
    let mut text = String::from("/** Why a call failed. */\ntype ErrorCode =");
    for line in codes.chunks(5) {
        text.push_str("\n  | ");
        text.push_str(&line.join(" | "));
    }
    text.push_str(
        ";\n\n/** What the promise of a failed call rejects with. */\n\
         declare class ToolCallError extends Error {\n  \
           readonly name: \"ToolCallError\";\n  \
           readonly code: ErrorCode;\n  \
           /** The tool that was called. */\n  \
           readonly tool: string;\n  \
           /** For programs: line numbers, sizes, candidates. `message` says the same in words. */\n  \
           readonly details: { [key: string]: unknown };\n}\n",
    );
    text
}
