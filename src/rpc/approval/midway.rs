//! Questions in the middle of a call, the modern way: a call that has begun to act cannot be made anew with the answer. So
//! it is parked while its request is answered with the question, and goes on when the request comes again.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::dispatch::Completed;
use crate::gate::approval::{Answer, Approver, Question};
use crate::model::error::ProtocolError;
use crate::rpc::approval::modern::Deferred;
use crate::rpc::approval::state::{Digest, Pending};
use crate::rpc::capabilities::Abilities;
use crate::tool::ask::{Asker, Capability, Request, Unanswered};

/// How long calls that have been taken back may take to notice.
const NOTICE: Duration = Duration::from_secs(4);

/// So many calls wait for people at once. One beyond that takes the place of the one that has waited longest of whoever has most,
/// if that makes their shares more equal, and else is not kept; whichever has to go on is told that there was no room.
const MOST: usize = 64;

/// A question, and where the answer goes.
enum Asked {
    /// Whether a call may run.
    Word { question: Question, reply: oneshot::Sender<Answer> },
    /// What a tool wants to know.
    Request { key: String, request: Request, reply: oneshot::Sender<Result<Map<String, Value>, Unanswered>> },
}

/// What a request that comes again says to the question of its call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Said {
    /// The person's word on a call.
    pub(super) word: Option<Answer>,
    /// Answers to tools, by their keys.
    pub(super) answers: Map<String, Value>,
}

/// Asks whoever is attached to the call, and waits for the answer.
pub(super) struct Midway {
    questions: mpsc::UnboundedSender<Asked>,
    /// What the request that has begun the call declares.
    abilities: Abilities,
}

impl Approver for Midway {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            if !self.abilities.can(Capability::Elicitation) {
                return Answer::Nobody;
            }
            let (reply, answer) = oneshot::channel();
            // Where nobody takes it, or it is let go without an answer, the time was up.
            let _ = self.questions.send(Asked::Word { question: question.clone(), reply });
            answer.await.unwrap_or(Answer::TimedOut)
        })
    }
}

impl Asker for Midway {
    fn can(&self, capability: Capability) -> bool {
        self.abilities.can(capability)
    }

    fn ask<'a>(&'a self, key: &'a str, request: &'a Request) -> BoxFuture<'a, Result<Map<String, Value>, Unanswered>> {
        Box::pin(async move {
            let needs = request.needs();
            if !self.abilities.can(needs) {
                return Err(Unanswered::Unable(needs));
            }
            let (reply, answer) = oneshot::channel();
            let _ = self.questions.send(Asked::Request { key: key.to_owned(), request: request.clone(), reply });
            answer.await.unwrap_or(Err(Unanswered::TimedOut))
        })
    }
}

/// Where a call puts its questions, and where they come out.
pub(super) fn channel(abilities: Abilities) -> (Arc<Midway>, Questions) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Arc::new(Midway { questions: sender, abilities }), Questions(receiver))
}

/// The questions of one call.
pub(crate) struct Questions(mpsc::UnboundedReceiver<Asked>);

/// A call that goes on by itself, whether or not a request is there for it.
pub(crate) struct Acting {
    call: JoinHandle<Result<Completed, ProtocolError>>,
    questions: Questions,
    cancel: CancellationToken,
    /// Takes the call back when nobody is there for it any more; it then still goes on to its end.
    attached: DropGuard,
}

/// What comes next of a call.
pub(crate) enum Next {
    /// It is done; nothing where the call panicked outside of its tool.
    Done(Option<Result<Completed, ProtocolError>>),
    /// A person has to be asked.
    Asks(Paused),
}

/// A question that stands between a call and its going on.
pub(crate) struct Paused {
    acting: Acting,
    asked: Asked,
}

impl Acting {
    /// Lets `call` go on in the runtime; `cancel` takes it back.
    pub(crate) fn begin(
        call: impl Future<Output = Result<Completed, ProtocolError>> + Send + 'static,
        questions: Questions,
        cancel: CancellationToken,
    ) -> Self {
        Acting { call: tokio::spawn(call), questions, attached: cancel.clone().drop_guard(), cancel }
    }

    /// Waits for what comes next. If `request` is taken back meanwhile, so is the call.
    pub(crate) async fn next(mut self, request: &CancellationToken) -> Next {
        let mut taken_back = pin!(request.cancelled());
        let next = poll_fn(|cx| {
            if !self.cancel.is_cancelled() && taken_back.as_mut().poll(cx).is_ready() {
                self.cancel.cancel();
            }
            if let Poll::Ready(done) = self.call.poll_unpin(cx) {
                return Poll::Ready(Err(done));
            }
            match self.questions.0.poll_recv(cx) {
                Poll::Ready(Some(asked)) => Poll::Ready(Ok(asked)),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            }
        })
        .await;
        match next {
            Ok(asked) => Next::Asks(Paused { acting: self, asked }),
            Err(done) => Next::Done(done.ok()),
        }
    }
}

