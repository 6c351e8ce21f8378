//! What a journal is told, and what comes of it when it fails or a change is recovered.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use super::{Bench, Case, assert_kind, delete, exactly, make_dir, remove_dir, write};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::{FsAction, FsStep};
use crate::model::version::Version;
use crate::workspace::{Displaced, DisplacedSource, FileError, Journal, Recovered};

pub(super) const CASES: &[Case] = &[
    ("a journal is told of a change and given what it displaces", in_order),
    ("steps on one file are told as one", as_one),
    ("a set that changes nothing is not told", nothing),
    ("a change that is refused is not told", refused),
    ("nothing changes where the intent cannot be recorded", no_intent),
    ("all is put back where something cannot be kept", not_kept),
    ("a change that is done stays so when it is recovered", recovers_done),
    ("a change that did not happen stays so when it is recovered", recovers_void),
];

/// What a journal was told, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Intent(Vec<FsStep>),
    Kept(String, Version, Vec<u8>),
}

/// A journal that remembers, and fails when it is told to.
#[derive(Default)]
struct Witness {
    told: Mutex<Vec<Told>>,
    /// The call that fails, counted from nought.
    fails: Option<usize>,
}

impl Witness {
    fn hears(&self, told: Told) -> io::Result<()> {
        let mut all = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(told);
        match self.fails {
            Some(call) if call + 1 == all.len() => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn steps(&self) -> Vec<FsStep> {
        match self.told().first() {
            Some(Told::Intent(steps)) => steps.clone(),
            _ => Vec::new(),
        }
    }

    /// The paths and bytes that were given, sorted.
    fn kept(&self) -> Vec<(String, String)> {
        let kept = |told| match told {
            Told::Kept(path, _, bytes) => Some((path, String::from_utf8_lossy(&bytes).into_owned())),
            Told::Intent(_) => None,
        };
        let mut all: Vec<_> = self.told().into_iter().filter_map(kept).collect();
        all.sort();
        all
    }
}

impl Journal for Witness {
    fn intend(&self, steps: &[FsStep]) -> io::Result<()> {
        self.hears(Told::Intent(steps.to_vec()))
    }

    fn keep(&self, displaced: &Displaced<'_>) -> io::Result<()> {
        let bytes = match displaced.source {
            DisplacedSource::Bytes(bytes) => bytes.to_vec(),
            DisplacedSource::File { folder, name } => {
                let mut bytes = Vec::new();
                folder.open(name)?.read_to_end(&mut bytes)?;
                bytes
            }
        };
        self.hears(Told::Kept(displaced.path.to_string(), displaced.version, bytes))
    }
}

fn set() -> Vec<Change> {
    vec![
        write("top.txt", exactly("top\n"), "TOP\n"),
        write("new.txt", Expect::Absent, "new"),
        delete("src/deep/er.txt", Expect::Any),
        remove_dir("src/deep"),
        write("src/main.rs", Expect::Any, "main"),
    ]
}

fn commit(bench: &Bench<'_>, set: Vec<Change>, witness: &Witness) -> Result<(), FileError> {
    bench.workspace.commit(&ChangeSet::new(set), witness)
}

fn done(bench: &Bench<'_>, set: Vec<Change>) -> Witness {
    let witness = Witness::default();
    let done = commit(bench, set, &witness);
    assert!(done.is_ok(), "{}: {done:?}", bench.name);
    witness
}

/// Each file of `steps`: where, from what, to what.
fn files(steps: &[FsStep]) -> Vec<(&str, Option<&str>, Option<&str>)> {
    let files = steps.iter().filter(|step| matches!(step.action, FsAction::Write | FsAction::Delete));
    files.map(|step| (step.path.as_str(), step.before.as_deref(), step.after.as_deref())).collect()
}

fn in_order(bench: &Bench<'_>) {
    let witness = done(bench, set());
    let told = witness.told();
    assert!(matches!(told[0], Told::Intent(_)), "{}: the intent comes first: {told:?}", bench.name);
    let [top, upper, new, empty, source, main] =
        ["top\n", "TOP\n", "new", "", "fn main() {}\n", "main"].map(|text| Version::of(text.as_bytes()).to_string());
    let want = [
        ("top.txt", Some(top.as_str()), Some(upper.as_str())),
        ("new.txt", None, Some(new.as_str())),
        ("src/deep/er.txt", Some(empty.as_str()), None),
        ("src/main.rs", Some(source.as_str()), Some(main.as_str())),
    ];
    let steps = witness.steps();
    assert_eq!(files(&steps), want, "{}", bench.name);
    assert!(steps.iter().all(|step| step.real == step.path), "{}: no links are here", bench.name);
    let kept = [("src/deep/er.txt", ""), ("src/main.rs", "fn main() {}\n"), ("top.txt", "top\n")];
    assert_eq!(witness.kept(), kept.map(|(path, text)| (path.to_owned(), text.to_owned())), "{}", bench.name);
    for told in told {
        if let Told::Kept(path, version, bytes) = told {
            assert_eq!(version, Version::of(&bytes), "{}: the version of {path}", bench.name);
        }
    }
}

fn as_one(bench: &Bench<'_>) {
    let witness = done(
        bench,
        vec![
            write("top.txt", exactly("top\n"), "one"),
            write("top.txt", exactly("one"), "two"),
            write("new.txt", Expect::Absent, "new"),
            delete("new.txt", Expect::Any),
        ],
    );
    let (before, after) = (Version::of(b"top\n").to_string(), Version::of(b"two").to_string());
    let want = [("top.txt", Some(before.as_str()), Some(after.as_str()))];
    assert_eq!(files(&witness.steps()), want, "{}", bench.name);
    assert_eq!(witness.kept(), [("top.txt".to_owned(), "top\n".to_owned())], "{}", bench.name);
}

fn nothing(bench: &Bench<'_>) {
    let comes_to_nothing = vec![write("new.txt", Expect::Absent, "new"), delete("new.txt", Expect::Any)];
    for set in [Vec::new(), vec![make_dir("src"), make_dir(".")], vec![remove_dir("no")], comes_to_nothing] {
        assert!(done(bench, set).told().is_empty(), "{}", bench.name);
    }
    bench.untouched();
}

fn refused(bench: &Bench<'_>) {
    let witness = Witness::default();
    let mut set = set();
    set.push(write("src-2", exactly("other"), "x"));
    assert_kind(bench.name, "src-2", commit(bench, set, &witness).map_err(|error| error.kind), "Stale");
    assert!(witness.told().is_empty(), "{}", bench.name);
    bench.untouched();
}

fn no_intent(bench: &Bench<'_>) {
    let witness = Witness { fails: Some(0), ..Witness::default() };
    let set = [vec![make_dir("made")], set()].concat();
    assert_kind(bench.name, "top.txt", commit(bench, set, &witness).map_err(|error| error.kind), "NoSpace");
    assert_eq!(witness.told().len(), 1, "{}: nothing more is told", bench.name);
    bench.absent("made");
    bench.untouched();
}

fn not_kept(bench: &Bench<'_>) {
    for call in 1..=3 {
        let witness = Witness { fails: Some(call), ..Witness::default() };
        let set = [vec![make_dir("made"), write("made/x", Expect::Absent, "x")], set()].concat();
        assert_kind(bench.name, "top.txt", commit(bench, set, &witness).map_err(|error| error.kind), "NoSpace");
        assert_eq!(witness.told().len(), call + 1, "{}: nothing more is told", bench.name);
        bench.absent("made");
        bench.untouched();
    }
}

/// Recovers what `witness` was told, twice, since the first may not have got to say so.
fn recover(bench: &Bench<'_>, steps: &[FsStep], want: Recovered) {
    for _ in 0..2 {
        let witness = Witness::default();
        let recovered = bench.workspace.recover(steps, &witness);
        assert!(matches!(recovered, Ok(verdict) if verdict == want), "{}: {recovered:?}", bench.name);
        assert!(witness.told().is_empty(), "{}: nothing is left to keep", bench.name);
    }
}

fn recovers_done(bench: &Bench<'_>) {
    let witness = done(bench, set());
    recover(bench, &witness.steps(), Recovered::Done);
    bench.holds("top.txt", "TOP\n");
    bench.holds("new.txt", "new");
    bench.absent("src/deep");
    let witness = done(bench, vec![make_dir("made"), write("made/x", Expect::Absent, "x")]);
    recover(bench, &witness.steps(), Recovered::Done);
    bench.holds("made/x", "x");
}

fn recovers_void(bench: &Bench<'_>) {
    for call in 0..3 {
        let witness = Witness { fails: Some(call), ..Witness::default() };
        let failed = commit(bench, set(), &witness);
        assert!(failed.is_err(), "{}", bench.name);
        recover(bench, &witness.steps(), Recovered::Void);
        bench.untouched();
    }
}
