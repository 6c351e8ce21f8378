//! What the fuzz targets do with their bytes, and what must hold whatever these are. Each panics where it does not.

mod calls;
mod edits;
mod frames;
mod patterns;

pub use calls::dispatch;
pub use edits::{Edit, patch};
pub use frames::frame;
pub use patterns::globs;
