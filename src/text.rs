//! Engines on text: pure functions on bytes, no I/O.

pub mod counted;
pub mod diff;
pub mod encoding;
pub mod find;
pub mod glob;
pub mod harmless;
pub mod hint;
pub mod json;
pub mod lines;
pub mod media;
pub mod names;
pub mod splice;
pub mod uri;
pub mod uri_template;
