//! The loop's decisions, as a machine without IO.
//!
//! [`Run::next`] says what to do; the driver does it through a port and answers with the method the step names. An
//! answer nobody asked for is an error and changes nothing. Every decision is an [`Entry`] that becomes durable first
//! and changes the state second, by the same fold that restores a session; so a run that comes back from its
//! records has the same history.
//!
//! What this module holds, and nothing else can: a [`ClearedCall`] is made only in `Run::execute`, after the
//! kernel's verdict was no Block, an Ask was answered, and the `started` record is durable.
//!
//! The driver is [`Agent`](crate::Agent); `examples/own_harness.rs` shows a small one by hand.

mod answers;
mod binding;
mod calls;
mod cleared;
mod outcome;
mod report;
mod scripts;
mod state;
mod step;

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::context::Prompt;
use crate::limits::{Limit, Limits};
use crate::message::{ContentPart, Message, Role, ToolCall};
use crate::permission::{Mode, Rule};
use crate::provider::{FinishReason, ModelReply, ModelRequest, RequestOptions};
use crate::retry::RetryPolicy;
use crate::session::{Entry, FORMAT, MIN_READER, Record, SessionId, VERSION};
use crate::tool::ToolSpec;
use vanta_kernel::Scope;

pub use cleared::ClearedCall;
pub use outcome::Outcome;
pub use report::{Report, Settlement};
pub use step::{Assess, Consume, Describe, Described, Execution, Step, UnexpectedAnswer};

use state::{ReplyEnd, State};

/// What stays the same over a run.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// The session's name.
    pub session: SessionId,
    /// Where actions may happen.
    pub scope: Arc<Scope>,
    /// The system prompt.
    pub prompt: Prompt,
    /// The tools on offer.
    pub tools: Arc<[ToolSpec]>,
    /// Options of every model request.
    pub options: RequestOptions,
    /// The budget.
    pub limits: Limits,
    /// How much runs without asking.
    pub mode: Mode,
    /// Standing answers that hold from the start.
    pub rules: Vec<Rule>,
    /// When a failed model call is tried again.
    pub retry: RetryPolicy,
    /// What the embedder wants to find in the first record. Never keys.
    pub notes: serde_json::Value,
}

impl RunSettings {
    /// Settings for `session` inside `scope`, with no tools, no prompt and the default limits.
    #[must_use]
    pub fn new(session: SessionId, scope: Scope) -> Self {
        Self {
            session,
            scope: Arc::new(scope),
            prompt: Prompt::default(),
            tools: Arc::from([]),
            options: RequestOptions::default(),
            limits: Limits::default(),
            mode: Mode::default(),
            rules: Vec::new(),
            retry: RetryPolicy::default(),
            notes: serde_json::Value::Null,
        }
    }

    fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|spec| spec.name() == name)
    }
}

/// One run of one session: asks its driver for steps until it is done.
///
/// ```
/// use vanta_core::clock::Timestamp;
/// use vanta_core::run::{Run, RunSettings, Step};
/// use vanta_core::{Scope, message::Message};
///
/// let settings = RunSettings::new("example".parse()?, Scope::new("/srv/app"));
/// let mut run = Run::new(settings);
/// run.begin(Some(Message::user("Hello")));
/// // Nothing happens before it is durable: the first step is always to persist.
/// assert!(matches!(run.next(Timestamp::default()), Step::Persist(_)));
/// # Ok::<(), vanta_core::session::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Run {
    settings: RunSettings,
    state: State,
    /// Decided, not yet handed out to be persisted.
    outbox: Vec<Arc<Entry>>,
    /// Handed out, not yet answered.
    persisting: Vec<Arc<Entry>>,
    model: ModelCall,
    ending: Option<Outcome>,
    /// Nothing more is to start, not even what was on its way.
    stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelCall {
    Idle { attempt: u32 },
    Sleeping { attempt: u32, until: Timestamp },
    Open { attempt: u32 },
}

impl Run {
    /// A new session.
    #[must_use]
    pub fn new(settings: RunSettings) -> Self {
        let created = Entry::SessionCreated {
            format: FORMAT.to_owned(),
            version: VERSION,
            min_reader: MIN_READER,
            session: settings.session.clone(),
            build: concat!("vanta-core ", env!("CARGO_PKG_VERSION")).to_owned(),
            root: settings.scope.root().to_owned(),
            settings: settings.notes.clone(),
        };
        let mut run = Self::with_state(settings, State::default());
        run.push(created);
        run
    }

    /// A session as its `records` left it. Results are kept; verdicts and clearances are not, they are asked for anew.
    #[must_use]
    pub fn restore(settings: RunSettings, records: &[Record]) -> Self {
        Self::with_state(settings, State::fold(records))
    }

    fn with_state(settings: RunSettings, state: State) -> Self {
        let model = ModelCall::Idle { attempt: 0 };
        Self {
            settings,
            state,
            outbox: Vec::new(),
            persisting: Vec::new(),
            model,
            ending: None,
            stopped: false,
        }
    }

    /// A session of one call and no model: the only way to run a single tool. It walks the same steps as any call.
    #[must_use]
    pub fn one_call(mut settings: RunSettings, call: ToolCall) -> Self {
        settings.limits = settings.limits.turns(1);
        let mut run = Self::new(settings);
        let (id, tool) = (call.id().clone(), call.name().to_owned());
        let message = Message::new(Role::Assistant, vec![ContentPart::ToolCall(call)]);
        let reply = ModelReply::new(message, FinishReason::ToolCalls);
        run.push(Entry::RunStarted { resumed: false });
        run.push(Entry::TurnStarted { turn: 1 });
        run.push(Entry::TurnFinished { turn: 1, reply, prefix_hash: run.settings.prompt.prefix_hash() });
        run.push(Entry::ToolProposed { call: id, tool });
        run
    }

