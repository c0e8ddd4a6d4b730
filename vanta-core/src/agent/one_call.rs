//! One tool call without a model, through the same loop as any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use vanta_kernel::{Finding, Risk, Verdict};

use super::Agent;
use crate::cancel::CancelToken;
use crate::error::AgentError;
use crate::message::{Args, CallId, ContentPart, JsonObject, ToolCall};
use crate::run::{Outcome, Run};
use crate::session::{Entry, SessionStore};
use crate::slots::Slots;
use crate::tool::ToolOutput;

/// Runs single tools through the gate: for test runners and command lines.
///
/// One runner is one session to the tools: what they keep in [`Slots`] lasts from call to call.
///
/// ```
/// use vanta_core::{Agent, Scope, ToolRegistry, message::JsonObject};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let agent = Agent::builder().tools(ToolRegistry::new()).scope(Scope::new("/srv/app")).build()?;
/// let call = agent.tool_runner().call("missing", JsonObject::new()).await?;
/// assert!(!call.output().is_ok());
/// # Ok::<(), vanta_core::AgentError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ToolRunner {
    agent: Agent,
    slots: Slots,
    cancel: CancelToken,
    next: Arc<AtomicU64>,
}

/// What one call gave.
#[derive(Debug, Clone)]
pub struct OneCall {
    output: ToolOutput,
    verdict: Option<Verdict>,
    outcome: Outcome,
}

impl OneCall {
    /// The tool's answer, or why it did not run.
    #[must_use]
    pub fn output(&self) -> &ToolOutput {
        &self.output
    }

    /// The verdict; none when the call made no sense, so that nobody was asked. Its span is not kept.
    #[must_use]
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Whether the call waits for a person, and in which item of the ledger.
    #[must_use]
    pub fn waits_for(&self) -> Option<u64> {
        match &self.outcome {
            Outcome::AwaitingApproval { approvals } => approvals.first().copied(),
            _ => None,
        }
    }
}

impl Agent {
    /// A runner for single calls of this agent's tools.
    #[must_use]
    pub fn tool_runner(&self) -> ToolRunner {
        let slots = Slots::default();
        ToolRunner { agent: self.clone(), slots, cancel: CancelToken::new(), next: Arc::default() }
    }
}

impl ToolRunner {
    /// Ends its calls when `token` is cancelled.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }

    /// Runs `tool` with `args`: checked, described, judged, asked about, recorded, executed.
    ///
    /// # Errors
    /// [`AgentError`] when its records could not be kept. A refusal or a failure is an output that is not ok.
    pub async fn call(&self, tool: &str, args: JsonObject) -> Result<OneCall, AgentError> {
        let parts = &self.agent.0;
        let id = parts.ids.session_id(parts.clock.now());
        let call_id = CallId::new(format!("call-{}", self.next.fetch_add(1, Ordering::Relaxed) + 1));
        parts.store.create(&id).await?;
        let held = self.agent.claim(&id).await?;
        let run = Run::one_call(
            self.agent.settings(id.clone()),
            ToolCall::new(call_id.clone(), tool, Args::from_object(args)),
        );
        let report = self.agent.drive(held, Vec::new(), run, self.slots.clone(), self.cancel.clone()).await?;
        let result =
            report.messages().iter().rev().flat_map(|message| message.parts()).find_map(|part| match part {
                ContentPart::ToolResult(result) if *result.call_id() == call_id => Some(result.clone()),
                _ => None,
            });
        let output = match result {
            Some(result) if !result.is_error() => ToolOutput::ok(result.content()),
            Some(result) => ToolOutput::fail(result.content()),
            None => ToolOutput::fail("not run"),
        };
        let verdict = verdict_of(&*parts.store, &id).await?;
        Ok(OneCall { output, verdict, outcome: report.outcome().clone() })
    }
}

async fn verdict_of(
    store: &dyn SessionStore,
    id: &crate::session::SessionId,
) -> Result<Option<Verdict>, AgentError> {
    let log = store.read(id).await?;
    Ok(log.records().iter().rev().find_map(|record| match record.entry() {
        Entry::VerdictGiven { risk, rule, reason, .. } => {
            Some(Verdict::new(Risk::from_word(risk)?, Finding::new(rule.clone(), reason.clone(), 0..0)))
        }
        _ => None,
    }))
}
