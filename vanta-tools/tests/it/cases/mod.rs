//! Runs the tool cases of `tests/data/` (`tools.jsonl` is shared by all crates with tools, `own.jsonl` adds to it), or
//! those of the file or folder that `VANTA_TOOL_CASES` names.
//!
//! Every case runs in a process of its own, started from this test binary, because cases set the environment and
//! the file mode mask of the agent and some of them try to kill it. `case.rs` reads a case, `stage.rs` prepares its
//! folder, `check.rs` compares.

mod case;
mod check;
mod stage;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use vanta_core::tool::ToolOutput;
use vanta_core::{CancelToken, ToolRegistry};
use vanta_tools::{Sandbox, Shell, builtin};

use crate::session::{self, Session};
use case::Case;
use stage::Stage;

/// How many cases run at once; most of them wait.
const WORKERS: usize = 4;

/// What a single case may take before it counts as hung, its own bound aside.
const CASE_LIMIT: Duration = Duration::from_secs(60);

#[test]
fn cases() {
    let cases = case::load();
    let known: Vec<String> = builtin().specs().iter().map(|spec| spec.name().to_owned()).collect();
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    let mut queue = Vec::new();
    for case in cases {
        match case.why_skipped(&known) {
            Some(why) => *skipped.entry(why).or_default() += 1,
            None => queue.push(case),
        }
    }
    queue.reverse();
    let (queue, done) = (Mutex::new(queue), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().unwrap().pop() else { break };
                    let failures = run_apart(&case);
                    done.lock().unwrap().push((case, failures));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by(|a, b| a.0.id.cmp(&b.0.id));
    let failed: Vec<_> = done.iter().filter(|(_, failures)| !failures.is_empty()).collect();
    for (case, failures) in &failed {
        println!("FAILED {}{} ({}): {}", case.id, case.stretch_mark(), case.title, failures.join("; "));
    }
    for (why, count) in &skipped {
        println!("skipped {count}: {why}");
    }
    println!("{} passed, {} failed", done.len() - failed.len(), failed.len());
    assert!(failed.iter().all(|(case, _)| case.stretch), "cases failed");
}

/// The other side of [`run_apart`]; does nothing in an ordinary run.
#[test]
fn one_case() {
    let Some(case) = std::env::var_os("VANTA_ONE_CASE") else { return };
    let answer = std::env::var_os("VANTA_ONE_CASE_ANSWER").unwrap();
    let case = Case::new(serde_json::from_slice(&fs::read(case).unwrap()).unwrap());
    fs::write(answer, json!(perform(&case)).to_string()).unwrap();
}

fn run_apart(case: &Case) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let (input, answer) = (dir.path().join("case"), dir.path().join("answer"));
    fs::write(&input, case.json.to_string()).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "cases::one_case", "--nocapture", "--test-threads=1"]);
    command.env("VANTA_ONE_CASE", &input).env("VANTA_ONE_CASE_ANSWER", &answer).envs(case.env());
    let log = fs::File::create(dir.path().join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let child = command.spawn().unwrap();
    let ended = reap(child, CASE_LIMIT);
    let log = || fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    match fs::read(&answer).ok().and_then(|answer| serde_json::from_slice(&answer).ok()) {
        Some(failures) => failures,
        None => vec![format!("the agent process did not answer ({ended}): {}", log())],
    }
}

fn reap(mut child: Child, limit: Duration) -> String {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return status.to_string();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    "still running at its limit".into()
}

/// Runs one case in this process and says what did not hold.
fn perform(case: &Case) -> Vec<String> {
    vanta_tools::hide_environment().unwrap();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(case.umask()));
    let dir = session::stage();
    let stage = Stage::new(dir.path());
    let json = stage.expand(&case.json);
    for entry in stage::list(&json["setup"]) {
        stage.put(entry);
    }
    // One thread: the tools must not need more.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let session = Session::new(&stage.root, tools(&json["config"]), case.approves());
    runtime.block_on(async {
        for step in stage::list(&json["before"]) {
            before(step, &stage, &session).await;
        }
        let snapshot = stage.snapshot();
        let begun = Instant::now();
        let output = call(&json, &session).await;
        check::failures(&json, &stage, &snapshot, &output, begun.elapsed()).await
    })
}

async fn before(step: &Value, stage: &Stage, session: &Session) {
    if let Some(call) = step.get("call") {
        session.call(call["tool"].as_str().unwrap(), &call["args"]).await;
    } else {
        stage.change(step);
    }
}

/// The call under test, with whatever runs beside it.
async fn call(json: &Value, session: &Session) -> ToolOutput {
    let cancel = CancelToken::new();
    let one = |call: &Value, cancel: &CancelToken| {
        let (tool, args) = (call["tool"].as_str().unwrap().to_owned(), call["args"].clone());
        let cancel = cancel.clone();
        async move { session.call_until(&tool, &args, cancel).await }
    };
    let others = stage::list(&json["parallel"]).map(|entry| one(&entry["call"], &CancelToken::new()));
    let others = join_all(others.collect::<Vec<_>>());
    let canceller = async {
        match json["cancel_after_ms"].as_u64() {
            Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            None => std::future::pending().await,
        }
        cancel.cancel();
        std::future::pending::<()>().await;
    };
    let tested = one(&json["call"], &cancel);
    tokio::select! {
        (output, _) = async { tokio::join!(tested, others) } => output,
        () = canceller => unreachable!("waits for ever"),
    }
}

/// The tools as the case's settings want them.
fn tools(config: &Value) -> ToolRegistry {
    let mut shell = Shell::new();
    let wanted = &config["shell"];
    if let Some(ms) = wanted["default_timeout_ms"].as_u64() {
        shell = shell.with_default_timeout(Duration::from_millis(ms));
    }
    for name in stage::list(&wanted["env_passthrough"]) {
        shell = shell.pass_env(name.as_str().unwrap());
    }
    shell = shell.with_sandbox(match wanted["sandbox"].as_str() {
        Some("require") => Sandbox::Require,
        Some("prefer") => Sandbox::Prefer,
        _ => Sandbox::Off,
    });
    builtin().with(shell)
}

/// Whether `program` is somewhere on the path.
fn has_program(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| Path::new(&dir).join(program).exists())
}
