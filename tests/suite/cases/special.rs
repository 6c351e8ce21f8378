//! Devices, pipes, sockets and files whose size is a lie.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::kit::Desk;
use crate::suite::support::Temp;

#[test]
fn no_device_is_read() {
    let folder = Temp::with(&[("other", "")]);
    for device in ["zero", "urandom", "tty", "stdin", "fd/0"] {
        symlink(format!("/dev/{device}"), folder.path().join(device.replace('/', "_"))).expect("a link");
    }
    let mut desk = Desk::serving(folder);
    for path in ["zero", "urandom", "tty", "stdin", "fd_0"] {
        for reply in [desk.read(path), desk.patch(path, "a", "b"), desk.write(path, "x")] {
            assert_eq!(reply.0["isError"], true, "B073: {path}: {reply:?}");
        }
    }
    assert!(!desk.read("/dev/zero").error("outside_workspace").contains('\0'), "B073");
}

#[test]
fn a_pipe_or_socket_is_no_file_and_nobody_waits_for_it() {
    let folder = Temp::new();
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let _listener = UnixListener::bind(folder.path().join("sock")).expect("a socket");
    let mut desk = Desk::serving(folder);
    for path in ["pipe", "sock"] {
        desk.read(path).error("not_a_file");
        desk.write(path, "x").error("not_a_file");
        desk.patch(path, "x", "y").error("not_a_file");
    }
    assert_eq!(desk.list(".").ok(), "other - pipe\nother - sock\n", "B073");
}

/// A file of `/proc` says that it is empty. It can only lie in the folder where the folder is `/proc`'s.
#[cfg(target_os = "linux")]
#[test]
fn the_size_that_a_file_tells_is_not_believed() {
    let proc_files = fs::canonicalize("/proc/self").expect("/proc");
    let mut server = crate::suite::support::Server::start(&proc_files);
    let reply = server.call("read_file", serde_json::json!({ "path": "status" }));
    let text = reply["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("1: Name:"), "B073: {text}");
}
