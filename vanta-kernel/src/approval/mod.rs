//! Approvals: what a person is asked, what they answered, and which changes of that state are legal.
//!
//! Pure: no clock, no file. Time comes in as milliseconds since 1970. The files are in [`crate::store`]; what
//! an action may do is decided by [`assess`](crate::assess), never here.
//!
//! ```
//! use vanta_kernel::{Action, Answer, Approval, ApprovalError, ApprovalId, ApprovalStatus, Proposal, Risk};
//!
//! let proposal = Proposal::new(vec![Action::delete("old.txt")], Risk::Ask, "delete.scope", "deletes a file");
//! let asked = Approval::propose(ApprovalId::new(1), &proposal, 1_000)?;
//! let approved = asked.decide(Answer::Approve, "dana", 2_000)?;
//! assert_eq!(approved.decide(Answer::Deny, "dana", 2_001), Err(ApprovalError::AlreadyDecided));
//!
//! let used = approved.consume(proposal.binding(), "session 7, call 3", 3_000)?;
//! assert_eq!(used.status(), ApprovalStatus::Consumed);
//! assert_eq!(used.consume(proposal.binding(), "someone else", 3_001), Err(ApprovalError::OtherHolder));
//! # Ok::<(), ApprovalError>(())
//! ```

mod json;
mod proposal;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::sha256::eq;
use crate::{Action, Risk};

pub use proposal::{Proposal, RaisedBy};

/// How long a proposal stays open when it does not say so itself: seven days.
pub const DEFAULT_EXPIRY_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// Names one approval of one root. Never reused, so an old answer cannot meet a new question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalId(u64);

impl ApprovalId {
    /// The id with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ApprovalId {
    type Err = core::num::ParseIntError;

    fn from_str(digits: &str) -> Result<Self, Self::Err> {
        digits.parse().map(Self)
    }
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new state must break every match")]
pub enum ApprovalStatus {
    /// Waits for a person.
    Proposed,
    /// A person said yes; not used yet.
    Approved,
    /// A person said no.
    Denied,
    /// Nobody answered, or nobody used the answer, in time.
    Expired,
    /// Used by its one holder.
    Consumed,
}

impl ApprovalStatus {
    /// The lower-case word used on every wire and in every file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
        }
    }

    /// The inverse of [`ApprovalStatus::as_str`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Proposed, Self::Approved, Self::Denied, Self::Expired, Self::Consumed]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

impl fmt::Display for ApprovalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must break every match")]
pub enum Answer {
    /// It may run, once.
    Approve,
    /// It must not run.
    Deny,
}

impl Answer {
    /// The lower-case word used on every wire and in every file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
        }
    }

    /// The inverse of [`Answer::as_str`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Approve, Self::Deny].into_iter().find(|answer| answer.as_str() == word)
    }
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub(crate) id: ApprovalId,
    pub(crate) status: ApprovalStatus,
    pub(crate) actions: Vec<Action>,
    pub(crate) risk: Risk,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) session: String,
    pub(crate) call: String,
    pub(crate) binding: String,
    pub(crate) raised_by: RaisedBy,
    pub(crate) created_ms: u64,
    pub(crate) expires_ms: u64,
    pub(crate) decided_by: Option<String>,
    pub(crate) holder: Option<String>,
}

impl Approval {
    /// Turns `proposal` into the approval `id`, waiting for a person.
    ///
    /// # Errors
    /// [`ApprovalError::NotApprovable`] for a Block, [`ApprovalError::NotNeeded`] for an Allow that nothing
    /// above the kernel raised, [`ApprovalError::NoActions`] and [`ApprovalError::BadBinding`] for a proposal
    /// that says nothing, [`ApprovalError::Expired`] when it would be over before it began.
    pub fn propose(id: ApprovalId, proposal: &Proposal, now_ms: u64) -> Result<Self, ApprovalError> {
        let expires_ms = proposal.expires_ms.unwrap_or(now_ms.saturating_add(DEFAULT_EXPIRY_MS));
        let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match proposal.risk {
            Risk::Block => return Err(ApprovalError::NotApprovable),
            Risk::Allow if proposal.raised_by == RaisedBy::Kernel => return Err(ApprovalError::NotNeeded),
            _ if proposal.actions.is_empty() => return Err(ApprovalError::NoActions),
            _ if !is_hex(&proposal.binding) => return Err(ApprovalError::BadBinding),
            _ if expires_ms <= now_ms => return Err(ApprovalError::Expired),
            Risk::Allow | Risk::Ask => {}
        }
        Ok(Self {
            id,
            status: ApprovalStatus::Proposed,
            actions: proposal.actions.clone(),
            risk: proposal.risk,
            rule: proposal.rule.clone(),
            reason: proposal.reason.clone(),
            session: proposal.session.clone(),
            call: proposal.call.clone(),
            binding: proposal.binding.to_ascii_lowercase(),
            raised_by: proposal.raised_by,
            created_ms: now_ms,
            expires_ms,
            decided_by: None,
            holder: None,
        })
    }