    /// Takes the session up, with something new to say or to go on where it stopped.
    ///
    /// Calls that an earlier process had started are settled by their class: reads run again, effects are `unknown`.
    /// A finished session without `prompt` has nothing to go on with: the next step is [`Step::Done`].
    pub fn begin(&mut self, prompt: Option<Message>) {
        if prompt.is_none() && matches!(self.state.outcome, Some(Outcome::Done { .. })) {
            return;
        }
        // A settled outcome of before is over; the fold clears it once `run_started` is durable.
        self.state.outcome = None;
        self.push(Entry::RunStarted { resumed: !self.state.history.is_empty() });
        self.settle_interrupted();
        if let Some(message) = prompt {
            self.settle_superseded();
            self.push(Entry::UserMessage { message });
        }
    }

    /// What to do next. Asking again without an answer gives [`Step::Wait`], never the same step twice.
    pub fn next(&mut self, now: Timestamp) -> Step {
        if !self.persisting.is_empty() {
            return Step::Wait;
        }
        // Nothing is decided on top of what is not durable yet.
        if self.outbox.is_empty() {
            if let Some(outcome) = &self.state.outcome {
                return Step::Done(outcome.clone());
            }
            self.decide(now);
        }
        if !self.outbox.is_empty() {
            self.persisting = std::mem::take(&mut self.outbox);
            return Step::Persist(self.persisting.clone());
        }
        match self.call_step(now) {
            Some(step) => step,
            None if self.ending.is_some() => Step::Wait,
            None => self.model_step(now),
        }
    }

    fn decide(&mut self, now: Timestamp) {
        if self.ending.is_none() {
            if self.state.calls.is_empty() { self.decide_turn(now) } else { self.decide_calls(now) }
        }
        if self.stopped {
            self.refuse_ready();
        }
        // Decided to end: as soon as nothing runs any more.
        let quiet = !self.state.calls.iter().any(|call| call.stage.is_under_way());
        if let Some(outcome) = self.ending.clone().filter(|_| quiet && self.outbox.is_empty()) {
            let (usage, turns, denied) = (self.state.usage, self.state.turn, self.state.denied);
            self.push(Entry::RunFinished { outcome, usage, turns, denied });
        }
    }

    /// Between two turns: is that all, and may there be another?
    fn decide_turn(&mut self, now: Timestamp) {
        if self.state.turn_open {
            return;
        }
        match self.state.reply_end.clone() {
            Some(ReplyEnd::Answer(text)) => return self.end(Outcome::Done { text }),
            Some(ReplyEnd::Refusal(text)) => return self.end(Outcome::Refused { text }),
            Some(ReplyEnd::Empty) if self.state.nudged => return self.end(Outcome::Stalled),
            Some(ReplyEnd::Empty) => return self.push(Entry::Nudged { message: Message::user(NUDGE) }),
            Some(ReplyEnd::Pause) | None => {}
        }
        let limits = &self.settings.limits;
        if self.state.failures >= limits.failures {
            return self.end(Outcome::TooManyFailures);
        }
        if self.state.empties >= limits.empty_results {
            return self.end(Outcome::Stalled);
        }
        if self.state.turn >= limits.turns {
            return self.end(Outcome::LimitReached { limit: Limit::Turns });
        }
        match self.exhausted(now) {
            Some(limit) => self.end(Outcome::LimitReached { limit }),
            None => self.push(Entry::TurnStarted { turn: self.state.turn + 1 }),
        }
    }

    /// A limit that bounds models and tools alike.
    fn exhausted(&self, now: Timestamp) -> Option<Limit> {
        let limits = &self.settings.limits;
        if limits.tokens.is_some_and(|most| self.state.usage.tokens() >= most) {
            return Some(Limit::Tokens);
        }
        limits.wall_clock.is_some_and(|most| self.state.active_at(now) >= most).then_some(Limit::WallClock)
    }

    /// How much of [`Limits::wall_clock`] is left, for a driver that stops what does not come back by itself.
    #[must_use]
    pub fn time_left(&self, now: Timestamp) -> Option<Duration> {
        Some(self.settings.limits.wall_clock?.saturating_sub(self.state.active_at(now)))
    }

    fn model_step(&mut self, now: Timestamp) -> Step {
        if !self.state.turn_open || !self.state.calls.is_empty() {
            return Step::Wait;
        }
        match self.model {
            ModelCall::Open { .. } => Step::Wait,
            ModelCall::Sleeping { until, .. } if now < until => Step::Sleep(until.since(now)),
            ModelCall::Idle { attempt } | ModelCall::Sleeping { attempt, .. } => {
                self.model = ModelCall::Open { attempt: attempt + 1 };
                Step::CallModel(self.request())
            }
        }
    }

    fn request(&self) -> ModelRequest {
        ModelRequest::new(Arc::clone(&self.state.history))
            .with_prompt(self.settings.prompt.clone())
            .with_tools(Arc::clone(&self.settings.tools))
            .with_options(self.settings.options.clone())
    }

    fn end(&mut self, outcome: Outcome) {
        self.ending.get_or_insert(outcome);
    }

    fn push(&mut self, entry: Entry) {
        self.outbox.push(Arc::new(entry));
    }

    /// The session's name.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.settings.session
    }

    /// The present turn, from 1; 0 before the first.
    #[must_use]
    pub fn turn(&self) -> u32 {
        self.state.turn
    }
}

const NUDGE: &str = "Your last reply was empty. Go on with the task, or say that it is done.";
