//! `/rpc`: generic JSON-RPC clients, over HTTP and WebSocket.

use jsonrpsee::core::ClientError;
use jsonrpsee::core::client::ClientT;
use jsonrpsee::core::params::{BatchRequestBuilder, ObjectParams};
use jsonrpsee::http_client::HttpClientBuilder;
use jsonrpsee::ws_client::WsClientBuilder;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::super::support::{MODERN, Temp};
use super::kit::{Ask, Site, meta, text};

fn call(tool: &str, arguments: Value) -> ObjectParams {
    let mut params = ObjectParams::new();
    params.insert("name", tool).expect("JSON");
    params.insert("arguments", arguments).expect("JSON");
    params
}

/// What every client can do, whatever carries it.
async fn session(client: &impl ClientT) {
    let read = || call("read_file", json!({"path": "a.txt"}));
    let answer: Value = client.request("tools/call", read()).await.expect("an answer");
    assert_eq!(text(&answer), "1: one\n");
    let mut modern = read();
    modern.insert("_meta", meta(MODERN)).expect("JSON");
    let answer: Value = client.request("tools/call", modern).await.expect("an answer");
    assert_eq!(answer["resultType"], "complete", "{answer}");
    let failed: Value = client.request("tools/call", call("read_file", json!({"path": "x"}))).await.expect("an answer");
    assert_eq!(failed["structuredContent"]["error"], "file_not_found");
    let unknown: Result<Value, _> = client.request("unknown/method", ObjectParams::new()).await;
    assert!(matches!(unknown, Err(ClientError::Call(error)) if error.code() == -32601));
    client.notification("notifications/x", ObjectParams::new()).await.expect("sent");
    let mut batch = BatchRequestBuilder::new();
    batch.insert("tools/call", read()).expect("JSON");
    batch.insert("ping", ObjectParams::new()).expect("JSON");
    let answers = client.batch_request::<Value>(batch).await.expect("answers");
    let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect("a result")).collect();
    assert_eq!((text(&answers[0]), &answers[1]), ("1: one\n", &json!({})));
    let asked: Value = client
        .request("tools/call", call("write_file", json!({"path": "w.txt", "content": "x"})))
        .await
        .expect("an answer");
    assert_eq!(asked["structuredContent"]["error"], "denied", "nobody can be asked: {asked}");
    let reads = (0..50).map(|_| client.request::<Value, _>("tools/call", read()));
    for answer in futures_util::future::join_all(reads).await {
        assert_eq!(text(&answer.expect("an answer")), "1: one\n");
    }
}

/// jsonrpsee itself would take them for notifications, and say nothing.
#[test]
fn a_request_with_an_id_that_cannot_be_held_is_told_so() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let site = Site::start(temp.path());
    for (id, told) in [("-1", json!(-1)), ("{}", json!(null)), ("[1]", json!(null)), ("1.5", json!(null))] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        let answer = site.send(Ask::new("POST", "/rpc").headers(&[("content-type", "application/json")]).body(&body));
        assert_eq!((answer.status, answer.code(), &answer.json()["id"]), (200, -32600, &told), "{id}");
    }
}

#[test]
fn the_clients_of_jsonrpsee_are_served_over_http_and_websocket() {
    let temp = Temp::with(&[("a.txt", "one\n")]);
    let ask = "[[rule]]\ntools = [\"write_file\"]\ndecision = \"ask\"\nreason = \"writing is asked about\"\n";
    let site = Site::configured(temp.path(), ask, &[]);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let http = HttpClientBuilder::default().build(format!("http://{}/rpc", site.address)).expect("a client");
        session(&http).await;
        let socket = WsClientBuilder::default().build(format!("ws://{}/rpc", site.address)).await.expect("a client");
        session(&socket).await;
        assert!(WsClientBuilder::default().build(format!("ws://{}/mcp", site.address)).await.is_err());
    });
}
