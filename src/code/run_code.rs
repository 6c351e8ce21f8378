//! `run_code`: a program instead of many calls.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::code::report::Output;
use crate::code::{Options, run};
use crate::model::error::{ErrorCode, ToolError};
use crate::model::mode::RUN_CODE;
use crate::text::counted::counted;
use crate::tool::view::View;
use crate::tool::{Act, Card, Effect, Facts, Plan, Spec, Tool};

/// The tool `run_code`.
#[derive(Debug)]
pub(super) struct RunCode {
    options: Arc<Options>,
}

impl RunCode {
    pub(super) fn new(options: Options) -> Self {
        RunCode { options: Arc::new(options) }
    }
}

/// A program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// TypeScript: the body of an async function, so await and return stand at the top.
    code: String,
    /// What it is for, in five to ten words, for the user to read.
    description: String,
    /// How long it may take, in milliseconds.
    #[serde(default)]
    timeout_ms: Option<NonZeroU64>,
}

impl Tool for RunCode {
    type Args = Args;
    type Output = Output;

    fn spec(&self) -> Spec {
        Spec {
            name: RUN_CODE,
            title: "Run a program",
            description: "Run a TypeScript program that calls the other tools.",
            effect: Effect::Calls,
            paths: &[],
        }
    }

    async fn plan(&self, _: &View, args: Args) -> Result<Plan<Output>, ToolError> {
        let limits = self.options.limits;
        let asked = args.timeout_ms.map(|ms| Duration::from_millis(ms.get()));
        if let Some(asked) = asked.filter(|asked| *asked > limits.wall) {
            let most = limits.wall.as_millis();
            return Err(ToolError::bad_argument(
                "timeout_ms",
                format_args!(
                    "{} is more than the {most} that a run may take (setting code.wall_ms)",
                    asked.as_millis()
                ),
            ));
        }
        if args.code.len() > limits.source_bytes {
            return Err(ToolError::new(
                ErrorCode::TooLarge,
                format!(
                    "The program is longer than {} bytes (setting code.source_bytes). Nothing of it was run. Read large texts \
                     from files instead of writing them into the program.",
                    limits.source_bytes
                ),
            ));
        }
        let options = Arc::clone(&self.options);
        Ok(Plan::Act(Act::calling(move |calls| {
            async move {
                let wall = asked.unwrap_or(limits.wall);
                run::run(&options, &args.code, &args.description, wall, calls).await.outcome()
            }
            .boxed()
        })))
    }

    fn observe(output: &Output) -> String {
        output.text()
    }

    fn notes(output: &Output) -> Vec<String> {
        output.lines()
    }

    fn facts(output: &Output) -> Facts {
        vec![
            ("run", json!(output.run)),
            ("calls", json!(output.calls)),
            ("changes", json!(output.changes)),
            ("sandbox", json!(output.sandbox)),
        ]
    }

    fn present(args: &Args) -> Card {
        Card::new(format!("Run a program: {}", args.description))
    }

    fn present_result(output: &Output) -> Option<Card> {
        let calls = counted(output.calls, "call", "calls");
        Some(Card::new(format!("Ran a program: {calls}, {}", counted(output.changes.len(), "change", "changes"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::mode::RUN_CODE_ARGUMENTS;
    use crate::tool::schema::arguments_schema;

    #[test]
    fn what_it_is_called_with_is_what_others_know() {
        let schema = arguments_schema::<Args>().expect("an object");
        let named: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
        assert_eq!(named, RUN_CODE_ARGUMENTS);
    }
}
