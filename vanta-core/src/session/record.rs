//! The records of a session: what happened, in order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use vanta_kernel::ApprovalId;

use crate::clock::Timestamp;
use crate::effect::EffectDisposition;
use crate::message::{Args, CallId, Message};
use crate::permission::Rule;
use crate::provider::{ErrorClass, ModelReply, Usage};
use crate::run::Outcome;
use crate::session::SessionId;
use crate::tool::EffectClass;

/// One thing that happened, numbered and dated. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    seq: u64,
    ts: Timestamp,
    fence: u64,
    entry: Arc<Entry>,
}

impl Record {
    /// Entry number `seq`, written at `ts` by the owner with `fence`.
    #[must_use]
    pub fn new(seq: u64, ts: Timestamp, fence: u64, entry: Arc<Entry>) -> Self {
        Self { seq, ts, fence, entry }
    }

    /// Its place in the session, from 1, without gaps.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When it was written.
    #[must_use]
    pub fn ts(&self) -> Timestamp {
        self.ts
    }

    /// Which owner wrote it.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// What happened.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }
}

/// What happened.
///
/// In a file and on the wire each is `kind`, the name in snake case, and `body`, an object with the fields below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Entry {
    /// The first record: what this file is and how the run was set up. Never keys.
    SessionCreated {
        /// Always `vanta-session`.
        format: String,
        /// The format's version.
        version: u32,
        /// The oldest version whose readers understand this session.
        min_reader: u32,
        /// The session.
        session: SessionId,
        /// The build that made it.
        build: String,
        /// The root the run works in.
        root: String,
        /// What the embedder wants to find again on resume.
        settings: Value,
    },
    /// A process took up the session.
    RunStarted {
        /// There were records before.
        resumed: bool,
    },
    /// A person said something.
    UserMessage {
        /// What.
        message: Message,
    },
    /// The loop asked an empty-handed model to go on.
    Nudged {
        /// With these words.
        message: Message,
    },
    /// The model is about to be called.
    TurnStarted {
        /// Counts from 1.
        turn: u32,
    },
    /// The model answered.
    TurnFinished {
        /// The turn.
        turn: u32,
        /// The whole reply.
        reply: ModelReply,
        /// Hash of the stable tier of the prompt it saw.
        prefix_hash: String,
    },
    /// The model's stream was dropped; what had arrived is kept for people, not for the model.
    TurnCut {
        /// The turn.
        turn: u32,
        /// Text that had arrived.
        partial: String,
    },
    /// The model call failed and will be tried again.
    RetryScheduled {
        /// The turn.
        turn: u32,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long the loop waits, in milliseconds.
        wait_ms: u64,
        /// What kind of failure it was.
        class: ErrorClass,
    },
    /// The model asked for a tool.
    ToolProposed {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
    },
    /// A person changed the arguments of a call; it is judged anew.
    ToolEdited {
        /// The call.
        call: CallId,
        /// The new arguments.
        args: Args,
    },
    /// The gate judged a call.
    VerdictGiven {
        /// The call.
        call: CallId,
        /// `allow`, `ask` or `block`.
        risk: String,
        /// The rule that decided.
        rule: String,
        /// Why.
        reason: String,
    },
    /// A call waits for a person.
    ApprovalRequested {
        /// The call.
        call: CallId,
        /// The item in the ledger.
        #[serde(with = "approval_id")]
        approval: ApprovalId,
        /// The digest an answer is bound to.
        binding: String,
        /// When the question lapses, in milliseconds since 1970.
        expires_ms: u64,
    },
    /// A question was answered.
    ApprovalSettled {
        /// The call.
        call: CallId,
        /// The item in the ledger.
        #[serde(with = "approval_id")]
        approval: ApprovalId,
        /// `approve`, `remember`, `deny`, `never`, `edit` or `expired`.
        decision: String,
    },
    /// A person made a rule for this session.
    RuleAdded {
        /// The rule.
        rule: Rule,
    },
    /// A cleared call is about to start.
    ToolPending {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// Counts from 1.
        attempt: u32,
        /// The tool's effect class.
        class: EffectClass,
        /// The idempotency key.
        key: String,
        /// SHA-256 over tool and arguments.
        digest: String,
    },
    /// The tool's code is about to run. Without this record it does not.
    ToolStarted {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// Counts from 1.
        attempt: u32,
    },
    /// A call has its one result.
    ToolSettled {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// The attempt that gave it; 0 when none started.
        attempt: u32,
        /// What is known about the effect.
        disposition: EffectDisposition,
        /// Whether it worked.
        ok: bool,
        /// What the model reads.
        output: String,
    },
    /// Bytes of a torn last line were set aside when the session was opened.
    LogRepaired {
        /// How many.
        bytes: u64,
    },
    /// The run ended.
    RunFinished {
        /// How.
        outcome: Outcome,
        /// Tokens of the whole session.
        usage: Usage,
        /// Turns of the whole session.
        turns: u32,
        /// Calls that were denied or blocked.
        denied: u32,
    },
    /// A record of a later version that may be passed over.
    #[serde(skip)]
    Unknown(Unknown),
}

/// A record this build does not know, kept as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    pub(crate) kind: String,
    pub(crate) body: Value,
}

impl Entry {
    /// The entry's name in snake case.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::SessionCreated { .. } => "session_created",
            Self::RunStarted { .. } => "run_started",
            Self::UserMessage { .. } => "user_message",
            Self::Nudged { .. } => "nudged",
            Self::TurnStarted { .. } => "turn_started",
            Self::TurnFinished { .. } => "turn_finished",
            Self::TurnCut { .. } => "turn_cut",
            Self::RetryScheduled { .. } => "retry_scheduled",
            Self::ToolProposed { .. } => "tool_proposed",
            Self::ToolEdited { .. } => "tool_edited",
            Self::VerdictGiven { .. } => "verdict_given",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalSettled { .. } => "approval_settled",
            Self::RuleAdded { .. } => "rule_added",
            Self::ToolPending { .. } => "tool_pending",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolSettled { .. } => "tool_settled",
            Self::LogRepaired { .. } => "log_repaired",
            Self::RunFinished { .. } => "run_finished",
            Self::Unknown(unknown) => &unknown.kind,
        }
    }

    /// Whether a reader that does not know this kind must refuse the session.
    #[must_use]
    pub fn is_critical(&self) -> bool {
        !matches!(
            self,
            Self::LogRepaired { .. } | Self::RetryScheduled { .. } | Self::TurnCut { .. } | Self::Unknown(_)
        )
    }

    /// The entry's fields as one object.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        let body = match self {
            Self::Unknown(unknown) => unknown.body.clone(),
            known => serde_json::to_value(known)
                .ok()
                .and_then(|mut form| form.get_mut("body").map(Value::take))
                .unwrap_or_default(),
        };
        match body {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// Reads an entry from its name and fields.
    ///
    /// # Errors
    /// What does not fit; the caller decides by the record's critical mark.
    pub(crate) fn from_form(kind: &str, body: Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(serde_json::json!({"kind": kind, "body": body}))
    }
}

mod approval_id {
    //! Approval numbers as plain numbers.

    use serde::{Deserialize, Deserializer, Serializer};
    use vanta_kernel::ApprovalId;

    pub(super) fn serialize<S: Serializer>(id: &ApprovalId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(id.get())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApprovalId, D::Error> {
        u64::deserialize(deserializer).map(ApprovalId::new)
    }
}
