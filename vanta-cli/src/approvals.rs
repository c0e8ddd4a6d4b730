//! `vanta approvals`: what waits for a person, and the answer. Works on the files, whoever else has them open.

use std::fmt::Write;

use anyhow::Result;
use vanta_core::ledger::{LedgerError, Operator};
use vanta_kernel::json::Json;
use vanta_kernel::{Answer, Approval, ApprovalId, ApprovalStatus};

use crate::approve::action_text;
use crate::args::{AnswerArgs, ApprovalsCommand};
use crate::exit::DONE;
use crate::out::{note, print_all};
use crate::site::Site;
use crate::text::{one_line, quoted, utc};

pub(crate) async fn command(command: &ApprovalsCommand) -> Result<u8> {
    match command {
        ApprovalsCommand::List { all, root, json } => list(&Site::open(root)?, *all, *json).await,
        ApprovalsCommand::Approve(args) => answer(args, Answer::Approve).await,
        ApprovalsCommand::Deny(args) => answer(args, Answer::Deny).await,
    }
}

async fn list(site: &Site, all: bool, json: bool) -> Result<u8> {
    let mut items = match site.ledger()? {
        Some(ledger) => ledger.approvals().await?,
        None => Vec::new(),
    };
    items.retain(|item| all || item.status() == ApprovalStatus::Proposed);
    if json {
        let items = items.iter().map(Approval::to_json).collect();
        print_all(&format!("{}\n", Json::object([("approvals", Json::Array(items))])))?;
        return Ok(DONE);
    }
    if items.is_empty() {
        note("nothing waits for an answer");
    }
    print_all(&items.iter().map(described).collect::<String>())?;
    Ok(DONE)
}

fn described(item: &Approval) -> String {
    let acts: Vec<String> = item.actions().iter().map(action_text).collect();
    let mut text = format!("{}  {:<8}  {}\n", item.id(), item.status(), one_line(&acts.join("; "), 200));
    // Writing into a String cannot fail.
    let _ = writeln!(text, "    {} ({})", one_line(item.reason(), 200), item.rule());
    let (session, expires) = (one_line(item.session(), 64), utc(item.expires_ms()));
    let _ = writeln!(text, "    session {session}, lapses {expires}");
    text
}

async fn answer(args: &AnswerArgs, answer: Answer) -> Result<u8> {
    let site = Site::open(&args.root)?;
    let id = ApprovalId::new(args.id);
    let ledger = site.ledger()?.ok_or(LedgerError::Unknown(id))?;
    let item = ledger.decide(id, answer, "command line").await?;
    if args.json {
        print_all(&format!("{}\n", item.to_json()))?;
    }
    let word = if answer == Answer::Approve { "approved" } else { "denied" };
    let acts: Vec<String> = item.actions().iter().map(action_text).collect();
    note(&format!(
        "{id} is {word}: {}\ngo on with: vanta resume {} {}",
        one_line(&acts.join("; "), 200),
        quoted(item.session()),
        site.root_flag()
    ));
    Ok(DONE)
}
