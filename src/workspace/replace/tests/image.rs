//! A disk that is played: what is on it for certain, and what would be if the power went now.
//!
//! Of what was not waited for, anything may be missing: the bytes of a file wholly or in part, and each change of
//! names in a folder by itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::identity::FileId;
use super::super::trial::Deed;

/// A name in a folder.
type Name = (FileId, OsString);

/// What a disk holds.
#[derive(Debug, Clone)]
pub(super) struct Image {
    root: FileId,
    names: BTreeMap<Name, FileId>,
    nodes: HashMap<FileId, Node>,
    /// What the system calls a file may have been the number of another one before.
    numbers: HashMap<FileId, FileId>,
}

#[derive(Debug, Clone)]
enum Node {
    Folder,
    Link(OsString),
    File(Vec<u8>),
}

/// What was done and not waited for.
#[derive(Debug, Clone)]
enum Pending {
    /// These names stand for these files, or for nothing: all at once or not at all.
    Names(Vec<(Name, Option<FileId>)>),
    /// A file has other bytes.
    Bytes { file: FileId, bytes: Vec<u8> },
    /// A file or folder exists, without a name.
    Born(FileId, Node),
}

impl Image {
    /// What `root` holds now, all of it safe.
    pub(super) fn of(root: &Path) -> Self {
        let mut image =
            Image { root: file_id(root), names: BTreeMap::new(), nodes: HashMap::new(), numbers: HashMap::new() };
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            image.nodes.insert(file_id(&folder), Node::Folder);
            for entry in fs::read_dir(&folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let (path, file_type) = (entry.path(), entry.file_type().expect("a type"));
                let id = file_id(&path);
                image.set((file_id(&folder), entry.file_name()), Some(id));
                if file_type.is_dir() {
                    folders.push(path);
                } else if file_type.is_symlink() {
                    image.nodes.insert(id, Node::Link(fs::read_link(&path).expect("a link").into()));
                } else {
                    image.nodes.insert(id, Node::File(fs::read(&path).expect("a file")));
                }
            }
        }
        image
    }

    fn set(&mut self, name: Name, to: Option<FileId>) {
        match to {
            Some(file) => self.names.insert(name, file),
            None => self.names.remove(&name),
        };
    }

    fn get(&self, folder: FileId, name: &OsString) -> Option<FileId> {
        self.names.get(&(folder, name.clone())).copied()
    }

    /// Makes the folder `at` hold this.
    pub(super) fn materialise(&self, at: &Path) {
        let mut made: HashMap<FileId, PathBuf> = HashMap::new();
        let mut folders = vec![(self.root, at.to_owned())];
        while let Some((folder, path)) = folders.pop() {
            for ((_, name), file) in self.names.iter().filter(|((holder, _), _)| *holder == folder) {
                let path = path.join(name);
                match self.nodes.get(file) {
                    Some(Node::Folder) => {
                        fs::create_dir(&path).expect("a folder");
                        folders.push((*file, path));
                    }
                    Some(Node::Link(target)) => std::os::unix::fs::symlink(target, path).expect("a link"),
                    _ if made.contains_key(file) => fs::hard_link(&made[file], path).expect("a name"),
                    Some(Node::File(bytes)) => {
                        fs::write(&path, bytes).expect("a file");
                        made.insert(*file, path);
                    }
                    None => panic!("a name without a file: {name:?}"),
                }
            }
        }
    }

    fn apply(&mut self, pending: &Pending) {
        match pending {
            Pending::Names(names) => names.iter().for_each(|(name, to)| self.set(name.clone(), *to)),
            Pending::Bytes { file, bytes } => {
                self.nodes.insert(*file, Node::File(bytes.clone()));
            }
            Pending::Born(file, node) => {
                self.nodes.insert(*file, node.clone());
            }
        }
    }

    fn contents(&self) -> Vec<(FileId, Vec<u8>)> {
        let bytes = |(id, node): (&FileId, &Node)| match node {
            Node::File(bytes) => Some((*id, bytes.clone())),
            Node::Folder | Node::Link(_) => None,
        };
        let mut contents: Vec<_> = self.nodes.iter().filter_map(bytes).collect();
        contents.sort();
        contents
    }

    /// A file that is the first, or another, of this number.
    fn born(&mut self, number: FileId, node: Node) -> FileId {
        let own = FileId::new(u64::MAX, self.nodes.len() as u64);
        self.numbers.insert(number, own);
        self.nodes.insert(own, node);
        own
    }

    fn own(&self, number: FileId) -> FileId {
        self.numbers.get(&number).copied().unwrap_or(number)
    }

    /// What `deed` does, as it can be done or lost. This is what is seen, with nothing lost.
    fn pending(&mut self, deed: &Deed) -> Vec<Pending> {
        let names = |names: Vec<(Name, Option<FileId>)>| vec![Pending::Names(names)];
        match deed.clone() {
            Deed::Created { file } => {
                let own = self.born(file, Node::File(Vec::new()));
                vec![Pending::Born(own, Node::File(Vec::new()))]
            }
            Deed::MadeDir { made, folder, name } => {
                let own = self.born(made, Node::Folder);
                vec![Pending::Born(own, Node::Folder), Pending::Names(vec![((self.own(folder), name), Some(own))])]
            }
            Deed::Wrote { file, bytes } => vec![Pending::Bytes { file: self.own(file), bytes }],
            Deed::Named { file, folder, name } => names(vec![((self.own(folder), name), Some(self.own(file)))]),
            Deed::Exchanged { folder, a, b } => {
                let folder = self.own(folder);
                let (at_a, at_b) = (self.get(folder, &a), self.get(folder, &b));
                names(vec![((folder, a), at_b), ((folder, b), at_a)])
            }
            Deed::Renamed { folder, from, to } => {
                let folder = self.own(folder);
                let file = self.get(folder, &from);
                names(vec![((folder, from), None), ((folder, to), file)])
            }
            Deed::Moved { from: (from, old), to: (to, new) } => {
                let (from, to) = (self.own(from), self.own(to));
                let file = self.get(from, &old);
                names(vec![((from, old), None), ((to, new), file)])
            }
            Deed::Unnamed { folder, name } | Deed::RemovedDir { folder, name } => {
                names(vec![((self.own(folder), name), None)])
            }
            Deed::SyncedFile { .. } | Deed::SyncedDir { .. } => Vec::new(),
        }
    }

    /// Everything in it, for comparison: each path with its bytes, and the first path of the same file.
    pub(super) fn told(&self) -> BTreeMap<PathBuf, (PathBuf, Vec<u8>)> {
        let (mut told, mut first) = (BTreeMap::new(), HashMap::new());
        let mut folders = vec![(self.root, PathBuf::new())];
        while let Some((folder, path)) = folders.pop() {
            for ((_, name), file) in self.names.iter().filter(|((holder, _), _)| *holder == folder) {
                let path = path.join(name);
                let first = first.entry(*file).or_insert_with(|| path.clone()).clone();
                let bytes = match self.nodes.get(file) {
                    Some(Node::Folder) => {
                        folders.push((*file, path.clone()));
                        Vec::new()
                    }
                    Some(Node::Link(target)) => target.as_encoded_bytes().to_vec(),
                    Some(Node::File(bytes)) => bytes.clone(),
                    None => panic!("a name without a file: {name:?}"),
                };
                told.insert(path, (first, bytes));
            }
        }
        told
    }
}

