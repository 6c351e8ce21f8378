//! A model behind OpenAI's Chat Completions API, or one of the many that speak it.

use std::error::Error;

use serde_json::{Value, json};

use crate::conversation::{Call, Entry, Model, Offer};
use crate::http;

pub struct OpenAi {
    key: String,
    model: String,
    url: String,
}

impl OpenAi {
    pub fn from_environment() -> Option<Self> {
        let key = std::env::var("OPENAI_API_KEY").ok()?;
        let base = std::env::var("OPENAI_BASE_URL").unwrap_or_else(|_| "https://api.openai.com/v1".to_owned());
        let model = std::env::var("OPENAI_MODEL").unwrap_or_else(|_| "gpt-5".to_owned());
        Some(OpenAi { key, model, url: format!("{}/chat/completions", base.trim_end_matches('/')) })
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    fn next(&mut self, offers: &[Offer], said: &[Entry]) -> Result<Entry, Box<dyn Error>> {
        let bearer = format!("Bearer {}", self.key);
        let answer = http::post(&self.url, &[("authorization", &bearer)], &request(&self.model, offers, said))?;
        if answer["choices"][0]["finish_reason"] == "length" {
            return Err("the model's answer was cut: it is longer than it may be".into());
        }
        entry(&answer["choices"][0]["message"])
    }
}

/// The request that asks for the next turn.
pub fn request(model: &str, offers: &[Offer], said: &[Entry]) -> Value {
    let tool = |offer: &Offer| {
        let function = json!({"name": offer.name, "description": offer.description, "parameters": offer.schema});
        json!({"type": "function", "function": function})
    };
    let tools: Vec<_> = offers.iter().map(tool).collect();
    let messages: Vec<_> = said.iter().flat_map(messages).collect();
    json!({"model": model, "tools": tools, "messages": messages})
}

/// An entry as it stands in a request: each result is a message of its own.
fn messages(entry: &Entry) -> Vec<Value> {
    match entry {
        Entry::User(text) => vec![json!({"role": "user", "content": text})],
        Entry::Model { text, calls } => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let call = |call: &Call| {
                    // Arguments are JSON in a string here.
                    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
                    json!({"id": call.id, "type": "function", "function": function})
                };
                message["tool_calls"] = calls.iter().map(call).collect();
            }
            vec![message]
        }
        Entry::Results(results) => results
            .iter()
            .map(|result| json!({"role": "tool", "tool_call_id": result.id, "content": result.text}))
            .collect(),
    }
}

fn entry(message: &Value) -> Result<Entry, Box<dyn Error>> {
    let text = message["content"].as_str().unwrap_or_default().to_owned();
    let mut calls = Vec::new();
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments = part(&call["function"]["arguments"]);
        // What is no JSON the server tells the model of, since the model wrote it.
        let arguments = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
        calls.push(Call { id: part(&call["id"]), name: part(&call["function"]["name"]), arguments });
    }
    Ok(Entry::Model { text, calls })
}
