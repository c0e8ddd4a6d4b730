//! A ledger that lives as long as the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use vanta_kernel::json::Json;
use vanta_kernel::{Answer, Approval, ApprovalError, ApprovalId, Proposal};

use super::{Ledger, LedgerError, Operator};
use crate::clock::{Clock, SystemClock};

/// Approvals and events in memory. Clones share them. For tests and for agents that never wait across processes.
#[derive(Debug, Clone)]
pub struct MemoryLedger {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    approvals: Vec<Approval>,
    events: Vec<(String, Vec<(String, Json)>)>,
}

impl Default for MemoryLedger {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl MemoryLedger {
    /// An empty ledger that expires questions by `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Arc::default() }
    }

    /// The kinds of the events logged so far, in order.
    #[must_use]
    pub fn event_kinds(&self) -> Vec<String> {
        self.state().events.iter().map(|(kind, _)| kind.clone()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(
        &self,
        id: ApprovalId,
        change: impl FnOnce(&Approval, u64) -> Result<Approval, ApprovalError>,
    ) -> Result<Approval, LedgerError> {
        let now_ms = self.clock.now().as_millis();
        let mut state = self.state();
        let slot = state.approvals.iter_mut().find(|item| item.id() == id).ok_or(LedgerError::Unknown(id))?;
        *slot = change(slot, now_ms).map_err(|reason| LedgerError::Refused { id, reason })?;
        Ok(slot.clone())
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn propose(&self, proposal: &Proposal) -> Result<Approval, LedgerError> {
        let now_ms = self.clock.now().as_millis();
        let mut state = self.state();
        if let Some(item) = state.approvals.iter().find(|item| item.binding() == proposal.binding()) {
            return Ok(item.clone().at(now_ms));
        }
        let id = ApprovalId::new(state.approvals.len() as u64 + 1);
        let item =
            Approval::propose(id, proposal, now_ms).map_err(|reason| LedgerError::Refused { id, reason })?;
        state.approvals.push(item.clone());
        Ok(item)
    }

    async fn lookup(&self, id: ApprovalId) -> Result<Option<Approval>, LedgerError> {
        let now_ms = self.clock.now().as_millis();
        Ok(self.state().approvals.iter().find(|item| item.id() == id).cloned().map(|item| item.at(now_ms)))
    }

    async fn consume(&self, id: ApprovalId, binding: &str, holder: &str) -> Result<Approval, LedgerError> {
        self.change(id, |item, now_ms| item.consume(binding, holder, now_ms))
    }

    async fn log(&self, kind: &str, fields: &[(&str, Json)]) -> Result<(), LedgerError> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.state().events.push((kind.to_owned(), fields));
        Ok(())
    }
}

#[async_trait]
impl Operator for MemoryLedger {
    async fn decide(&self, id: ApprovalId, answer: Answer, by: &str) -> Result<Approval, LedgerError> {
        self.change(id, |item, now_ms| item.decide(answer, by, now_ms))
    }

    async fn approvals(&self) -> Result<Vec<Approval>, LedgerError> {
        let now_ms = self.clock.now().as_millis();
        Ok(self.state().approvals.iter().cloned().map(|item| item.at(now_ms)).collect())
    }
}
