//! The ledger on the kernel's files: `.vanta/approvals.tsv` and `.vanta/events.jsonl`.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use vanta_kernel::json::Json;
use vanta_kernel::store::{Approvals, Events, StateDir, StoreError, VantaDir};
use vanta_kernel::{Answer, Approval, ApprovalId, Proposal};

use super::{Ledger, LedgerError, Operator};
use crate::clock::{Clock, SystemClock};

/// Approvals and events that any process of this user can read, and answer, also days later.
///
/// The files carry a MAC under a key in the user's state folder, so rows that came with a clone do not count. Against
/// other processes of the same user that is tamper evidence, not prevention.
#[derive(Debug, Clone)]
pub struct FileLedger(Arc<Files>);

#[derive(Debug)]
struct Files {
    approvals: Approvals,
    events: Events,
    clock: Arc<dyn Clock>,
}

impl FileLedger {
    /// The ledger of the project at `root`, with its key in the user's state folder.
    ///
    /// # Errors
    /// [`LedgerError`] when `.vanta/` or the state folder cannot be made or read, or is damaged.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let state = StateDir::for_root(root.as_ref()).map_err(of_store)?;
        Self::open_with(root, &state, Arc::new(SystemClock))
    }

    /// The ledger of the project at `root`, with its key in `state`, that expires questions by `clock`.
    ///
    /// # Errors
    /// As [`FileLedger::open`].
    pub fn open_with(
        root: impl AsRef<Path>,
        state: &StateDir,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LedgerError> {
        let vanta = VantaDir::open(root.as_ref()).map_err(of_store)?;
        let approvals = Approvals::open(&vanta, state).map_err(of_store)?;
        let events = Events::open(&vanta).map_err(of_store)?;
        Ok(Self(Arc::new(Files { approvals, events, clock })))
    }

    /// Runs `work`, which syncs files, where it may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Files, u64) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreErrorOrGone> {
        let files = Arc::clone(&self.0);
        let work = move || work(&files, files.clock.now().as_millis()).map_err(StoreErrorOrGone::Store);
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreErrorOrGone::Gone))
    }
}

enum StoreErrorOrGone {
    Store(StoreError),
    /// The runtime is shutting down.
    Gone,
}

impl StoreErrorOrGone {
    fn about(self, id: ApprovalId) -> LedgerError {
        match self {
            Self::Store(StoreError::Refused(reason)) => LedgerError::Refused { id, reason },
            Self::Store(StoreError::UnknownApproval(id)) => LedgerError::Unknown(id),
            Self::Store(error) => of_store(error),
            Self::Gone => LedgerError::Storage("the program is shutting down".to_owned()),
        }
    }
}

fn of_store(error: StoreError) -> LedgerError {
    match error {
        StoreError::Damaged { .. } | StoreError::BadKey { .. } => LedgerError::Damaged(error.to_string()),
        StoreError::Unwritable => LedgerError::Unwritable(error.to_string()),
        StoreError::TooNew { .. } => LedgerError::TooNew(error.to_string()),
        other => LedgerError::Storage(other.to_string()),
    }
}

const NO_ID: ApprovalId = ApprovalId::new(0);

#[async_trait]
impl Ledger for FileLedger {
    async fn propose(&self, proposal: &Proposal) -> Result<Approval, LedgerError> {
        let proposal = proposal.clone();
        // One session has one owner, so nobody else proposes the same act between the look and the append.
        let work = move |files: &Files, now_ms| {
            let known =
                files.approvals.list(now_ms)?.into_iter().rfind(|item| item.binding() == proposal.binding());
            known.map_or_else(|| files.approvals.propose(&proposal, now_ms), Ok)
        };
        self.blocking(work).await.map_err(|error| error.about(NO_ID))
    }

    async fn lookup(&self, id: ApprovalId) -> Result<Option<Approval>, LedgerError> {
        self.blocking(move |files, now_ms| files.approvals.get(id, now_ms))
            .await
            .map_err(|error| error.about(id))
    }

    async fn consume(&self, id: ApprovalId, binding: &str, holder: &str) -> Result<Approval, LedgerError> {
        let (binding, holder) = (binding.to_owned(), holder.to_owned());
        self.blocking(move |files, now_ms| files.approvals.consume(id, &binding, &holder, now_ms))
            .await
            .map_err(|error| error.about(id))
    }

    async fn log(&self, kind: &str, fields: &[(&str, Json)]) -> Result<(), LedgerError> {
        let kind = kind.to_owned();
        let fields: Vec<(String, Json)> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let work = move |files: &Files, now_ms| {
            let fields: Vec<(&str, Json)> =
                fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            files.events.append(&kind, &fields, now_ms).map(drop)
        };
        self.blocking(work).await.map_err(|error| error.about(NO_ID))
    }
}

#[async_trait]
impl Operator for FileLedger {
    async fn decide(&self, id: ApprovalId, answer: Answer, by: &str) -> Result<Approval, LedgerError> {
        let by = by.to_owned();
        self.blocking(move |files, now_ms| files.approvals.decide(id, answer, &by, now_ms))
            .await
            .map_err(|error| error.about(id))
    }

    async fn approvals(&self) -> Result<Vec<Approval>, LedgerError> {
        self.blocking(|files, now_ms| files.approvals.list(now_ms)).await.map_err(|error| error.about(NO_ID))
    }
}
