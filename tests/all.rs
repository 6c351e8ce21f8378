//! All integration tests, in one binary: one file of `suite/` a subject.

mod suite {
    mod architecture;
    mod stdio;
    mod support;
}
