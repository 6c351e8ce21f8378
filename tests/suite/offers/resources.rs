//! The files of a workspace as resources, and resources of an embedder's own.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate::schemars::JsonSchema;
use toolgate::{
    Contents, ErrorCode, LIST_RESOURCES, Memory, READ_RESOURCE, Resource, ResourceSpec, Template, TemplateSpec,
    ToolError, View,
};

use super::kit::{Client, ERAS, Era, Session, assert_modern};
use crate::suite::gate::kit::{end, guarded};
use crate::suite::support::{Server, Temp};

fn uris(result: &Value) -> Vec<&str> {
    let resources = result["resources"].as_array().unwrap_or_else(|| panic!("no resources: {result}"));
    resources.iter().map(|resource| resource["uri"].as_str().expect("a URI")).collect()
}

#[test]
fn every_file_is_listed_once_a_page_at_a_time() {
    let temp = Temp::new();
    for n in 0..250 {
        temp.write(&format!("{}/{n:03}.md", n % 7), "x");
    }
    temp.write(".gitignore", "*.log\n");
    temp.write("noise.log", "x");
    temp.write(".git/config", "x");
    let mut server = Server::start(temp.path());
    for era in ERAS {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        for page in 0.. {
            let params = cursor.as_ref().map_or(json!({}), |cursor| json!({"cursor": cursor}));
            let answer = Client::request(&mut server, era, "resources/list", params);
            let result = &answer["result"];
            if era == Era::Modern {
                assert_modern(result, Some(0));
            } else {
                assert!(result.get("resultType").is_none() && result.get("ttlMs").is_none(), "{result}");
            }
            found.extend(uris(result).iter().map(|uri| (*uri).to_owned()));
            cursor = result["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
            assert!(page < 3, "{} are found", found.len());
        }
        let mut sorted = found.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!((sorted.len(), found.len()), (251, 251), "{era:?}: all but what is ignored, each once");
        assert!(found.contains(&"workspace:///3/003.md".to_owned()));
    }
}

#[test]
fn a_cursor_that_nobody_gave_out_is_refused() {
    let temp = Temp::with(&[("a", "")]);
    let mut server = Server::start(temp.path());
    for cursor in ["x", "dDo5OTo", "Zjo5Og", "bm9uc2Vuc2U", "\u{1F600}", &"A".repeat(10_000)] {
        for era in ERAS {
            let answer = Client::request(&mut server, era, "resources/list", json!({"cursor": cursor}));
            assert_eq!(answer["error"]["code"], -32602, "{cursor}: {answer}");
            assert!(answer["error"]["message"].as_str().expect("a message").len() < 400, "{answer}");
        }
    }
    let answer = Client::request(&mut server, Era::Modern, "resources/list", json!({"cursor": ""}));
    assert_eq!(uris(&answer["result"]), ["workspace:///a"], "an empty one is the start");
}

#[test]
fn files_are_read_as_text_or_bytes_by_their_address() {
    let temp = Temp::with(&[("src/main.rs", "fn main() {}\n"), ("docs/ä b#1.md", "# A\n")]);
    temp.write("pixel.png", b"\x89PNG\r\n\x1a\n\0");
    let mut server = Server::start(temp.path());
    let templates = Client::request(&mut server, Era::Modern, "resources/templates/list", json!({}));
    assert_modern(&templates["result"], Some(300_000));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "workspace:///{+path}");
    for era in ERAS {
        for (uri, member, content, mime_type) in [
            ("workspace:///src/main.rs", "text", "fn main() {}\n", "text/plain"),
            ("workspace:///docs/%C3%A4%20b%231.md", "text", "# A\n", "text/markdown"),
            ("workspace:///src/../src/main.rs", "text", "fn main() {}\n", "text/plain"),
            ("workspace:///pixel.png", "blob", "iVBORw0KGgoA", "image/png"),
        ] {
            let answer = Client::request(&mut server, era, "resources/read", json!({"uri": uri}));
            let result = &answer["result"];
            let want = json!([{"uri": uri, "mimeType": mime_type, member: content}]);
            assert_eq!(result["contents"], want, "{era:?} {answer}");
            if era == Era::Modern {
                assert_modern(result, Some(0));
            }
        }
    }
}

