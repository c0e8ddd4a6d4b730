//! The kernel, asked in this process.

use async_trait::async_trait;
use vanta_kernel::{Action, Finding, Scope, Verdict, assess};

use super::{GateError, SafetyGate};

/// Asks [`vanta_kernel::assess`] directly. Writes no files and cannot fail.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalGate;

#[async_trait]
impl SafetyGate for LocalGate {
    async fn assess(&self, actions: &[Action], scope: &Scope) -> Result<Verdict, GateError> {
        Ok(assess_all(actions, scope))
    }
}

/// The strictest verdict over `actions`. A call that describes no action cannot be judged, so it is Ask.
pub(crate) fn assess_all(actions: &[Action], scope: &Scope) -> Verdict {
    actions.iter().map(|action| assess(action, scope)).reduce(Verdict::strictest).unwrap_or_else(|| {
        Verdict::Ask(Finding::new("opaque.undescribed", "the tool does not say what it would do", 0..0))
    })
}
