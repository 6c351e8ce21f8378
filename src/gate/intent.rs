//! The file gate: whether a plan's changes may be made by this caller, who must have seen what they replace.
