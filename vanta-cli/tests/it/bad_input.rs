//! What users get wrong, and what servers do: a message that says what to do, the right exit code, nothing executed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::model::{Model, Reply, calls, shell};
use crate::vanta::{Running, World, tree};

#[test]
fn command_lines_that_make_no_sense() {
    let world = World::without_model();
    for (args, word) in [
        (&["run", "hi", "--no-such-flag"][..], "--no-such-flag"),
        (&["run", "hi", "--mode", "yolo"], "accept-edits"),
        (&["run", "hi", "--on-ask", "maybe"], "defer"),
        (&["run", "hi", "--timeout", "soon"], "90s"),
        (&["run", "hi", "--max-turns", "-1"], "-1"),
        (&["run", ""], "empty"),
        (&["run", " \n"], "empty"),
        (&["run"], "empty"),
        (&["run", "hi", "--tools", "shell,hammer"], "write_file"),
        (&["resume"], "--last"),
        (&["resume", "s-1", "hi", "--last"], "not both"),
        (&["nonsense"], "nonsense"),
        (&["sessions"], "list"),
        (&[], "Usage"),
    ] {
        let ended = world.vanta(args);
        ended.is(2, &[word]);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    assert_eq!(tree(&world.root()), []);
}

#[test]
fn prompts_that_are_too_much() {
    let model = Model::start(vec![Reply::Text("never")]);
    let world = World::new(&model);
    world.piped(&["run", "-"], &vec![b'a'; 2_000_000]).is(2, &["longer than 1048576 bytes"]);
    world.piped(&["run"], b"\xff\xfe").is(2, &["UTF-8"]);
    assert_eq!((model.requests().len(), tree(&world.root()).len()), (0, 0));
}

#[test]
fn no_model_to_talk_to() {
    let world = World::without_model();
    world.vanta(&["run", "hi"]).is(3, &["vanta demo", "OPENAI_API_KEY", "--provider ollama"]);
    world.vanta(&["run", "hi", "--provider", "nobody"]).is(3, &["`nobody`", "openrouter"]);
    world.vanta(&["run", "hi", "--provider", "groq", "--model", "m"]).is(3, &["GROQ_API_KEY"]);
    world.vanta(&["run", "hi", "--provider", "openai-compatible"]).is(3, &["--base-url"]);
    world.vanta(&["run", "hi", "--base-url", "not a url"]).is(3, &["--base-url"]);
    world.vanta(&["run", "hi", "--base-url", "127.0.0.1:8080"]).is(3, &["add http://"]);
    let mut command = world.command(&["run", "hi"]);
    command.env("OPENAI_API_KEY", "sk-not-shown");
    let ended = Running::start(command).end();
    ended.is(3, &["--model"]);
    let mut command = world.command(&["run", "hi"]);
    command.env("VANTA_MAX_ITER", "many");
    Running::start(command).end().is(3, &["VANTA_MAX_ITER"]);
}

#[test]
fn credentials_in_an_address_are_refused_and_written_nowhere() {
    let world = World::without_model();
    for url in ["http://user:s3cret@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?key=s3cret"] {
        let ended = world.vanta(&["run", "hi", "--base-url", url, "--json"]);
        ended.is(3, &["OPENAI_API_KEY"]);
        let mut command = world.command(&["run", "hi", "--provider", "groq", "--model", "m"]);
        command.env("VANTA_OPENAI_BASE_URL", url).env("VANTA_PROVIDER", "openai-compatible");
        let other = Running::start(command).end();
        assert!(!format!("{ended:?}{other:?}").contains("s3cret"), "{ended:#?} {other:#?}");
        let left = tree(&world.root());
        assert!(left.iter().all(|(_, bytes)| !String::from_utf8_lossy(bytes).contains("s3cret")), "{left:?}");
    }
}

#[test]
fn a_root_with_a_bad_name_cannot_move_the_cursor() {
    let model = Model::start(vec![shell("rm -rf old"), Reply::Text("Done.")]);
    let world = World::new(&model);
    let root = world.root().join("a\u{1b}[2J\nb'\u{202e}");
    fs::create_dir_all(root.join("old")).unwrap();
    let root = root.to_str().unwrap();
    let asked = world.vanta(&["run", "clean up", "--root", root]);
    asked.is(10, &[r"/a\033[2J\012b\'\342\200\256'"]);
    let missing = world.vanta(&["run", "hi", "--root", &format!("{root}/missing")]);
    missing.is(3, &["cannot work in"]);
    for ended in [&asked, &missing] {
        assert!(
            !ended.stderr.contains(['\u{1b}', '\u{202e}']) && !ended.stderr.contains("\nb'"),
            "{ended:#?}"
        );
    }
    // What is shown can be pasted.
    let line = asked.stderr.lines().find_map(|line| line.trim().strip_prefix("vanta approvals approve "));
    let script = format!(r#"exec "$VANTA" approvals approve {}"#, line.unwrap());
    let mut bash = world.command(&[]);
    let mut pasted = std::process::Command::new("bash");
    pasted.args(["-c", &script]).env("VANTA", bash.get_program()).env_remove("VANTA_ROOT");
    pasted.envs(bash.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.stdin(std::process::Stdio::null());
    Running::start(pasted).end().is(0, &["approved"]);
}

#[test]
fn servers_that_do_not_answer_as_they_should() {
    const ERROR: &str = r#"{"error": {"message": "no such thing", "type": "invalid_request_error"}}"#;
    let json = "application/json";
    for (reply, code, words) in [
        (Reply::Raw(404, json, ERROR), 1, &["--base-url", "--model"][..]),
        (Reply::Raw(404, "text/html", "<html><body>Not Found</body></html>"), 1, &["--base-url"]),
        (Reply::Raw(401, json, ERROR), 3, &["key"]),
        (Reply::Raw(403, json, ERROR), 3, &["key"]),
        (Reply::Raw(500, json, ERROR), 1, &["vanta resume"]),
        (Reply::Raw(200, "text/html", "<!doctype html><p>Welcome"), 1, &["--base-url"]),
        (Reply::Raw(200, "text/event-stream", "data: {nonsense\n\n"), 1, &["vanta resume"]),
        (Reply::Raw(200, "text/event-stream", ""), 1, &["vanta resume"]),
        (Reply::Truncated("Half an ans"), 1, &["vanta resume"]),
    ] {
        let model = Model::start(vec![reply.clone()]);
        let world = World::new(&model);
        let ended = world.vanta(&["run", "hi", "--json"]);
        ended.is(code, words);
        let last = ended.lines().pop().unwrap();
        assert_eq!(last["outcome"]["kind"], "provider_failed", "{reply:?}");
        assert_eq!(world.count("tool_started"), 0);
    }
}

#[test]
fn a_call_in_a_stream_that_was_cut_off_does_not_run() {
    let cut = r#"data: {"id":"r","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"shell","arguments":"{\"command\":\"touch ran\"}"}}]},"finish_reason":null}]}

"#;
    let model = Model::start(vec![Reply::Raw(200, "text/event-stream", cut)]);
    let world = World::new(&model);
    world.vanta(&["run", "hi", "--on-ask", "approve"]).is(1, &[]);
    assert!(!world.root().join("ran").exists());
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let world = World::without_model();
    let url = format!("http://127.0.0.1:{port}/v1");
    world.vanta(&["run", "hi", "--base-url", &url]).is(1, &["check that the server runs", "vanta resume"]);
}

#[test]
fn calls_that_make_no_sense_are_answered_and_not_run() {
    for (name, arguments) in [
        ("shell", r#"{"command": "touch ran""#.to_owned()),
        ("shell", "touch ran".to_owned()),
        ("shell", r#"{"cmd": "touch ran"}"#.to_owned()),
        ("shell", r#"{"command": ["touch", "ran"]}"#.to_owned()),
        ("hammer", r#"{"command": "touch ran"}"#.to_owned()),
    ] {
        let model = Model::start(vec![Reply::Calls(vec![(name, arguments)]), Reply::Text("Sorry.")]);
        let world = World::new(&model);
        world.vanta(&["run", "hi", "--on-ask", "approve"]).is(0, &["not run"]);
        assert_eq!((world.count("tool_started"), world.root().join("ran").exists()), (0, false));
        assert!(!model.result().is_empty());
    }
}

#[test]
fn roots_that_cannot_be_used() {
    let model = Model::start(vec![Reply::Text("never")]);
    let world = World::new(&model);
    let root = world.root();
    let missing = root.join("missing");
    fs::write(root.join("file"), "").unwrap();
    let closed = root.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let mut unusable = vec![missing, root.join("file")];
    // Root reads everything.
    if fs::read_dir(&closed).is_err() {
        unusable.push(closed);
    }
    for dir in &unusable {
        let dir = dir.to_str().unwrap();
        world.vanta(&["run", "hi", "--root", dir]).is(3, &["--root", dir]);
        world.vanta(&["sessions", "list", "--root", dir]).is(3, &["--root", dir]);
    }
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn storage_that_refuses() {
    let model = Model::start(vec![Reply::Text("never")]);
    for name in ["sessions", "tool-effects.jsonl/x", "approvals.tsv/x", "events.jsonl/x"] {
        let world = World::new(&model);
        let path = world.root().join(".vanta").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let ended = world.vanta(&["run", "hi", "--json"]);
        ended.is(15, &[name.trim_end_matches("/x")]);
        ended.lines();
    }
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let model = Model::start(vec![Reply::Text("lost")]);
    let world = World::new(&model);
    let child =
        world.command(&["run", "hi"]).stdout(full).stderr(std::process::Stdio::piped()).spawn().unwrap();
    Running::adopt(child).end().is(1, &["cannot write to stdout"]);
}

#[test]
fn sessions_that_are_not_there() {
    let model = Model::start(vec![Reply::Text("Hello.")]);
    let world = World::new(&model);
    let root = world.root().display().to_string();
    world.vanta(&["resume", "--last"]).is(3, &["no session", &root, "--root"]);
    world.vanta(&["resume", "s-1"]).is(3, &["no session `s-1`", "vanta sessions list"]);
    world.vanta(&["run", "hi"]).is(0, &[]);
    world.vanta(&["resume", "s-1"]).is(3, &["no session `s-1`", "vanta sessions list"]);
    world.vanta(&["resume", "../../etc"]).is(3, &["no session id", "vanta sessions list"]);
    world.vanta(&["sessions", "show", "s-1"]).is(3, &["no session `s-1`", "vanta sessions list"]);
    let lines = world.vanta(&["resume", "s-1", "--json"]).lines();
    assert!(lines.iter().all(|line| line["session_id"].is_null()), "{lines:?}");
}

#[test]
fn a_damaged_session_is_shown_and_left_alone() {
    let list = calls(&[("list_dir", json!({"path": "."}))]);
    let model = Model::start(vec![list, Reply::Text("never")]);
    let world = World::new(&model);
    world.vanta(&["run", "look around", "--max-turns", "1"]).is(4, &[]);
    let path = world.log_path();
    let log = fs::read_to_string(&path).unwrap();
    let damaged = log.replacen("tool_settled", "tool_zettled", 1);
    fs::write(&path, &damaged).unwrap();

    world.vanta(&["resume", "--last"]).is(17, &["is damaged at line"]);
    let resumed = world.vanta(&["resume", "--last", "--json", "go"]);
    resumed.is(17, &["sessions show"]);
    assert_eq!(resumed.lines()[0]["session_id"], json!(world.session()));
    let shown = world.vanta(&["sessions", "show", &world.session()]);
    shown.is(17, &["is damaged at line"]);
    assert!(shown.stdout.contains("look around") && !shown.stderr.contains("hint"), "{shown:#?}");
    let listed = world.vanta(&["sessions", "list"]);
    assert!(listed.stdout.contains("damaged"), "{listed:#?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_session_that_came_with_a_clone_loosens_nothing() {
    let model = Model::start(vec![Reply::Text("never")]);
    let evil = Model::start(vec![Reply::Text("got it")]);
    let world = World::new(&evil);
    world.vanta(&["run", "hi", "--mode", "auto"]).is(0, &[]);
    // The state folder did not come along.
    let state = world.root().join("../elsewhere");
    let resume = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("XDG_STATE_HOME", &state).env_remove("VANTA_OPENAI_BASE_URL");
        Running::start(command).end()
    };
    let (id, url) = (world.session(), model.url());
    resume(&["resume", "--last", "again"]).is(3, &["vanta sessions list", "vanta resume ID"]);
    resume(&["resume", "--last", "again", "--base-url", &url]).is(3, &["vanta resume ID"]);
    resume(&["resume", &id, "again"]).is(3, &["not started here by you", "vanta demo"]);
    // Even where nothing of it counts, and nothing runs.
    resume(&["resume", &id]).is(0, &["not started here by you"]);
    assert_eq!((evil.requests().len(), model.requests().len()), (1, 0));
    resume(&["resume", &id, "again", "--base-url", &url]).is(0, &["not started here by you"]);
    assert_eq!((evil.requests().len(), model.requests().len()), (1, 1));
}
