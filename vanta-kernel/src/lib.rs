//! A small boundary that answers one question about one action: may it run?
//!
//! [`assess`] is pure: it looks only at its arguments, so the same action in the same scope gets the same
//! [`Verdict`] on every machine. It reads no clock, file, variable or socket and knows nothing of models,
//! prompts or tools. Nothing above it can lower an answer.
//!
//! Read next: [`Action`] (what is about to be touched), [`Scope`] (where it may be touched), [`Verdict`]
//! (the answer), [`read`] (how a command was understood).
//!
//! ```
//! use vanta_kernel::{Action, Scope, Verdict, assess};
//!
//! let scope = Scope::new("/home/dev/project").home("/home/dev");
//! assert!(matches!(assess(&Action::shell("cargo test"), &scope), Verdict::Allow(_)));
//! assert!(matches!(assess(&Action::shell("rm -rf ~"), &scope), Verdict::Block(_)));
//! ```
#![cfg_attr(not(any(feature = "store", feature = "cli", test)), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod action;
mod approval;
mod assess;
#[cfg(feature = "cli")]
pub mod cli;
mod event;
pub mod json;
mod reading;
mod rules;
mod scope;
pub mod sha256;
mod shell;
#[cfg(all(feature = "store", unix))]
pub mod store;
mod verdict;
mod wire;

pub use action::{Action, Dialect};
pub use approval::{
    Answer, Approval, ApprovalError, ApprovalId, ApprovalStatus, DEFAULT_EXPIRY_MS, Proposal, RaisedBy,
};
pub use assess::assess;
pub use event::{Event, is_event_kind};
pub use reading::{Command, Effect, PathClass, PathUse, Reading, read};
pub use scope::Scope;
pub use verdict::{Finding, POLICY_VERSION, Risk, Verdict};
pub use wire::{WireError, batch_case};

#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/adding_a_program.md")]
pub mod adding_a_program {}

/// The README's examples are compiled too.
#[cfg(all(doctest, feature = "store", unix))]
#[doc = include_str!("../README.md")]
#[derive(Debug)]
pub struct ReadMe;

/// What callers hold across threads and awaits stays `Send` and `Sync`.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Action>();
    is_send_and_sync::<Scope>();
    is_send_and_sync::<Verdict>();
    is_send_and_sync::<Reading>();
};
