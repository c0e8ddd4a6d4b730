//! The driver: asks the machine for a step, performs it through a port, answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use vanta_kernel::json::Json;

use super::Parts;
use crate::approver::{Decision, Question};
use crate::cancel::CancelToken;
use crate::error::AgentError;
use crate::event::{EventBody, RunEvent};
use crate::execute::execute;
use crate::ledger::LedgerError;
use crate::message::CallId;
use crate::provider::{
    ErrorClass, LlmProvider, ModelContext, ModelReply, ModelRequest, ProviderError, StreamEvent, fold,
};
use crate::run::{Assess, ClearedCall, Consume, Describe, Described, Execution, Report, Run, Step};
use crate::session::{Entry, Lease, Session, SessionStore};
use crate::slots::Slots;
use crate::tool::{DescribeContext, DescribeError, Tool, ToolContext};

/// How long a tool may take to describe a call.
const DESCRIBE_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Drive {
    parts: Arc<Parts>,
    session: Session,
    run: Run,
    slots: Slots,
    /// Cancelled by whoever started the run.
    cancel: CancelToken,
    /// Cancelled with `cancel`, or when the time is over. What runs listens to this one.
    stop: CancelToken,
    /// The machine knows that it is to stop.
    stopped: bool,
    running: JoinSet<(CallId, Execution)>,
    deltas: u64,
}

impl Drive {
    pub(super) fn new(
        parts: Arc<Parts>,
        session: Session,
        run: Run,
        slots: Slots,
        cancel: CancelToken,
    ) -> Self {
        let stop = cancel.child();
        Self { parts, session, run, slots, cancel, stop, stopped: false, running: JoinSet::new(), deltas: 0 }
    }

    /// The loop. There is no other.
    pub(super) async fn run_to_end(mut self) -> Result<Report, AgentError> {
        self.note_repair().await?;
        let _timer =
            self.run.time_left(self.parts.clock.now()).map(|left| Timer::start(left, self.stop.clone()));
        loop {
            if self.stop.is_cancelled() {
                self.stop_run(None);
            }
            match self.run.next(self.parts.clock.now()) {
                Step::CallModel(request) => self.call_model(request).await?,
                Step::Describe(call) => self.describe(call).await?,
                Step::Assess(call) => self.assess(call).await?,
                Step::AskHuman(question) => self.ask(question).await?,
                Step::ConsumeApproval(approval) => self.consume(approval).await?,
                Step::Persist(entries) => self.persist(entries).await?,
                Step::Execute(cleared, limit) => self.spawn(cleared, limit),
                Step::Sleep(wait) => self.sleep(wait).await,
                Step::Wait => self.wait().await?,
                Step::Done(outcome) => return Ok(self.run.report(outcome)),
            }
        }
    }

