//! Tests of the tools through the gate, as an agent calls them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failing test is the message"
)]
#![allow(clippy::print_stdout, reason = "the case runner prints its count")]

mod boundaries;
mod cases;
mod session;
mod tools;
