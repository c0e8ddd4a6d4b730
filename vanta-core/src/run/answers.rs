//! What the driver tells the machine. Each answer names its call and fits exactly one open step.

use vanta_kernel::{Action, Approval, ApprovalId, ApprovalStatus, Finding, RaisedBy, Verdict};

use super::state::{Requested, Stage};
use super::step::{Described, Execution, UnexpectedAnswer};
use super::{ModelCall, Outcome, Run, binding};
use crate::approver::{Decision, Question};
use crate::clock::Timestamp;
use crate::effect::EffectDisposition;
use crate::gate::{GateError, assess_all};
use crate::ledger::LedgerError;
use crate::limits::Limit;
use crate::message::{Args, CallId, ToolCall};
use crate::permission::{Act, Rule, RuleEffect, Ruling, rule_on};
use crate::provider::{ModelReply, ProviderError};
use crate::session::Entry;
use crate::tool::{DescribeError, EffectClass};

type Answer = Result<(), UnexpectedAnswer>;

impl Run {
    /// The entries of [`Step::Persist`](super::Step::Persist) are durable, dated `at`. Never say so when they are not.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when nothing was to be persisted.
    pub fn persisted(&mut self, at: Timestamp) -> Answer {
        if self.persisting.is_empty() {
            return Err(UnexpectedAnswer { answer: "persisted", call: None });
        }
        for entry in std::mem::take(&mut self.persisting) {
            self.state.apply(&entry, at);
        }
        Ok(())
    }

    /// The model answered, or failed for now or for good.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when no model call is open.
    pub fn replied(&mut self, reply: Result<ModelReply, ProviderError>, now: Timestamp) -> Answer {
        let ModelCall::Open { attempt } = self.model else {
            return Err(UnexpectedAnswer { answer: "replied", call: None });
        };
        self.model = ModelCall::Idle { attempt: 0 };
        match reply {
            Ok(reply) => self.take_reply(&reply),
            Err(error) => self.take_failure(&error, attempt, now),
        }
        Ok(())
    }

    fn take_reply(&mut self, reply: &ModelReply) {
        let turn = self.state.turn;
        let message = self.state.admitted(reply.message(), turn);
        let proposed: Vec<Entry> = message
            .tool_calls()
            .map(|call| Entry::ToolProposed { call: call.id().clone(), tool: call.name().to_owned() })
            .collect();
        let reply = reply.clone().with_message(message);
        self.push(Entry::TurnFinished { turn, reply, prefix_hash: self.settings.prompt.prefix_hash() });
        proposed.into_iter().for_each(|entry| self.push(entry));
    }

    fn take_failure(&mut self, error: &ProviderError, attempt: u32, now: Timestamp) {
        let turn = self.state.turn;
        let visible = error.partial().map(crate::message::Message::text).filter(|text| !text.is_empty());
        // Each session draws its own waits, so that many of them do not come back at once.
        let seed = u64::from(crc32fast::hash(self.settings.session.as_str().as_bytes())) + u64::from(turn);
        let wait = self.settings.retry.with_seed(seed).wait(attempt.saturating_sub(1), error);
        if let Some(partial) = visible {
            self.push(Entry::TurnCut { turn, partial });
        }
        match wait {
            Some(wait) => {
                self.model = ModelCall::Sleeping { attempt, until: now.after(wait) };
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                self.push(Entry::RetryScheduled { turn, attempt, wait_ms, class: error.class() });
            }
            None => self.end(Outcome::ProviderFailed { class: error.class(), message: error.to_string() }),
        }
    }

