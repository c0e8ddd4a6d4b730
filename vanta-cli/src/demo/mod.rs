//! `vanta demo`: a whole run without a key and without a network.
//!
//! Only the model is a script (`script.rs`). The loop, the tools, the verdicts, the session, the receipts and the
//! test runs are the real ones, on a scratch copy of a small crate (`scratch.rs`). It succeeds when the test is
//! green, a person was asked and what was blocked did not run; anything else ends with code 1 and says why.

mod fence;
mod scratch;
mod script;
mod tell;

use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use serde_json::json;
use vanta_core::clock::{Clock, IdSource, RandomIds, SystemClock};
use vanta_core::gate::{LocalGate, StrictestOf};
use vanta_core::message::JsonObject;
use vanta_core::{Action, Agent, AgentBuilder, Outcome, Report, Risk, Scope, Task};
use vanta_kernel::assess;

use crate::approve::Answers;
use crate::args::{DemoArgs, OnAsk, RootArg};
use crate::exit::{DONE, FAILED, USAGE, of_error};
use crate::site::Site;
use crate::stop::Stop;
use crate::text::escaped;
use crate::{keys, out};
use fence::Fence;
use script::{ScriptedModel, TASK, TEST, WIPE};
use tell::{ScriptedPerson, Teller};

/// Runs the demo and gives the exit code.
pub(crate) async fn run(options: &DemoArgs) -> Result<u8> {
    let stop = Arc::new(Stop::default());
    let teller = Teller::new(options.json, &stop);
    let witness = teller.clone();
    stop.watch(move |code, why| {
        witness.fail("cancelled", why, code);
        keys::restore();
        std::process::exit(i32::from(code));
    })?;
    let played = play(options.dir.as_deref(), &teller, &stop).await;
    // A command line that makes no sense began nothing, so there is nothing to end.
    if let Some(error) = played.as_ref().err().filter(|error| of_error(error) != USAGE) {
        teller.fail("failed", &error.to_string(), of_error(error));
    }
    played
}

async fn play(dir: Option<&Path>, teller: &Teller, stop: &Arc<Stop>) -> Result<u8> {
    teller.say(LABEL);
    if !has_cargo() {
        bail!(
            "the demo runs `cargo test`, and there is no `cargo` on the path; install Rust from https://rustup.rs"
        );
    }
    let site = Site::open(&RootArg { dir: Some(scratch::make(dir)?) })?;
    teller.say(&format!("scratch crate: {}", escaped(&site.root().to_string_lossy())));
    let scope = site.scope()?;
    refuse_unless_blocked(&scope)?;

    let session = RandomIds.session_id(SystemClock.now());
    teller.name(&session);
    let agent = agent(&site, &scope, teller, stop)?;
    site.note_own(&session)?;
    let task = Task::new(TASK).session_id(session).cancel(stop.token().clone());
    stop.begin();
    let report = agent.run(task).await?;
    teller.sum_up(&report);
    let code = match report.outcome() {
        Outcome::Cancelled => stop.code(),
        _ => verdict_on(teller, &report, is_green(&scope).await?),
    };
    teller.say(&look_further(&site, &report));
    teller.finish(&report, code);
    Ok(code)
}

const LABEL: &str =
    "vanta demo: the model is scripted, so there is no key and no network; everything else is real";

/// Whether `cargo` is there, without starting anything.
fn has_cargo() -> bool {
    let is_program = |path: &Path| {
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| is_program(&dir.join("cargo")))
}

/// What the script must never get to run is judged before anything starts.
fn refuse_unless_blocked(scope: &Scope) -> Result<()> {
    let verdict = assess(&Action::shell(WIPE), scope);
    if verdict.risk() == Risk::Block {
        return Ok(());
    }
    bail!("`{WIPE}` would not be blocked here ({verdict}), so the demo does not start; please report this")
}

fn agent(site: &Site, scope: &Scope, teller: &Teller, stop: &Arc<Stop>) -> Result<Agent> {
    let builder =
        behind_the_fence(scope).provider(ScriptedModel::new()).on_disk(site.root())?.observer(teller.clone());
    let person = io::stdin().is_terminal() && io::stderr().is_terminal();
    let builder = if person {
        builder.approver(Answers::new(Some(OnAsk::Prompt), teller.paint(), Arc::clone(stop)))
    } else {
        builder.approver(ScriptedPerson(teller.clone()))
    };
    Ok(builder.build()?)
}

/// The built-in tools behind the kernel, and behind the demo's own fence.
fn behind_the_fence(scope: &Scope) -> AgentBuilder {
    Agent::builder()
        .tools(vanta_tools::builtin())
        .scope(scope.clone())
        .gate(StrictestOf::new(vec![Arc::new(LocalGate), Arc::new(Fence)]))
}

/// Runs the test once more, through the same gates and without the model: its word is no evidence.
async fn is_green(scope: &Scope) -> Result<bool> {
    let runner = behind_the_fence(scope).build()?.tool_runner();
    let args = JsonObject::from_iter([("command".to_owned(), json!(TEST))]);
    Ok(runner.call("shell", args).await?.output().is_ok())
}

/// The exit code, with a word on what is missing.
fn verdict_on(teller: &Teller, report: &Report, green: bool) -> u8 {
    let checks = [
        (green, "the test is green: the demo ran it once more itself", "the test is not green"),
        (teller.asked(), "what needs a person waited for an answer", "nobody was asked"),
        (
            teller.blocked(report),
            "what was blocked did not run",
            "nothing was blocked, or what was blocked has run",
        ),
    ];
    teller.say("");
    for (holds, yes, no) in checks {
        if holds { teller.say(&format!("checked: {yes}")) } else { out::note(&format!("error: {no}")) }
    }
    if checks.iter().all(|(holds, ..)| *holds) { DONE } else { FAILED }
}

fn look_further(site: &Site, report: &Report) -> String {
    let (id, root) = (report.session(), site.root_flag());
    format!(
        "\nsession: {}\nlook further:\n  vanta sessions show {id} {root}\n  vanta resume {id} {root}",
        escaped(&site.root().join(".vanta/sessions").join(id.as_str()).to_string_lossy())
    )
}
