//! Listing what a disk can hold.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::Instant;

use super::*;
use crate::workspace::Kind;

#[test]
fn odd_names_are_shown_and_hide_nothing() {
    let bed = Bed::with(&[("ok.txt", "y")]);
    fs::write(bed.at("").join(OsStr::from_bytes(b"bad-\xff\xc3.txt")), "x").expect("a file");
    fs::write(bed.at("caf\u{e9}"), "1").expect("a file");
    fs::write(bed.at("cafe\u{301}"), "22").expect("a file");
    let listing = bed.local.list(&WsPath::root(), 10).expect("a listing");
    let told: Vec<_> = listing.entries.iter().map(|e| (e.name.as_str(), e.addressable, e.size)).collect();
    assert_eq!(
        told,
        [
            ("bad-\\xff\\xc3.txt", false, Some(1)),
            ("cafe\u{301}", true, Some(2)),
            ("caf\u{e9}", true, Some(1)),
            ("ok.txt", true, Some(1)),
        ]
    );
}

#[test]
fn links_are_told_and_what_they_lead_to() {
    let bed = Bed::with(&[("d/f", "x")]);
    for (name, target) in [("file", "d/f"), ("folder", "d"), ("gone", "no"), ("out", "../out"), ("self", "self")] {
        symlink(target, bed.at(name)).expect("a link");
    }
    symlink("../d/f", bed.at("d/round")).expect("a link");
    let listing = bed.local.list(&WsPath::root(), 10).expect("a listing");
    let told: Vec<_> =
        listing.entries.iter().map(|e| (e.name.as_str(), e.kind, e.target.as_deref(), e.leads_to)).collect();
    let link = Some(Kind::Link);
    assert_eq!(
        told,
        [
            ("d", Some(Kind::Dir), None, None),
            ("file", link, Some("d/f"), Some(Kind::File)),
            ("folder", link, Some("d"), Some(Kind::Dir)),
            ("gone", link, Some("no"), None),
            ("out", link, Some("../out"), None),
            ("self", link, Some("self"), None),
        ]
    );
    let below = bed.local.list(&ws("folder"), 10).expect("a listing");
    assert_eq!(below.entries[1].leads_to, Some(Kind::File));
}

#[test]
fn ten_thousand_entries_are_quick() {
    let bed = Bed::new();
    for n in 0..10_000 {
        fs::write(bed.at(&format!("f{n}")), "").expect("a file");
    }
    let started = Instant::now();
    let listing = bed.local.list(&WsPath::root(), 10_000).expect("a listing");
    let all = started.elapsed();
    assert_eq!((listing.entries.len(), listing.total), (10_000, 10_000));
    let started = Instant::now();
    assert_eq!(bed.local.list(&WsPath::root(), 10).expect("a listing").total, 10_000);
    println!("all: {all:?}, ten: {:?}", started.elapsed());
    assert!(all.as_secs() < 2, "{all:?}");
}
