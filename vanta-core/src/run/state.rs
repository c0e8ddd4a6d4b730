//! What a run knows: a fold over the session's records, the same live and on restore.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use vanta_kernel::{Action, ApprovalId, RaisedBy, Verdict};

use crate::clock::Timestamp;
use crate::effect::EffectDisposition;
use crate::message::{Args, CallId, ContentPart, Message, ToolCall, ToolResult};
use crate::permission::Rule;
use crate::provider::{FinishReason, ModelReply, Usage};
use crate::run::Outcome;
use crate::session::{Entry, Record};

/// Durable knowledge, plus where each open call stands in this process.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) history: Arc<Vec<Message>>,
    /// The calls of the last reply, until each has its result.
    pub(super) calls: Vec<Call>,
    pub(super) turn: u32,
    /// The model is to be called, or is being called, for `turn`.
    pub(super) turn_open: bool,
    /// How the last reply ended, when it held no calls.
    pub(super) reply_end: Option<ReplyEnd>,
    pub(super) usage: Usage,
    pub(super) executions: u32,
    pub(super) failures: u32,
    pub(super) empties: u32,
    pub(super) denied: u32,
    pub(super) nudged: bool,
    pub(super) rules: Vec<Rule>,
    /// Digests of acts that started and whose end nobody knows.
    pub(super) unknown_acts: BTreeSet<String>,
    pub(super) outcome: Option<Outcome>,
    pub(super) receipts: Vec<(CallId, String, EffectDisposition)>,
    used_ids: HashSet<CallId>,
    active: Duration,
    began: Option<Timestamp>,
    last: Timestamp,
}

/// How a reply without calls ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyEnd {
    Answer(String),
    Refusal(String),
    Empty,
    Pause,
}

/// One call of the last reply.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) call: ToolCall,
    pub(super) proposed: Timestamp,
    pub(super) stage: Stage,
    /// Attempts that started. One that was only pending is the same attempt still.
    pub(super) attempt: u32,
    /// The tool is there and the arguments fit it; looked at once in each process, and again after an edit.
    pub(super) checked: bool,
    /// SHA-256 over tool and arguments; known once they were checked.
    pub(super) digest: String,
    pub(super) actions: Arc<[Action]>,
    pub(super) scripts: Vec<(String, String)>,
    /// How many executions there had been when it was described.
    pub(super) described_after: u32,
    /// Described once more after its approval.
    pub(super) rechecked: bool,
    pub(super) verdict: Option<Verdict>,
    pub(super) raised_by: RaisedBy,
    pub(super) requested: Option<Requested>,
    /// The decision on `requested` that the log holds.
    pub(super) answered: Option<String>,
    pub(super) result: Option<ToolResult>,
}

/// A question that was put to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requested {
    pub(super) approval: ApprovalId,
    pub(super) binding: String,
    pub(super) expires_ms: u64,
}

/// Where a call stands.
///
/// `New → Describing → Described → Assessing → (Ask → Asking → Deferred | Approved) | Cleared
/// → Pending → Consuming → Starting → Ready → Running → Settling → Settled`, and from anywhere before `Ready` to
/// `Settling` when it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    New,
    Describing,
    Described,
    Assessing,
    Ask,
    Asking,
    Deferred(ApprovalId),
    Approved(ApprovalId),
    Cleared,
    Pending(ApprovalId),
    Consuming,
    Starting,
    /// INVARIANT: only a durable `started` record leads here, in the process that wrote it.
    Ready,
    Running,
    Settling,
    Settled,
}

impl Stage {
    /// Nobody has decided yet whether the call may run.
    pub(super) fn is_undecided(self) -> bool {
        matches!(
            self,
            Self::New | Self::Describing | Self::Described | Self::Assessing | Self::Ask | Self::Asking
        )
    }

    /// The call is on its way to, or in, its execution.
    pub(super) fn is_under_way(self) -> bool {
        matches!(
            self,
            Self::Pending(_)
                | Self::Consuming
                | Self::Starting
                | Self::Ready
                | Self::Running
                | Self::Settling
        )
    }
}

