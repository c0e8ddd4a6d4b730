//! What happens to the calls of a reply: checked, judged and asked about, all of them; then run, in order.

use std::sync::Arc;
use std::time::Duration;

use super::state::{Call, Stage};
use super::step::{Assess, Consume, Describe, Step};
use super::{ClearedCall, Outcome, Run, binding};
use crate::approver::Question;
use crate::clock::Timestamp;
use crate::effect::EffectDisposition;
use crate::limits::Limit;
use crate::message::JsonObject;
use crate::permission::Act;
use crate::schema;
use crate::session::Entry;
use crate::tool::{EffectClass, ToolSpec};
use vanta_kernel::{ApprovalId, DEFAULT_EXPIRY_MS};

/// How many reads run at once.
const PARALLEL_READS: usize = 8;

impl Run {
    /// Refuses bad calls, and starts what may start once every call of the reply is decided.
    pub(super) fn decide_calls(&mut self, now: Timestamp) {
        for index in 0..self.state.calls.len() {
            self.check(index);
        }
        if !self.outbox.is_empty() || self.state.calls.iter().any(|call| call.stage.is_undecided()) {
            return;
        }
        self.start_calls(now);
        if self.state.calls.iter().any(|call| call.stage.is_undecided()) {
            return;
        }
        let open = self.state.calls.iter().any(|call| call.stage.is_under_way());
        if self.outbox.is_empty() && !open && self.ending.is_none() {
            let waits =
                |call: &Call| if let Stage::Deferred(id) = call.stage { Some(id.get()) } else { None };
            self.end(Outcome::AwaitingApproval {
                approvals: self.state.calls.iter().filter_map(waits).collect(),
            });
        }
    }

    /// A call that makes no sense is answered at once; nobody is asked about it.
    fn check(&mut self, index: usize) {
        let Some(call) = self.state.calls.get(index).filter(|call| call.stage == Stage::New && !call.checked)
        else {
            return;
        };
        match self.complaint(call) {
            Some(complaint) => self.refuse(index, complaint),
            None => {
                let digest = self
                    .settings
                    .tool(call.call.name())
                    .map(|spec| binding::act_digest(spec, call.call.args().raw()));
                if let (Some(call), Some(digest)) = (self.state.calls.get_mut(index), digest) {
                    call.digest = digest;
                    call.checked = true;
                }
            }
        }
    }

    fn complaint(&self, call: &Call) -> Option<String> {
        let Some(spec) = self.settings.tool(call.call.name()) else {
            let names: Vec<&str> = self.settings.tools.iter().map(ToolSpec::name).collect();
            return Some(format!(
                "there is no tool `{}`; the tools are: {}",
                call.call.name(),
                names.join(", ")
            ));
        };
        match call.call.args().object() {
            Err(error) => Some(format!(
                "the arguments are not usable: {error}; nothing was run, send them again as one JSON object"
            )),
            Ok(args) => schema::complaint(spec.schema(), &serde_json::Value::Object(args.clone()))
                .map(|complaint| format!("the arguments do not fit: {complaint}; nothing was run")),
        }
    }

    /// Starts what may run now: reads together, everything else alone and in call order.
    fn start_calls(&mut self, now: Timestamp) {
        let mut reads = 0;
        let mut deferred_before = false;
        for index in 0..self.state.calls.len() {
            let Some(call) = self.state.calls.get(index) else { return };
            let (stage, is_read) = (call.stage, self.class(call) == EffectClass::Read);
            match stage {
                Stage::Settled => {}
                // What has effects waits for the decision before it; reads may go on.
                Stage::Deferred(_) => deferred_before = true,
                Stage::Cleared | Stage::Approved(_) if is_read && reads < PARALLEL_READS => {
                    if !self.start(index, now) {
                        return;
                    }
                    reads += 1;
                }
                Stage::Cleared | Stage::Approved(_) if !is_read && deferred_before => {}
                Stage::Cleared | Stage::Approved(_) => {
                    if !is_read && reads == 0 {
                        self.start(index, now);
                    }
                    return;
                }
                _ if is_read => reads += 1,
                _ => return,
            }
        }
    }

