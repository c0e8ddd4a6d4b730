//! Who answers, what runs without asking, what ends a run, which tools there are.

use std::fs;

use serde_json::json;

use crate::model::{Model, Reply, calls, shell};
use crate::vanta::{Running, World};

fn write(path: &str) -> Reply {
    calls(&[("write_file", json!({"path": path, "content": "new"}))])
}

#[test]
fn plan_mode_changes_nothing() {
    let model = Model::start(vec![write("a.txt"), Reply::Text("Here is my plan.")]);
    let world = World::new(&model);
    world.vanta(&["run", "plan", "--mode", "plan", "--on-ask", "approve"]).is(0, &["not run"]);
    assert!(model.result().contains("plan mode"), "{}", model.result());
    assert!(!world.root().join("a.txt").exists());
}

#[test]
fn a_resumed_session_keeps_its_mode_and_its_model() {
    let model =
        Model::start(vec![write("a.txt"), Reply::Text("Planned."), write("b.txt"), Reply::Text("Still.")]);
    let world = World::new(&model);
    let url = model.url();
    let mut command =
        world.command(&["run", "plan", "--mode", "plan", "--base-url", &url, "--model", "special"]);
    command.env_remove("VANTA_OPENAI_BASE_URL");
    Running::start(command).end().is(0, &[]);
    let mut command = world.command(&["resume", "--last", "now do it"]);
    command.env_remove("VANTA_OPENAI_BASE_URL");
    Running::start(command).end().is(0, &[]);
    assert_eq!(model.requests().len(), 4);
    assert!(model.requests().iter().all(|request| request["model"] == "special"));
    assert!(!world.root().join("b.txt").exists());
    // What is given wins.
    world.vanta(&["resume", "--last", "go", "--model", "other"]).is(0, &[]);
    assert_eq!(model.requests().pop().unwrap()["model"], "other");
}

