//! What is sent to a client as server-sent events, about one request or about nothing in particular: kept until it is
//! read, and in a session for a while longer, so that a client whose connection broke can have it again.
//!
//! What waits is bounded: news that nobody reads is left out, and a stream whose reader takes nothing at all ends.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::rpc::Answer;
use crate::rpc::connection::Outbox;

/// So many bytes may wait for a reader; then news is left out.
const NEWS_ROOM: usize = 256 * 1024;

/// So many bytes of what must not be left out may wait for a reader.
const ROOM: usize = 4 * 1024 * 1024;

/// So many bytes that were read are kept of one stream.
const KEPT: usize = 512 * 1024;

/// So much is handed to a connection at once.
const PIECE: usize = 64 * 1024;

/// How many bytes all streams keep that were read already.
#[derive(Debug)]
pub(super) struct Budget {
    used: AtomicUsize,
    most: usize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Self {
        Budget { used: AtomicUsize::new(0), most }
    }

    fn is_exceeded(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.most
    }
}

/// What becomes of events.
#[derive(Debug, Clone)]
pub(super) enum Keeping {
    /// Each goes to the one reader that there is.
    Once,
    /// They have ids, and are kept for a reader that comes back.
    ForReplay { stream: u64, budget: Arc<Budget> },
}

/// What happens when [`ROOM`] is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    /// The stream ends.
    Ends,
    /// The oldest events are lost. For what may have no reader for a long time.
    Forgets,
}

/// One stream of events.
#[derive(Debug)]
pub(super) struct Stream {
    keeping: Keeping,
    overflow: Overflow,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Bytes>,
    /// The number of the first event that is kept.
    first: u64,
    /// The number of the first event that was not read.
    unread: u64,
    unread_bytes: usize,
    read_bytes: usize,
    /// The answer to the request, as long as nobody has decided how it is sent.
    answer: Option<Answer>,
    ended: bool,
    /// Counts the readers; only the last one is given anything.
    reader: u64,
    waker: Option<Waker>,
}

/// The reading end of a stream.
#[derive(Debug)]
pub(super) struct Reader {
    stream: Arc<Stream>,
    number: u64,
    cursor: u64,
}

impl Stream {
    pub(super) fn new(keeping: Keeping, overflow: Overflow) -> Self {
        // The number 0 is that of the event that only says where the stream begins.
        let state = State { first: 1, unread: 1, ..State::default() };
        Stream { keeping, overflow, state: Mutex::new(state) }
    }

    /// Adds an event.
    pub(super) fn send(&self, frame: &str) {
        let mut state = self.state();
        if state.ended {
            return;
        }
        if state.unread_bytes + frame.len() > ROOM {
            match self.overflow {
                Overflow::Ends => {
                    tracing::info!("a client does not read what it is sent; its stream ends");
                    return state.end();
                }
                Overflow::Forgets => {
                    while state.unread_bytes + frame.len() > ROOM && !state.events.is_empty() {
                        state.forget(&self.keeping);
                    }
                }
            }
        }
        self.push(&mut state, frame);
    }

    /// Adds an event that the client can do without, if there is room.
    pub(super) fn offer(&self, frame: &str) {
        let mut state = self.state();
        if !state.ended && state.unread_bytes + frame.len() <= NEWS_ROOM {
            self.push(&mut state, frame);
        }
    }

    /// Nothing more comes but the answer, if there is one.
    pub(super) fn finish(&self, answer: Option<Answer>) {
        let mut state = self.state();
        if !state.ended {
            state.answer = answer;
            state.end();
        }
    }

    /// The answer as it would be sent by itself, if all that came is an answer.
    pub(super) fn take_lone_answer(&self) -> Option<Answer> {
        let mut state = self.state();
        if state.first == 1 && state.events.is_empty() { state.answer.take() } else { None }
    }

    /// Whether it has ended, and all that comes of it is nothing.
    pub(super) fn is_silent(&self) -> bool {
        let state = self.state();
        state.ended && state.events.is_empty() && state.answer.is_none()
    }

