//! The documentation of `run_code`: how to write a program, and as much of the declarations as there is room for.

use super::{Described, Sdk};
use crate::code::typescript::Comments;

/// How a program is written. Prose, since a model reads it before the declarations.
const HOW: &str = "\
Run a program that calls the tools: for work of several calls, and wherever only a little of what is read matters to you. \
The program is TypeScript, the body of an async function: use await and return at its top level. Its only way to act is \
`tools`: `const file = await tools.read_file({ path: \"a.txt\" });`. A call takes one object (leave out what you do not set; undefined is refused) and resolves to the tool's typed \
output, not to text. A call that fails rejects with a ToolCallError that has code, tool, message and details; catch it where you \
can go on. Await every call: one that nothing awaits makes the run fail. Calls start in the order in \
which they are made; those that only read overlap (Promise.all), those that change something run alone. Return what you need to \
know, as a string or as JSON, and keep it short: read, filter and count inside, not in your answer. console.log comes back too. \
Types are erased, not checked: no enum, namespace, decorator, import or export. There are no modules, timers or network.";

/// All declarations, below what is to be known.
pub(super) fn whole(sdk: &Sdk) -> String {
    format!("{HOW}\n\n```ts\n{}```\n", sdk.declarations())
}

/// As much as `budget` bytes hold.
pub(super) fn documentation(sdk: &Sdk, budget: usize) -> String {
    let levels: [fn(&Sdk) -> String; 3] = [whole, types, index];
    let mut text = levels.iter().map(|level| level(sdk)).find(|text| text.len() <= budget);
    text.take().unwrap_or_else(|| names(sdk, budget))
}

/// Where the rest is.
fn on_demand(sdk: &Sdk) -> &'static str {
    if sdk.offers_describe() {
        "`return await tools.describe(\"NAME\")` tells all about one tool; the resource toolgate://sdk.d.ts and the prompt \
         tools_sdk hold all of them."
    } else {
        "The resource toolgate://sdk.d.ts and the prompt tools_sdk hold the full declarations."
    }
}

/// Every tool's types, with one sentence about each.
fn types(sdk: &Sdk) -> String {
    let mut text = format!("{HOW} {}\n\n```ts\n", on_demand(sdk));
    for (name, alias) in sdk.tools.iter().flat_map(|tool| tool.aliases(Comments::None)) {
        text.push_str(&format!("type {name} = {alias};\n"));
    }
    text.push_str("declare const tools: {\n");
    sdk.tools.iter().for_each(|tool| text.push_str(&tool.member(Comments::None)));
    text.push_str("};\n```\n");
    text
}

/// Every tool's name, with one sentence about it.
fn index(sdk: &Sdk) -> String {
    let mut text = format!("{HOW} {} Ask before you use one for the first time. The tools:\n", on_demand(sdk));
    for tool in &sdk.tools {
        let said = tool.in_short().map_or_else(String::new, |said| format!(": {said}"));
        text.push_str(&format!("- {}{said}\n", Described::in_a_program(tool.name())));
    }
    text
}

/// As many names as fit, and how many there are beside.
fn names(sdk: &Sdk, budget: usize) -> String {
    let mut text = format!("{HOW} {} Ask before you use one for the first time. The tools:\n", on_demand(sdk));
    let mut left = sdk.tools.len();
    for tool in &sdk.tools {
        let name = Described::in_a_program(tool.name());
        if text.len() + name.len() + 80 > budget {
            break;
        }
        text.push_str(&format!("{name}\n"));
        left -= 1;
    }
    if left > 0 {
        text.push_str(&format!("and {left} more, which Object.keys(tools) names\n"));
    }
    text
}
