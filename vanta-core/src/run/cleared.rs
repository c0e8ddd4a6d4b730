//! The permission to execute one call.

use std::fmt;
use std::sync::Arc;

use vanta_kernel::{Action, Verdict};

use crate::message::{CallId, JsonObject};

/// One call that may run: allowed by the gate, or asked about and approved by a person, with its `started`
/// record already durable.
///
/// Only the loop's state machine makes one. It has no public constructor, is neither `Clone` nor
/// serialisable, and is consumed by [`Tool::execute`](crate::Tool::execute), so one clearance is one execution.
///
/// ```compile_fail
/// let forged = vanta_core::run::ClearedCall { /* private fields */ };
/// ```
pub struct ClearedCall {
    // INVARIANT: fields are private and `new` is visible to `run` alone (tests/compile_fail).
    id: CallId,
    tool: String,
    arguments: JsonObject,
    actions: Arc<[Action]>,
    verdict: Verdict,
    attempt: u32,
    key: String,
}

impl ClearedCall {
    pub(super) fn new(
        id: CallId,
        tool: String,
        arguments: JsonObject,
        actions: Arc<[Action]>,
        verdict: Verdict,
        attempt: u32,
        key: String,
    ) -> Self {
        Self { id, tool, arguments, actions, verdict, attempt, key }
    }

    /// The call.
    #[must_use]
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as they were judged.
    #[must_use]
    pub fn arguments(&self) -> &JsonObject {
        &self.arguments
    }

    /// What was judged. Doing anything else is a defect of the tool.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The kernel's answer: Allow, or the Ask that was approved.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Counts from 1; a repeated read is a further attempt.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The same over every attempt and restart: hand it to services that deduplicate by key.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        &self.key
    }
}

impl fmt::Debug for ClearedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold what a log should not.
        f.debug_struct("ClearedCall").field("id", &self.id).field("tool", &self.tool).finish_non_exhaustive()
    }
}
