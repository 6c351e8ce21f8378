//! What a prompt is: messages that a person can put before a model by choosing them from a list.

use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::model::error::ToolError;
use crate::offer::resource::Typing;
use crate::tool::ask::Role;
use crate::tool::content::Content;
use crate::tool::view::View;

/// Messages that a person can choose.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use toolgate::{Message, Prompt, PromptSpec, ToolError, View};
///
/// struct Greet;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Args {
///     /// Who is greeted.
///     name: String,
/// }
///
/// impl Prompt for Greet {
///     type Args = Args;
///
///     fn spec(&self) -> PromptSpec {
///         PromptSpec { name: "greet", title: "Greet", description: "Greets somebody." }
///     }
///
///     async fn get(&self, _: &View, args: Args) -> Result<Vec<Message>, ToolError> {
///         Ok(vec![Message::user(format!("Greet {} warmly.", args.name))])
///     }
/// }
/// ```
pub trait Prompt: Send + Sync + 'static {
    /// What a person fills in: texts. Doc comments become the descriptions, an `Option` may be left out.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// Name, title and description.
    fn spec(&self) -> PromptSpec;

    /// The messages.
    fn get(&self, view: &View, args: Self::Args) -> impl Future<Output = Result<Vec<Message>, ToolError>> + Send;

    /// What a person may have meant to type for an argument, best first. By default the choices that its type leaves.
    fn complete(&self, _view: &View, typing: &Typing) -> impl Future<Output = Result<Vec<String>, ToolError>> + Send {
        std::future::ready(Ok(super::prompt_entry::choices::<Self::Args>(typing)))
    }
}

/// What a prompt is called and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSpec {
    /// The name, which clients show as a command.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// What it does, for people.
    pub description: &'static str,
}

/// As which tool the gate and the log see a prompt being taken.
pub const GET_PROMPT: &str = "get_prompt";

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What they say.
    pub content: Content,
}

impl Message {
    /// A text that the person says.
    pub fn user(text: impl Into<String>) -> Self {
        Message { role: Role::User, content: Content::Text(text.into()) }
    }

    /// A text that the model says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Message { role: Role::Assistant, content: Content::Text(text.into()) }
    }
}

/// An argument of a prompt, as a client is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is, for people.
    pub description: Option<String>,
    /// Whether it must be there.
    pub required: bool,
}
