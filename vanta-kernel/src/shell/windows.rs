//! PowerShell and `cmd.exe`: enough to recognise reads, deletes and what destroys; everything else asks.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::flow::Walker;
use super::value::Value;
use crate::reading::Command;
use crate::rules::act::Act;
use crate::rules::names;
use crate::rules::table;
use crate::{Dialect, Effect, PathClass, PathUse};

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Look,
    Read,
    Create,
    Delete,
    Empty,
    Mirror,
    Evaluate,
    Fetch,
    Act(Act),
}

/// Reads `line` and adds its commands to `walker`.
pub(crate) fn read(walker: &mut Walker<'_>, line: &str, dialect: Dialect, span: &Range<usize>) {
    for statement in split(line, if dialect == Dialect::Cmd { "&" } else { ";" }) {
        let mut listed: Option<Vec<String>> = None;
        let mut fetched = false;
        for stage in split(&statement, "|") {
            let words = words(&stage, dialect);
            let mut command = Command::new(words.first().map_or("", String::as_str), span.clone());
            one(walker, &words, dialect, &mut command, &mut listed, &mut fetched);
            walker.commands.push(command);
        }
    }
}

/// Splits at `separator` outside quotes and brackets.
fn split(line: &str, separator: &str) -> Vec<String> {
    let mut out = Vec::from([String::new()]);
    let mut quote = None;
    let mut depth = 0_usize;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && separator.starts_with(c) || c == '\n' => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.retain(|s| !s.trim().is_empty());
    out
}

fn words(stage: &str, dialect: Dialect) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in stage.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, '"') => quote = Some(c),
            (None, '\'') if dialect == Dialect::PowerShell => quote = Some(c),
            (None, '^') if dialect == Dialect::Cmd => {}
            (None, '`') if dialect == Dialect::PowerShell => {}
            (None, c) if c.is_whitespace() || matches!(c, '(' | ')' | '{' | '}' | ',') => {
                if !word.is_empty() {
                    out.push(core::mem::take(&mut word));
                }
            }
            _ => word.push(c),
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

fn one(
    walker: &mut Walker<'_>,
    words: &[String],
    dialect: Dialect,
    command: &mut Command,
    listed: &mut Option<Vec<String>>,
    fetched: &mut bool,
) {
    let Some((program, args)) = words.split_first() else { return };
    let lower = program.trim_start_matches(['&', '.', '@']).to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    let inner_fetch = args.iter().any(|a| {
        matches!(verb(&a.to_ascii_lowercase(), dialect), Some(Verb::Fetch))
            || a.to_ascii_lowercase().contains("downloadstring")
    });
    *fetched |= inner_fetch
        || lower.contains("downloadstring")
        || words.iter().any(|w| w.to_ascii_lowercase().contains("downloadstring"));
    let operands: Vec<String> = args.iter().filter(|a| !is_option(a, dialect)).cloned().collect();
    let Some(verb) = verb(lower, dialect) else {
        return plain_program(walker, lower, args, command);
    };
    match verb {
        Verb::Look => *listed = Some(operands),
        Verb::Read => {
            for operand in data_operands(args, dialect) {
                touch(walker, &operand, Effect::Read, false, command);
            }
        }
        Verb::Create => {
            for operand in operands {
                touch(walker, &operand, Effect::Write, false, command);
            }
        }
        Verb::Delete => {
            let recursive = args.iter().any(|a| is_recursive(a, dialect));
            let targets = if operands.is_empty() { listed.take().unwrap_or_default() } else { operands };
            for target in &targets {
                touch(walker, target, Effect::Delete, recursive, command);
            }
            if targets.is_empty() {
                command.fact(Act::UnknownArguments, lower);
            }
        }
        Verb::Empty => {
            for operand in operands {
                touch(walker, &operand, Effect::Overwrite, false, command);
            }
        }
        Verb::Mirror => {
            let mirrors = args.iter().any(|a| matches!(a.to_ascii_lowercase().as_str(), "/mir" | "/purge"));
            if let Some(target) = operands.get(1) {
                touch(walker, target, if mirrors { Effect::Delete } else { Effect::Write }, mirrors, command);
            }
        }
        Verb::Evaluate => command.fact(if *fetched { Act::RunFetched } else { Act::RunBuilt }, lower),
        Verb::Fetch => {
            *fetched = true;
            command.fact(Act::Network, lower);
        }
        Verb::Act(act) => {
            let everything = act == Act::KillNamed && operands.iter().any(|o| o == "*");
            let act = if everything { Act::KillAll } else { act };
            let hive = operands.iter().any(|o| o.to_ascii_uppercase().starts_with("HKLM"));
            let deletes =
                lower == "reg" && args.first().is_some_and(|a| a.eq_ignore_ascii_case("delete")) && hive;
            command.fact(if deletes { Act::FormatDisk } else { act }, lower);
        }
    }
}

