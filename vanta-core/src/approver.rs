//! Port `Approver`: who answers an Ask. The default defers, so nothing ever blocks on a missing person.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use vanta_kernel::{
    Action, Answer, Approval, ApprovalId, ApprovalStatus, Proposal, RaisedBy, Scope, Verdict,
};

use crate::ledger::Operator;
use crate::message::{CallId, JsonObject};
use crate::permission::Rule;
use crate::session::SessionId;

/// Answers the questions of a run.
///
/// # Contract
/// Answers for a person, with their knowledge. May take as long as it likes; the run can be cancelled meanwhile and
/// the question stays in the ledger. Never called for a Block.
#[async_trait]
pub trait Approver: Send + Sync + fmt::Debug {
    /// The decision on `question`.
    async fn decide(&self, question: &Question) -> Decision;
}

/// What a person decides about one call. Exhaustive on purpose.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a new decision must break every match")]
pub enum Decision {
    /// Run it, once.
    Approve,
    /// Run it, and whatever the rule matches from now on in this session.
    Remember(Rule),
    /// Do not run it.
    Deny,
    /// Do not run it, nor whatever the rule matches from now on in this session.
    Never(Rule),
    /// Judge these arguments in place of the model's.
    Edit(JsonObject),
    /// Nobody is here; the run ends as waiting and any process may answer later.
    Defer,
}

impl Decision {
    /// The decision that an item of the ledger already holds; none while it waits for one.
    ///
    /// A driver looks here before it asks anybody: the answer may have come from another process. A consumed item is a
    /// yes to the attempt that consumed it, and the ledger checks that once more.
    #[must_use]
    pub fn of(item: &Approval) -> Option<Self> {
        match item.status() {
            ApprovalStatus::Proposed => None,
            ApprovalStatus::Approved | ApprovalStatus::Consumed => Some(Self::Approve),
            ApprovalStatus::Denied | ApprovalStatus::Expired => Some(Self::Deny),
        }
    }

    /// The decision's name in snake case.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Remember(_) => "remember",
            Self::Deny => "deny",
            Self::Never(_) => "never",
            Self::Edit(_) => "edit",
            Self::Defer => "defer",
        }
    }
}

/// One call that waits for a person, as it was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub(crate) session: SessionId,
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) arguments: JsonObject,
    pub(crate) actions: Arc<[Action]>,
    pub(crate) verdict: Verdict,
    pub(crate) binding: String,
    pub(crate) expires_ms: u64,
    pub(crate) raised_by: RaisedBy,
    pub(crate) rules: Vec<Rule>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) approval: Option<ApprovalId>,
}

impl Question {
    /// The session that waits.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The call that waits.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments; show them, they are what runs.
    #[must_use]
    pub fn arguments(&self) -> &JsonObject {
        &self.arguments
    }

    /// The actions as judged.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The verdict with its reason.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The digest an approval is bound to.
    #[must_use]
    pub fn binding(&self) -> &str {
        &self.binding
    }

    /// When an unanswered question counts as denied, in milliseconds since 1970.
    #[must_use]
    pub fn expires_ms(&self) -> u64 {
        self.expires_ms
    }

    /// What raised the question.
    #[must_use]
    pub fn raised_by(&self) -> RaisedBy {
        self.raised_by
    }

    /// Rules that `Remember` and `Never` may offer, narrowest first.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Where the run works.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The question as the ledger keeps it.
    #[must_use]
    pub fn proposal(&self) -> Proposal {
        Proposal::from_verdict(self.actions.to_vec(), &self.verdict)
            .session(self.session.as_str())
            .call(self.call.as_str())
            .bind(self.binding.clone())
            .raised_by(self.raised_by)
            .expires_ms(self.expires_ms)
    }

    /// The same question with its number in the ledger: a driver sets it before it asks an approver.
    #[must_use]
    pub fn filed_as(mut self, approval: ApprovalId) -> Self {
        self.approval = Some(approval);
        self
    }

    /// The item in the ledger, once there is one.
    #[must_use]
    pub fn approval(&self) -> Option<ApprovalId> {
        self.approval
    }
}

/// Defers every question. The default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Defer;

#[async_trait]
impl Approver for Defer {
    async fn decide(&self, _: &Question) -> Decision {
        Decision::Defer
    }
}

/// Asks a person through a function that may block, such as a prompt on a terminal.
///
/// The function runs on a thread of its own, so the run can be cancelled while it waits. One question is asked at a
/// time.
///
/// ```
/// use vanta_core::approver::{Decision, InteractiveApprover};
///
/// let approver = InteractiveApprover::new(|question| {
///     // Print `question.verdict()`, read a line, decide.
///     if question.tool() == "shell" { Decision::Deny } else { Decision::Approve }
/// });
/// # let _ = approver;
/// ```
pub struct InteractiveApprover {
    ask: Arc<dyn Fn(&Question) -> Decision + Send + Sync>,
}

impl InteractiveApprover {
    /// Asks with `ask`.
    pub fn new(ask: impl Fn(&Question) -> Decision + Send + Sync + 'static) -> Self {
        Self { ask: Arc::new(ask) }
    }
}

impl fmt::Debug for InteractiveApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InteractiveApprover")
    }
}

#[async_trait]
impl Approver for InteractiveApprover {
    async fn decide(&self, question: &Question) -> Decision {
        let (ask, question) = (Arc::clone(&self.ask), question.clone());
        // A prompt that panics answered nothing; the question stays open.
        tokio::task::spawn_blocking(move || ask(&question)).await.unwrap_or(Decision::Defer)
    }
}

/// Writes each answer of another approver into the ledger before the run acts on it.
///
/// The ledger's operator side is what makes an approval count; an agent that holds none cannot approve anything. The
/// agent's builder wraps its approver in this; a harness of your own does the same.
#[derive(Debug)]
pub struct Recorded {
    inner: Arc<dyn Approver>,
    operator: Arc<dyn Operator>,
}

impl Recorded {
    /// Records what `inner` answers with `operator`.
    #[must_use]
    pub fn new(inner: Arc<dyn Approver>, operator: Arc<dyn Operator>) -> Self {
        Self { inner, operator }
    }
}

#[async_trait]
impl Approver for Recorded {
    async fn decide(&self, question: &Question) -> Decision {
        let decision = self.inner.decide(question).await;
        let answer = match &decision {
            Decision::Approve | Decision::Remember(_) => Answer::Approve,
            // An edit is another act: the old question is closed, the new one is asked afresh.
            Decision::Deny | Decision::Never(_) | Decision::Edit(_) => Answer::Deny,
            Decision::Defer => return decision,
        };
        let Some(id) = question.approval() else { return Decision::Defer };
        match self.operator.decide(id, answer, "interactive").await {
            Ok(_) => decision,
            // A no needs no record to hold. A yes that cannot be recorded, or came second, is no yes.
            Err(_) if answer == Answer::Deny => decision,
            Err(_) => Decision::Defer,
        }
    }
}
