//! Events: what happened, in order. Records only; the log file is in [`crate::store`].

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub(crate) seq: u64,
    pub(crate) time_ms: u64,
    pub(crate) kind: String,
    pub(crate) fields: Vec<(String, Json)>,
}

impl Event {
    /// Its place in the log: 1 for the first, without gaps.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When it was recorded, in milliseconds since 1970.
    #[must_use]
    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// What happened, such as `assessed` or `approval.decided`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The details, in the order they were given.
    #[must_use]
    pub fn fields(&self) -> &[(String, Json)] {
        &self.fields
    }

    /// The detail `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The event as clients see it: `seq`, `time`, `kind`, `fields`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::object([
            ("seq", Json::from(self.seq)),
            ("time", self.time_ms.into()),
            ("kind", self.kind.as_str().into()),
            ("fields", Json::Object(self.fields.clone())),
        ])
    }

    /// The inverse of [`Event::to_json`]; `None` when a member is missing, of another type or too many.
    #[must_use]
    pub fn from_json(json: &Json) -> Option<Self> {
        let kind = json.get("kind")?.as_str().filter(|kind| is_event_kind(kind))?;
        let event = Self {
            seq: json.get("seq")?.as_u64()?,
            time_ms: json.get("time")?.as_u64()?,
            kind: kind.into(),
            fields: json.get("fields")?.as_object()?.to_vec(),
        };
        (json.as_object()?.len() == 4).then_some(event)
    }
}

/// Whether `kind` names events: lower-case letters, digits, `.`, `_` and `-`, at most 64 of them.
#[must_use]
pub fn is_event_kind(kind: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    (1..=64).contains(&kind.len()) && kind.bytes().all(legal)
}
