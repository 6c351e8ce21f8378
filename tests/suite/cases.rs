//! Faults that people met with tools like these, each as a test of its kind, with its siblings.
//!
//! Each fault has an id, which the messages of its tests begin with. What is covered, by theme:
//!
//! | theme | ids | files |
//! | --- | --- | --- |
//! | line endings | B001 B003 B004 B006 | `line_endings` |
//! | byte order marks and encodings | B008 B009 B011 B012 B014 | `encodings`, `framing` |
//! | text is not normalised | B016 B017 B019 | `matching` |
//! | file names | B021 B022 B023 B098 | `names`, `listing` |
//! | new text is no template | B024 B025 | `matching` |
//! | ambiguous, missing, empty and void matches | B028 B029 B031 B034 B045 B046 | `matching` |
//! | several patches at once | B031 B032 B033 | `edits` |
//! | nothing is matched approximately | B036 B037 | `matching` |
//! | blanks and final line ends | B040 B041 B043 B044 | `whitespace` |
//! | what a line is | B048 B050 B051 | `lines` |
//! | what is shown does not get into files | B052 B054 | `lines` |
//! | long files and lines | B055 B056 B059 B128 | `limits` |
//! | binary files | B061 B063 | `binary` |
//! | finding and searching | B048 B050 B057 B059 B076 B078 B080 B082 B083 B085 B128 B132 B149 | `searching` |
//! | mode, owner, attributes | B065 B066 B067 | `metadata` |
//! | links and special files | B068 B069 B070 B073 B075 B076 B077 | `links`, `special`, `listing` |
//! | containment | B085 B088 B089 B092 B094 B095 | `containment`, `names`, `arguments` |
//! | schemas of tools | B122 B123 B124 | `schemas` |
//! | arguments | B125 B126 B127 B131 | `arguments` |
//! | JSON text | B132 B133 B135 | `json_text`, `limits` |
//! | framing | B136 B137 B138 B139 B143 | `framing` |
//! | the end of a session | B145 B146 | `end_of_life` |
//! | taking back, ids, versions | B148 B149 B150 B153 | `cancel` |
//!
//! What rules, hooks, people, the read gate and undoing are about is in `gate`, with a table of its own; B031, B054 and
//! B092 have a part in both.
//!
//! Covered in part, for want of what the rest needs: B052 (from a program in code mode; here from structured output),
//! B095 (only on Windows), B136 (what hooks and programs print), B150 (the record of changes).
//!
//! Left out:
//!
//! | id | fault | reason |
//! | --- | --- | --- |
//! | B097 | a protected file under another case | needs a file system that folds case |
//! | B154 | equal ids of two clients | needs HTTP; on stdio each process has one client |

mod arguments;
mod binary;
mod cancel;
mod containment;
mod edits;
mod encodings;
mod end_of_life;
mod framing;
mod info;
mod json_text;
pub mod kit;
mod limits;
mod line_endings;
mod lines;
mod links;
mod listing;
mod matching;
mod metadata;
mod names;
mod schemas;
mod searching;
mod special;
mod whitespace;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The ids in a text.
fn ids(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.len() == 4 && word.starts_with('B') && word[1..].bytes().all(|b| b.is_ascii_digit()))
        .collect()
}

#[test]
fn the_tables_list_exactly_what_is_tested() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    for theme in ["cases", "gate"] {
        let table = fs::read_to_string(suite.join(format!("{theme}.rs"))).expect("a file");
        let covered = table.split_once("| --- |").and_then(|(_, table)| table.split("\n//!\n").next());
        let covered = covered.and_then(|table| table.split("\n\n").next()).expect("a table");
        let mut tests = String::new();
        for entry in fs::read_dir(suite.join(theme)).expect("the tests") {
            tests += &fs::read_to_string(entry.expect("an entry").path()).expect("a file");
        }
        assert_eq!(ids(covered), ids(&tests), "{theme}");
    }
}
