//! What moves, goes and comes back whole: any deed fails, the process ends after any, the power goes after any.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::super::disk;
use super::super::identity::folder_id;
use super::super::trial::{fail_with, stop_at, watch, watch_no_more};
use super::image::{Image, after_loss};
use super::*;
use crate::model::id::KeptId;
use crate::workspace::{Depth, Node, Recovered, nodes};

/// A journal that keeps what it is given in the folder `kept` beside the workspace.
struct Shelf {
    dir: Dir,
    /// As where the ledger lies on another file system.
    copies: bool,
    told: Mutex<(Option<Vec<FsStep>>, usize)>,
}

impl Shelf {
    fn beside(folder: &Path, copies: bool) -> Self {
        let dir = Dir::open_ambient_dir(folder.join("kept"), ambient_authority()).expect("a shelf");
        Shelf { dir, copies, told: Mutex::default() }
    }

    fn steps(&self) -> Option<Vec<FsStep>> {
        self.told.lock().expect("nobody has panicked").0.clone()
    }

    fn intended(&self) -> usize {
        self.told.lock().expect("nobody has panicked").1
    }

    fn is_there(&self, name: &str) -> bool {
        self.dir.symlink_metadata(name).is_ok()
    }

    fn shift(&self, (from, old): (&Dir, &str), (to, new): (&Dir, &str)) -> io::Result<()> {
        trial::step()?;
        from.rename(old, to, new)?;
        trial::note(|| Ok(Deed::Moved { from: (folder_id(from)?, old.into()), to: (folder_id(to)?, new.into()) }));
        disk::sync_folder(from)?;
        disk::sync_folder(to)
    }

    fn copy(&self, (from, old): (&Dir, &str), (to, new): (&Dir, &str)) -> io::Result<()> {
        trial::step()?;
        nodes::copy(from, OsStr::new(old), to, OsStr::new(new), false)
    }
}

impl Journal for Shelf {
    fn intend(&self, steps: &[FsStep]) -> io::Result<()> {
        trial::step()?;
        let mut told = self.told.lock().expect("nobody has panicked");
        *told = (Some(steps.to_vec()), trial::watched().len());
        Ok(())
    }

    fn keep(&self, _: &Displaced<'_>) -> io::Result<()> {
        // Nobody says that a journal which fails has not done anything.
        trial::step()
    }

    fn take(&self, node: &Node<'_>) -> io::Result<()> {
        self.forget(node.kept)?;
        let kept = node.kept.to_string();
        if !self.copies {
            return self.shift((node.folder, node.name), (&self.dir, &kept));
        }
        let part = format!("{kept}.part");
        disk::clear(&self.dir, part.as_ref())?;
        self.copy((node.folder, node.name), (&self.dir, &part))?;
        disk::rename(&self.dir, part.as_ref(), kept.as_ref())?;
        trial::step()
    }

    fn has(&self, kept: KeptId) -> io::Result<bool> {
        Ok(self.is_there(&kept.to_string()))
    }

    fn give_back(&self, kept: KeptId, folder: &Dir, name: &str) -> io::Result<()> {
        let kept = kept.to_string();
        if !self.is_there(&kept) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if self.copies {
            self.copy((&self.dir, &kept), (folder, name))?;
            return trial::step();
        }
        self.shift((&self.dir, &kept), (folder, name))
    }

    fn forget(&self, kept: KeptId) -> io::Result<()> {
        if self.is_there(&kept.to_string()) { disk::clear(&self.dir, kept.to_string().as_ref()) } else { Ok(()) }
    }
}

