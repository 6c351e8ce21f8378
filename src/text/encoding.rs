//! How the bytes of a file are text: UTF-8, UTF-16 with a byte order mark, or not at all.
