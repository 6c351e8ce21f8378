//! What the cases stand on: a served folder, replies to look into, and one edit tried through both doors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::suite::support::oneshot::{dispatch, document, done, failed};
use crate::suite::support::{MODERN, Server, Temp};

/// What every request of the stateless era carries.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A call of a tool as a whole frame.
pub fn frame(id: Value, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta() });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// The word that takes back a request.
pub fn cancelled(params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// What `initialize` asks for.
pub fn hello(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

/// A folder and a server on it.
pub struct Desk {
    pub folder: Temp,
    pub server: Server,
}

impl Desk {
    /// Serves a folder that holds one file.
    pub fn with(path: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Temp::new();
        folder.write(path, content);
        Desk::serving(folder)
    }

    /// Serves this folder.
    pub fn serving(folder: Temp) -> Self {
        let server = Server::start(folder.path());
        Desk { folder, server }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        Reply(self.server.call(tool, arguments))
    }

    pub fn read(&mut self, path: &str) -> Reply {
        self.call("read_file", json!({ "path": path }))
    }

    pub fn write(&mut self, path: &str, content: &str) -> Reply {
        self.call("write_file", json!({ "path": path, "content": content }))
    }

    pub fn patch(&mut self, path: &str, old: &str, new: &str) -> Reply {
        self.call("patch_file", json!({ "path": path, "old_str": old, "new_str": new }))
    }

    pub fn list(&mut self, path: &str) -> Reply {
        self.call("list_dir", json!({ "path": path }))
    }

    /// Every file of the folder: path and bytes. Links are followed, so a stray temporary file shows.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_of(self.folder.path())
    }
}

/// Every file below `folder`: its path with `/`, and its bytes. Empty folders do not show.
pub fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.file_type().expect("a type").is_dir() {
                walk(&entry.path(), &format!("{path}/"), found);
            } else if let Ok(bytes) = fs::read(entry.path()) {
                found.insert(path, bytes);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, "", &mut found);
    found
}

/// The result of a call.
#[derive(Debug)]
pub struct Reply(pub Value);

impl Reply {
    /// The text blocks: first the observation, then the notes.
    pub fn texts(&self) -> Vec<&str> {
        let blocks = self.0["content"].as_array().unwrap_or_else(|| panic!("no content: {}", self.0));
        blocks.iter().filter_map(|block| block["text"].as_str()).collect()
    }

    /// All that the model is shown of a call that succeeded.
    #[track_caller]
    pub fn ok(&self) -> String {
        assert_ne!(self.0["isError"], true, "{}", self.0);
        self.texts().join("\n")
    }

    /// The text blocks but for the last one, which names the change that was made.
    #[track_caller]
    pub fn observations(&self) -> Vec<&str> {
        let mut texts = self.texts();
        assert_eq!(texts.pop(), Some(&*format!("[Change {}.]", self.change())), "{}", self.0);
        texts
    }

    /// The id of the change that was made.
    #[track_caller]
    pub fn change(&self) -> String {
        self.fact("change").as_str().unwrap_or_else(|| panic!("no change: {}", self.0)).to_owned()
    }

    /// The message of a call that failed in this way. It must stand in both fields that carry it.
    #[track_caller]
    pub fn error(&self, code: &str) -> &str {
        assert_eq!(self.0["isError"], true, "{}", self.0);
        let structured = &self.0["structuredContent"];
        assert_eq!(structured["error"], code, "{}", self.0);
        let message = structured["message"].as_str().unwrap_or_else(|| panic!("no message: {}", self.0));
        assert_eq!(self.texts(), [message], "{}", self.0);
        message
    }

    /// What the failure tells programs.
    pub fn details(&self) -> &Value {
        &self.0["structuredContent"]["details"]
    }

    /// A fact beside the text.
    pub fn fact(&self, name: &str) -> &Value {
        &self.0["_meta"][format!("toolgate/{name}")]
    }
}

/// Asserts that `message` holds all of these.
#[track_caller]
pub fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

/// One edit of one file, through both doors.
pub struct Edit<'a> {
    case: &'a str,
    before: &'a [u8],
    arguments: Value,
}

/// The file that an [`Edit`] is about.
const FILE: &str = "file.txt";

/// A patch of a file that holds `before`; `case` is what failures are reported under.
pub fn patch<'a>(case: &'a str, before: &'a (impl AsRef<[u8]> + ?Sized), old: &str, new: &str) -> Edit<'a> {
    Edit { case, before: before.as_ref(), arguments: json!({ "path": FILE, "old_str": old, "new_str": new }) }
}

impl Edit<'_> {
    /// Replaces every match.
    pub fn everywhere(mut self) -> Self {
        self.arguments["replace_all"] = true.into();
        self
    }

    /// Both doors leave exactly these bytes.
    #[track_caller]
    pub fn gives(&self, after: impl AsRef<[u8]>) {
        self.mcp_gives(&after);
        self.oneshot_gives(std::str::from_utf8(after.as_ref()).expect("text in the one-shot protocol"));
    }

    /// Both doors refuse with this code and leave every byte. Returns what the model is told over MCP.
    #[track_caller]
    pub fn fails(&self, code: &str) -> Reply {
        self.oneshot_fails(code);
        self.mcp_fails(code)
    }

    /// Over MCP the file then holds exactly these bytes, and nothing lies beside it.
    #[track_caller]
    pub fn mcp_gives(&self, after: impl AsRef<[u8]>) -> Reply {
        let (reply, bytes) = self.over_mcp();
        reply.ok();
        assert_eq!(bytes.escape_ascii().to_string(), after.as_ref().escape_ascii().to_string(), "{}", self.case);
        reply
    }

    /// Over MCP the call fails with this code and every byte stays.
    #[track_caller]
    pub fn mcp_fails(&self, code: &str) -> Reply {
        let (reply, bytes) = self.over_mcp();
        reply.error(code);
        assert_eq!(bytes.escape_ascii().to_string(), self.before.escape_ascii().to_string(), "{}", self.case);
        reply
    }

    /// The one-shot protocol then has exactly this text.
    #[track_caller]
    pub fn oneshot_gives(&self, after: &str) {
        let right = done("patch_file", &format!("File patched: {FILE}"), &json!({ FILE: after }).to_string());
        assert_eq!(self.oneshot(), right, "{}", self.case);
    }

    /// The one-shot protocol answers with this code and the workspace as it was.
    #[track_caller]
    pub fn oneshot_fails(&self, code: &str) {
        let right = failed("patch_file", code, &self.workspace());
        let answer = self.oneshot();
        // Only this code has a message beside it.
        if code == "invalid_arguments" {
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let workspace: Value = serde_json::from_str(&self.workspace()).expect("JSON");
            assert_eq!((&answer["error"], &answer["workspace"]), (&json!(code), &workspace), "{}", self.case);
        } else {
            assert_eq!(answer, right, "{}", self.case);
        }
    }

    fn over_mcp(&self) -> (Reply, Vec<u8>) {
        let mut desk = Desk::with(FILE, self.before);
        let reply = desk.call("patch_file", self.arguments.clone());
        let mut files = desk.files();
        let bytes = files.remove(FILE).expect("the file");
        assert!(files.is_empty(), "{}: left behind: {:?}", self.case, files.keys());
        (reply, bytes)
    }

    fn workspace(&self) -> String {
        json!({ FILE: std::str::from_utf8(self.before).expect("text in the one-shot protocol") }).to_string()
    }

    fn oneshot(&self) -> String {
        let ran = dispatch(document(&self.workspace(), "patch_file", &self.arguments.to_string()));
        ran.answer(self.case).to_owned()
    }
}
