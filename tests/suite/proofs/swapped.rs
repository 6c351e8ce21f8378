//! A folder that becomes a link to outside, and a folder again, while calls go through it. A thousand calls by default,
//! twenty thousand with `TOOLGATE_LONG=1`.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::kit::{End, Site, answers, post, rounds};
use crate::suite::cases::kit::files_of;
use crate::suite::support::Temp;

const BURST: usize = 40;

#[test]
fn nothing_outside_is_read_made_or_changed_through_a_folder_that_becomes_a_link() {
    let outside = Temp::with(&[("file", "secret outside\n")]);
    let site = Site::new();
    site.folder.write("dir/file", "inside\n");
    let (dir, link) = (site.folder.path().join("dir"), site.folder.path().join("link"));
    symlink(outside.path(), &link).expect("a link");
    let before = files_of(outside.path());
    let mut server = site.serve();
    let ended = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).expect("an exchange");
            }
        });
        let _end = End(&ended);
        let mut done = 0;
        for burst in 0..rounds(25, 500) {
            for call in 0..BURST {
                let (tool, arguments) = match call % 4 {
                    0 => ("read_file", json!({ "path": "dir/file" })),
                    1 => ("list_dir", json!({ "path": "dir" })),
                    2 => ("patch_file", json!({ "path": "dir/file", "old_str": "side", "new_str": "side" })),
                    _ => ("write_file", json!({ "path": format!("dir/{burst}-{call}"), "content": "new" })),
                };
                post(&mut server, call, tool, arguments);
            }
            for reply in answers(&mut server, BURST).into_values() {
                assert!(!reply.0.to_string().contains("secret"), "{}", reply.0);
                done += usize::from(reply.is_done());
            }
        }
        done
    });
    assert!(done > 0, "some calls find the folder");
    assert_eq!(files_of(outside.path()), before, "outside all is as it was");
    assert!(server.close().success());
}
