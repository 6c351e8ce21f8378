//! Lines of a file that comes in pieces: one rule for what a line is, and pages of them.
