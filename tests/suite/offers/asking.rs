//! Tools that ask, log and show more than text: written once, the same in both eras.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate::code::{self, WorkerProgram};
use toolgate::schemars::JsonSchema;
use toolgate::{
    Capability, Card, Content, Contents, Effect, LogLevel, Media, Memory, Mode, Plan, Reply, Sampling, Server, Spec,
    Tool, ToolError, View,
};

use super::kit::{Client, ERAS, Era, Request, Session};
use crate::suite::support::TOOLGATE;

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

#[derive(Serialize, JsonSchema)]
struct Said {
    words: String,
}

/// What a person fills in.
#[derive(Deserialize, JsonSchema)]
struct Name {
    /// What you are called.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Colour {
    colour: String,
}

#[derive(Clone, Copy)]
enum Does {
    /// Asks for a name, then for a colour.
    TwoRounds,
    /// Asks the person, the model and for the folders at once.
    AllAtOnce,
    /// Asks the model if nobody else can be asked.
    WhoeverIsThere,
    Logs,
    Shows,
}

struct Probe(&'static str, Does);

impl Tool for Probe {
    type Args = NoArgs;
    type Output = Said;

    fn spec(&self) -> Spec {
        Spec { name: self.0, title: self.0, description: "For a test.", effect: Effect::Reads, paths: &[] }
    }

    async fn plan(&self, view: &View, _: NoArgs) -> Result<Plan<Said>, ToolError> {
        let words = match self.1 {
            Does::TwoRounds => {
                let Name { name } = view.ask("who", "Who are you?").await?.accepted()?;
                match view.ask::<Colour>("colour", format!("Which colour, {name}?")).await? {
                    Reply::Accepted(Colour { colour }) => format!("{name} likes {colour}"),
                    Reply::Declined => format!("{name} will not say"),
                    Reply::Cancelled => format!("{name} has gone"),
                }
            }
            Does::AllAtOnce => {
                let (name, greeting, roots) = futures_util::join!(
                    view.ask::<Name>("who", "Who are you?"),
                    view.sample("greeting", Sampling::new("Write a greeting", 50)),
                    view.client_roots("roots"),
                );
                let Name { name } = name?.accepted()?;
                format!("{}, {name}, in {}", greeting?.text, roots?[0].uri)
            }
            Does::WhoeverIsThere if view.client_can(Capability::Elicitation) => {
                view.ask::<Name>("who", "Who are you?").await?.accepted()?.name
            }
            Does::WhoeverIsThere => view.sample("model", Sampling::new("Who are you?", 10)).await?.text,
            Does::Logs => {
                for level in LogLevel::ALL {
                    view.log(level, json!({"at": level.as_str()}));
                }
                "logged".to_owned()
            }
            Does::Shows => String::new(),
        };
        Ok(Plan::Answer(Said { words }))
    }

    fn observe(output: &Said) -> String {
        output.words.clone()
    }

    fn content(output: &Said) -> Vec<Content> {
        if !output.words.is_empty() {
            return Vec::new();
        }
        vec![
            Content::Image(Media::new("image/png", "png")),
            Content::Audio(Media::new("audio/wav", "wav")),
            Content::Resource { uri: "a://b".to_owned(), contents: Contents::text("text/plain", "words") },
        ]
    }

    fn present(_: &NoArgs) -> Card {
        Card::new("Ask")
    }
}

fn session() -> Session {
    Session::start(server())
}

fn server() -> Server<Memory> {
    let tools = [
        ("all_at_once", Does::AllAtOnce),
        ("logs", Does::Logs),
        ("shows", Does::Shows),
        ("two_rounds", Does::TwoRounds),
        ("whoever", Does::WhoeverIsThere),
    ];
    tools
        .into_iter()
        .fold(Server::new(Memory::new()), |server, (name, does)| server.tool(Probe(name, does)).expect("a tool"))
}

fn everything() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

/// Calls a tool as a client of that era that answers every question by `answers`, and returns the answer and what was
/// asked on the way, in order.
fn converse(session: &mut Session, era: Era, tool: &str, answers: &dyn Fn(&str) -> Value) -> (Value, Vec<String>) {
    converse_about(session, era, json!({"name": tool, "arguments": {}}), answers)
}

fn converse_about(
    session: &mut Session,
    era: Era,
    mut params: Value,
    answers: &dyn Fn(&str) -> Value,
) -> (Value, Vec<String>) {
    let mut asked = Vec::new();
    for round in 0..10 {
        let id = json!(format!("round {round}"));
        let request = Request { id, method: "tools/call", params: params.clone(), capabilities: everything() };
        let answer = session.ask(era, request, |session, message| {
            assert_eq!(era, Era::Legacy, "the server asks nothing of a stateless client: {message}");
            let method = message["method"].as_str().expect("a method").to_owned();
            session.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answers(&method)}));
            asked.push(method);
        });
        if answer["result"]["resultType"] != "input_required" {
            return (answer, asked);
        }
        let mut responses = json!({});
        for (key, request) in answer["result"]["inputRequests"].as_object().expect("questions") {
            let method = request["method"].as_str().expect("a method");
            responses[key] = answers(method);
            asked.push(method.to_owned());
        }
        params["inputResponses"] = responses;
        params["requestState"] = answer["result"]["requestState"].clone();
    }
    panic!("no end to the questions: {asked:?}");
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

