//! The floor: a bare program that does the same work with nothing around it. No validation, no gate, no record, no care.

use std::fs;
use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("dispatch") => dispatch(),
        _ => serve(),
    }
}

/// One document in, one out, as the one-shot protocol has it.
fn dispatch() -> io::Result<()> {
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    let document: Value = serde_json::from_slice(&text)?;
    let path = document["call"]["args"]["path"].as_str().unwrap_or_default();
    let content = document["workspace"][path].as_str().unwrap_or_default();
    let answer = json!({"observation": numbered(content), "status": "ok", "tool": "read_file", "workspace": document["workspace"]});
    println!("{answer}");
    Ok(())
}

/// Line by line, one thread.
fn serve() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let request: Value = serde_json::from_slice(&line)?;
        if request.get("id").is_none() {
            continue;
        }
        let result = match request["method"].as_str() {
            Some("initialize") => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "floor", "version": "0"}})
            }
            Some("tools/list") => json!({"tools": [{"name": "read_file", "inputSchema": {"type": "object"}}]}),
            _ => json!({"content": [{"type": "text", "text": call(&request["params"])?}]}),
        };
        let mut frame = serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))?;
        frame.push(b'\n');
        output.write_all(&frame)?;
        output.flush()?;
    }
}

fn call(params: &Value) -> io::Result<String> {
    let arguments = &params["arguments"];
    let path = arguments["path"].as_str().unwrap_or_default();
    match params["name"].as_str() {
        Some("patch_file") => {
            let (old, new) =
                (arguments["old_str"].as_str().unwrap_or("\0"), arguments["new_str"].as_str().unwrap_or_default());
            let bytes = fs::read(path)?;
            let Some(at) = memchr::memmem::find(&bytes, old.as_bytes()) else {
                return Ok("not found".to_owned());
            };
            let changed = [&bytes[..at], new.as_bytes(), &bytes[at + old.len()..]].concat();
            let beside = format!("{path}.new");
            fs::write(&beside, changed)?;
            fs::rename(&beside, path)?;
            Ok(format!("File patched: {path}"))
        }
        _ => Ok(numbered(&fs::read_to_string(path)?)),
    }
}

fn numbered(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 8);
    for (n, line) in text.split_inclusive('\n').enumerate() {
        shown.push_str(&format!("{}: {line}", n + 1));
    }
    shown
}
