//! Where files live: the trait, what it promises, and its homes. The only code that touches files.

pub mod conformance;
mod error;
pub mod local;
pub mod memory;
pub(crate) mod nodes;
mod replace;
pub(crate) mod space;
pub mod walk;
mod watch;

use std::fmt;
use std::io::{self, Read, Seek};
use std::sync::Arc;

pub use crate::workspace::watch::{Sighting, Tell, Watch};

use crate::model::change::ChangeSet;
use crate::model::event::FsStep;
use crate::model::id::KeptId;
use crate::model::path::WsPath;
use crate::model::version::Version;
pub use crate::workspace::error::{FileError, FileErrorKind};
pub use crate::workspace::walk::{Body, Flow, Found, Unreadable, Walk, Walked};

/// A home of files. Paths are resolved inside it and cannot leave it.
///
/// Reading follows links that stay inside. [`Workspace::commit`] is the only way to change anything.
/// [`conformance`] holds every home to the same behaviour.
pub trait Workspace: Send + Sync + 'static {
    /// What this home guarantees.
    fn promise(&self) -> Promise;

    /// The folders of the system that the workspace is made of; none where it is not on disk.
    fn roots(&self) -> &[Root] {
        &[]
    }

    /// What is at `path`, a link followed.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`] and whatever the home runs into.
    fn stat(&self, path: &WsPath) -> Result<Stat, FileError>;

    /// What is at `path`, a link itself and what it leads to.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`] and whatever the home runs into.
    fn about(&self, path: &WsPath) -> Result<About, FileError> {
        let stat = self.stat(path)?;
        Ok(About { stat: Some(stat), target: None, mode: None, modified: None })
    }

    /// Opens a regular file for reading. Never waits: a FIFO or device is [`FileErrorKind::NotAFile`] at once.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`], [`FileErrorKind::NotAFile`] and whatever the home runs into.
    fn open(&self, path: &WsPath) -> Result<OpenFile, FileError>;

    /// Where the links on the way to `path` lead: the same path if there are none, or if they lead nowhere.
    fn real(&self, path: &WsPath) -> WsPath {
        path.clone()
    }

    /// The entries of a folder in the byte order of their names: the first `limit`, and how many there are.
    /// An entry that cannot be looked at is an entry all the same.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`], [`FileErrorKind::NotADirectory`] and whatever the home runs into.
    fn list(&self, path: &WsPath, limit: usize) -> Result<Listing, FileError>;

    /// Shows everything below the folder `path`, or the file that is there, to [`Walk::visit`]. No link is followed, so
    /// that each file is shown once and nothing leads round in circles; `path` itself is one that [`Workspace::real`]
    /// gave. A folder below that cannot be read is told in the result.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`] and whatever the home runs into with `path` itself.
    fn walk(&self, path: &WsPath, asked: &Walk<'_>) -> Result<Walked, FileError> {
        walk::plain(self, path, asked)
    }

    /// What `path` itself is: a link at its end is not followed.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`] and whatever the home runs into.
    fn look(&self, path: &WsPath) -> Result<Kind, FileError>;

    /// Everything at `path` and below it, no link followed.
    ///
    /// # Errors
    /// [`FileErrorKind::NotFound`] and whatever the home runs into, at the path where it does: what cannot be looked
    /// at is never left out.
    fn survey(&self, path: &WsPath, depth: Depth) -> Result<Survey, FileError>;

    /// Begins to see what happens to files, whoever does it, and tells `tell`; until something is to be watched that is
    /// nothing. Nothing comes back from a home that cannot see what others do.
    fn watch(&self, _tell: Tell) -> Option<Arc<dyn Watch>> {
        None
    }

    /// Performs all steps of `set`, or none. `journal` is told before anything changes and keeps what is displaced.
    ///
    /// # Errors
    /// [`FileErrorKind::Stale`] where an expectation does not hold, [`FileErrorKind::NoSpace`] or
    /// [`FileErrorKind::Io`] where the journal fails; everything is then as it was, but for [`FileErrorKind::Unsettled`].
    fn commit(&self, set: &ChangeSet, journal: &dyn Journal) -> Result<(), FileError>;

    /// Finishes or clears away what a crash left of a change: `steps` as the journal was told them. Where all files have
    /// their new bytes, what was displaced is given to `journal` and the change stands; else all are put back. Bytes that
    /// are neither the old nor the new ones are somebody else's, and stay or are given to `journal`. It is for a change
    /// that was not told as done or failed, before anything else changes the same files.
    ///
    /// # Errors
    /// Whatever the home runs into; it can be tried again.
    fn recover(&self, steps: &[FsStep], journal: &dyn Journal) -> Result<Recovered, FileError>;
}

