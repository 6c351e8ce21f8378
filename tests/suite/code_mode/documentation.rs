//! What a model is told of the tools that its programs can call, wherever it is told.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::suite::offers::kit::{Client, ERAS};
use crate::suite::support::{Server, TOOLGATE, Temp};

fn declarations() -> String {
    let output = Command::new(TOOLGATE).args(["tools", "--format", "typescript"]).output().expect("toolgate");
    String::from_utf8(output.stdout).expect("text")
}

/// A server whose legacy client has shaken hands, and its folder.
fn serve(mode: &str) -> (Server, Temp) {
    let folder = Temp::new();
    let mut server = Server::start_with(folder.path(), &["--mode", mode]);
    Client::shake_hands(&mut server, "2025-11-25", json!({}));
    (server, folder)
}

#[test]
fn run_code_says_how_and_what_in_a_few_kilobytes() {
    let (mut server, _folder) = serve("code");
    for era in ERAS {
        let list = Client::request(&mut server, era, "tools/list", json!({}));
        let said = list["result"]["tools"][0]["description"].as_str().expect("a description").to_owned();
        let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/run_code.md");
        assert_eq!(said, fs::read_to_string(published).expect("a text"), "{era:?}");
        assert!(said.len() <= 6 * 1024, "{} bytes", said.len());
        for tool in ["read_file: (args: {", "list_dir: (args?: {", "patch_file: (args: {"] {
            assert!(said.contains(tool), "{tool} is missing in {said}");
        }
    }
}

#[test]
fn a_resource_holds_all_declarations() {
    let (mut server, _folder) = serve("both");
    for era in ERAS {
        let list = Client::request(&mut server, era, "resources/list", json!({}));
        let listed = list["result"]["resources"].as_array().expect("a list").clone();
        let sdk = listed.iter().find(|one| one["uri"] == "toolgate://sdk.d.ts").unwrap_or_else(|| panic!("{list}"));
        assert_eq!(sdk["mimeType"], "text/typescript");
        let read = Client::request(&mut server, era, "resources/read", json!({"uri": "toolgate://sdk.d.ts"}));
        assert_eq!(read["result"]["contents"][0]["text"].as_str(), Some(declarations().as_str()), "{era:?}");
    }
}

#[test]
fn a_prompt_holds_them_with_how_programs_are_written() {
    let (mut server, _folder) = serve("code");
    for era in ERAS {
        let got = Client::request(&mut server, era, "prompts/get", json!({"name": "tools_sdk"}));
        let said =
            got["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{got}")).to_owned();
        assert!(said.starts_with("Run a program that calls the tools"), "{said}");
        assert!(said.contains(&format!("```ts\n{}```", declarations())), "{era:?}");
    }
}

#[test]
fn nothing_of_it_is_there_in_native_mode() {
    let (mut server, _folder) = serve("native");
    for era in ERAS {
        let texts = [
            Client::request(&mut server, era, "tools/list", json!({})),
            Client::request(&mut server, era, "prompts/list", json!({})),
            Client::request(&mut server, era, "resources/list", json!({})),
        ]
        .map(|answer: Value| answer.to_string());
        assert!(!texts.concat().contains("sdk"), "{texts:?}");
    }
}
