//! An agent that works in code mode, whole: a model, a session with toolgate in the same process, and the loop between.
//!
//! ```text
//! cargo run --example code_agent                      a scripted model, in code mode; no key, no network
//! cargo run --example code_agent -- --mode both       the same where every tool is offered as well
//! cargo run --example code_agent -- --measure         what a task costs in tokens, in native and in code mode
//! ANTHROPIC_API_KEY=… cargo run --example code_agent -- --folder . --task "Which file is the longest?"
//! OPENAI_API_KEY=…    cargo run --example code_agent -- --folder . --task "Which file is the longest?"
//! ```
//!
//! With a key in the environment the model is a real one: `ANTHROPIC_API_KEY`, `ANTHROPIC_MODEL` and `ANTHROPIC_BASE_URL`, or
//! `OPENAI_API_KEY`, `OPENAI_MODEL` and `OPENAI_BASE_URL`, which any server that speaks one of the two will do for.

mod anthropic;
mod conversation;
mod http;
mod measure;
mod openai;
mod scripted;
mod session;

use std::error::Error;
use std::process::ExitCode;

use conversation::{Entry, Model, talk};
use session::Session;
use toolgate::{Local, Mode};

/// So often the model may go on before somebody should look at what it does.
const MOST_TURNS: usize = 50;

fn main() -> ExitCode {
    // Code mode starts this executable anew for each program. First of all, since a child must do nothing else.
    toolgate::code::be_worker_if_asked();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("code_agent: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse()?;
    if arguments.measure {
        return measure::print();
    }
    let (mut model, task) = match (model()?, arguments.task) {
        (Some(model), Some(task)) => (model, task),
        (Some(_), None) => return Err("say what to do with --task \"…\"".into()),
        (None, None) => (scripted::of(arguments.mode), scripted::TASK.to_owned()),
        (None, Some(_)) => {
            return Err("a task needs a model: put a key into ANTHROPIC_API_KEY or OPENAI_API_KEY. Without --task a scripted one shows how it goes".into());
        }
    };
    let mut session = match &arguments.folder {
        Some(folder) => Session::start(Local::open(folder)?, arguments.mode)?,
        None => Session::start(scripted::files(), arguments.mode)?,
    };
    println!("# {} in {} mode", model.name(), arguments.mode);
    let offered: Vec<_> = session.offers().iter().map(|offer| offer.name.as_str()).collect();
    println!("\n## it can call\n{}", offered.join(", "));
    println!("\n## the user\n{task}");
    talk(model.as_mut(), &mut session, &task, MOST_TURNS, &mut |entry| show(entry))?;
    println!("\n## recorded");
    for line in session.end()? {
        println!("{line}");
    }
    Ok(())
}

fn show(entry: &Entry) {
    match entry {
        Entry::User(_) => {}
        Entry::Model { text, calls } => {
            if !text.is_empty() {
                println!("\n## the model\n{text}");
            }
            for call in calls {
                match call.arguments["code"].as_str() {
                    Some(code) => {
                        println!("\n## the model calls {}: {}\n{code}", call.name, call.arguments["description"])
                    }
                    None => println!("\n## the model calls {} {}", call.name, call.arguments),
                }
            }
        }
        Entry::Results(results) => {
            for result in results {
                println!("\n## {}\n{}", if result.is_error { "it failed" } else { "the result" }, result.text);
            }
        }
    }
}

/// A real model, if there is a key for one.
fn model() -> Result<Option<Box<dyn Model>>, Box<dyn Error>> {
    Ok(match (anthropic::Anthropic::from_environment(), openai::OpenAi::from_environment()) {
        (Some(model), _) => Some(Box::new(model)),
        (None, Some(model)) => Some(Box::new(model)),
        (None, None) => None,
    })
}

struct Arguments {
    mode: Mode,
    folder: Option<String>,
    task: Option<String>,
    measure: bool,
}

impl Arguments {
    fn parse() -> Result<Self, Box<dyn Error>> {
        let mut arguments = Arguments { mode: Mode::Code, folder: None, task: None, measure: false };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--mode" => arguments.mode = value()?.parse()?,
                "--folder" => arguments.folder = Some(value()?),
                "--task" => arguments.task = Some(value()?),
                "--measure" => arguments.measure = true,
                _ => return Err(format!("{word} is none of --mode, --folder, --task, --measure").into()),
            }
        }
        Ok(arguments)
    }
}