    /// Begins an attempt; false when the budget does not allow it, which ends the run with the call still open.
    fn start(&mut self, index: usize, now: Timestamp) -> bool {
        let most = self.settings.limits.tool_calls;
        let spent = self.state.executions + self.starting();
        let limit =
            most.filter(|most| spent >= *most).map(|_| Limit::ToolCalls).or_else(|| self.exhausted(now));
        if let Some(limit) = limit {
            self.end(Outcome::LimitReached { limit });
            return false;
        }
        if self.recheck(index) {
            return false;
        }
        let Some(call) = self.state.calls.get(index) else { return false };
        let attempt = call.attempt + 1;
        let pending = Entry::ToolPending {
            call: call.call.id().clone(),
            tool: call.call.name().to_owned(),
            attempt,
            class: self.class(call),
            key: self.key(call),
            digest: call.digest.clone(),
        };
        let stage = match call.stage {
            Stage::Approved(approval) => Stage::Pending(approval),
            _ => Stage::Starting,
        };
        self.push(pending);
        if stage == Stage::Starting {
            self.push_started(index);
        }
        self.set_stage(index, stage);
        true
    }

    /// Sends a call that runs script files back to be described, when they may have changed since: another tool ran
    /// meanwhile, or a person took their time. If they did not change, its approval still fits.
    fn recheck(&mut self, index: usize) -> bool {
        let executions = self.state.executions;
        let Some(call) = self.state.calls.get_mut(index) else { return false };
        let person = matches!(call.stage, Stage::Approved(_)) && !call.rechecked;
        if call.scripts.is_empty() || (call.described_after == executions && !person) {
            return false;
        }
        call.rechecked = true;
        call.stage = Stage::New;
        true
    }

    fn starting(&self) -> u32 {
        let begun =
            |call: &&Call| matches!(call.stage, Stage::Pending(_) | Stage::Consuming | Stage::Starting);
        u32::try_from(self.state.calls.iter().filter(begun).count()).unwrap_or(u32::MAX)
    }

    pub(super) fn push_started(&mut self, index: usize) {
        if let Some(call) = self.state.calls.get(index) {
            let attempt = call.attempt + 1;
            let (call, tool) = (call.call.id().clone(), call.call.name().to_owned());
            self.push(Entry::ToolStarted { call, tool, attempt });
        }
    }

    /// The next thing a call needs from the driver. One question at a time; several executions.
    pub(super) fn call_step(&mut self, now: Timestamp) -> Option<Step> {
        for index in 0..self.state.calls.len() {
            let call = self.state.calls.get(index)?;
            // A run that ends takes no new decisions; what is on its way to run still does.
            if self.ending.is_some() && call.stage.is_undecided() {
                continue;
            }
            let (next, step) = match call.stage {
                Stage::New => (Stage::Describing, self.describe(call)?),
                Stage::Described => (Stage::Assessing, self.assess(call)),
                Stage::Ask => (Stage::Asking, self.ask(call, now)?),
                Stage::Pending(approval) => (Stage::Consuming, self.consume(call, approval)),
                Stage::Ready => (Stage::Running, self.execute(call)?),
                Stage::Describing | Stage::Assessing | Stage::Asking | Stage::Consuming => {
                    return Some(Step::Wait);
                }
                _ => continue,
            };
            self.set_stage(index, next);
            return Some(step);
        }
        None
    }

    fn describe(&self, call: &Call) -> Option<Step> {
        let arguments = arguments(call)?;
        Some(Step::Describe(Describe {
            call: call.call.id().clone(),
            tool: call.call.name().to_owned(),
            arguments,
        }))
    }

    fn assess(&self, call: &Call) -> Step {
        let (actions, scope) = (Arc::clone(&call.actions), Arc::clone(&self.settings.scope));
        Step::Assess(Assess { call: call.call.id().clone(), actions, scope })
    }

    fn ask(&self, call: &Call, now: Timestamp) -> Option<Step> {
        let scope = &self.settings.scope;
        let expires_ms = expiry(call, now);
        let exact = binding::exact_digest(call);
        let verdict = call.verdict.clone()?;
        let act = Act::new(self.settings.tool(call.call.name())?, &exact, &call.actions, scope);
        Some(Step::AskHuman(Question {
            session: self.settings.session.clone(),
            call: call.call.id().clone(),
            tool: call.call.name().to_owned(),
            arguments: arguments(call)?,
            actions: Arc::clone(&call.actions),
            rules: act.offers(&verdict),
            verdict,
            binding: binding::binding(&self.settings.session, scope.root(), call, expires_ms),
            expires_ms,
            raised_by: call.raised_by,
            scope: Arc::clone(scope),
            approval: None,
        }))
    }

