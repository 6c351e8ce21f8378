//! Commits that fail, stop or lose what the disk had not yet, at every deed there is, on file systems that can do less.
#![cfg(unix)]

mod crashes;
mod faults;
mod image;
mod losses;
mod others;
mod races;
mod whole;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use super::trial::{self, Ability, Deed, take_away};
use crate::model::change::{Change, ChangeSet, Expect};
use crate::model::event::{FsAction, FsStep};
use crate::model::version::Version;
use crate::workspace::local::Local;
use crate::workspace::local::tests::{Bed, exactly, kind, quick_folder, write, ws};
use crate::workspace::{Displaced, DisplacedSource, Durability, FileError, FileErrorKind, Journal, Workspace};

/// What may be missing, in the combinations that file systems have.
const LACKS: [&[Ability]; 5] = [
    &[],
    &[Ability::Unnamed],
    &[Ability::Exchange],
    &[Ability::Unnamed, Ability::Exchange],
    &[Ability::Unnamed, Ability::Exchange, Ability::Link],
];

/// A workspace in which one set meets every way of writing: made, replaced, through a link, of several names, gone.
fn bed() -> Bed {
    let files = [
        ("plain", "plain"),
        ("sub/script", "script"),
        ("one", "names"),
        ("gone/last", "last"),
        ("kept", "of two"),
        ("top", "top"),
    ];
    let bed = Bed::quick().and(&files);
    fs::set_permissions(bed.at("sub/script"), fs::Permissions::from_mode(0o750)).expect("a mode");
    fs::hard_link(bed.at("one"), bed.at("two")).expect("a name");
    fs::hard_link(bed.at("kept"), bed.at("other")).expect("a name");
    symlink("sub/script", bed.at("link")).expect("a link");
    bed
}

fn set() -> Vec<Change> {
    vec![
        make_dir("made"),
        make_dir("made/deep"),
        write("made/deep/new", Expect::Absent, "new"),
        write("plain", exactly("plain"), "PLAIN"),
        write("two", exactly("names"), "NAMES, and longer"),
        write("link", Expect::Any, "SCRIPT"),
        write("any", Expect::Any, "any"),
        delete("gone/last", exactly("last")),
        Change::RemoveDir { path: ws("gone") },
        Change::RemoveDir { path: ws("sub") },
        delete("other", Expect::Any),
        delete("top", exactly("top")),
    ]
}

/// What `set` displaces.
const DISPLACED: [&str; 6] = ["last", "names", "of two", "plain", "script", "top"];

fn make_dir(path: &str) -> Change {
    Change::MakeDir { path: ws(path) }
}

fn delete(path: &str, expect: Expect) -> Change {
    Change::Delete { path: ws(path), expect }
}

/// Each path with its kind and mode, its number of names, and its bytes or target.
type State = BTreeMap<String, (u32, u64, Vec<u8>)>;

fn state(root: &Path) -> State {
    let mut state = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("a file");
            let mut names = metadata.nlink();
            let bytes = if metadata.is_dir() {
                folders.push(path.clone());
                names = 0;
                Vec::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            } else {
                fs::read(&path).expect("a file")
            };
            let path = path.strip_prefix(root).expect("below").display().to_string();
            state.insert(path, (metadata.mode(), names, bytes));
        }
    }
    state
}

/// What `set` makes of `bed`, with nothing in the way.
fn state_after(bed: &dyn Fn() -> Bed, set: &[Change]) -> State {
    let bed = bed();
    bed.commit(set.to_vec()).expect("a commit");
    state(&bed.at(""))
}

/// A journal that remembers what it was told, and when. Its own deeds can fail as well.
struct Keeper {
    /// What is taken away goes here; else it is copied.
    takes: Option<(tempfile::TempDir, cap_std::fs::Dir)>,
    told: Mutex<Told>,
}

#[derive(Default, Clone, Debug)]
struct Told {
    steps: Option<Vec<FsStep>>,
    /// After how many deeds that was.
    intended: usize,
    /// The bytes of each file, the number of deeds before, and the mode.
    kept: Vec<(Vec<u8>, usize, Option<u32>)>,
}

