//! What is offered besides tools: resources that can be read by their address, and prompts that a person can choose.
//!
//! Whatever is asked for here goes the way of a call: each offer becomes an [`Entry`] that the dispatcher runs, so rules,
//! hooks and the log see it like any call. A client is told nothing by one way that it would not be told by the other.

pub mod prompt;
mod prompt_entry;
pub mod resource;
mod resource_entry;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use crate::offer::prompt::{Prompt, PromptArgument, PromptSpec};
use crate::offer::resource::{Resource, ResourceSpec, Template, TemplateSpec};
use crate::text::uri_template::{TemplateFault, UriTemplate};
use crate::tool::registry::Entry;
use crate::tool::schema::SchemaFault;

pub(crate) use prompt_entry::{Told, told_arguments};
pub(crate) use resource_entry::{Completed, Fetched, Listed};

/// As which tool files are listed.
const LIST_DIR: &str = "list_dir";

/// Resources, templates of their addresses, and prompts.
#[derive(Clone, Default)]
pub struct Offers {
    resources: Vec<OfferedResource>,
    templates: Vec<OfferedTemplate>,
    prompts: BTreeMap<String, OfferedPrompt>,
    more: bool,
}

/// A resource at a fixed address.
#[derive(Clone)]
pub(crate) struct OfferedResource {
    pub(crate) spec: ResourceSpec,
    pub(crate) read: Entry,
}

/// Resources whose addresses follow a template.
#[derive(Clone)]
pub(crate) struct OfferedTemplate {
    pub(crate) spec: TemplateSpec,
    pub(crate) template: UriTemplate,
    pub(crate) read: Entry,
    pub(crate) list: Entry,
    pub(crate) complete: Entry,
}

/// A prompt.
#[derive(Clone)]
pub(crate) struct OfferedPrompt {
    pub(crate) spec: PromptSpec,
    /// Described when somebody asks for them.
    pub(crate) arguments: Arc<LazyLock<Vec<PromptArgument>>>,
    pub(crate) get: Entry,
    pub(crate) complete: Entry,
}

/// Something cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferError {
    /// Another resource or template has that address, or another prompt that name.
    #[error("{0} is offered already")]
    Duplicate(String),
    /// It is no address: it begins with no scheme.
    #[error("{0:?} is no address: it must begin with a scheme, as in notes://today")]
    BadUri(String),
    /// It is no template.
    #[error("{uri_template:?} is no template of addresses: {fault}")]
    BadTemplate {
        /// The template.
        uri_template: String,
        /// What is wrong with it.
        fault: TemplateFault,
    },
    /// Its variables or arguments cannot be described.
    #[error("{what} cannot be offered: {fault}")]
    BadArguments {
        /// The template or prompt.
        what: String,
        /// What is wrong with the type.
        fault: SchemaFault,
    },
}

/// A resource that is asked for, found by its address.
pub(crate) struct Found<'a> {
    pub(crate) read: &'a Entry,
    /// What it is read with.
    pub(crate) arguments: Map<String, Value>,
}

