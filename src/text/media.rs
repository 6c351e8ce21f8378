//! What a binary file is, told by its first bytes.
