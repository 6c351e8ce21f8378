//! Changes: recorded before they happen, listed over all processes, taken back one after the other.

use super::*;
use crate::ledger::{Filter, LedgerError, Status};
use crate::model::id::ChangeId;

/// Makes a change and says its name.
fn make(ledger: &Ledger, files: &mut Files, changes: Vec<Change>) -> ChangeId {
    let change = begin(ledger, ChangeKind::Write);
    files.commit(&ChangeSet::new(changes), &change).unwrap();
    change.done().unwrap()
}

fn undo(ledger: &Ledger, files: &mut Files, undone: ChangeId) -> ChangeId {
    let inverse = ledger.inverse(undone).unwrap();
    let change = begin(ledger, ChangeKind::Undo(undone));
    files.commit(&inverse.set, &change).unwrap();
    change.done().unwrap()
}

fn latest(ledger: &Ledger) -> Option<ChangeId> {
    ledger.latest(Some("mcp:local")).unwrap().map(|record| record.change)
}

fn ledgers(bed: &Bed) -> [Ledger; 2] {
    [Ledger::in_memory(bed.world.clone()), bed.ledger()]
}

#[test]
fn undo_after_undo_walks_back_and_undoing_an_undo_is_redo() {
    let bed = Bed::new();
    for ledger in ledgers(&bed) {
        let mut files = Files::default();
        let mut states = vec![files.clone()];
        let made: Vec<ChangeId> = ["1", "2", "3"]
            .map(|text| {
                let id = make(&ledger, &mut files, vec![write("a", text), write("b", "same")]);
                states.push(files.clone());
                id
            })
            .into();
        let mut undone = Vec::new();
        for step in (0..3).rev() {
            assert_eq!(latest(&ledger), Some(made[step]));
            undone.push(undo(&ledger, &mut files, made[step]));
            assert_eq!(files, states[step]);
        }
        assert_eq!(latest(&ledger), None);
        let redone = undo(&ledger, &mut files, undone[2]);
        assert_eq!((&files, latest(&ledger)), (&states[1], Some(made[0])));
        undo(&ledger, &mut files, undone[1]);
        assert_eq!((&files, latest(&ledger)), (&states[2], Some(made[1])));
        // The redo is undone: what it had brought back is gone again.
        undo(&ledger, &mut files, made[1]);
        undo(&ledger, &mut files, redone);
        assert_eq!((&files, latest(&ledger)), (&states[0], None));
        let told = ledger.lines().into_iter().filter_map(|line| match line.event {
            Event::FsUndo { undoes, .. } => Some(undoes),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        let all = [made[2], made[1], made[0], undone[2], undone[1], made[1], redone];
        assert!(told == all || told.is_empty(), "{told:?}");
        let record = ledger.change(made[0]).unwrap();
        assert_eq!(record.undone_by, Some(undone[2]));
    }
}

#[test]
fn a_change_is_turned_round_step_by_step() {
    let bed = Bed::new();
    for ledger in ledgers(&bed) {
        let mut files = Files(BTreeMap::from([("old".into(), "1".into()), ("gone".into(), "2".into())]));
        let id = make(
            &ledger,
            &mut files,
            vec![
                Change::MakeDir { path: ws("dir") },
                write("dir/new", "3"),
                write("old", "4"),
                Change::Delete { path: ws("gone"), expect: Expect::Any },
                Change::RemoveDir { path: ws("empty") },
            ],
        );
        let inverse = ledger.inverse(id).unwrap();
        let want = [
            Change::MakeDir { path: ws("empty") },
            Change::Write { path: ws("gone"), expect: Expect::Absent, content: "2".into() },
            Change::Write { path: ws("old"), expect: Expect::Exactly(Version::of(b"4")), content: "1".into() },
            Change::Delete { path: ws("dir/new"), expect: Expect::Exactly(Version::of(b"3")) },
            Change::RemoveDir { path: ws("dir") },
        ];
        assert_eq!(inverse.set.iter().cloned().collect::<Vec<_>>(), want);
        assert_eq!(inverse.modes, [(ws("gone"), 0o644)]);
    }
}

#[test]
fn what_cannot_be_undone_says_why() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let mut files = Files(BTreeMap::from([("a".into(), "0".into())]));
    let id = make(&ledger, &mut files, vec![write("a", "1")]);
    let unknown = ChangeId::new(7);
    assert!(matches!(ledger.inverse(unknown), Err(LedgerError::NoSuchChange(_))));
    let by = undo(&ledger, &mut files, id);
    assert!(matches!(ledger.inverse(id), Err(LedgerError::Undone { by: said, .. }) if said == by));
    let open = begin(&ledger, ChangeKind::Write);
    files.commit(&ChangeSet::new(vec![write("a", "2")]), &open).unwrap();
    let open_id = open.id().unwrap();
    assert!(matches!(ledger.inverse(open_id), Err(LedgerError::NotDone(_))));
    drop(open);
    assert_eq!(ledger.change(open_id).unwrap().status, Status::Void);
    let version = Version::of(b"1").to_string();
    std::fs::remove_file(bed.path(&format!("blobs/{}/{version}", &version[..2]))).unwrap();
    assert!(ledger.inverse(by).unwrap_err().to_string().contains("no longer kept"));
}

#[test]
fn the_intent_is_written_before_anything_changes_and_the_log_tells_it() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let change = begin(&ledger, ChangeKind::Edit);
    let step = Files::default().step(&write("a", "1"));
    change.intend(std::slice::from_ref(&step)).unwrap();
    let again = FsStep { temp: Some(".a.tmp".into()), ..step };
    change.intend(std::slice::from_ref(&again)).unwrap();
    let log = crate::ledger::read::lines_of(&std::fs::read(bed.log(&ledger)).unwrap());
    assert!(matches!(&log[0].event, Event::FsEdit(told) if Some(told.change) == change.id()));
    let record = bed.ledger().change(change.id().unwrap()).unwrap();
    let steps: Vec<_> = record.steps.iter().map(|step| step.step.clone()).collect();
    assert_eq!((record.status, steps), (Status::Intent, vec![again]));
}

