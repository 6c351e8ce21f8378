//! The connections that are open: so many and no more, and who does nothing makes room for who does.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// All open connections.
pub(super) struct Connections {
    most: usize,
    began: Instant,
    open: Mutex<Open>,
    left: Notify,
}

#[derive(Default)]
struct Open {
    last: u64,
    slots: HashMap<u64, Arc<Slot>>,
}

struct Slot {
    /// Answers that are under way.
    active: AtomicUsize,
    /// Since when there are none, in nanoseconds from the beginning.
    idle_since: AtomicU64,
    evicted: CancellationToken,
}

/// The place of one connection, as long as it is open.
pub(super) struct Seat {
    connections: Arc<Connections>,
    number: u64,
    slot: Arc<Slot>,
}

/// Marks a connection as busy.
pub(super) struct Busy {
    connections: Arc<Connections>,
    slot: Arc<Slot>,
}

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Connections { most, began: Instant::now(), open: Mutex::default(), left: Notify::new() }
    }

    /// A place for a new connection: a free one, or that of the one that has been doing nothing for the longest time.
    /// Nothing if all are busy.
    pub(super) fn admit(self: &Arc<Self>) -> Option<Seat> {
        let mut open = self.open();
        if open.slots.len() >= self.most {
            let idle = open.slots.iter().filter(|(_, slot)| slot.active.load(Ordering::Relaxed) == 0);
            let longest =
                idle.min_by_key(|(_, slot)| slot.idle_since.load(Ordering::Relaxed)).map(|(number, _)| *number)?;
            if let Some(slot) = open.slots.remove(&longest) {
                slot.evicted.cancel();
            }
        }
        let slot = Arc::new(Slot {
            active: AtomicUsize::new(0),
            idle_since: AtomicU64::new(self.now()),
            evicted: CancellationToken::new(),
        });
        open.last += 1;
        let number = open.last;
        open.slots.insert(number, Arc::clone(&slot));
        Some(Seat { connections: Arc::clone(self), number, slot })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open().slots.len()
    }

    /// Waits until there are none.
    pub(super) async fn emptied(&self) {
        loop {
            let mut left = std::pin::pin!(self.left.notified());
            left.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            left.await;
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Waits until the place is given to somebody else.
    pub(super) async fn evicted(&self) {
        self.slot.evicted.cancelled().await;
    }

    /// From now on, until the mark is dropped, the connection is busy.
    pub(super) fn busy(&self) -> Busy {
        self.slot.active.fetch_add(1, Ordering::Relaxed);
        Busy { connections: Arc::clone(&self.connections), slot: Arc::clone(&self.slot) }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connections.open().slots.remove(&self.number);
        self.connections.left.notify_waiters();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.slot.idle_since.store(self.connections.now(), Ordering::Relaxed);
        self.slot.active.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn who_does_nothing_makes_room_and_who_is_busy_does_not() {
        let connections = Arc::new(Connections::new(2));
        let (first, second) = (connections.admit().expect("room"), connections.admit().expect("room"));
        let busy = first.busy();
        let third = connections.admit().expect("the second does nothing");
        assert!(second.evicted().now_or_never().is_some());
        assert!(first.evicted().now_or_never().is_none());
        let busy_too = third.busy();
        assert!(connections.admit().is_none(), "all are busy");
        drop((busy, busy_too));
        assert!(connections.admit().is_some());
    }
}
