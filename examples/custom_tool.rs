//! A tool of one's own, served over standard input and output beside the built-in ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate::{Card, Effect, Local, Plan, Server, Spec, Tool, ToolError, View};

struct CountWords;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// The file whose words are counted.
    path: String,
}

#[derive(Serialize, JsonSchema)]
struct Words {
    words: usize,
}

impl Tool for CountWords {
    type Args = Args;
    type Output = Words;

    fn spec(&self) -> Spec {
        let description = "Count the words of a text file. Use it instead of reading a long file only to count.";
        Spec { name: "count_words", title: "Count words", description, effect: Effect::Reads, paths: &["path"] }
    }

    async fn plan(&self, view: &View, args: Args) -> Result<Plan<Words>, ToolError> {
        let file = view.read_whole(&view.path(&args.path)?)?;
        Ok(Plan::Answer(Words { words: String::from_utf8_lossy(&file).split_whitespace().count() }))
    }

    fn observe(output: &Words) -> String {
        format!("{} words", output.words)
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Count the words of {}", args.path))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(Server::new(Local::open(".")?).builtin_tools()?.tool(CountWords)?.serve_stdio()?)
}
