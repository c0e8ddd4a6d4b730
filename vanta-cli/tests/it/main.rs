//! The `vanta` binary as its users meet it: processes, streams, exit codes and files. No network but loopback, no key.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failing test is the message"
)]

mod approvals;
mod bad_input;
mod boundaries;
mod crash;
mod demo;
mod lines;
mod model;
mod modes;
mod prompt;
mod sessions;
mod vanta;