impl Call {
    fn new(call: ToolCall, proposed: Timestamp) -> Self {
        Self {
            call,
            proposed,
            stage: Stage::New,
            attempt: 0,
            checked: false,
            digest: String::new(),
            actions: Arc::from([]),
            scripts: Vec::new(),
            described_after: 0,
            rechecked: false,
            verdict: None,
            raised_by: RaisedBy::Kernel,
            requested: None,
            answered: None,
            result: None,
        }
    }
}

impl State {
    /// The state after `records`.
    pub(super) fn fold(records: &[Record]) -> Self {
        let mut state = Self::default();
        for record in records {
            state.apply(record.entry(), record.ts());
        }
        state
    }

    /// Takes in one durable entry.
    pub(super) fn apply(&mut self, entry: &Entry, at: Timestamp) {
        let before = std::mem::replace(&mut self.last, at);
        match entry {
            Entry::RunStarted { .. } => self.apply_run_started(before, at),
            Entry::UserMessage { message } => self.say(message.clone()),
            Entry::Nudged { message } => {
                self.say(message.clone());
                self.nudged = true;
            }
            Entry::TurnStarted { turn } => {
                self.turn = *turn;
                self.turn_open = true;
            }
            Entry::TurnFinished { reply, .. } => self.apply_reply(reply, at),
            Entry::ToolEdited { call, args } => {
                self.with(call, |c| c.call = ToolCall::new(c.call.id().clone(), c.call.name(), args.clone()));
            }
            Entry::VerdictGiven { risk, .. } if risk == "block" => self.denied += 1,
            Entry::ApprovalRequested { call, approval, binding, expires_ms } => {
                let requested =
                    Requested { approval: *approval, binding: binding.clone(), expires_ms: *expires_ms };
                self.with(call, |c| c.requested = Some(requested));
            }
            Entry::ApprovalSettled { call, decision, .. } => {
                self.denied += u32::from(matches!(decision.as_str(), "deny" | "never" | "expired"));
                self.with(call, |c| c.answered = Some(decision.clone()));
            }
            Entry::RuleAdded { rule } => self.rules.push(rule.clone()),
            Entry::ToolPending { call, digest, .. } => self.with(call, |c| c.digest.clone_from(digest)),
            Entry::ToolStarted { call, attempt, .. } => {
                self.executions += 1;
                self.with(call, |c| (c.stage, c.attempt) = (Stage::Ready, *attempt));
            }
            Entry::ToolSettled { call, disposition, ok, output, .. } => {
                self.apply_settled(call, *disposition, *ok, output);
            }
            Entry::RunFinished { outcome, .. } => self.outcome = Some(outcome.clone()),
            _ => {}
        }
    }

    /// The process before this one was at work until its last record.
    fn apply_run_started(&mut self, before: Timestamp, at: Timestamp) {
        self.active = self.active_at(before);
        self.began = Some(at);
        self.outcome = None;
        (self.failures, self.empties, self.nudged) = (0, 0, false);
    }

    fn say(&mut self, message: Message) {
        Arc::make_mut(&mut self.history).push(message);
        self.reply_end = None;
        self.nudged = false;
    }

    fn apply_reply(&mut self, reply: &ModelReply, at: Timestamp) {
        self.turn_open = false;
        self.usage.add(reply.usage());
        self.calls = reply.message().tool_calls().map(|call| Call::new(call.clone(), at)).collect();
        self.used_ids.extend(reply.message().tool_calls().map(|call| call.id().clone()));
        self.reply_end = self.calls.is_empty().then(|| end_of(reply));
        // An empty message is nothing to send back, and some endpoints refuse it.
        if self.reply_end != Some(ReplyEnd::Empty) {
            Arc::make_mut(&mut self.history).push(reply.message().clone());
            self.nudged = false;
        }
    }

