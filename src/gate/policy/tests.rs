//! The waterfalls.
