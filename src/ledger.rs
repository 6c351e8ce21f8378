//! What happened, and how to take it back: the session log, kept bytes, changes, and what each caller has seen.
