//! Reads every kind of action into a [`Reading`]; shell commands through the walker, the others directly.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::flow::Walker;
use super::host::{self, HostKind};
use super::syntax::Faults;
use super::value::Value;
use crate::reading::{Command, Fact};
use crate::rules::act::Act;
use crate::rules::names;
use crate::rules::path::Place;
use crate::{Action, Dialect, Effect, PathClass, PathUse, Reading, Scope};

/// Reads `action` in `scope`.
pub(crate) fn read(action: &Action, scope: &Scope) -> Reading {
    let text = judged_text(action);
    if text.len() > scope.action_limit() {
        return Reading { opaque: true, ..Reading::default() };
    }
    match action {
        Action::Shell { command, cwd, dialect } => shell(command, cwd.as_deref(), *dialect, scope),
        Action::Read { path } => one(scope, "read", &[(path, Effect::Read)]),
        Action::Write { path, replaces: false } => one(scope, "write", &[(path, Effect::Write)]),
        Action::Write { path, replaces: true } => one(scope, "write", &[(path, Effect::Overwrite)]),
        Action::Edit { path } => one(scope, "edit", &[(path, Effect::Write)]),
        Action::Delete { path } => one(scope, "delete", &[(path, Effect::Delete)]),
        Action::Move { from, to } => moved(scope, from, to),
        Action::Copy { from, to } => one(scope, "copy", &[(from, Effect::Read), (to, Effect::Write)]),
        Action::List { path } => one(scope, "list", &[(path, Effect::Read)]),
        Action::Search { path, .. } if path.is_empty() => Reading::default(),
        Action::Search { path, .. } => one(scope, "search", &[(path, Effect::Read)]),
        Action::Fetch { method, url } => fetch(method, url),
        Action::Send { what, .. } => fact("send", Act::Message, what),
        Action::Tool { name, .. } => fact("tool", Act::RunUnknown, name),
        Action::Text { .. } => Reading::default(),
    }
}

/// The text whose characters and length are judged before its meaning.
pub(crate) fn judged_text(action: &Action) -> &str {
    match action {
        Action::Shell { command, .. } => command,
        Action::Read { path } | Action::Write { path, .. } | Action::Edit { path } => path,
        Action::Delete { path } | Action::List { path } => path,
        Action::Move { from, .. } | Action::Copy { from, .. } => from,
        Action::Search { query, .. } => query,
        Action::Fetch { url, .. } => url,
        Action::Send { what, .. } => what,
        Action::Tool { name, .. } => name,
        Action::Text { line } => line,
    }
}

fn shell(command: &str, cwd: Option<&str>, dialect: Dialect, scope: &Scope) -> Reading {
    let cwd =
        Place { scope, cwd: scope.working_dir(), mounts: None }.absolute(cwd.unwrap_or(scope.working_dir()));
    let mut walker = Walker::new(scope, &cwd, command.len());
    match dialect {
        Dialect::Posix => {
            // A NUL ends nothing for the tools that cut there, so what follows is read as the next line.
            let line = command.replace('\0', "\n");
            walker.run_text(&line, None, &Value::default());
        }
        other => super::windows::read(&mut walker, command, other, &(0..command.len())),
    }
    let Faults { syntax, depth, work } = walker.faults;
    Reading {
        commands: walker.commands,
        opaque: syntax || depth || work,
        too_much: work,
        facts: walker.facts,
    }
}

fn one(scope: &Scope, kind: &str, uses: &[(&String, Effect)]) -> Reading {
    let place = Place { scope, cwd: scope.working_dir(), mounts: None };
    let mut command = Command::new(kind, span(uses.first().map_or("", |(path, _)| path.as_str())));
    for (path, effect) in uses {
        let path = home_variable(path);
        let path = path.as_str();
        let mut text = String::new();
        if *effect == Effect::Delete && !path.contains('$') {
            super::value::activate(path, &mut text);
        } else {
            text.push_str(path);
        }
        let (path, mut class) = place.locate(&text);
        if class == PathClass::Secret && *effect == Effect::Delete {
            class = place.standing(&path);
        }
        if text.contains('$') && *effect == Effect::Delete || starts_unknown(&text) {
            class = PathClass::Unknown;
        }
        let path = super::value::display(&path);
        command.paths.push(PathUse { path, effect: *effect, class, recursive: *effect == Effect::Delete });
    }
    Reading { commands: Vec::from([command]), ..Reading::default() }
}

/// A tool may or may not expand `$HOME`; the home folder is the reading that matters.
fn home_variable(path: &str) -> String {
    for name in ["$HOME", "${HOME}"] {
        if let Some(tail) = path.strip_prefix(name).filter(|t| t.is_empty() || t.starts_with('/')) {
            return alloc::format!("~{tail}");
        }
    }
    String::from(path)
}

/// `$CONFIG/x`, `${DIR}/x`, `$(pwd)/x`: where it lies is only known when something expands it. A name such as
/// `$id.tsx` is a name.
fn starts_unknown(path: &str) -> bool {
    let tail = path.strip_prefix('$').unwrap_or("");
    let name = tail.split('/').next().unwrap_or("");
    tail.starts_with(['{', '('])
        || name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
}

fn moved(scope: &Scope, from: &String, to: &String) -> Reading {
    let mut reading = one(scope, "move", &[(from, Effect::Delete), (to, Effect::Write)]);
    if let Some(source) = reading.commands.first_mut().and_then(|c| c.paths.first_mut())
        && source.class == PathClass::InScope
    {
        source.effect = Effect::Write;
    }
    reading
}

fn span(text: &str) -> Range<usize> {
    0..text.len()
}

fn fact(kind: &str, act: Act, word: &str) -> Reading {
    let mut command = Command::new(kind, span(word));
    command.fact(act, word);
    Reading { commands: Vec::from([command]), ..Reading::default() }
}

/// Does a path of the boundary's server name a decision?
fn decides(path: &str) -> bool {
    names::segments(path).any(|s| matches!(s.as_str(), "approve" | "consume" | "decide" | "deny" | "stop"))
}

/// Judges an address by what a client would do with it.
fn fetch(method: &str, url: &str) -> Reading {
    let parts = host::address(url);
    let kind = host::kind(&parts.host);
    let reads = matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD");
    let secret = parts.path.split(['?', '&', '#', ';']).skip(1).any(|field| {
        field.split_once('=').is_some_and(|(name, value)| names::is_secret_variable(name) && value.len() >= 8)
    });
    let boundary = parts.is_boundary();
    let act = match kind {
        _ if boundary && (!reads || decides(&parts.path)) => Act::Approve,
        _ if boundary => Act::SelfServe,
        HostKind::Metadata => Act::SecretShow,
        _ if !matches!(parts.scheme.as_str(), "http" | "https") => Act::UnknownArguments,
        _ if parts.has_user || secret => Act::NetworkSend,
        HostKind::Loopback if reads => Act::Harmless,
        HostKind::Private | HostKind::Odd => Act::NetworkSend,
        _ if !reads => Act::NetworkSend,
        _ => Act::Network,
    };
    let mut command = Command::new("fetch", span(url));
    command.hosts.push(parts.host.clone());
    command.facts.push(Fact { act, word: parts.host });
    Reading { commands: Vec::from([command]), ..Reading::default() }
}
