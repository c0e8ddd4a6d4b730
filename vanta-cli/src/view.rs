//! What a run shows, as text or as JSON lines: one end whatever happens.

use std::sync::Arc;

use vanta_core::event::{Observer, RunEvent};
use vanta_core::provider::Usage;
use vanta_core::session::{Entry, Record, SessionId};
use vanta_core::{Outcome, Report};

use crate::jsonl::Jsonl;
use crate::render::Live;
use crate::stop::Stop;

/// Shows a run to whoever started it.
#[derive(Debug)]
pub(crate) enum View {
    Text(Live),
    Json(Jsonl),
}

/// How a run ended, from its report or from its last record.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) usage: Usage,
    pub(crate) turns: u32,
    pub(crate) denied: u32,
}

impl Ending {
    pub(crate) fn of_report(report: &Report) -> Self {
        Self {
            outcome: report.outcome().clone(),
            usage: report.usage(),
            turns: report.turns(),
            denied: report.denied(),
        }
    }

    /// How a session ended that has an answer; there is nothing to go on with.
    pub(crate) fn of_finished(records: &[Record]) -> Option<Self> {
        match records.last()?.entry() {
            Entry::RunFinished { outcome: outcome @ Outcome::Done { .. }, usage, turns, denied } => {
                Some(Self { outcome: outcome.clone(), usage: *usage, turns: *turns, denied: *denied })
            }
            _ => None,
        }
    }
}

impl View {
    /// The session that the run is about, and the last record it holds so far.
    pub(crate) fn name(&self, session: &SessionId, last: Option<&Record>) {
        if let Self::Json(json) = self {
            json.name(session);
            json.continues_after(last.map_or(0, Record::seq));
        }
    }

    /// The run has ended; shows what no event has shown.
    pub(crate) fn finish(&self, ending: &Ending, code: u8) {
        match self {
            Self::Text(live) => live.finish(ending),
            Self::Json(json) => json.finish(ending, code),
        }
    }

    /// The run ended without an outcome, or never began.
    pub(crate) fn fail(&self, kind: &str, message: &str, code: u8) {
        match self {
            Self::Text(live) => live.close_line(),
            Self::Json(json) => json.fail(kind, message, code),
        }
    }
}

/// The observer's end of a view.
#[derive(Debug)]
pub(crate) struct Watching {
    pub(crate) view: Arc<View>,
    pub(crate) stop: Arc<Stop>,
}

impl Observer for Watching {
    fn opened(&self, _: &SessionId, records: &[Record]) {
        if let View::Text(live) = &*self.view {
            live.opened(records);
        }
    }

    fn event(&self, event: &RunEvent) {
        self.stop.begin();
        match &*self.view {
            View::Text(live) => live.event(event),
            View::Json(json) => json.event(event),
        }
    }
}
