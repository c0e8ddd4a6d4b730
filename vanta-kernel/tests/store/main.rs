//! The files under `.vanta/`, the wire and the command, through the public API.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failing test is the message, and children speak to their test over stdout"
)]

mod approvals;
mod cli;
mod digest;
mod events;
mod json;
mod processes;
mod support;
mod wire;
