//! What the client's own model writes, and which folders the client works in. Both are going out of use: MCP 2026-07-28
//! has marked them as deprecated.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::model::error::ToolError;
use crate::tool::ask::{Request, malformed};
use crate::tool::view::View;

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// As it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// What the client's model is asked to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// What was said so far.
    pub messages: Vec<(Role, String)>,
    /// What the model is told before.
    pub system_prompt: Option<String>,
    /// How much it may write.
    pub max_tokens: u32,
}

impl Sampling {
    /// One question, and how much may be written in answer.
    pub fn new(question: impl Into<String>, max_tokens: u32) -> Self {
        Sampling { messages: vec![(Role::User, question.into())], system_prompt: None, max_tokens }
    }

    pub(super) fn params(&self) -> Value {
        let messages: Vec<_> = self
            .messages
            .iter()
            .map(|(role, text)| json!({"role": role.as_str(), "content": {"type": "text", "text": text}}))
            .collect();
        let mut params = json!({"messages": messages, "maxTokens": self.max_tokens});
        if let Some(system_prompt) = &self.system_prompt {
            params["systemPrompt"] = system_prompt.as_str().into();
        }
        params
    }
}

/// What the client's model has written.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Its words, all blocks together.
    pub text: String,
    /// Which model it was.
    pub model: String,
    /// The whole result, as it came.
    pub result: Map<String, Value>,
}

/// A folder that the client works in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Root {
    /// Its address, `file://…`.
    pub uri: String,
    /// What it is called.
    #[serde(default)]
    pub name: Option<String>,
}

impl View {
    /// Lets the client's model write something. `key` tells the request from the others of the same call; see
    /// [`View::ask`] on how the answer comes.
    ///
    /// # Errors
    /// `denied` if the client lends no model, `timed_out`, `invalid_arguments` if the answer is none.
    pub async fn sample(&self, key: &str, sampling: Sampling) -> Result<Sampled, ToolError> {
        let result = self.request(key, &Request::Sample(sampling)).await?;
        let blocks = match result.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(block @ Value::Object(_)) => std::slice::from_ref(block),
            _ => return Err(malformed(key, "there is no content in it")),
        };
        let text = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let model = result.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Sampled { text, model, result })
    }

    /// Asks which folders the client works in; see [`View::ask`] on how the answer comes.
    ///
    /// # Errors
    /// `denied` if the client does not say, `timed_out`, `invalid_arguments` if the answer is none.
    pub async fn client_roots(&self, key: &str) -> Result<Vec<Root>, ToolError> {
        let mut result = self.request(key, &Request::Roots).await?;
        let roots = result.remove("roots").unwrap_or_default();
        serde_json::from_value(roots).map_err(|fault| malformed(key, fault))
    }
}