/// A folder with a workspace `ws` and a shelf `kept`.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = quick_folder();
        fs::create_dir(folder.path().join("kept")).expect("a shelf");
        let at = |path: &str| folder.path().join("ws").join(path);
        fs::create_dir_all(at("sub/deep/empty")).expect("a folder");
        for (path, text) in [("plain", "plain"), ("top", "top"), ("sub/script", "script"), ("sub/deep/x", "x")] {
            fs::write(at(path), text).expect("a file");
        }
        fs::set_permissions(at("sub/script"), fs::Permissions::from_mode(0o750)).expect("a mode");
        fs::set_permissions(at("sub/deep"), fs::Permissions::from_mode(0o711)).expect("a mode");
        symlink("/no/where", at("sub/link")).expect("a link");
        Home { folder }
    }

    fn of(image: &Image) -> Self {
        let folder = quick_folder();
        image.materialise(folder.path());
        Home { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    fn local(&self, durability: Durability) -> Local {
        Local::open(self.root()).expect("a workspace").with_durability(durability)
    }

    fn state(&self) -> State {
        state(&self.root())
    }

    fn shelf(&self, copies: bool) -> Shelf {
        Shelf::beside(self.folder.path(), copies)
    }

    fn remove(&self, path: &str, kept: Option<KeptId>) -> Change {
        let survey = self.local(Durability::Process).survey(&ws(path), Depth::Marks).expect("a survey");
        Change::Remove { path: ws(path), expect: Expect::Exactly(survey.mark), kept }
    }
}

fn moved(from: &str, to: &str) -> Change {
    Change::Move { from: ws(from), to: ws(to), expect: Expect::Any }
}

const KEPT: KeptId = KeptId::new(7);

/// A workspace, and a set that is to be performed in it.
type Case = (&'static str, fn() -> (Home, Vec<Change>));

const CASES: &[Case] = &[
    ("a folder moves", || (Home::new(), vec![moved("sub", "moved")])),
    ("a folder moves into a new one", || {
        let plain = write("plain", exactly("plain"), "PLAIN");
        (Home::new(), vec![make_dir("made"), moved("sub", "made/sub"), plain])
    }),
    ("a file moves over another", || {
        let home = Home::new();
        let top = home.remove("top", None);
        let plain = Change::Move { from: ws("plain"), to: ws("top"), expect: exactly("plain") };
        (home, vec![top, plain])
    }),
    ("a folder goes", || {
        let home = Home::new();
        let sub = home.remove("sub", None);
        (home, vec![sub, write("plain", exactly("plain"), "PLAIN")])
    }),
    ("a folder comes back", || {
        let home = Home::new();
        let before = home.remove("sub", Some(KEPT));
        let Change::Remove { expect: Expect::Exactly(mark), .. } = before else { panic!("it has a mark") };
        let set = ChangeSet::new(vec![before]);
        home.local(Durability::Process).commit(&set, &home.shelf(false)).expect("a removal");
        let back = Change::Restore { path: ws("sub"), kept: KEPT, mark };
        (home, vec![back, write("plain", exactly("plain"), "PLAIN")])
    }),
    ("a folder goes again", || {
        let home = Home::new();
        let again = home.remove("sub", Some(KEPT));
        (home, vec![again, make_dir("made"), write("made/new", Expect::Absent, "new")])
    }),
];

fn after(make: fn() -> (Home, Vec<Change>)) -> State {
    let (home, set) = make();
    home.local(Durability::Process).commit(&ChangeSet::new(set), &home.shelf(false)).expect("a commit");
    home.state()
}

/// Recovers, and once more, and once more with a crash at every step of it.
fn recovers(home: &Home, steps: &[FsStep], shelf: &Shelf, sides: (&State, &State), case: &str) -> Recovered {
    let plain = |state: &State| -> State {
        let plain = |(path, (mode, names, bytes)): (&String, &(u32, u64, Vec<u8>))| {
            (path.clone(), (mode & 0o170_000, *names, bytes.clone()))
        };
        state.iter().map(plain).collect()
    };
    let local = home.local(Durability::Process);
    let verdict = local.recover(steps, shelf).unwrap_or_else(|error| panic!("{case}: {error}"));
    let want = if verdict == Recovered::Done { sides.1 } else { sides.0 };
    assert_eq!(plain(&home.state()), plain(want), "{case}: {verdict:?}");
    for step in steps {
        let kept = step.kept.as_deref().map(|kept| kept.parse().expect("an id"));
        let keeps = match (step.action, verdict) {
            (FsAction::Remove, Recovered::Done) | (FsAction::Restore, Recovered::Void) => true,
            (FsAction::Remove, Recovered::Void) | (FsAction::Restore, Recovered::Done) => false,
            _ => continue,
        };
        let has = shelf.has(kept.expect("an id")).expect("a look");
        assert!(has == keeps, "{case}: {verdict:?}, kept: {has}");
    }
    assert_eq!(local.recover(steps, shelf).expect(case), verdict, "{case}: again");
    assert_eq!(plain(&home.state()), plain(want), "{case}: again");
    verdict
}

#[test]
fn after_a_failure_at_any_step_what_is_whole_is_as_it_was() {
    for (lack, copies) in [(LACKS[0], false), (LACKS[0], true), (LACKS[4], false)] {
        take_away(lack);
        for &(name, make) in CASES {
            let after = after(make);
            for step in 0.. {
                let (home, set) = make();
                let (before, shelf) = (home.state(), home.shelf(copies));
                let local = home.local(Durability::Process);
                fail_with(Some(step), 5);
                let done = local.commit(&ChangeSet::new(set), &shelf);
                if !fail_with(None, 5) {
                    done.expect("a commit without a failure");
                    assert!(step >= 2, "{name}: {step} steps were tried");
                    break;
                }
                let case = format!("{name}, {lack:?}, copies: {copies}, failure at {step}, {done:?}");
                let Some(steps) = shelf.steps() else {
                    assert_eq!(home.state(), before, "{case}");
                    continue;
                };
                let verdict = if done.is_ok() { Recovered::Done } else { Recovered::Void };
                if done.is_err() {
                    assert_eq!(home.state(), before, "{case}");
                }
                assert_eq!(recovers(&home, &steps, &shelf, (&before, &after), &case), verdict, "{case}");
            }
        }
    }
    take_away(&[]);
}

#[test]
fn after_a_crash_anywhere_what_is_whole_is_finished_or_has_not_happened() {
    for (lack, copies) in [(LACKS[0], false), (LACKS[0], true), (LACKS[4], false), (LACKS[4], true)] {
        take_away(lack);
        for &(name, make) in CASES {
            let after = after(make);
            let mut verdicts = Vec::new();
            for step in 0.. {
                let case = format!("{name}, {lack:?}, copies: {copies}, crash at {step}");
                let (home, set) = make();
                let (before, shelf) = (home.state(), home.shelf(copies));
                stop_at(Some(step));
                let _ = home.local(Durability::Process).commit(&ChangeSet::new(set), &shelf);
                let happened = stop_at(None);
                if let Some(steps) = shelf.steps() {
                    verdicts.push(recovers(&home, &steps, &shelf, (&before, &after), &case));
                } else {
                    assert_eq!(home.state(), before, "{case}: nothing was intended");
                }
                if !happened {
                    break;
                }
            }
            assert!(verdicts.is_sorted_by_key(|verdict| *verdict == Recovered::Done), "{name}: {verdicts:?}");
            assert_eq!(verdicts.first(), Some(&Recovered::Void), "{name}");
            assert_eq!(verdicts.last(), Some(&Recovered::Done), "{name}");
        }
    }
    take_away(&[]);
}

#[test]
fn a_recovery_of_what_is_whole_that_is_cut_short_is_taken_up_again() {
    for copies in [false, true] {
        for &(name, make) in CASES {
            let after = after(make);
            'crashes: for step in 0.. {
                for again in 0.. {
                    let case = format!("{name}, copies: {copies}, crash at {step}, then at {again}");
                    let (home, set) = make();
                    let (before, shelf) = (home.state(), home.shelf(copies));
                    stop_at(Some(step));
                    let _ = home.local(Durability::Process).commit(&ChangeSet::new(set), &shelf);
                    if !stop_at(None) {
                        break 'crashes;
                    }
                    let Some(steps) = shelf.steps() else { break };
                    stop_at(Some(again));
                    let _ = home.local(Durability::Process).recover(&steps, &shelf);
                    let happened = stop_at(None);
                    recovers(&home, &steps, &shelf, (&before, &after), &case);
                    if !happened {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn whatever_a_loss_of_power_takes_what_is_whole_is_finished_or_has_not_happened() {
    let mut tried = 0;
    for lack in [&[Ability::Sync][..], &[Ability::Sync, Ability::Unnamed, Ability::Exchange, Ability::Link]] {
        take_away(lack);
        for &(name, make) in CASES {
            let after = after(make);
            let (home, set) = make();
            let (start, before, shelf) = (Image::of(home.folder.path()), home.state(), home.shelf(false));
            watch();
            home.local(Durability::Full).commit(&ChangeSet::new(set), &shelf).expect("a commit");
            let deeds = watch_no_more();
            let steps = shelf.steps().expect("an intent");
            let mut known = HashSet::new();
            for len in 0..=deeds.len() {
                for image in after_loss(&start, &deeds[..len]) {
                    let stage = (len > shelf.intended(), len == deeds.len());
                    if !known.insert((image.told(), stage)) {
                        continue;
                    }
                    let case = format!("{name}, {lack:?}, after {:?}", &deeds[..len]);
                    let home = Home::of(&image);
                    let verdict = match stage.0 {
                        true => recovers(&home, &steps, &home.shelf(false), (&before, &after), &case),
                        false => continue,
                    };
                    assert!(verdict == Recovered::Done || !stage.1, "{case}: it was told as done");
                }
            }
            tried += known.len();
        }
    }
    take_away(&[]);
    assert!(tried > 60, "{tried} states were tried");
}

/// Somebody puts something in the way between a crash and the recovery: it stays, and nothing else is lost.
#[test]
fn what_others_put_in_the_way_after_a_crash_stays() {
    for &(name, make) in CASES {
        for path in ["sub", "moved", "made/sub", "top", "plain"] {
            for step in 0.. {
                let case = format!("{name}, crash at {step}, others at {path}");
                let (home, set) = make();
                let shelf = home.shelf(false);
                stop_at(Some(step));
                let _ = home.local(Durability::Process).commit(&ChangeSet::new(set), &shelf);
                let happened = stop_at(None);
                let there = home.root().join(path);
                let free = fs::symlink_metadata(&there).is_err() && there.parent().is_some_and(Path::exists);
                if free {
                    fs::write(&there, "theirs").expect("a file");
                }
                if let Some(steps) = shelf.steps() {
                    home.local(Durability::Process).recover(&steps, &shelf).expect(&case);
                }
                let everywhere = state(home.folder.path());
                let texts = ["script", "x", "top", "theirs"];
                for text in texts.iter().filter(|text| **text != "theirs" || free) {
                    assert!(
                        everywhere.values().any(|(_, _, bytes)| bytes == text.as_bytes()),
                        "{case}: {text} is lost"
                    );
                }
                if free {
                    assert_eq!(fs::read_to_string(&there).expect(&case), "theirs", "{case}");
                }
                if !happened {
                    break;
                }
            }
        }
    }
}