impl Offers {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Offers::default()
    }

    /// Offers a resource at a fixed address.
    ///
    /// # Errors
    /// See [`OfferError`].
    pub fn resource(&mut self, resource: impl Resource) -> Result<(), OfferError> {
        let spec = resource.spec();
        check_uri(&spec.uri)?;
        if self.resources.iter().any(|other| other.spec.uri == spec.uri) {
            return Err(OfferError::Duplicate(spec.uri));
        }
        self.resources.push(OfferedResource { read: resource_entry::of_resource(resource), spec });
        Ok(())
    }

    /// Offers the resources whose addresses follow a template.
    ///
    /// # Errors
    /// See [`OfferError`].
    pub fn template<T: Template>(&mut self, template: T) -> Result<(), OfferError> {
        let spec = template.spec();
        check_uri(spec.uri_template)?;
        let parsed = UriTemplate::parse(spec.uri_template)
            .map_err(|fault| OfferError::BadTemplate { uri_template: spec.uri_template.to_owned(), fault })?;
        if self.templates.iter().any(|other| other.spec.uri_template == spec.uri_template) {
            return Err(OfferError::Duplicate(spec.uri_template.to_owned()));
        }
        let (read, list, complete) = resource_entry::of_template(template);
        self.templates.push(OfferedTemplate { spec, template: parsed, read, list, complete });
        Ok(())
    }

    /// Offers a prompt.
    ///
    /// Its arguments are described when they are first asked for. Builds with debug assertions do so here as well, so that
    /// tests find a type that cannot be described; in others it has none.
    ///
    /// # Errors
    /// See [`OfferError`].
    pub fn prompt<P: Prompt>(&mut self, prompt: P) -> Result<(), OfferError> {
        let spec = prompt.spec();
        if cfg!(debug_assertions) {
            prompt_entry::arguments_of::<P>()
                .map_err(|fault| OfferError::BadArguments { what: spec.name.to_owned(), fault })?;
        }
        let described: fn() -> Vec<PromptArgument> = || prompt_entry::arguments_of::<P>().unwrap_or_default();
        let arguments = Arc::new(LazyLock::new(described));
        let (get, complete) = prompt_entry::of_prompt(prompt);
        let name = spec.name.to_owned();
        if self.prompts.contains_key(&name) {
            return Err(OfferError::Duplicate(name));
        }
        self.prompts.insert(name, OfferedPrompt { spec, arguments, get, complete });
        Ok(())
    }

    /// Takes back the resource at `uri`. Says whether there was one.
    pub fn withdraw_resource(&mut self, uri: &str) -> bool {
        let before = self.resources.len();
        self.resources.retain(|resource| resource.spec.uri != uri);
        self.resources.len() < before
    }

    /// Takes back the resources whose addresses follow `uri_template`. Says whether there were any.
    pub fn withdraw_template(&mut self, uri_template: &str) -> bool {
        let before = self.templates.len();
        self.templates.retain(|template| template.spec.uri_template != uri_template);
        self.templates.len() < before
    }

    /// Takes back a prompt. Says whether there was one of that name.
    pub fn withdraw_prompt(&mut self, name: &str) -> bool {
        self.prompts.remove(name).is_some()
    }

    /// More may come while clients are there: they are told that there are resources and prompts though there is none yet.
    pub fn expect_more(&mut self) {
        self.more = true;
    }

    /// Whether there is anything to read, or may be.
    #[must_use]
    pub fn has_resources(&self) -> bool {
        self.more || !self.resources.is_empty() || !self.templates.is_empty()
    }

    /// Whether there are prompts, or may be.
    #[must_use]
    pub fn has_prompts(&self) -> bool {
        self.more || !self.prompts.is_empty()
    }

    /// Whether listing resources means more than looking at folders.
    pub(crate) fn lists_more_than_files(&self) -> bool {
        self.templates.iter().any(|template| template.spec.lists_as != LIST_DIR)
    }

    pub(crate) fn resources(&self) -> &[OfferedResource] {
        &self.resources
    }

    pub(crate) fn templates(&self) -> &[OfferedTemplate] {
        &self.templates
    }

    pub(crate) fn prompts(&self) -> impl ExactSizeIterator<Item = &OfferedPrompt> {
        self.prompts.values()
    }

    pub(crate) fn prompt_named(&self, name: &str) -> Option<&OfferedPrompt> {
        self.prompts.get(name)
    }

    /// The resource at `uri`: one at that fixed address, or else of the first template that it follows.
    pub(crate) fn find(&self, uri: &str) -> Option<Found<'_>> {
        if let Some(resource) = self.resources.iter().find(|resource| resource.spec.uri == uri) {
            let arguments = Map::from_iter([("uri".to_owned(), uri.into())]);
            return Some(Found { read: &resource.read, arguments });
        }
        self.templates.iter().find_map(|template| {
            let variables = template.template.match_uri(uri)?;
            let arguments = variables.into_iter().map(|(name, value)| (name, value.into())).collect();
            Some(Found { read: &template.read, arguments })
        })
    }
}

fn check_uri(uri: &str) -> Result<(), OfferError> {
    let sound = uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    if sound { Ok(()) } else { Err(OfferError::BadUri(uri.to_owned())) }
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offers")
            .field("resources", &self.resources.len())
            .field("templates", &self.templates.len())
            .field("prompts", &self.prompts.len())
            .finish()
    }
}
