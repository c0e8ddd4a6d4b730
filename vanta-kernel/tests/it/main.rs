//! The kernel's pure part through its public API: the labelled corpus, hand-written cases, hostile input.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may stop and report")]

mod cases;
mod corpus;
mod hostile;
