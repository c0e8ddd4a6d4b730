//! `--json`: one object a line, `run_started` first, `run_finished` last, also when a signal comes.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::model::{Model, Reply, calls, shell};
use crate::vanta::{Running, World, tree, wait_until};

#[test]
fn a_run_with_a_tool() {
    let read = calls(&[("list_dir", json!({"path": "."}))]);
    let model = Model::start(vec![read, Reply::Text("Nothing here.")]);
    let world = World::new(&model);
    let ended = world.vanta(&["run", "look", "--json"]);
    ended.is(0, &[]);
    let lines = ended.lines();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    for kind in
        ["user_message", "turn_started", "tool_proposed", "verdict_given", "tool_settled", "text_delta"]
    {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let durable: Vec<u64> = lines
        .iter()
        .filter(|line| line.get("sub").is_none())
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    assert!(durable.is_sorted_by(|a, b| a < b), "{durable:?}");
    let last = lines.last().unwrap();
    assert_eq!(last["outcome"], json!({"kind": "done", "text": "Nothing here."}));
    assert_eq!(last["session_id"], json!(world.session()));
    assert_eq!((&last["usage"]["input"], &last["denied"]), (&json!(20), &json!(0)));
}

#[test]
fn signals_while_the_model_is_asked() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let model = Model::start(vec![Reply::Held(Box::new(Reply::Text("late")))]);
        let world = World::new(&model);
        let running = world.start(&["run", "wait", "--json"]);
        model.wait_for_requests(1);
        running.signal(signal);
        let ended = running.end();
        ended.is(code, &["vanta resume"]);
        assert_eq!(ended.lines().last().unwrap()["outcome"]["kind"], "cancelled");
    }
}

#[test]
fn a_signal_while_a_command_runs_stops_the_command() {
    let model = Model::start(vec![shell("echo $$ > pid; sleep 300"), Reply::Text("late")]);
    let world = World::new(&model);
    let running = world.start(&["run", "wait", "--json", "--on-ask", "approve"]);
    wait_until("the command", || world.file("pid").ends_with('\n'));
    running.signal(Signal::INT);
    let ended = running.end();
    ended.is(130, &[]);
    assert_eq!(ended.lines().last().unwrap()["outcome"]["kind"], "cancelled");
    let pid = world.file("pid").trim().to_owned();
    wait_until("the end of the command", || !std::path::Path::new("/proc").join(&pid).exists());
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let stubborn = shell("trap '' TERM; echo ready > ready; sleep 5; sleep 1");
    let model = Model::start(vec![stubborn, Reply::Text("late")]);
    let world = World::new(&model);
    let running = world.start(&["run", "wait", "--json", "--on-ask", "approve"]);
    wait_until("the command", || world.file("ready") == "ready\n");
    running.signal(Signal::INT);
    // The command has two seconds to end by itself; it will not.
    thread::sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    let ended = running.end();
    ended.is(130, &[]);
    assert_eq!(ended.lines().last().unwrap()["outcome"]["kind"], "cancelled");
    assert_eq!(world.count("tool_settled"), 0);
    world.vanta(&["resume", "--last"]).is(0, &["unknown"]);
}

#[test]
fn a_signal_before_the_run_begins_ends_the_process() {
    let model = Model::start(vec![Reply::Text("Hello.")]);
    let world = World::new(&model);
    world.vanta(&["run", "hi"]).is(0, &[]);
    // Opening a pipe that nobody else has open does not come back.
    let state = tree(&world.root().join("../state"));
    let (own, _) = state.iter().find(|(path, _)| path.ends_with("sessions")).unwrap();
    std::fs::remove_file(own).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(own).status().unwrap().success());
    for (args, signal, code) in [
        (&["run", "hi", "--json"][..], Signal::TERM, 143),
        (&["run", "hi", "--json"], Signal::INT, 130),
        (&["resume", "--last", "hi", "--json"], Signal::TERM, 143),
    ] {
        let running = world.start(args);
        wait_until("the watch for signals", || running.catches(Signal::HUP));
        running.signal(signal);
        let ended = running.end();
        ended.is(code, &[]);
        assert_eq!(ended.lines().last().unwrap()["outcome"]["kind"], "cancelled");
    }
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_run_that_could_not_begin_has_both_lines() {
    let world = World::without_model();
    let ended = world.vanta(&["run", "hello", "--json"]);
    ended.is(3, &["vanta demo"]);
    let lines = ended.lines();
    assert_eq!((lines.len(), &lines[1]["outcome"]["kind"]), (2, &json!("failed")));
    // There is no session that could be resumed.
    assert!(lines.iter().all(|line| line["session_id"].is_null()), "{lines:?}");
    assert_eq!(world.sessions(), [""; 0]);
    // A command line that makes no sense begins nothing.
    let ended = world.vanta(&["run", " ", "--json"]);
    ended.is(2, &["empty"]);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let model = Model::start(vec![Reply::Held(Box::new(Reply::Text("late")))]);
    let world = World::new(&model);
    let mut child = world
        .command(&["run", "hello", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("run_started"), "{first}");
    model.release();
    let ended = Running::adopt(child).end();
    assert_eq!(ended.code, 130);
    assert!(!ended.stderr.contains("error") && !ended.stderr.contains("panic"), "{ended:#?}");
}