    /// Awaits `work` unless the run is to stop first; then the machine is told and the answer is `None`.
    async fn or_stopped<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        if self.stopped {
            return Some(work.await);
        }
        let stop = self.stop.clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => {
                self.stop_run(None);
                None
            }
            done = work => Some(done),
        }
    }

    fn stop_run(&mut self, partial: Option<String>) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        if self.cancel.is_cancelled() {
            self.run.cancel(partial);
        } else {
            self.run.out_of_time(partial);
        }
    }

    async fn call_model(&mut self, request: ModelRequest) -> Result<(), AgentError> {
        let Some(provider) = self.parts.provider.clone() else {
            let none = ProviderError::new(ErrorClass::Unsupported, "the agent has no model");
            return Ok(self.run.replied(Err(none), self.parts.clock.now())?);
        };
        let cx = ModelContext::new(self.stop.clone(), self.slots.clone());
        let stop = self.stop.clone();
        let mut partial = String::new();
        let reply = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            reply = self.stream(&*provider, request, &cx, &mut partial) => Some(reply),
        };
        match reply {
            // A provider that was told to stop may be quicker to say so than the token is.
            Some(Err(_)) if self.stop.is_cancelled() => self.stop_run(Some(partial)),
            None => self.stop_run(Some(partial)),
            Some(reply) => self.run.replied(reply, self.parts.clock.now())?,
        }
        Ok(())
    }

    /// Folds the stream, showing every delta to the observers.
    async fn stream(
        &mut self,
        provider: &dyn LlmProvider,
        request: ModelRequest,
        cx: &ModelContext,
        partial: &mut String,
    ) -> Result<ModelReply, ProviderError> {
        let stream = provider.stream(request, cx).await?;
        fold(stream, |event| match event {
            StreamEvent::TextDelta(text) => {
                partial.push_str(text);
                self.emit_delta(EventBody::TextDelta(text.clone()));
            }
            StreamEvent::ThinkingDelta(text) => self.emit_delta(EventBody::ReasoningDelta(text.clone())),
            _ => {}
        })
        .await
    }

    async fn describe(&mut self, call: Describe) -> Result<(), AgentError> {
        let described = match self.parts.tools.get(&call.tool).cloned() {
            Some(tool) => {
                let cx = DescribeContext::new(Arc::clone(&self.parts.settings.scope), self.slots.clone());
                let id = call.call.clone();
                let Some(described) = self.or_stopped(describe(tool, call, cx)).await else {
                    return Ok(());
                };
                return Ok(self.run.described(&id, described)?);
            }
            None => Err(DescribeError::new(format!("there is no tool `{}`", call.tool))),
        };
        Ok(self.run.described(&call.call, described)?)
    }

    async fn assess(&mut self, call: Assess) -> Result<(), AgentError> {
        let gate = Arc::clone(&self.parts.gate);
        let Some(verdict) = self.or_stopped(gate.assess(&call.actions, &call.scope)).await else {
            return Ok(());
        };
        Ok(self.run.assessed(&call.call, verdict)?)
    }

    /// The ledger knows the question first, so that an answer from anywhere finds it; then the approver is asked.
    async fn ask(&mut self, question: Question) -> Result<(), AgentError> {
        let item = match self.parts.ledger.propose(&question.proposal()).await {
            Ok(item) => item,
            Err(refused @ (LedgerError::Refused { .. } | LedgerError::Unwritable(_))) => {
                return Ok(self.run.unaskable(question.call_id(), &refused)?);
            }
            Err(error) => return Err(error.into()),
        };
        let question = question.filed_as(item.id());
        let decision = match Decision::of(&item) {
            Some(decision) => decision,
            None => {
                let approver = Arc::clone(&self.parts.approver);
                let Some(decision) = self.or_stopped(approver.decide(&question)).await else { return Ok(()) };
                decision
            }
        };
        Ok(self.run.decided(&question, &item, decision)?)
    }

    async fn consume(&mut self, approval: Consume) -> Result<(), AgentError> {
        let consumed =
            self.parts.ledger.consume(approval.approval, &approval.binding, &approval.holder).await;
        match consumed {
            Ok(_) => self.run.consumed(&approval.call, Ok(()))?,
            Err(refused @ (LedgerError::Refused { .. } | LedgerError::Unknown(_))) => {
                self.run.consumed(&approval.call, Err(&refused))?;
            }
            // Whether it was used cannot be known, so nothing more is done.
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Durable in the session, then in the independent record, then seen by observers; only then answered.
    async fn persist(&mut self, entries: Vec<Arc<Entry>>) -> Result<(), AgentError> {
        let records = self.session.append(&entries).await?;
        for entry in &entries {
            self.log(entry).await?;
        }
        let at = records.first().map_or_else(|| self.parts.clock.now(), crate::session::Record::ts);
        self.run.persisted(at)?;
        self.deltas = 0;
        let (id, turn) = (self.session.id().clone(), self.run.turn());
        for record in records {
            // What opens a session is about its file, not about the run.
            if !matches!(record.entry(), Entry::SessionCreated { .. }) {
                self.emit(&RunEvent::recorded(&id, turn, record));
            }
        }
        Ok(())
    }

    /// What the ledger's own record gets: judged, decided, ran; never content.
    async fn log(&self, entry: &Entry) -> Result<(), LedgerError> {
        let text = |text: &str| Json::String(text.to_owned());
        let mut fields = vec![("session", text(self.session.id().as_str()))];
        match entry {
            Entry::VerdictGiven { call, risk, rule, reason } => {
                fields.extend([
                    ("call", text(call.as_str())),
                    ("risk", text(risk)),
                    ("rule", text(rule)),
                    ("reason", text(reason)),
                ]);
            }
            Entry::ApprovalSettled { call, approval, decision } => {
                let id = Json::Number(approval.get().to_string());
                fields.extend([
                    ("call", text(call.as_str())),
                    ("approval", id),
                    ("decision", text(decision)),
                ]);
            }
            Entry::ToolStarted { call, tool, .. } => {
                fields.extend([("call", text(call.as_str())), ("tool", text(tool))]);
            }
            Entry::ToolSettled { call, tool, disposition, .. } => {
                fields.extend([
                    ("call", text(call.as_str())),
                    ("tool", text(tool)),
                    ("disposition", text(disposition.as_str())),
                ]);
            }
            _ => return Ok(()),
        }
        self.parts.ledger.log(entry.kind(), &fields).await
    }

    fn spawn(&mut self, cleared: ClearedCall, limit: Duration) {
        let id = cleared.id().clone();
        let scope = Arc::clone(&self.parts.settings.scope);
        let cx = ToolContext::new(scope, self.slots.clone(), self.stop.child());
        let Some(tool) = self.parts.tools.get(cleared.tool()).cloned() else {
            // A tool of the run's settings is in the registry; without it nothing has run.
            self.running.spawn(async move { (id, Execution::Abandoned) });
            return;
        };
        self.running.spawn(async move { (id, execute(tool, cleared, cx, limit).await) });
    }

    async fn sleep(&mut self, wait: Duration) {
        self.or_stopped(tokio::time::sleep(wait)).await;
    }

    async fn wait(&mut self) -> Result<(), AgentError> {
        let mut running = std::mem::take(&mut self.running);
        let ended = self.or_stopped(running.join_next()).await;
        self.running = running;
        match ended {
            Some(Some(Ok((id, execution)))) => Ok(self.run.finished(&id, execution)?),
            Some(Some(Err(_))) | Some(None) => {
                Err(AgentError::Setup("the runtime is shutting down; resume the session".to_owned()))
            }
            // Stopped: the tools were told by their token.
            None => Ok(()),
        }
    }

    async fn note_repair(&mut self) -> Result<(), AgentError> {
        let bytes = self.session.lease().repaired_bytes();
        if bytes > 0 {
            self.session.append(&[Arc::new(Entry::LogRepaired { bytes })]).await?;
        }
        Ok(())
    }

    fn emit_delta(&mut self, body: EventBody) {
        self.deltas += 1;
        let at = (self.session.last_seq(), self.deltas);
        let event = RunEvent::delta(self.session.id(), self.run.turn(), at, self.parts.clock.now(), body);
        self.emit(&event);
    }

    fn emit(&self, event: &RunEvent) {
        for observer in &self.parts.observers {
            observer.event(event);
        }
    }
}

/// Asks the tool, in a task of its own: a panic or a hang there is a complaint, not the end of the loop.
async fn describe(
    tool: Arc<dyn Tool>,
    call: Describe,
    cx: DescribeContext,
) -> Result<Described, DescribeError> {
    let work = async move { Described::by(&*tool, &call.arguments, &cx).await };
    let mut task = tokio::spawn(work);
    match tokio::time::timeout(DESCRIBE_LIMIT, &mut task).await {
        Ok(Ok(described)) => described,
        Ok(Err(_)) => Err(DescribeError::new("the tool failed while it described the call")),
        Err(_) => {
            task.abort();
            Err(DescribeError::new("the tool took too long to describe the call"))
        }
    }
}

/// Cancels a token after some time, unless dropped first.
struct Timer(tokio::task::JoinHandle<()>);

impl Timer {
    fn start(left: Duration, stop: CancelToken) -> Self {
        Self(tokio::spawn(async move {
            tokio::time::sleep(left).await;
            stop.cancel();
        }))
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A claimed session, renewed in the background until it is given back.
pub(super) struct Held {
    store: Arc<dyn SessionStore>,
    lease: Option<Lease>,
    copy: Lease,
    renewal: tokio::task::JoinHandle<()>,
}

impl Held {
    pub(super) fn new(store: Arc<dyn SessionStore>, lease: Lease, ttl: Duration) -> Self {
        let renewal = tokio::spawn(renew(Arc::clone(&store), lease.clone(), ttl));
        Self { store, copy: lease.clone(), lease: Some(lease), renewal }
    }

    pub(super) fn lease(&self) -> &Lease {
        &self.copy
    }

    pub(super) async fn release(mut self) {
        self.renewal.abort();
        if let Some(lease) = self.lease.take() {
            // A lease that cannot be given back ends by its time.
            let _ = self.store.release(&lease).await;
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.renewal.abort();
        // Dropped in the middle of a run: give it back so that a resume need not wait for its time.
        if let (Some(lease), Ok(runtime)) = (self.lease.take(), tokio::runtime::Handle::try_current()) {
            let store = Arc::clone(&self.store);
            runtime.spawn(async move { store.release(&lease).await });
        }
    }
}

/// Renews three times per lease. Once somebody else has taken over, the next append says so.
async fn renew(store: Arc<dyn SessionStore>, lease: Lease, ttl: Duration) {
    loop {
        tokio::time::sleep(ttl / 3).await;
        if store.renew(&lease, ttl).await.is_err() {
            return;
        }
    }
}
