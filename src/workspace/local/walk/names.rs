//! The names in an open folder, all of them in one piece of memory.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::str;

use rustix::fs::FileType;

use crate::workspace::Kind;
use crate::workspace::local::folder::kind;
use crate::workspace::local::walk::open;
use crate::workspace::walk::ignored::Holds;

/// The names in a folder, and what each is.
#[derive(Default)]
pub(super) struct Names {
    text: String,
    folders: Vec<Range<usize>>,
    files: Vec<(Range<usize>, Kind)>,
    unnamed: u64,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.folders.len() + self.files.len()
    }

    /// How many names are not UTF-8; they are none of the others.
    pub(super) fn unnamed(&self) -> u64 {
        self.unnamed
    }

    /// The names of folders.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(|range| &self.text[range.clone()])
    }

    /// The names of everything else.
    pub(super) fn files(&self) -> impl ExactSizeIterator<Item = (&str, Kind)> {
        self.files.iter().map(|(range, kind)| (&self.text[range.clone()], *kind))
    }

    fn add(&mut self, folder: &OwnedFd, name: &[u8], file_type: FileType) {
        if matches!(name, b"." | b"..") {
            return;
        }
        let Ok(name) = str::from_utf8(name) else {
            self.unnamed += 1;
            return;
        };
        let kind = match kind(file_type) {
            Some(kind) => kind,
            // The folder does not tell. What has gone meanwhile is not there.
            None => match open::look(folder, name) {
                Ok((kind, _)) => kind,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                Err(_) => Kind::Other,
            },
        };
        let from = self.text.len();
        self.text.push_str(name);
        let range = from..self.text.len();
        match kind {
            Kind::Dir => self.folders.push(range),
            kind => self.files.push((range, kind)),
        }
    }
}

/// Reads all names.
#[cfg(target_os = "linux")]
pub(super) fn read(folder: &OwnedFd) -> io::Result<(Names, Holds)> {
    use std::mem::MaybeUninit;

    use rustix::fs::RawDir;
    use rustix::io::Errno;

    let (mut names, mut holds) = (Names::default(), Holds::default());
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => {
                holds.note(entry.file_name().to_bytes());
                names.add(folder, entry.file_name().to_bytes(), entry.file_type());
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((names, holds))
}

/// Reads all names.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(folder: &OwnedFd) -> io::Result<(Names, Holds)> {
    let (mut names, mut holds) = (Names::default(), Holds::default());
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        holds.note(entry.file_name().to_bytes());
        names.add(folder, entry.file_name().to_bytes(), entry.file_type());
    }
    Ok((names, holds))
}
