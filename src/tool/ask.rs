//! What a tool can ask the client, and the person behind it, while it runs: written once for both eras.
//!
//! A client with a handshake is asked over its stream, and the tool waits. A stateless request is answered with what the
//! tool wants to know and comes again with the answers: then the tool runs anew from its beginning, and finds the
//! answers there. So a tool asks before it does anything that must not be done twice.

mod form;
mod sampling;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

pub use form::Reply;
pub use sampling::{Role, Root, Sampled, Sampling};

use crate::model::error::{ErrorCode, ToolError};
use crate::tool::view::View;

/// Something that only the client can say.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// A person fills in a form.
    Form {
        /// What they are told.
        message: String,
        /// The form: an object whose members are texts, numbers, booleans and choices (MCP, client/elicitation).
        schema: Value,
    },
    /// The client's model writes something.
    Sample(Sampling),
    /// Which folders the client works in.
    Roots,
}

/// What a client must be able to do to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Show a person a form.
    Elicitation,
    /// Let a model write.
    Sampling,
    /// Name its folders.
    Roots,
}

impl Capability {
    /// As it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Capability::Elicitation => "elicitation",
            Capability::Sampling => "sampling",
            Capability::Roots => "roots",
        }
    }
}

impl Request {
    /// What a client must be able to do to answer it.
    #[must_use]
    pub fn needs(&self) -> Capability {
        match self {
            Request::Form { .. } => Capability::Elicitation,
            Request::Sample(_) => Capability::Sampling,
            Request::Roots => Capability::Roots,
        }
    }

    /// The method and the params that it is on the wire.
    pub(crate) fn on_the_wire(&self) -> (&'static str, Value) {
        match self {
            Request::Form { message, schema } => {
                ("elicitation/create", json!({"message": message, "requestedSchema": schema}))
            }
            Request::Sample(sampling) => ("sampling/createMessage", sampling.params()),
            Request::Roots => ("roots/list", json!({})),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unanswered {
    /// The client cannot do that.
    Unable(Capability),
    /// It will be asked, and the call comes again with the answer.
    Deferred,
    /// It took too long.
    TimedOut,
    /// Too many calls wait for an answer already.
    Crowded,
    /// It is gone, has taken the call back, or has refused to answer.
    Refused,
}

/// Whoever can put a request to the client: a door knows how.
pub trait Asker: Send + Sync {
    /// Whether the client can answer such a request.
    fn can(&self, capability: Capability) -> bool;

    /// Asks, and waits for the answer: a result as it came, an object.
    fn ask<'a>(&'a self, key: &'a str, request: &'a Request) -> BoxFuture<'a, Result<Map<String, Value>, Unanswered>>;

    /// Who is asked by the calls that an act makes, if that is another: see
    /// [`Approver::midway`](crate::gate::approval::Approver::midway).
    fn midway(&self) -> Option<Arc<dyn Asker>> {
        None
    }
}

/// Asks nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Asker for NobodyToAsk {
    fn can(&self, _: Capability) -> bool {
        false
    }

    fn ask<'a>(&'a self, _: &'a str, request: &'a Request) -> BoxFuture<'a, Result<Map<String, Value>, Unanswered>> {
        Box::pin(std::future::ready(Err(Unanswered::Unable(request.needs()))))
    }
}

impl View {
    /// Whether the client can answer such a request.
    #[must_use]
    pub fn client_can(&self, capability: Capability) -> bool {
        self.asker().can(capability)
    }

    /// Puts a request to the client. `key` tells it from the others of the same call.
    async fn request(&self, key: &str, request: &Request) -> Result<Map<String, Value>, ToolError> {
        self.asker().ask(key, request).await.map_err(|why| unanswered(key, &why))
    }
}

/// Tells a model that something it called for needs an answer that there is none to.
fn unanswered(key: &str, why: &Unanswered) -> ToolError {
    let (code, why) = match why {
        Unanswered::Unable(Capability::Elicitation) => (ErrorCode::Denied, "this client cannot ask a person"),
        Unanswered::Unable(Capability::Sampling) => (ErrorCode::Denied, "this client lends no model"),
        Unanswered::Unable(Capability::Roots) => (ErrorCode::Denied, "this client does not name its folders"),
        Unanswered::Deferred => (ErrorCode::Denied, "it has not come yet"),
        Unanswered::TimedOut => (ErrorCode::TimedOut, "it did not come in time"),
        Unanswered::Crowded => (ErrorCode::Denied, "too many calls wait for an answer already"),
        Unanswered::Refused => (ErrorCode::Denied, "the client would not give it"),
    };
    ToolError::new(
        code,
        format!(
            "This needs an answer ({key}), and {why}. Go on without this call, or tell the person what it was for."
        ),
    )
    .with("asked", key)
}

/// Tells that an answer is not one.
fn malformed(key: &str, why: impl std::fmt::Display) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, format!("What the client answered ({key}) cannot be used: {why}."))
        .with("asked", key)
}
