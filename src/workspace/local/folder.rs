//! An open folder: the names in it, and a look at each.

#[cfg(not(unix))]
pub(super) use portable::Folder;
#[cfg(unix)]
pub(super) use unix::{Folder, kind};

use std::ffi::OsString;

use crate::workspace::Kind;

/// A name in a folder, and what it is where the folder itself tells.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) name: OsString,
    pub(super) kind: Option<Kind>,
}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::Path;

    use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
    use rustix::fs::{AtFlags, FileType, OFlags, readlinkat, statat};
    use rustix::io::retry_on_intr;

    use super::Name;
    use crate::workspace::Kind;
    use crate::workspace::local::patiently;

    /// A folder that is open for reading.
    pub(in crate::workspace::local) struct Folder(rustix::fs::Dir);

    impl Folder {
        pub(in crate::workspace::local) fn open(root: &Dir, path: &Path) -> io::Result<Self> {
            let mut options = OpenOptions::new();
            options.read(true).custom_flags((OFlags::DIRECTORY | OFlags::NONBLOCK).bits().cast_signed());
            let folder = OwnedFd::from(patiently(|| root.open_with(path, &options))?.into_std());
            Ok(Folder(rustix::fs::Dir::new(folder)?))
        }

        /// All names but the folder's own and its parent's, in the order of the disk.
        pub(in crate::workspace::local) fn names(&mut self) -> io::Result<Vec<Name>> {
            let mut names = Vec::new();
            while let Some(entry) = self.0.read() {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if name != b"." && name != b".." {
                    names.push(Name { name: OsStr::from_bytes(name).to_owned(), kind: kind(entry.file_type()) });
                }
            }
            Ok(names)
        }

        /// What `name` is and how long, a link not followed.
        pub(in crate::workspace::local) fn look(&self, name: &OsStr) -> io::Result<(Option<Kind>, u64)> {
            let stat = retry_on_intr(|| statat(self.0.fd()?, name, AtFlags::SYMLINK_NOFOLLOW))?;
            #[allow(clippy::unnecessary_cast, reason = "the type differs between systems")]
            let size = u64::try_from(stat.st_size as i64).unwrap_or(0);
            Ok((kind(FileType::from_raw_mode(stat.st_mode)), size))
        }

        /// What the link `name` says.
        pub(in crate::workspace::local) fn target(&self, name: &OsStr) -> Option<OsString> {
            let target = readlinkat(self.0.fd().ok()?, name, Vec::new()).ok()?;
            Some(OsString::from_vec(target.into_bytes()))
        }
    }

    /// What a file type is in the workspace's words; nothing where the folder does not tell.
    pub(in crate::workspace::local) fn kind(file_type: FileType) -> Option<Kind> {
        match file_type {
            FileType::RegularFile => Some(Kind::File),
            FileType::Directory => Some(Kind::Dir),
            FileType::Symlink => Some(Kind::Link),
            FileType::Unknown => None,
            _ => Some(Kind::Other),
        }
    }
}

#[cfg(not(unix))]
mod portable {
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::path::Path;

    use cap_std::fs::Dir;

    use super::Name;
    use crate::workspace::Kind;
    use crate::workspace::local::read::kind_of;

    /// A folder that is open for reading.
    pub(in crate::workspace::local) struct Folder(Dir);

    impl Folder {
        pub(in crate::workspace::local) fn open(root: &Dir, path: &Path) -> io::Result<Self> {
            root.open_dir(path).map(Folder)
        }

        pub(in crate::workspace::local) fn names(&mut self) -> io::Result<Vec<Name>> {
            self.0.entries()?.map(|entry| entry.map(|entry| Name { name: entry.file_name(), kind: None })).collect()
        }

        pub(in crate::workspace::local) fn look(&self, name: &OsStr) -> io::Result<(Option<Kind>, u64)> {
            let metadata = self.0.symlink_metadata(name)?;
            Ok((Some(kind_of(&metadata.file_type())), metadata.len()))
        }

        pub(in crate::workspace::local) fn target(&self, name: &OsStr) -> Option<OsString> {
            self.0.read_link_contents(name).ok().map(|target| target.into_os_string())
        }
    }
}
