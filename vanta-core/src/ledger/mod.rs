//! Port `Ledger`: the record a person decides by, kept apart from the session's own log.
//!
//! The agent's side proposes, looks up, consumes and logs. Only the [`Operator`] side decides; whoever holds none
//! cannot approve anything.

#[cfg(unix)]
mod file;
mod memory;

use std::fmt;

use async_trait::async_trait;
use vanta_kernel::json::Json;

#[cfg(unix)]
pub use file::FileLedger;
pub use memory::MemoryLedger;
pub use vanta_kernel::{Answer, Approval, ApprovalError, ApprovalId, ApprovalStatus, Proposal, RaisedBy};

/// The agent's side of the ledger.
///
/// # Contract
/// - `propose` is idempotent by binding: the same act gives the same item, in its present state, also after a crash.
/// - `consume` is single use for one holder and repeatable by that holder.
/// - What was answered with `Ok` survives the process.
#[async_trait]
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Puts a question to whoever may decide, or finds it.
    ///
    /// # Errors
    /// [`LedgerError`] when the item cannot be recorded; the call does not run.
    async fn propose(&self, proposal: &Proposal) -> Result<Approval, LedgerError>;

    /// The item `id` in its present state.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledger cannot be read.
    async fn lookup(&self, id: ApprovalId) -> Result<Option<Approval>, LedgerError>;

    /// Uses the approval `id` for the act `binding`, by `holder` alone.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] when it is not approved, expired, used by another holder or bound to another act.
    async fn consume(&self, id: ApprovalId, binding: &str, holder: &str) -> Result<Approval, LedgerError>;

    /// Adds an event to the independent record.
    ///
    /// # Errors
    /// [`LedgerError`] when it cannot be recorded; nothing that depends on it may run.
    async fn log(&self, kind: &str, fields: &[(&str, Json)]) -> Result<(), LedgerError>;
}

/// The deciding side of the ledger, for a person or a program that acts for one. Never handed to the loop.
#[async_trait]
pub trait Operator: Send + Sync + fmt::Debug {
    /// Records the answer to item `id`.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] when it is decided, expired or consumed already; [`LedgerError::Unknown`] when there
    /// is no such item.
    async fn decide(&self, id: ApprovalId, answer: Answer, by: &str) -> Result<Approval, LedgerError>;

    /// Every item, oldest first.
    ///
    /// # Errors
    /// [`LedgerError`] when the ledger cannot be read.
    async fn approvals(&self) -> Result<Vec<Approval>, LedgerError>;
}

/// Why the ledger did not do it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The change is not legal in the item's state.
    #[error("approval {id}: {reason}")]
    Refused {
        /// The item; 0 for a proposal that got no number.
        id: ApprovalId,
        /// Why.
        #[source]
        reason: ApprovalError,
    },
    /// The record cannot be written in the ledger's format, however often it is tried.
    #[error("{0}")]
    Unwritable(String),
    /// There is no such item.
    #[error("there is no approval {0}; list all approvals to see those there are")]
    Unknown(ApprovalId),
    /// The ledger's files cannot be read or written, or are damaged.
    #[error("{0}")]
    Storage(String),
    /// A file of the ledger is damaged and was left as it is.
    #[error("{0}")]
    Damaged(String),
    /// A file of the ledger was written by a newer version.
    #[error("{0}")]
    TooNew(String),
}
