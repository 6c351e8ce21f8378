//! Who goes first: a call sees what the calls before it on the same files have done; calls on different files do not
//! wait for each other.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::path::WsPath;

/// The calls that are changing something, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Turns {
    line: Mutex<Line>,
    left: Notify,
}

#[derive(Debug, Default)]
struct Line {
    next: u64,
    changing: Vec<Changing>,
}

/// A call that is changing something, or waits to.
#[derive(Debug)]
struct Changing {
    ticket: u64,
    paths: Vec<WsPath>,
}

/// How a call uses its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It only looks: nobody needs to wait for it.
    Looks,
    /// It may change them.
    Changes,
}

/// The turn of one call; the next in line goes on when it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    ticket: u64,
    usage: Use,
}

impl Turns {
    /// Waits until no earlier call is changing any of `paths`, a folder above one, or something below one.
    pub(super) async fn take(&self, paths: Vec<WsPath>, usage: Use) -> Turn<'_> {
        let turn = self.stand_in_line(&paths, usage);
        loop {
            let mut left = pin!(self.left.notified());
            // From here on no leaving is missed, also one before the wait begins.
            left.as_mut().enable();
            if !self.line().blocks(turn.ticket, &paths) {
                return turn;
            }
            left.await;
        }
    }

    fn stand_in_line(&self, paths: &[WsPath], usage: Use) -> Turn<'_> {
        let mut line = self.line();
        let ticket = line.next;
        line.next += 1;
        if usage == Use::Changes {
            line.changing.push(Changing { ticket, paths: paths.to_vec() });
        }
        Turn { turns: self, ticket, usage }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// Whether someone who came before `ticket` is changing what `paths` are about.
    fn blocks(&self, ticket: u64, paths: &[WsPath]) -> bool {
        let earlier = self.changing.iter().filter(|other| other.ticket < ticket);
        earlier
            .flat_map(|other| &other.paths)
            .any(|theirs| paths.iter().any(|ours| ours.is_within(theirs) || theirs.is_within(ours)))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.usage == Use::Changes {
            self.turns.line().changing.retain(|other| other.ticket != self.ticket);
            self.turns.left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn paths(paths: &[&str]) -> Vec<WsPath> {
        paths.iter().map(|path| WsPath::parse(path).expect("a path")).collect()
    }

    #[test]
    fn who_waits_for_whom() {
        for (first, second, usage, waits) in [
            (&["a"][..], &["a"][..], Use::Looks, true),
            (&["a"], &["a"], Use::Changes, true),
            (&["a", "b"], &["b", "c"], Use::Changes, true),
            (&["dir/a"], &["dir"], Use::Looks, true),
            (&["dir"], &["dir/a"], Use::Looks, true),
            (&["a"], &["."], Use::Looks, true),
            (&["a"], &["ab"], Use::Changes, false),
            (&["a"], &["b"], Use::Looks, false),
            (&["a"], &[], Use::Changes, false),
        ] {
            let turns = Turns::default();
            let turn = turns.take(paths(first), Use::Changes).now_or_never().expect("nobody is in line");
            let mut next = Box::pin(turns.take(paths(second), usage));
            assert_eq!((&mut next).now_or_never().is_none(), waits, "{first:?} then {second:?}");
            drop(turn);
            if waits {
                assert!(next.now_or_never().is_some(), "the turn has come");
            }
        }
    }

    #[test]
    fn nobody_waits_for_one_who_only_looks_or_has_given_up() {
        let turns = Turns::default();
        let _looks = turns.take(paths(&["a"]), Use::Looks).now_or_never().expect("nobody is in line");
        let changes = turns.take(paths(&["a"]), Use::Changes).now_or_never().expect("nobody waits for a look");
        let mut gives_up = Box::pin(turns.take(paths(&["a"]), Use::Changes));
        assert!((&mut gives_up).now_or_never().is_none());
        drop(gives_up);
        drop(changes);
        assert!(turns.take(paths(&["a"]), Use::Changes).now_or_never().is_some());
    }
}