    /// This approval with the answer of `by`.
    ///
    /// # Errors
    /// [`ApprovalError::AlreadyDecided`], [`ApprovalError::Expired`] or [`ApprovalError::Consumed`]: an item is
    /// decided once. Propose again to ask again. [`ApprovalError::Unnamed`] when `by` is empty.
    pub fn decide(&self, answer: Answer, by: &str, now_ms: u64) -> Result<Self, ApprovalError> {
        if by.is_empty() {
            return Err(ApprovalError::Unnamed);
        }
        match self.status_at(now_ms) {
            ApprovalStatus::Proposed => {}
            ApprovalStatus::Approved | ApprovalStatus::Denied => return Err(ApprovalError::AlreadyDecided),
            ApprovalStatus::Expired => return Err(ApprovalError::Expired),
            ApprovalStatus::Consumed => return Err(ApprovalError::Consumed),
        }
        let status = match answer {
            Answer::Approve => ApprovalStatus::Approved,
            Answer::Deny => ApprovalStatus::Denied,
        };
        Ok(Self { status, decided_by: Some(by.to_owned()), ..self.clone() })
    }

    /// This approval used by `holder` for the act with digest `binding`.
    ///
    /// The same holder may ask again, before expiry, so that a crash costs no second question.
    ///
    /// # Errors
    /// [`ApprovalError::WrongBinding`] for any other act, [`ApprovalError::OtherHolder`] when it was used,
    /// [`ApprovalError::NotDecided`], [`ApprovalError::Denied`], [`ApprovalError::Expired`], and
    /// [`ApprovalError::Unnamed`] when `holder` is empty. None of them may run anything.
    pub fn consume(&self, binding: &str, holder: &str, now_ms: u64) -> Result<Self, ApprovalError> {
        if holder.is_empty() {
            return Err(ApprovalError::Unnamed);
        }
        if !eq(self.binding.as_bytes(), binding.to_ascii_lowercase().as_bytes()) {
            return Err(ApprovalError::WrongBinding);
        }
        match self.status_at(now_ms) {
            ApprovalStatus::Proposed => Err(ApprovalError::NotDecided),
            ApprovalStatus::Denied => Err(ApprovalError::Denied),
            ApprovalStatus::Expired => Err(ApprovalError::Expired),
            ApprovalStatus::Consumed if self.holder.as_deref() != Some(holder) => {
                Err(ApprovalError::OtherHolder)
            }
            ApprovalStatus::Consumed if now_ms >= self.expires_ms => Err(ApprovalError::Expired),
            ApprovalStatus::Approved | ApprovalStatus::Consumed => {
                let holder = Some(holder.to_owned());
                Ok(Self { status: ApprovalStatus::Consumed, holder, ..self.clone() })
            }
        }
    }

    /// This approval as it stands at `now_ms`: open questions and unused answers lapse at their expiry.
    #[must_use]
    pub fn at(mut self, now_ms: u64) -> Self {
        self.status = self.status_at(now_ms);
        self
    }

    fn status_at(&self, now_ms: u64) -> ApprovalStatus {
        match self.status {
            ApprovalStatus::Proposed | ApprovalStatus::Approved if now_ms >= self.expires_ms => {
                ApprovalStatus::Expired
            }
            status => status,
        }
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> ApprovalId {
        self.id
    }

    /// Where it stood when it was read.
    #[must_use]
    pub fn status(&self) -> ApprovalStatus {
        self.status
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

    /// The rule that asked.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Why it needs asking, in one sentence.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The session that waits; empty when none was named.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The tool call that waits; empty when none was named.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The digest the answer is bound to, in lower-case hexadecimal.
    #[must_use]
    pub fn binding(&self) -> &str {
        &self.binding
    }

    /// Who wanted a person to be asked.
    #[must_use]
    pub fn raised_by(&self) -> RaisedBy {
        self.raised_by
    }

    /// When it was proposed.
    #[must_use]
    pub fn created_ms(&self) -> u64 {
        self.created_ms
    }

    /// When the question, and an unused answer to it, lapse.
    #[must_use]
    pub fn expires_ms(&self) -> u64 {
        self.expires_ms
    }

    /// Who answered.
    #[must_use]
    pub fn decided_by(&self) -> Option<&str> {
        self.decided_by.as_deref()
    }

    /// Who used it.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        self.holder.as_deref()
    }
}

/// Why a change of an approval's state is not legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The act is a Block; no answer can make it run.
    NotApprovable,
    /// The act is an Allow and nothing above the kernel asked for a person.
    NotNeeded,
    /// The proposal names no action.
    NoActions,
    /// The proposal's binding is not hexadecimal.
    BadBinding,
    /// A person has answered.
    AlreadyDecided,
    /// Its time is over.
    Expired,
    /// It was used.
    Consumed,
    /// Nobody has answered yet.
    NotDecided,
    /// A person said no.
    Denied,
    /// It is for another act.
    WrongBinding,
    /// It was used by another holder.
    OtherHolder,
    /// Whoever decides or uses it gave no name.
    Unnamed,
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotApprovable => {
                "the action is blocked and no approval can change that; choose another way"
            }
            Self::NotNeeded => "the action is allowed without a person; run it",
            Self::NoActions => "the proposal names no action; say what would be done",
            Self::BadBinding => "the binding is not hexadecimal; pass the digest of the act",
            Self::AlreadyDecided => "this approval was already decided; propose again to ask again",
            Self::Expired => "this approval expired; propose again to ask again",
            Self::Consumed => "this approval was already used; propose again to ask again",
            Self::NotDecided => "nobody has decided this approval yet; wait for the answer",
            Self::Denied => "this approval was denied; do not run the action",
            Self::WrongBinding => "this approval is for another act; propose this one",
            Self::OtherHolder => "this approval was used by another holder; propose again to ask again",
            Self::Unnamed => "nobody is named; say who decides or uses the approval",
        })
    }
}

impl core::error::Error for ApprovalError {}
