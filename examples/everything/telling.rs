//! Tools that tell something while they run, or to others: progress, messages, news.

use std::time::Duration;

use toolgate::{Card, Effect, LogLevel, Memory, News, Plan, RegisterError, Server, Spec, Tool, ToolError, View};

use crate::fixture::{Fixture, Nothing, Shown};

/// Between one word and the next.
const PAUSE: Duration = Duration::from_millis(50);

pub fn register(server: Server<Memory>, news: &News) -> Result<Server<Memory>, RegisterError> {
    server
        .tool(Fixture::<Nothing> {
            name: "test_tool_with_progress",
            description: "Says how far it is.",
            body: |view, _| {
                Box::pin(async {
                    for done in [0.0, 50.0, 100.0] {
                        view.progress(done, Some(100.0), None);
                        tokio::time::sleep(PAUSE).await;
                    }
                    Ok(Shown::text("The work is done."))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_tool_with_logging",
            description: "Says what it does.",
            body: |view, _| {
                Box::pin(async {
                    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                        view.log(LogLevel::Info, message);
                        tokio::time::sleep(PAUSE).await;
                    }
                    Ok(Shown::text("The work is done."))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_logging_tool",
            description: "Says what it does, to who wants to know.",
            body: |view, _| {
                view.log(LogLevel::Info, "Only who asked for messages sees this");
                Box::pin(async { Ok(Shown::text("The work is done.")) })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_reconnection",
            description: "Takes a while, so that a client can lose its connection and come back for the result.",
            body: |view, _| {
                view.progress(0.0, None, Some("working"));
                Box::pin(async {
                    tokio::time::sleep(2 * PAUSE).await;
                    Ok(Shown::text("Reconnection test completed successfully."))
                })
            },
        })?
        .tool(Announce { name: "test_trigger_tool_change", news: news.clone(), announce: News::tools_changed })?
        .tool(Announce { name: "test_trigger_prompt_change", news: news.clone(), announce: News::prompts_changed })
}

/// A tool that tells all clients that a list has changed.
struct Announce {
    name: &'static str,
    news: News,
    announce: fn(&News),
}

impl Tool for Announce {
    type Args = Nothing;
    type Output = Shown;

    fn spec(&self) -> Spec {
        let description = "Tells who listens that a list has changed.";
        Spec { name: self.name, title: self.name, description, effect: Effect::Reaches, paths: &[] }
    }

    async fn plan(&self, _: &View, _: Nothing) -> Result<Plan<Shown>, ToolError> {
        (self.announce)(&self.news);
        Ok(Plan::Answer(Shown::text("Announced.")))
    }

    fn observe(output: &Shown) -> String {
        <Fixture<Nothing> as Tool>::observe(output)
    }

    fn present(_: &Nothing) -> Card {
        Card::new("Announce a change")
    }
}
