//! Faults that people met with tools like these, each as a test of its kind.

mod encodings;
mod kit;
mod line_endings;
mod lines;
mod matching;
mod whitespace;
