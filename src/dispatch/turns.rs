//! Who goes first: a call sees what the calls before it on the same files have done; calls on different files do not
//! wait for each other.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::path::WsPath;

/// The calls that may be changing something, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Turns {
    line: Mutex<Line>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct Line {
    next: u64,
    waiting: Vec<Waiting>,
}

/// A call that others have to wait for.
#[derive(Debug)]
struct Waiting {
    ticket: u64,
    /// What it is about; everything, as long as it has not said.
    paths: Vec<WsPath>,
    usage: Use,
}

/// How a call uses its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It only looks: who changes them later waits for it, who looks does not.
    Looks,
    /// It may change them: everybody waits for it.
    Changes,
}

/// A call's place in the line of calls, kept from when it came until it is done or this is dropped.
///
/// A door that takes calls one after the other, but runs them at the same time, takes the place with the call; then no
/// call can overtake an earlier one on the same file.
#[derive(Debug, Clone)]
pub struct Place(Arc<Held>);

#[derive(Debug)]
struct Held {
    turns: Arc<Turns>,
    ticket: u64,
}

/// The turn of one call; the next in line goes on when it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    place: Place,
    /// Whether it had to be waited for.
    pub(super) came_late: bool,
}

impl Turns {
    /// The next place in the line, for a call that may be about anything until its turn is taken.
    pub(super) fn place(self: &Arc<Self>, usage: Use) -> Place {
        let mut line = self.line();
        let ticket = line.next;
        line.next += 1;
        line.waiting.push(Waiting { ticket, paths: vec![WsPath::root()], usage });
        Place(Arc::new(Held { turns: Arc::clone(self), ticket }))
    }

    /// Whether nobody else is in the line.
    pub(super) fn is_alone(&self, place: &Place) -> bool {
        self.line().waiting.iter().all(|other| other.ticket == place.0.ticket)
    }

    /// Waits until no earlier call is in the way on any of `paths`, a folder above one, or something below one. Who acts
    /// for the calls with the tickets `outer` does not wait for them.
    pub(super) async fn take(&self, place: Place, paths: Vec<WsPath>, usage: Use, outer: &[u64]) -> Turn {
        let ticket = place.0.ticket;
        let mut turn = Turn { place, came_late: false };
        self.say(ticket, &paths, usage);
        loop {
            let mut moved = pin!(self.moved.notified());
            // From here on no move is missed, also one before the wait begins.
            moved.as_mut().enable();
            if !self.line().blocks(ticket, &paths, usage, outer) {
                return turn;
            }
            turn.came_late = true;
            moved.await;
        }
    }

    /// Narrows what others have to wait for.
    fn say(&self, ticket: u64, paths: &[WsPath], usage: Use) {
        let mut line = self.line();
        if paths.is_empty() {
            // It is in nobody's way.
            line.waiting.retain(|waiting| waiting.ticket != ticket);
        } else if let Some(waiting) = line.waiting.iter_mut().find(|waiting| waiting.ticket == ticket) {
            waiting.paths = paths.to_vec();
            waiting.usage = usage;
        }
        drop(line);
        self.moved.notify_waiters();
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// Whether someone who came before `ticket` is in the way of this use of `paths`.
    fn blocks(&self, ticket: u64, paths: &[WsPath], usage: Use, outer: &[u64]) -> bool {
        let before = |other: &&Waiting| other.ticket < ticket && !outer.contains(&other.ticket);
        let earlier = self.waiting.iter().filter(before);
        earlier
            .filter(|other| usage == Use::Changes || other.usage == Use::Changes)
            .flat_map(|other| &other.paths)
            .any(|theirs| paths.iter().any(|ours| ours.is_within(theirs) || theirs.is_within(ours)))
    }
}

impl Held {
    fn leave(&self) {
        self.turns.line().waiting.retain(|other| other.ticket != self.ticket);
        self.turns.moved.notify_waiters();
    }
}

impl Place {
    /// Lets everybody pass: the call is none that will be dispatched.
    pub fn give_up(&self) {
        self.0.leave();
    }
}

impl Turn {
    /// What the line knows the call by.
    pub(super) fn ticket(&self) -> u64 {
        self.place.0.ticket
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Others may still hold the place of a call that is done.
        self.place.0.leave();
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
            let turns = Arc::new(Turns::default());
            let turn = turns.take(turns.place(Use::Changes), paths(first), Use::Changes, &[]).now_or_never();
            let mut next = Box::pin(turns.take(turns.place(Use::Changes), paths(second), usage, &[]));
            assert_eq!((&mut next).now_or_never().is_none(), waits, "{first:?} then {second:?}");
            drop(turn.expect("nobody is in line"));
            if waits {
                assert!(next.now_or_never().is_some(), "the turn has come");
            }
        }
    }

    #[test]
    fn who_came_first_goes_first_however_late_it_says_what_it_wants() {
        let turns = Arc::new(Turns::default());
        let (first, second) = (turns.place(Use::Changes), turns.place(Use::Changes));
        let mut read = Box::pin(turns.take(second, paths(&["a"]), Use::Looks, &[]));
        assert!((&mut read).now_or_never().is_none(), "the first may change anything");
        let write = turns.take(first, paths(&["b"]), Use::Changes, &[]).now_or_never();
        assert!(read.now_or_never().is_some(), "the first changes something else");
        drop(write);
    }

    #[test]
    fn a_change_waits_for_a_look_and_nobody_for_who_has_given_up() {
        let turns = Arc::new(Turns::default());
        let looks = turns.take(turns.place(Use::Changes), paths(&["a"]), Use::Looks, &[]).now_or_never();
        let looks_too = turns.take(turns.place(Use::Changes), paths(&["a"]), Use::Looks, &[]).now_or_never();
        assert!(looks_too.is_some(), "looks do not wait for looks");
        let mut changes = Box::pin(turns.take(turns.place(Use::Changes), paths(&["a"]), Use::Changes, &[]));
        assert!((&mut changes).now_or_never().is_none(), "what is looked at is not changed meanwhile");
        drop((looks, looks_too));
        let changes = changes.now_or_never().expect("the turn has come");
        let mut gives_up = Box::pin(turns.take(turns.place(Use::Changes), paths(&["a"]), Use::Changes, &[]));
        assert!((&mut gives_up).now_or_never().is_none());
        drop((gives_up, turns.place(Use::Changes), changes));
        assert!(turns.take(turns.place(Use::Changes), paths(&["a"]), Use::Changes, &[]).now_or_never().is_some());
        assert!(turns.line().waiting.is_empty(), "nobody is left in the line");
    }
}
