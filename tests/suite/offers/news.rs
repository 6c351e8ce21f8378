//! Who has asked to be told of a change is told, whoever made it, and nobody else.

use serde_json::{Value, json};
use toolgate::{Local, Memory};

use super::kit::{Client, Era, Request, Session};
use crate::suite::support::{MODERN, Server, Temp};

fn listen(client: &mut impl Client, id: Value, notifications: Value) -> Value {
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {
        "notifications": notifications,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }}));
    let first = client.recv();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    first
}

fn belongs_to(message: &Value, id: &Value) -> bool {
    message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == *id
}

#[test]
fn a_stream_is_acknowledged_first_told_what_it_wants_and_ended_with_a_result() {
    let temp = Temp::with(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
    let mut server = Server::start(temp.path());
    let id = json!(-7);
    let wanted = json!({"resourceSubscriptions": ["workspace:///a.txt", "nobody://here"], "promptsListChanged": true});
    let first = listen(&mut server, id.clone(), wanted);
    assert!(belongs_to(&first, &id), "{first}");
    let honoured = json!({"resourceSubscriptions": ["workspace:///a.txt"], "promptsListChanged": true});
    assert_eq!(first["params"]["notifications"], honoured, "what is nobody's is left out");

    temp.write("b.txt", "2\n");
    temp.write("a.txt", "2\n");
    let told = Client::recv(&mut server);
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], "workspace:///a.txt");
    assert!(belongs_to(&told, &id), "{told}");

    // The server's own changes as well, here through a replacement of the file.
    let patch = json!({"name": "patch_file", "arguments": {"path": "a.txt", "old_str": "2", "new_str": "3"}});
    let mut updates = 0;
    let request = Request { id: "p".into(), method: "tools/call", params: patch, capabilities: json!({}) };
    server.ask(Era::Modern, request, |_, told| {
        assert_eq!(told["params"]["uri"], "workspace:///a.txt", "{told}");
        updates += 1;
    });
    if updates == 0 {
        assert_eq!(Client::recv(&mut server)["params"]["uri"], "workspace:///a.txt");
    }
    let rest = server.finish().messages;
    let last = rest.last().expect("the end of the stream");
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&id, &json!("complete")), "{rest:?}");
    assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{rest:?}");
}

#[test]
fn files_that_come_and_go_are_news_for_who_wants_them() {
    let temp = Temp::with(&[("sub/a.txt", "1\n")]);
    let mut server = Server::start(temp.path());
    let id = json!("files");
    listen(&mut server, id.clone(), json!({"resourcesListChanged": true}));
    temp.write("sub/new.txt", "1\n");
    let told = Client::recv(&mut server);
    assert_eq!(told["method"], "notifications/resources/list_changed", "{told}");
    assert!(belongs_to(&told, &id), "{told}");
}

#[test]
fn a_stream_that_is_taken_back_is_silent_from_then_on() {
    let news = toolgate::Server::new(Memory::new());
    let handle = news.news();
    let mut session = Session::start(news.file_resources().expect("resources"));
    listen(&mut session, json!(1), json!({"toolsListChanged": true}));
    listen(&mut session, json!(2), json!({"toolsListChanged": true, "promptsListChanged": true}));
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    session.request(Era::Legacy, "ping", json!({}));
    handle.prompts_changed();
    handle.tools_changed();
    let told = session.recv();
    assert_eq!(told["method"], "notifications/tools/list_changed", "prompts are not offered here: {told}");
    assert!(belongs_to(&told, &json!(2)), "{told}");
    let rest = session.end();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], 2);
}

