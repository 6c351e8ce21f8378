//! Every tool as a typed declaration: what a program in code mode is written against.

mod brief;
mod declaration;
mod offers;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::tool::registry::{Entry, Registry};

use super::typescript::text::key;
use super::typescript::{Comments, Taken};
use declaration::Declaration;
pub use offers::{register, renew};

/// Where an MCP client finds the declarations.
pub const URI: &str = "toolgate://sdk.d.ts";

/// What they are.
pub const MIME_TYPE: &str = "text/typescript";

/// Bytes that the documentation in `run_code`'s description may take up; what is left out is told on demand.
pub const BUDGET: usize = 6 * 1024;

/// The tool that runs programs. It is not among those that a program can call.
pub use crate::model::mode::RUN_CODE;

/// The declarations of the tools that a program can call.
///
/// The text depends on the tools alone, not on the order in which they were registered: it is the same to the byte
/// from one process to the next, so that a prompt that holds it can be cached.
///
/// ```
/// use toolgate::code::sdk::Sdk;
/// use toolgate::{Registry, tools};
///
/// let mut registry = Registry::new();
/// tools::register(&mut registry)?;
/// let sdk = Sdk::of(&registry);
/// assert!(sdk.declarations().contains("  read_file: (args: {"));
/// assert!(sdk.describe("read_file").is_some_and(|text| text.contains("start_line?: number;")));
/// assert_eq!(sdk.describe("no_such_tool"), None);
/// # Ok::<(), toolgate::RegisterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sdk {
    tools: Vec<Declaration>,
}

impl Sdk {
    /// The declarations of all tools of `registry` but the one that runs programs.
    #[must_use]
    pub fn of(registry: &Registry) -> Self {
        Sdk::of_tools(registry.iter().map(Described::of))
    }

    fn of_tools<'a>(tools: impl Iterator<Item = Described<'a>>) -> Self {
        let mut tools: Vec<_> = tools.filter(|tool| tool.name != RUN_CODE).collect();
        tools.sort_by(|one, other| one.name.cmp(other.name));
        let mut taken = reserved();
        Sdk { tools: tools.iter().map(|tool| Declaration::of(tool, &mut taken)).collect() }
    }

    /// Everything, as a `.d.ts` file for a compiler whose `lib` is ES2023 alone.
    #[must_use]
    pub fn declarations(&self) -> String {
        let mut text = HEAD.to_owned();
        text.push_str(&declaration::errors());
        for (name, alias) in self.tools.iter().flat_map(|tool| tool.aliases(Comments::All)) {
            text.push_str(&format!("\ntype {name} = {alias};\n"));
        }
        text.push_str("\n/** The tools. A promise of one rejects with a `ToolCallError` when the call fails. */\n");
        text.push_str("declare const tools: {\n");
        self.tools.iter().for_each(|tool| text.push_str(&tool.member(Comments::All)));
        if self.offers_describe() {
            text.push_str(&format!("  /** {DESCRIBE} */\n  describe: (tool: string) => Promise<string>;\n"));
        }
        text.push_str("};\n");
        text
    }

    /// The declaration of one tool with all that is said about it, for a program that asks, or a model that will.
    #[must_use]
    pub fn describe(&self, name: &str) -> Option<String> {
        let tool = self.tools.iter().find(|tool| tool.name() == name)?;
        let mut text = String::new();
        for (name, alias) in tool.aliases(Comments::All) {
            text.push_str(&format!("type {name} = {alias};\n"));
        }
        text.push_str(&format!("declare const tools: {{\n{}}};\n", tool.member(Comments::All)));
        Some(text)
    }

    /// The names that a program can call, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(Declaration::name)
    }

    /// Whether `tools.describe` is the help, and not a tool of that name.
    #[must_use]
    pub fn offers_describe(&self) -> bool {
        self.names().all(|name| name != "describe")
    }

    /// What a model must know to write programs, in at most `budget` bytes as far as that can be: all declarations, else
    /// every tool's types with one sentence about it, else an index. It goes into the description of `run_code`.
    #[must_use]
    pub fn documentation(&self, budget: usize) -> String {
        brief::documentation(self, budget)
    }

    /// The same with all declarations, however long: the text of the prompt `tools_sdk`.
    #[must_use]
    pub fn prompt(&self) -> String {
        brief::whole(self)
    }
}

/// A tool as far as it is declared.
struct Described<'a> {
    name: &'a str,
    description: &'a str,
    arguments: &'a Value,
    output: &'a Value,
}

impl<'a> Described<'a> {
    fn of(entry: &'a Entry) -> Self {
        Described {
            name: entry.spec().name,
            description: entry.description(),
            arguments: entry.input_schema(),
            output: entry.output_schema(),
        }
    }

    /// The tool as a program names it: `tools.read_file`, `tools["read-file"]`.
    fn in_a_program(name: &str) -> String {
        let key = key(name);
        if key == name { format!("tools.{name}") } else { format!("tools[{key}]") }
    }
}

/// Names that the declarations use themselves.
fn reserved() -> Taken {
    ["ErrorCode", "ToolCallError", "Array", "Record", "Promise", "Error"].map(str::to_owned).into()
}

const DESCRIBE: &str = "The full declaration of one tool, with all that is said about it.";

const HEAD: &str = "\
// What programs in code mode can call, beside what JavaScript itself has. There is nothing else: no modules, no
// network, no timers.

/** What a program prints; it comes back with the result. */
declare const console: {
  debug: (...values: unknown[]) => void;
  error: (...values: unknown[]) => void;
  info: (...values: unknown[]) => void;
  log: (...values: unknown[]) => void;
  warn: (...values: unknown[]) => void;
};

";