/// A folder of the system that a workspace is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where it is in the workspace: at the root if it is the only one, else its name.
    pub at: WsPath,
    /// Absolute paths of it, which a caller may write before a path: as it was typed where that says the same, and as the
    /// system resolves it.
    pub spellings: Vec<String>,
}

/// What a commit tells while it runs, and where displaced bytes go.
pub trait Journal: Send + Sync {
    /// This is about to happen: folders are made, then files written and deleted, then folders removed. Told once, and
    /// not for a set that changes nothing. Steps on one file are told as one, and a folder that is there already is not
    /// told. Once it returns, the intent outlives a crash.
    ///
    /// # Errors
    /// The intent cannot be recorded; nothing is changed then.
    fn intend(&self, steps: &[FsStep]) -> io::Result<()>;

    /// Takes what a step displaced, once all files of the change are in place. Once it returns, the bytes outlive a crash
    /// and the file beside the new one may go. A recovery may give the same bytes again, and bytes that somebody else
    /// had put in the way.
    ///
    /// # Errors
    /// The bytes cannot be kept; everything is put back then.
    fn keep(&self, displaced: &Displaced<'_>) -> io::Result<()>;

    /// Takes something whole, once all steps of the change are in place: moves it away, or copies it. What it had under
    /// that name before goes. Once it returns, what it has outlives a crash. A journal that keeps nothing leaves it, and
    /// it is gone for good then.
    ///
    /// # Errors
    /// It cannot be kept; it is where it was, and everything is put back.
    fn take(&self, _node: &Node<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Whether [`Journal::take`] has come to its end for `kept`, and nothing was given back since.
    ///
    /// # Errors
    /// It cannot be told.
    fn has(&self, _kept: KeptId) -> io::Result<bool> {
        Ok(false)
    }

    /// Gives back what was taken, as `name` in `folder`, which nothing has: moves it there, or copies it, and has it
    /// still then.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where it is not kept, and whatever keeps it from getting there.
    fn give_back(&self, _kept: KeptId, _folder: &cap_std::fs::Dir, _name: &str) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// Lets go of what it has under that name, if it has anything.
    ///
    /// # Errors
    /// It is still there.
    fn forget(&self, _kept: KeptId) -> io::Result<()> {
        Ok(())
    }
}

/// Something that is taken out of a workspace whole: a file, a link, or a folder with all that is in it.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    /// Under which name it is to be kept.
    pub kept: KeptId,
    /// How many bytes are in it.
    pub bytes: u64,
    /// The open folder that holds it.
    pub folder: &'a cap_std::fs::Dir,
    /// Its name there.
    pub name: &'a str,
}

/// What it means for a commit that the journal fails.
pub(crate) fn journal_failed(error: io::Error) -> FileErrorKind {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => FileErrorKind::NoSpace,
        kind => FileErrorKind::Io(io::Error::new(kind, format!("the change cannot be recorded: {error}"))),
    }
}

/// Keeps nothing: for a workspace whose changes nobody wants to undo.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn intend(&self, _: &[FsStep]) -> io::Result<()> {
        Ok(())
    }

    fn keep(&self, _: &Displaced<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes that a step displaced.
pub struct Displaced<'a> {
    /// Which path they were at.
    pub path: &'a WsPath,
    /// Their version.
    pub version: Version,
    /// The permission bits of the file, where there are any.
    pub mode: Option<u32>,
    /// Where they are now.
    pub source: DisplacedSource<'a>,
}

