//! Prompts: plain, with arguments, with a resource, with a picture, and one that asks.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolgate::{
    Content, Contents, Memory, Message, OfferError, Prompt, PromptSpec, Role, Server, ToolError, Typing, View,
};

use crate::fixture::Nothing;
use crate::samples::picture;

pub fn register(server: Server<Memory>) -> Result<Server<Memory>, OfferError> {
    server
        .prompt(Plain::<Nothing> {
            name: "test_simple_prompt",
            description: "A prompt without arguments.",
            messages: |_| vec![Message::user("This is a simple prompt for testing.")],
        })?
        .prompt(Plain::<TwoArguments> {
            name: "test_prompt_with_arguments",
            description: "A prompt with two arguments.",
            messages: |TwoArguments { arg1, arg2 }| {
                vec![Message::user(format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]
            },
        })?
        .prompt(Plain::<ResourceArgument> {
            name: "test_prompt_with_embedded_resource",
            description: "A prompt that holds a resource.",
            messages: |ResourceArgument { resource_uri }| {
                let contents = Contents::text("text/plain", "Embedded resource content for testing.");
                let content = Content::Resource { uri: resource_uri, contents };
                let words = Message::user("Please process the embedded resource above.");
                vec![Message { role: Role::User, content }, words]
            },
        })?
        .prompt(Plain::<Nothing> {
            name: "test_prompt_with_image",
            description: "A prompt that holds a picture.",
            messages: |_| {
                let content = Content::Image(picture());
                vec![Message { role: Role::User, content }, Message::user("Please analyze the image above.")]
            },
        })?
        .prompt(Asks)
}

#[derive(Deserialize, JsonSchema)]
struct TwoArguments {
    /// First test argument
    arg1: String,
    /// Second test argument
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ResourceArgument {
    /// URI of the resource to embed
    resource_uri: String,
}

/// A prompt that is made of its arguments alone.
struct Plain<A> {
    name: &'static str,
    description: &'static str,
    messages: fn(A) -> Vec<Message>,
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> Prompt for Plain<A> {
    type Args = A;

    fn spec(&self) -> PromptSpec {
        PromptSpec { name: self.name, title: self.name, description: self.description }
    }

    async fn get(&self, _: &View, args: A) -> Result<Vec<Message>, ToolError> {
        Ok((self.messages)(args))
    }

    async fn complete(&self, _: &View, typing: &Typing) -> Result<Vec<String>, ToolError> {
        let words = ["paris", "park", "party", "test", "testing"];
        Ok(words.into_iter().filter(|word| word.starts_with(&typing.text)).map(str::to_owned).collect())
    }
}

/// A prompt that asks a person first.
struct Asks;

#[derive(Deserialize, JsonSchema)]
struct UserContext {
    context: String,
}

impl Prompt for Asks {
    type Args = Nothing;

    fn spec(&self) -> PromptSpec {
        PromptSpec {
            name: "test_input_required_result_prompt",
            title: "Asks",
            description: "A prompt that asks a person what it should be about.",
        }
    }

    async fn get(&self, view: &View, _: Nothing) -> Result<Vec<Message>, ToolError> {
        let UserContext { context } =
            view.ask("user_context", "What context should the prompt use?").await?.accepted()?;
        Ok(vec![Message::user(format!("Use this context: {context}"))])
    }
}
