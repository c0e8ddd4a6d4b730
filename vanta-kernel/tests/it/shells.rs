//! What bash and dash really run, as a third opinion: whenever one of them would `rm -rf /`, the kernel must Block, or
//! Ask because it cannot tell what runs.
//!
//! The shells run with `rm` as a function that only reports its arguments, no program to be found, no environment and
//! an empty folder, so nothing can happen. Where a shell is not installed it has no opinion.

#![cfg(unix)]

use std::process::{Command, Stdio};

use vanta_kernel::{Action, Risk, Scope, assess};

use crate::generate::{Random, cases, single_quoted};

/// One command per line; a newline, tab or backslash in it is escaped.
const COMMANDS: &str = include_str!("../data/shells.txt");

/// Variables the commands use.
const SETUP: &str = "z=; v=rm; s=/\n";

/// Lines of the data that are read as something else than what runs. May only get shorter.
const OPEN: &str = include_str!("../data/shells_open.txt");

/// Rules that say: this cannot be told from the text.
const DOUBTS: [&str; 5] =
    ["arguments.unknown", "code.built", "delete.unknown", "program.unknown", "text.unreadable"];

#[test]
fn what_a_shell_would_destroy_is_blocked() {
    let scope = Scope::new("/home/dev/project").home("/home/dev");
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::seeded(30);
    let (mut ran, mut wrong) = (0, Vec::new());
    for (line, command) in COMMANDS.lines().map(|line| (line, unescaped(line))) {
        // Alone first, then inside something that runs it as well.
        let variants = 1 + cases(1, 12);
        for variant in 0..variants {
            let text = if variant == 0 { command.clone() } else { inside(&command, &mut random) };
            let text = format!("{SETUP}{text}");
            let verdict = assess(&Action::shell(&*text), &scope);
            let shells = ["bash", "dash"];
            let Some(shell) = shells.iter().find(|shell| destroys(shell, &text, folder.path())) else {
                continue;
            };
            ran += 1;
            let doubts = verdict.risk() == Risk::Ask && DOUBTS.contains(&verdict.finding().rule());
            if verdict.risk() < Risk::Block && !doubts && OPEN.lines().all(|open| open != line) {
                wrong.push(format!("{line}\n    {shell} runs {text:?}: {verdict}"));
            }
        }
    }
    println!("{ran} commands that a shell runs, {} misread", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `command` in a construct that runs it.
fn inside(command: &str, random: &mut Random) -> String {
    match random.below(10) {
        0 => format!("(\n{command}\n)"),
        1 => format!("{{ {command}\n}}"),
        2 => format!("if :; then {command}\nfi"),
        3 => format!("for q in 1; do {command}\ndone"),
        4 => format!("case x in x) {command}\n;; esac"),
        5 => format!("fz() {{ {command}\n}}; fz"),
        6 => format!("eval {}", single_quoted(command)),
        7 => format!(": \"$( {command}\n)\""),
        8 => format!(": <<'Q'\nz ` $( '\nQ\n{command}"),
        _ => format!("while :; do {command}\nbreak; done"),
    }
}

/// Does `shell` get as far as deleting `/`?
fn destroys(shell: &str, text: &str, folder: &std::path::Path) -> bool {
    let script = format!("rm() {{ printf 'HIT:%s\\n' \"$*\" >&9; }}\nexec 9>&1 >hidden 2>&1\n{text}");
    assert!(!script.contains("bin/"), "only builtins may run");
    let output = Command::new(format!("/bin/{shell}"))
        .args(["-c", &script])
        .env_clear()
        .env("PATH", "/nonexistent")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else { return false };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    printed.lines().filter_map(|line| line.strip_prefix("HIT:")).any(is_whole_disk)
}

/// `-rf /` in some order, `-r -f /`, `-fr -- /`.
fn is_whole_disk(arguments: &str) -> bool {
    let mut words = arguments.split(' ');
    words.clone().any(|w| w.starts_with('-') && w.contains('r')) && words.any(|w| w == "/" || w == "//")
}

fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(other)) => out.push(other),
            _ => out.push(c),
        }
    }
    out
}
