//! What ends a run without an outcome: its records could not be kept, or it was set up wrongly.

use crate::ledger::LedgerError;
use crate::run::UnexpectedAnswer;
use crate::session::StoreError;

/// Why an agent could not run. Nothing that was not recorded was executed; resume once the cause is gone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The session could not be opened, written or kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ledger could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The agent lacks something.
    #[error("{0}")]
    Setup(String),
    /// The driver and the machine disagree: a defect of this crate.
    #[error("the loop lost its place: {0}; please report this")]
    Driver(#[from] UnexpectedAnswer),
}
