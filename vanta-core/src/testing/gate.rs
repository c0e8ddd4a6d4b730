//! A gate that writes down what it was asked.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use vanta_kernel::{Action, Finding, Risk, Scope, Verdict};

use crate::gate::{GateError, LocalGate, SafetyGate};

/// Answers like the kernel, or always the same, and keeps every question. Clones share what was asked.
///
/// The loop takes the stricter of a gate's answer and the kernel's, so one that always allows loosens nothing.
#[derive(Debug, Clone, Default)]
pub struct RecordingGate {
    always: Option<Result<Risk, GateError>>,
    seen: Arc<Mutex<Vec<Vec<Action>>>>,
}

impl RecordingGate {
    /// Answers like the kernel.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Always answers `risk`.
    #[must_use]
    pub fn always(risk: Risk) -> Self {
        Self { always: Some(Ok(risk)), ..Self::default() }
    }

    /// Never answers.
    #[must_use]
    pub fn unavailable() -> Self {
        Self { always: Some(Err(GateError::new("switched off by the test"))), ..Self::default() }
    }

    /// The actions of each call it was asked about, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<Vec<Action>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl SafetyGate for RecordingGate {
    async fn assess(&self, actions: &[Action], scope: &Scope) -> Result<Verdict, GateError> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(actions.to_vec());
        match &self.always {
            None => LocalGate.assess(actions, scope).await,
            Some(Ok(risk)) => Ok(Verdict::new(*risk, Finding::new("test.gate", "the test says so", 0..0))),
            Some(Err(error)) => Err(error.clone()),
        }
    }
}
