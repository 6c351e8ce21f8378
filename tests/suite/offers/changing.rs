//! Tools, prompts and resources that come and go while the server runs: clients of both eras are told, and a call that has
//! begun goes on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate::code::{Options, WorkerProgram};
use toolgate::{
    Card, Contents, Effect, Memory, Message, Mode, Plan, Prompt, PromptSpec, RegisterError, Resource, ResourceSpec,
    Server, Spec, Template, TemplateSpec, Tool, ToolError, View,
};

use super::kit::{Client, ERAS, Era, Session};
use crate::suite::support::{MODERN, TOOLGATE};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Said {}

/// Says that it has begun, and ends when it is let go.
struct Waits {
    begun: Sender<()>,
    go_on: Arc<Mutex<Receiver<()>>>,
}

impl Waits {
    fn new() -> (Self, Receiver<()>, Sender<()>) {
        let ((begun, begins), (let_go, go_on)) = (channel(), channel());
        (Waits { begun, go_on: Arc::new(Mutex::new(go_on)) }, begins, let_go)
    }
}

impl Tool for Waits {
    type Args = Nothing;
    type Output = Said;

    fn spec(&self) -> Spec {
        Spec { name: "waits", title: "Wait", description: "Waits for long.", effect: Effect::Reads, paths: &[] }
    }

    async fn plan(&self, _: &View, _: Nothing) -> Result<Plan<Said>, ToolError> {
        self.begun.send(()).expect("a test that listens");
        self.go_on.lock().expect("a lock").recv().expect("a test that lets go");
        Ok(Plan::Answer(Said {}))
    }

    fn observe(_: &Said) -> String {
        "waited".to_owned()
    }

    fn present(_: &Nothing) -> Card {
        Card::new("Wait")
    }
}

struct Greet;

impl Prompt for Greet {
    type Args = Nothing;

    fn spec(&self) -> PromptSpec {
        PromptSpec { name: "greet", title: "Greet", description: "Greets." }
    }

    async fn get(&self, _: &View, _: Nothing) -> Result<Vec<Message>, ToolError> {
        Ok(vec![Message::user("Greet everybody.")])
    }
}

struct Today;

impl Resource for Today {
    fn spec(&self) -> ResourceSpec {
        ResourceSpec::new("notes://today", "today")
    }

    async fn read(&self, _: &View) -> Result<Contents, ToolError> {
        Ok(Contents::text("text/plain", "Water the plants."))
    }
}

struct Days;

#[derive(Deserialize, JsonSchema)]
struct Day {
    day: String,
}

impl Template for Days {
    type Args = Day;

    fn spec(&self) -> TemplateSpec {
        TemplateSpec {
            uri_template: "days://{day}",
            name: "days",
            title: "Days",
            description: "What is to be done on a day.",
            mime_type: None,
            reads_as: toolgate::READ_RESOURCE,
            lists_as: toolgate::LIST_RESOURCES,
            paths: &[],
        }
    }

    async fn read(&self, _: &View, args: Day) -> Result<Contents, ToolError> {
        Ok(Contents::text("text/plain", args.day))
    }
}

/// Everything that there is, as a client of that era lists it: names of tools and prompts, addresses.
fn listed(client: &mut Session, era: Era) -> Vec<String> {
    let mut all = Vec::new();
    for (method, list, name) in [
        ("tools/list", "tools", "name"),
        ("prompts/list", "prompts", "name"),
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ] {
        let answer = client.request(era, method, json!({}));
        let items = answer["result"][list].as_array().unwrap_or_else(|| panic!("no {list}: {answer}"));
        all.extend(items.iter().map(|item| item[name].as_str().expect("a name").to_owned()));
    }
    all
}

/// The next two messages are the same news, for the client that listens and for the one that has shaken hands.
fn both_are_told(client: &mut Session, method: &str) {
    let told = [client.recv(), client.recv()];
    assert!(told.iter().all(|told| told["method"] == method), "{told:?}");
    let listening = |told: &&Value| told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "l";
    assert_eq!(told.iter().filter(listening).count(), 1, "{told:?}");
}