    /// The tool said which actions the call would be, or that it makes no sense.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when the call is not being described.
    pub fn described(&mut self, call: &CallId, described: Result<Described, DescribeError>) -> Answer {
        let index = self.expect("described", call, |stage| stage == Stage::Describing)?;
        match described {
            Ok(described) => {
                let actions = self.or_opaque(index, described.actions);
                let executions = self.state.executions;
                self.set_stage(index, Stage::Described);
                if let Some(call) = self.state.calls.get_mut(index) {
                    call.described_after = executions;
                    call.actions = actions.into();
                    call.scripts = described.scripts;
                }
            }
            Err(complaint) => self.refuse(index, format!("{complaint}; nothing was run")),
        }
        Ok(())
    }

    /// A call that describes no action is one nobody can judge: a person sees the tool itself.
    fn or_opaque(&self, index: usize, actions: Vec<Action>) -> Vec<Action> {
        let name = self.state.calls.get(index).map(|call| call.call.name()).filter(|_| actions.is_empty());
        match name.and_then(|name| self.settings.tool(name)) {
            Some(spec) => vec![Action::tool(spec.name(), spec.description())],
            None => actions,
        }
    }

    /// The gate's verdict, or that there is none. The stricter of it and the kernel's own counts.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when the call is not being assessed.
    pub fn assessed(&mut self, call: &CallId, verdict: Result<Verdict, GateError>) -> Answer {
        let index = self.expect("assessed", call, |stage| stage == Stage::Assessing)?;
        match verdict {
            Ok(gate) => self.judge(index, gate),
            Err(error) => {
                self.set_stage(index, Stage::New);
                self.end(Outcome::GateUnavailable { message: error.to_string() });
            }
        }
        Ok(())
    }

    fn judge(&mut self, index: usize, gate: Verdict) {
        let Some(call) = self.state.calls.get(index) else { return };
        let Some(spec) = self.settings.tool(call.call.name()) else { return };
        // INVARIANT: no gate, rule, mode or approver sees a Block as anything else.
        let own = assess_all(&call.actions, &self.settings.scope);
        let raised = if gate.risk() > own.risk() { RaisedBy::Gate } else { RaisedBy::Kernel };
        let verdict = own.strictest(gate);
        let given = Entry::VerdictGiven {
            call: call.call.id().clone(),
            risk: verdict.risk().as_str().to_owned(),
            rule: verdict.finding().rule().to_owned(),
            reason: verdict.finding().reason().to_owned(),
        };
        let ruling = match &verdict {
            Verdict::Block(finding) => {
                Ruling::Deny(format!("blocked ({}): {}", finding.rule(), finding.reason()))
            }
            Verdict::Allow(_) | Verdict::Ask(_) => {
                let exact = binding::exact_digest(call);
                let act = Act::new(spec, &exact, &call.actions, &self.settings.scope);
                rule_on(&verdict, &act, &self.rules(), self.settings.mode)
            }
        };
        let unknown_before = self.state.unknown_acts.contains(&call.digest);
        self.push(given);
        self.rule(index, verdict, raised, ruling, unknown_before);
    }

    /// The embedder's standing answers and the session's own.
    fn rules(&self) -> Vec<Rule> {
        self.settings.rules.iter().chain(&self.state.rules).cloned().collect()
    }

    fn rule(
        &mut self,
        index: usize,
        verdict: Verdict,
        raised: RaisedBy,
        ruling: Ruling,
        unknown_before: bool,
    ) {
        let (stage, verdict, raised) = match ruling {
            Ruling::Deny(why) => {
                return self.refuse(index, format!("{why}; it was not run, choose another way"));
            }
            Ruling::Run | Ruling::Ask { .. } if unknown_before => {
                (Stage::Ask, asks("effect.unknown", UNKNOWN_BEFORE), RaisedBy::UnknownAttempt)
            }
            Ruling::Ask { by_rule: true } => (Stage::Ask, asks("permission.ask", RULE_ASKS), RaisedBy::Rule),
            Ruling::Ask { by_rule: false } => (Stage::Ask, verdict, raised),
            Ruling::Run => (Stage::Cleared, verdict, raised),
        };
        self.set_stage(index, stage);
        if let Some(call) = self.state.calls.get_mut(index) {
            call.verdict = Some(verdict);
            call.raised_by = raised;
        }
    }

