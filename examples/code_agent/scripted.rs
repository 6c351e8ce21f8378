//! A model that says what it was told to: it shows how a session goes, without a key.

use std::collections::VecDeque;
use std::error::Error;

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate::{Memory, Mode, WsPath, bytes};

use crate::conversation::{Call, Entry, Model, Offer};

/// What the scripted model is asked for.
pub const TASK: &str = "Double the limit of every service, and tell me which file has none.";

/// The files that it works on.
pub fn files() -> Memory {
    let services = [
        ("services/api.toml", "name = \"api\"\nlimit = 100\n"),
        ("services/mail.toml", "name = \"mail\"\nlimit = 20\n"),
        ("services/web.toml", "name = \"web\"\nreplicas = 3\n"),
    ];
    let path = |path: &str| WsPath::parse(path).expect("a path");
    Memory::from_files(services.map(|(name, text)| (path(name), Bytes::from_static(text.as_bytes()))))
}

/// A program that does it all.
pub const PROGRAM: &str = r#"const { entries } = await tools.list_dir({ path: "services" });
const without: string[] = [];
for (const { path } of entries) {
  const file = `services/${path}`;
  const { content } = await tools.read_file({ path: file });
  const limit = content.match(/^limit = (\d+)$/m);
  if (limit === null) {
    without.push(file);
    continue;
  }
  await tools.patch_file({ path: file, old_str: limit[0], new_str: `limit = ${Number(limit[1]) * 2}` });
  console.log(file, limit[1], "->", Number(limit[1]) * 2);
}
return { without };"#;

/// The model for a mode. Where both ways are open it looks at one file by itself first.
pub fn of(mode: Mode) -> Box<dyn Model> {
    let run =
        turn("", vec![("run_code", json!({"code": PROGRAM, "description": "Double the limit of every service"}))]);
    let look = turn("I look at one of them first.", vec![("read_file", json!({"path": "services/web.toml"}))]);
    let end = turn("Done: api and mail have twice their limit now. services/web.toml has none.", Vec::new());
    Box::new(Scripted::new(match mode {
        Mode::Both => vec![look, run, end],
        _ => vec![run, end],
    }))
}

/// A model that says these things, one after the other.
pub struct Scripted {
    turns: VecDeque<Entry>,
}

impl Scripted {
    pub fn new(turns: Vec<Entry>) -> Self {
        let mut count = 0;
        let numbered = turns.into_iter().map(|turn| match turn {
            Entry::Model { text, mut calls } => {
                for call in &mut calls {
                    count += 1;
                    call.id = format!("call_{count:04}");
                }
                Entry::Model { text, calls }
            }
            other => other,
        });
        Scripted { turns: numbered.collect() }
    }
}

/// Something that a model says.
pub fn turn(text: &str, calls: Vec<(&str, Value)>) -> Entry {
    let call = |(name, arguments): (&str, Value)| Call { id: String::new(), name: name.to_owned(), arguments };
    Entry::Model { text: text.to_owned(), calls: calls.into_iter().map(call).collect() }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "a scripted model"
    }

    fn next(&mut self, _: &[Offer], _: &[Entry]) -> Result<Entry, Box<dyn Error>> {
        self.turns.pop_front().ok_or_else(|| "the script is at its end".into())
    }
}
