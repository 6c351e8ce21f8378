//! Tools in the shapes that providers and clients want.
