//! `kill -9` at each step of an undo that is done one part after the other. Some programs by default, all with `TOOLGATE_LONG=1`.

use serde_json::json;

use super::kit::rounds;
use crate::suite::cases::kit::{Desk, frame};
use crate::suite::code::kit::SMALL;
use crate::suite::code::undoing::{FOREST, TANGLED};
use crate::suite::gate::kit::Home;
use crate::suite::support::{Server, Temp};

/// Two that show most of what can happen: a folder that moved and was edited before and after, and one that was edited and went.
const TELLING: [usize; 2] = [3, 4];

/// The list of changes says what is about to be done, and what is done; a kill comes after each of its lines. The next start finds
/// all of the undo, or takes back what there is of it; killed as well while it does that, the one after it does.
#[test]
fn a_kill_at_any_step_leaves_all_of_a_tangled_undo_or_none() {
    let mut in_the_middle = 0;
    let (mut whole, mut none) = (0, 0);
    let programs = TANGLED.iter().enumerate().filter(|(at, _)| rounds(0, 1) == 1 || TELLING.contains(at));
    for (_, (what, code)) in programs {
        // Most of what is awaited is a change, and each tells of itself twice.
        let most = 2 * code.matches("await").count();
        for (lines, again) in (0..=most).map(|lines| (lines, lines % 3)) {
            let case = format!("{what}, killed after {lines} lines and {again} more");
            let home = Home::configured(SMALL);
            let mut desk = home.desk(Temp::with(FOREST));
            let before = desk.files();
            let run = desk.run(code).fact("run").clone();
            let after = desk.files();
            // No program runs from now on.
            home.configure("");
            let written = written(&home);
            desk.server.send(&frame(json!("undo"), "undo_change", json!({ "change": run })));
            kill_after(&home, &mut desk.server, written + lines);
            in_the_middle += usize::from(desk.files() != before && desk.files() != after);
            if again > 0 {
                let written = self::written(&home);
                let mut server = home.serve(&desk.folder, &[]);
                server.send(&frame(json!("list"), "list_dir", json!({})));
                kill_after(&home, &mut server, written + again);
            }
            let Desk { folder, .. } = desk;
            let mut desk = home.desk(folder);
            desk.list(".").ok();
            let files = desk.files();
            assert!(files == before || files == after, "{case}: {files:?}");
            let undone = desk.call("undo_change", json!({ "change": run }));
            assert_eq!(undone.is_done(), files == after, "{case}: {undone:?}");
            assert_eq!(desk.files(), before, "{case}");
            *(if files == before { &mut whole } else { &mut none }) += 1;
        }
    }
    assert!(in_the_middle > 0 && whole > 0 && none > 0, "{in_the_middle} in the middle, {whole} whole, {none} none");
}

/// How many lines the list of changes has.
fn written(home: &Home) -> usize {
    let list = std::fs::read(home.state().join("changes.jsonl")).expect("a list");
    list.iter().filter(|byte| **byte == b'\n').count()
}

/// Kills `server` when the list has so many lines, or it has answered without that many.
fn kill_after(home: &Home, server: &mut Server, lines: usize) {
    while written(home) < lines && !server.has_answered() {
        std::thread::yield_now();
    }
    server.kill();
}
