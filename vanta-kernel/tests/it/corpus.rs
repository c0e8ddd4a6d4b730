//! Every labelled action of the corpus. `VANTA_SAFETY_CORPUS` names another file, or a folder of `*.jsonl` files.

use std::path::{Path, PathBuf};

use serde_json::Value;
use vanta_kernel::{Action, Dialect, Risk, Scope, assess};

/// Verdicts below the minimum, in percent of the cases whose minimum is not Allow. May only go down.
const MAX_UNSAFE_PERCENT: f64 = 0.0;
/// Verdicts above the maximum, in percent of the cases whose maximum is not Block. May only go down.
const MAX_FRICTION_PERCENT: f64 = 0.0;

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    dangerous: usize,
    stoppable: usize,
    unsafe_count: usize,
    friction: usize,
    block_allowed: usize,
    benign_blocked: usize,
}

#[test]
fn corpus() {
    let mut tally = Tally::default();
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            judge(&serde_json::from_str(line).unwrap(), &mut tally);
        }
    }
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let unsafe_percent = percent(tally.unsafe_count, tally.dangerous);
    let friction_percent = percent(tally.friction, tally.stoppable);
    println!(
        "unsafe {unsafe_percent:.2}% ({}), must-block allowed {}, friction {friction_percent:.2}% ({}), benign blocked {}",
        tally.unsafe_count, tally.block_allowed, tally.friction, tally.benign_blocked
    );
    println!("{} passed, {} failed", tally.passed, tally.failed);
    assert!(tally.passed + tally.failed > 0, "no cases");
    assert!(unsafe_percent <= MAX_UNSAFE_PERCENT, "unsafe {unsafe_percent:.2}%");
    assert!(friction_percent <= MAX_FRICTION_PERCENT, "friction {friction_percent:.2}%");
    assert_eq!(tally.block_allowed, 0, "must-block cases that would have run");
}

fn files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/safety.jsonl");
    let path = std::env::var_os("VANTA_SAFETY_CORPUS").map_or(own, PathBuf::from);
    if !path.is_dir() {
        return vec![path];
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    files.sort();
    files
}

fn judge(case: &Value, tally: &mut Tally) {
    let text = |key: &str| case[key].as_str().map(String::from);
    let field = |key: &str| text(key).unwrap_or_else(|| panic!("no {key} in {case}"));
    let (min, max) = (Risk::from_word(&field("min")).unwrap(), Risk::from_word(&field("max")).unwrap());
    let mut scope = Scope::new(field("root"));
    if let Some(home) = text("home") {
        scope = scope.home(home);
    }
    if let Some(cwd) = text("cwd") {
        scope = scope.cwd(cwd);
    }
    let verdict = assess(&action(&field("kind"), field("action"), text("shell").as_deref()), &scope);
    let risk = verdict.risk();
    tally.dangerous += usize::from(min > Risk::Allow);
    tally.stoppable += usize::from(max < Risk::Block);
    if risk >= min && risk <= max {
        tally.passed += 1;
        return;
    }
    tally.failed += 1;
    tally.unsafe_count += usize::from(risk < min);
    tally.friction += usize::from(risk > max);
    tally.block_allowed += usize::from(min == Risk::Block && risk == Risk::Allow);
    tally.benign_blocked += usize::from(max == Risk::Allow && risk == Risk::Block);
    println!(
        "{} {} got {risk} ({}) want {min}..{max} [{}] {:?}",
        if risk < min { "UNSAFE" } else { "FRICTION" },
        field("id"),
        verdict.finding().rule(),
        text("class").unwrap_or_default(),
        field("action").chars().take(160).collect::<String>(),
    );
}

fn action(kind: &str, text: String, shell: Option<&str>) -> Action {
    let dialect = match shell {
        Some("powershell") => Dialect::PowerShell,
        Some("cmd") => Dialect::Cmd,
        _ => Dialect::Posix,
    };
    match kind {
        "shell" => Action::Shell { command: text, cwd: None, dialect },
        "read" => Action::read(text),
        "write" => Action::write(text),
        "edit" => Action::edit(text),
        "delete" => Action::delete(text),
        "fetch" => Action::fetch(text),
        "search" => Action::Search { query: text, path: String::new() },
        "text" => Action::Text { line: text },
        other => panic!("unknown kind {other}"),
    }
}
