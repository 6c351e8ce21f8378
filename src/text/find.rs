//! Where a text occurs in another, every occurrence, overlaps too.
