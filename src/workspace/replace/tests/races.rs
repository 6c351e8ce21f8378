//! Other programs at a file between its check and its swap, and between its swap and a way back.
#![cfg(target_os = "linux")]

use super::super::beside::Names;
use super::super::place::Place;
use super::super::stage::{Staged, Terms, stage};
use super::super::temp::Naming;
use super::*;
use crate::model::path::WsPath;
use crate::workspace::local::Below;

/// A file made ready for `place`, where nothing stands in the way.
fn staged(place: &Place, text: &'static str) -> Staged {
    let names = Names::draw();
    let terms = Terms { names: &names, naming: Naming::Now, durable: false, in_place: false };
    let staged = stage(place, Expect::Any, Some(&text.into()), &terms).expect("a file that is ready");
    staged.1.expect("names may appear")
}

/// Where `path` is, below an open folder.
fn below<'a>(dir: &'a cap_std::fs::Dir, path: &'a WsPath) -> Below<'a> {
    static ROOT: WsPath = WsPath::root();
    Below { dir, at: &ROOT, path: std::borrow::Cow::Borrowed(path) }
}

/// Nothing can be checked beforehand of bytes that another program writes between the check and the swap.
#[test]
fn what_was_written_after_the_check_comes_back() {
    let bed = Bed::with(&[("a", "seen")]);
    let root = cap_std::fs::Dir::open_ambient_dir(bed.at(""), cap_std::ambient_authority()).expect("a folder");
    let place = Place::of_file_below(&below(&root, &ws("a")), &ws("a")).expect("a place");
    for expect in [exactly("seen"), exactly("theirs")] {
        fs::write(bed.at("a"), "seen").expect("a file");
        let mut staged = staged(&place, "mine");
        fs::write(bed.at("save"), "theirs").expect("a file");
        fs::rename(bed.at("save"), bed.at("a")).expect("a save");
        // Without the glance, so that only the displaced file can tell.
        let done = staged.perform(&place, expect, false);
        let stale = expect == exactly("seen");
        assert_eq!(done.is_err(), stale, "{done:?}");
        assert_eq!(bed.text("a"), if stale { "theirs" } else { "mine" });
        drop(staged);
        bed.clean();
    }
}

/// What is written to the new bytes before they are taken back is the newest there is.
#[test]
fn what_was_written_before_a_way_back_stays() {
    let bed = Bed::with(&[("a", "old")]);
    let root = cap_std::fs::Dir::open_ambient_dir(bed.at(""), cap_std::ambient_authority()).expect("a folder");
    let place = Place::of_file_below(&below(&root, &ws("a")), &ws("a")).expect("a place");
    for in_place in [true, false] {
        fs::write(bed.at("a"), "old").expect("a file");
        let mut staged = staged(&place, "mine");
        staged.perform(&place, exactly("old"), true).expect("a swap");
        if in_place {
            fs::write(bed.at("a"), "theirs").expect("a file");
        } else {
            fs::write(bed.at("save"), "theirs").expect("a file");
            fs::rename(bed.at("save"), bed.at("a")).expect("a save");
        }
        staged.undo(&place).expect("a way back");
        drop(staged);
        assert_eq!(bed.text("a"), "theirs", "{in_place}");
        bed.clean();
    }
}
