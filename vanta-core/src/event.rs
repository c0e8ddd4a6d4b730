//! What observers see of a run.
//!
//! Durable events are the session's own records, sent out after they were persisted, in the order of their `seq`.
//! Deltas are ephemeral: never stored, and numbered within the durable event before them. A replay has none of them.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::session::{Record, SessionId};

/// Receives events. Must not block: it is called between the loop's steps.
///
/// ```
/// use vanta_core::event::{EventBody, Observer, RunEvent};
///
/// #[derive(Debug)]
/// struct Count(std::sync::atomic::AtomicUsize);
///
/// impl Observer for Count {
///     fn event(&self, event: &RunEvent) {
///         if let EventBody::TextDelta(_) = event.body() {
///             self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         }
///     }
/// }
/// ```
pub trait Observer: Send + Sync + fmt::Debug {
    /// A session was opened; `records` is all it holds. Called before the first event.
    fn opened(&self, session: &SessionId, records: &[Record]) {
        let _ = (session, records);
    }

    /// Something happened.
    fn event(&self, event: &RunEvent);
}

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub struct RunEvent {
    session: SessionId,
    turn: u32,
    seq: u64,
    sub: u64,
    ts: Timestamp,
    body: EventBody,
}

/// What happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventBody {
    /// A record became durable.
    Recorded(Record),
    /// The model wrote more text.
    TextDelta(String),
    /// The model reasoned on.
    ReasoningDelta(String),
}

impl RunEvent {
    pub(crate) fn recorded(session: &SessionId, turn: u32, record: Record) -> Self {
        let (seq, ts) = (record.seq(), record.ts());
        Self { session: session.clone(), turn, seq, sub: 0, ts, body: EventBody::Recorded(record) }
    }

    pub(crate) fn delta(
        session: &SessionId,
        turn: u32,
        at: (u64, u64),
        ts: Timestamp,
        body: EventBody,
    ) -> Self {
        Self { session: session.clone(), turn, seq: at.0, sub: at.1, ts, body }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The turn, from 1; 0 before the first.
    #[must_use]
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// The event's own number when durable, else that of the last durable event.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Counts ephemeral events after [`RunEvent::seq`], from 1; 0 for durable ones.
    #[must_use]
    pub fn sub(&self) -> u64 {
        self.sub
    }

    /// When.
    #[must_use]
    pub fn ts(&self) -> Timestamp {
        self.ts
    }

    /// What.
    #[must_use]
    pub fn body(&self) -> &EventBody {
        &self.body
    }

    /// The record, for a durable event.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        match &self.body {
            EventBody::Recorded(record) => Some(record),
            _ => None,
        }
    }

    /// The event's name in snake case.
    #[must_use]
    pub fn kind(&self) -> &str {
        match &self.body {
            EventBody::Recorded(record) => record.entry().kind(),
            EventBody::TextDelta(_) => "text_delta",
            EventBody::ReasoningDelta(_) => "reasoning_delta",
        }
    }

    /// One flat object: `v`, `type`, `session_id`, `turn`, `seq`, `sub` where it counts, `ts`, and the event's fields.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut object = match &self.body {
            EventBody::Recorded(record) => record.entry().fields(),
            EventBody::TextDelta(text) | EventBody::ReasoningDelta(text) => {
                Map::from_iter([("text".to_owned(), json!(text)), ("sub".to_owned(), json!(self.sub))])
            }
        };
        // After the fields, so that none of them can pose as the frame.
        for (key, value) in [
            ("v", json!(1)),
            ("type", json!(self.kind())),
            ("session_id", json!(self.session)),
            ("turn", json!(self.turn)),
            ("seq", json!(self.seq)),
            ("ts", json!(self.ts)),
        ] {
            object.insert(key.to_owned(), value);
        }
        object
    }
}
