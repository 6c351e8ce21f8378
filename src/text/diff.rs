//! What changed between two texts, as a unified diff.