impl Paused {
    /// What is to be asked, and what the state of it says.
    pub(super) fn deferred(&self) -> Deferred {
        let mut deferred = Deferred { pending: Pending { midway: true, ..Pending::default() }, ..Deferred::default() };
        match &self.asked {
            Asked::Word { question, .. } => {
                deferred.pending.question = Some(Digest(question.digest));
                deferred.question = Some(question.clone());
            }
            Asked::Request { key, request, .. } => deferred.requests.push((key.clone(), request.clone())),
        }
        deferred
    }

    /// Nobody comes with the answer: the call goes on without it, to its end and without anybody.
    fn lapse(self) {
        drop(self.asked);
        self.acting.attached.disarm();
    }

    /// The same for one that others need the room of.
    fn give_way(self) {
        self.crowded_out().attached.disarm();
    }

    /// Lets the call go on without an answer, since there is no room to wait for it.
    pub(crate) fn crowded_out(self) -> Acting {
        // It may have given up on the answer.
        match self.asked {
            Asked::Word { reply, .. } => drop(reply.send(Answer::Crowded)),
            Asked::Request { reply, .. } => drop(reply.send(Err(Unanswered::Crowded))),
        }
        self.acting
    }

    /// Lets the call go on with what was said to its question; back where nothing was.
    pub(crate) fn answer(self, said: &mut Said) -> Result<Acting, Box<Paused>> {
        // It may have given up on the answer.
        match self.asked {
            Asked::Word { question, reply } => match said.word.take() {
                Some(word) => drop(reply.send(word)),
                None => return Err(Box::new(Paused { asked: Asked::Word { question, reply }, acting: self.acting })),
            },
            Asked::Request { key, request, reply } => match said.answers.remove(&key) {
                Some(Value::Object(answer)) => drop(reply.send(Ok(answer))),
                _ => {
                    return Err(Box::new(Paused {
                        asked: Asked::Request { key, request, reply },
                        acting: self.acting,
                    }));
                }
            },
        }
        Ok(self.acting)
    }
}

/// The calls that wait for people.
#[derive(Clone, Default)]
pub(crate) struct Parked(Arc<Mutex<Lot>>);

#[derive(Default)]
struct Lot {
    /// By the nonce of the state that their clients hold.
    calls: HashMap<String, Waits>,
    /// How many there have been.
    came: u64,
}

/// A call that waits.
struct Waits {
    paused: Paused,
    /// Who made it.
    principal: String,
    /// How many came before it.
    place: u64,
}

impl Parked {
    /// Keeps a call for as long as its client may come with the answer. After that the answer is that there was none, and
    /// the call goes on to its end without anybody. Gives it back where there is no room.
    pub(super) fn park(
        &self,
        nonce: String,
        principal: &str,
        paused: Paused,
        lifetime: Duration,
    ) -> Result<(), Box<Paused>> {
        let mut lot = self.lot();
        let gives_way = if lot.calls.len() < MOST { None } else { lot.greediest(principal) };
        let gives_way = gives_way.and_then(|nonce| lot.calls.remove(&nonce));
        if lot.calls.len() >= MOST {
            return Err(Box::new(paused));
        }
        lot.came += 1;
        let waits = Waits { paused, principal: principal.to_owned(), place: lot.came };
        lot.calls.insert(nonce.clone(), waits);
        drop(lot);
        if let Some(other) = gives_way {
            other.paused.give_way();
        }
        let parked = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(lifetime).await;
            if let Some(paused) = parked.take(&nonce) {
                paused.lapse();
            }
        });
        Ok(())
    }

    pub(super) fn take(&self, nonce: &str) -> Option<Paused> {
        self.lot().calls.remove(nonce).map(|waits| waits.paused)
    }

    /// Takes back what waits for people, since nobody can come any more, and waits until it has noticed: how it has ended is
    /// recorded then.
    pub(crate) fn end(&self) {
        let parked: Vec<_> = self.lot().calls.drain().map(|(_, waits)| waits.paused).collect();
        let ending: Vec<_> = parked
            .into_iter()
            .map(|paused| {
                // Before its question goes: it is not to go on as if nobody had answered.
                paused.acting.cancel.cancel();
                paused.acting.call
            })
            .collect();
        let began = Instant::now();
        while !ending.iter().all(JoinHandle::is_finished) && began.elapsed() < NOTICE {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn lot(&self) -> MutexGuard<'_, Lot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lot {
    /// The call that gives way to one of `principal`: the oldest of whoever has most, unless that is hardly more than they have.
    fn greediest(&self, principal: &str) -> Option<String> {
        let mut shares: HashMap<&str, usize> = HashMap::new();
        for waits in self.calls.values() {
            *shares.entry(&waits.principal).or_default() += 1;
        }
        let own = shares.get(principal).copied().unwrap_or_default();
        let most = shares.values().copied().max()?;
        if most <= own + 1 {
            return None;
        }
        let of_most = self.calls.iter().filter(|(_, waits)| shares.get(&*waits.principal) == Some(&most));
        of_most.min_by_key(|(_, waits)| waits.place).map(|(nonce, _)| nonce.clone())
    }
}
