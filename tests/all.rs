//! All integration tests, in one binary: one file of `suite/` a subject.

mod suite {
    mod architecture;
    mod cases;
    mod oneshot;
    mod stdio;
    mod support;
}
