//! Tools that ask: a person, the client's model, or for the client's folders. Each is written once, for clients with a
//! handshake and for stateless ones.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate::{Capability, Memory, RegisterError, Reply, Sampling, Server, ToolError, View};

use crate::fixture::{Fixture, Nothing, Shown};

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    /// What the model is asked.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// What the person is asked.
    message: String,
}

// What a person fills in.

#[derive(Debug, Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Colour {
    color: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Confirmation {
    ok: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Account {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

async fn name(view: &View) -> Result<String, ToolError> {
    let Name { name } = view.ask("user_name", "What is your name?").await?.accepted()?;
    Ok(name)
}

async fn confirmation(view: &View) -> Result<bool, ToolError> {
    let Confirmation { ok } = view.ask("confirm", "Please confirm").await?.accepted()?;
    Ok(ok)
}

/// What a person did with a form, in words.
fn in_words(reply: &Reply<Map<String, Value>>) -> String {
    match reply {
        Reply::Accepted(content) => format!("action=accept, content={}", Value::from(content.clone())),
        Reply::Declined => "action=decline, content={}".to_owned(),
        Reply::Cancelled => "action=cancel, content={}".to_owned(),
    }
}

pub fn register(server: Server<Memory>) -> Result<Server<Memory>, RegisterError> {
    forms(waiting(server)?)
}

/// Questions, one after the other or several at once.
fn waiting(server: Server<Memory>) -> Result<Server<Memory>, RegisterError> {
    server
        .tool(Fixture::<Prompt> {
            name: "test_sampling",
            description: "Lets the client's model answer.",
            body: |view, Prompt { prompt }| {
                Box::pin(async move {
                    let sampled = view.sample("sampling", Sampling::new(prompt, 100)).await?;
                    Ok(Shown::text(format!("LLM response: {}", sampled.text)))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_missing_capability",
            description: "Needs a client that lends its model.",
            body: |view, _| {
                Box::pin(async {
                    let sampled = view.sample("sampling", Sampling::new("Say something.", 100)).await?;
                    Ok(Shown::text(sampled.text))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_elicitation",
            description: "Asks a person for their name.",
            body: |view, _| Box::pin(async { Ok(Shown::text(format!("Hello, {}!", name(view).await?))) }),
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_sampling",
            description: "Asks the client's model for a capital.",
            body: |view, _| {
                Box::pin(async {
                    let question = Sampling::new("What is the capital of France?", 100);
                    Ok(Shown::text(view.sample("capital_question", question).await?.text))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_list_roots",
            description: "Asks which folders the client works in.",
            body: |view, _| {
                Box::pin(async {
                    let roots = view.client_roots("client_roots").await?;
                    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
                    Ok(Shown::text(format!("Roots: {}", uris.join(", "))))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_request_state",
            description: "Asks for a confirmation, and checks what comes back with it.",
            body: |view, _| {
                Box::pin(async { Ok(Shown::text(format!("state-ok, confirmed: {}", confirmation(view).await?))) })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_tampered_state",
            description: "Asks for a confirmation, and takes no state that was changed.",
            body: |view, _| Box::pin(async { Ok(Shown::text(format!("confirmed: {}", confirmation(view).await?))) }),
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_multiple_inputs",
            description: "Asks the person, the model and for the folders at once.",
            body: |view, _| {
                Box::pin(async {
                    let (name, greeting, roots) = futures_util::join!(
                        name(view),
                        view.sample("greeting", Sampling::new("Generate a greeting", 50)),
                        view.client_roots("client_roots"),
                    );
                    Ok(Shown::text(format!("{}, {}! You have {} roots.", greeting?.text, name?, roots?.len())))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_multi_round",
            description: "Asks a second question once the first is answered.",
            body: |view, _| {
                Box::pin(async {
                    let Name { name } = view.ask("step1", "Step 1: What is your name?").await?.accepted()?;
                    let Colour { color } =
                        view.ask("step2", "Step 2: What is your favorite color?").await?.accepted()?;
                    Ok(Shown::text(format!("{name} likes {color}.")))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_input_required_result_capabilities",
            description: "Asks whoever can be asked.",
            body: |view, _| {
                Box::pin(async {
                    if view.client_can(Capability::Elicitation) {
                        return Ok(Shown::text(format!("The person is {}.", name(view).await?)));
                    }
                    let sampled = view.sample("who", Sampling::new("Who are you?", 50)).await?;
                    Ok(Shown::text(format!("The model says: {}", sampled.text)))
                })
            },
        })
}

/// Forms of all kinds.
fn forms(server: Server<Memory>) -> Result<Server<Memory>, RegisterError> {
    server
        .tool(Fixture::<Message> {
            name: "test_elicitation",
            description: "Asks a person for a name and an address.",
            body: |view, Message { message }| {
                Box::pin(async move {
                    Ok(Shown::text(match view.ask::<Account>("account", message).await? {
                        Reply::Accepted(Account { username, email }) => {
                            format!("User response: action=accept, username={username}, email={email}")
                        }
                        Reply::Declined => "User response: action=decline".to_owned(),
                        Reply::Cancelled => "User response: action=cancel".to_owned(),
                    }))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_streaming_elicitation",
            description: "Asks a person while it runs.",
            body: |view, _| Box::pin(async { Ok(Shown::text(format!("Hello, {}!", name(view).await?))) }),
        })?
        .tool(Fixture::<Nothing> {
            name: "test_elicitation_sep1034_defaults",
            description: "Asks a person, with a default for every field.",
            body: |view, _| {
                Box::pin(async {
                    let reply = view.ask_form("defaults", "Please review the values", defaults()).await?;
                    Ok(Shown::text(format!("Elicitation completed: {}", in_words(&reply))))
                })
            },
        })?
        .tool(Fixture::<Nothing> {
            name: "test_elicitation_sep1330_enums",
            description: "Lets a person choose in every way there is.",
            body: |view, _| {
                Box::pin(async {
                    let reply = view.ask_form("choices", "Please choose", choices()).await?;
                    Ok(Shown::text(format!("Elicitation completed: {}", in_words(&reply))))
                })
            },
        })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "User name", "default": "John Doe"},
            "age": {"type": "integer", "description": "User age", "default": 30},
            "score": {"type": "number", "description": "User score", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "description": "Verification status", "default": true},
        },
    })
}

fn choices() -> Value {
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
    })
}
