//! The tools that can be called, by name.

mod erased;
mod wording;

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::model::change::ChangeSet;
use crate::model::error::ToolError;
use crate::tool::annotations::Annotations;
use crate::tool::headers::{self, HeaderFault};
use crate::tool::near::nearest;
pub use crate::tool::output::Output;
use crate::tool::schema::{Fault, SchemaFault, Validator, faults_error};
use crate::tool::view::View;
use crate::tool::{Act, Card, Intent, Spec, Tool};

use erased::AnyTool;
use wording::Wording;

/// The tools that can be called, ordered by name.
///
/// ```
/// use toolgate::ToolError;
/// use toolgate::tool::registry::Registry;
/// use toolgate::tool::view::View;
/// use toolgate::tool::{Card, Effect, Plan, Spec, Tool};
///
/// struct Shout;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Args {
///     /// What to shout.
///     text: String,
/// }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Shouted {
///     text: String,
/// }
///
/// impl Tool for Shout {
///     type Args = Args;
///     type Output = Shouted;
///
///     fn spec(&self) -> Spec {
///         Spec { name: "shout", title: "Shout", description: "Puts text into capitals.", effect: Effect::Reads, paths: &[] }
///     }
///
///     async fn plan(&self, _: &View, args: Args) -> Result<Plan<Shouted>, ToolError> {
///         Ok(Plan::Answer(Shouted { text: args.text.to_uppercase() }))
///     }
///
///     fn observe(output: &Shouted) -> String {
///         output.text.clone()
///     }
///
///     fn present(args: &Args) -> Card {
///         Card::new(format!("Shout {}", args.text))
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.register(Shout)?;
/// assert_eq!(registry.nearest("shuot"), Some("shout"));
/// let tool = registry.get("shout").expect("it was just registered");
/// assert_eq!(tool.input_schema()["properties"]["text"]["description"], "What to shout.");
/// # Ok::<(), toolgate::tool::registry::RegisterError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<&'static str, Entry>,
}

/// A tool cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another tool has that name.
    #[error("there is a tool called {0} already")]
    Duplicate(&'static str),
    /// Clients would refuse the name.
    #[error("{0:?} is no name for a tool: it takes 1 to 128 of A-Z a-z 0-9 _ . -")]
    BadName(&'static str),
    /// Clients or providers would refuse the schema of its arguments.
    #[error("the tool {tool} cannot be offered: {fault}")]
    BadArguments {
        /// Which tool.
        tool: &'static str,
        /// What is wrong with the schema.
        fault: SchemaFault,
    },
    /// Clients would refuse the schema of its output.
    #[error("the output of the tool {tool} cannot be offered: {fault}")]
    BadOutput {
        /// Which tool.
        tool: &'static str,
        /// What is wrong with the schema.
        fault: SchemaFault,
    },
    /// A header of which no client knows how to send it.
    #[error("the tool {tool} cannot be offered: {fault}")]
    BadHeader {
        /// Which tool.
        tool: &'static str,
        /// What is wrong with the header.
        fault: HeaderFault,
    },
    /// The specification names an argument that there is not.
    #[error("the tool {tool} names {place} in its paths, but has no such argument")]
    BadPaths {
        /// Which tool.
        tool: &'static str,
        /// What it names.
        place: &'static str,
    },
}

impl Registry {
    /// No tools yet.
    #[must_use]
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds a tool.
    ///
    /// Schemas are made when they are first needed, so that a process that makes one call pays for one tool. Builds
    /// with debug assertions make them here, so that tests find a bad one; see [`Registry::verify`].
    ///
    /// # Errors
    /// Its name is taken or not one, or a schema is one that clients refuse.
    pub fn register<T: Tool>(&mut self, tool: T) -> Result<(), RegisterError> {
        let entry = Entry::new(tool);
        let name = entry.spec.name;
        if !is_name(name) {
            return Err(RegisterError::BadName(name));
        }
        let btree_map::Entry::Vacant(place) = self.tools.entry(name) else {
            return Err(RegisterError::Duplicate(name));
        };
        if cfg!(debug_assertions) {
            entry.verify()?;
        }
        place.insert(entry);
        Ok(())
    }

    /// Takes a tool out again. Says whether there was one of that name.
    pub fn withdraw(&mut self, name: &str) -> bool {
        self.tools.remove(name).is_some()
    }

    /// Makes every schema now.
    ///
    /// # Errors
    /// One of them is one that clients refuse.
    pub fn verify(&self) -> Result<(), RegisterError> {
        self.iter().try_for_each(Entry::verify)
    }

    /// Makes the schemas of one tool now; nothing if there is no such tool.
    ///
    /// # Errors
    /// One of them is one that clients refuse, or its `paths` name no argument.
    pub fn verify_tool(&self, name: &str) -> Result<(), RegisterError> {
        self.get(name).map_or(Ok(()), Entry::verify)
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.tools.values()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The name that was probably meant by one that no tool has.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.tools.keys().copied())
    }
}

fn is_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// A registered tool. A clone is the same tool, of which something else may be said.
#[derive(Clone)]
pub struct Entry {
    spec: Spec,
    made: Arc<Made>,
    wording: Option<Wording>,
}

/// A tool, and its schemas once they are needed.
struct Made {
    tool: Box<dyn AnyTool>,
    input: OnceLock<Result<Input, SchemaFault>>,
    output: OnceLock<Result<Value, SchemaFault>>,
}

