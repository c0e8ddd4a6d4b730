//! Killed in the middle, then resumed.

use std::fs;

use crate::model::{Model, Reply, shell};
use crate::vanta::{Running, World, wait_until};

#[test]
fn an_effect_that_was_cut_off_is_unknown_and_not_repeated() {
    let model = Model::start(vec![shell("echo mark >> effects.txt; sleep 3"), Reply::Text("I looked.")]);
    let world = World::new(&model);
    let running = world.start(&["run", "mark it", "--on-ask", "approve"]);
    wait_until("the effect", || world.file("effects.txt") == "mark\n");
    running.kill();

    let resumed = world.vanta(&["resume", "--last"]);
    resumed.is(0, &["unknown"]);
    assert_eq!(resumed.stdout, "I looked.\n");
    assert_eq!(world.file("effects.txt"), "mark\n");
    assert!(model.result().contains("unknown"), "{}", model.result());
    assert_eq!((world.count("tool_started"), world.count("tool_settled")), (1, 1));
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_model_that_insists_needs_a_person() {
    let mark = || shell("echo mark >> effects.txt; sleep 3");
    let model = Model::start(vec![mark(), mark(), Reply::Text("Done.")]);
    let world = World::new(&model);
    let running = world.start(&["run", "mark it", "--on-ask", "approve"]);
    wait_until("the effect", || world.file("effects.txt") == "mark\n");
    running.kill();

    world.vanta(&["resume", "--last"]).is(10, &["vanta approvals approve", "interrupted"]);
    assert_eq!(world.file("effects.txt"), "mark\n");
}

#[test]
fn killed_while_the_model_talks_costs_one_more_request() {
    let model = Model::start(vec![Reply::Held(Box::new(Reply::Text("never"))), Reply::Text("Here.")]);
    let world = World::new(&model);
    let running = world.start(&["run", "hello"]);
    model.wait_for_requests(1);
    running.kill();

    let resumed = world.vanta(&["resume", "--last"]);
    resumed.is(0, &[]);
    assert_eq!((resumed.stdout.as_str(), model.requests().len()), ("Here.\n", 2));
}

#[test]
fn of_two_that_resume_at_once_one_is_told_that_the_other_does() {
    let held = || Reply::Held(Box::new(Reply::Text("Mine.")));
    let model = Model::start(vec![held()]);
    let world = World::new(&model);
    let running = world.start(&["run", "hello"]);
    model.wait_for_requests(1);
    running.kill();

    let both = [world.start(&["resume", "--last"]), world.start(&["resume", "--last"])];
    model.wait_for_requests(2);
    // One of them has to be told while the other still waits for its model.
    wait_until("a refusal", || both.iter().any(Running::has_ended));
    model.release();
    let ends = both.map(Running::end);
    let mut codes: Vec<i32> = ends.iter().map(|ended| ended.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 14], "{ends:#?}");
    let busy = ends.iter().find(|ended| ended.code == 14).unwrap();
    busy.is(14, &["in use by process"]);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_session_at_work_is_busy_for_others() {
    let model = Model::start(vec![Reply::Held(Box::new(Reply::Text("Mine.")))]);
    let world = World::new(&model);
    let running = world.start(&["run", "hello"]);
    model.wait_for_requests(1);
    let second = world.vanta(&["resume", &world.session(), "--json"]);
    second.is(14, &["in use by process"]);
    let lines = second.lines();
    assert_eq!(lines.last().unwrap()["outcome"]["kind"], "failed");
    model.release();
    assert_eq!(running.end().stdout, "Mine.\n");
}

#[test]
fn storage_that_fails_in_the_middle_means_no_effect() {
    let mark = Reply::Held(Box::new(shell("echo mark >> effects.txt")));
    let model = Model::start(vec![mark, shell("echo mark >> effects.txt"), Reply::Text("Done.")]);
    let world = World::new(&model);
    let running = world.start(&["run", "mark it", "--on-ask", "approve", "--json"]);
    model.wait_for_requests(1);
    let (log, aside) = (world.log_path(), world.root().join("aside"));
    fs::rename(&log, &aside).unwrap();
    fs::create_dir(&log).unwrap();
    model.release();
    let ended = running.end();
    ended.is(15, &["log.jsonl", "move it away"]);
    ended.lines();
    assert_eq!(world.file("effects.txt"), "");

    fs::remove_dir(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    world.vanta(&["resume", "--last", "--on-ask", "approve"]).is(0, &[]);
    assert_eq!(world.file("effects.txt"), "mark\n");
}