#[test]
fn a_legacy_client_subscribes_and_unsubscribes() {
    let temp = Temp::with(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
    let mut session = Session::start(
        toolgate::Server::new(Local::open(temp.path()).expect("a folder")).file_resources().expect("resources"),
    );
    let answer = session.shake_hands("2025-06-18", json!({}));
    assert_eq!(answer["result"]["capabilities"]["resources"], json!({"listChanged": true, "subscribe": true}));
    for uri in ["workspace:///a.txt", "workspace:///b.txt"] {
        let answer = session.request(Era::Legacy, "resources/subscribe", json!({"uri": uri}));
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    temp.write("a.txt", "2\n");
    let told = session.recv();
    assert_eq!(told["params"], json!({"uri": "workspace:///a.txt"}), "{told}");
    let answer = session.request(Era::Legacy, "resources/unsubscribe", json!({"uri": "workspace:///a.txt"}));
    assert_eq!(answer["result"], json!({}), "{answer}");
    temp.write("a.txt", "3\n");
    temp.write("b.txt", "3\n");
    let told = session.recv();
    assert_eq!(told["params"], json!({"uri": "workspace:///b.txt"}), "{told}");
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = session.request(Era::Modern, method, json!({"uri": "workspace:///a.txt"}));
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    assert!(session.end().is_empty());
}

#[test]
fn what_is_moved_deleted_and_brought_back_whole_is_news_of_the_list_and_of_every_file_in_it() {
    let temp = Temp::with(&[("d/a.txt", "1\n"), ("d/deep/b.txt", "1\n"), ("e/c.txt", "1\n")]);
    let server = toolgate::Server::new(Local::open(temp.path()).expect("a folder"));
    let mut session = Session::start(server.builtin_tools().expect("tools").file_resources().expect("resources"));
    session.shake_hands("2025-11-25", json!({}));
    session.request(Era::Legacy, "resources/list", json!({}));
    // Nobody watches yet: the server's own changes are all that it knows of.
    for (tool, arguments) in [
        ("move_path", json!({"from": "e/c.txt", "to": "e/moved.txt"})),
        ("delete_path", json!({"path": "e", "recursive": true})),
    ] {
        let mut told = Vec::new();
        let params = json!({"name": tool, "arguments": arguments});
        let request = Request { id: tool.into(), method: "tools/call", params, capabilities: json!({}) };
        session.ask(Era::Legacy, request, |_, message| told.push(message["method"].clone()));
        assert_eq!(told, ["notifications/resources/list_changed"], "{tool}");
    }
    for uri in ["workspace:///d/a.txt", "workspace:///d/deep/b.txt"] {
        session.request(Era::Legacy, "resources/subscribe", json!({"uri": uri}));
    }
    std::fs::rename(temp.path().join("d"), temp.path().join("elsewhere")).expect("a rename");
    let mut told: Vec<_> = (0..2).map(|_| session.recv()["params"]["uri"].clone()).collect();
    told.sort_by_key(Value::to_string);
    assert_eq!(told, ["workspace:///d/a.txt", "workspace:///d/deep/b.txt"]);
}

#[test]
fn a_legacy_client_may_subscribe_to_so_many_and_no_more() {
    let mut session = Session::start(toolgate::Server::new(Memory::new()).file_resources().expect("resources"));
    session.shake_hands("2025-11-25", json!({}));
    let mut subscribe =
        |n: usize| session.request(Era::Legacy, "resources/subscribe", json!({"uri": format!("workspace:///{n}")}));
    for n in 0..1000 {
        let answer = subscribe(n);
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let answer = subscribe(1000);
    assert!(answer["error"]["message"].as_str().expect("an error").contains("unsubscribe"), "{answer}");
    assert_eq!(subscribe(7)["result"], json!({}), "what it has subscribed to is no more than it was");
    session.request(Era::Legacy, "resources/unsubscribe", json!({"uri": "workspace:///0"}));
    let again = json!({"uri": "workspace:///1000"});
    assert_eq!(session.request(Era::Legacy, "resources/subscribe", again)["result"], json!({}));
}

#[test]
fn a_workspace_in_memory_tells_of_what_is_changed_through_the_server() {
    let server =
        toolgate::Server::new(Memory::new()).builtin_tools().expect("tools").file_resources().expect("resources");
    let mut session = Session::start(server);
    session.shake_hands("2025-11-25", json!({}));
    session.request(Era::Legacy, "resources/subscribe", json!({"uri": "workspace:///a.txt"}));
    let write = json!({"name": "write_file", "arguments": {"path": "a.txt", "content": "1\n"}});
    let mut told = Vec::new();
    let request = Request { id: "w".into(), method: "tools/call", params: write.clone(), capabilities: json!({}) };
    session.ask(Era::Legacy, request, |_, message| told.push(message["method"].clone()));
    assert_eq!(told, ["notifications/resources/updated"], "who has not looked at the list is not told of it");
    session.request(Era::Legacy, "resources/list", json!({}));
    told.clear();
    let write = json!({"name": "write_file", "arguments": {"path": "b.txt", "content": "1\n"}});
    let request = Request { id: "w".into(), method: "tools/call", params: write, capabilities: json!({}) };
    session.ask(Era::Legacy, request, |_, message| told.push(message["method"].clone()));
    assert_eq!(told, ["notifications/resources/list_changed"]);
    assert!(session.end().is_empty());
}