#[test]
fn what_is_added_is_there_and_what_is_withdrawn_is_not_and_everybody_is_told() {
    let server = Server::new(Memory::new());
    let offering = server.offering();
    let mut client = Session::start(server);
    let hello = client.shake_hands("2025-11-25", json!({}));
    for list in ["tools", "prompts", "resources"] {
        assert_eq!(hello["result"]["capabilities"][list]["listChanged"], true, "though there is none yet: {hello}");
    }
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    client.send(&json!({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": {
        "notifications": wanted,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }}));
    assert_eq!(client.recv()["params"]["notifications"], wanted);
    ERAS.iter().for_each(|era| assert_eq!(listed(&mut client, *era), [""; 0], "{era:?}"));

    const TOOLS: &str = "notifications/tools/list_changed";
    const PROMPTS: &str = "notifications/prompts/list_changed";
    const RESOURCES: &str = "notifications/resources/list_changed";
    offering.tool(Waits::new().0).expect("a tool");
    both_are_told(&mut client, TOOLS);
    assert_eq!(offering.tool(Waits::new().0), Err(RegisterError::Duplicate("waits")), "and nobody is told of that");
    offering.prompt(Greet).expect("a prompt");
    both_are_told(&mut client, PROMPTS);
    offering.resource(Today).expect("a resource");
    both_are_told(&mut client, RESOURCES);
    offering.template(Days).expect("a template");
    both_are_told(&mut client, RESOURCES);
    for era in ERAS {
        assert_eq!(listed(&mut client, era), ["waits", "greet", "notes://today", "days://{day}"], "{era:?}");
        let read = client.request(era, "resources/read", json!({"uri": "days://monday"}));
        assert_eq!(read["result"]["contents"][0]["text"], "monday", "{read}");
    }

    assert!(offering.withdraw_tool("waits") && !offering.withdraw_tool("waits"));
    both_are_told(&mut client, TOOLS);
    assert!(offering.withdraw_prompt("greet") && !offering.withdraw_prompt("greet"));
    both_are_told(&mut client, PROMPTS);
    assert!(offering.withdraw_resource("notes://today") && !offering.withdraw_resource("notes://today"));
    both_are_told(&mut client, RESOURCES);
    assert!(offering.withdraw_template("days://{day}") && !offering.withdraw_template("days://{day}"));
    both_are_told(&mut client, RESOURCES);
    for era in ERAS {
        assert_eq!(listed(&mut client, era), [""; 0], "{era:?}");
        for (method, params) in [
            ("tools/call", json!({"name": "waits", "arguments": {}})),
            ("prompts/get", json!({"name": "greet"})),
            ("resources/read", json!({"uri": "notes://today"})),
            ("resources/read", json!({"uri": "days://monday"})),
        ] {
            let answer = client.request(era, method, params);
            assert!(answer["error"].is_object(), "{method}: {answer}");
        }
    }
    let rest = client.end();
    assert_eq!(rest.len(), 1, "only the end of the stream: {rest:?}");
}

#[test]
fn a_call_goes_on_though_its_tool_is_withdrawn() {
    let (waits, begins, let_go) = Waits::new();
    let server = Server::new(Memory::new()).tool(waits).expect("a tool");
    let offering = server.offering();
    let mut client = Session::start(server);
    let call = json!({"name": "waits", "arguments": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}));
    begins.recv().expect("it begins");
    assert!(offering.withdraw_tool("waits"));
    let again = client.request(Era::Legacy, "tools/call", call);
    assert_eq!(again["error"]["code"], -32602, "{again}");
    let_go.send(()).expect("a tool that waits");
    let answer = client.recv();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!("waited")), "{answer}");
    assert!(client.end().is_empty());
}

/// What a model is told of them in code mode is made of the tools that there are.
#[test]
fn programs_are_told_of_the_tools_that_there_are() {
    let options = Options { worker: WorkerProgram::At(TOOLGATE.into()), ..Options::default() };
    let server = Server::new(Memory::new()).builtin_tools().expect("tools").mode(Mode::Code).code(options);
    let offering = server.offering();
    let mut client = Session::start(server);
    let told = |client: &mut Session| {
        let tools = client.request(Era::Modern, "tools/list", json!({}));
        let read = client.request(Era::Modern, "resources/read", json!({"uri": "toolgate://sdk.d.ts"}));
        let described = tools["result"]["tools"][0]["description"].as_str().expect("words").contains("waits:");
        let declared = read["result"]["contents"][0]["text"].as_str().expect("text").contains("waits:");
        assert_eq!(described, declared, "{tools} {read}");
        described
    };
    assert!(!told(&mut client));
    offering.tool(Waits::new().0).expect("a tool");
    assert!(told(&mut client));
    assert!(offering.withdraw_tool("waits"));
    assert!(!told(&mut client));
    assert!(client.end().is_empty());
}