impl Keeper {
    fn new(takes: bool) -> Self {
        let folder = takes.then(|| {
            let folder = quick_folder();
            let dir = cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority());
            (folder, dir.expect("a folder"))
        });
        Keeper { takes: folder, told: Mutex::default() }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().expect("nobody has panicked")
    }

    /// The bytes that were kept, each once.
    fn kept(&self) -> Vec<String> {
        let texts = self.told().kept.iter().map(|kept| String::from_utf8(kept.0.clone()).expect("text")).collect();
        let texts: std::collections::BTreeSet<String> = texts;
        texts.into_iter().collect()
    }
}

impl Journal for Keeper {
    fn intend(&self, steps: &[FsStep]) -> io::Result<()> {
        trial::step()?;
        let mut told = self.told();
        assert!(told.steps.is_none(), "an intent is told once");
        told.steps = Some(steps.to_vec());
        told.intended = trial::watched().len();
        Ok(())
    }

    fn keep(&self, displaced: &Displaced<'_>) -> io::Result<()> {
        trial::step()?;
        let DisplacedSource::File { folder, name } = displaced.source else { panic!("it is in a file") };
        let mut bytes = Vec::new();
        folder.open(name)?.read_to_end(&mut bytes)?;
        assert_eq!(Version::of(&bytes), displaced.version);
        assert_eq!(folder.symlink_metadata(name)?.permissions(), folder.open(name)?.metadata()?.permissions());
        if let Some((_, taken)) = &self.takes {
            folder.rename(name, taken, self.told().kept.len().to_string())?;
            let gone = || Ok(Deed::Unnamed { folder: super::identity::folder_id(folder)?, name: name.into() });
            trial::note(gone);
        }
        let at = trial::watched().len();
        self.told().kept.push((bytes, at, displaced.mode));
        // Nobody says that a journal which fails has not done anything.
        trial::step()
    }
}

#[test]
fn homes_that_can_do_less_do_the_same() {
    for lack in LACKS {
        take_away(lack);
        let bed = Bed::with(&[("plain", "plain")]);
        for (expect, text) in [(exactly("plain"), "1"), (exactly("1"), "2"), (Expect::Any, "3")] {
            bed.commit(vec![write("plain", expect, text)]).expect("a commit");
            assert_eq!(bed.text("plain"), text);
        }
        assert_eq!(kind(bed.commit(vec![write("plain", exactly("2"), "4")])), "Stale");
        assert_eq!(kind(bed.commit(vec![write("plain", Expect::Absent, "4")])), "Stale");
        assert_eq!(kind(bed.commit(vec![delete("plain", exactly("2"))])), "Stale");
        assert_eq!(bed.text("plain"), "3");
        bed.commit(vec![write("new", Expect::Absent, "new"), delete("plain", exactly("3"))]).expect("a commit");
        assert_eq!(bed.text("new"), "new");
        assert!(!bed.at("plain").exists());
        bed.clean();
    }
    take_away(&[]);
}

#[test]
fn a_journal_is_told_everything_and_gets_all_that_is_displaced() {
    for takes in [false, true] {
        let bed = bed();
        let keeper = Keeper::new(takes);
        bed.local.commit(&ChangeSet::new(set()), &keeper).expect("a commit");
        bed.clean();
        assert_eq!(keeper.kept(), DISPLACED);
        let told = keeper.told();
        let steps = told.steps.as_ref().expect("an intent");
        let told_of: Vec<_> = steps.iter().map(|step| (step.path.as_str(), step.real.as_str())).collect();
        let paths = ["made", "made/deep", "made/deep/new", "plain", "two", "link", "any", "gone/last", "other", "top"];
        let want = paths.map(|path| (path, if path == "link" { "sub/script" } else { path }));
        assert_eq!(told_of[..10], want);
        assert_eq!(told_of[10..], [("gone", "gone"), ("sub", "sub")]);
        let version = |text: &str| Some(Version::of(text.as_bytes()).to_string());
        assert_eq!((&steps[5].before, &steps[5].after), (&version("script"), &version("SCRIPT")));
        assert_eq!((&steps[7].before, &steps[7].after), (&version("last"), &None));
        assert!(steps[2..10].iter().all(|step| step.temp.is_some()), "{steps:?}");
        assert!(told.kept.iter().any(|kept| kept.0 == b"script" && kept.2 == Some(0o750)), "{told:?}");
    }
}
