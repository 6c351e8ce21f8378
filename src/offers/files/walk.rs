//! A page of the files of a workspace, in the order of their paths: what a project ignores is left out.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::model::error::ToolError;
use crate::model::path::WsPath;
use crate::tool::view::View;
use crate::workspace::{Entry, Kind};

/// What says what is ignored; the later has the last word.
const IGNORING: [&str; 2] = [".gitignore", ".ignore"];

/// A longer list of what is ignored is nobody's.
const IGNORES: u64 = 1024 * 1024;

/// Deeper is not walked.
const DEEPEST: usize = 128;

/// A page.
pub(super) struct Walk<'a> {
    view: &'a View,
    limit: usize,
    /// The files, and how many bytes each has.
    pub(super) files: Vec<(WsPath, Option<u64>)>,
    /// The last one, if more follow.
    pub(super) next: Option<WsPath>,
}

impl<'a> Walk<'a> {
    /// The first `limit` files after that one, whether or not there is still one.
    pub(super) fn after(view: &'a View, after: Option<WsPath>, limit: usize) -> Result<Self, ToolError> {
        let mut walk = Walk { view, limit, files: Vec::new(), next: None };
        let passed: Vec<&str> = after.iter().flat_map(WsPath::components).collect();
        walk.folder(&WsPath::root(), &passed, &mut Vec::new())?;
        Ok(walk)
    }

    /// Walks `folder` from behind `passed`, a path below it. True when the page is full.
    fn folder(&mut self, folder: &WsPath, passed: &[&str], ignores: &mut Vec<Gitignore>) -> Result<bool, ToolError> {
        self.view.check_cancelled()?;
        // What cannot be listed holds nothing that could be read.
        let Ok(listing) = self.view.list(folder, usize::MAX) else { return Ok(false) };
        ignores.push(self.ignored_in(folder, &listing.entries));
        let mut full = false;
        for entry in &listing.entries {
            let beyond = match passed.split_first() {
                Some((name, _)) if entry.name.as_str() < *name => continue,
                Some((name, rest)) if entry.name == *name => rest,
                _ => &[],
            };
            let passed_itself = beyond.is_empty() && passed.first().is_some_and(|name| entry.name == *name);
            let path = folder.join(&entry.name);
            if !entry.addressable || is_ignored(&path, entry, ignores) {
                continue;
            }
            full = match entry.kind {
                Some(Kind::Dir) if entry.name != ".git" && path.components().count() < DEEPEST => {
                    self.folder(&path, beyond, ignores)?
                }
                Some(Kind::File) if !passed_itself => self.take(path, entry.size),
                Some(Kind::Link) if !passed_itself && entry.leads_to == Some(Kind::File) => self.take(path, None),
                _ => false,
            };
            if full {
                break;
            }
        }
        ignores.pop();
        Ok(full)
    }

    /// True when there was no room for it.
    fn take(&mut self, path: WsPath, size: Option<u64>) -> bool {
        if self.files.len() == self.limit {
            self.next = self.files.last().map(|(path, _)| path.clone());
            return true;
        }
        self.files.push((path, size));
        false
    }

    fn ignored_in(&self, folder: &WsPath, entries: &[Entry]) -> Gitignore {
        let there = IGNORING.into_iter().filter(|name| entries.iter().any(|entry| entry.name == *name));
        let mut builder = GitignoreBuilder::new(folder.as_str());
        for name in there {
            let lines = self.view.read_start(&folder.join(name), IGNORES).unwrap_or_default();
            for line in String::from_utf8_lossy(&lines).lines() {
                // A line that is none of git's is none for us.
                let _ = builder.add_line(None, line);
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}

/// Whether the project ignores it: the innermost word stands.
fn is_ignored(path: &WsPath, entry: &Entry, ignores: &[Gitignore]) -> bool {
    let is_dir = entry.kind == Some(Kind::Dir);
    let said = ignores.iter().rev().map(|ignore| ignore.matched(path.as_str(), is_dir)).find(|said| !said.is_none());
    matches!(said, Some(Match::Ignore(_)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::tool::ask::NobodyToAsk;
    use crate::tool::view::{Door, Settings};
    use crate::workspace::memory::Memory;

    fn view(files: &[(&str, &str)]) -> View {
        let files = files.iter().map(|(path, text)| (WsPath::parse(path).expect("a path"), text.to_string().into()));
        let door = Door { caller: "test".into(), asker: Arc::new(NobodyToAsk), log: None };
        View::new(Arc::new(Memory::from_files(files)), Settings::served(), CancellationToken::new(), None, None, door)
    }

    #[test]
    fn pages_hold_every_file_once_in_order_whatever_their_size() {
        let names = ["a", "a.b/c", "a/b", "a/b.c", "a/d/e", "b", "c/d/e/f", "z"];
        // A file and a folder of one name cannot be in one folder.
        let names: Vec<_> = names.into_iter().filter(|name| *name != "a").collect();
        let view = view(&names.iter().map(|name| (*name, "x")).collect::<Vec<_>>());
        let whole = Walk::after(&view, None, 100).expect("a walk");
        let order: Vec<_> = whole.files.iter().map(|(path, _)| path.as_str().to_owned()).collect();
        assert_eq!((order.len(), whole.next), (names.len(), None));
        for limit in 1..=names.len() {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let walk = Walk::after(&view, after, limit).expect("a walk");
                assert!(walk.files.len() <= limit);
                found.extend(walk.files.iter().map(|(path, _)| path.as_str().to_owned()));
                match walk.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            assert_eq!(found, order, "{limit} on a page");
        }
    }

    #[test]
    fn what_the_project_ignores_is_left_out() {
        let view = view(&[
            (".gitignore", "target/\n*.log\n!kept.log\n"),
            (".git/config", ""),
            ("target/debug/x", ""),
            ("a.log", ""),
            ("kept.log", ""),
            ("sub/.gitignore", "!b.log\n/only\n"),
            ("sub/b.log", ""),
            ("sub/only", ""),
            ("sub/deep/only", ""),
            ("sub/.ignore", "scratch\n!again.log\n"),
            ("sub/scratch/x", ""),
            ("sub/again.log", ""),
        ]);
        let walk = Walk::after(&view, None, 100).expect("a walk");
        let found: Vec<_> = walk.files.iter().map(|(path, _)| path.as_str()).collect();
        let right =
            [".gitignore", "kept.log", "sub/.gitignore", "sub/.ignore", "sub/again.log", "sub/b.log", "sub/deep/only"];
        assert_eq!(found, right);
    }
}