#[test]
fn what_is_not_there_is_an_error_of_the_era_and_nothing_outside_can_be_reached() {
    let outside = Temp::with(&[("secret", "no")]);
    let temp = Temp::with(&[("a/b", "x")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret"), temp.path().join("link")).expect("a link");
    let mut server = Server::start(temp.path());
    let absolute = format!("workspace:///{}", outside.path().join("secret").display());
    for (era, code) in [(Era::Modern, -32602), (Era::Legacy, -32002)] {
        for uri in [
            "workspace:///missing",
            "workspace:///a",
            "workspace:///../secret",
            "workspace:///%2e%2e/secret",
            "workspace:///a/..%2f..%2fsecret",
            "workspace:///a%00b",
            "workspace:///%zz",
            "workspace:///",
            "workspace:///link",
            "workspace://elsewhere/a/b",
            "file:///etc/passwd",
            &absolute,
            "nonsense",
            "",
        ] {
            let answer = Client::request(&mut server, era, "resources/read", json!({"uri": uri}));
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
            assert_eq!(answer["error"]["data"]["uri"], uri, "{answer}");
        }
        let answer = Client::request(&mut server, era, "resources/read", json!({}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn the_gate_stands_before_resources_too_and_the_log_knows_of_them() {
    let rules =
        "[[rule]]\ndecision = \"deny\"\ntools = [\"read_file\"]\npaths = [\"secrets\"]\nreason = \"they are secret\"\n";
    let (mut desk, home) = guarded(&[("secrets/k", "key\n"), ("a", "1\n")], rules);
    for era in ERAS {
        let uri = json!({"uri": "workspace:///secrets/k"});
        let answer = Client::request(&mut desk.server, era, "resources/read", uri.clone());
        assert_eq!(answer["error"]["data"]["error"], "denied", "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("they are secret"), "{answer}");
        let answer = Client::request(&mut desk.server, era, "resources/list", json!({}));
        assert_eq!(uris(&answer["result"]), ["workspace:///a"], "what may not be read is not spoken of");
        let argument = json!({"name": "path", "value": "secrets/"});
        let params = json!({"ref": {"type": "ref/resource", "uri": "workspace:///{+path}"}, "argument": argument});
        let answer = Client::request(&mut desk.server, era, "completion/complete", params);
        assert_eq!(answer["result"]["completion"]["values"], json!([]), "{answer}");
    }
    let answer =
        Client::request(&mut desk.server, Era::Legacy, "resources/subscribe", json!({"uri": "workspace:///secrets/k"}));
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    end(desk);
    let log = home.log();
    let read = log.iter().find(|line| line["method"] == "resources/read").expect("the reading is in the log");
    assert_eq!((&read["tool"], &read["arguments"]["path"]), (&json!("read_file"), &json!("secrets/k")), "{read}");
    assert!(log.iter().any(|line| line["type"] == "tool/result" && line["error"] == "denied"), "{log:?}");
}

#[test]
fn reading_a_resource_is_no_reason_to_overwrite_it() {
    let (mut desk, _home) = guarded(&[("a", "1\n")], "");
    let answer = Client::request(&mut desk.server, Era::Modern, "resources/read", json!({"uri": "workspace:///a"}));
    assert_eq!(answer["result"]["contents"][0]["text"], "1\n");
    // A client may read resources without showing them to the model.
    desk.write("a", "2\n").error("read_required");
}

#[test]
fn paths_are_completed() {
    let temp = Temp::with(&[("src/main.rs", ""), ("src/model/path.rs", ""), ("setup", ""), (".env", ""), ("b", "")]);
    let mut server = Server::start(temp.path());
    for (typed, want) in [
        ("s", &["setup", "src/"][..]),
        ("src/m", &["src/main.rs", "src/model/"]),
        ("src/model/", &["src/model/path.rs"]),
        ("./src/ma", &["src/main.rs"]),
        (".", &[".env"]),
        ("", &["b", "setup", "src/"]),
        ("../", &[]),
        ("nowhere/x", &[]),
    ] {
        for era in ERAS {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": "workspace:///{+path}"},
                "argument": {"name": "path", "value": typed},
            });
            let answer = Client::request(&mut server, era, "completion/complete", params);
            let completion = &answer["result"]["completion"];
            assert_eq!(completion["values"], json!(want), "{typed}: {answer}");
            assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(want.len()), &json!(false)));
            if era == Era::Modern {
                assert_modern(&answer["result"], None);
            }
        }
    }
    for (reference, argument) in [
        (json!({"type": "ref/resource", "uri": "workspace:///a"}), "path"),
        (json!({"type": "ref/resource", "uri": "workspace:///{+path}"}), "other"),
        (json!({"type": "ref/prompt", "name": "nobody"}), "x"),
        (json!({"type": "ref/tool", "name": "read_file"}), "path"),
    ] {
        let params = json!({"ref": reference, "argument": {"name": argument, "value": ""}});
        let answer = Client::request(&mut server, Era::Modern, "completion/complete", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

struct Today;

impl Resource for Today {
    fn spec(&self) -> ResourceSpec {
        ResourceSpec {
            description: Some("What is to be done.".to_owned()),
            ..ResourceSpec::new("notes://today", "today")
        }
    }

    async fn read(&self, _: &View) -> Result<Contents, ToolError> {
        Ok(Contents::text("text/plain", "Water the plants."))
    }
}

struct Pages;

#[derive(Deserialize, JsonSchema)]
struct PageArgs {
    book: String,
    page: u32,
}

impl Template for Pages {
    type Args = PageArgs;

    fn spec(&self) -> TemplateSpec {
        TemplateSpec {
            uri_template: "notes://{book}/{page}",
            name: "page",
            title: "Page",
            description: "A page of a book.",
            mime_type: Some("text/plain"),
            reads_as: READ_RESOURCE,
            lists_as: LIST_RESOURCES,
            paths: &[],
        }
    }

    async fn read(&self, _: &View, args: PageArgs) -> Result<Contents, ToolError> {
        match args.page {
            0 => Err(ToolError::new(ErrorCode::FileNotFound, "Pages are counted from 1.")),
            page => Ok(Contents::text("text/plain", format!("{}, page {page}", args.book))),
        }
    }
}

#[test]
fn an_embedder_offers_resources_of_its_own() {
    let server =
        toolgate::Server::new(Memory::new()).resource(Today).expect("a resource").template(Pages).expect("pages");
    let mut session = Session::start(server);
    for era in ERAS {
        let answer = session.request(era, "resources/list", json!({}));
        assert_eq!(uris(&answer["result"]), ["notes://today"], "{answer}");
        for (uri, want) in [("notes://today", "Water the plants."), ("notes://red%20book/7", "red book, page 7")] {
            let answer = session.request(era, "resources/read", json!({"uri": uri}));
            assert_eq!(answer["result"]["contents"][0]["text"], want, "{answer}");
        }
        for uri in ["notes://tomorrow", "notes://red/0", "notes://red/seven"] {
            let answer = session.request(era, "resources/read", json!({"uri": uri}));
            assert_eq!(answer["error"]["code"], if era == Era::Modern { -32602 } else { -32002 }, "{answer}");
        }
    }
    let again = toolgate::Server::new(Memory::new()).resource(Today).expect("a resource").resource(Today);
    assert!(again.is_err(), "one address, one resource");
    assert!(session.end().is_empty());
}
