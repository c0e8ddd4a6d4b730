//! Your own harness, without `Agent`: `Run` decides, this loop only performs, one method for each step. A tool runs only
//! with the `ClearedCall` that `Run` hands out, so no harness, however odd, runs what was not cleared.
//! `cargo run -p vanta-examples --example own_harness`

use std::sync::Arc;
use vanta_core::clock::{Clock, SystemClock};
use vanta_core::ledger::{Answer, Ledger, MemoryLedger, Operator};
use vanta_core::run::{Described, RunSettings};
use vanta_core::testing::ScriptedProvider;
use vanta_core::tool::{DescribeContext, ToolContext};
use vanta_core::{Action, CancelToken, LlmProvider, Message, Run, SafetyGate, Scope, Slots, Step, Tool};
use vanta_core::{ToolOutput, approver::Decision, execute, gate::LocalGate, provider::ModelContext, typed};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct File {
    path: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let pretend = |file: File| async move { ToolOutput::ok(format!("(pretended to delete {})", file.path)) };
    let remove = typed::tool_fn("remove", "Deletes a file", pretend);
    let remove: Arc<dyn Tool> = Arc::new(remove.describing(|file: &File| vec![Action::delete(&file.path)]));
    let model = ScriptedProvider::new()
        .call("remove", serde_json::json!({"path": "old.txt"}))
        .call("remove", serde_json::json!({"path": "/etc/passwd"}))
        .text("One file is gone; the other is not mine to delete.");
    let mut settings = RunSettings::new("by-hand".parse()?, Scope::new("/srv/app"));
    settings.tools = vec![remove.spec()].into();
    let (scope, slots, cancel) = (settings.scope.clone(), Slots::default(), CancelToken::new());
    let model_cx = ModelContext::new(cancel.clone(), slots.clone());
    let describe_cx = DescribeContext::new(scope.clone(), slots.clone());
    let tool_cx = ToolContext::new(scope, slots, cancel);
    let (ledger, now) = (MemoryLedger::default(), || SystemClock.now());
    let mut run = Run::new(settings);
    run.begin(Some(Message::user("Clean up")));
    let outcome = loop {
        let step = run.next(now());
        println!("{}", step.name());
        match step {
            Step::CallModel(request) => run.replied(model.complete(request, &model_cx).await, now())?,
            // What names no tool or does not fit its schema was refused; with several tools, look `it.tool` up.
            Step::Describe(it) => {
                run.described(&it.call, Described::by(&*remove, &it.arguments, &describe_cx).await)?;
            }
            Step::Assess(it) => run.assessed(&it.call, LocalGate.assess(&it.actions, &it.scope).await)?,
            // The ledger has the question before anybody answers, and the answer before anything acts on it.
            Step::AskHuman(question) => {
                println!("    {}: yes, once", question.verdict());
                let mut item = ledger.propose(&question.proposal()).await?;
                if Decision::of(&item).is_none() {
                    item = ledger.decide(item.id(), Answer::Approve, "example").await?;
                }
                let decision = Decision::of(&item).unwrap_or(Decision::Defer);
                run.decided(&question, &item, decision)?;
            }
            Step::ConsumeApproval(it) => {
                let used = ledger.consume(it.approval, &it.binding, &it.holder).await;
                run.consumed(&it.call, used.as_ref().map(drop))?;
            }
            // Write them to a disk here, and answer once they are on it: what is not recorded must not run.
            Step::Persist(entries) => {
                entries.iter().for_each(|entry| println!("    {}", entry.kind()));
                run.persisted(now())?;
            }
            // Awaited on the spot. Spawn it to run reads side by side, and answer when `Step::Wait` says so.
            Step::Execute(cleared, limit) => {
                let id = cleared.id().clone();
                run.finished(&id, execute::execute(remove.clone(), cleared, tool_cx.clone(), limit).await)?;
            }
            Step::Sleep(wait) => tokio::time::sleep(wait).await,
            Step::Wait => anyhow::bail!("nothing is running, so there is nothing to wait for"),
            Step::Done(outcome) => break outcome,
        }
    };
    println!("\n{}", run.report(outcome).text().unwrap_or_default());
    Ok(())
}
