//! Whole runs with a scripted model.

use std::time::Duration;

use serde_json::json;
use vanta_core::approver::Decision;
use vanta_core::effect::EffectDisposition;
use vanta_core::ledger::{Ledger, MemoryLedger, Operator};
use vanta_core::message::{Args, CallId, ContentPart, Message, Role, ToolCall};
use vanta_core::provider::{ErrorClass, FinishReason, ModelReply, ProviderError};
use vanta_core::session::MemorySessionStore;
use vanta_core::testing::{RecordingGate, ScriptedApprover, ScriptedProvider};
use vanta_core::tool::ToolOutput;
use vanta_core::{Agent, AgentBuilder, CancelToken, Limit, Limits, Mode, Outcome, Report, Risk, Task};
use vanta_kernel::{Answer, ApprovalId};

use crate::support::{Probe, registry, scope};

fn agent(provider: &ScriptedProvider) -> AgentBuilder {
    Agent::builder().provider(provider.clone()).scope(scope())
}

/// The results the model was told, in order.
fn results(report: &Report) -> Vec<String> {
    let parts = report.messages().iter().flat_map(Message::parts);
    parts
        .filter_map(|part| match part {
            ContentPart::ToolResult(result) => Some(result.content().to_owned()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn an_allowed_call_runs_and_the_model_reads_its_result() {
    let look = Probe::look().answering(ToolOutput::ok("forty-two"));
    let model = ScriptedProvider::new().call("look", json!({})).text("It says 42.");
    let report =
        agent(&model).tools(registry([&look])).build().unwrap().run("What does it say?").await.unwrap();
    assert_eq!(report.text(), Some("It says 42."));
    assert_eq!(look.count(), 1);
    assert_eq!(results(&report), ["forty-two"]);
    assert_eq!(report.settlements()[0].disposition(), EffectDisposition::Confirmed);
    assert_eq!(model.remaining(), 0);
    assert_eq!(model.requests()[1].messages().len(), 3);
}

#[tokio::test]
async fn an_ask_that_nobody_answers_ends_as_waiting_and_resumes_once_approved() {
    let remove = Probe::remove();
    let model = ScriptedProvider::new().call("remove", json!({})).text("Gone.");
    let (store, ledger) = (MemorySessionStore::new(), MemoryLedger::default());
    let build = || {
        agent(&model).tools(registry([&remove])).store(store.clone()).ledger(ledger.clone()).build().unwrap()
    };
    let waiting = build().run("Remove it").await.unwrap();
    assert_eq!(waiting.outcome(), &Outcome::AwaitingApproval { approvals: vec![1] });
    assert_eq!(remove.count(), 0);

    let still = build().run(Task::resume(waiting.session().clone())).await.unwrap();
    assert_eq!(still.outcome(), waiting.outcome());
    assert_eq!(ledger.approvals().await.unwrap().len(), 1, "the same question is not asked twice");

    ledger.decide(ApprovalId::new(1), Answer::Approve, "dana").await.unwrap();
    let done = build().run(Task::resume(waiting.session().clone())).await.unwrap();
    assert_eq!(done.text(), Some("Gone."));
    assert_eq!(remove.count(), 1);

    let again = build().run(Task::resume(waiting.session().clone())).await.unwrap();
    assert_eq!(again.text(), Some("Gone."));
    assert_eq!(
        (remove.count(), model.requests().len()),
        (1, 2),
        "a finished session has nothing to go on with"
    );
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_is_told() {
    let remove = Probe::remove();
    let model = ScriptedProvider::new().call("remove", json!({})).text("As you wish.");
    let approver = ScriptedApprover::deny_all();
    let built = agent(&model).tools(registry([&remove])).approver(approver.clone()).build().unwrap();
    let report = built.run("Remove it").await.unwrap();
    assert_eq!((remove.count(), report.denied()), (0, 1));
    assert!(results(&report)[0].contains("said no"));
    assert_eq!(approver.questions().len(), 1);
}

#[tokio::test]
async fn a_block_never_runs_whatever_stands_above_it() {
    for mode in Mode::ALL {
        let wipe = Probe::wipe();
        let model = ScriptedProvider::new().call("wipe", json!({})).text("I cannot.");
        let approver = ScriptedApprover::approve_all();
        let built = agent(&model)
            .tools(registry([&wipe]))
            .mode(mode)
            .gate(RecordingGate::always(Risk::Allow))
            .approver(approver.clone())
            .build()
            .unwrap();
        let report = built.run("Free some space").await.unwrap();
        assert_eq!((wipe.count(), approver.questions().len()), (0, 0), "{mode:?}");
        assert!(report.text().is_some());
    }
}

#[tokio::test]
async fn a_stricter_gate_counts_and_one_without_an_answer_stops_the_run() {
    let look = Probe::look();
    let model = ScriptedProvider::new().call("look", json!({})).text("No.");
    let strict =
        agent(&model).tools(registry([&look])).gate(RecordingGate::always(Risk::Block)).build().unwrap();
    strict.run("Look").await.unwrap();
    assert_eq!(look.count(), 0);

    let model = ScriptedProvider::new().call("look", json!({}));
    let gone = agent(&model).tools(registry([&look])).gate(RecordingGate::unavailable()).build().unwrap();
    let report = gone.run("Look").await.unwrap();
    assert!(matches!(report.outcome(), Outcome::GateUnavailable { .. }));
    assert_eq!(look.count(), 0);
}

#[tokio::test]
async fn a_remembered_yes_and_a_standing_no_hold_for_the_session() {
    let remove = Probe::remove();
    let model =
        ScriptedProvider::new().call("remove", json!({"n": 1})).call("remove", json!({"n": 2})).text("Ok.");
    let rule_for_the_tool =
        |question: &vanta_core::approver::Question| question.rules().last().cloned().unwrap();
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for (yes, ran) in [(true, 2), (false, 0)] {
        let counter = std::sync::Arc::clone(&asked);
        let approver = vanta_core::approver::InteractiveApprover::new(move |question| {
            counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let rule = rule_for_the_tool(question);
            if yes { Decision::Remember(rule) } else { Decision::Never(rule) }
        });
        let remove = Probe::remove();
        let model = ScriptedProvider::new()
            .call("remove", json!({"n": 1}))
            .call("remove", json!({"n": 2}))
            .text("Ok.");
        let built = agent(&model).tools(registry([&remove])).approver(approver).build().unwrap();
        built.run("Remove both").await.unwrap();
        assert_eq!(remove.count(), ran);
    }
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2, "each person is asked once");
    drop((remove, model));
}

#[tokio::test]
async fn edited_arguments_are_judged_and_asked_about_anew() {
    let remove = Probe::remove();
    let model = ScriptedProvider::new().call("remove", json!({"n": 1})).text("Ok.");
    let edited = json!({"n": 2}).as_object().cloned().unwrap();
    let approver = ScriptedApprover::new([Decision::Edit(edited), Decision::Approve]);
    let built = agent(&model).tools(registry([&remove])).approver(approver.clone()).build().unwrap();
    built.run("Remove it").await.unwrap();
    let questions = approver.questions();
    assert_eq!((questions.len(), remove.count()), (2, 1));
    assert_ne!(questions[0].binding(), questions[1].binding());
    assert_eq!(questions[1].arguments()["n"], 2);
}

#[tokio::test]
async fn calls_that_make_no_sense_are_answered_without_asking() {
    let remove = Probe::remove();
    let bad = ToolCall::new(CallId::new("c1"), "remove", Args::parse(r#"{"n": 1"#));
    let reply = ModelReply::new(
        Message::new(Role::Assistant, vec![ContentPart::ToolCall(bad)]),
        FinishReason::ToolCalls,
    );
    let model = ScriptedProvider::new()
        .reply(reply)
        .call("remove", json!({"n": "one"}))
        .call("destroy", json!({}))
        .text("I give up.");
    let approver = ScriptedApprover::approve_all();
    let built = agent(&model).tools(registry([&remove])).approver(approver.clone()).build().unwrap();
    let results = results(&built.run("Remove it").await.unwrap());
    assert!(results[0].contains("not usable"), "{results:?}");
    assert!(results[1].contains("must be of type"), "{results:?}");
    assert!(results[2].contains("the tools are: remove"), "{results:?}");
    assert_eq!((remove.count(), approver.questions().len()), (0, 0));
}

#[tokio::test]
async fn each_limit_ends_the_run_with_its_name() {
    async fn outcome(limits: Limits, model: ScriptedProvider, tool: Probe) -> Outcome {
        let built = agent(&model).tools(registry([&tool])).limits(limits).build().unwrap();
        built.run("Go").await.unwrap().outcome().clone()
    }
    let looks = || (0..20).fold(ScriptedProvider::new(), |model, n| model.call("look", json!({"n": n})));
    let reached = |limit| Outcome::LimitReached { limit };
    let limits = Limits::default;
    assert_eq!(outcome(limits().turns(3), looks(), Probe::look()).await, reached(Limit::Turns));
    assert_eq!(outcome(limits().tool_calls(2), looks(), Probe::look()).await, reached(Limit::ToolCalls));
    assert_eq!(outcome(limits().tokens(40), looks(), Probe::look()).await, reached(Limit::Tokens));
    let slow = Probe::look().taking(Duration::from_millis(30));
    assert_eq!(
        outcome(limits().wall_clock(Duration::from_millis(50)), looks(), slow).await,
        reached(Limit::WallClock)
    );
    let empty = Probe::look().answering(ToolOutput::ok(" "));
    assert_eq!(outcome(limits(), looks(), empty).await, Outcome::Stalled);
    let failing = Probe::look().answering(ToolOutput::fail("no"));
    assert_eq!(outcome(limits(), looks(), failing).await, Outcome::TooManyFailures);
    let silent = ScriptedProvider::new().text("").text(" ");
    assert_eq!(outcome(limits(), silent, Probe::look()).await, Outcome::Stalled);
}

#[tokio::test]
async fn a_limit_throws_nothing_away() {
    let make = Probe::make();
    let model =
        ScriptedProvider::new().calls([("make", json!({"n": 1})), ("make", json!({"n": 2}))]).text("Both.");
    let store = MemorySessionStore::new();
    let build =
        |limits| agent(&model).tools(registry([&make])).store(store.clone()).limits(limits).build().unwrap();
    let stopped = build(Limits::default().tool_calls(1)).run("Make two").await.unwrap();
    assert_eq!((stopped.outcome(), make.count()), (&Outcome::LimitReached { limit: Limit::ToolCalls }, 1));
    assert_eq!(results(&stopped), ["done", "not run yet"], "the report's history is balanced");
    let done = build(Limits::default()).run(Task::resume(stopped.session().clone())).await.unwrap();
    assert_eq!((done.text(), make.count()), (Some("Both."), 2));
}

#[tokio::test]
async fn a_passing_failure_is_tried_again_and_a_lasting_one_is_an_outcome() {
    let overloaded =
        || ProviderError::new(ErrorClass::Overloaded, "busy").with_retry_after(Duration::from_millis(1));
    let model = ScriptedProvider::new().fail(overloaded()).text("Here.");
    assert_eq!(agent(&model).build().unwrap().run("Hello").await.unwrap().text(), Some("Here."));

    let model = ScriptedProvider::new().fail(ProviderError::new(ErrorClass::Auth, "the key is wrong"));
    let report = agent(&model).build().unwrap().run("Hello").await.unwrap();
    assert!(matches!(report.outcome(), Outcome::ProviderFailed { class: ErrorClass::Auth, .. }));
}

#[tokio::test]
async fn what_was_seen_is_not_said_twice() {
    let cut =
        ProviderError::new(ErrorClass::StreamTruncated, "cut").with_partial(Message::assistant("Half a"));
    let model = ScriptedProvider::new().fail(cut).text("whole");
    let report = agent(&model).build().unwrap().run("Hello").await.unwrap();
    assert!(matches!(report.outcome(), Outcome::ProviderFailed { class: ErrorClass::StreamTruncated, .. }));
    assert_eq!(model.remaining(), 1);
}

#[tokio::test]
async fn cancelling_a_running_effect_leaves_it_unknown_and_the_history_balanced() {
    let slow = Probe::make().taking(Duration::from_secs(3600));
    let model = ScriptedProvider::new().calls([("make", json!({"n": 1})), ("make", json!({"n": 2}))]);
    let token = CancelToken::new();
    let built = agent(&model).tools(registry([&slow])).build().unwrap();
    let ran = std::sync::Arc::clone(&slow.ran);
    let canceller = token.clone();
    tokio::spawn(async move {
        while ran.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        canceller.cancel();
    });
    tokio::time::pause();
    let report = built.run(Task::new("Make").cancel(token)).await.unwrap();
    assert_eq!(report.outcome(), &Outcome::Cancelled);
    assert_eq!(slow.count(), 1);
    let dispositions: Vec<_> = report.settlements().iter().map(|s| s.disposition()).collect();
    assert_eq!(dispositions, [EffectDisposition::None, EffectDisposition::Unknown]);
    assert_eq!(results(&report).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_also_ends_what_does_not_come_back() {
    #[derive(Debug)]
    struct Hangs(vanta_core::provider::ModelInfo);
    #[async_trait::async_trait]
    impl vanta_core::LlmProvider for Hangs {
        fn model(&self) -> &vanta_core::provider::ModelInfo {
            &self.0
        }
        async fn stream(
            &self,
            _: vanta_core::provider::ModelRequest,
            _: &vanta_core::provider::ModelContext,
        ) -> Result<vanta_core::provider::ReplyStream, ProviderError> {
            std::future::pending().await
        }
    }
    let limits = || Limits::default().wall_clock(Duration::from_secs(5));
    let reached = Outcome::LimitReached { limit: Limit::WallClock };
    let info = vanta_core::provider::ModelInfo::new("hangs", "hangs");
    let model = Agent::builder().provider(Hangs(info)).scope(scope()).limits(limits()).build().unwrap();
    assert_eq!(model.run("Hello").await.unwrap().outcome(), &reached);

    let slow = Probe::make().taking(Duration::from_secs(3600));
    let script = ScriptedProvider::new().call("make", json!({}));
    let tool = agent(&script).tools(registry([&slow])).limits(limits()).build().unwrap();
    let report = tool.run("Make").await.unwrap();
    assert_eq!(report.outcome(), &reached);
    assert_eq!(report.settlements()[0].disposition(), EffectDisposition::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_unknown_and_its_twin_needs_a_person() {
    let slow = Probe::make().taking(Duration::from_secs(3600));
    let model = ScriptedProvider::new().call("make", json!({})).call("make", json!({})).text("?");
    let limits = Limits::default().tool_timeout(Duration::from_secs(1));
    let report =
        agent(&model).tools(registry([&slow])).limits(limits).build().unwrap().run("Make").await.unwrap();
    assert_eq!(slow.count(), 1, "not repeated although the kernel says Allow");
    assert_eq!(report.settlements()[0].disposition(), EffectDisposition::Unknown);
    assert!(matches!(report.outcome(), Outcome::AwaitingApproval { .. }));
}

#[tokio::test]
async fn a_panic_in_a_tool_is_its_own_failure() {
    struct Bomb;
    #[async_trait::async_trait]
    impl vanta_core::Tool for Bomb {
        fn spec(&self) -> vanta_core::tool::ToolSpec {
            vanta_core::tool::ToolSpec::new("bomb", "Panics")
        }
        async fn execute(&self, _: vanta_core::ClearedCall, _: &vanta_core::tool::ToolContext) -> ToolOutput {
            panic!("boom")
        }
    }
    let model = ScriptedProvider::new().call("bomb", json!({})).text("It broke.");
    let tools = vanta_core::ToolRegistry::new().with(Bomb);
    let built = agent(&model).tools(tools).approver(ScriptedApprover::approve_all()).build().unwrap();
    let report = built.run("Go").await.unwrap();
    assert_eq!(report.text(), Some("It broke."));
    assert_eq!(report.settlements()[0].disposition(), EffectDisposition::Unknown);
}

#[tokio::test]
async fn reads_run_together_and_answer_in_call_order() {
    let slow = Probe::new("slow", vanta_core::tool::EffectClass::Read, vanta_core::Action::read("a"))
        .taking(Duration::from_millis(40))
        .answering(ToolOutput::ok("slow"));
    let fast = Probe::look().answering(ToolOutput::ok("fast"));
    let model = ScriptedProvider::new().calls([("slow", json!({})), ("look", json!({}))]).text("Ok.");
    let report = agent(&model).tools(registry([&slow, &fast])).build().unwrap().run("Look").await.unwrap();
    assert_eq!(results(&report), ["slow", "fast"]);
    let settled: Vec<_> = report.settlements().iter().map(vanta_core::run::Settlement::tool).collect();
    assert_eq!(settled, ["look", "slow"], "the fast one was settled while the slow one ran");
}

#[tokio::test]
async fn ids_that_a_model_repeats_stay_apart() {
    let call = || {
        let call = ToolCall::new(CallId::new("call_0"), "look", Args::parse("{}"));
        ModelReply::new(
            Message::new(Role::Assistant, vec![ContentPart::ToolCall(call)]),
            FinishReason::ToolCalls,
        )
    };
    let look = Probe::look();
    let model = ScriptedProvider::new().reply(call()).reply(call()).text("Ok.");
    let report = agent(&model).tools(registry([&look])).build().unwrap().run("Look twice").await.unwrap();
    let ids: std::collections::BTreeSet<_> = report.settlements().iter().map(|s| s.call().clone()).collect();
    assert_eq!((ids.len(), look.count()), (2, 2));
}

#[tokio::test]
async fn without_the_deciding_side_no_answer_counts() {
    let remove = Probe::remove();
    let model = ScriptedProvider::new().call("remove", json!({})).text("Ok.");
    let ledger = MemoryLedger::default();
    let built = agent(&model)
        .tools(registry([&remove]))
        .ledger(ledger.clone())
        .approver(ScriptedApprover::approve_all())
        .build()
        .unwrap();
    let report = built.run("Remove it").await.unwrap();
    assert_eq!(remove.count(), 0);
    assert!(results(&report)[0].contains("nobody has decided"), "{:?}", results(&report));
    assert!(ledger.lookup(ApprovalId::new(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn the_independent_record_says_what_was_judged_and_what_ran() {
    let look = Probe::look();
    let model = ScriptedProvider::new().call("look", json!({})).text("Ok.");
    let ledger = MemoryLedger::default();
    agent(&model).tools(registry([&look])).ledger(ledger.clone()).build().unwrap().run("Look").await.unwrap();
    assert_eq!(ledger.event_kinds(), ["verdict_given", "tool_started", "tool_settled"]);
}

/// Runs can be spawned: their futures are `Send`.
#[tokio::test(flavor = "multi_thread")]
async fn runs_of_one_agent_do_not_share_anything() {
    let look = Probe::look();
    let model = ScriptedProvider::new().text("a").text("b").text("c");
    let built = agent(&model).tools(registry([&look])).build().unwrap();
    let runs: Vec<_> = (0..3)
        .map(|n| {
            let built = built.clone();
            tokio::spawn(async move { built.run(format!("{n}")).await })
        })
        .collect();
    let mut sessions = std::collections::BTreeSet::new();
    for run in runs {
        sessions.insert(run.await.unwrap().unwrap().session().clone());
    }
    assert_eq!(sessions.len(), 3);
}

#[tokio::test]
async fn a_call_that_describes_nothing_waits_for_a_person_like_any_unknown_tool() {
    let model = ScriptedProvider::new().call("sum", json!({})).text("Ok.");
    let sum =
        || vanta_core::typed::tool_fn("sum", "Adds", |_: Nothing| async { "3" }).describing(|_| Vec::new());
    let store = MemorySessionStore::new();
    let tools = || vanta_core::ToolRegistry::new().with(sum());
    let waiting =
        agent(&model).tools(tools()).store(store.clone()).build().unwrap().run("Add").await.unwrap();
    assert!(matches!(waiting.outcome(), Outcome::AwaitingApproval { .. }));

    use vanta_core::permission::{Rule, RuleEffect, RuleMatch};
    let trusted = Rule::new(RuleEffect::Allow, &vanta_core::Tool::spec(&sum()), RuleMatch::Tool);
    let trusting = agent(&model).tools(tools()).store(store).rules([trusted]).build().unwrap();
    let done = trusting.run(Task::resume(waiting.session().clone())).await.unwrap();
    assert_eq!((done.text(), results(&done)), (Some("Ok."), vec!["3".to_owned()]));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Run {
    command: String,
}

/// A yes to one command is no yes to other options of it, and one to a tool holds for the question that was asked.
#[tokio::test]
async fn a_remembered_yes_is_not_stretched() {
    use vanta_core::typed::tool_fn;
    let ran = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&ran);
    let shell = tool_fn("shell", "Runs", move |_: Run| {
        counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async { "ran" }
    })
    .describing(|args: &Run| vec![vanta_core::Action::shell(&args.command)]);
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let questions = std::sync::Arc::clone(&asked);
    let approver = vanta_core::approver::InteractiveApprover::new(move |question| {
        questions.lock().unwrap().push(question.rules().len());
        match question.arguments()["command"].as_str() {
            Some("git push origin main") => Decision::Remember(question.rules().last().cloned().unwrap()),
            _ => Decision::Deny,
        }
    });
    let command = |command: &str| json!({"command": command});
    let model = ScriptedProvider::new()
        .call("shell", command("git push origin main"))
        .call("shell", command("git push origin main"))
        .call("shell", command("git push --receive-pack='touch x;' . main"))
        .call("shell", command("git push origin main 2>> /etc/motd"))
        .text("Ok.");
    let tools = vanta_core::ToolRegistry::new().with(shell);
    agent(&model).tools(tools).approver(approver).build().unwrap().run("Push").await.unwrap();
    assert_eq!(*asked.lock().unwrap(), [1, 1, 1], "this very call is on offer, and only that is remembered");
    assert_eq!(ran.load(std::sync::atomic::Ordering::SeqCst), 2);
}

/// An approval is for a script as it is when it runs, also when an earlier call of the same reply changes it.
#[tokio::test]
async fn a_script_that_changed_after_its_approval_is_asked_about_again() {
    use vanta_core::typed::tool_fn;
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().canonicalize().unwrap().join("run.sh");
    std::fs::write(&script, "echo benign").unwrap();
    let target = script.clone();
    let edit = tool_fn("edit", "Edits", move |_: Nothing| {
        std::fs::write(&target, "echo evil").unwrap();
        async { "edited" }
    })
    .describing(|_| vec![vanta_core::Action::edit("run.sh")]);
    let ran = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, source) = (std::sync::Arc::clone(&ran), script.clone());
    let shell = tool_fn("shell", "Runs", move |_: Run| {
        seen.lock().unwrap().push(std::fs::read_to_string(&source).unwrap());
        async { "ran" }
    })
    .describing(|args: &Run| vec![vanta_core::Action::shell(&args.command)]);
    let run = json!({"command": "rm old.txt; bash run.sh"});
    let model = ScriptedProvider::new().calls([("edit", json!({})), ("shell", run)]).text("Ok.");
    let approver = ScriptedApprover::new([Decision::Approve, Decision::Deny]);
    let built = Agent::builder()
        .provider(model)
        .scope(vanta_core::Scope::new(script.parent().unwrap().to_str().unwrap()).home("/home/dev"))
        .tools(vanta_core::ToolRegistry::new().with(edit).with(shell))
        .approver(approver.clone())
        .build()
        .unwrap();
    built.run("Go").await.unwrap();
    let questions = approver.questions();
    assert_eq!(questions.len(), 2, "once for the script as it was, once for the script as it is");
    assert_ne!(questions[0].binding(), questions[1].binding());
    assert_eq!(ran.lock().unwrap().len(), 0, "the second answer was no");
}

#[tokio::test]
async fn an_approval_of_a_script_that_did_not_change_is_asked_for_once() {
    use vanta_core::typed::tool_fn;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("run.sh"), "echo benign").unwrap();
    let shell = tool_fn("shell", "Runs", |_: Run| async { "ran" })
        .describing(|args: &Run| vec![vanta_core::Action::shell(&args.command)]);
    let model =
        ScriptedProvider::new().call("shell", json!({"command": "rm old.txt; bash run.sh"})).text("Ok.");
    let approver = ScriptedApprover::approve_all();
    let root = dir.path().canonicalize().unwrap();
    let built = Agent::builder()
        .provider(model)
        .scope(vanta_core::Scope::new(root.to_str().unwrap()).home("/home/dev"))
        .tools(vanta_core::ToolRegistry::new().with(shell))
        .approver(approver.clone())
        .build()
        .unwrap();
    let report = built.run("Go").await.unwrap();
    assert_eq!((approver.questions().len(), results(&report)), (1, vec!["ran".to_owned()]));
}

#[tokio::test]
async fn ids_names_and_arguments_of_any_size_cost_the_session_nothing() {
    let call = |id: String, name: String, args: String| {
        let call = ToolCall::new(CallId::new(id), name, Args::parse(args));
        ModelReply::new(
            Message::new(Role::Assistant, vec![ContentPart::ToolCall(call)]),
            FinishReason::ToolCalls,
        )
    };
    let big = |n: usize| "x".repeat(n);
    let look = Probe::look();
    let model = ScriptedProvider::new()
        .reply(call(big(1_000_000), "look".into(), "{}".into()))
        .reply(call("$(touch x)\n".into(), "look".into(), "{}".into()))
        .reply(call("c".into(), big(1_000_000), "{}".into()))
        .reply(call("d".into(), "look".into(), format!(r#"{{"n": "{}"}}"#, big(5_000_000))))
        .text("Ok.");
    let report = agent(&model).tools(registry([&look])).build().unwrap().run("Look").await.unwrap();
    assert_eq!((report.text(), look.count()), (Some("Ok."), 2));
    assert!(report.settlements().iter().all(|s| s.call().as_str().len() <= 200 && s.tool().len() <= 200));
    assert!(results(&report).iter().all(|result| result.len() < 2_000), "nothing huge is echoed");
}

#[tokio::test]
async fn one_call_walks_the_same_steps() {
    let (look, remove) = (Probe::look(), Probe::remove());
    let built = Agent::builder().tools(registry([&look, &remove])).scope(scope()).build().unwrap();
    let runner = built.tool_runner();
    let read = runner.call("look", Default::default()).await.unwrap();
    assert_eq!(
        (read.output().output(), read.verdict().map(vanta_core::Verdict::risk)),
        ("done", Some(Risk::Allow))
    );
    let waiting = runner.call("remove", Default::default()).await.unwrap();
    assert_eq!((waiting.waits_for(), waiting.output().is_ok(), remove.count()), (Some(1), false, 0));
}
