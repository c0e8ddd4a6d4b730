//! Tells the demo as it happens, one line an event, and keeps what the summary needs.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use vanta_core::approver::{Approver, Decision, Question};
use vanta_core::effect::EffectDisposition;
use vanta_core::event::{Observer, RunEvent};
use vanta_core::message::CallId;
use vanta_core::session::{Entry, Record, SessionId};
use vanta_core::{Report, Risk};

use crate::args::Color;
use crate::jsonl::Jsonl;
use crate::out::{Paint, Stdout, note};
use crate::render::label;
use crate::stop::Stop;
use crate::text::{one_line, visible_lines};
use crate::view::Ending;

/// Prints events, and remembers the verdicts. Clones are the same teller.
#[derive(Debug, Clone)]
pub(super) struct Teller(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    form: Form,
    paint: Paint,
    heard: Mutex<Heard>,
}

/// In words the demo's answer is its story, so that goes to stdout. Beside JSON lines the words are on stderr.
#[derive(Debug)]
enum Form {
    Words(Stdout),
    Json(Jsonl),
}

#[derive(Debug, Default)]
struct Heard {
    calls: Vec<Judged>,
    asked: bool,
}

/// One call with its verdict, once it has one.
#[derive(Debug)]
struct Judged {
    call: CallId,
    label: String,
    risk: Option<Risk>,
    why: String,
}

impl Teller {
    pub(super) fn new(json: bool, stop: &Arc<Stop>) -> Self {
        let out = Stdout::new(Arc::clone(stop));
        let coloured = json || io::stdout().is_terminal();
        let paint = Paint::new(if coloured { Color::Auto } else { Color::Never });
        let form = if json { Form::Json(Jsonl::new(out, Arc::clone(stop))) } else { Form::Words(out) };
        Self(Arc::new(Inner { form, paint, heard: Mutex::default() }))
    }

    pub(super) fn paint(&self) -> Paint {
        self.0.paint
    }

    /// A line of words.
    pub(super) fn say(&self, line: &str) {
        match &self.0.form {
            Form::Words(out) => out.line(line),
            Form::Json(_) => note(line),
        }
    }

    /// A line below a call: a short word in its colour, and what there is to say.
    fn detail(&self, word: &str, text: &str) {
        let padded = format!("{word:<9}");
        let word = match word {
            "allow" | "ok" | "confirmed" => self.0.paint.good(&padded),
            "ask" | "unknown" => self.0.paint.careful(&padded),
            "block" | "failed" => self.0.paint.bad(&padded),
            _ => self.0.paint.dim(&padded),
        };
        self.say(format!("    {word} {text}").trim_end());
    }

    fn entry(&self, entry: &Entry) {
        match entry {
            Entry::TurnFinished { reply, .. } => {
                self.say(&format!("\nmodel: {}", one_line(&reply.message().text(), SPEECH)));
                for call in reply.message().tool_calls() {
                    let label = label(call);
                    self.say(&format!("  {label}"));
                    let judged = Judged { call: call.id().clone(), label, risk: None, why: String::new() };
                    self.heard().calls.push(judged);
                }
            }
            Entry::VerdictGiven { call, risk, rule, reason } => {
                let why = one_line(&format!("{rule}: {reason}"), LINE);
                self.detail(risk, &why);
                if let Some(judged) = self.heard().calls.iter_mut().find(|judged| judged.call == *call) {
                    (judged.risk, judged.why) = (Risk::from_word(risk), why);
                }
            }
            Entry::ApprovalRequested { .. } => self.heard().asked = true,
            Entry::ApprovalSettled { decision, .. } => self.detail("answer", decision),
            Entry::ToolSettled { disposition: EffectDisposition::None, attempt: 0, .. } => {
                self.detail("not run", "the model is told why");
            }
            Entry::ToolSettled { ok, output, .. } => {
                let words = std::iter::once(if *ok { "ok" } else { "failed" }).chain(std::iter::repeat(""));
                words.zip(gist(output)).for_each(|(word, line)| self.detail(word, &line));
            }
            _ => {}
        }
    }

