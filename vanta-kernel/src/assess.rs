//! Decides whether an action may run: the text itself, then floor, scope, system and credentials, reversibility.
//!
//! Everything here is a function of [`read`]; programs and paths are tables in `rules/`.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::ops::Range;

use crate::reading::{Fact, PathUse, read};
use crate::rules::names::segments;
use crate::shell::action::judged_text;
use crate::shell::prose;
use crate::shell::value::{display, is_marker};
use crate::{Action, Effect, Finding, PathClass, Reading, Risk, Scope, Verdict};

/// Decides whether `action` may run inside `scope`.
///
/// Looks only at its arguments: the same input always gives the same verdict, on every machine. What cannot be
/// decided from the text is Ask, never Allow.
///
/// # Examples
/// ```
/// use vanta_kernel::{Action, Risk, Scope, assess};
///
/// let scope = Scope::new("/home/dev/project").home("/home/dev");
/// assert_eq!(assess(&Action::shell("cargo test"), &scope).risk(), Risk::Allow);
/// assert_eq!(assess(&Action::shell("rm -rf build"), &scope).risk(), Risk::Ask);
/// assert_eq!(assess(&Action::shell("rm -rf \"$HOME\""), &scope).risk(), Risk::Block);
/// ```
#[must_use]
pub fn assess(action: &Action, scope: &Scope) -> Verdict {
    let text = judged_text(action);
    if text.len() > scope.action_limit() {
        return ask("text.too_long", "the action is too long to judge and is never cut", 0..0);
    }
    if let Action::Search { path, .. } = action
        && path.is_empty()
    {
        return allow("search", "a query is data", 0..text.len());
    }
    if text.trim().is_empty() && !matches!(action, Action::Tool { .. } | Action::Send { .. }) {
        return nothing(action);
    }
    let judged = match action {
        Action::Text { line } => sentence(line),
        _ => judge(&read(action, scope), text),
    };
    let target = match action {
        Action::Move { to, .. } | Action::Copy { to, .. } => to.as_str(),
        _ => "",
    };
    [text, target].into_iter().filter_map(|text| characters(action, text)).fold(judged, Verdict::strictest)
}

fn allow(rule: &'static str, reason: &'static str, span: Range<usize>) -> Verdict {
    Verdict::Allow(Finding::new(rule, reason, span))
}

fn ask(rule: &'static str, reason: impl Into<Cow<'static, str>>, span: Range<usize>) -> Verdict {
    Verdict::Ask(Finding::new(rule, reason, span))
}

fn nothing(action: &Action) -> Verdict {
    match action {
        Action::List { .. } => allow("read.scope", "lists the working directory", 0..0),
        _ => ask("text.empty", "the action is empty", 0..0),
    }
}

fn sentence(line: &str) -> Verdict {
    let (risk, rule, word) = prose::judge(line);
    let why = match risk {
        Risk::Allow => "names a plain task",
        Risk::Ask => "names an effect that a person should see",
        Risk::Block => "names something that cannot be repaired",
    };
    Verdict::new(risk, Finding::new(rule, format!("`{word}` {why}"), 0..line.len()))
}

/// Characters that make text read differently from what runs.
fn characters(action: &Action, text: &str) -> Option<Verdict> {
    // Nearly every command is plain ASCII; one pass without a branch says so.
    if text.bytes().fold(true, |plain, b| plain & (matches!(b, b' '..=b'~') | matches!(b, b'\n' | b'\t'))) {
        return None;
    }
    let found = text.char_indices().find(|(_, c)| is_deceptive(*c)).or_else(|| mixed_script(action, text));
    let (at, c) = found?;
    let reason = format!("the character U+{:04X} hides or disguises what the text does", u32::from(c));
    Some(ask("text.characters", reason, at..at + c.len_utf8()))
}

fn is_deceptive(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\r' => true,
        _ if c.is_control() || is_marker(c) => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' => {
            true
        }
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        '\u{2000}'..='\u{200a}' | '\u{a0}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => true,
        '\u{2028}' | '\u{2029}' | '\u{3164}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{180b}'..='\u{180d}' | '\u{fe00}'..='\u{fe0e}' => true,
        '\u{2024}' | '\u{2025}' | '\u{2044}' | '\u{2215}' | '\u{2212}' | '\u{29f8}' | '\u{ff0e}'
        | '\u{ff0f}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// A word that mixes Latin letters with letters that look like them, or a combining mark on punctuation.