    /// The decision on a question, which the ledger keeps as `item`. An item that has expired is a no, whatever
    /// `decision` says; [`Decision::of`] gives the decision that an item already holds.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when nobody was asked about the call.
    pub fn decided(&mut self, question: &Question, item: &Approval, decision: Decision) -> Answer {
        let (call, approval) = (question.call_id(), item.id());
        let index = self.expect("decided", call, |stage| stage == Stage::Asking)?;
        self.note_request(index, question, approval);
        if item.status() == ApprovalStatus::Expired {
            self.note_answer(index, approval, "expired");
            self.refuse(index, "not run: nobody approved it in time");
            return Ok(());
        }
        if decision != Decision::Defer {
            self.note_answer(index, approval, decision.as_str());
        }
        match decision {
            Decision::Approve => self.set_stage(index, Stage::Approved(approval)),
            Decision::Remember(rule) => {
                self.push(Entry::RuleAdded { rule: rule.with_effect(RuleEffect::Allow) });
                self.set_stage(index, Stage::Approved(approval));
            }
            Decision::Deny => self.refuse(index, DENIED),
            Decision::Never(rule) => {
                self.push(Entry::RuleAdded { rule: rule.with_effect(RuleEffect::Deny) });
                self.refuse(index, DENIED);
            }
            Decision::Edit(object) => self.edit(index, Args::from_object(object)),
            Decision::Defer => self.set_stage(index, Stage::Deferred(approval)),
        }
        Ok(())
    }

    /// The question cannot be put to the ledger, and never will be: the call is refused.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when nobody was asked about the call.
    pub fn unaskable(&mut self, call: &CallId, why: &LedgerError) -> Answer {
        let index = self.expect("unaskable", call, |stage| stage == Stage::Asking)?;
        self.refuse(index, format!("not run: {why}"));
        Ok(())
    }

    fn note_request(&mut self, index: usize, question: &Question, approval: ApprovalId) {
        let requested =
            Requested { approval, binding: question.binding().to_owned(), expires_ms: question.expires_ms() };
        let Some(call) = self.state.calls.get_mut(index) else { return };
        if call.requested.as_ref() == Some(&requested) {
            return;
        }
        call.requested = Some(requested);
        call.rechecked = false;
        let (call, binding, expires_ms) =
            (call.call.id().clone(), question.binding().to_owned(), question.expires_ms());
        self.push(Entry::ApprovalRequested { call, approval, binding, expires_ms });
    }

    /// A question and its answer are noted once, however often a resumed run comes by them.
    fn note_answer(&mut self, index: usize, approval: ApprovalId, decision: &str) {
        let Some(call) = self.state.calls.get_mut(index) else { return };
        if call.answered.as_deref() == Some(decision) {
            return;
        }
        call.answered = Some(decision.to_owned());
        let call = call.call.id().clone();
        self.push(Entry::ApprovalSettled { call, approval, decision: decision.to_owned() });
    }

    /// Other arguments are another act: checked, described and judged from the start.
    fn edit(&mut self, index: usize, args: Args) {
        let Some(call) = self.state.calls.get_mut(index) else { return };
        let id = call.call.id().clone();
        call.checked = false;
        call.call = ToolCall::new(id.clone(), call.call.name(), args.clone());
        (call.stage, call.requested, call.answered, call.verdict) = (Stage::New, None, None, None);
        self.push(Entry::ToolEdited { call: id, args });
    }

    /// The approval was used, or cannot be.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when no approval of the call is being used.
    pub fn consumed(&mut self, call: &CallId, consumed: Result<(), &LedgerError>) -> Answer {
        let index = self.expect("consumed", call, |stage| stage == Stage::Consuming)?;
        match consumed {
            Ok(()) => {
                self.push_started(index);
                self.set_stage(index, Stage::Starting);
            }
            Err(error) => self.refuse(index, format!("not run: {error}")),
        }
        Ok(())
    }