    /// Whether a person, or the script in their place, was asked.
    pub(super) fn asked(&self) -> bool {
        self.heard().asked
    }

    /// Whether something was blocked, and nothing that was blocked has begun.
    pub(super) fn blocked(&self, report: &Report) -> bool {
        let heard = self.heard();
        let mut blocks = heard.calls.iter().filter(|judged| judged.risk == Some(Risk::Block)).peekable();
        let begun = |judged: &Judged| {
            let settled = report.settlements().iter().find(|settled| *settled.call() == judged.call);
            settled.is_none_or(|settled| settled.disposition() != EffectDisposition::None)
        };
        blocks.peek().is_some() && !blocks.any(begun)
    }

    /// Every verdict and every receipt.
    pub(super) fn sum_up(&self, report: &Report) {
        let heard = self.heard();
        let count = |risk| heard.calls.iter().filter(|judged| judged.risk == Some(risk)).count();
        let (allow, ask, block) = (count(Risk::Allow), count(Risk::Ask), count(Risk::Block));
        self.say(&format!("\nverdicts: {allow} allow, {ask} ask, {block} block"));
        for judged in &heard.calls {
            let risk = judged.risk.map_or("none", Risk::as_str);
            self.detail(risk, &format!("{}, {}", judged.label, judged.why));
        }
        self.say("\nreceipts: what is known about the effect of each call");
        for settled in report.settlements() {
            let judged = heard.calls.iter().find(|judged| judged.call == *settled.call());
            self.detail(
                settled.disposition().as_str(),
                judged.map_or(settled.tool(), |judged| &judged.label),
            );
        }
    }

    /// The last line of the JSON form.
    pub(super) fn finish(&self, report: &Report, code: u8) {
        if let Form::Json(json) = &self.0.form {
            json.finish(&Ending::of_report(report), code);
        }
    }

    /// The last line of the JSON form when there is no report.
    pub(super) fn fail(&self, kind: &str, message: &str, code: u8) {
        if let Form::Json(json) = &self.0.form {
            json.fail(kind, message, code);
        }
    }

    /// The session that the JSON lines are about.
    pub(super) fn name(&self, session: &SessionId) {
        if let Form::Json(json) = &self.0.form {
            json.name(session);
        }
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Teller {
    fn event(&self, event: &RunEvent) {
        let entry = event.record().map(Record::entry);
        if let Form::Json(json) = &self.0.form {
            // The demo has its own idea of success, so the last line waits for it.
            if matches!(entry, Some(Entry::RunFinished { .. })) {
                json.continues_after(event.seq());
            } else {
                json.event(event);
            }
        }
        if let Some(entry) = entry {
            self.entry(entry);
        }
    }
}

/// Answers where there is no terminal to ask a person at, and says so.
#[derive(Debug)]
pub(super) struct ScriptedPerson(pub(super) Teller);

#[async_trait]
impl Approver for ScriptedPerson {
    async fn decide(&self, _: &Question) -> Decision {
        self.0.detail("asked", "nobody is at a terminal, so the script answers: yes, once");
        Decision::Approve
    }
}

/// The lines of a tool's answer that are worth a look; of a test run, those about the tests.
fn gist(output: &str) -> Vec<String> {
    let clean = visible_lines(output);
    let lines: Vec<&str> = clean.lines().filter(|line| !line.trim().is_empty()).collect();
    let about_tests = |line: &&str| ABOUT_TESTS.iter().any(|start| line.starts_with(start));
    let mut shown: Vec<&str> = lines.iter().copied().filter(about_tests).collect();
    if shown.is_empty() {
        shown = lines.iter().copied().take(LINES).collect();
        shown.extend((lines.len() > LINES).then_some("…"));
    }
    shown.into_iter().map(|line| line.chars().take(LINE).collect()).collect()
}

const ABOUT_TESTS: [&str; 4] = ["test ", "assertion", "  left:", " right:"];

/// Longest line of a verdict or an answer, in characters.
const LINE: usize = 110;

/// Longest text of the model, in characters.
const SPEECH: usize = 400;

/// Most lines of one answer.
const LINES: usize = 5;