fn helpful(method: &str) -> Value {
    match method {
        "elicitation/create" => json!({"action": "accept", "content": {"name": "Ada", "colour": "red"}}),
        "sampling/createMessage" => {
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hello"}})
        }
        "roots/list" => json!({"roots": [{"uri": "file:///home/ada"}]}),
        other => panic!("{other}"),
    }
}

#[test]
fn a_tool_asks_in_rounds_or_all_at_once_in_both_eras() {
    let mut session = session();
    session.shake_hands("2025-11-25", everything());
    for era in ERAS {
        let (answer, asked) = converse(&mut session, era, "two_rounds", &helpful);
        assert_eq!(text(&answer), "Ada likes red", "{era:?}");
        assert_eq!(asked, ["elicitation/create", "elicitation/create"]);
        let (answer, mut asked) = converse(&mut session, era, "all_at_once", &helpful);
        assert_eq!(text(&answer), "Hello, Ada, in file:///home/ada", "{era:?}");
        asked.sort();
        assert_eq!(asked, ["elicitation/create", "roots/list", "sampling/createMessage"]);
        let (answer, _) = converse(&mut session, era, "two_rounds", &|_| json!({"action": "decline"}));
        assert_eq!(answer["result"]["structuredContent"]["error"], "denied", "{answer}");
    }
    assert!(session.end().is_empty());
}

/// In the middle of a program a tool asks as well: the run waits, or is parked until the request comes again.
#[cfg(unix)]
#[test]
fn a_tool_asks_in_the_middle_of_a_program_in_both_eras() {
    let worker = WorkerProgram::At(TOOLGATE.into());
    let server = server().mode(Mode::Both).code(code::Options { worker, ..code::Options::default() });
    let mut session = Session::start(server);
    session.shake_hands("2025-11-25", everything());
    let run = |code: &str| json!({"name": "run_code", "arguments": {"code": code, "description": "a test"}});
    for era in ERAS {
        let code = "let made = 0; made++; const one = (await tools.two_rounds({})).words; made++;\n\
                    return [one, (await tools.all_at_once({})).words, made].join('; ')";
        let (answer, asked) = converse_about(&mut session, era, run(code), &helpful);
        assert_eq!(text(&answer), "Ada likes red; Hello, Ada, in file:///home/ada; 2", "{era:?}");
        assert_eq!(asked.len(), 5, "{era:?}: {asked:?}");
        let code = "return (await Promise.all([tools.whoever({}), tools.whoever({})])).map(said => said.words)";
        let (answer, asked) = converse_about(&mut session, era, run(code), &helpful);
        assert_eq!(text(&answer), "[\n  \"Ada\",\n  \"Ada\"\n]", "{era:?}");
        assert_eq!(asked.len(), 2, "{era:?}: each is asked for itself");
        let code = "try { await tools.two_rounds({}) } catch (e) { return e.code }";
        let (answer, _) = converse_about(&mut session, era, run(code), &|_| json!({"action": "decline"}));
        assert_eq!(text(&answer), "denied", "{era:?}");
    }
    let params = run("try { await tools.two_rounds({}) } catch (e) { return e.message }");
    let request = Request { id: 1.into(), method: "tools/call", params, capabilities: json!({}) };
    let answer = session.ask(Era::Modern, request, |_, other| panic!("{other}"));
    assert!(text(&answer).contains("this client cannot ask a person"), "{answer}");
    assert!(session.end().is_empty());
}

#[test]
fn the_form_is_made_of_the_type() {
    let mut session = session();
    let params = json!({"name": "two_rounds"});
    let request = Request { id: 1.into(), method: "tools/call", params, capabilities: everything() };
    let answer = session.ask(Era::Modern, request, |_, other| panic!("{other}"));
    let question = &answer["result"]["inputRequests"]["who"];
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string", "description": "What you are called."}},
        "required": ["name"],
    });
    let want = json!({"message": "Who are you?", "requestedSchema": schema, "mode": "form"});
    assert_eq!((&question["method"], &question["params"]), (&json!("elicitation/create"), &want), "{answer}");
    assert!(session.end().is_empty());
}

