//! Sessions: what a run leaves behind, and the port that keeps it.
//!
//! A session is an append-only list of [`Record`]s; everything a run knows is a fold over them. Stores give it one
//! owner at a time ([`Lease`]) and refuse an append that does not continue what is there.

#[cfg(unix)]
mod file;
mod frame;
mod lease;
mod memory;
mod record;
mod store;

#[cfg(unix)]
pub use file::FileSessionStore;
pub(crate) use frame::{FORMAT, MIN_READER, VERSION};
pub use memory::MemorySessionStore;
pub use record::{Entry, Record, Unknown};
pub(crate) use store::Session;
pub use store::{
    Damage, Durability, Lease, Owner, SessionId, SessionLog, SessionStore, SessionSummary, StoreError,
};
