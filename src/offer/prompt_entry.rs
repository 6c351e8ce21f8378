//! Prompts as the dispatcher runs them: as tools that no client sees.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::error::ToolError;
use crate::offer::prompt::{GET_PROMPT, Message, Prompt, PromptArgument};
use crate::offer::resource::Typing;
use crate::offer::resource_entry::{Completed, TypingArgs};
use crate::tool::content::Content;
use crate::tool::registry::Entry;
use crate::tool::schema::{SchemaFault, arguments_schema};
use crate::tool::view::View;
use crate::tool::{Card, Effect, Plan, Spec, Tool};

/// What was told.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told {
    #[serde(skip)]
    pub(crate) messages: Vec<Message>,
}

/// How a prompt is taken, and how its arguments are completed.
pub(super) fn of_prompt<P: Prompt>(prompt: P) -> (Entry, Entry) {
    let prompt = Arc::new(prompt);
    (Entry::new(GetPrompt(Arc::clone(&prompt))), Entry::new(CompletePrompt(prompt)))
}

/// The arguments, as the type describes them.
pub(super) fn arguments_of<P: Prompt>() -> Result<Vec<PromptArgument>, SchemaFault> {
    let schema = arguments_schema::<P::Args>()?;
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema["properties"].as_object();
    let arguments = properties.into_iter().flatten().map(|(name, property)| PromptArgument {
        name: name.clone(),
        description: property["description"].as_str().map(str::to_owned),
        required: required(name),
    });
    Ok(arguments.collect())
}

/// The choices that a type leaves for an argument and that begin with what is typed.
pub(super) fn choices<A: JsonSchema>(typing: &Typing) -> Vec<String> {
    let Ok(schema) = arguments_schema::<A>() else { return Vec::new() };
    let choices = schema["properties"][&typing.name]["enum"].as_array();
    let texts = choices.into_iter().flatten().filter_map(Value::as_str);
    texts.filter(|text| text.starts_with(&typing.text)).map(str::to_owned).collect()
}

/// What a prompt is called with in the log: its name and what a person has filled in.
pub(crate) fn told_arguments(name: &str, arguments: Map<String, Value>) -> Value {
    Value::Object(Map::from_iter([("name".to_owned(), name.into()), ("arguments".to_owned(), arguments.into())]))
}

fn spec(title: &'static str) -> Spec {
    Spec { name: GET_PROMPT, title, description: "", effect: Effect::Reads, paths: &[] }
}

struct GetPrompt<P>(Arc<P>);

/// Which prompt, and what a person has filled in.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(bound = "A: serde::de::DeserializeOwned")]
struct Filled<A> {
    name: String,
    arguments: A,
}

impl<P: Prompt> Tool for GetPrompt<P> {
    type Args = Filled<P::Args>;
    type Output = Told;

    fn spec(&self) -> Spec {
        spec(self.0.spec().title)
    }

    async fn plan(&self, view: &View, args: Filled<P::Args>) -> Result<Plan<Told>, ToolError> {
        Ok(Plan::Answer(Told { messages: self.0.get(view, args.arguments).await? }))
    }

    fn observe(output: &Told) -> String {
        let texts = output.messages.iter().filter_map(|message| match &message.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    fn present(args: &Filled<P::Args>) -> Card {
        Card::new(format!("Use the prompt {}", args.name))
    }
}

struct CompletePrompt<P>(Arc<P>);

impl<P: Prompt> Tool for CompletePrompt<P> {
    type Args = TypingArgs;
    type Output = Completed;

    fn spec(&self) -> Spec {
        spec(self.0.spec().title)
    }

    async fn plan(&self, view: &View, args: TypingArgs) -> Result<Plan<Completed>, ToolError> {
        Ok(Plan::Answer(Completed { values: self.0.complete(view, &args.into()).await? }))
    }

    fn observe(output: &Completed) -> String {
        output.values.join("\n")
    }

    fn present(_: &TypingArgs) -> Card {
        Card::new("Complete an argument of a prompt")
    }
}
