//! Questions and answers over both eras.
