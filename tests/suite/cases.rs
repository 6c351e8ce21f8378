//! Faults that people met with tools like these, each as a test of its kind.

mod arguments;
mod binary;
mod cancel;
mod containment;
mod encodings;
mod end_of_life;
mod framing;
mod json_text;
pub mod kit;
mod limits;
mod line_endings;
mod lines;
mod links;
mod listing;
mod matching;
mod metadata;
mod names;
mod schemas;
mod special;
mod whitespace;