    fn consume(&self, call: &Call, approval: ApprovalId) -> Step {
        let binding = call.requested.as_ref().map(|requested| requested.binding.clone()).unwrap_or_default();
        let holder = format!("{}/{}/{}", self.settings.session, call.call.id(), call.attempt + 1);
        Step::ConsumeApproval(Consume { call: call.call.id().clone(), approval, binding, holder })
    }

    /// The one place where a clearance is made: the `started` record of this very attempt is durable.
    fn execute(&self, call: &Call) -> Option<Step> {
        let spec = self.settings.tool(call.call.name())?;
        let cleared = ClearedCall::new(
            call.call.id().clone(),
            call.call.name().to_owned(),
            arguments(call)?,
            Arc::clone(&call.actions),
            call.verdict.clone()?,
            call.attempt,
            self.key(call),
        );
        Some(Step::Execute(cleared, spec.timeout().unwrap_or(self.settings.limits.tool_timeout)))
    }

    /// Gives a call that did not start its one result.
    pub(super) fn refuse(&mut self, index: usize, why: impl Into<String>) {
        self.settle(index, EffectDisposition::None, false, why.into());
    }

    pub(super) fn settle(&mut self, index: usize, disposition: EffectDisposition, ok: bool, output: String) {
        let Some(call) = self.state.calls.get(index) else { return };
        if matches!(call.stage, Stage::Settling | Stage::Settled) {
            return;
        }
        let attempt = if disposition == EffectDisposition::None { 0 } else { call.attempt };
        let (call, tool) = (call.call.id().clone(), call.call.name().to_owned());
        self.set_stage(index, Stage::Settling);
        self.push(Entry::ToolSettled { call, tool, attempt, disposition, ok, output });
    }

    /// Calls whose `started` record is durable and whose code has not begun: in this process that is certain.
    pub(super) fn refuse_ready(&mut self) {
        for index in 0..self.state.calls.len() {
            if self.state.calls.get(index).is_some_and(|call| call.stage == Stage::Ready) {
                self.refuse(index, super::answers::NOT_STARTED);
            }
        }
    }

    /// Calls that an earlier process had started, by class.
    pub(super) fn settle_interrupted(&mut self) {
        for index in 0..self.state.calls.len() {
            let Some(call) = self.state.calls.get(index) else { return };
            if call.stage != Stage::Ready {
                continue;
            }
            match self.class(call) {
                // The same key has the same effect, or there is none: judged afresh, then run again.
                EffectClass::Read | EffectClass::Idempotent => self.set_stage(index, Stage::New),
                EffectClass::Effect => {
                    let told = unknown_text(call);
                    self.settle(index, EffectDisposition::Unknown, false, told);
                }
            }
        }
    }

    /// Calls that were still open when a person said something new.
    pub(super) fn settle_superseded(&mut self) {
        for index in 0..self.state.calls.len() {
            self.refuse(index, "not run: the user sent a new message first");
        }
    }

    pub(super) fn set_stage(&mut self, index: usize, stage: Stage) {
        if let Some(call) = self.state.calls.get_mut(index) {
            call.stage = stage;
        }
    }

    /// A tool that is gone counts as one with effects.
    pub(super) fn class(&self, call: &Call) -> EffectClass {
        self.settings.tool(call.call.name()).map_or(EffectClass::Effect, ToolSpec::effect)
    }

    fn key(&self, call: &Call) -> String {
        format!("{}/{}", self.settings.session, call.call.id())
    }
}

fn arguments(call: &Call) -> Option<JsonObject> {
    call.call.args().object().ok().cloned()
}

/// When the question about a call lapses: the same in every process, so that a resumed run finds its question.
fn expiry(call: &Call, now: Timestamp) -> u64 {
    let week = Duration::from_millis(DEFAULT_EXPIRY_MS);
    let first = call
        .requested
        .as_ref()
        .map_or(call.proposed.after(week).as_millis(), |requested| requested.expires_ms);
    if first > now.as_millis() { first } else { now.after(week).as_millis() }
}

/// Names the tool and its target, not the arguments, and what to do first.
fn unknown_text(call: &Call) -> String {
    format!(
        "unknown: `{}` had started when the agent was interrupted, and nobody knows whether it took effect. It was not \
         run again. Look at the present state before you decide; running the same call again needs the user's approval.",
        call.call.name()
    )
}
