//! `kill -9` at any moment. Some rounds by default, 200 with `TOOLGATE_LONG=1`.

use std::collections::BTreeMap;

use serde_json::json;

use super::kit::{Site, answer, answers, post, rounds};
use crate::suite::cases::kit::Reply;
use crate::suite::support::Server;

const FILES: usize = 4;
const CALLS: usize = 48;

/// A file of which every version is known beforehand.
struct Story {
    path: String,
    head: String,
    body: String,
    /// From the one before the first call on.
    versions: Vec<String>,
    /// Which calls make the later ones.
    calls: Vec<usize>,
}

impl Story {
    fn begin(path: String) -> Self {
        let mut story =
            Story { path, head: "none".into(), body: "none".into(), versions: Vec::new(), calls: Vec::new() };
        story.versions.push(story.text());
        story
    }

    fn text(&self) -> String {
        format!("head {}.\n{}", self.head, format!("a line of {}\n", self.body).repeat(300))
    }

    /// Sends the next change: a patch of the head, or all of it anew.
    fn go_on(&mut self, server: &mut Server, call: usize) {
        let old = format!("head {}.", self.head);
        self.head = call.to_string();
        let patches = (call / FILES) % 3 != 1;
        if !patches {
            self.body = call.to_string();
        }
        let text = self.text();
        if patches {
            let new = format!("head {}.", self.head);
            post(server, call, "patch_file", json!({ "path": self.path, "old_str": old, "new_str": new }));
        } else {
            post(server, call, "write_file", json!({ "path": self.path, "content": text }));
        }
        self.versions.push(text);
        self.calls.push(call);
    }
}

#[test]
fn what_was_told_as_done_outlives_a_kill_and_can_be_undone() {
    let site = Site::new();
    for round in 0..rounds(12, 200) {
        let mut stories: Vec<_> = (0..FILES).map(|file| Story::begin(format!("{round}-{file}"))).collect();
        let told = until_killed(&site, &mut stories, round);
        let mut server = site.serve();
        Reply(server.call("list_dir", json!({ "path": "." }))).ok();
        site.is_clean();
        assert_eq!(site.history().open(), [""; 0], "round {round}: the end of every change is known");
        for story in &stories {
            check(&site, &mut server, story, &told);
        }
        assert!(server.close().success());
        site.is_clean();
    }
}

/// Serves many changes at once and is killed after some answers. Returns those, and what else had been answered.
fn until_killed(site: &Site, stories: &mut [Story], round: usize) -> BTreeMap<usize, Reply> {
    for story in &*stories {
        site.folder.write(&story.path, &story.versions[0]);
    }
    let mut server = site.serve();
    for story in &*stories {
        // What was not read is not replaced.
        Reply(server.call("read_file", json!({ "path": story.path }))).ok();
    }
    for call in 0..CALLS {
        stories[call % FILES].go_on(&mut server, call);
    }
    // Every count comes up, early ones and late ones in turn.
    let moment = round * 29 % CALLS;
    let mut told = answers(&mut server, moment);
    told.extend(server.killed().into_iter().filter_map(answer));
    told
}

/// Holds what is left of a file against its story and what was told of it.
#[track_caller]
fn check(site: &Site, server: &mut Server, story: &Story, told: &BTreeMap<usize, Reply>) {
    let Story { path, versions, calls, .. } = story;
    let text = site.folder.text(path);
    let reached = versions.iter().position(|version| *version == text);
    let reached = reached.unwrap_or_else(|| panic!("{path} is none of its versions: {text:.40}"));
    let history = site.history();
    let done = history.done_to(path);
    assert_eq!(done.len(), reached, "{path}: what is recorded is what is there");
    assert!(reached == 0 || history.ends(path) == 1, "{path}: each change rests on the one before");

    let told: Vec<_> = calls.iter().filter_map(|call| told.get(call)).collect();
    for (reply, recorded) in told.iter().zip(&done) {
        reply.ok();
        assert_eq!(reply.change(), *recorded, "{path}");
    }
    assert!(told.len() <= reached, "{path}: {} changes were told as done, {reached} are there", told.len());

    // Later changes stand on the last one that was told, so they go first.
    let last_told = told.len().saturating_sub(1);
    for (index, change) in done.iter().enumerate().skip(last_told).rev() {
        Reply(server.call("undo_change", json!({ "change": change }))).ok();
        assert_eq!(site.folder.text(path), versions[index], "{path}: {change} is undone");
    }
}

/// Each call patches all files, so they always say the same.
#[test]
fn a_kill_leaves_all_files_of_a_call_as_they_were_or_none() {
    let site = Site::new();
    for round in 0..rounds(8, 200) {
        let paths: Vec<_> = (0..FILES).map(|file| format!("{round}/{file}")).collect();
        for path in &paths {
            site.folder.write(path, format!("step 0.\n{}", "filling\n".repeat(300)));
        }
        let mut server = site.serve();
        for call in 0..CALLS {
            let (old, new) = (format!("step {call}."), format!("step {}.", call + 1));
            let patches: Vec<_> =
                paths.iter().map(|path| json!({ "path": path, "old_str": old, "new_str": new })).collect();
            post(&mut server, call, "patch_files", json!({ "patches": patches }));
        }
        let mut told = answers(&mut server, round * 29 % CALLS);
        told.extend(server.killed().into_iter().filter_map(answer));
        told.values().for_each(|reply| drop(reply.ok()));

        let mut server = site.serve();
        Reply(server.call("list_dir", json!({ "path": "." }))).ok();
        site.is_clean();
        let history = site.history();
        assert_eq!(history.open(), [""; 0], "round {round}");
        let reached: Vec<usize> = paths.iter().map(|path| history.done_to(path).len()).collect();
        let texts: Vec<_> = paths.iter().map(|path| site.folder.text(path)).collect();
        assert!(texts.iter().all(|text| *text == texts[0]), "round {round}: all or none: {reached:?}");
        assert!(texts[0].starts_with(&format!("step {}.\n", reached[0])), "round {round}: {reached:?}");
        assert!(told.len() <= reached[0], "round {round}: what was told as done is there");
        if let Some(last) = history.done_to(&paths[0]).last() {
            Reply(server.call("undo_change", json!({ "change": last }))).ok();
            for path in &paths {
                assert!(site.folder.text(path).starts_with(&format!("step {}.\n", reached[0] - 1)), "undone as one");
            }
        }
    }
}
