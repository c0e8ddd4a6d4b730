//! The kernel's pure part through its public API: the labelled corpus, hand-written cases, generated commands,
//! hostile input.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may stop and report"
)]

mod bad_input;
mod cases;
mod corpus;
mod everyday;
mod generate;
mod hostile;
mod metamorphic;
mod open;
mod original;
mod readme;
mod reference;
mod shells;
