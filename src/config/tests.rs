//! Configuration: faults, merging, trust.
