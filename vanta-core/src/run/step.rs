//! The steps of a run: what the machine asks its driver to do, one at a time.

use std::sync::Arc;
use std::time::Duration;

use vanta_kernel::{Action, ApprovalId, Scope};

use super::{ClearedCall, Outcome};
use crate::approver::Question;
use crate::message::{CallId, JsonObject};
use crate::provider::ModelRequest;
use crate::session::Entry;
use crate::tool::{DescribeContext, DescribeError, Tool, ToolOutput};

/// What the driver has to do next. Exhaustive on purpose: a driver that does not know a step must not compile.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a new step must break every driver")]
pub enum Step {
    /// Call the model; answer with [`Run::replied`](super::Run::replied).
    CallModel(ModelRequest),
    /// Ask the tool which actions the call would be; answer with [`Run::described`](super::Run::described).
    Describe(Describe),
    /// Ask the gate; answer with [`Run::assessed`](super::Run::assessed).
    Assess(Assess),
    /// Put the question to the ledger, then, unless the item it gives [holds a decision](crate::Decision::of), to the
    /// approver; answer with [`Run::decided`](super::Run::decided).
    AskHuman(Question),
    /// Use an approval; answer with [`Run::consumed`](super::Run::consumed).
    ConsumeApproval(Consume),
    /// Make these entries durable, as one append; answer with [`Run::persisted`](super::Run::persisted) once they are.
    Persist(Vec<Arc<Entry>>),
    /// Run the tool, and go on asking for steps meanwhile; answer with [`Run::finished`](super::Run::finished).
    Execute(ClearedCall, Duration),
    /// Wait this long (less does no harm), then ask for the next step with the time it is then.
    Sleep(Duration),
    /// Nothing to start: await one of the executions and answer it.
    Wait,
    /// The run has ended.
    Done(Outcome),
}

impl Step {
    /// The step's name, for traces.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::CallModel(_) => "call_model",
            Self::Describe(_) => "describe",
            Self::Assess(_) => "assess",
            Self::AskHuman(_) => "ask_human",
            Self::ConsumeApproval(_) => "consume_approval",
            Self::Persist(_) => "persist",
            Self::Execute(..) => "execute",
            Self::Sleep(_) => "sleep",
            Self::Wait => "wait",
            Self::Done(_) => "done",
        }
    }
}

/// A call to be described.
#[derive(Debug, Clone, PartialEq)]
pub struct Describe {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// Its arguments, which fit the tool's schema.
    pub arguments: JsonObject,
}

/// A call to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Assess {
    /// The call.
    pub call: CallId,
    /// What it would do.
    pub actions: Arc<[Action]>,
    /// Where.
    pub scope: Arc<Scope>,
}

/// An approval to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consume {
    /// The call it is for.
    pub call: CallId,
    /// The item in the ledger.
    pub approval: ApprovalId,
    /// The digest of the act.
    pub binding: String,
    /// Who uses it: session, call and attempt.
    pub holder: String,
}

/// What describing a call gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Described {
    /// What the call would do.
    pub actions: Vec<Action>,
    /// Digests of the script files it would run, so that an approval is bound to their content.
    pub scripts: Vec<(String, String)>,
}

impl Described {
    /// Asks `tool` which actions a call with `arguments` would be, and takes the digests of the script files they would
    /// run. Changes nothing.
    ///
    /// # Errors
    /// The tool's complaint, or [`DescribeError`] when a script cannot be read or is too large to be vouched for.
    pub async fn by(
        tool: &dyn Tool,
        arguments: &JsonObject,
        cx: &DescribeContext,
    ) -> Result<Self, DescribeError> {
        let actions = tool.describe_for_safety(arguments, cx).await?;
        let scripts = super::scripts::digests(&actions, cx.scope()).await?;
        Ok(Self { actions, scripts })
    }
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each way to end has its own disposition")]
pub enum Execution {
    /// The tool answered.
    Returned(ToolOutput),
    /// It did not answer in time; it may still be at work.
    TimedOut,
    /// Its code panicked.
    Panicked,
    /// It was told to stop and did not answer.
    Abandoned,
}

/// An answer to a question the machine did not ask. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unexpected answer `{answer}`{}", .call.as_ref().map(|call| format!(" for call `{call}`")).unwrap_or_default())]
pub struct UnexpectedAnswer {
    pub(super) answer: &'static str,
    pub(super) call: Option<CallId>,
}
