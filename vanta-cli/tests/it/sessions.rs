//! `sessions list` and `show`, and a log whose last line was cut.

use std::fs;

use serde_json::{Value, json};

use crate::model::{Model, Reply, calls};
use crate::vanta::{World, tree};

fn one() -> (Model, World) {
    let read = calls(&[("read_file", json!({"path": "a.txt"}))]);
    let model = Model::start(vec![read, Reply::Text("It says \u{1b}[31mhello.")]);
    let world = World::new(&model);
    fs::write(world.root().join("a.txt"), "hello").unwrap();
    world.vanta(&["run", "What does a.txt say?"]).is(0, &["read_file `a.txt`", "0 denied"]);
    (model, world)
}

#[test]
fn where_nothing_ran_there_is_nothing_and_nothing_is_made() {
    let world = World::without_model();
    let ended = world.vanta(&["sessions", "list", "--json"]);
    ended.is(0, &[]);
    assert_eq!(ended.stdout, "{\"sessions\":[]}\n");
    world.vanta(&["sessions", "list"]).is(0, &["vanta run"]);
    assert_eq!(tree(&world.root()), []);
}

#[test]
fn the_list_names_each_session_with_its_task() {
    let (_model, world) = one();
    let ended = world.vanta(&["sessions", "list"]);
    for word in [world.session().as_str(), "done", "What does a.txt say?"] {
        assert!(ended.stdout.contains(word), "{word}: {ended:#?}");
    }
    let ended = world.vanta(&["sessions", "list", "--json"]);
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    let [session] = object["sessions"].as_array().unwrap().as_slice() else { panic!("{object}") };
    assert_eq!((&session["id"], &session["status"]), (&json!(world.session()), &json!("done")));
}

#[test]
fn a_transcript_is_readable_and_harmless() {
    let (_model, world) = one();
    let before = tree(&world.root());
    let ended = world.vanta(&["sessions", "show", &world.session()]);
    ended.is(0, &[]);
    for word in ["What does a.txt say?", "read_file `a.txt`", "allow", "hello", "ended  done"] {
        assert!(ended.stdout.contains(word), "{word}: {ended:#?}");
    }
    assert!(!ended.stdout.contains('\u{1b}'), "{ended:#?}");
    let ended = world.vanta(&["sessions", "show", &world.session(), "--json"]);
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(object["session_id"], json!(world.session()));
    assert_eq!(object["records"][0]["type"], "session_created");
    assert_eq!(object["damage"], Value::Null);
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn a_torn_last_line_is_set_aside() {
    let (model, world) = one();
    let path = world.log_path();
    let log = fs::read_to_string(&path).unwrap();
    let whole = log.trim_end().rfind('\n').unwrap() + 1;
    fs::write(&path, &log[..whole + 20]).unwrap();
    world.vanta(&["sessions", "show", &world.session()]).is(0, &["unfinished last line"]);
    // The outcome is what was lost; the answer is there, so no request is needed.
    let resumed = world.vanta(&["resume", "--last"]);
    resumed.is(0, &[]);
    assert!(resumed.stdout.contains("It says"), "{resumed:#?}");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_log_of_a_later_version_is_left_alone() {
    let (model, world) = one();
    world.rewrite_first_record(r#""min_reader":1"#, r#""min_reader":99"#);
    let newer = world.log();
    let session = world.session();
    for args in [&["resume", &session][..], &["resume", &session, "go"], &["sessions", "show", &session]] {
        world.vanta(args).is(16, &["newer build"]);
    }
    assert_eq!(world.log(), newer);
    assert_eq!(model.requests().len(), 2);
}
