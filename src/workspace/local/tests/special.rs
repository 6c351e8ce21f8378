//! What is no file but looks like one.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::Instant;

use rustix::fs::{CWD, Mode};

use super::*;

#[test]
#[cfg(target_os = "linux")]
fn a_fifo_or_socket_is_refused_at_once() {
    let bed = Bed::new();
    rustix::fs::mknodat(CWD, bed.at("fifo"), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o666), 0)
        .expect("a FIFO");
    let _socket = UnixListener::bind(bed.at("socket")).expect("a socket");
    symlink("fifo", bed.at("link")).expect("a link");
    let started = Instant::now();
    for path in ["fifo", "socket", "link"] {
        assert_eq!(kind(bed.local.open(&ws(path))), "NotAFile", "{path}");
        for expect in [Expect::Any, Expect::Absent, exactly("")] {
            assert_eq!(kind(bed.commit(vec![write(path, expect, "x")])), "NotAFile", "{path}");
        }
        assert_eq!(bed.local.stat(&ws(path)).expect("a stat").kind, crate::workspace::Kind::Other);
    }
    assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
    bed.clean();
}

#[test]
#[cfg(target_os = "linux")]
fn a_device_is_refused_at_once() {
    let bed = Bed::new();
    symlink("/dev/zero", bed.at("zero")).expect("a link");
    assert_eq!(kind(bed.local.open(&ws("zero"))), "Outside");
    assert_eq!(kind(bed.commit(vec![write("zero", Expect::Any, "x")])), "Outside");
    let device = rustix::fs::makedev(1, 5);
    let made = rustix::fs::mknodat(
        CWD,
        bed.at("device"),
        rustix::fs::FileType::CharacterDevice,
        Mode::from_raw_mode(0o666),
        device,
    );
    if made.is_ok() {
        // Where devices may be made but not opened, the system says no first.
        assert!(["NotAFile", "PermissionDenied"].contains(&kind(bed.local.open(&ws("device"))).as_str()));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_tells_no_length_has_content() {
    let local = Local::open("/proc/self").expect("a workspace");
    let mut file = local.open(&ws("status")).expect("a file");
    assert_eq!(file.stat.size, 0);
    let mut text = String::new();
    file.content.read_to_string(&mut text).expect("content");
    assert!(text.contains("Pid:"));
    // A link that the system makes up on the spot is followed nowhere.
    assert_eq!(kind(local.open(&ws("exe"))), "LinkLoop");
    assert_eq!(kind(local.list(&ws("root"), 9)), "LinkLoop");
}

#[test]
fn names_that_do_not_fit_are_bad_names() {
    let bed = Bed::new();
    let long = "x".repeat(300);
    assert_eq!(kind(bed.commit(vec![write(&long, Expect::Absent, "x")])), "BadName");
    assert_eq!(kind(bed.commit(vec![Change::MakeDir { path: ws(&long) }])), "BadName");
    assert_eq!(kind(bed.local.open(&ws(&long))), "BadName");
    bed.commit(vec![write("a\nb.txt", Expect::Absent, "x")]).expect("a commit");
    assert_eq!(bed.text("a\nb.txt"), "x");
    bed.clean();
}
