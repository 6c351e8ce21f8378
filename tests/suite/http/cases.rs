//! Faults that people met with tools like these, over HTTP: each as raw requests, in both eras where both can have it.
//!
//! | theme | ids | files |
//! | --- | --- | --- |
//! | schemas of tools | B122 B123 B124 | `arguments` |
//! | arguments | B125 B126 B127 B128 B131 | `arguments` |
//! | JSON text | B132 B133 B135 | `messages` |
//! | messages | B136 B137 B138 B139 B143 | `messages` |
//! | the end of a connection | B145 B146 | `messages` |
//! | taking back, ids, versions | B148 B149 B150 B153 B154 | `taking_back` |
//! | sessions and streams | B156 B157 B158 B159 B161 B163 B164 | `sessions` |

mod arguments;
mod messages;
mod sessions;
mod taking_back;

use serde_json::{Value, json};

use super::super::support::MODERN;
use super::kit::{Ask, Site, meta, modern, post, post_text};

/// How a request says what it belongs to.
#[derive(Debug, Clone)]
pub enum Way {
    /// Each stands for itself.
    Stateless,
    /// It is one of the session with this id.
    Session(String),
}

impl Way {
    /// The stateless era, and a session of the oldest and of the newest revision that have them over one endpoint.
    pub fn all(site: &Site) -> Vec<Way> {
        let session = |version| Way::Session(site.session(version, json!({})));
        vec![Way::Stateless, session("2025-03-26"), session("2025-11-25")]
    }

    /// A request with all headers that belong to it.
    pub fn ask(&self, id: Value, method: &str, params: Value) -> Ask {
        match self {
            Way::Stateless => modern(id, method, params),
            Way::Session(session) => {
                post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).session(session)
            }
        }
    }

    /// A call of a tool.
    pub fn call(&self, id: Value, tool: &str, arguments: Value) -> Ask {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// A call with `HERE` in what is sent replaced by this text, whether or not that is JSON.
    pub fn call_with(&self, tool: &str, arguments: Value, here: &str) -> Ask {
        let ask = self.call(json!(7), tool, arguments);
        let body = String::from_utf8(ask.body.clone().expect("a body")).expect("text");
        ask.body(&body.replace("\"HERE\"", here).replace("HERE", here))
    }

    /// A body as it stands, with the headers of a request of this method.
    pub fn raw(&self, method: &str, body: &str) -> Ask {
        match self {
            Way::Stateless => post_text(body).headers(&[("mcp-protocol-version", MODERN), ("mcp-method", method)]),
            Way::Session(session) => post_text(body).session(session),
        }
    }

    /// What every request of this way says in its parameters.
    pub fn meta(&self) -> Value {
        match self {
            Way::Stateless => meta(MODERN),
            Way::Session(_) => json!({}),
        }
    }

    /// The result of a call.
    pub fn result(&self, site: &Site, tool: &str, arguments: Value) -> Value {
        let answer = site.send(self.call(json!(1), tool, arguments));
        assert_eq!(answer.status, 200, "{self:?}: {answer:?}");
        let answer = answer.json();
        answer.get("result").unwrap_or_else(|| panic!("{self:?}: no result: {answer}")).clone()
    }
}

/// The code of a result that is a failure.
pub fn code(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["structuredContent"]["error"].as_str().unwrap_or_else(|| panic!("no code: {result}"))
}

/// What a failure says.
pub fn message(result: &Value) -> &str {
    result["structuredContent"]["message"].as_str().unwrap_or_else(|| panic!("no message: {result}"))
}