    fn apply_settled(&mut self, id: &CallId, disposition: EffectDisposition, ok: bool, output: &str) {
        let Some(call) = self.calls.iter_mut().find(|c| c.call.id() == id) else { return };
        let result = ToolResult::new(id.clone(), call.call.name(), output);
        call.result = Some(if ok { result } else { result.failed() });
        call.stage = Stage::Settled;
        self.receipts.push((id.clone(), call.call.name().to_owned(), disposition));
        if disposition == EffectDisposition::Unknown {
            self.unknown_acts.insert(call.digest.clone());
        }
        self.failures = if ok { 0 } else { self.failures + 1 };
        self.empties = if ok && output.trim().is_empty() { self.empties + 1 } else { 0 };
        if self.calls.iter().all(|c| c.result.is_some()) {
            let results = self.calls.drain(..).filter_map(|c| c.result).collect();
            Arc::make_mut(&mut self.history).push(Message::tool_results(results));
        }
    }

    fn with(&mut self, id: &CallId, change: impl FnOnce(&mut Call)) {
        if let Some(call) = self.calls.iter_mut().find(|c| c.call.id() == id) {
            change(call);
        }
    }

    /// Time at work until `now`, over all processes.
    pub(super) fn active_at(&self, now: Timestamp) -> Duration {
        self.active + self.began.map_or(Duration::ZERO, |began| now.since(began))
    }

    /// `message` as the session keeps it: every call id unique within the session and fit to be written down, names
    /// and arguments of a size that can be shown. Results are paired by the ids.
    pub(super) fn admitted(&self, message: &Message, turn: u32) -> Message {
        let mut seen = HashSet::new();
        let mut parts = message.parts().to_vec();
        let mut changed = false;
        for (n, part) in parts.iter_mut().enumerate() {
            let ContentPart::ToolCall(call) = part else { continue };
            let known = self.used_ids.contains(call.id()) || seen.contains(call.id());
            let fits = is_plain(call.id()) && !known;
            let id = if fits { call.id().clone() } else { self.fresh_id(call.id(), turn, n, &seen) };
            seen.insert(id.clone());
            if !fits || call.name().len() > MAX_NAME || call.args().raw().len() > MAX_ARGUMENTS {
                *call = bounded(call, id);
                changed = true;
            }
        }
        if changed { Message::new(message.role(), parts) } else { message.clone() }
    }

    fn fresh_id(&self, given: &CallId, turn: u32, n: usize, seen: &HashSet<CallId>) -> CallId {
        let stem = if is_plain(given) { given.as_str() } else { "call" };
        let mut id = CallId::new(format!("{stem}_t{turn}n{n}"));
        while self.used_ids.contains(&id) || seen.contains(&id) {
            id = CallId::new(format!("{id}x"));
        }
        id
    }
}

/// Longest call id that is taken over from a model.
const MAX_ID: usize = 128;

/// Longest tool name that is kept; no tool has a longer one.
const MAX_NAME: usize = 128;

/// Most bytes of arguments of one call.
const MAX_ARGUMENTS: usize = 4 * 1024 * 1024;

/// Ids come from a server and end up in files, digests and command lines.
fn is_plain(id: &CallId) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':');
    (1..=MAX_ID).contains(&id.as_str().len()) && id.as_str().bytes().all(plain)
}

fn bounded(call: &ToolCall, id: CallId) -> ToolCall {
    let name: String = call.name().chars().take(MAX_NAME).collect();
    let args = match call.args().raw().len() {
        size if size > MAX_ARGUMENTS => Args::invalid(
            "",
            format!("{size} bytes are more than the {MAX_ARGUMENTS} that one call may have"),
        ),
        _ => call.args().clone(),
    };
    let bounded = ToolCall::new(id, name, args);
    match call.origin() {
        Some(origin) => bounded.with_origin(origin.clone()),
        None => bounded,
    }
}

fn end_of(reply: &ModelReply) -> ReplyEnd {
    let refusal = reply.message().parts().iter().find_map(|part| match part {
        ContentPart::Refusal(text) => Some(text.clone()),
        _ => None,
    });
    let text = reply.message().text();
    match (reply.finish(), refusal) {
        (_, Some(refusal)) => ReplyEnd::Refusal(refusal),
        (FinishReason::Refusal | FinishReason::ContentFilter, None) => ReplyEnd::Refusal(text),
        (FinishReason::Pause, None) => ReplyEnd::Pause,
        (_, None) if text.trim().is_empty() => ReplyEnd::Empty,
        (_, None) => ReplyEnd::Answer(text),
    }
}
