//! Reading, looking and listing.

use std::io::{Read, Seek, SeekFrom};

use super::{Bench, Case, assert_kind, at};
use crate::workspace::{FileErrorKind, Kind};

pub(super) const CASES: &[Case] = &[
    ("a file is read whole", reads),
    ("a file is read from the middle", seeks),
    ("stat tells kind and size", stats),
    ("the root is a folder", root),
    ("what is missing is not found", missing),
    ("a folder is not a file", folder_as_file),
    ("a file is not a folder", file_as_folder),
    ("a listing is sorted by bytes and counts what it leaves out", lists),
];

fn reads(bench: &Bench<'_>) {
    bench.untouched();
}

fn seeks(bench: &Bench<'_>) {
    let mut file = match bench.workspace.open(&at("src/main.rs")) {
        Ok(file) => file,
        Err(error) => panic!("{}: {error}", bench.name),
    };
    let mut middle = [0; 4];
    let read = file.content.seek(SeekFrom::Start(3)).and_then(|_| file.content.read_exact(&mut middle));
    assert!(read.is_ok(), "{}: {read:?}", bench.name);
    assert_eq!(&middle, b"main", "{}", bench.name);
}

fn stats(bench: &Bench<'_>) {
    for (path, kind, size) in
        [("top.txt", Kind::File, Some(4)), ("src/deep/er.txt", Kind::File, Some(0)), ("src", Kind::Dir, None)]
    {
        match bench.stat(path) {
            Ok(stat) => {
                assert_eq!(stat.kind, kind, "{}: the kind of {path}", bench.name);
                assert!(size.is_none_or(|size| size == stat.size), "{}: {path} has {} bytes", bench.name, stat.size);
            }
            Err(kind) => panic!("{}: {path}: {kind}", bench.name),
        }
    }
}

fn root(bench: &Bench<'_>) {
    assert!(matches!(bench.stat("."), Ok(stat) if stat.kind == Kind::Dir), "{}", bench.name);
    assert_kind(bench.name, ".", bench.read("."), "NotAFile");
}

fn missing(bench: &Bench<'_>) {
    for path in ["no", "src/no", "no/no", "src/deep/no", "sr", "src-"] {
        assert_kind(bench.name, path, bench.stat(path), "NotFound");
        assert_kind(bench.name, path, bench.read(path), "NotFound");
        assert_kind(bench.name, path, bench.workspace.list(&at(path), 9).map_err(|error| error.kind), "NotFound");
    }
}

fn folder_as_file(bench: &Bench<'_>) {
    for path in ["src", "src/deep"] {
        assert_kind(bench.name, path, bench.read(path), "NotAFile");
    }
}

fn file_as_folder(bench: &Bench<'_>) {
    for path in ["top.txt/x", "src/main.rs/x/y"] {
        assert_kind(bench.name, path, bench.stat(path), "NotADirectory");
        assert_kind(bench.name, path, bench.read(path), "NotADirectory");
    }
    for path in ["top.txt", "top.txt/x"] {
        let listed = bench.workspace.list(&at(path), 9).map_err(|error| error.kind);
        assert_kind(bench.name, path, listed, "NotADirectory");
    }
}

fn lists(bench: &Bench<'_>) {
    let listing = match bench.workspace.list(&at("."), 2) {
        Ok(listing) => listing,
        Err(error) => panic!("{}: {error}", bench.name),
    };
    let told: Vec<_> = listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind, entry.size)).collect();
    assert_eq!(told, [("src", Some(Kind::Dir), None), ("src-2", Some(Kind::File), Some(1))], "{}", bench.name);
    assert_eq!(listing.total, 3, "{}: how many there are", bench.name);
    assert!(listing.entries.iter().all(|entry| entry.addressable && entry.target.is_none()), "{}", bench.name);
    let none = bench.workspace.list(&at("."), 0).map(|listing| (listing.entries.len(), listing.total));
    assert!(matches!(none, Ok((0, 3))), "{}: a listing of nothing counts", bench.name);
    let error: Option<FileErrorKind> = bench.workspace.list(&at("src/deep"), 9).err().map(|error| error.kind);
    assert!(error.is_none(), "{}: {error:?}", bench.name);
}