/// All that the disk may hold if the power goes after `deeds`, which began with `start`.
pub(super) fn after_loss(start: &Image, deeds: &[Deed]) -> Vec<Image> {
    let (mut seen, mut safe, mut pending) = (start.clone(), start.clone(), Vec::new());
    // Of a name that goes from one folder to another both have to be waited for.
    let mut waited: HashSet<(Name, FileId)> = HashSet::new();
    for deed in deeds {
        for change in seen.pending(deed) {
            seen.apply(&change);
            match change {
                // Nobody notices a file before it has a name.
                Pending::Born(..) => safe.apply(&change),
                Pending::Names(ref names) => {
                    waited.retain(|(name, _)| names.first().is_none_or(|(first, _)| first != name));
                    pending.push(change);
                }
                Pending::Bytes { .. } => pending.push(change),
            }
        }
        if let Deed::SyncedDir { folder } = deed {
            let folder = seen.own(*folder);
            let moving = pending.iter().filter_map(|change| match change {
                Pending::Names(names) if names.iter().any(|((held, _), _)| *held == folder) => names.first(),
                _ => None,
            });
            waited.extend(moving.map(|(name, _)| (name.clone(), folder)));
        }
        let is_safe = |change: &Pending| match (deed, change) {
            (Deed::SyncedFile { file }, Pending::Bytes { file: written, .. }) => seen.own(*file) == *written,
            (Deed::SyncedDir { folder }, Pending::Names(names)) => {
                let is_waited = |held: &FileId| {
                    *held == seen.own(*folder)
                        || names.first().is_some_and(|(name, _)| waited.contains(&(name.clone(), *held)))
                };
                names.iter().all(|((held, _), _)| is_waited(held))
            }
            _ => false,
        };
        let (now_safe, still): (Vec<Pending>, _) = pending.into_iter().partition(is_safe);
        now_safe.iter().for_each(|change| safe.apply(change));
        pending = still;
    }
    let mut images = vec![safe];
    for change in &pending {
        images = images.iter().flat_map(|image| with_and_without(image, change)).collect();
        let mut known = HashSet::new();
        images.retain(|image| known.insert((image.names.clone(), image.contents())));
    }
    images
}

/// `image`, and what else it may be with `change`.
fn with_and_without(image: &Image, change: &Pending) -> Vec<Image> {
    let with = |change: &Pending| {
        let mut image = image.clone();
        image.apply(change);
        image
    };
    let mut images = vec![image.clone(), with(change)];
    if let (Pending::Bytes { file, bytes }, Some(Node::File(old))) =
        (change, change_file(change).and_then(|file| image.nodes.get(&file)))
    {
        let half = bytes.len() / 2;
        let mut torn = bytes[..half].to_vec();
        torn.extend(old.iter().skip(half));
        images.push(with(&Pending::Bytes { file: *file, bytes: torn }));
    }
    images
}

fn change_file(change: &Pending) -> Option<FileId> {
    match change {
        Pending::Bytes { file, .. } => Some(*file),
        Pending::Names(_) | Pending::Born(..) => None,
    }
}

fn file_id(path: &Path) -> FileId {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::symlink_metadata(path).expect("a file");
    FileId::new(metadata.dev(), metadata.ino())
}
