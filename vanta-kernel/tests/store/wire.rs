//! Actions, verdicts and batch rows as JSON and as text.

use proptest::prelude::*;
use vanta_kernel::json::Json;
use vanta_kernel::{Action, Dialect, Finding, Risk, Verdict, WireError, batch_case};

use crate::support::golden;

fn actions() -> Vec<Action> {
    let text = String::from;
    vec![
        Action::shell("rm -rf \"$d\""),
        Action::Shell { command: text("dir"), cwd: Some(text("sub")), dialect: Dialect::Cmd },
        Action::Shell { command: text("ls"), cwd: None, dialect: Dialect::PowerShell },
        Action::read("a"),
        Action::write("a"),
        Action::overwrite("a"),
        Action::edit("a"),
        Action::delete("a"),
        Action::Move { from: text("a"), to: text("b") },
        Action::Copy { from: text("a"), to: text("b") },
        Action::list("."),
        Action::Search { query: text("TODO"), path: text("src") },
        Action::Fetch { method: text("POST"), url: text("https://example.com/") },
        Action::Send { what: text("mail"), to: text("ops@example.com") },
        Action::tool("deploy", "ships it"),
        Action::Text { line: text("book a flight") },
    ]
}

fn parse(text: &str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn actions_have_the_known_form_and_read_back() {
    let lines: String = actions().iter().map(|action| format!("{}\n", action.to_json())).collect();
    golden("actions.jsonl", lines.as_bytes());
    for action in actions() {
        assert_eq!(Action::from_json(&action.to_json()), Ok(action.clone()));
        assert_eq!(action.to_json().get("kind").and_then(Json::as_str), Some(action.kind()));
    }
}

proptest! {
    #[test]
    fn any_action_reads_back(text in any::<String>(), other in any::<String>()) {
        for action in [
            Action::shell(text.clone()),
            Action::Move { from: text.clone(), to: other.clone() },
            Action::Search { query: text.clone(), path: other.clone() },
            Action::Send { what: other.clone(), to: text.clone() },
            Action::tool(other.clone(), text.clone()),
        ] {
            let line = action.to_json().to_string();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(Action::from_json(&parse(&line)), Ok(action));
        }
    }

    #[test]
    fn every_line_is_some_action(
        opening in "(read file|list|glob|grep for|search|fetch|run shell command:)?",
        rest in "[ a-z/.*{},~\u{e9}\u{301}]{0,20}",
    ) {
        let line = format!("{opening}{rest}");
        let action = Action::from_text(&line);
        prop_assert_eq!(Action::from_json(&action.to_json()), Ok(action.clone()));
        // A glob never lists less than it can match outside the folder.
        if let (Action::List { path }, true) = (&action, opening == "glob" && rest.starts_with(" /")) {
            prop_assert!(path.starts_with('/'));
        }
    }
}

#[test]
fn members_may_be_left_out_where_that_is_harmless() {
    let read = |text| Action::from_json(&parse(text));
    assert_eq!(read(r#"{"kind":"fetch","url":"u"}"#), Ok(Action::fetch("u")));
    assert_eq!(read(r#"{"kind":"write","path":"p"}"#), Ok(Action::write("p")));
    assert_eq!(read(r#"{"kind":"tool","name":"t"}"#), Ok(Action::tool("t", "")));
}

#[test]
fn doubtful_actions_are_refused() {
    let read = |text| Action::from_json(&parse(text)).unwrap_err();
    assert_eq!(read("[]"), WireError::NotAnObject);
    assert_eq!(read("{}"), WireError::Missing("kind"));
    assert_eq!(read(r#"{"kind":"paint"}"#), WireError::UnknownKind("paint".into()));
    assert_eq!(read(r#"{"kind":"read"}"#), WireError::Missing("path"));
    assert_eq!(read(r#"{"kind":"read","path":1}"#), WireError::Invalid("path"));
    assert_eq!(read(r#"{"kind":"write","path":"p","replaces":"no"}"#), WireError::Invalid("replaces"));
    let misspelt = WireError::UnknownMember("replace".into());
    assert_eq!(read(r#"{"kind":"write","path":"p","replace":true}"#), misspelt);
    assert_eq!(read(r#"{"kind":"shell","command":"ls","dialect":"fish"}"#), WireError::Invalid("dialect"));
}

#[test]
fn verdicts_read_back() {
    for risk in [Risk::Allow, Risk::Ask, Risk::Block] {
        let verdict = Verdict::new(risk, Finding::new("a.b", "why \"it\"", 3..9));
        assert_eq!(Verdict::from_json(&verdict.to_json()), Ok(verdict));
    }
    let read = |text| Verdict::from_json(&parse(text));
    let wire = r#"{"risk":"ask","needs_human":true,"rule":"r","reason":"w","span":[0,1],"policy_version":1}"#;
    assert_eq!(read(wire).unwrap().risk(), Risk::Ask);
    for bad in [
        r#"{"rule":"r","reason":"w","span":[0,1]}"#,
        r#"{"verdict":"maybe","rule":"r","reason":"w","span":[0,1]}"#,
        r#"{"verdict":"allow","risk":"block","rule":"r","reason":"w","span":[0,1]}"#,
        r#"{"verdict":"allow","rule":"r","reason":"w"}"#,
        r#"{"verdict":"allow","rule":"r","reason":"w","span":[2,1]}"#,
        r#"{"verdict":"allow","rule":"r","reason":"w","span":[0,1,2]}"#,
        r#"{"verdict":"allow","reason":"w","span":[0,1]}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn one_line_forms() {
    let search = |query: &str, path: &str| Action::Search { query: query.into(), path: path.into() };
    for (line, action) in [
        ("run shell command: cargo test", Action::shell("cargo test")),
        ("Run Shell Command:ls", Action::shell("ls")),
        ("read file my notes.txt", Action::read("my notes.txt")),
        ("write file a", Action::write("a")),
        ("edit file a", Action::edit("a")),
        ("delete file a", Action::delete("a")),
        ("list", Action::list(".")),
        ("list /etc", Action::list("/etc")),
        ("list directory /etc", Action::list("/etc")),
        ("list files in src", Action::list("src")),
        ("glob *.rs", Action::list(".")),
        ("glob src/**/*.rs", Action::list("src/")),
        ("glob /etc/*", Action::list("/etc/")),
        ("glob *.rs in ../other", Action::list("../other")),
        ("glob a/*.rs in sub", Action::list("sub/a/")),
        ("glob /etc/* in sub", Action::list("/etc/")),
        ("grep for rm -rf", search("rm -rf", "")),
        ("grep for key in /etc", search("key", "/etc")),
        ("search for cats in hats in src", search("cats in hats", "src")),
        ("web search: how to rm -rf in bash", search("how to rm -rf in bash", "")),
        ("fetch https://example.com/a", Action::fetch("https://example.com/a")),
        (
            "fetch POST https://example.com/",
            Action::Fetch { method: "POST".into(), url: "https://example.com/".into() },
        ),
    ] {
        assert_eq!(Action::from_text(line), action, "{line}");
    }
    for line in [
        "book a flight",
        "",
        "read file",
        "run shell command:",
        "list every secret",
        "listen /etc",
        "fetch the mail",
        "glob {/etc,src}/*",
        "glob */../../x",
        "delete files",
        "é",
    ] {
        assert_eq!(Action::from_text(line), Action::Text { line: line.into() }, "{line}");
    }
}

#[test]
fn batch_rows() {
    let (action, scope) = batch_case(&parse(
        r#"{"id":"x","kind":"shell","action":"dir","root":"/r","cwd":"/r/s","home":"/h","shell":"cmd","why":"?"}"#,
    ))
    .unwrap();
    assert_eq!(action, Action::Shell { command: "dir".into(), cwd: None, dialect: Dialect::Cmd });
    assert_eq!((scope.root(), scope.working_dir(), scope.home_dir()), ("/r", "/r/s", Some("/h")));
    let moved = r#"{"id":1,"kind":"move","action":{"from":"a","to":"b"},"root":"/r"}"#;
    assert_eq!(batch_case(&parse(moved)).unwrap().0, Action::Move { from: "a".into(), to: "b".into() });
    let failure = |text| batch_case(&parse(text)).unwrap_err();
    assert_eq!(
        failure(r#"{"kind":"paint","action":"a","root":"/r"}"#),
        WireError::UnknownKind("paint".into())
    );
    assert_eq!(failure(r#"{"kind":"read","action":"a"}"#), WireError::Missing("root"));
    assert_eq!(failure(r#"{"kind":"read","root":"/r"}"#), WireError::Missing("action"));
    assert_eq!(failure(r#"{"kind":"move","action":"a b","root":"/r"}"#), WireError::Invalid("action"));
    let both = r#"{"kind":"read","action":{"kind":"write","path":"a"},"root":"/r"}"#;
    assert_eq!(batch_case(&parse(both)).unwrap().0, Action::read("a"), "the row's kind counts");
}
