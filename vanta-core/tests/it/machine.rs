//! `Run` under random orders of events, wrong answers and crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;
use vanta_core::approver::{Decision, Question};
use vanta_core::clock::Timestamp;
use vanta_core::gate::GateError;
use vanta_core::message::CallId;
use vanta_core::run::{Consume, Described, Execution, Run, RunSettings};
use vanta_core::session::{Entry, Record};
use vanta_core::tool::{EffectClass, ToolSpec};
use vanta_core::{Action, Message, Mode, Risk, Step, ToolOutput, Verdict};
use vanta_kernel::{Approval, ApprovalId, Finding, assess};

use crate::support::{calls, says, scope};

/// Runs in CI; `VANTA_SLOW_TESTS=1` asks for more.
const ORDERS: u64 = 10_000;

/// A small generator: the same seed, the same story.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}

fn tools() -> Vec<ToolSpec> {
    vec![
        ToolSpec::new("look", "reads").with_effect(EffectClass::Read),
        ToolSpec::new("make", "creates"),
        ToolSpec::new("remove", "deletes"),
        ToolSpec::new("wipe", "ends"),
    ]
}

fn action(tool: &str) -> Action {
    match tool {
        "look" => Action::read("notes.txt"),
        "make" => Action::write("new.txt"),
        "remove" => Action::delete("old.txt"),
        _ => Action::shell("rm -rf ~"),
    }
}

fn settings(mode: Mode) -> RunSettings {
    let mut settings = RunSettings::new("random".parse().unwrap(), scope());
    settings.tools = tools().into();
    settings.mode = mode;
    settings
}

/// What the world saw, over all crashes.
#[derive(Default)]
struct World {
    log: Vec<Record>,
    now: u64,
    /// Verdicts of the gate above the kernel, per call of this process.
    gate: BTreeMap<CallId, Risk>,
    approved: BTreeSet<CallId>,
    executed: BTreeMap<CallId, u32>,
    crashes: u32,
}

/// Steps handed out and not answered yet.
#[derive(Default)]
struct Open {
    model: bool,
    describe: Option<(CallId, String)>,
    assess: Option<(CallId, Vec<Action>)>,
    ask: Option<Question>,
    consume: Option<Consume>,
    persist: Option<Vec<Arc<Entry>>>,
    running: Vec<(CallId, String)>,
}

fn story(seed: u64) {
    let mut dice = Dice(seed);
    let mode = Mode::ALL[dice.roll(Mode::ALL.len())];
    let mut world = World::default();
    let mut run = Run::new(settings(mode));
    run.begin(Some(Message::user("Go")));
    let mut open = Open::default();
    for _ in 0..400 {
        world.now += 1 + dice.roll(50) as u64;
        if dice.one_in(40) && world.log.len() > 2 {
            run = crash(&mut world, &mut open, mode);
        } else if dice.one_in(60) {
            run.cancel(None);
            // The driver drops what it was waiting for.
            open = Open { persist: open.persist, running: open.running, ..Open::default() };
        } else if dice.one_in(4) {
            answer_wrongly(&mut run, &mut dice);
        } else if dice.one_in(2) {
            answer(&mut run, &mut dice, &mut world, &mut open);
        } else if ask_for_a_step(&mut run, &mut world, &mut open) {
            break;
        }
    }
    check_log(&world.log, seed);
    let restored = Run::restore(settings(mode), &world.log).report(vanta_core::Outcome::Stalled);
    let again = Run::restore(settings(mode), &world.log).report(vanta_core::Outcome::Stalled);
    assert_eq!(restored.messages(), again.messages());
    if open.persist.is_none() {
        let live = run.report(vanta_core::Outcome::Stalled);
        let kept = |messages: &[Message]| {
            messages
                .iter()
                .filter(|m| m.role() != vanta_core::message::Role::Tool)
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(live.messages()), kept(restored.messages()), "seed {seed}");
    }
}

fn crash(world: &mut World, open: &mut Open, mode: Mode) -> Run {
    *open = Open::default();
    world.gate.clear();
    world.crashes += 1;
    let mut run = Run::restore(settings(mode), &world.log);
    run.begin(None);
    run
}

/// True when the run has ended.
fn ask_for_a_step(run: &mut Run, world: &mut World, open: &mut Open) -> bool {
    match run.next(Timestamp::from_millis(world.now)) {
        Step::CallModel(request) => {
            assert_balanced(request.messages());
            open.model = true;
        }
        Step::Describe(call) => open.describe = Some((call.call, call.tool)),
        Step::Assess(call) => open.assess = Some((call.call, call.actions.to_vec())),
        Step::AskHuman(question) => {
            assert_ne!(question.verdict().risk(), Risk::Block, "nobody is asked about a Block");
            open.ask = Some(question);
        }
        Step::ConsumeApproval(consume) => open.consume = Some(consume),
        Step::Persist(entries) => {
            assert!(open.persist.is_none(), "one append at a time");
            open.persist = Some(entries);
        }
        Step::Execute(cleared, _) => {
            let id = cleared.id().clone();
            let class = if cleared.tool() == "look" { EffectClass::Read } else { EffectClass::Effect };
            check_cleared(world, &cleared, class);
            *world.executed.entry(id.clone()).or_default() += 1;
            open.running.push((id, cleared.tool().to_owned()));
        }
        Step::Sleep(_) | Step::Wait => {}
        Step::Done(_) => return true,
    }
    false
}

