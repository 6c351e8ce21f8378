//! Forms for a person: what they are asked, and what they have filled in.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::model::error::{ErrorCode, ToolError};
use crate::tool::ask::{Request, malformed};
use crate::tool::schema::arguments_schema;
use crate::tool::view::View;

/// What a person has done with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<T> {
    /// They have filled it in.
    Accepted(T),
    /// They have said no.
    Declined,
    /// They have closed it without a word.
    Cancelled,
}

impl<T> Reply<T> {
    /// What they have filled in, for a tool that cannot go on without.
    ///
    /// # Errors
    /// `denied`: they have not.
    pub fn accepted(self) -> Result<T, ToolError> {
        let what = match self {
            Reply::Accepted(content) => return Ok(content),
            Reply::Declined => "declined",
            Reply::Cancelled => "did not answer",
        };
        Err(ToolError::new(
            ErrorCode::Denied,
            format!("The person was asked and {what}. Nothing was done. Go on without this call, or ask them why."),
        ))
    }
}

impl View {
    /// Asks the person behind the client to fill in a form, whose fields are those of `T`; doc comments become their
    /// descriptions. `key` tells the question from the others of the same call.
    ///
    /// A stateless request is answered with the question, by way of the error that this returns: pass it on with `?`. The
    /// call then comes again and finds the answer here.
    ///
    /// # Errors
    /// `denied` if the client cannot ask, `timed_out`, `invalid_arguments` if the answer does not fit `T`.
    pub async fn ask<T: DeserializeOwned + JsonSchema>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Reply<T>, ToolError> {
        let mut schema = arguments_schema::<T>().map_err(|fault| malformed(key, fault))?;
        if let Some(schema) = schema.as_object_mut() {
            // Forms know a few keywords only, and this is none of them.
            schema.shift_remove("additionalProperties");
        }
        Ok(match self.ask_form(key, message, schema).await? {
            Reply::Accepted(content) => {
                Reply::Accepted(serde_json::from_value(Value::Object(content)).map_err(|fault| malformed(key, fault))?)
            }
            Reply::Declined => Reply::Declined,
            Reply::Cancelled => Reply::Cancelled,
        })
    }

    /// [`View::ask`] with a form that is written as a schema.
    ///
    /// # Errors
    /// As there.
    pub async fn ask_form(
        &self,
        key: &str,
        message: impl Into<String>,
        schema: Value,
    ) -> Result<Reply<Map<String, Value>>, ToolError> {
        let request = Request::Form { message: message.into(), schema };
        let mut result = self.request(key, &request).await?;
        let content = result.remove("content");
        match (result.get("action").and_then(Value::as_str), content) {
            (Some("accept"), Some(Value::Object(content))) => Ok(Reply::Accepted(content)),
            (Some("accept"), None | Some(Value::Null)) => Ok(Reply::Accepted(Map::new())),
            (Some("decline"), _) => Ok(Reply::Declined),
            (Some("cancel"), _) => Ok(Reply::Cancelled),
            _ => Err(malformed(key, "an answer has the action accept, decline or cancel, and an object as content")),
        }
    }
}