#[test]
fn what_a_client_has_not_declared_is_not_asked_of_it() {
    let mut session = session();
    let call = |session: &mut Session, tool: &str, capabilities: Value| {
        let request = Request { id: 1.into(), method: "tools/call", params: json!({"name": tool}), capabilities };
        session.ask(Era::Modern, request, |_, other| panic!("{other}"))
    };
    let answer = call(&mut session, "two_rounds", json!({"sampling": {}}));
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": {"elicitation": {}}}));
    let answer = call(&mut session, "whoever", json!({"sampling": {}}));
    let requests = answer["result"]["inputRequests"].as_object().expect("questions");
    assert_eq!(requests["model"]["method"], "sampling/createMessage", "{answer}");

    session.shake_hands("2025-11-25", json!({}));
    let answer = session.request(Era::Legacy, "tools/call", json!({"name": "two_rounds"}));
    assert_eq!(answer["result"]["structuredContent"]["error"], "denied", "{answer}");
    assert!(text(&answer).contains("this client cannot ask a person"), "{answer}");
    assert!(session.end().is_empty());
}

#[test]
fn a_state_that_was_changed_or_is_anothers_is_refused() {
    let mut session = session();
    let call = |session: &mut Session, params: Value| {
        let request = Request { id: 1.into(), method: "tools/call", params, capabilities: everything() };
        session.ask(Era::Modern, request, |_, other| panic!("{other}"))
    };
    let answer = call(&mut session, json!({"name": "two_rounds"}));
    let state = answer["result"]["requestState"].as_str().expect("a state").to_owned();
    let responses = json!({"who": {"action": "accept", "content": {"name": "Ada"}}});
    for (tool, state) in [("two_rounds", format!("{state}-TAMPERED")), ("whoever", state.clone())] {
        let params = json!({"name": tool, "requestState": state, "inputResponses": responses});
        let answer = call(&mut session, params);
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
    // What is not asked is ignored, what is missing is asked for again, what is no answer is refused.
    for (responses, want) in [
        (json!({"who": {"action": "accept", "content": {"name": "Ada"}}, "x": {"action": "accept"}}), "colour"),
        (json!({"other": {"action": "accept", "content": {}}}), "who"),
        (json!({}), "who"),
        (json!({"who": 12345}), "who"),
        (Value::Null, "who"),
    ] {
        let answer = call(&mut session, json!({"name": "two_rounds", "inputResponses": responses}));
        assert!(answer["result"]["inputRequests"].get(want).is_some(), "{want}: {answer}");
    }
    for responses in [json!([]), json!("x")] {
        let answer = call(&mut session, json!({"name": "two_rounds", "inputResponses": responses}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert!(session.end().is_empty());
}

#[test]
fn a_client_hears_of_a_log_as_much_as_it_wants() {
    let mut session = session();
    let logged = |session: &mut Session, era, meta: Value| {
        let mut heard = Vec::new();
        let params = json!({"name": "logs", "_meta": meta});
        let request = Request { id: 1.into(), method: "tools/call", params, capabilities: json!({}) };
        let answer = session.ask(era, request, |_, message| {
            assert_eq!(message["method"], "notifications/message", "{message}");
            assert_eq!(
                (&message["params"]["logger"], &message["params"]["data"]["at"]),
                (&json!("logs"), &message["params"]["level"])
            );
            heard.push(message["params"]["level"].as_str().expect("a level").to_owned());
        });
        assert_eq!(text(&answer), "logged");
        heard
    };
    assert!(logged(&mut session, Era::Modern, json!({})).is_empty(), "who says nothing hears nothing");
    let meta = json!({"io.modelcontextprotocol/logLevel": "critical"});
    assert_eq!(logged(&mut session, Era::Modern, meta), ["critical", "alert", "emergency"]);
    session.shake_hands("2025-11-25", json!({}));
    assert_eq!(logged(&mut session, Era::Legacy, json!({})).len(), 7, "all but debug");
    let answer = session.request(Era::Legacy, "logging/setLevel", json!({"level": "alert"}));
    assert_eq!(answer["result"], json!({}));
    assert_eq!(logged(&mut session, Era::Legacy, json!({})), ["alert", "emergency"]);
    let answer = session.request(Era::Legacy, "logging/setLevel", json!({"level": "loud"}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(session.end().is_empty());
}

#[test]
fn a_result_shows_what_the_client_can_take() {
    let mut session = session();
    let types = |answer: &Value| {
        let blocks = answer["result"]["content"].as_array().expect("blocks").clone();
        blocks.into_iter().map(|block| block["type"].as_str().expect("a type").to_owned()).collect::<Vec<_>>()
    };
    let answer = session.request(Era::Modern, "tools/call", json!({"name": "shows"}));
    assert_eq!(types(&answer), ["image", "audio", "resource"], "{answer}");
    let want = json!({"uri": "a://b", "mimeType": "text/plain", "text": "words"});
    assert_eq!(answer["result"]["content"][2]["resource"], want);
    session.shake_hands("2024-11-05", json!({}));
    let answer = session.request(Era::Legacy, "tools/call", json!({"name": "shows"}));
    assert_eq!(types(&answer), ["image", "text", "resource"], "{answer}");
    assert!(session.end().is_empty());
}