/// A program of either shell that is not one of its own commands.
fn plain_program(walker: &mut Walker<'_>, lower: &str, args: &[String], command: &mut Command) {
    if table::program(lower).is_none() {
        command.fact(Act::UnknownProgram, lower);
        return;
    }
    let mut fields = Vec::from([Value::literal(lower)]);
    fields.extend(args.iter().map(|a| Value::literal(a.replace('\\', "/"))));
    let mut call = super::command::Call::new("", Vec::new(), Value::default(), command.span.clone());
    walker.run_fields(fields, &mut call);
    *command = call.command;
}

fn is_option(word: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Cmd => word.starts_with('/') && word.len() <= 8 && !word.contains('.'),
        _ => word.starts_with('-'),
    }
}

/// Operands without the values of options that name no file (`-Pattern`).
fn data_operands(args: &[String], dialect: Dialect) -> Vec<String> {
    let mut out = Vec::new();
    let mut skip = false;
    for arg in args {
        if skip {
            skip = false;
        } else if is_option(arg, dialect) {
            let lower = arg.to_ascii_lowercase();
            skip = matches!(
                lower.as_str(),
                "-pattern" | "-filter" | "-encoding" | "-tail" | "-totalcount" | "-itemtype" | "-context"
            );
        } else {
            out.push(arg.clone());
        }
    }
    out
}

fn is_recursive(arg: &str, dialect: Dialect) -> bool {
    let lower = arg.to_ascii_lowercase();
    match dialect {
        Dialect::Cmd => lower == "/s",
        _ => lower.len() >= 2 && "-recurse".starts_with(&lower),
    }
}

fn touch(walker: &mut Walker<'_>, word: &str, effect: Effect, recursive: bool, command: &mut Command) {
    let (path, class) = locate(walker, word);
    command.paths.push(PathUse { path, effect, class, recursive });
}

/// Where a path of Windows lies. The scope's own root may be written with slashes either way.
fn locate(walker: &Walker<'_>, word: &str) -> (String, PathClass) {
    let slashes = word.replace('\\', "/");
    let lower = slashes.to_ascii_lowercase();
    for name in ["$home", "$env:userprofile", "%userprofile%", "~", "$env:homepath", "%homepath%"] {
        if let Some(rest) = lower.strip_prefix(name) {
            let name = rest.trim_matches('/');
            let folders: Vec<&str> = name.split('/').collect();
            let secret = folders.split_last().is_some_and(|(name, front)| names::is_secret_file(front, name));
            let class = if name.is_empty() || name == "*" {
                PathClass::Home
            } else if secret {
                PathClass::Secret
            } else {
                PathClass::Outside
            };
            return (slashes, class);
        }
    }
    if lower.contains('$') || lower.contains('%') {
        return (slashes, PathClass::Unknown);
    }
    if let Some((drive, rest)) = lower.split_once(':')
        && drive.len() == 1
    {
        let parts: Vec<&str> = rest.split('/').filter(|p| !p.is_empty() && *p != "*").collect();
        let secret = parts.split_last().is_some_and(|(name, front)| names::is_secret_file(front, name));
        let class = match parts.as_slice() {
            _ if secret => PathClass::Secret,
            [] => PathClass::System,
            ["users"] | ["users", _] => PathClass::Home,
            ["windows" | "program files" | "program files (x86)" | "programdata" | "boot", ..] => {
                PathClass::System
            }
            _ => PathClass::Outside,
        };
        return (slashes, class);
    }
    let mut active = String::new();
    super::value::activate(&slashes, &mut active);
    let (path, class) = walker.place().locate(&active);
    (super::value::display(&path), class)
}

fn verb(lower: &str, dialect: Dialect) -> Option<Verb> {
    let table = if dialect == Dialect::Cmd { CMD } else { POWERSHELL };
    table
        .binary_search_by(|(key, _)| (*key).cmp(lower))
        .ok()
        .and_then(|i| table.get(i))
        .map(|(_, verb)| *verb)
}

