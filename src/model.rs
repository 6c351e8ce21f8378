//! Words: the values that every other module speaks in. No I/O, nothing asynchronous.

pub mod call;
pub mod change;
pub mod error;
pub mod event;
pub mod file_bytes;
pub mod folder;
pub mod id;
pub mod json;
pub mod mode;
pub mod path;
pub mod version;
pub mod world;
