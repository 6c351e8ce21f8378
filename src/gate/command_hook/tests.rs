//! Commands as hooks, with small shell scripts.