#[test]
fn notes_that_cannot_be_read_do_not_loosen_a_session() {
    let model = Model::start(vec![Reply::Text("Hm."), write("a.txt"), Reply::Text("Planned.")]);
    let world = World::new(&model);
    world.vanta(&["run", "plan", "--mode", "plan", "--tools", "write_file"]).is(0, &[]);
    let noted = world.log();
    world.rewrite_first_record(r#""mode":"plan""#, r#""mode":"careful""#);
    world.vanta(&["resume", "--last", "now do it"]).is(0, &["counts as plan", "not run"]);
    assert!(!world.root().join("a.txt").exists());
    for (good, bad) in [
        (r#""tools":["write_file"]"#, r#""tools":{"only":["write_file"]}"#),
        (r#""mode":"plan""#, r#""mode":"plan","max_turns":"few""#),
    ] {
        fs::write(world.log_path(), &noted).unwrap();
        world.rewrite_first_record(good, bad);
        world.vanta(&["resume", "--last", "now do it"]).is(16, &["newer build"]);
    }
    fs::write(world.log_path(), &noted).unwrap();
    world.rewrite_first_record(r#""mode":"plan""#, r#""mode":"plan","sandbox":true"#);
    world.vanta(&["resume", "--last", "now do it"]).is(0, &["does not know its `sandbox`"]);
    assert!(!world.root().join("a.txt").exists());
}

#[test]
fn accept_edits_overwrites_without_asking() {
    for (mode, code, content) in [("default", 10, "old"), ("accept-edits", 0, "new")] {
        let model = Model::start(vec![write("a.txt"), Reply::Text("Written.")]);
        let world = World::new(&model);
        fs::write(world.root().join("a.txt"), "old").unwrap();
        world.vanta(&["run", "write", "--mode", mode]).is(code, &[]);
        assert_eq!(world.file("a.txt"), content);
    }
}

#[test]
fn a_standing_answer_is_given_to_every_ask_and_to_no_block() {
    let script = || vec![shell("rm -rf old"), shell("rm -rf ~"), Reply::Text("Done.")];
    let model = Model::start(script());
    let world = World::new(&model);
    fs::create_dir(world.root().join("old")).unwrap();
    world.vanta(&["run", "clean", "--on-ask", "deny"]).is(0, &["not run"]);
    assert!(world.root().join("old").exists());

    let model = Model::start(script());
    let args = ["run", "clean", "--on-ask", "approve", "--base-url", &model.url()];
    world.vanta(&args).is(0, &["warning", "block"]);
    assert!(!world.root().join("old").exists());
    assert!(model.results()[1].1.contains("blocked"), "{:?}", model.results());
    // Nobody takes either for the answer of a person.
    let listed = world.vanta(&["approvals", "list", "--all", "--json"]).stdout;
    assert!(listed.contains("--on-ask deny") && listed.contains("--on-ask approve"), "{listed}");
}

#[test]
fn without_a_home_in_the_environment_the_home_is_still_outside() {
    let model = Model::start(vec![shell("cp a.txt ~/vanta-test-must-not-exist"), Reply::Text("Done.")]);
    let world = World::new(&model);
    let mut command = world.command(&["run", "copy"]);
    command.env_remove("HOME");
    Running::start(command).end().is(10, &["outside"]);
}

#[test]
fn every_limit_ends_the_run_and_resume_goes_on() {
    let list = || calls(&[("list_dir", json!({"path": "."}))]);
    for limit in [["--max-turns", "1"], ["--max-tokens", "10"], ["--max-tool-calls", "0"]] {
        let model = Model::start(vec![list(), Reply::Text("Done.")]);
        let world = World::new(&model);
        world
            .vanta(&["run", "look", limit[0], limit[1]])
            .is(4, &["limit", "vanta resume", &format!("{} N", limit[0])]);
        world.vanta(&["resume", "--last", limit[0], "1000"]).is(0, &[]);
    }
    let model = Model::start(vec![list()]);
    let ended = World::new(&model).vanta(&["run", "look", "--timeout", "1ms", "--json"]);
    ended.is(4, &[]);
    assert_eq!(ended.lines().pop().unwrap()["outcome"]["limit"], "wall_clock");
}

#[test]
fn a_model_that_does_not_come_back_is_not_waited_for_beyond_the_time_limit() {
    let model = Model::start(vec![Reply::Held(Box::new(Reply::Text("late")))]);
    let ended = World::new(&model).vanta(&["run", "look", "--timeout", "100ms", "--json"]);
    ended.is(4, &["vanta resume", "--timeout DUR"]);
    assert_eq!(ended.lines().pop().unwrap()["outcome"]["limit"], "wall_clock");
}

#[test]
fn only_the_tools_that_were_named_are_on_offer() {
    let model = Model::start(vec![shell("true"), Reply::Text("No shell.")]);
    let world = World::new(&model);
    world.vanta(&["run", "look", "--tools", "read_file,list_dir"]).is(0, &[]);
    let request = &model.requests()[0];
    let names: Vec<&str> = request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["list_dir", "read_file"]);
    assert!(model.result().contains("shell"), "{}", model.result());
}

#[test]
fn the_prompt_may_come_from_a_pipe() {
    let model = Model::start(vec![Reply::Text("Yes.")]);
    let world = World::new(&model);
    for args in [&["run"][..], &["run", "-"]] {
        let ended = world.piped(args, "Grüße\nand more\n".as_bytes());
        ended.is(0, &[]);
        assert_eq!(ended.stdout, "Yes.\n");
        let request = model.requests().pop().unwrap();
        assert!(request["messages"][1]["content"].to_string().contains("Grüße\\nand more"), "{request}");
    }
}

#[test]
fn the_kernel_answers_for_itself() {
    let world = World::without_model();
    let ended = world.vanta(&["kernel", "assess", "--root", "/srv/app", "--home", "/home/dev", "rm -rf ~"]);
    ended.is(0, &[]);
    assert!(ended.stdout.contains(r#""verdict":"block""#), "{ended:#?}");
    world.vanta(&["kernel", "assess", "--nonsense"]).is(2, &["--nonsense", "`vanta kernel assess --help`"]);
    world.vanta(&["kernel", "assess"]).is(2, &["one action", "`vanta kernel assess --help`"]);
    let help = world.vanta(&["kernel", "assess", "--help"]).stdout;
    assert!(help.contains("vanta kernel assess --root") && !help.contains("vanta-kernel"), "{help}");
    // The home is the user's, as for a run, unless one is named.
    let home = world.root().join("../home").canonicalize().unwrap();
    let copy = format!("rm -rf {}", home.display());
    let assess = |args: &[&str]| world.vanta(&[&["kernel", "assess", "--root", "/srv/app"], args].concat());
    assert!(assess(&[&copy]).stdout.contains(r#""verdict":"block""#));
    assert!(!assess(&["--home=/home/dev", &copy]).stdout.contains(r#""verdict":"block""#));
    let rows = br#"{"id":1,"kind":"read","action":"x","root":"/srv/app"}"#;
    world.piped(&["kernel", "assess", "--batch"], rows).is(0, &[]);
}