    /// Whether nothing more is added.
    pub(super) fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Ready once there is something to send.
    pub(super) fn poll_something(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.ended || !state.events.is_empty() {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Reads from the event after `last` on, or from the first that was not read. Whoever read before reads no more.
    pub(super) fn read(self: &Arc<Self>, last: Option<u64>) -> Reader {
        let mut state = self.state();
        state.reader += 1;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
        let cursor = last.map_or(state.unread, |last| last.saturating_add(1)).min(state.next());
        Reader { stream: Arc::clone(self), number: state.reader, cursor }
    }

    /// The event that only says where the stream begins, and how long a client should wait before it comes back.
    pub(super) fn beginning(&self, retry_ms: u64) -> Option<Bytes> {
        match &self.keeping {
            Keeping::Once => None,
            Keeping::ForReplay { stream, .. } => Some(format!("id: {stream}-0\nretry: {retry_ms}\ndata: \n\n").into()),
        }
    }

    fn push(&self, state: &mut State, frame: &str) {
        let event = match &self.keeping {
            Keeping::Once => event(None, frame),
            Keeping::ForReplay { stream, .. } => event(Some((*stream, state.next())), frame),
        };
        state.unread_bytes += event.len();
        state.events.push_back(event);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The number that the next event gets.
    fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn end(&mut self) {
        self.ended = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Lets go of the oldest event.
    fn forget(&mut self, keeping: &Keeping) {
        let Some(event) = self.events.pop_front() else { return };
        if self.first < self.unread {
            self.read_bytes -= event.len();
            if let Keeping::ForReplay { budget, .. } = keeping {
                budget.used.fetch_sub(event.len(), Ordering::Relaxed);
            }
        } else {
            self.unread_bytes -= event.len();
            self.unread = self.first + 1;
        }
        self.first += 1;
    }

    /// Notes that the events before `cursor` were read.
    fn mark_read(&mut self, cursor: u64, keeping: &Keeping) {
        while self.unread < cursor {
            let at = usize::try_from(self.unread - self.first).unwrap_or(usize::MAX);
            let Some(length) = self.events.get(at).map(Bytes::len) else { break };
            self.unread += 1;
            self.unread_bytes -= length;
            self.read_bytes += length;
            if let Keeping::ForReplay { budget, .. } = keeping {
                budget.used.fetch_add(length, Ordering::Relaxed);
            }
        }
        let most = match keeping {
            Keeping::Once => 0,
            Keeping::ForReplay { .. } => KEPT,
        };
        let over = |state: &State| match keeping {
            Keeping::ForReplay { budget, .. } => state.read_bytes > most || budget.is_exceeded(),
            Keeping::Once => true,
        };
        while self.first < self.unread && over(self) {
            self.forget(keeping);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Keeping::ForReplay { budget, .. } = &self.keeping {
            budget.used.fetch_sub(self.state().read_bytes, Ordering::Relaxed);
        }
    }
}

impl Reader {
    /// The next events, as many as there are; nothing at the end.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Reader { stream, number, cursor } = self;
        let mut state = stream.state();
        if state.reader != *number {
            return Poll::Ready(None);
        }
        if state.ended
            && let Some(answer) = state.answer.take()
        {
            stream.push(&mut state, &answer.frame);
        }
        *cursor = (*cursor).max(state.first);
        let mut piece = Bytes::new();
        let mut gathered = Vec::new();
        while gathered.len() + piece.len() < PIECE {
            let at = usize::try_from(*cursor - state.first).unwrap_or(usize::MAX);
            let Some(event) = state.events.get(at) else { break };
            *cursor += 1;
            if piece.is_empty() && gathered.is_empty() {
                piece = event.clone();
            } else {
                if gathered.is_empty() {
                    gathered.extend_from_slice(&piece);
                    piece = Bytes::new();
                }
                gathered.extend_from_slice(event);
            }
        }
        state.mark_read(*cursor, &stream.keeping);
        if !gathered.is_empty() {
            return Poll::Ready(Some(gathered.into()));
        }
        if !piece.is_empty() {
            return Poll::Ready(Some(piece));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// One event; its frame is one `data:` line.
fn event(id: Option<(u64, u64)>, frame: &str) -> Bytes {
    let mut event = Vec::with_capacity(frame.len() + 48);
    if let Some((stream, number)) = id {
        event.extend_from_slice(format!("id: {stream}-{number}\n").as_bytes());
    }
    event.extend_from_slice(b"data: ");
    let start = event.len();
    event.extend_from_slice(frame.as_bytes());
    // JSON has line ends between its tokens only, where a space is as good.
    for at in memchr::memchr2_iter(b'\n', b'\r', frame.as_bytes()) {
        event[start + at] = b' ';
    }
    event.extend_from_slice(b"\n\n");
    event.into()
}

/// The stream and the number of an event that a client has seen last.
pub(super) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// Sends frames to a stream.
#[derive(Debug)]
pub(super) struct StreamOutbox {
    pub(super) stream: Arc<Stream>,
    /// Whether the client takes events at all.
    pub(super) reaches: bool,
}

impl Outbox for StreamOutbox {
    fn send(&self, frame: &str) {
        if self.reaches {
            self.stream.send(frame);
        }
    }

    fn offer(&self, frame: &str) {
        if self.reaches {
            self.stream.offer(frame);
        }
    }

    fn reaches(&self) -> bool {
        self.reaches
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn stream(overflow: Overflow, most: usize) -> Arc<Stream> {
        let budget = Arc::new(Budget::new(most));
        Arc::new(Stream::new(Keeping::ForReplay { stream: 7, budget }, overflow))
    }

    /// What a reader gets at once, and whether that is all.
    fn read(reader: &mut Reader) -> (String, bool) {
        let mut text = String::new();
        loop {
            match reader.poll_next(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Some(piece)) => text.push_str(std::str::from_utf8(&piece).expect("UTF-8")),
                Poll::Ready(None) => return (text, true),
                Poll::Pending => return (text, false),
            }
        }
    }

    #[test]
    fn who_comes_back_gets_what_came_after_the_last_event() {
        let stream = stream(Overflow::Ends, 1 << 20);
        ["a", "b"].iter().for_each(|frame| stream.send(frame));
        let mut first = stream.read(None);
        assert_eq!(read(&mut first), ("id: 7-1\ndata: a\n\nid: 7-2\ndata: b\n\n".to_owned(), false));
        stream.send("c\nd");
        let mut second = stream.read(Some(1));
        assert_eq!(read(&mut first), (String::new(), true), "only one reads");
        assert_eq!(read(&mut second).0, "id: 7-2\ndata: b\n\nid: 7-3\ndata: c d\n\n");
        stream.finish(Some(Answer { frame: "e".to_owned(), error: None }));
        assert_eq!(read(&mut second), ("id: 7-4\ndata: e\n\n".to_owned(), true));
        assert_eq!(read(&mut stream.read(Some(3))), ("id: 7-4\ndata: e\n\n".to_owned(), true));
        assert_eq!(parse_event_id("7-3"), Some((7, 3)));
    }

    #[test]
    fn an_answer_alone_is_not_an_event() {
        let stream = stream(Overflow::Ends, 1 << 20);
        let answer = Answer { frame: "e".to_owned(), error: None };
        stream.finish(Some(answer.clone()));
        assert_eq!(stream.take_lone_answer(), Some(answer));
    }

    #[test]
    fn what_waits_and_what_is_kept_is_bounded() {
        let long = "x".repeat(100_000);
        let ends = stream(Overflow::Ends, 1 << 20);
        (0..100).for_each(|_| ends.send(&long));
        assert!(ends.has_ended());

        let forgets = stream(Overflow::Forgets, 1 << 20);
        (0..100).for_each(|_| forgets.send(&long));
        assert!(!forgets.has_ended());
        let (text, _) = read(&mut forgets.read(None));
        assert!(text.contains("id: 7-100\n") && text.len() <= ROOM + PIECE, "{}", text.len());
        assert!(forgets.state().read_bytes <= KEPT);

        let poor = stream(Overflow::Forgets, 0);
        poor.send("a");
        read(&mut poor.read(None));
        assert_eq!(poor.state().events.len(), 0, "nothing is kept beyond the budget");

        let news = stream(Overflow::Ends, 1 << 20);
        (0..100).for_each(|_| news.offer(&long));
        assert!(!news.has_ended() && news.state().unread_bytes <= NEWS_ROOM);
    }
}
