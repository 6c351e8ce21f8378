//! `todo_write`: what a model means to do, written down where a person can see it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::error::ToolError;
use crate::model::event::Event;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Plan, Spec, Tool};

/// The tool `todo_write`.
#[derive(Debug)]
pub struct TodoWrite;

/// The whole list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// All steps in order; they replace the list before.
    #[schemars(length(max = 200))]
    pub todos: Vec<Todo>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// What is to be done.
    #[schemars(length(min = 1))]
    pub text: String,
    /// How far it is.
    pub status: Status,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Done,
}

/// The list as it stands now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// All steps.
    pub todos: Vec<Todo>,
}

impl Tool for TodoWrite {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: "todo_write",
            title: "Write down the plan",
            description: "Write down the steps of your work and how far each is, so that the user can follow: the whole list \
                          each time. For work of three steps or more; mark a step in_progress before you begin it and done \
                          once it is.",
            effect: Effect::Reads,
            paths: &[],
        }
    }

    async fn plan(&self, _: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        Ok(Plan::Answer(Output { todos: args.todos }))
    }

    fn observe(output: &Output) -> String {
        let mut text = String::from("Todos written:\n");
        for Todo { text: step, status } in &output.todos {
            text.push_str(match status {
                Status::Pending => "[ ] ",
                Status::InProgress => "[>] ",
                Status::Done => "[x] ",
            });
            text.push_str(step);
            text.push('\n');
        }
        text
    }

    fn events(output: &Output) -> Vec<Event> {
        let todos = output.todos.iter().map(|todo| match serde_json::to_value(todo) {
            Ok(Value::Object(todo)) => todo,
            _ => Map::new(),
        });
        vec![Event::TodoWrite { todos: todos.collect() }]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Write down {}", progress(&args.todos)))
    }

    fn present_result(output: &Output) -> Option<Card> {
        Some(Card::new(format!("Wrote down {}", progress(&output.todos))))
    }
}

fn progress(todos: &[Todo]) -> String {
    let done = todos.iter().filter(|todo| todo.status == Status::Done).count();
    format!("{}, {done} done", counted(todos.len(), "step", "steps"))
}
