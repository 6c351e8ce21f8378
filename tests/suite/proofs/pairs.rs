//! Two servers with one folder and one state. A few rounds by default, 100 with `TOOLGATE_LONG=1`.

use std::fs;

use serde_json::{Value, json};

use super::kit::{Site, answers, post, rounds};
use crate::suite::cases::kit::{Reply, files_of};

#[test]
fn servers_that_share_a_state_keep_it_whole_and_undo_what_the_other_did() {
    let site = Site::new();
    let mut servers = [site.serve(), site.serve()];
    for round in 0..rounds(4, 100) {
        for call in 0..20 {
            let (path, content) = (format!("{round}/{call}"), format!("first of {call}\n"));
            let arguments = json!({ "path": path, "content": content, "create_dirs": true });
            post(&mut servers[call % 2], call, "write_file", arguments);
        }
        for server in &mut servers {
            answers(server, 10).values().for_each(|reply| drop(reply.ok()));
        }
        // Each goes on with what the other has made.
        for call in 0..20 {
            let arguments = json!({ "path": format!("{round}/{call}"), "old_str": "first", "new_str": "second" });
            post(&mut servers[(call + 1) % 2], call, "patch_file", arguments);
        }
        let patched = [answers(&mut servers[0], 10), answers(&mut servers[1], 10)];
        // And takes back what the other has done.
        for (call, reply) in patched.iter().flatten() {
            reply.ok();
            Reply(servers[call % 2].call("undo_change", json!({ "change": reply.change() }))).ok();
            assert_eq!(site.folder.text(&format!("{round}/{call}")), format!("first of {call}\n"));
        }
    }
    for server in servers {
        assert!(server.close().success());
    }
    site.is_clean();
    assert_eq!(site.history().open(), [""; 0]);
    all_records_are_json(&site);
    let sessions = fs::read_dir(site.records().join("sessions")).expect("logs");
    let names = sessions.map(|entry| entry.expect("an entry").path());
    let logs = names.filter(|name| name.extension().is_some_and(|extension| extension == "jsonl"));
    assert_eq!(logs.count(), 2, "a log for each");
}

fn all_records_are_json(site: &Site) {
    let records = files_of(&site.records());
    for (name, bytes) in records.iter().filter(|(name, _)| name.ends_with(".jsonl")) {
        let text = std::str::from_utf8(bytes).expect("text");
        assert!(text.is_empty() || text.ends_with('\n'), "{name}: the last line is whole");
        for line in text.lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{name}: {error} in {line}"));
        }
    }
}