fn check_cleared(world: &World, cleared: &vanta_core::ClearedCall, class: EffectClass) {
    let id = cleared.id();
    let started = world.log.iter().any(|record| {
        matches!(record.entry(), Entry::ToolStarted { call, attempt, .. } if call == id && *attempt == cleared.attempt())
    });
    assert!(started, "no durable `started` for {id}");
    let kernel = assess(&action(cleared.tool()), &scope()).risk();
    let risk = kernel
        .max(world.gate.get(id).copied().expect("the gate was asked about this very call in this process"));
    assert_ne!(risk, Risk::Block);
    let by_rule = cleared.verdict().risk() == Risk::Ask
        && world.log.iter().any(|r| matches!(r.entry(), Entry::RuleAdded { .. }));
    let by_mode = cleared.verdict().risk() == Risk::Ask;
    assert!(risk == Risk::Allow || world.approved.contains(id) || by_rule || by_mode);
    if class == EffectClass::Effect {
        assert!(!world.executed.contains_key(id), "effect {id} executed twice");
    }
}

fn answer(run: &mut Run, dice: &mut Dice, world: &mut World, open: &mut Open) {
    let now = Timestamp::from_millis(world.now);
    if let Some(entries) = open.persist.take() {
        for entry in entries {
            world.log.push(Record::new(world.log.len() as u64 + 1, now, 1, entry));
        }
        run.persisted(now).unwrap();
    } else if open.model {
        open.model = false;
        let n = world.log.len();
        let names = ["look", "make", "remove", "wipe", "unknown"];
        let reply = if dice.one_in(4) {
            says("Done.")
        } else {
            let ids: Vec<(String, &str)> =
                (0..=dice.roll(3)).map(|k| (format!("c{n}-{k}"), names[dice.roll(names.len())])).collect();
            let list: Vec<(&str, &str, serde_json::Value)> =
                ids.iter().map(|(id, name)| (id.as_str(), *name, json!({"k": dice.roll(3)}))).collect();
            calls(&list)
        };
        run.replied(Ok(reply), now).unwrap();
    } else if let Some((call, tool)) = open.describe.take() {
        let described = || Ok(Described { actions: vec![action(&tool)], scripts: Vec::new() });
        run.described(&call, described()).unwrap();
        assert!(run.described(&call, described()).is_err(), "answered once");
    } else if let Some((call, actions)) = open.assess.take() {
        let verdict =
            if dice.one_in(6) { None } else { Some([Risk::Allow, Risk::Ask, Risk::Block][dice.roll(3)]) };
        let risk = verdict.unwrap_or_else(|| assess(&actions[0], &scope()).risk());
        world.gate.insert(call.clone(), risk);
        let verdict = Verdict::new(risk, Finding::new("test", "random", 0..0));
        let verdict = if dice.one_in(50) { Err(GateError::new("random")) } else { Ok(verdict) };
        run.assessed(&call, verdict).unwrap();
    } else if let Some(question) = open.ask.take() {
        let rule = question.rules().last().cloned().unwrap();
        let decision = match dice.roll(6) {
            0 => Decision::Deny,
            1 => Decision::Never(rule),
            2 => Decision::Remember(rule),
            3 => Decision::Defer,
            4 => Decision::Edit(json!({"k": 9}).as_object().cloned().unwrap()),
            _ => Decision::Approve,
        };
        if matches!(decision, Decision::Approve | Decision::Remember(_)) {
            world.approved.insert(question.call_id().clone());
        }
        let id = ApprovalId::new(world.log.len() as u64);
        let item = Approval::propose(id, &question.proposal(), world.now).unwrap();
        run.decided(&question, &item, decision).unwrap();
    } else if let Some(consume) = open.consume.take() {
        run.consumed(&consume.call, Ok(())).unwrap();
        assert!(run.consumed(&consume.call, Ok(())).is_err(), "used once");
    } else if !open.running.is_empty() {
        let (call, _) = open.running.swap_remove(dice.roll(open.running.len()));
        let execution = match dice.roll(4) {
            0 => Execution::TimedOut,
            1 => Execution::Panicked,
            2 => Execution::Returned(ToolOutput::fail("no")),
            _ => Execution::Returned(ToolOutput::ok("yes")),
        };
        run.finished(&call, execution.clone()).unwrap();
        assert!(run.finished(&call, execution).is_err(), "settled once");
    }
}

/// Answers for a call that does not exist change nothing and say so.
fn answer_wrongly(run: &mut Run, dice: &mut Dice) {
    let call = CallId::new("nobody");
    let verdict = Verdict::Allow(Finding::new("test", "random", 0..0));
    let refused = match dice.roll(4) {
        0 => run.described(&call, Ok(Described::default())).is_err(),
        1 => run.assessed(&call, Ok(verdict)).is_err(),
        2 => run.consumed(&call, Ok(())).is_err(),
        _ => run.finished(&call, Execution::Panicked).is_err(),
    };
    assert!(refused);
}

fn assert_balanced(messages: &[Message]) {
    let calls: Vec<_> =
        messages.iter().flat_map(|m| m.tool_calls().map(|c| c.id().clone()).collect::<Vec<_>>()).collect();
    let results: Vec<_> = messages
        .iter()
        .flat_map(Message::parts)
        .filter_map(|part| match part {
            vanta_core::message::ContentPart::ToolResult(result) => Some(result.call_id().clone()),
            _ => None,
        })
        .collect();
    assert_eq!(calls, results, "every call has its one result, in order");
}

fn check_log(log: &[Record], seed: u64) {
    let mut settled = BTreeSet::new();
    for record in log {
        if let Entry::ToolSettled { call, .. } = record.entry() {
            assert!(settled.insert(call.clone()), "seed {seed}: two results for {call}");
        }
    }
}

#[test]
fn random_orders_of_events() {
    let orders = if std::env::var_os("VANTA_SLOW_TESTS").is_some() { 20 * ORDERS } else { ORDERS };
    for seed in 0..orders {
        story(seed);
    }
}
