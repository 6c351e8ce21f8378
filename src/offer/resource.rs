//! What a resource is: something that a client can read by its address.

use std::collections::BTreeMap;
use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::model::error::ToolError;
use crate::tool::content::Contents;
use crate::tool::view::View;

/// A resource at a fixed address.
///
/// ```
/// use toolgate::{Contents, Resource, ResourceSpec, ToolError, View};
///
/// struct Motd;
///
/// impl Resource for Motd {
///     fn spec(&self) -> ResourceSpec {
///         ResourceSpec::new("notes://today", "today")
///     }
///
///     async fn read(&self, _: &View) -> Result<Contents, ToolError> {
///         Ok(Contents::text("text/plain", "Water the plants."))
///     }
/// }
/// ```
pub trait Resource: Send + Sync + 'static {
    /// Where it is and what is said about it.
    fn spec(&self) -> ResourceSpec;

    /// What it holds.
    fn read(&self, view: &View) -> impl Future<Output = Result<Contents, ToolError>> + Send;
}

/// Resources whose addresses follow a template.
pub trait Template: Send + Sync + 'static {
    /// The variables of the template, all of them; what an address has in their place is decoded already.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// The template and what is said about it.
    fn spec(&self) -> TemplateSpec;

    /// What the resource with these variables holds.
    fn read(&self, view: &View, args: Self::Args) -> impl Future<Output = Result<Contents, ToolError>> + Send;

    /// Up to `limit` of the resources that there are, in an order that does not change, those after the one with the key
    /// `after`. By default none are listed: they can be read all the same by who knows the address.
    fn list(
        &self,
        _view: &View,
        _after: Option<&str>,
        _limit: usize,
    ) -> impl Future<Output = Result<Page, ToolError>> + Send {
        std::future::ready(Ok(Page::default()))
    }

    /// What a person may have meant to type for a variable, best first. By default nothing is known.
    fn complete(&self, _view: &View, _typing: &Typing) -> impl Future<Output = Result<Vec<String>, ToolError>> + Send {
        std::future::ready(Ok(Vec::new()))
    }
}

/// What a person is typing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// The variable or argument.
    pub name: String,
    /// What stands there so far.
    pub text: String,
    /// What the other ones are, as far as they are known.
    pub others: BTreeMap<String, String>,
}

/// Where a resource is and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceSpec {
    /// Its address.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// What it is, for a model.
    pub description: Option<String>,
    /// Such as `text/markdown`, where it is known.
    pub mime_type: Option<String>,
    /// How many bytes it holds, where that is known.
    pub size: Option<u64>,
}

impl ResourceSpec {
    /// A resource of which only the address and the name are told.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceSpec { uri: uri.into(), name: name.into(), ..ResourceSpec::default() }
    }
}

/// A template of addresses and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateSpec {
    /// The template, such as `notes://{day}`.
    pub uri_template: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// What is there, for a model.
    pub description: &'static str,
    /// Such as `text/markdown`, where all of them are of one type.
    pub mime_type: Option<&'static str>,
    /// As which tool the gate and the log see a resource being read; [`READ_RESOURCE`] if it is like no other.
    pub reads_as: &'static str,
    /// As which tool they see the resources being listed, [`LIST_RESOURCES`] if it is like no other.
    pub lists_as: &'static str,
    /// Which variables name files and folders of the workspace.
    pub paths: &'static [&'static str],
}

/// As which tool the gate and the log see a resource being read.
pub const READ_RESOURCE: &str = "read_resource";

/// As which tool the gate and the log see resources being listed.
pub const LIST_RESOURCES: &str = "list_resources";

/// Some of the resources of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// They, each with the variables of its address.
    pub resources: Vec<Item>,
    /// The key after which to go on, if there are more.
    pub next: Option<String>,
}

/// A resource of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item {
    /// Where it is and what is said about it.
    pub spec: ResourceSpec,
    /// The variables of its address.
    pub variables: BTreeMap<String, String>,
}
