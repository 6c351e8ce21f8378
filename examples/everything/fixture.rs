//! One kind of tool for all of them: a name, a description, and a function from arguments to what is shown.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolgate::{Card, Content, Effect, Plan, Spec, Tool, ToolError, View};

/// What a tool comes to: words, and what else there is to see.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    text: String,
    #[serde(skip)]
    content: Vec<Content>,
}

impl Shown {
    pub fn text(text: impl Into<String>) -> Self {
        Shown { text: text.into(), content: Vec::new() }
    }

    pub fn with(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }
}

pub type Doing<'a> = BoxFuture<'a, Result<Shown, ToolError>>;

/// A tool that does what `body` does.
pub struct Fixture<A> {
    pub name: &'static str,
    pub description: &'static str,
    pub body: for<'a> fn(&'a View, A) -> Doing<'a>,
}

/// For tools that take no arguments.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> Tool for Fixture<A> {
    type Args = A;
    type Output = Shown;

    fn spec(&self) -> Spec {
        let (name, description) = (self.name, self.description);
        Spec { name, title: name, description, effect: Effect::Reaches, paths: &[] }
    }

    async fn plan(&self, view: &View, args: A) -> Result<Plan<Shown>, ToolError> {
        (self.body)(view, args).await.map(Plan::Answer)
    }

    fn observe(output: &Shown) -> String {
        output.text.clone()
    }

    fn content(output: &Shown) -> Vec<Content> {
        output.content.clone()
    }

    fn present(_: &A) -> Card {
        Card::new("Test")
    }
}
