//! Resources as the dispatcher runs them: as tools that no client sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::error::ToolError;
use crate::offer::resource::{Item, Page, READ_RESOURCE, Resource, Template, Typing};
use crate::tool::content::{Body, Contents};
use crate::tool::registry::Entry;
use crate::tool::view::View;
use crate::tool::{Card, Effect, Plan, Spec, Tool};

/// What was read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Fetched {
    /// How many bytes.
    bytes: usize,
    #[serde(skip)]
    pub(crate) contents: Option<Contents>,
}

impl Fetched {
    fn new(contents: Contents) -> Self {
        let bytes = match &contents.body {
            Body::Text(text) => text.len(),
            Body::Blob(bytes) => bytes.len(),
        };
        Fetched { bytes, contents: Some(contents) }
    }

    /// What a hook sees of it.
    fn shown(&self) -> String {
        match self.contents.as_ref().map(|contents| &contents.body) {
            Some(Body::Text(text)) => text.clone(),
            _ => format!("[{} bytes that are no text.]", self.bytes),
        }
    }
}

/// What was listed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The addresses.
    uris: Vec<String>,
    #[serde(skip)]
    pub(crate) items: Vec<Item>,
    #[serde(skip)]
    pub(crate) next: Option<String>,
}

/// What may have been meant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Completed {
    pub(crate) values: Vec<String>,
}

pub(super) fn of_resource(resource: impl Resource) -> Entry {
    Entry::new(ReadResource(resource))
}

/// How the resources of a template are read, listed and completed.
pub(super) fn of_template<T: Template>(template: T) -> (Entry, Entry, Entry) {
    let template = Arc::new(template);
    (
        Entry::new(ReadTemplate(Arc::clone(&template))),
        Entry::new(ListTemplate(Arc::clone(&template))),
        Entry::new(CompleteTemplate(template)),
    )
}

fn spec(name: &'static str, title: &'static str, paths: &'static [&'static str]) -> Spec {
    Spec { name, title, description: "", effect: Effect::Reads, paths }
}

struct ReadResource<R>(R);

#[derive(Deserialize, JsonSchema)]
struct Address {
    uri: String,
}

impl<R: Resource> Tool for ReadResource<R> {
    type Args = Address;
    type Output = Fetched;

    fn spec(&self) -> Spec {
        spec(READ_RESOURCE, "Read resource", &[])
    }

    async fn plan(&self, view: &View, _: Address) -> Result<Plan<Fetched>, ToolError> {
        Ok(Plan::Answer(Fetched::new(self.0.read(view).await?)))
    }

    fn observe(output: &Fetched) -> String {
        output.shown()
    }

    fn present(args: &Address) -> Card {
        Card::new(format!("Read {}", args.uri))
    }
}

struct ReadTemplate<T>(Arc<T>);

impl<T: Template> Tool for ReadTemplate<T> {
    type Args = T::Args;
    type Output = Fetched;

    fn spec(&self) -> Spec {
        let of = self.0.spec();
        spec(of.reads_as, of.title, of.paths)
    }

    async fn plan(&self, view: &View, args: T::Args) -> Result<Plan<Fetched>, ToolError> {
        Ok(Plan::Answer(Fetched::new(self.0.read(view, args).await?)))
    }

    fn observe(output: &Fetched) -> String {
        output.shown()
    }

    fn present(_: &T::Args) -> Card {
        Card::new("Read a resource")
    }
}

struct ListTemplate<T>(Arc<T>);

/// Which page is asked for.
#[derive(Deserialize, JsonSchema)]
struct Asked {
    #[serde(default)]
    after: Option<String>,
    limit: usize,
}

impl<T: Template> Tool for ListTemplate<T> {
    type Args = Asked;
    type Output = Listed;

    fn spec(&self) -> Spec {
        let of = self.0.spec();
        spec(of.lists_as, of.title, of.paths)
    }

    async fn plan(&self, view: &View, args: Asked) -> Result<Plan<Listed>, ToolError> {
        let Page { resources, next } = self.0.list(view, args.after.as_deref(), args.limit).await?;
        let uris = resources.iter().map(|item| item.spec.uri.clone()).collect();
        Ok(Plan::Answer(Listed { uris, items: resources, next }))
    }

    fn observe(output: &Listed) -> String {
        output.uris.join("\n")
    }

    fn present(_: &Asked) -> Card {
        Card::new("List resources")
    }
}

struct CompleteTemplate<T>(Arc<T>);

/// What is being typed.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TypingArgs {
    name: String,
    text: String,
    #[serde(default)]
    others: BTreeMap<String, String>,
}

impl From<TypingArgs> for Typing {
    fn from(TypingArgs { name, text, others }: TypingArgs) -> Self {
        Typing { name, text, others }
    }
}

impl<T: Template> Tool for CompleteTemplate<T> {
    type Args = TypingArgs;
    type Output = Completed;

    fn spec(&self) -> Spec {
        let of = self.0.spec();
        spec(of.lists_as, of.title, of.paths)
    }

    async fn plan(&self, view: &View, args: TypingArgs) -> Result<Plan<Completed>, ToolError> {
        Ok(Plan::Answer(Completed { values: self.0.complete(view, &args.into()).await? }))
    }

    fn observe(output: &Completed) -> String {
        output.values.join("\n")
    }

    fn present(args: &TypingArgs) -> Card {
        Card::new(format!("Complete {}", args.name))
    }
}
