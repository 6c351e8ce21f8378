//! Listing shows all there is, and roots are the same folder however they are spelled.

use serde_json::json;

use super::kit::{Desk, says};
use crate::suite::support::{Server, Temp};

#[test]
fn a_folder_is_listed_whole_and_in_order() {
    let mut desk = Desk::serving(Temp::with(&[("b", "12"), (".hidden", ""), ("a/x", "1"), (".gitignore", "b\n")]));
    assert_eq!(
        desk.list(".").ok(),
        "file 2 .gitignore\nfile 0 .hidden\ndir - a/\nfile 2 b\n",
        "B022: one line an entry"
    );
    assert_eq!(desk.call("list_dir", json!({})).ok(), desk.list(".").ok(), "B022");
    says(&desk.call("list_dir", json!({ "depth": 2 })).ok(), &["file 1 a/x\n"]);
    desk.list("b").error("not_a_directory");
    desk.list("none").error("file_not_found");
}

#[test]
fn a_cut_listing_says_how_much_is_missing() {
    let folder = Temp::new();
    for n in 0..10_050 {
        folder.write(&format!("{n:05}"), "");
    }
    let mut desk = Desk::serving(folder);
    let reply = desk.list(".");
    assert_eq!(reply.texts()[0].lines().count(), 10_000, "B056");
    says(reply.texts()[1], &["50 more"]);
}

#[test]
fn an_empty_folder_is_told_in_words() {
    let mut desk = Desk::serving(Temp::new());
    says(&desk.list(".").ok(), &["empty"]);
}

#[cfg(unix)]
#[test]
fn a_root_that_is_a_link_is_the_folder_it_leads_to() {
    let folder = Temp::with(&[("real/a", "1\n")]);
    let (real, link) = (folder.path().join("real"), folder.path().join("rootlink"));
    std::os::unix::fs::symlink(&real, &link).expect("a link");
    let mut server = Server::start(&link);
    for path in [link.join("a"), real.join("a"), "a".into()] {
        let reply = server.call("read_file", json!({ "path": path.to_str().expect("a path") }));
        assert_eq!(reply["content"][0]["text"], "1: 1\n", "B077: {path:?}");
    }
    for path in [format!("{}2/a", link.display()), format!("{}/../real2", link.display())] {
        let reply = server.call("read_file", json!({ "path": path }));
        assert_eq!(reply["structuredContent"]["error"], "outside_workspace", "B077: {path:?}");
    }
}

#[test]
fn absolute_paths_of_the_root_itself_are_inside() {
    let mut desk = Desk::with("d/a", "1\n");
    let root = desk.folder.path().to_str().expect("a path").to_owned();
    let resolved = desk.folder.path().canonicalize().expect("a path");
    let (above, name) = (resolved.parent().expect("a folder").display(), resolved.file_name().expect("a name"));
    let name = name.to_str().expect("text");
    for path in [
        format!("{root}/d/a"),
        format!("{root}//d/./a"),
        format!("{root}/d/../d/a"),
        format!("{above}/.//{name}/d/a"),
        format!("{above}/{name}/../{name}/d/a"),
        format!("{above}/{name}/d/../../{name}/d/a"),
    ] {
        assert_eq!(desk.read(&path).ok(), "1: 1\n", "B077: {path}");
    }
    for path in [root.clone(), format!("{root}/"), format!("{root}/d/..")] {
        assert_eq!(desk.list(&path).ok(), "dir - d/\n", "B077: {path}");
    }
    for path in [format!("{root}/../x"), format!("{above}/x/../{name}/d/a"), format!("../{name}/d/a")] {
        says(desk.read(&path).error("outside_workspace"), &[&path, "relative to the workspace's folder"]);
    }
}
