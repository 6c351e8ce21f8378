//! Code mode: what a model's program may say, and how it is read.

pub mod sdk;
pub mod strip;
pub mod typescript;
