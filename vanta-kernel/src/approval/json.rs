//! Approvals and proposals as clients see them. Times are milliseconds since 1970.

use alloc::vec::Vec;

use super::{Approval, ApprovalId, ApprovalStatus, Proposal, RaisedBy};
use crate::json::Json;
use crate::wire::{Members, WireError};
use crate::{Action, Risk};

impl Approval {
    /// The item: `id`, `status`, `action` when there is one, else `actions`, `risk`, `rule`, `reason`,
    /// `session`, `call`, `binding`, `raised_by`, `created`, `expires`, and when known `decided_by`, `holder`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut members = Vec::from([
            ("id", Json::from(self.id.get())),
            ("status", self.status.as_str().into()),
            act(&self.actions),
            ("risk", self.risk.as_str().into()),
            ("rule", self.rule.as_str().into()),
            ("reason", self.reason.as_str().into()),
            ("session", self.session.as_str().into()),
            ("call", self.call.as_str().into()),
            ("binding", self.binding.as_str().into()),
            ("raised_by", self.raised_by.as_str().into()),
            ("created", self.created_ms.into()),
            ("expires", self.expires_ms.into()),
        ]);
        members.extend(self.decided_by().map(|by| ("decided_by", by.into())));
        members.extend(self.holder().map(|holder| ("holder", holder.into())));
        Json::object(members)
    }

    /// The inverse of [`Approval::to_json`]; other members are left alone.
    ///
    /// What it says is as trustworthy as who sent it: only a store's own `consume` lets an act begin.
    ///
    /// # Errors
    /// [`WireError`] names the member that is missing or wrong.
    pub fn from_json(json: &Json) -> Result<Self, WireError> {
        let members = Members::of(json)?;
        Ok(Self {
            id: ApprovalId::new(members.number("id")?),
            status: members.word("status", ApprovalStatus::from_word)?,
            actions: actions(json)?,
            risk: members.word("risk", Risk::from_word)?,
            rule: members.text("rule")?,
            reason: members.text("reason")?,
            session: members.text("session")?,
            call: members.text("call")?,
            binding: members.text("binding")?,
            raised_by: members.word("raised_by", RaisedBy::from_word)?,
            created_ms: members.number("created")?,
            expires_ms: members.number("expires")?,
            decided_by: members.optional("decided_by")?,
            holder: members.optional("holder")?,
        })
    }
}

impl Proposal {
    /// The proposal as sent to whoever keeps the approvals: `action` when there is one, else `actions`, `risk`,
    /// `rule`, `reason`, `session`, `call`, `binding`, `raised_by`, and when set `expires`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut members = Vec::from([
            act(&self.actions),
            ("risk", self.risk.as_str().into()),
            ("rule", self.rule.as_str().into()),
            ("reason", self.reason.as_str().into()),
            ("session", self.session.as_str().into()),
            ("call", self.call.as_str().into()),
            ("binding", self.binding.as_str().into()),
            ("raised_by", self.raised_by.as_str().into()),
        ]);
        members.extend(self.expires_ms.map(|expires| ("expires", expires.into())));
        Json::object(members)
    }
}

fn act(actions: &[Action]) -> (&'static str, Json) {
    match actions {
        [action] => ("action", action.to_json()),
        actions => ("actions", Json::Array(actions.iter().map(Action::to_json).collect())),
    }
}

fn actions(json: &Json) -> Result<Vec<Action>, WireError> {
    match (json.get("action"), json.get("actions")) {
        (Some(action), None) => Action::from_json(action).map(|action| Vec::from([action])),
        (None, Some(Json::Array(actions))) => actions.iter().map(Action::from_json).collect(),
        (None, None) => Err(WireError::Missing("action")),
        _ => Err(WireError::Invalid("actions")),
    }
}