fn mixed_script(action: &Action, text: &str) -> Option<(usize, char)> {
    if matches!(action, Action::Search { .. }) {
        return None;
    }
    let mut latin = false;
    let mut alike = None;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if matches!(c, '\u{300}'..='\u{36f}') && !previous.is_alphanumeric() {
            return Some((at, c));
        }
        if c.is_alphabetic() {
            latin |= c.is_ascii_alphabetic();
            if matches!(c, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{ff21}'..='\u{ff5a}') {
                alike = alike.or(Some((at, c)));
            }
        } else if !c.is_alphanumeric() {
            latin = false;
            alike = None;
        }
        if latin && alike.is_some() {
            return alike;
        }
        previous = c;
    }
    None
}

/// The strictest answer to anything in the reading.
fn judge(reading: &Reading, text: &str) -> Verdict {
    let mut verdict = if reading.opaque {
        let why = if reading.too_much {
            "there is too much to expand"
        } else {
            "the command cannot be read to its end"
        };
        ask("text.unreadable", why, 0..text.len())
    } else {
        allow("harmless", "stays in scope and can be undone", 0..text.len())
    };
    for fact in &reading.facts {
        judge_fact(fact, &(0..text.len()), &mut verdict);
    }
    for command in &reading.commands {
        let span = command.span();
        for fact in &command.facts {
            judge_fact(fact, &span, &mut verdict);
        }
        for path in &command.paths {
            judge_path(command.program(), path, &span, &mut verdict);
        }
        if command.is_opaque() && verdict.risk() == Risk::Allow {
            verdict = ask(
                "code.built",
                format!("`{}` is only known when it runs", shortened(command.program())),
                span,
            );
        }
    }
    verdict
}

// Sentences are written only for what makes the verdict stricter: most of a line never does.

fn judge_fact(fact: &Fact, span: &Range<usize>, verdict: &mut Verdict) {
    let rule = fact.act.rule();
    if rule.risk > verdict.risk() {
        let reason = format!("`{}` {}", shortened(&fact.word), rule.why);
        *verdict = Verdict::new(rule.risk, Finding::new(rule.code, reason, span.clone()));
    }
}

fn judge_path(program: &str, path: &PathUse, span: &Range<usize>, verdict: &mut Verdict) {
    let (risk, rule, why) = path_rule(path);
    if risk > verdict.risk() {
        let by = if program.is_empty() { "a redirect" } else { program };
        let reason = format!("`{}` {why} `{}`", shortened(by), shortened(path.path()));
        *verdict = Verdict::new(risk, Finding::new(rule, reason, span.clone()));
    }
}

