//! Reads the text of a configuration, wherever it lies.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::FILE_NAME;
use super::fault::ConfigError;

/// More than this is no configuration.
const MOST: u64 = 1 << 20;

/// A configuration that was read.
#[derive(Debug)]
pub(super) struct Text {
    /// Where it was found: the folder without links, and its name there. Hooks are looked for beside it, and trust is
    /// about this place: a link to a file that is trusted elsewhere is not trusted.
    pub(super) path: PathBuf,
    /// Where it really lies.
    pub(super) real: PathBuf,
    pub(super) content: String,
}

impl Text {
    /// Reads a file; nothing if there is none.
    #[expect(clippy::disallowed_methods, reason = "configuration lies outside of workspaces, or decides about one")]
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ConfigError> {
        let refuse = |why: String| ConfigError::Unreadable { path: path.display().to_string(), why };
        let mut options = OpenOptions::new();
        options.read(true);
        at_once(&mut options);
        let file = match options.open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(error.to_string())),
        };
        if !file.metadata().map_err(|error| refuse(error.to_string()))?.is_file() {
            return Err(refuse("it is not a regular file".to_owned()));
        }
        let mut content = String::new();
        let read = file.take(MOST + 1).read_to_string(&mut content).map_err(|error| refuse(error.to_string()))?;
        if read as u64 > MOST {
            return Err(refuse(format!("it is longer than {MOST} bytes")));
        }
        let content = content.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(content);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default();
        let canonical = |path: &Path| path.canonicalize().map_err(|error| refuse(error.to_string()));
        Ok(Some(Text { path: canonical(folder)?.join(name), real: canonical(path)?, content }))
    }

    /// The folder that it lies in.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }
}

/// A pipe in the place of the file must not hold up the start.
#[cfg(unix)]
fn at_once(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
}

#[cfg(not(unix))]
fn at_once(_: &mut OpenOptions) {}

/// Where the user's own configuration is, whether it is there or not. `variable` looks up the environment.
pub fn user_file(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| {
        if cfg!(windows) {
            folder("APPDATA")
        } else if cfg!(target_os = "macos") {
            folder("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            folder("HOME").map(|home| home.join(".config"))
        }
    })?;
    Some(config.join("toolgate").join(FILE_NAME))
}
