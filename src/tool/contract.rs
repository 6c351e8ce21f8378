//! Whether a published list of tools still holds: compatible changes and breaking ones.