#[test]
fn two_processes_share_one_list() {
    let bed = Bed::new();
    let (one, two) = (bed.ledger(), bed.ledger());
    assert_ne!(one.session(), two.session());
    let mut files = Files::default();
    let first = make(&one, &mut files, vec![write("a", "1")]);
    let second = make(&two, &mut files, vec![write("b", "2")]);
    for ledger in [&one, &two] {
        let all: Vec<_> = ledger.changes(&Filter::default()).unwrap().iter().map(|record| record.change).collect();
        assert_eq!(all, [second, first]);
    }
    undo(&one, &mut files, second);
    assert_eq!(latest(&two), Some(first));
}

#[test]
fn many_writers_of_two_processes_lose_nothing() {
    let bed = Bed::new();
    let ledgers = [bed.ledger(), bed.ledger()];
    std::thread::scope(|scope| {
        for ledger in &ledgers {
            for thread in 0..2 {
                scope.spawn(move || {
                    let mut files = Files::default();
                    for count in 0..10 {
                        make(ledger, &mut files, vec![write(&format!("f{thread}"), &count.to_string())]);
                    }
                });
            }
        }
    });
    let done = Filter { standing: true, ..Filter::default() };
    assert_eq!(ledgers.each_ref().map(|ledger| ledger.changes(&done).unwrap().len()), [40, 40]);
}

#[test]
fn changes_are_found_by_caller_path_session_and_group() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let mut files = Files::default();
    let change = begin(&ledger, ChangeKind::Write).in_group("run 1");
    files.commit(&ChangeSet::new(vec![write("src/a", "1")]), &change).unwrap();
    let id = change.done().unwrap();
    make(&ledger, &mut files, vec![write("srcs", "1")]);
    let found =
        |filter: Filter| ledger.changes(&filter).unwrap().iter().map(|record| record.change).collect::<Vec<_>>();
    assert_eq!(found(Filter { group: Some("run 1".into()), ..Filter::default() }), [id]);
    assert_eq!(found(Filter { path: Some("src".into()), ..Filter::default() }), [id]);
    assert_eq!(found(Filter { caller: Some("cli".into()), ..Filter::default() }), []);
    assert_eq!(found(Filter { session: ledger.session().cloned(), ..Filter::default() }).len(), 2);
    assert_eq!(ledger.latest(Some("cli")).unwrap(), None);
    assert!(ledger.latest(None).unwrap().is_some());
}

#[test]
fn a_torn_line_is_read_past_and_what_follows_is_whole() {
    let bed = Bed::new();
    let ledger = bed.ledger();
    let mut files = Files::default();
    let first = make(&ledger, &mut files, vec![write("a", "1")]);
    let list = bed.path("changes.jsonl");
    let mut torn = std::fs::read(&list).unwrap();
    torn.extend(b"{\"status\":\"intent\",\"chan");
    std::fs::write(&list, torn).unwrap();
    let second = make(&ledger, &mut files, vec![write("a", "2")]);
    for ledger in [ledger, bed.ledger()] {
        let all: Vec<_> = ledger.changes(&Filter::default()).unwrap().iter().map(|record| record.change).collect();
        assert_eq!(all, [second, first]);
    }
}
