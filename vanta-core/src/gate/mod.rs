//! Port `SafetyGate`: who judges actions. No answer means no execution.
//!
//! The loop also calls the pure [`vanta_kernel::assess`] itself and takes the stricter answer, so a custom gate can
//! tighten and never loosen.

mod local;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use vanta_kernel::{Action, Scope, Verdict};

pub use local::LocalGate;
pub(crate) use local::assess_all;

/// Judges the actions of one call; the strictest verdict counts. Annotate the implementation with `#[async_trait]`.
///
/// # Contract
/// Judges by its arguments and its own policy; changes nothing. Without an answer it returns an error, never Allow.
#[async_trait]
pub trait SafetyGate: Send + Sync + fmt::Debug {
    /// The verdict on `actions` together, inside `scope`.
    ///
    /// # Errors
    /// [`GateError`] when there is no answer; the run ends as `GateUnavailable` and nothing runs.
    async fn assess(&self, actions: &[Action], scope: &Scope) -> Result<Verdict, GateError>;
}

/// The gate gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the gate gave no answer: {0}")]
pub struct GateError(String);

impl GateError {
    /// No answer, because of `reason`.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Asks several gates; the strictest answer counts, and one without an answer means no answer.
///
/// ```
/// use std::sync::Arc;
/// use vanta_core::gate::{LocalGate, StrictestOf};
///
/// let gate = StrictestOf::new(vec![Arc::new(LocalGate), Arc::new(LocalGate)]);
/// # let _ = gate;
/// ```
#[derive(Debug)]
pub struct StrictestOf(Vec<Arc<dyn SafetyGate>>);

impl StrictestOf {
    /// All of `gates`.
    #[must_use]
    pub fn new(gates: Vec<Arc<dyn SafetyGate>>) -> Self {
        Self(gates)
    }
}

#[async_trait]
impl SafetyGate for StrictestOf {
    async fn assess(&self, actions: &[Action], scope: &Scope) -> Result<Verdict, GateError> {
        let mut strictest: Option<Verdict> = None;
        for gate in &self.0 {
            let verdict = gate.assess(actions, scope).await?;
            strictest = Some(match strictest {
                Some(so_far) => so_far.strictest(verdict),
                None => verdict,
            });
        }
        strictest.ok_or_else(|| GateError::new("there is no gate to ask"))
    }
}
