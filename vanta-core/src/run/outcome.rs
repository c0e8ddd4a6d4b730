//! How a run ends. Stops are outcomes, never exceptions.

use serde::{Deserialize, Serialize};

use crate::limits::Limit;
use crate::provider::ErrorClass;

/// How a run ended. Every one can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The model gave an answer.
    Done {
        /// The answer.
        text: String,
    },
    /// Calls wait for a person; any process may answer, and resuming goes on.
    AwaitingApproval {
        /// The items in the ledger.
        approvals: Vec<u64>,
    },
    /// A limit of the budget was reached; resume with a larger one.
    LimitReached {
        /// Which.
        limit: Limit,
    },
    /// The model had nothing to say, or its tools gave nothing.
    Stalled,
    /// Too many calls in a row failed or were denied.
    TooManyFailures,
    /// Somebody cancelled it.
    Cancelled,
    /// The model, or its provider's filter, refused.
    Refused {
        /// Its words.
        text: String,
    },
    /// The provider failed and trying again did not help.
    ProviderFailed {
        /// What kind of failure it was.
        class: ErrorClass,
        /// What happened.
        message: String,
    },
    /// The gate gave no answer; nothing was run.
    GateUnavailable {
        /// What happened.
        message: String,
    },
}

impl Outcome {
    /// The outcome's name in snake case.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::AwaitingApproval { .. } => "awaiting_approval",
            Self::LimitReached { .. } => "limit_reached",
            Self::Stalled => "stalled",
            Self::TooManyFailures => "too_many_failures",
            Self::Cancelled => "cancelled",
            Self::Refused { .. } => "refused",
            Self::ProviderFailed { .. } => "provider_failed",
            Self::GateUnavailable { .. } => "gate_unavailable",
        }
    }

    /// The reason in a sentence, with what to do next.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Done { .. } => "the task is done".into(),
            Self::AwaitingApproval { approvals } => {
                let ids: Vec<String> = approvals.iter().map(u64::to_string).collect();
                format!("waiting for a decision on approval {}; approve or deny, then resume", ids.join(", "))
            }
            Self::LimitReached { limit } => {
                let name = match limit {
                    Limit::Turns => "turns",
                    Limit::ToolCalls => "tool calls",
                    Limit::Tokens => "tokens",
                    Limit::WallClock => "time",
                };
                format!("the limit on {name} is reached; resume with a larger one")
            }
            Self::Stalled => "the model and its tools gave nothing more; resume with a hint".into(),
            Self::TooManyFailures => {
                "too many calls in a row failed or were denied; resume with a hint".into()
            }
            Self::Cancelled => "the run was cancelled; resume goes on".into(),
            Self::Refused { .. } => "the model refused; resume with another prompt".into(),
            Self::ProviderFailed { message, .. } => format!("the model did not answer: {message}"),
            Self::GateUnavailable { message } => {
                format!("{message}; nothing was run, resume when the gate answers")
            }
        }
    }
}
