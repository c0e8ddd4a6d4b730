//! The crate's behaviour through its public API.

mod agent;
mod cleared;
mod crash;
mod machine;
mod sessions;
mod support;
