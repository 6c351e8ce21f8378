//! All integration tests, in one binary: one file of `suite/` a subject.

#![allow(clippy::disallowed_methods, reason = "tests look at folders from outside")]

mod suite {
    mod architecture;
    mod cases;
    mod cli;
    mod code;
    mod code_mode;
    mod conformance;
    mod contract;
    mod fuzz;
    mod gate;
    mod http;
    mod ledger_cli;
    mod library;
    mod offers;
    mod oneshot;
    mod probes;
    mod proofs;
    mod properties;
    mod roots;
    mod scenarios;
    mod stdio;
    mod support;
}
