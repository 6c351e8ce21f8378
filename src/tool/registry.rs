//! The tools that can be called, by name.
