//! A model behind Anthropic's Messages API.

use std::error::Error;

use serde_json::{Value, json};

use crate::conversation::{Call, Entry, Model, Offer};
use crate::http;

pub struct Anthropic {
    key: String,
    model: String,
    url: String,
}

impl Anthropic {
    pub fn from_environment() -> Option<Self> {
        let key = std::env::var("ANTHROPIC_API_KEY").ok()?;
        let base = std::env::var("ANTHROPIC_BASE_URL").unwrap_or_else(|_| "https://api.anthropic.com".to_owned());
        let model = std::env::var("ANTHROPIC_MODEL").unwrap_or_else(|_| "claude-sonnet-4-5".to_owned());
        Some(Anthropic { key, model, url: format!("{}/v1/messages", base.trim_end_matches('/')) })
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.model
    }

    fn next(&mut self, offers: &[Offer], said: &[Entry]) -> Result<Entry, Box<dyn Error>> {
        let headers = [("x-api-key", self.key.as_str()), ("anthropic-version", "2023-06-01")];
        let answer = http::post(&self.url, &headers, &request(&self.model, offers, said))?;
        if answer["stop_reason"] == "max_tokens" {
            return Err("the model's answer was cut: it is longer than max_tokens".into());
        }
        Ok(entry(&answer))
    }
}

/// The request that asks for the next turn.
pub fn request(model: &str, offers: &[Offer], said: &[Entry]) -> Value {
    let tools: Vec<_> = offers
        .iter()
        .map(|offer| json!({"name": offer.name, "description": offer.description, "input_schema": offer.schema}))
        .collect();
    let messages: Vec<_> = said.iter().map(message).collect();
    json!({"model": model, "max_tokens": 8192, "tools": tools, "messages": messages})
}

/// An entry as it stands in a request.
pub fn message(entry: &Entry) -> Value {
    match entry {
        Entry::User(text) => json!({"role": "user", "content": text}),
        Entry::Model { text, calls } => {
            let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
            let used = calls
                .iter()
                .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
            json!({"role": "assistant", "content": said.into_iter().chain(used).collect::<Vec<_>>()})
        }
        Entry::Results(results) => {
            let results = results.iter().map(|result| {
                let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text});
                if result.is_error {
                    block["is_error"] = true.into();
                }
                block
            });
            json!({"role": "user", "content": results.collect::<Vec<_>>()})
        }
    }
}

fn entry(answer: &Value) -> Entry {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for block in answer["content"].as_array().into_iter().flatten() {
        let part = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str() {
            Some("text") => text.push_str(&part("text")),
            Some("tool_use") => {
                calls.push(Call { id: part("id"), name: part("name"), arguments: block["input"].clone() })
            }
            _ => {}
        }
    }
    Entry::Model { text, calls }
}
