//! The crate's behaviour through its public API.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failing test is the message"
)]

mod agent;
mod cleared;
mod crash;
mod machine;
mod sessions;
mod support;
