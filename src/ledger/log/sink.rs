//! Where a session log is written: a file, or memory.

use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use cap_std::fs::Dir;

use crate::ledger::store::{self, hold};
use crate::workspace::space;

/// Takes what is written, in order.
pub(in crate::ledger) trait Sink: Send {
    /// Writes some of `bytes` and says how many.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Makes what was written outlive the loss of power.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file that is made when there is something to write.
#[derive(Debug)]
pub(in crate::ledger) struct FileSink {
    dir: Dir,
    name: String,
    file: Option<File>,
    synced: bool,
    durable_name: bool,
}

impl FileSink {
    pub(in crate::ledger) fn new(dir: Dir, name: String) -> Self {
        FileSink { dir, name, file: None, synced: true, durable_name: false }
    }

    /// The file; anew if somebody has removed it, so that nothing is written where nobody finds it.
    fn file(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) if !removed(&file)? => file,
            _ => {
                self.durable_name = false;
                store::append(&self.dir, &self.name)?
            }
        };
        Ok(self.file.insert(file))
    }
}

#[cfg(unix)]
fn removed(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) == 0)
}

#[cfg(not(unix))]
fn removed(_: &File) -> io::Result<bool> {
    // An open file cannot be removed.
    Ok(false)
}

impl Sink for FileSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        self.synced = false;
        let file = self.file()?;
        space::may_hold(file.metadata()?.len() + bytes.len() as u64)?;
        file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.synced {
            return Ok(());
        }
        if let Err(error) = self.file()?.sync_data() {
            // What was to be synced is not tried again, since the system may have given it up and would not say so.
            self.file = None;
            self.synced = true;
            return Err(error);
        }
        if !self.durable_name {
            store::sync_folder(&self.dir)?;
            self.durable_name = true;
        }
        self.synced = true;
        Ok(())
    }
}

/// More than twice this is not held in memory: the oldest lines go.
const HELD: usize = 4 * 1024 * 1024;

/// Bytes that whoever holds the other end can look at.
#[derive(Debug, Clone, Default)]
pub(in crate::ledger) struct MemorySink(pub(in crate::ledger) Arc<Mutex<Vec<u8>>>);

impl Sink for MemorySink {
    /// Takes whole lines.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = hold(&self.0);
        held.extend_from_slice(bytes);
        if held.len() > 2 * HELD {
            let old = held.len() - HELD;
            let lines = memchr::memchr(b'\n', &held[old..]).map_or(held.len(), |end| old + end + 1);
            held.drain(..lines);
        }
        Ok(bytes.len())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
