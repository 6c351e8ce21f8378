//! Rules, guards and patterns in tables.
