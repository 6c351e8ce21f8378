//! A folder of the file system as a workspace.
