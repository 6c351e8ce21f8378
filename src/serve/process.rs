//! The process's own standard streams, as a server needs them.

use std::io::{self, Read, Write};

/// Standard input, which may have been left in non-blocking mode by whoever shares it.
#[cfg(unix)]
pub(super) fn stdin() -> impl Read + Send + 'static {
    widen(rustix::stdio::stdin());
    patient::Patient(io::stdin())
}

/// The real standard output, for frames alone: from now on what anything else prints ends up on standard error.
#[cfg(unix)]
pub(super) fn private_stdout() -> io::Result<impl Write + Send + 'static> {
    let frames = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    widen(&frames);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(patient::Patient(io::PipeWriter::from(frames)))
}

/// Lets a pipe hold as much as anybody may ask for: both ends then wait for each other less often. What is no pipe, or may
/// not be made wider, stays as it is.
#[cfg(target_os = "linux")]
fn widen(pipe: impl std::os::fd::AsFd) {
    const BYTES: usize = 1024 * 1024;
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, BYTES);
}

#[cfg(all(unix, not(target_os = "linux")))]
fn widen(_: impl std::os::fd::AsFd) {}

/// Lets the process have as many files open as it may: each connection is one.
#[cfg(unix)]
pub(super) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::debug!(%error, "no more files may be open than usual");
    }
}

#[cfg(not(unix))]
pub(super) fn raise_open_files() {}

#[cfg(not(unix))]
pub(super) fn stdin() -> impl Read + Send + 'static {
    io::stdin()
}

#[cfg(not(unix))]
pub(super) fn private_stdout() -> io::Result<impl Write + Send + 'static> {
    Ok(io::stdout())
}

#[cfg(unix)]
mod patient {
    use std::io::{self, ErrorKind, Read, Write};
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, poll};

    /// A stream that waits where a non-blocking one says that it would have to.
    pub(super) struct Patient<S>(pub(super) S);

    impl<S: AsFd> Patient<S> {
        fn patiently<T>(&mut self, ready: PollFlags, mut work: impl FnMut(&mut S) -> io::Result<T>) -> io::Result<T> {
            loop {
                match work(&mut self.0) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        poll(&mut [PollFd::new(&self.0, ready)], None)?;
                    }
                    done => return done,
                }
            }
        }
    }

    impl<S: AsFd + Read> Read for Patient<S> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.patiently(PollFlags::IN, |stream| stream.read(buffer))
        }
    }

    impl<S: AsFd + Write> Write for Patient<S> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.patiently(PollFlags::OUT, |stream| stream.write(bytes))
        }

        fn flush(&mut self) -> io::Result<()> {
            self.patiently(PollFlags::OUT, Write::flush)
        }
    }
}
