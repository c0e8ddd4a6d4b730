//! `vanta sessions`: what there is, and what happened in one, as far as it can be read.

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};
use vanta_core::message::Message;
use vanta_core::session::{Entry, Record, SessionId, SessionLog, SessionStore, SessionSummary, StoreError};

use crate::args::SessionsCommand;
use crate::exit::{Complaint, DAMAGED, DONE};
use crate::out::{note, print_all};
use crate::render::label;
use crate::site::Site;
use crate::text::{escaped, one_line, utc, visible_lines};

pub(crate) async fn command(command: &SessionsCommand) -> Result<u8> {
    match command {
        SessionsCommand::List { root, json } => list(&Site::open(root)?, *json).await,
        SessionsCommand::Show { id, root, json } => show(&Site::open(root)?, id, *json).await,
    }
}

/// The session that was active last, of those that this user started here.
///
/// What came with a clone is not taken up unless it is named.
pub(crate) async fn last(site: &Site) -> Result<SessionId> {
    let all = summaries(site).await?;
    let own = all.iter().filter(|summary| site.is_own(summary.id()));
    if let Some(last) = own.max_by_key(|summary| summary.updated()) {
        return Ok(last.id().clone());
    }
    let root = escaped(&site.root().to_string_lossy());
    let complaint = if all.is_empty() {
        format!("there is no session in `{root}` yet; `vanta run` starts one, --root names another folder")
    } else {
        format!(
            "no session in `{root}` was started here by you, and --last takes no other; \
             `vanta sessions list` shows them, `vanta resume ID` goes on with one"
        )
    };
    Err(Complaint::Setup(complaint).into())
}

async fn summaries(site: &Site) -> Result<Vec<SessionSummary>> {
    match site.sessions()? {
        Some(store) => Ok(store.list().await?),
        None => Ok(Vec::new()),
    }
}

async fn list(site: &Site, json: bool) -> Result<u8> {
    let summaries = summaries(site).await?;
    if json {
        print_all(&format!("{}\n", json!({ "sessions": summaries })))?;
        return Ok(DONE);
    }
    if summaries.is_empty() {
        note("no sessions here yet; `vanta run` starts one");
    }
    let mut text = String::new();
    for summary in &summaries {
        let (when, task) = (utc(summary.updated().as_millis()), one_line(summary.task(), 60));
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{}  {when}  {:<17}  {task}", summary.id(), summary.status());
    }
    print_all(&text)?;
    Ok(DONE)
}

async fn show(site: &Site, id: &str, json: bool) -> Result<u8> {
    let id: SessionId = id.parse()?;
    let store = site.sessions()?.ok_or_else(|| StoreError::NotFound(id.clone()))?;
    let log = store.read(&id).await?;
    let text = if json { format!("{}\n", as_json(&id, &log)) } else { transcript(&id, log.records()) };
    print_all(&text)?;
    if log.torn_bytes() > 0 {
        note(&format!("note: {} bytes of an unfinished last line; resume sets them aside", log.torn_bytes()));
    }
    match log.damage() {
        // This command is what `complain` would name.
        Some(damage) => {
            let damaged = StoreError::Damaged { session: id, damage: damage.clone() };
            note(&format!("error: {}", crate::message(&damaged.into())));
            Ok(DAMAGED)
        }
        None => Ok(DONE),
    }
}

fn as_json(id: &SessionId, log: &SessionLog) -> Value {
    let record = |record: &Record| {
        let mut object: Map<String, Value> = record.entry().fields();
        object.insert("type".to_owned(), json!(record.entry().kind()));
        object.insert("seq".to_owned(), json!(record.seq()));
        object.insert("ts".to_owned(), json!(record.ts()));
        object
    };
    json!({
        "session_id": id,
        "records": log.records().iter().map(record).collect::<Vec<_>>(),
        "torn_bytes": log.torn_bytes(),
        "damage": log.damage().map(ToString::to_string),
    })
}

fn transcript(id: &SessionId, records: &[Record]) -> String {
    let mut text = format!("session {id}\n");
    for record in records {
        push_entry(&mut text, record);
    }
    text
}

fn push_entry(text: &mut String, record: &Record) {
    let mut say = |who: &str, what: &str| push_said(text, who, what);
    match record.entry() {
        Entry::SessionCreated { root, build, .. } => {
            say("begun", &format!("{} in {root} by {build}", utc(record.ts().as_millis())));
        }
        Entry::RunStarted { resumed: true } => say("resumed", &utc(record.ts().as_millis())),
        Entry::UserMessage { message } => say("user", &message.text()),
        Entry::TurnFinished { reply, .. } => push_reply(text, reply.message()),
        Entry::TurnCut { partial, .. } => say("model", &format!("{partial}\n[cut off]")),
        Entry::RetryScheduled { class, .. } => say("retry", class.as_str()),
        Entry::VerdictGiven { call, risk, rule, reason } => {
            say("verdict", &format!("{call}: {risk} ({rule}): {reason}"));
        }
        Entry::ApprovalRequested { call, approval, .. } => {
            say("asked", &format!("{call}: approval {approval}"))
        }
        Entry::ApprovalSettled { call, approval, decision } => {
            say("answered", &format!("{call}: approval {approval}: {decision}"));
        }
        Entry::RuleAdded { rule } => say("rule", &rule.to_string()),
        Entry::ToolEdited { call, args } => say("edited", &format!("{call}: {}", args.raw())),
        Entry::ToolStarted { call, attempt, .. } => say("started", &format!("{call}: attempt {attempt}")),
        Entry::ToolSettled { call, disposition, ok, output, .. } => {
            let word = if *ok { "ok" } else { "not ok" };
            say("result", &format!("{call}: {word}, effect {}\n{output}", disposition.as_str()));
        }
        Entry::LogRepaired { bytes } => {
            say("repaired", &format!("{bytes} bytes of a torn line were set aside"))
        }
        Entry::RunFinished { outcome, .. } => {
            say("ended", &format!("{}: {}", outcome.kind(), outcome.reason()))
        }
        _ => {}
    }
}

fn push_reply(text: &mut String, message: &Message) {
    let said = message.text();
    if !said.is_empty() {
        push_said(text, "model", &said);
    }
    for call in message.tool_calls() {
        push_said(text, "call", &format!("{}: {}", call.id(), label(call)));
    }
}

/// Who, then what; further lines are set in, so that a text cannot pose as another entry.
fn push_said(text: &mut String, who: &str, what: &str) {
    let what = visible_lines(what.trim_end());
    for (number, line) in what.split('\n').enumerate() {
        let who = if number == 0 { who } else { "" };
        let _ = writeln!(text, "{}", format!("{who:>9}  {line}").trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_several_lines_stays_one_entry() {
        let mut text = String::new();
        push_said(&mut text, "model", "one\n     user  two\x1b[0m\n");
        assert_eq!(text, "    model  one\n                user  two\\u{1b}[0m\n");
    }
}
