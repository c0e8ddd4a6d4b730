//! A run as JSON lines: `run_started` first, exactly one `run_finished` last, whatever happens in between.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use vanta_core::clock::{Clock, SystemClock};
use vanta_core::event::RunEvent;
use vanta_core::provider::Usage;
use vanta_core::session::{Entry, SessionId};

use crate::exit;
use crate::out::Stdout;
use crate::stop::Stop;
use crate::view::Ending;

#[derive(Debug)]
pub(crate) struct Jsonl {
    out: Stdout,
    stop: Arc<Stop>,
    at: Mutex<At>,
}

/// Where the stream of lines stands.
#[derive(Debug, Default)]
struct At {
    session: Option<String>,
    turn: u32,
    seq: u64,
    began: bool,
    ended: bool,
}

impl Jsonl {
    pub(crate) fn new(out: Stdout, stop: Arc<Stop>) -> Self {
        Self { out, stop, at: Mutex::default() }
    }

    /// The session that the run is about. A new one has no name before its first event: it may come to nothing.
    pub(crate) fn name(&self, session: &SessionId) {
        self.at().session = Some(session.to_string());
    }

    /// The session holds records up to number `seq` already.
    pub(crate) fn continues_after(&self, seq: u64) {
        self.at().seq = seq;
    }

    pub(crate) fn event(&self, event: &RunEvent) {
        let mut object = event.to_json();
        let mut at = self.at();
        if at.ended {
            return;
        }
        at.session = Some(event.session().to_string());
        (at.turn, at.seq) = (event.turn(), event.seq());
        match event.record().map(|record| record.entry()) {
            Some(Entry::RunStarted { .. }) => at.began = true,
            Some(Entry::RunFinished { outcome, .. }) => {
                complete(&mut object, exit::of_outcome(outcome, self.stop.code()));
                at.ended = true;
            }
            _ => {}
        }
        self.print(object);
    }

    pub(crate) fn finish(&self, ending: &Ending, code: u8) {
        self.end(json!(ending.outcome), ending.usage, (ending.turns, ending.denied), code);
    }

    /// For ends that are no outcome of a run: what kind, and what there is to say.
    pub(crate) fn fail(&self, kind: &str, message: &str, code: u8) {
        self.end(json!({"kind": kind, "message": message}), Usage::default(), (0, 0), code);
    }

    /// The last line, unless the run's own event was it; with a first line, when there was none.
    fn end(&self, outcome: Value, usage: Usage, (turns, denied): (u32, u32), code: u8) {
        let mut at = self.at();
        if at.ended {
            return;
        }
        at.ended = true;
        at.turn = at.turn.max(turns);
        if !at.began {
            self.print(frame(&at, "run_started", json!({ "resumed": at.seq > 0 })));
        }
        let fields = json!({"outcome": outcome, "usage": usage, "turns": turns, "denied": denied});
        let mut object = frame(&at, "run_finished", fields);
        complete(&mut object, code);
        self.print(object);
    }

    fn print(&self, object: Map<String, Value>) {
        self.out.line(&Value::Object(object).to_string());
    }

    fn at(&self) -> MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a front end knows and the loop does not. No price is known, so there is no cost.
fn complete(object: &mut Map<String, Value>, code: u8) {
    object.insert("exit_code".to_owned(), json!(code));
    object.insert("cost".to_owned(), Value::Null);
}

/// A line that is no event of the loop, in the same frame.
fn frame(at: &At, kind: &str, fields: Value) -> Map<String, Value> {
    let mut object = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (key, value) in [
        ("v", json!(1)),
        ("type", json!(kind)),
        ("session_id", json!(at.session)),
        ("turn", json!(at.turn)),
        ("seq", json!(at.seq)),
        ("ts", json!(SystemClock.now())),
    ] {
        object.insert(key.to_owned(), value);
    }
    object
}