/// Sorted.
const POWERSHELL: &[(&str, Verb)] = &[
    ("cat", Verb::Read),
    ("cd", Verb::Look),
    ("clc", Verb::Empty),
    ("clear-content", Verb::Empty),
    ("clear-disk", Verb::Act(Act::FormatDisk)),
    ("del", Verb::Delete),
    ("dir", Verb::Look),
    ("echo", Verb::Look),
    ("erase", Verb::Delete),
    ("foreach-object", Verb::Evaluate),
    ("format-volume", Verb::Act(Act::FormatDisk)),
    ("gc", Verb::Read),
    ("gci", Verb::Look),
    ("get-acl", Verb::Read),
    ("get-childitem", Verb::Look),
    ("get-command", Verb::Look),
    ("get-content", Verb::Read),
    ("get-date", Verb::Look),
    ("get-filehash", Verb::Read),
    ("get-help", Verb::Look),
    ("get-item", Verb::Look),
    ("get-location", Verb::Look),
    ("get-process", Verb::Look),
    ("get-service", Verb::Look),
    ("get-verb", Verb::Look),
    ("gps", Verb::Look),
    ("iex", Verb::Evaluate),
    ("initialize-disk", Verb::Act(Act::FormatDisk)),
    ("invoke-expression", Verb::Evaluate),
    ("invoke-restmethod", Verb::Fetch),
    ("invoke-webrequest", Verb::Fetch),
    ("irm", Verb::Fetch),
    ("iwr", Verb::Fetch),
    ("kill", Verb::Act(Act::KillNamed)),
    ("ls", Verb::Look),
    ("measure-object", Verb::Look),
    ("mkdir", Verb::Create),
    ("new-item", Verb::Create),
    ("ni", Verb::Create),
    ("out-host", Verb::Look),
    ("out-null", Verb::Look),
    ("out-string", Verb::Look),
    ("pwd", Verb::Look),
    ("rd", Verb::Delete),
    ("remove-item", Verb::Delete),
    ("resolve-path", Verb::Look),
    ("restart-computer", Verb::Act(Act::Power)),
    ("ri", Verb::Delete),
    ("rm", Verb::Delete),
    ("rmdir", Verb::Delete),
    ("robocopy", Verb::Mirror),
    ("select-object", Verb::Look),
    ("select-string", Verb::Read),
    ("set-location", Verb::Look),
    ("sls", Verb::Read),
    ("sort-object", Verb::Look),
    ("spps", Verb::Act(Act::KillNamed)),
    ("stop-computer", Verb::Act(Act::Power)),
    ("stop-process", Verb::Act(Act::KillNamed)),
    ("test-path", Verb::Look),
    ("type", Verb::Read),
    ("where-object", Verb::Look),
    ("write-host", Verb::Look),
    ("write-output", Verb::Look),
];

/// Sorted.
const CMD: &[(&str, Verb)] = &[
    ("cd", Verb::Look),
    ("cipher", Verb::Act(Act::FormatDisk)),
    ("cls", Verb::Look),
    ("date", Verb::Look),
    ("del", Verb::Delete),
    ("dir", Verb::Look),
    ("diskpart", Verb::Act(Act::FormatDisk)),
    ("echo", Verb::Look),
    ("erase", Verb::Delete),
    ("fc", Verb::Read),
    ("findstr", Verb::Look),
    ("format", Verb::Act(Act::FormatDisk)),
    ("hostname", Verb::Look),
    ("md", Verb::Create),
    ("mkdir", Verb::Create),
    ("more", Verb::Read),
    ("rd", Verb::Delete),
    ("reg", Verb::Act(Act::System)),
    ("rem", Verb::Look),
    ("rmdir", Verb::Delete),
    ("robocopy", Verb::Mirror),
    ("sc", Verb::Act(Act::System)),
    ("schtasks", Verb::Act(Act::Scheduler)),
    ("shutdown", Verb::Act(Act::Power)),
    ("taskkill", Verb::Act(Act::KillNamed)),
    ("tasklist", Verb::Look),
    ("tree", Verb::Look),
    ("type", Verb::Read),
    ("ver", Verb::Look),
    ("vol", Verb::Look),
    ("where", Verb::Look),
    ("whoami", Verb::Look),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(POWERSHELL.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(CMD.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
