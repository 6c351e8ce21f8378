//! New bytes in the place of old ones; every other byte stays.