/// Where displaced bytes are.
pub enum DisplacedSource<'a> {
    /// In memory.
    Bytes(&'a bytes::Bytes),
    /// In a file that nobody needs any more; it may be moved away instead of copied.
    File {
        /// The open folder that holds it.
        folder: &'a cap_std::fs::Dir,
        /// Its name there.
        name: &'a str,
    },
}

/// What became of a change that a crash had interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovered {
    /// It stands, whole.
    Done,
    /// It has not happened.
    Void,
}

/// What tells a file apart without reading it: equal identities are equal bytes, different ones say nothing. A hint to
/// hash again, never a proof of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Identity(pub u128);

/// What a home guarantees about changes and folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promise {
    /// How far a failure can reach.
    pub atomic: Atomic,
    /// What a change outlives once it is told as done.
    pub durable: Durability,
    /// Folders exist by the files in them: none need to be made, none can be empty.
    pub folders_implied: bool,
}

/// How far a failure in the middle of a commit can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    /// Each file is old or new; a failure takes the whole set back, a crash may leave some files new.
    PerFile,
    /// The set is done or not done, whatever happens.
    WholeSet,
}

/// What a change outlives once it is told as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process.
    Process,
    /// The loss of power.
    Full,
    /// Nothing: it lives in memory.
    None,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Link,
    /// A device, FIFO, socket or the like.
    Other,
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes as the system tells it. A hint: some files tell 0 and hold more.
    pub size: u64,
    /// Which file it is and when it was last touched, where the home can tell.
    pub identity: Option<Identity>,
}

/// More about a file than it takes to work with it: what people ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// What it is, a link followed; nothing if a link is broken or leads outside.
    pub stat: Option<Stat>,
    /// Where a link points, as it is written there.
    pub target: Option<String>,
    /// The permission bits, where there are any.
    pub mode: Option<u32>,
    /// When the content was last changed.
    pub modified: Option<jiff::Timestamp>,
}

/// How much of each entry a survey looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Its name and kind.
    Names,
    /// Its size and everything that tells whether it has changed.
    Marks,
}

/// Something in a workspace with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// What it is.
    pub kind: Kind,
    /// What is below it, at any depth, in the order of paths.
    pub below: Vec<Surveyed>,
    /// How many bytes its files have; nought where nobody asked.
    pub bytes: u64,
    /// Stays the same as long as nothing in it changes: names and kinds, and where somebody asked for marks also modes,
    /// sizes, times, what links say.
    pub mark: Version,
}

/// One of the things in a folder, at any depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surveyed {
    /// Its path below the folder, `/` between the parts; where a name is not UTF-8, odd bytes stand as `\xNN`.
    pub path: String,
    /// What it is. A folder of another file system is [`Kind::Other`], and not looked into.
    pub kind: Kind,
}

/// A regular file, open for reading.
pub struct OpenFile {
    /// What is known of it.
    pub stat: Stat,
    /// Its bytes.
    pub content: Box<dyn Content>,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("stat", &self.stat).finish_non_exhaustive()
    }
}

/// The bytes of an open file.
pub trait Content: Read + Seek + Send {}
impl<T: Read + Seek + Send> Content for T {}

/// Part of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The entries, by the bytes of their names.
    pub entries: Vec<Entry>,
    /// How many the folder holds in all.
    pub total: usize,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name; where that is not UTF-8, odd bytes stand as `\xNN` and `addressable` is false.
    pub name: String,
    /// Whether `name` can be used in a path.
    pub addressable: bool,
    /// What it is, a link not followed; nothing if it cannot be looked at.
    pub kind: Option<Kind>,
    /// Its length in bytes, for a file.
    pub size: Option<u64>,
    /// For a link: where it points, as written.
    pub target: Option<String>,
    /// For a link: what it leads to, nothing if it is broken or leads outside.
    pub leads_to: Option<Kind>,
}
