//! Schemas from types, and arguments held against them.
