//! A folder on disk.

use super::*;
use crate::workspace::conformance::{Fixture, check};

struct OnDisk {
    local: Local,
    // Removed when this is dropped.
    _folder: tempfile::TempDir,
}

impl Fixture for OnDisk {
    fn workspace(&self) -> &dyn Workspace {
        &self.local
    }
}

#[test]
fn does_what_every_home_does() {
    for durability in [Durability::Full, Durability::Process] {
        check(&|seed| {
            let folder = tempfile::tempdir().expect("a folder");
            for (path, bytes) in seed {
                let path = folder.path().join(path.as_str());
                std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                std::fs::write(path, bytes).expect("a file");
            }
            let local = Local::open(folder.path()).expect("a workspace").with_durability(durability);
            Box::new(OnDisk { local, _folder: folder })
        });
    }
}
