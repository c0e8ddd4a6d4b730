//! A run as text: the answer on stdout as it comes, one line for each tool call on stderr.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use vanta_core::Outcome;
use vanta_core::effect::EffectDisposition;
use vanta_core::event::{EventBody, RunEvent};
use vanta_core::message::{CallId, ToolCall};
use vanta_core::provider::ModelReply;
use vanta_core::session::{Entry, Record};

use crate::out::{Paint, Stdout, note};
use crate::text::{one_line, size, visible_lines};
use crate::view::Ending;

#[derive(Debug)]
pub(crate) struct Live {
    out: Stdout,
    paint: Paint,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Something was shown by this process.
    spoke: bool,
    /// The last line on stdout is not ended.
    line_open: bool,
    /// Text of the present turn was shown.
    shown: bool,
    calls: Vec<Call>,
}

/// A tool call, until it is settled.
#[derive(Debug)]
struct Call {
    id: CallId,
    label: String,
    verdict: String,
}

impl State {
    /// Keeps an eye on the calls of a reply, and on how each was judged.
    fn track(&mut self, entry: &Entry) {
        match entry {
            Entry::TurnFinished { reply, .. } => {
                self.calls.extend(reply.message().tool_calls().map(Call::new));
            }
            Entry::VerdictGiven { call, risk, rule, .. } => {
                if let Some(call) = self.calls.iter_mut().find(|open| open.id == *call) {
                    call.verdict = format!("{risk} ({rule})");
                }
            }
            _ => {}
        }
    }
}

impl Call {
    fn new(call: &ToolCall) -> Self {
        Self { id: call.id().clone(), label: label(call), verdict: "not judged".to_owned() }
    }
}

impl Live {
    pub(crate) fn new(out: Stdout, paint: Paint) -> Self {
        Self { out, paint, state: Mutex::default() }
    }

    /// What earlier processes did was shown there; only their open calls are of interest.
    pub(crate) fn opened(&self, records: &[Record]) {
        let mut state = self.state();
        for record in records {
            match record.entry() {
                Entry::ToolSettled { call, .. } => state.calls.retain(|open| open.id != *call),
                entry => state.track(entry),
            }
        }
    }

    pub(crate) fn event(&self, event: &RunEvent) {
        match event.body() {
            EventBody::TextDelta(text) => self.show(text),
            EventBody::Recorded(record) => self.record(event, record.entry()),
            _ => {}
        }
    }

    fn record(&self, event: &RunEvent, entry: &Entry) {
        match entry {
            Entry::RunStarted { resumed } => {
                let word = if *resumed { "resumed" } else { "begun" };
                note(&self.paint.dim(&format!("session {} {word}", event.session())));
            }
            Entry::TurnStarted { .. } => self.state().shown = false,
            Entry::TurnFinished { reply, .. } => {
                self.turn(reply);
                self.state().track(entry);
            }
            Entry::TurnCut { .. } | Entry::RunFinished { .. } => self.close_line(),
            Entry::RetryScheduled { attempt, wait_ms, class, .. } => {
                let wait = Duration::from_millis(*wait_ms);
                let what = class.as_str().replace('_', " ");
                note(
                    &self.paint.dim(&format!("model: {what}; attempt {attempt} failed, next in {wait:.1?}")),
                );
            }
            Entry::VerdictGiven { .. } => self.state().track(entry),
            Entry::ToolSettled { call, tool, attempt, disposition, ok, output } => {
                self.settled(
                    call,
                    tool,
                    &Settled { ran: *attempt > 0, disposition: *disposition, ok: *ok, output },
                );
            }
            _ => {}
        }
    }

    fn show(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.out.text(text);
        let mut state = self.state();
        (state.shown, state.spoke) = (true, true);
        state.line_open = !text.ends_with('\n');
    }

    fn turn(&self, reply: &ModelReply) {
        // Not every provider sends its text in pieces.
        if !self.state().shown {
            self.show(&reply.message().text());
        }
        self.close_line();
    }

    fn settled(&self, id: &CallId, tool: &str, settled: &Settled<'_>) {
        let mut state = self.state();
        let at = state.calls.iter().position(|call| call.id == *id);
        let (label, verdict) = match at.map(|at| state.calls.swap_remove(at)) {
            Some(call) => (call.label, call.verdict),
            None => (one_line(tool, LABEL), "not judged".to_owned()),
        };
        let result = settled.words(self.paint);
        note(&format!("{} {label} {}, {result}", self.paint.dim("·"), self.paint.dim(&verdict)));
    }

    pub(crate) fn close_line(&self) {
        if std::mem::take(&mut self.state().line_open) {
            self.out.text("\n");
        }
    }

    pub(crate) fn finish(&self, ending: &Ending) {
        self.close_line();
        if let Outcome::Done { text } = &ending.outcome {
            // An answer that an earlier process got is shown again.
            if !self.state().spoke {
                self.show(text);
                self.close_line();
            }
        } else {
            // A server's own words may be in it.
            note(&self.paint.careful(&visible_lines(&format!("stopped: {}", ending.outcome.reason()))));
        }
        if let Outcome::Refused { text } = &ending.outcome {
            note(&visible_lines(text));
        }
        let tokens = ending.usage.tokens();
        let turns = if ending.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", ending.turns) };
        note(&self.paint.dim(&format!("{turns}, {tokens} tokens, {} denied", ending.denied)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a call ended.
struct Settled<'a> {
    ran: bool,
    disposition: EffectDisposition,
    ok: bool,
    output: &'a str,
}

impl Settled<'_> {
    fn words(&self, paint: Paint) -> String {
        let size = size(self.output.len());
        match (self.disposition, self.ok) {
            (EffectDisposition::Unknown, _) => {
                paint.careful("interrupted: whether it took effect is unknown")
            }
            (EffectDisposition::None, _) if !self.ran => format!("{}: {}", paint.bad("not run"), self.why()),
            (_, true) => format!("{}, {size}", paint.good("ok")),
            (_, false) => format!("{}, {size}: {}", paint.bad("failed"), self.why()),
        }
    }

    /// The first line of what the model was told.
    fn why(&self) -> String {
        one_line(self.output.trim().lines().next().unwrap_or_default(), WHY)
    }
}

/// The tool and what it is about: its command, path or the like, on one line.
pub(crate) fn label(call: &ToolCall) -> String {
    let about = call.args().object().ok().and_then(|args| {
        ["command", "path", "url", "query", "pattern"].iter().find_map(|name| args.get(*name)?.as_str())
    });
    let tool = one_line(call.name(), LABEL);
    about.map_or_else(|| tool.clone(), |about| format!("{tool} `{}`", one_line(about, LABEL)))
}

const LABEL: usize = 60;
const WHY: usize = 160;