/// A reason stays one short sentence.
fn shortened(text: &str) -> String {
    // An unknown piece is shown as such, see `display`.
    let hidden = |c| is_deceptive(c) && !is_marker(c) || c == '\n';
    let mut out: String = text.chars().take(80).map(|c| if hidden(c) { ' ' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    display(&out)
}

/// The table of effects and places.
fn path_rule(path: &PathUse) -> (Risk, &'static str, &'static str) {
    match path.effect {
        Effect::Read if path.class == PathClass::Protected && (path.recursive || is_token(&path.path)) => {
            (Risk::Block, "self.token", "reads a token of the boundary from")
        }
        Effect::Read => read_rule(path.class),
        Effect::Write => write_rule(path.class),
        Effect::Overwrite => overwrite_rule(path),
        Effect::Delete => delete_rule(path),
        Effect::Execute => execute_rule(path.class),
    }
}

fn read_rule(class: PathClass) -> (Risk, &'static str, &'static str) {
    match class {
        PathClass::InScope | PathClass::Root | PathClass::Repository => (Risk::Allow, "read.scope", "reads"),
        PathClass::Temp | PathClass::Harmless | PathClass::Facts | PathClass::Elsewhere => {
            (Risk::Allow, "read.harmless", "reads")
        }
        PathClass::Protected => (Risk::Ask, "self.read", "reads the boundary's own state"),
        PathClass::Secret => (Risk::Ask, "secret.read", "reads credentials in"),
        PathClass::Device => (Risk::Ask, "device.read", "reads the device"),
        PathClass::Unknown => (Risk::Ask, "read.unknown", "reads what is only known when it runs:"),
        PathClass::Startup => (Risk::Allow, "read.scope", "reads"),
        _ => (Risk::Ask, "read.outside", "reads outside the scope:"),
    }
}

fn write_rule(class: PathClass) -> (Risk, &'static str, &'static str) {
    match class {
        PathClass::InScope | PathClass::Root => (Risk::Allow, "write.scope", "writes"),
        PathClass::Temp | PathClass::Harmless | PathClass::Elsewhere => {
            (Risk::Allow, "write.harmless", "writes")
        }
        PathClass::Protected => (Risk::Block, "self.write", "changes the boundary's own state in"),
        PathClass::Device => (Risk::Block, "device.write", "writes to the device"),
        PathClass::Secret => (Risk::Ask, "secret.write", "changes credentials in"),
        PathClass::Repository => (Risk::Ask, "git.internal", "changes git's own data in"),
        PathClass::Startup | PathClass::Login => {
            (Risk::Ask, "startup.write", "changes what runs by itself later:")
        }
        PathClass::System | PathClass::Facts => (Risk::Ask, "write.system", "changes the system in"),
        PathClass::Unknown => (Risk::Ask, "write.unknown", "writes what is only known when it runs:"),
        _ => (Risk::Ask, "write.outside", "writes outside the scope:"),
    }
}

fn overwrite_rule(path: &PathUse) -> (Risk, &'static str, &'static str) {
    match path.class {
        PathClass::InScope | PathClass::Root => (Risk::Ask, "overwrite.scope", "replaces what is in"),
        class => write_rule(class),
    }
}

fn delete_rule(path: &PathUse) -> (Risk, &'static str, &'static str) {
    match path.class {
        PathClass::Root | PathClass::Ancestor => (Risk::Block, "delete.root", "deletes the scope's root:"),
        PathClass::Home => (Risk::Block, "delete.home", "deletes the home folder:"),
        PathClass::System | PathClass::Facts if path.recursive => {
            (Risk::Block, "delete.system", "deletes system files in")
        }
        PathClass::Unknown if path.recursive => {
            (Risk::Block, "delete.unknown", "deletes a folder that is only known when it runs:")
        }
        PathClass::Protected => (Risk::Block, "self.delete", "deletes the boundary's own state in"),
        PathClass::Repository if is_lock(&path.path) => (Risk::Ask, "delete.scope", "deletes"),
        PathClass::Repository => (Risk::Block, "git.wipe", "deletes the repository's history in"),
        PathClass::Device => (Risk::Block, "device.write", "destroys the device"),
        PathClass::InScope | PathClass::Harmless => (Risk::Ask, "delete.scope", "deletes"),
        PathClass::Temp => (Risk::Ask, "delete.temp", "deletes the temporary"),
        PathClass::Secret => (Risk::Ask, "delete.secret", "deletes credentials in"),
        PathClass::Unknown => (Risk::Ask, "delete.unknown", "deletes what is only known when it runs:"),
        _ => (Risk::Ask, "delete.outside", "deletes outside the scope:"),
    }
}

/// Who holds a token can decide in a person's place.
fn is_token(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or("");
    segments(name).any(|s| matches!(s.as_str(), "token" | "tokens" | "key" | "mac" | "secret"))
}

/// A stale lock file of git is deleted by hand and comes back by itself.
fn is_lock(path: &str) -> bool {
    path.ends_with(".lock")
}

fn execute_rule(class: PathClass) -> (Risk, &'static str, &'static str) {
    match class {
        PathClass::InScope | PathClass::Harmless | PathClass::Elsewhere => {
            (Risk::Allow, "code.scope", "runs")
        }
        PathClass::Unknown => (Risk::Ask, "code.built", "runs what is only known when it runs:"),
        _ => (Risk::Ask, "code.outside", "runs code outside the scope:"),
    }
}
