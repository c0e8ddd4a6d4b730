//! An Ask without a terminal: the run ends, any process answers, `resume` goes on.

use std::fs;

use serde_json::Value;

use crate::model::{Model, Reply, shell};
use crate::vanta::{Ended, World, tree};

/// Asked about because it deletes; harmless here.
const DELETE: &str = "echo ran >> effects.txt; rm -rf old";

fn waiting() -> (Model, World) {
    let model = Model::start(vec![shell(DELETE), Reply::Text("All done.")]);
    let world = World::new(&model);
    fs::create_dir(world.root().join("old")).unwrap();
    let ended = world.vanta(&["run", "clean up"]);
    let (root, session) = (world.root().display().to_string(), world.session());
    ended.is(
        10,
        &[
            &format!("vanta approvals approve 1 --root {root}"),
            &format!("vanta resume {session} --root {root}"),
        ],
    );
    assert_eq!(ended.stdout, "");
    assert_eq!(world.file("effects.txt"), "");
    (model, world)
}

#[test]
fn approved_elsewhere_it_runs_once() {
    let (model, world) = waiting();
    world.vanta(&["approvals", "approve", "1"]).is(0, &["vanta resume"]);
    let resumed = world.vanta(&["resume", &world.session()]);
    resumed.is(0, &[]);
    assert_eq!(resumed.stdout, "All done.\n");
    assert_eq!(world.file("effects.txt"), "ran\n");
    assert_eq!(model.requests().len(), 2);
    assert!(model.result().contains("[exit code 0"), "{}", model.result());
    assert_eq!(list(&world, &[]), 0);

    // There is nothing to go on with: no request, no key, no change of any file.
    let before = tree(&world.root());
    for args in [&["resume", "--last"][..], &["resume", "--last", "--json"]] {
        let mut command = world.command(args);
        command.env_remove("VANTA_OPENAI_BASE_URL");
        let again = crate::vanta::Running::start(command).end();
        again.is(0, &[]);
        assert!(again.stdout.contains("All done."), "{again:#?}");
    }
    assert_eq!(tree(&world.root()), before);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn denied_elsewhere_it_does_not_run_and_the_model_is_told() {
    let (model, world) = waiting();
    world.vanta(&["approvals", "deny", "1"]).is(0, &[]);
    world.vanta(&["resume", "--last"]).is(0, &["not run"]);
    assert_eq!(world.file("effects.txt"), "");
    assert!(model.result().contains("the user said no"), "{}", model.result());
}

#[test]
fn unanswered_it_goes_on_waiting() {
    let (model, world) = waiting();
    let resumed = world.vanta(&["resume", "--last", "--json"]);
    resumed.is(10, &["vanta approvals approve 1"]);
    let last = resumed.lines().pop().unwrap();
    assert_eq!(last["outcome"]["approvals"], serde_json::json!([1]));
    assert_eq!((model.requests().len(), list(&world, &[])), (1, 1));
}

#[test]
fn an_approval_is_for_the_script_as_it_was() {
    let model = Model::start(vec![shell("bash deploy.sh"), Reply::Text("Deployed.")]);
    let world = World::new(&model);
    let script = world.root().join("deploy.sh");
    fs::write(&script, "echo ran >> effects.txt; git push\n").unwrap();
    world.vanta(&["run", "deploy"]).is(10, &["approve 1"]);
    world.vanta(&["approvals", "approve", "1"]).is(0, &[]);
    fs::write(&script, "echo other >> effects.txt; git push\n").unwrap();
    world.vanta(&["resume", "--last"]).is(10, &["approve 2"]);
    assert_eq!(world.file("effects.txt"), "");

    world.vanta(&["approvals", "approve", "2"]).is(0, &[]);
    world.vanta(&["resume", "--last"]).is(0, &[]);
    assert_eq!(world.file("effects.txt"), "other\n");
}

#[test]
fn each_way_an_answer_can_fail_is_told_apart() {
    let (_model, world) = waiting();
    world.vanta(&["approvals", "approve", "7"]).is(3, &["no approval 7", "vanta approvals list --all"]);
    world.vanta(&["approvals", "approve", "seven"]).is(2, &["seven"]);
    world.vanta(&["approvals", "approve", "1"]).is(0, &[]);
    world.vanta(&["approvals", "approve", "1"]).is(5, &["already decided"]);
    world.vanta(&["approvals", "deny", "1"]).is(5, &["already decided"]);
    assert_eq!((list(&world, &[]), list(&world, &["--all"])), (0, 1));

    let path = world.root().join(".vanta/approvals.tsv");
    let rows = fs::read_to_string(&path).unwrap();
    fs::write(&path, rows.replacen("clean", "cleam", 1).replacen("rm ", "mr ", 1)).unwrap();
    world.vanta(&["approvals", "deny", "1"]).is(17, &["damaged"]);
    world.vanta(&["resume", "--last"]).is(17, &["damaged"]);
    assert_eq!(world.file("effects.txt"), "");
}

#[test]
fn where_nobody_ever_asked_there_is_nothing_and_nothing_is_made() {
    let world = World::without_model();
    assert_eq!(list(&world, &[]), 0);
    world.vanta(&["approvals", "approve", "1"]).is(3, &["no approval 1"]);
    world.vanta(&["approvals", "list"]).is(0, &["nothing waits"]);
    assert_eq!(tree(&world.root()), []);
}

/// How many items the list holds.
#[track_caller]
fn list(world: &World, more: &[&str]) -> usize {
    let ended: Ended = world.vanta(&[&["approvals", "list", "--json"], more].concat());
    ended.is(0, &[]);
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    object["approvals"].as_array().unwrap().len()
}
