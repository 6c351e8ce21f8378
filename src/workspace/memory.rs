//! A workspace in memory: for the one-shot dispatcher, tests and embedders.