    /// An execution ended, somehow.
    ///
    /// # Errors
    /// [`UnexpectedAnswer`] when the call is not running.
    pub fn finished(&mut self, call: &CallId, execution: Execution) -> Answer {
        let index = self.expect("finished", call, |stage| stage == Stage::Running)?;
        let read = self.state.calls.get(index).is_some_and(|call| self.class(call) == EffectClass::Read);
        // A read has no effect to be in doubt about.
        let cut = if read { EffectDisposition::None } else { EffectDisposition::Unknown };
        let (disposition, ok, output) = match execution {
            Execution::Returned(output) => {
                let bounded = super::report::bound(output.output(), self.settings.limits.output_bytes);
                (EffectDisposition::Confirmed, output.is_ok(), bounded)
            }
            Execution::TimedOut => {
                (cut, false, format!("the tool did not answer within its time limit; {}", doubt(read)))
            }
            Execution::Panicked => (cut, false, format!("the tool failed inside; {}", doubt(read))),
            Execution::Abandoned => {
                (cut, false, format!("the run was stopped while the tool was at work; {}", doubt(read)))
            }
        };
        self.settle(index, disposition, ok, output);
        Ok(())
    }

    /// Somebody stops the run. Running tools are still to be answered; open questions stay open; `partial` is text the
    /// model had written.
    pub fn cancel(&mut self, partial: Option<String>) {
        self.stop(Outcome::Cancelled, partial);
    }

    /// The time that [`Run::time_left`] gave is over: stops like [`Run::cancel`], as a limit.
    pub fn out_of_time(&mut self, partial: Option<String>) {
        self.stop(Outcome::LimitReached { limit: Limit::WallClock }, partial);
    }

    fn stop(&mut self, outcome: Outcome, partial: Option<String>) {
        self.end(outcome);
        self.stopped = true;
        if let Some(partial) = partial.filter(|text| !text.is_empty()) {
            self.push(Entry::TurnCut { turn: self.state.turn, partial });
        }
        self.model = ModelCall::Idle { attempt: 0 };
        for index in 0..self.state.calls.len() {
            let Some(call) = self.state.calls.get(index) else { return };
            match call.stage {
                // A question outlives the run that asked it, and so does the answer.
                Stage::Ask | Stage::Asking | Stage::Deferred(_) | Stage::Approved(_) => {}
                // Already durable, or its record is on the way: the driver runs and answers it.
                Stage::Starting | Stage::Ready | Stage::Running | Stage::Settling | Stage::Settled => {}
                _ => self.refuse(index, NOT_STARTED),
            }
        }
    }

    fn expect(
        &self,
        answer: &'static str,
        call: &CallId,
        fits: impl Fn(Stage) -> bool,
    ) -> Result<usize, UnexpectedAnswer> {
        self.state
            .calls
            .iter()
            .position(|open| open.call.id() == call && fits(open.stage))
            .ok_or_else(|| UnexpectedAnswer { answer, call: Some(call.clone()) })
    }
}

fn asks(rule: &'static str, reason: &'static str) -> Verdict {
    Verdict::Ask(Finding::new(rule, reason, 0..0))
}

fn doubt(read: bool) -> &'static str {
    if read {
        "it only reads, so it may be tried again"
    } else {
        "whether it took effect is unknown, look before you try again"
    }
}

pub(super) const NOT_STARTED: &str = "not run: the run was stopped first";
const DENIED: &str =
    "not run: the user said no. Do not try the same thing another way; ask what they want instead.";
const UNKNOWN_BEFORE: &str =
    "an earlier attempt of exactly this call was interrupted, and nobody knows whether it took effect";
const RULE_ASKS: &str = "a rule of the user asks about this";
