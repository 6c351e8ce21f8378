//! Commits that meet every kind of obstacle.
