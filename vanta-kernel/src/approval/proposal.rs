//! What a person is asked: one exact act, why, and for how long.
//!
//! What becomes of the question is in [`approval`](super).

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::sha256::{hex, sha256};
use crate::{Action, Risk, Verdict};

/// A question for a person: one exact act, and why it needs asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub(super) actions: Vec<Action>,
    pub(super) risk: Risk,
    pub(super) rule: String,
    pub(super) reason: String,
    pub(super) session: String,
    pub(super) call: String,
    pub(super) binding: String,
    pub(super) raised_by: RaisedBy,
    pub(super) expires_ms: Option<u64>,
}

impl Proposal {
    /// A proposal of `actions`, whose strictest verdict is `risk` by `rule` for `reason`.
    ///
    /// Until [`Proposal::binding`] sets a narrower one, it is bound to the digest of the actions themselves.
    pub fn new(actions: Vec<Action>, risk: Risk, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            binding: binding_of(&actions),
            actions,
            risk,
            rule: rule.into(),
            reason: reason.into(),
            session: String::new(),
            call: String::new(),
            raised_by: RaisedBy::Kernel,
            expires_ms: None,
        }
    }

    /// A proposal of `actions` because of `verdict`, the strictest of theirs.
    #[must_use]
    pub fn from_verdict(actions: Vec<Action>, verdict: &Verdict) -> Self {
        Self::new(actions, verdict.risk(), verdict.finding().rule(), verdict.finding().reason())
    }

    /// Names the session that waits for the answer.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = session.into();
        self
    }

    /// Names the tool call that waits for the answer.
    #[must_use]
    pub fn call(mut self, call: impl Into<String>) -> Self {
        self.call = call.into();
        self
    }

    /// Binds the answer to the digest `binding`, in hexadecimal: only who presents the same one may use it.
    #[must_use]
    pub fn bind(mut self, binding: impl Into<String>) -> Self {
        self.binding = binding.into();
        self
    }

    /// Says who wants a person to be asked.
    #[must_use]
    pub fn raised_by(mut self, raiser: RaisedBy) -> Self {
        self.raised_by = raiser;
        self
    }

    /// Sets when the question, and an unused answer to it, lapse. [`DEFAULT_EXPIRY_MS`](crate::DEFAULT_EXPIRY_MS) after proposing
    /// otherwise.
    #[must_use]
    pub fn expires_ms(mut self, expires_ms: u64) -> Self {
        self.expires_ms = Some(expires_ms);
        self
    }

    /// What would be done, all of it.
    #[must_use]
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The strictest verdict of the actions.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// The rule that asks.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Why it needs asking, in one sentence.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The digest the answer is bound to.
    #[must_use]
    pub fn binding(&self) -> &str {
        &self.binding
    }

    /// The session that waits, as set by [`Proposal::session`]; empty when none was named.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session
    }

    /// The tool call that waits, as set by [`Proposal::call`]; empty when none was named.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call
    }

    /// Who wants a person to be asked, as set by [`Proposal::raised_by`].
    #[must_use]
    pub fn raiser(&self) -> RaisedBy {
        self.raised_by
    }

    /// When the question lapses, as set by [`Proposal::expires_ms`].
    #[must_use]
    pub fn expiry_ms(&self) -> Option<u64> {
        self.expires_ms
    }
}

/// Who wants a person to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RaisedBy {
    /// The kernel's own verdict is Ask.
    #[default]
    Kernel,
    /// A permission rule above the kernel.
    Rule,
    /// An earlier attempt whose outcome is unknown.
    UnknownAttempt,
    /// A custom gate.
    Gate,
    /// A hook.
    Hook,
}

impl RaisedBy {
    /// The lower-case word used on every wire and in every file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Rule => "rule",
            Self::UnknownAttempt => "unknown_attempt",
            Self::Gate => "gate",
            Self::Hook => "hook",
        }
    }

    /// The inverse of [`RaisedBy::as_str`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Kernel, Self::Rule, Self::UnknownAttempt, Self::Gate, Self::Hook]
            .into_iter()
            .find(|raiser| raiser.as_str() == word)
    }
}

/// The binding of `actions` when nothing narrower is known.
fn binding_of(actions: &[Action]) -> String {
    let actions = Json::Array(actions.iter().map(Action::to_json).collect());
    hex(&sha256(actions.canonical().as_bytes()))
}
