//! The loop's decisions.
mod cleared;
pub use cleared::ClearedCall;
