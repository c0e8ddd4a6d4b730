//! Decides whether an action may run: floor, then scope, then reversibility.

use crate::{Action, Finding, Scope, Verdict};

/// Decides whether `action` may run inside `scope`.
#[must_use]
pub fn assess(action: &Action, scope: &Scope) -> Verdict {
    let _ = (action, scope);
    Verdict::Ask(Finding::new("unread", "not read yet", 0..0))
}
