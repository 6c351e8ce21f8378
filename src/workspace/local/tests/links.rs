//! Links and files of several names.
#![cfg(unix)]

use std::os::unix::fs::{MetadataExt, symlink};

use super::*;

/// That `link` is still a link to `target`.
#[track_caller]
fn leads(bed: &Bed, link: &str, target: &str) {
    assert_eq!(fs::read_link(bed.at(link)).expect("a link"), Path::new(target));
}

#[test]
fn a_link_is_written_through_and_stays() {
    let bed = Bed::with(&[("real/sub/f", "old"), ("AGENTS.md", "old\n")]);
    symlink("AGENTS.md", bed.at("CLAUDE.md")).expect("a link");
    symlink("real", bed.at("link")).expect("a link");
    symlink("../f", bed.at("real/sub/up")).expect("a link");
    symlink("sub/f", bed.at("real/f")).expect("a link");
    bed.commit(vec![write("CLAUDE.md", exactly("old\n"), "new\n")]).expect("a commit");
    leads(&bed, "CLAUDE.md", "AGENTS.md");
    assert_eq!(bed.text("AGENTS.md"), "new\n");
    // Over a linked folder, a way up behind it, and two links in a row.
    bed.commit(vec![write("link/sub/up", exactly("old"), "new")]).expect("a commit");
    leads(&bed, "real/sub/up", "../f");
    leads(&bed, "real/f", "sub/f");
    assert_eq!(bed.text("real/sub/f"), "new");
    assert_eq!(bed.read("link/sub/up").expect("a file"), "new");
    bed.clean();
}

#[test]
fn a_dangling_link_inside_is_filled() {
    let bed = Bed::with(&[("sub/x", "")]);
    symlink("sub/new", bed.at("in")).expect("a link");
    symlink("no/new", bed.at("nowhere")).expect("a link");
    symlink("sub/", bed.at("folder")).expect("a link");
    symlink("sub/made/", bed.at("no-folder")).expect("a link");
    bed.commit(vec![write("in", Expect::Absent, "x")]).expect("a commit");
    leads(&bed, "in", "sub/new");
    assert_eq!(bed.text("sub/new"), "x");
    let error = bed.commit(vec![write("nowhere", Expect::Any, "x")]).expect_err("no folder");
    assert_eq!((error.path.clone(), kind::<()>(Err(error)).as_str()), (ws("no"), "NotFound"));
    for path in ["folder", "no-folder"] {
        assert_eq!(kind(bed.commit(vec![write(path, Expect::Any, "x")])), "NotAFile");
    }
    bed.clean();
}

#[test]
fn no_link_leads_outside() {
    let bed = Bed::with(&[("a", "a")]);
    let outside = bed.outside();
    symlink(&outside, bed.at("dir")).expect("a link");
    symlink("../out", bed.at("up")).expect("a link");
    symlink(outside.join("secret"), bed.at("file")).expect("a link");
    symlink(outside.join("new"), bed.at("dangling")).expect("a link");
    symlink("../out/new", bed.at("dangling-up")).expect("a link");
    symlink("/", bed.at("top")).expect("a link");
    symlink("dangling", bed.at("twice")).expect("a link");
    symlink(bed.at("a"), bed.at("absolute")).expect("a link");
    let refused = ["dir/secret", "dir/new", "up/secret", "up/new", "file", "dangling", "dangling-up", "twice"];
    for path in refused.into_iter().chain(["absolute", "top/etc/passwd"]) {
        assert_eq!(kind(bed.commit(vec![write(path, Expect::Any, "x")])), "Outside", "{path}");
        assert_eq!(kind(bed.local.open(&ws(path))), "Outside", "{path}");
        assert_eq!(kind(bed.local.stat(&ws(path))), "Outside", "{path}");
    }
    for path in ["dir", "up", "top"] {
        assert_eq!(kind(bed.local.list(&ws(path), 9)), "Outside", "{path}");
        assert_eq!(kind(bed.commit(vec![Change::MakeDir { path: ws(path) }])), "AlreadyExists", "{path}");
        assert_eq!(kind(bed.commit(vec![Change::MakeDir { path: ws(path).join("new") }])), "Outside", "{path}");
    }
    assert_eq!(bed.text("a"), "a");
    bed.clean();
}

#[test]
fn links_in_a_circle_end() {
    let bed = Bed::new();
    symlink("b", bed.at("a")).expect("a link");
    symlink("a", bed.at("b")).expect("a link");
    symlink("self/x", bed.at("self")).expect("a link");
    for path in ["a", "self", "a/x"] {
        assert_eq!(kind(bed.commit(vec![write(path, Expect::Any, "x")])), "LinkLoop", "{path}");
        assert_eq!(kind(bed.local.open(&ws(path))), "LinkLoop", "{path}");
    }
    leads(&bed, "a", "b");
    leads(&bed, "b", "a");
    bed.clean();
}

#[test]
fn a_file_of_several_names_keeps_them() {
    let bed = Bed::with(&[("one", "old")]);
    fs::hard_link(bed.at("one"), bed.at("two")).expect("a name");
    let inode = fs::metadata(bed.at("one")).expect("a file").ino();
    for durability in [Durability::Process, Durability::Full] {
        let local = Local::open(bed.at("")).expect("a workspace").with_durability(durability);
        for (before, after) in [("old", "longer than before"), ("longer than before", "old")] {
            let set = ChangeSet::new(vec![write("two", exactly(before), after)]);
            local.commit(&set, &NoJournal).expect("a commit");
            assert_eq!((bed.text("one"), bed.text("two")), (after.to_owned(), after.to_owned()));
        }
    }
    let metadata = fs::metadata(bed.at("two")).expect("a file");
    assert_eq!((metadata.ino(), metadata.nlink()), (inode, 2));
    assert_eq!(kind(bed.commit(vec![write("one", exactly("other"), "x")])), "Stale");
    bed.clean();
}

#[test]
fn two_ways_to_one_file_are_one_file() {
    let bed = Bed::with(&[("a", "1")]);
    symlink("a", bed.at("b")).expect("a link");
    bed.commit(vec![write("a", exactly("1"), "2"), write("b", exactly("2"), "3")]).expect("a commit");
    assert_eq!(bed.text("a"), "3");
    assert_eq!(kind(bed.commit(vec![write("a", exactly("3"), "4"), write("b", exactly("3"), "5")])), "Stale");
    assert_eq!(bed.text("a"), "3");
    bed.clean();
}
