//! What a task of 50 edits costs: the same files, the same result, four ways to get there.
//!
//! The model is scripted, so that nothing but the way differs; tools, results and requests are real. Each turn sends the whole
//! conversation again, as the APIs want it. Tokens are counted with the tokenizer `o200k_base` over the JSON of the requests
//! (what a model reads) and of its turns (what it writes); caches of providers make some of the former cheaper, not fewer.

use std::error::Error;

use bytes::Bytes;
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;
use toolgate::{Memory, Mode, WsPath, bytes};

use crate::anthropic;
use crate::conversation::{Entry, talk};
use crate::scripted::{Scripted, turn};
use crate::session::Session;

const FILES: usize = 50;

const TASK: &str = "Double the LIMIT in every file of src, and tell me how many you have changed.";

const PROGRAM: &str = r#"const { entries } = await tools.list_dir({ path: "src" });
let changed = 0;
for (const { path } of entries) {
  const file = `src/${path}`;
  const { content } = await tools.read_file({ path: file });
  const limit = content.match(/LIMIT: u32 = (\d+);/);
  if (limit === null) continue;
  await tools.patch_file({ path: file, old_str: limit[0], new_str: `LIMIT: u32 = ${Number(limit[1]) * 2};` });
  changed++;
}
return changed;"#;

fn name(file: usize) -> String {
    format!("src/module_{file:02}.rs")
}

fn limit(file: usize) -> usize {
    file * 7 + 3
}

fn text(file: usize, limit: usize) -> String {
    let constant = format!("/// The most that is taken.\nconst LIMIT: u32 = {limit};\n");
    let function = "/// Whether `count` is too much.\npub fn is_too_much(count: u32) -> bool {\n    count > LIMIT\n}\n";
    format!("//! Module {file}.\n\n{constant}\n{function}")
}

fn files(times: usize) -> impl Iterator<Item = (WsPath, Bytes)> {
    (0..FILES).map(move |file| {
        let path = WsPath::parse(&name(file)).expect("a path");
        (path, Bytes::from(text(file, limit(file) * times)))
    })
}

/// One way to do it.
struct Way {
    name: &'static str,
    mode: Mode,
    turns: Vec<Entry>,
}

fn ways() -> [Way; 4] {
    let look = || turn("", vec![("list_dir", json!({"path": "src"}))]);
    let done = || turn("I have changed 50 files.", Vec::new());
    let read = |file| ("read_file", json!({"path": name(file)}));
    let edit = |file| {
        let line = |limit| format!("LIMIT: u32 = {limit};");
        json!({"path": name(file), "old_str": line(limit(file)), "new_str": line(limit(file) * 2)})
    };
    let patch = |file| ("patch_file", edit(file));
    let all = || 0..FILES;
    let one_by_one = all().flat_map(|file| [turn("", vec![read(file)]), turn("", vec![patch(file)])]);
    let at_once = [turn("", all().map(read).collect()), turn("", all().map(patch).collect())];
    let together = [
        turn("", all().map(read).collect()),
        turn("", vec![("patch_files", json!({"patches": all().map(edit).collect::<Vec<Value>>()}))]),
    ];
    let program =
        turn("", vec![("run_code", json!({"code": PROGRAM, "description": "Double the LIMIT of every module"}))]);
    let whole = |middle: Vec<Entry>| [vec![look()], middle, vec![done()]].concat();
    [
        Way { name: "native, a call a turn", mode: Mode::Native, turns: whole(one_by_one.collect()) },
        Way { name: "native, calls at once", mode: Mode::Native, turns: whole(at_once.to_vec()) },
        Way { name: "native, patch_files", mode: Mode::Native, turns: whole(together.to_vec()) },
        Way { name: "code", mode: Mode::Code, turns: vec![program, done()] },
    ]
}

/// What a way costs.
#[derive(Default)]
struct Cost {
    turns: usize,
    bytes: usize,
    read: usize,
    written: usize,
}

/// Prints the table.
pub fn print() -> Result<(), Box<dyn Error>> {
    let tokenizer = tiktoken_rs::o200k_base()?;
    println!("| {FILES} edits | turns | bytes sent | tokens read | tokens written |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for Way { name, mode, turns } in ways() {
        let Cost { turns, bytes, read, written } = cost(mode, turns, &tokenizer)?;
        println!("| {name} | {turns} | {bytes} | {read} | {written} |");
    }
    Ok(())
}

fn cost(mode: Mode, turns: Vec<Entry>, tokenizer: &CoreBPE) -> Result<Cost, Box<dyn Error>> {
    let memory = Memory::from_files(files(1));
    let mut session = Session::start(memory.clone(), mode)?;
    let mut failed = None;
    let said = talk(&mut Scripted::new(turns), &mut session, TASK, 2 * FILES + 3, &mut |entry| {
        if let Entry::Results(results) = entry {
            failed = failed.take().or_else(|| results.iter().find(|result| result.is_error).cloned());
        }
    })?;
    if let Some(failed) = failed {
        return Err(format!("a call of the measured task failed: {}", failed.text).into());
    }
    let mut cost = Cost::default();
    for (at, entry) in said.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Model { .. })) {
        let request = anthropic::request("model", session.offers(), &said[..at]).to_string();
        cost.turns += 1;
        cost.bytes += request.len();
        cost.read += tokenizer.encode_ordinary(&request).len();
        cost.written += tokenizer.encode_ordinary(&anthropic::message(entry)["content"].to_string()).len();
    }
    session.end()?;
    if memory.snapshot() != files(2).collect() {
        return Err("the files are not as the task wants them".into());
    }
    Ok(cost)
}
