//! Code mode: what programs are written against, and how they are read.

mod samples;
