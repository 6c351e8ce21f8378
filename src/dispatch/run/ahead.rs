//! What is at a path in the middle of a set, before any of it is done: the steps before say what becomes of each name.

use crate::model::change::Change;
use crate::model::file_bytes::FileBytes;
use crate::model::path::WsPath;

/// The steps before.
#[derive(Debug, Default, Clone)]
pub(in crate::dispatch) struct Ahead<'a>(Vec<&'a Change>);

/// What will be at a path.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dispatch) enum Origin<'a> {
    /// What is at this path now.
    Here(WsPath),
    /// Something that the steps before make or take away; a file's bytes, where they are known.
    Planned(Option<&'a FileBytes>),
}

impl<'a> Ahead<'a> {
    /// `change` is to be done next.
    pub(in crate::dispatch) fn add(&mut self, change: &'a Change) {
        self.0.push(change);
    }

    /// What will be at `path`.
    pub(in crate::dispatch) fn origin(&self, path: &WsPath) -> Origin<'a> {
        let mut path = path.clone();
        for change in self.0.iter().rev() {
            match change {
                Change::Move { from, to, .. } if path.is_within(to) => path = renamed(&path, to, from),
                Change::Move { from, .. } if path.is_within(from) => return Origin::Planned(None),
                Change::Write { path: written, content, .. } if path == *written => {
                    return Origin::Planned(Some(content));
                }
                Change::Delete { path: gone, .. } if path == *gone => return Origin::Planned(None),
                Change::Remove { path: whole, .. } | Change::Restore { path: whole, .. } if path.is_within(whole) => {
                    return Origin::Planned(None);
                }
                _ => {}
            }
        }
        Origin::Here(path)
    }

    /// Where what is at `path` is after `steps`, and whether they change something in it.
    pub(in crate::dispatch) fn follow(path: &WsPath, steps: &[&Change]) -> (WsPath, bool) {
        let (mut now, mut changed) = (path.clone(), false);
        for step in steps {
            changed |= step.paths().any(|other| *other != now && other.is_within(&now));
            match step {
                Change::Move { from, to, .. } if now.is_within(from) => now = renamed(&now, from, to),
                Change::Write { path, .. } => changed |= *path == now,
                _ => {}
            }
        }
        (now, changed)
    }

    /// Whether the steps before change something in what will be at `path`.
    pub(in crate::dispatch) fn meddles_with(&self, path: &WsPath) -> bool {
        self.0.iter().flat_map(|change| change.paths()).any(|changed| changed.is_within(path))
    }
}

/// `path`, which is within `folder`, where it is if that is `other`.
fn renamed(path: &WsPath, folder: &WsPath, other: &WsPath) -> WsPath {
    let names = path.as_str()[folder.as_str().len()..].split('/').filter(|name| !name.is_empty());
    names.fold(other.clone(), |folder, name| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::Expect;

    fn at(path: &str) -> WsPath {
        WsPath::parse(path).expect("a path")
    }

    #[test]
    fn a_name_is_followed_back_through_the_steps_before() {
        let text = FileBytes::from("x");
        let moves = |from, to| Change::Move { from: at(from), to: at(to), expect: Expect::Any };
        let steps = [
            moves("a", "b"),
            moves("b/in", "c"),
            Change::Write { path: at("c/new"), expect: Expect::Absent, content: text.clone() },
            Change::Delete { path: at("gone"), expect: Expect::Any },
            Change::Remove { path: at("tree"), expect: Expect::Any, kept: None },
        ];
        let mut ahead = Ahead::default();
        steps.iter().for_each(|step| ahead.add(step));
        for (path, origin) in [
            ("b/x", Origin::Here(at("a/x"))),
            ("c", Origin::Here(at("a/in"))),
            ("c/x/y", Origin::Here(at("a/in/x/y"))),
            ("c/new", Origin::Planned(Some(&text))),
            ("b/in/x", Origin::Planned(None)),
            ("a", Origin::Planned(None)),
            ("gone", Origin::Planned(None)),
            ("tree/leaf", Origin::Planned(None)),
            ("treetop", Origin::Here(at("treetop"))),
        ] {
            assert_eq!(ahead.origin(&at(path)), origin, "{path}");
        }
        assert!(ahead.meddles_with(&at("c")) && !ahead.meddles_with(&at("d")));
        let steps: Vec<_> = steps.iter().collect();
        assert_eq!(Ahead::follow(&at("a/in"), &steps), (at("c"), true));
        assert_eq!(Ahead::follow(&at("a/out"), &steps), (at("b/out"), false));
    }
}
