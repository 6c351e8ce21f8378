//! Starts the process that runs a program: the same executable anew, with an empty environment and nothing but pipes.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{OnceLock, mpsc};

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::code::worker::{ARGUMENT, is_worker};

/// Which program the process is that runs a model's program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WorkerProgram {
    /// The one that serves. Its `main` calls [`be_worker_if_asked`](crate::code::be_worker_if_asked) first of all.
    #[default]
    ThisOne,
    /// Another one whose `main` does that, such as `toolgate` of the same version.
    At(PathBuf),
}

impl WorkerProgram {
    fn command(&self) -> io::Result<Command> {
        let path = match self {
            // By this name it is found also where it was replaced or removed since it was started.
            WorkerProgram::ThisOne if cfg!(target_os = "linux") => PathBuf::from("/proc/self/exe"),
            WorkerProgram::ThisOne => std::env::current_exe()?,
            WorkerProgram::At(path) => path.clone(),
        };
        let mut command = Command::new(path);
        command.arg(ARGUMENT).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.kill_on_drop(true);
        if cfg!(unix) {
            command.current_dir("/");
        }
        Ok(command)
    }
}

/// A process that runs a program. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Worker {
    /// Starts one.
    ///
    /// # Errors
    /// It cannot be started, or this very process is one whose `main` does not know it.
    pub(super) async fn start(program: &WorkerProgram) -> io::Result<Self> {
        if is_worker() {
            return Err(io::Error::other(
                "this process was itself started to run a program; its main has to call toolgate::code::be_worker_if_asked() \
                 before anything else",
            ));
        }
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (reply, started) = oneshot::channel();
        let order = Order { command: program.command()?, runtime, reply };
        nursery().and_then(|orders| orders.send(order).ok()).ok_or_else(gone)?;
        let mut child = started.await.map_err(|_| gone())??;
        let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or_else(gone)?;
        Ok(Worker { child, stdin, stdout })
    }

    /// Kills it, if it has not ended by itself, and waits until it is gone.
    pub(super) async fn end(mut self) -> io::Result<ExitStatus> {
        drop(self.stdin);
        // It may have ended by itself.
        let _ = self.child.start_kill();
        self.child.wait().await
    }

    /// Waits for the end of one that has closed its output, and so is ending.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }
}

/// A process to be started.
struct Order {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

fn gone() -> io::Error {
    io::Error::other("no process can be started: the thread that does it is not there")
}

/// The thread that starts processes. Linux ends a child with the thread that has started it, so that must be one that stays
/// as long as the server does.
fn nursery() -> Option<&'static mpsc::Sender<Order>> {
    static NURSERY: OnceLock<Option<mpsc::Sender<Order>>> = OnceLock::new();
    let nursery = NURSERY.get_or_init(|| {
        let (sender, orders) = mpsc::channel::<Order>();
        let serve = move || {
            for Order { mut command, runtime, reply } in orders {
                let _inside = runtime.enter();
                // Nobody waits for it any more: then it is dropped, and so killed.
                let _ = reply.send(command.spawn());
            }
        };
        std::thread::Builder::new().name("workers".to_owned()).spawn(serve).ok().map(|_| sender)
    });
    nursery.as_ref()
}
