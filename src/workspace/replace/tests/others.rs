//! Somebody changes a file between a crash and the recovery: their bytes are never lost.

use super::super::trial::stop_at;
use super::*;

type Deed = fn(&Path);

/// What the others do to the file.
const OTHERS: [(&str, Deed); 3] = [
    ("write into it", |path| fs::write(path, "theirs").expect("a file")),
    ("save over it", |path| {
        fs::write(path.with_extension("save"), "theirs").expect("a file");
        fs::rename(path.with_extension("save"), path).expect("a save");
    }),
    ("delete it", |path| drop(fs::remove_file(path))),
];

fn set() -> Vec<Change> {
    vec![
        write("plain", exactly("plain"), "PLAIN"),
        write("two", exactly("names"), "NAMES"),
        write("new", Expect::Absent, "new"),
        delete("top", exactly("top")),
    ]
}

#[test]
fn what_others_write_after_a_crash_is_not_lost() {
    for lack in LACKS {
        take_away(lack);
        for (what, others) in OTHERS {
            for path in ["plain", "two", "new", "top"] {
                for step in 0.. {
                    let case = format!("{lack:?}, step {step}, others {what} at {path}");
                    if !recovers(step, path, others, what == "delete it", &case) {
                        break;
                    }
                }
            }
        }
    }
    take_away(&[]);
}

/// False once the commit has fewer steps.
fn recovers(step: usize, path: &str, others: Deed, deletes: bool, case: &str) -> bool {
    let bed = bed();
    let keeper = Keeper::new(false);
    stop_at(Some(step));
    let _ = bed.local.commit(&ChangeSet::new(set()), &keeper);
    let happened = stop_at(None);
    let Some(steps) = keeper.told().steps.clone() else { return happened };
    let by_their_name = bed.at(path);
    others(&by_their_name);
    bed.local.recover(&steps, &keeper).expect(case);
    bed.clean();
    let kept = keeper.kept();
    let is_somewhere = |text: &str| kept.iter().any(|kept| kept == text) || holds(&bed, text);
    if !deletes {
        assert!(is_somewhere("theirs"), "{case}: {kept:?}");
    }
    for text in ["plain", "names", "top"] {
        // What they deleted or overwrote themselves is theirs to lose.
        let theirs = [("plain", "plain"), ("two", "names"), ("top", "top")].contains(&(path, text));
        assert!(theirs || is_somewhere(text), "{case}: {text} is lost: {kept:?}");
    }
    happened
}

fn holds(bed: &Bed, text: &str) -> bool {
    state(&bed.at("")).values().any(|(_, _, bytes)| bytes == text.as_bytes())
}
