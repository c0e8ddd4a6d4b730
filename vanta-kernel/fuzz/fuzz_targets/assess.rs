//! Any bytes as any action in any scope: no panic, no overflow, the same answer twice, work linear in the text, and
//! an answer that follows from the reading.
//!
//! The first two bytes choose the kind of action and the scope, the rest is the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vanta_kernel::{Action, Dialect, PathClass, Reading, Risk, Scope, assess, read};

fuzz_target!(|data: &[u8]| {
    let [kind, setting, text @ ..] = data else { return };
    let text = String::from_utf8_lossy(text).into_owned();
    let action = action(*kind, &text);
    let scope = scope(*setting);

    let verdict = assess(&action, &scope);
    assert_eq!(verdict, assess(&action, &scope), "the same question, another answer");
    let span = verdict.finding().span();
    // Of a line in words only its subject is judged.
    let judged = if kind % 16 == FROM_TEXT { None } else { Some(text.get(span.clone())) };
    assert!(judged != Some(None), "{span:?} is no part of the text");
    assert!(!verdict.finding().reason().is_empty() && !verdict.finding().rule().is_empty());
    assert!(verdict.finding().reason().len() < 1_000, "a reason is one short sentence");

    let reading = read(&action, &scope);
    assert_eq!(reading, read(&action, &scope), "the same question, another reading");
    assert!(work(&reading) <= 200_000 + 2_000 * text.len(), "{} for {} bytes", work(&reading), text.len());
    if !matches!(action, Action::Text { .. } | Action::Search { .. }) {
        follows(&reading, verdict.risk());
    }
    // An action is never milder as a longer text that says the same.
    if let Action::Shell { dialect: Dialect::Posix, .. } = action {
        let padded = assess(&Action::shell(format!(" {text}")), &scope);
        assert_eq!(padded.risk(), verdict.risk(), "a blank in front changed the answer");
    }
});

const FROM_TEXT: u8 = 15;

fn action(kind: u8, text: &str) -> Action {
    let shell = |dialect| Action::Shell { command: text.into(), cwd: None, dialect };
    match kind % 16 {
        0..=7 => Action::shell(text),
        8 => shell(Dialect::PowerShell),
        9 => shell(Dialect::Cmd),
        10 => Action::read(text),
        11 => Action::write(text),
        12 => Action::delete(text),
        13 => Action::fetch(text),
        14 => Action::Text { line: text.into() },
        _ => Action::from_text(text),
    }
}

fn scope(setting: u8) -> Scope {
    let scope = match setting % 4 {
        0 | 1 => Scope::new("/home/dev/project").home("/home/dev"),
        2 => Scope::new("/"),
        _ => Scope::new("/srv/app/").home("/root").cwd("/srv/app/web"),
    };
    let scope = if setting & 4 == 0 { scope } else { scope.allow_read("/usr/share").temp("/scratch") };
    if setting & 8 == 0 { scope } else { scope.protect("/home/dev/tokens").allow_write("/srv/data") }
}

/// Commands read and bytes kept: what the time is spent on.
fn work(reading: &Reading) -> usize {
    let size = |c: &vanta_kernel::Command| {
        let paths: usize = c.paths().iter().map(|p| 1 + p.path().len()).sum();
        1 + paths + c.hosts().iter().map(String::len).sum::<usize>()
    };
    reading.commands().iter().map(size).sum()
}

/// What the reading leaves open, or says of protected places, shows in the answer.
fn follows(reading: &Reading, risk: Risk) {
    let open = reading.is_opaque() || reading.commands().iter().any(|c| c.is_opaque());
    assert!(!open || risk >= Risk::Ask, "an opaque reading was allowed");
    for path in reading.commands().iter().flat_map(|c| c.paths()) {
        let least = match path.class() {
            PathClass::Protected if path.effect() > vanta_kernel::Effect::Read => Risk::Ask,
            PathClass::Secret
            | PathClass::Outside
            | PathClass::Home
            | PathClass::System
            | PathClass::Ancestor => Risk::Ask,
            _ if path.effect() == vanta_kernel::Effect::Delete => Risk::Ask,
            _ => Risk::Allow,
        };
        assert!(risk >= least, "{path:?} was answered {risk}");
    }
}
