//! Faults that people met with tools like these, each as a test of its kind.

mod binary;
mod containment;
mod encodings;
mod kit;
mod limits;
mod line_endings;
mod lines;
mod links;
mod listing;
mod matching;
mod metadata;
mod names;
mod special;
mod whitespace;
