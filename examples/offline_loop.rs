//! The whole loop without a network and without a key: a scripted model, one tool, and every verdict on the way.
//!
//! Run it with `cargo run -p vanta-examples --example offline_loop`. The model asks for three commands: one that
//! only looks, one that deletes a file, and one that would erase the home folder. The tool is an echo, so nothing
//! real is touched; the verdicts are real. In your own agent, a provider from `vanta-providers` replaces the script.

use serde_json::json;
use vanta_core::approver::Decision;
use vanta_core::event::{Observer, RunEvent};
use vanta_core::session::{Entry, Record};
use vanta_core::testing::{ScriptedApprover, ScriptedProvider};
use vanta_core::{Action, Agent, Scope, ToolOutput, ToolRegistry, typed::tool_fn};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Command {
    /// The command line to run.
    command: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let model = ScriptedProvider::new()
        .call("shell", json!({"command": "ls -l"}))
        .call("shell", json!({"command": "rm notes.txt"}))
        .call("shell", json!({"command": "rm -rf ~"}))
        .text(
            "I listed the folder and deleted the notes. Erasing the home folder was refused, so I left it.",
        );

    let shell = tool_fn("shell", "Runs a command", |args: Command| async move {
        ToolOutput::ok(format!("(pretended to run `{}`)", args.command))
    })
    // What the gate judges. Without this line the call would be one opaque action, which is always an Ask.
    .describing(|args: &Command| vec![Action::shell(&args.command)]);

    let agent = Agent::builder()
        .provider(model)
        .tools(ToolRegistry::new().with(shell))
        .scope(Scope::new("/srv/app").home("/home/ada"))
        // Answers the first Ask with yes and leaves every other one open. It is never asked about a Block.
        .approver(ScriptedApprover::new([Decision::Approve]))
        .observer(Narrator)
        .build()?;

    let report = agent.run("Tidy up").await?;

    println!("\noutcome  {}: {}", report.outcome().kind(), report.text().unwrap_or_default());
    for settlement in report.settlements() {
        println!("receipt  {} {}", settlement.tool(), settlement.disposition().as_str());
    }
    Ok(())
}

/// Prints what becomes durable, as it does.
#[derive(Debug)]
struct Narrator;

impl Observer for Narrator {
    fn event(&self, event: &RunEvent) {
        match event.record().map(Record::entry) {
            Some(Entry::TurnFinished { reply, .. }) => {
                for call in reply.message().tool_calls() {
                    println!("\ncall     {} {}", call.name(), call.args().raw());
                }
            }
            Some(Entry::VerdictGiven { risk, rule, reason, .. }) => {
                println!("verdict  {risk} ({rule}): {reason}")
            }
            Some(Entry::ApprovalSettled { decision, .. }) => println!("answer   {decision}"),
            Some(Entry::ToolSettled { output, .. }) => println!("result   {output}"),
            _ => {}
        }
    }
}
