//! What is left when a run has ended.

use crate::effect::EffectDisposition;
use crate::message::{CallId, Message, ToolResult};
use crate::provider::Usage;
use crate::run::{Outcome, Run};
use crate::session::SessionId;

/// How a run ended and what it did.
#[derive(Debug, Clone)]
pub struct Report {
    session: SessionId,
    outcome: Outcome,
    messages: Vec<Message>,
    usage: Usage,
    turns: u32,
    denied: u32,
    settlements: Vec<Settlement>,
}

/// How one call of the session was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    call: CallId,
    tool: String,
    disposition: EffectDisposition,
}

impl Settlement {
    /// The call.
    #[must_use]
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is known about the effect.
    #[must_use]
    pub fn disposition(&self) -> EffectDisposition {
        self.disposition
    }
}

impl Report {
    /// The session, for resuming.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// How the run ended.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The answer, when the run is done.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Done { text } => Some(text),
            _ => None,
        }
    }

    /// The history; every call in it has a result.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Tokens of the whole session.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Turns of the whole session.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Calls of the whole session that were denied or blocked.
    #[must_use]
    pub fn denied(&self) -> u32 {
        self.denied
    }

    /// How each call of the session was settled, in order.
    #[must_use]
    pub fn settlements(&self) -> &[Settlement] {
        &self.settlements
    }
}

impl Run {
    /// The report of a run that ended with `outcome`.
    #[must_use]
    pub fn report(&self, outcome: Outcome) -> Report {
        let state = &self.state;
        let settlement = |(call, tool, disposition): &(CallId, String, EffectDisposition)| Settlement {
            call: call.clone(),
            tool: tool.clone(),
            disposition: *disposition,
        };
        Report {
            session: self.settings.session.clone(),
            outcome,
            messages: self.balanced_history(),
            usage: state.usage,
            turns: state.turn,
            denied: state.denied,
            settlements: state.receipts.iter().map(settlement).collect(),
        }
    }

    /// The history, with a word on each call that is still open.
    fn balanced_history(&self) -> Vec<Message> {
        let mut messages = self.state.history.to_vec();
        if !self.state.calls.is_empty() {
            let open = |call: &super::state::Call| {
                let waiting =
                    || ToolResult::new(call.call.id().clone(), call.call.name(), "not run yet").failed();
                call.result.clone().unwrap_or_else(waiting)
            };
            messages.push(Message::tool_results(self.state.calls.iter().map(open).collect()));
        }
        messages
    }
}

/// `text` in at most about `most` bytes: head and tail, and a word on what lies between.
pub(super) fn bound(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let head_end = (0..=half).rev().find(boundary).unwrap_or(0);
    let tail_begin = (text.len() - half..=text.len()).find(boundary).unwrap_or(text.len());
    let (head, tail) = (text.get(..head_end).unwrap_or_default(), text.get(tail_begin..).unwrap_or_default());
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}
