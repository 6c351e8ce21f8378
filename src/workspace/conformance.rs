//! What every home of files does alike, as a suite that any home can be put through.
