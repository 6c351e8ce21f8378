//! Questions in the middle of a call, the modern way: a call that has begun to act cannot be made anew with the answer. So
//! it is parked while its request is answered with the question, and goes on when the request comes again.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::dispatch::Completed;
use crate::gate::approval::{Answer, Approver, Question};
use crate::model::error::ProtocolError;

/// So many calls wait for people at once. Whoever asks beyond that is told that nobody answers in time.
const MOST: usize = 64;

/// A question, and where the answer goes.
struct Asked {
    question: Question,
    reply: oneshot::Sender<Answer>,
}

/// Asks whoever is attached to the call, and waits for the answer.
pub(super) struct Midway {
    questions: mpsc::UnboundedSender<Asked>,
}

impl Approver for Midway {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            // Where nobody takes it, or it is let go without an answer, the time was up.
            let _ = self.questions.send(Asked { question: question.clone(), reply });
            answer.await.unwrap_or(Answer::TimedOut)
        })
    }
}

/// Where a call puts its questions, and where they come out.
pub(super) fn channel() -> (Arc<Midway>, Questions) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Arc::new(Midway { questions: sender }), Questions(receiver))
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
    /// What the person is asked.
    pub(crate) fn question(&self) -> &Question {
        &self.asked.question
    }

    /// Nobody comes with the answer: the call goes on without it, to its end and without anybody.
    fn lapse(self) {
        drop(self.asked);
        self.acting.attached.disarm();
    }

    /// Lets the call go on with what the person says.
    pub(crate) fn answer(self, answer: Answer) -> Acting {
        // It may have given up on the answer.
        let _ = self.asked.reply.send(answer);
        self.acting
    }
}

/// The calls that wait for people, by the nonce of the state that their clients hold.
#[derive(Default)]
pub(super) struct Parked(Mutex<HashMap<String, Paused>>);

impl Parked {
    /// Whether one more can be parked.
    pub(super) fn has_room(&self) -> bool {
        self.calls().len() < MOST
    }

    /// Keeps a call for as long as its client may come with the answer. After that the answer is that there was none, and
    /// the call goes on to its end without anybody.
    pub(super) fn park(self: &Arc<Self>, nonce: String, paused: Paused, lifetime: Duration) {
        self.calls().insert(nonce.clone(), paused);
        let parked = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(lifetime).await;
            if let Some(paused) = parked.take(&nonce) {
                paused.lapse();
            }
        });
    }

    pub(super) fn take(&self, nonce: &str) -> Option<Paused> {
        self.calls().remove(nonce)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Paused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
