//! A run that stops for a person and a second agent that goes on: the effect happens once.
//!
//! Run it with `cargo run -p vanta-examples --example resume_session`. The session and the approvals are files below a
//! folder, so the run, the answer and the run that goes on may be three processes on three days.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::bail;
use serde_json::json;
use vanta_core::ledger::Answer;
use vanta_core::ledger::{FileLedger, Operator};
use vanta_core::testing::ScriptedProvider;
use vanta_core::typed::tool_fn;
use vanta_core::{Action, Agent, LlmProvider, Outcome, Scope, Task, ToolOutput, ToolRegistry};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Invoice {
    customer: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let sent = root.join("sent.log");

    // Monday. The kernel asks about what is sent to people, nobody is here to answer, and so the run ends.
    let model = ScriptedProvider::new().call("send_invoice", json!({"customer": "ada@example.org"}));
    let report = agent(&root, model)?.run("Send Ada her invoice").await?;
    let Outcome::AwaitingApproval { approvals } = report.outcome() else { bail!("nobody was asked") };
    println!("monday     {}", report.outcome().reason());
    println!("           invoices sent: {}", lines(&sent));

    // Tuesday. A person looks at the queue and says yes; `vanta approvals approve` does the same.
    let ledger = FileLedger::open(&root)?;
    for item in ledger.approvals().await?.iter().filter(|item| approvals.contains(&item.id().get())) {
        println!("tuesday    approval {}: {}", item.id(), item.reason());
        ledger.decide(item.id(), Answer::Approve, "example").await?;
    }

    // Wednesday. Another agent takes the session up. The approval holds for exactly this call, and once.
    let session = report.session().clone();
    let model = ScriptedProvider::new().text("Ada has her invoice.");
    let report = agent(&root, model)?.run(Task::resume(session.clone())).await?;
    println!("wednesday  {}", report.text().unwrap_or_default());
    println!("           invoices sent: {}", lines(&sent));

    // Resumed once more by mistake: the session is finished, the model is not asked, nothing is sent.
    let report = agent(&root, ScriptedProvider::new())?.run(Task::resume(session)).await?;
    println!("again      {}", report.outcome().reason());
    println!("           invoices sent: {}", lines(&sent));
    Ok(())
}

/// An agent whose sessions, approvals and receipts lie in `.vanta/` below `root`.
fn agent(root: &Path, model: impl LlmProvider + 'static) -> anyhow::Result<Agent> {
    let sent = root.join("sent.log");
    let send = tool_fn("send_invoice", "Mails an invoice", move |invoice: Invoice| {
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&sent)
            .and_then(|mut file| writeln!(file, "{}", invoice.customer));
        async move {
            written.map_or_else(|error| ToolOutput::fail(error.to_string()), |()| ToolOutput::ok("sent"))
        }
    })
    .describing(|invoice: &Invoice| vec![Action::Send { what: "mail".into(), to: invoice.customer.clone() }]);
    let tools = ToolRegistry::new().with(send);
    let scope = Scope::new(root.to_string_lossy());
    Ok(Agent::builder().provider(model).tools(tools).scope(scope).on_disk(root)?.build()?)
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}