/// What a tool is called with.
struct Input {
    schema: Arc<Value>,
    validator: Validator,
}

impl Entry {
    /// A tool that is in no registry: what is asked for by other methods than a call takes the same way.
    pub(crate) fn new<T: Tool>(tool: T) -> Self {
        let spec = tool.spec();
        let made = Made { tool: Box::new(tool), input: OnceLock::new(), output: OnceLock::new() };
        Entry { spec, made: Arc::new(made), wording: None }
    }

    fn input(&self) -> &Result<Input, SchemaFault> {
        self.made.input.get_or_init(|| {
            let schema = Arc::new(self.made.tool.arguments_schema()?);
            Ok(Input { validator: Validator::new(Arc::clone(&schema)), schema })
        })
    }

    fn output(&self) -> &Result<Value, SchemaFault> {
        self.made.output.get_or_init(|| self.made.tool.output_schema())
    }

    fn verify(&self) -> Result<(), RegisterError> {
        let tool = self.spec.name;
        if let Err(fault) = self.input() {
            return Err(RegisterError::BadArguments { tool, fault: fault.clone() });
        }
        if let Err(fault) = self.output() {
            return Err(RegisterError::BadOutput { tool, fault: fault.clone() });
        }
        headers::check(self.input_schema()).map_err(|fault| RegisterError::BadHeader { tool, fault })?;
        let arguments = &self.input_schema()["properties"];
        match self.spec.paths.iter().find(|place| arguments.get(place.split('.').next().unwrap_or_default()).is_none())
        {
            Some(place) => Err(RegisterError::BadPaths { tool, place }),
            None => Ok(()),
        }
    }

    /// What it is called and what is said about it.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The schema of its arguments, as advertised and as checked.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        self.input().as_ref().map_or_else(|_| any_object(), |input| &*input.schema)
    }

    /// The schema of its output.
    #[must_use]
    pub fn output_schema(&self) -> &Value {
        self.output().as_ref().unwrap_or_else(|_| any_object())
    }

    /// MCP's hints about it.
    #[must_use]
    pub fn annotations(&self) -> Annotations {
        Annotations::of(&self.spec)
    }

    /// The arguments as the tool is to see them.
    pub(crate) fn validate(&self, arguments: Value) -> Result<Value, ToolError> {
        self.validator()?.check(arguments).map_err(|faults| faults_error(&faults))
    }

    /// Like [`Entry::validate`], but no slip is mended.
    pub(crate) fn validate_exactly(&self, arguments: Value) -> Result<Value, ToolError> {
        self.validator()?.check_exactly(arguments).map_err(|faults| faults_error(&faults))
    }

    /// What cannot be checked must not run.
    fn validator(&self) -> Result<&Validator, ToolError> {
        let input = self.input().as_ref().map_err(|fault| faults_error(&[Fault::unsound(&fault.to_string())]))?;
        Ok(&input.validator)
    }

    /// The paths that a call with these arguments is about, as they are written. One that is left out is the folder
    /// of the workspace.
    pub(crate) fn paths<'a>(&self, arguments: &'a Value) -> Vec<&'a str> {
        let mut paths = Vec::new();
        for place in self.spec.paths {
            collect(arguments, place, &mut paths);
        }
        paths
    }

    /// Whether a link at the end of its paths is itself what a call is about.
    pub(crate) fn takes_links(&self) -> bool {
        self.made.tool.takes_links()
    }

    /// One line for people about a call with these validated arguments.
    pub(crate) fn present(&self, arguments: &Value) -> Card {
        self.made.tool.present(arguments).unwrap_or_else(|| Card::new(self.spec.title))
    }

    /// Lets the tool look, and say what should happen. `arguments` are validated.
    pub(crate) fn plan<'a>(
        &'a self,
        view: &'a View,
        arguments: &Value,
    ) -> BoxFuture<'a, Result<ErasedPlan, ToolError>> {
        self.made.tool.plan(view, arguments)
    }
}

/// What stands in lists for a schema that no client would take. Calls do not get past it.
fn any_object() -> &'static Value {
    static ANY: LazyLock<Value> = LazyLock::new(|| json!({"type": "object", "properties": {}}));
    &ANY
}

/// The texts at `place`, a path of member names and `*` for every item of a list.
fn collect<'a>(value: &'a Value, place: &str, texts: &mut Vec<&'a str>) {
    let (name, rest) = place.split_once('.').map_or((place, None), |(name, rest)| (name, Some(rest)));
    let mut go_on = |value: &'a Value| match rest {
        Some(rest) => collect(value, rest, texts),
        None => texts.extend(value.as_str()),
    };
    match (name, value) {
        ("*", Value::Array(items)) => items.iter().for_each(go_on),
        (name, Value::Object(members)) => match members.get(name) {
            Some(member) => go_on(member),
            None => texts.push("."),
        },
        _ => {}
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// The plan of some tool. See [`Plan`](crate::tool::Plan).
pub(crate) enum ErasedPlan {
    /// Nothing to change.
    Answer(Output),
    /// These files, then the answer.
    Change {
        /// The steps.
        set: ChangeSet,
        /// How the caller knows what it changes.
        intent: Intent,
        /// What the call comes to once they are done.
        output: Output,
    },
    /// A deed of another kind, not begun.
    Act(Act<Output>),
}

#[cfg(test)]
mod tests;
