//! The agent: ports put together, and the one driver of the loop.
//!
//! [`Agent`] performs what [`Run`] decides. There is no other loop: streaming or not, new or resumed,
//! one tool or a whole task, all go through `drive.rs`.

mod builder;
mod drive;
mod one_call;

use std::sync::Arc;
use std::time::Duration;

use crate::approver::Approver;
use crate::cancel::CancelToken;
use crate::clock::{Clock, IdSource};
use crate::error::AgentError;
use crate::event::Observer;
use crate::gate::SafetyGate;
use crate::ledger::Ledger;
use crate::message::Message;
use crate::provider::LlmProvider;
use crate::run::{Report, Run, RunSettings};
use crate::session::{Entry, Owner, Record, Session, SessionId, SessionStore, StoreError};
use crate::slots::Slots;
use crate::tool::ToolRegistry;

pub use builder::AgentBuilder;
pub use one_call::{OneCall, ToolRunner};

/// A model, tools, a gate and a place to keep sessions. Cheap to clone; runs do not share anything but the ports.
///
/// # Cancellation
/// [`Task::cancel`] ends the run as [`Outcome::Cancelled`](crate::Outcome::Cancelled) after running tools had a grace
/// period of five seconds. Dropping the future of [`Agent::run`] stops at once; the session can be resumed, and what
/// had started is then `unknown`.
///
/// # Examples
/// ```
/// use vanta_core::testing::ScriptedProvider;
/// use vanta_core::{Agent, Scope};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let agent = Agent::builder()
///     .provider(ScriptedProvider::new().text("Four."))
///     .scope(Scope::new("/srv/app"))
///     .build()?;
/// let report = agent.run("How many is two and two?").await?;
/// assert_eq!(report.text(), Some("Four."));
/// # Ok::<(), vanta_core::AgentError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Agent(pub(crate) Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) provider: Option<Arc<dyn LlmProvider>>,
    pub(crate) tools: ToolRegistry,
    pub(crate) gate: Arc<dyn SafetyGate>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) settings: RunSettings,
    pub(crate) lease: Duration,
}

/// What to run: a new task, or a session to take up again.
///
/// ```
/// use vanta_core::{CancelToken, Task};
///
/// let token = CancelToken::new();
/// let task = Task::new("Fix the failing test").cancel(token.clone());
/// let again = Task::resume("s-1".parse()?).say("Only the unit tests, please");
/// # let _ = (task, again);
/// # Ok::<(), vanta_core::session::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Task {
    session: Option<SessionId>,
    resume: bool,
    prompt: Option<Message>,
    cancel: CancelToken,
}

impl Task {
    /// A new session that begins with `prompt`.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { session: None, resume: false, prompt: Some(Message::user(prompt)), cancel: CancelToken::new() }
    }

    /// An existing session, to go on where it stopped.
    #[must_use]
    pub fn resume(session: SessionId) -> Self {
        Self { session: Some(session), resume: true, prompt: None, cancel: CancelToken::new() }
    }

    /// Says something before the model is called again.
    #[must_use]
    pub fn say(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(Message::user(prompt));
        self
    }

    /// Names the new session; a fresh name otherwise.
    #[must_use]
    pub fn session_id(mut self, id: SessionId) -> Self {
        self.session = Some(id);
        self
    }

    /// Ends the run when `token` is cancelled.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }
}

impl From<&str> for Task {
    fn from(prompt: &str) -> Self {
        Self::new(prompt)
    }
}

impl From<String> for Task {
    fn from(prompt: String) -> Self {
        Self::new(prompt)
    }
}

impl Agent {
    /// Puts an agent together.
    #[must_use]
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// Runs `task` until it has an outcome.
    ///
    /// # Errors
    /// [`AgentError`] when records could not be kept: then nothing more was executed. Everything that can happen in a
    /// run, failures of the model and the gate included, is an [`Outcome`](crate::Outcome) of the report.
    pub async fn run(&self, task: impl Into<Task>) -> Result<Report, AgentError> {
        let task = task.into();
        if self.0.provider.is_none() {
            return Err(AgentError::Setup("the agent has no model; give the builder a provider".to_owned()));
        }
        if task.resume { self.resume(task).await } else { self.start(task).await }
    }

    async fn start(&self, task: Task) -> Result<Report, AgentError> {
        let id = task.session.unwrap_or_else(|| self.0.ids.session_id(self.0.clock.now()));
        self.0.store.create(&id).await?;
        let held = self.claim(&id).await?;
        let mut run = Run::new(self.settings(id));
        run.begin(task.prompt);
        self.drive(held, Vec::new(), run, Slots::default(), task.cancel).await
    }

    async fn resume(&self, task: Task) -> Result<Report, AgentError> {
        let Some(id) = task.session else {
            return Err(AgentError::Setup("there is no session to resume; name one".to_owned()));
        };
        let held = self.claim(&id).await?;
        let log = self.0.store.read(&id).await?;
        if let Some(damage) = log.damage() {
            return Err(StoreError::Damaged { session: id, damage: damage.clone() }.into());
        }
        self.check_root(&id, log.records())?;
        let mut run = Run::restore(self.settings(id), log.records());
        run.begin(task.prompt);
        self.drive(held, log.records().to_vec(), run, Slots::default(), task.cancel).await
    }

    /// A session belongs to the root it began in: its approvals and its history are about that place.
    fn check_root(&self, id: &SessionId, records: &[Record]) -> Result<(), AgentError> {
        let here = self.0.settings.scope.root();
        match records.first().map(Record::entry) {
            Some(Entry::SessionCreated { root, .. }) if root != here => Err(AgentError::Setup(format!(
                "session `{id}` belongs to `{root}`, not to `{here}`; resume it with that root"
            ))),
            // Killed before its first record: there is nothing to go on from, and nothing was done.
            None => Err(AgentError::Setup(format!("session `{id}` is empty; start a new one"))),
            _ => Ok(()),
        }
    }

    fn settings(&self, session: SessionId) -> RunSettings {
        RunSettings { session, ..self.0.settings.clone() }
    }

    async fn claim(&self, id: &SessionId) -> Result<drive::Held, StoreError> {
        let owner = Owner::this_process();
        let lease = self.0.store.claim(id, &owner, self.0.lease).await?;
        Ok(drive::Held::new(Arc::clone(&self.0.store), lease, self.0.lease))
    }

    async fn drive(
        &self,
        held: drive::Held,
        records: Vec<Record>,
        run: Run,
        slots: Slots,
        cancel: CancelToken,
    ) -> Result<Report, AgentError> {
        let next_seq = records.len() as u64 + 1;
        let lease = held.lease().clone();
        let session = Session::new(Arc::clone(&self.0.store), Arc::clone(&self.0.clock), lease, next_seq);
        for observer in &self.0.observers {
            observer.opened(session.id(), &records);
        }
        // The history is folded into the run; the records themselves are not needed any more.
        drop(records);
        let report = drive::Drive::new(Arc::clone(&self.0), session, run, slots, cancel).run_to_end().await;
        held.release().await;
        report
    }
}
