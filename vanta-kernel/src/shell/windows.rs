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
    Copy,
    Move,
    Evaluate,
    Fetch,
    Act(Act),
}

/// Reads `line` and adds its commands to `walker`.
pub(crate) fn read(walker: &mut Walker<'_>, line: &str, dialect: Dialect, span: &Range<usize>) {
    // Blocks are read like statements of their own: `& { … }`, `if (…) { … }`, `ForEach-Object { … }`.
    for statement in split(line, if dialect == Dialect::Cmd { "&" } else { ";{}" }) {
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
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && separator.contains(c) || c == '\n' => {
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
    if dialect == Dialect::PowerShell
        && (lower.is_empty() || lower.starts_with('$') || KEYWORDS.contains(&lower))
    {
        return;
    }
    if lower.contains("::delete") {
        for operand in operands.iter().filter(|o| !o.starts_with("$true")) {
            touch(walker, operand, Effect::Delete, true, command);
        }
        return;
    }
    let Some(verb) = verb(lower, dialect) else {
        return plain_program(walker, lower, args, command);
    };
    match verb {
        Verb::Look => {
            let environment =
                lower == "set" && args.is_empty() || operands.iter().any(|o| o.eq_ignore_ascii_case("env:"));
            if environment {
                command.fact(Act::Environment, lower);
            }
            *listed = Some(operands);
        }
        Verb::Copy | Verb::Move => transfer(walker, verb, &operands, command),
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
            fetch(walker, lower, args, command);
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

/// Copies and moves: the last operand is written.
fn transfer(walker: &mut Walker<'_>, verb: Verb, operands: &[String], command: &mut Command) {
    let Some((target, sources)) = operands.split_last() else { return };
    for source in sources {
        let inside = locate(walker, source).1 == PathClass::InScope;
        let effect = match verb {
            Verb::Move if !inside => Effect::Delete,
            Verb::Move => Effect::Write,
            _ => Effect::Read,
        };
        touch(walker, source, effect, verb == Verb::Move, command);
    }
    touch(walker, target, Effect::Write, false, command);
}

/// A request: a body, a file or a method other than GET sends something.
fn fetch(walker: &mut Walker<'_>, name: &str, args: &[String], command: &mut Command) {
    let mut act = Act::Network;
    let mut previous = String::new();
    for arg in args {
        let lower = arg.to_ascii_lowercase();
        let method = previous == "-method" && !matches!(lower.as_str(), "get" | "head");
        if method || lower == "-body" || lower == "-infile" {
            act = Act::NetworkSend;
        }
        if previous == "-infile" {
            touch(walker, arg, Effect::Read, false, command);
        }
        if previous == "-outfile" {
            touch(walker, arg, Effect::Write, false, command);
        }
        previous = lower;
    }
    let secret = command.paths.iter().any(|p| p.class == PathClass::Secret);
    command.fact(if secret { Act::Exfiltrate } else { act }, name);
}

/// Words of PowerShell in front of a block, which is read by itself.
const KEYWORDS: [&str; 12] =
    ["catch", "do", "else", "elseif", "finally", "for", "foreach", "function", "if", "param", "try", "while"];

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
        let parts: Vec<&str> =
            rest.split('/').filter(|p| !p.is_empty() && !matches!(*p, "*" | "*.*")).collect();
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
    ("ac", Verb::Create),
    ("add-content", Verb::Create),
    ("cat", Verb::Read),
    ("cd", Verb::Look),
    ("clc", Verb::Empty),
    ("clear-content", Verb::Empty),
    ("clear-disk", Verb::Act(Act::FormatDisk)),
    ("clear-host", Verb::Look),
    ("compare-object", Verb::Look),
    ("convertfrom-json", Verb::Look),
    ("convertto-json", Verb::Look),
    ("copy", Verb::Copy),
    ("copy-item", Verb::Copy),
    ("cp", Verb::Copy),
    ("cpi", Verb::Copy),
    ("del", Verb::Delete),
    ("dir", Verb::Look),
    ("echo", Verb::Look),
    ("erase", Verb::Delete),
    ("export-csv", Verb::Create),
    ("fl", Verb::Look),
    ("foreach", Verb::Look),
    ("foreach-object", Verb::Look),
    ("format-list", Verb::Look),
    ("format-table", Verb::Look),
    ("format-volume", Verb::Act(Act::FormatDisk)),
    ("ft", Verb::Look),
    ("gc", Verb::Read),
    ("gci", Verb::Look),
    ("get-acl", Verb::Read),
    ("get-alias", Verb::Look),
    ("get-childitem", Verb::Look),
    ("get-clipboard", Verb::Act(Act::Clipboard)),
    ("get-command", Verb::Look),
    ("get-content", Verb::Read),
    ("get-date", Verb::Look),
    ("get-filehash", Verb::Read),
    ("get-help", Verb::Look),
    ("get-history", Verb::Look),
    ("get-host", Verb::Look),
    ("get-item", Verb::Look),
    ("get-location", Verb::Look),
    ("get-member", Verb::Look),
    ("get-module", Verb::Look),
    ("get-process", Verb::Look),
    ("get-random", Verb::Look),
    ("get-service", Verb::Look),
    ("get-variable", Verb::Look),
    ("get-verb", Verb::Look),
    ("gps", Verb::Look),
    ("group-object", Verb::Look),
    ("iex", Verb::Evaluate),
    ("import-csv", Verb::Read),
    ("initialize-disk", Verb::Act(Act::FormatDisk)),
    ("install-module", Verb::Act(Act::InstallGlobal)),
    ("invoke-expression", Verb::Evaluate),
    ("invoke-restmethod", Verb::Fetch),
    ("invoke-webrequest", Verb::Fetch),
    ("irm", Verb::Fetch),
    ("iwr", Verb::Fetch),
    ("join-path", Verb::Look),
    ("kill", Verb::Act(Act::KillNamed)),
    ("ls", Verb::Look),
    ("measure-object", Verb::Look),
    ("mi", Verb::Move),
    ("mkdir", Verb::Create),
    ("move", Verb::Move),
    ("move-item", Verb::Move),
    ("mv", Verb::Move),
    ("new-item", Verb::Create),
    ("new-service", Verb::Act(Act::System)),
    ("ni", Verb::Create),
    ("out-file", Verb::Create),
    ("out-host", Verb::Look),
    ("out-null", Verb::Look),
    ("out-string", Verb::Look),
    ("pop-location", Verb::Look),
    ("push-location", Verb::Look),
    ("pwd", Verb::Look),
    ("rd", Verb::Delete),
    ("register-scheduledtask", Verb::Act(Act::Scheduler)),
    ("remove-item", Verb::Delete),
    ("remove-itemproperty", Verb::Act(Act::System)),
    ("remove-partition", Verb::Act(Act::FormatDisk)),
    ("ren", Verb::Move),
    ("rename-item", Verb::Move),
    ("resolve-path", Verb::Look),
    ("restart-computer", Verb::Act(Act::Power)),
    ("restart-service", Verb::Act(Act::System)),
    ("ri", Verb::Delete),
    ("rm", Verb::Delete),
    ("rmdir", Verb::Delete),
    ("rni", Verb::Move),
    ("robocopy", Verb::Mirror),
    ("sc", Verb::Create),
    ("select", Verb::Look),
    ("select-object", Verb::Look),
    ("select-string", Verb::Read),
    ("set-clipboard", Verb::Act(Act::Clipboard)),
    ("set-content", Verb::Create),
    ("set-executionpolicy", Verb::Act(Act::System)),
    ("set-itemproperty", Verb::Act(Act::System)),
    ("set-location", Verb::Look),
    ("set-service", Verb::Act(Act::System)),
    ("sls", Verb::Read),
    ("sort", Verb::Look),
    ("sort-object", Verb::Look),
    ("split-path", Verb::Look),
    ("spps", Verb::Act(Act::KillNamed)),
    ("start-process", Verb::Evaluate),
    ("start-service", Verb::Act(Act::System)),
    ("start-sleep", Verb::Look),
    ("stop-computer", Verb::Act(Act::Power)),
    ("stop-process", Verb::Act(Act::KillNamed)),
    ("stop-service", Verb::Act(Act::System)),
    ("tee-object", Verb::Create),
    ("test-path", Verb::Look),
    ("type", Verb::Read),
    ("where", Verb::Look),
    ("where-object", Verb::Look),
    ("write-host", Verb::Look),
    ("write-output", Verb::Look),
];

/// Sorted.
const CMD: &[(&str, Verb)] = &[
    ("attrib", Verb::Look),
    ("cd", Verb::Look),
    ("chdir", Verb::Look),
    ("cipher", Verb::Act(Act::FormatDisk)),
    ("cls", Verb::Look),
    ("comp", Verb::Read),
    ("copy", Verb::Copy),
    ("date", Verb::Look),
    ("del", Verb::Delete),
    ("dir", Verb::Look),
    ("diskpart", Verb::Act(Act::FormatDisk)),
    ("echo", Verb::Look),
    ("erase", Verb::Delete),
    ("fc", Verb::Read),
    ("find", Verb::Look),
    ("findstr", Verb::Look),
    ("format", Verb::Act(Act::FormatDisk)),
    ("hostname", Verb::Look),
    ("ipconfig", Verb::Look),
    ("md", Verb::Create),
    ("mkdir", Verb::Create),
    ("more", Verb::Read),
    ("move", Verb::Move),
    ("net", Verb::Act(Act::System)),
    ("path", Verb::Look),
    ("pause", Verb::Look),
    ("popd", Verb::Look),
    ("pushd", Verb::Look),
    ("rd", Verb::Delete),
    ("reg", Verb::Act(Act::System)),
    ("rem", Verb::Look),
    ("ren", Verb::Move),
    ("rename", Verb::Move),
    ("rmdir", Verb::Delete),
    ("robocopy", Verb::Mirror),
    ("sc", Verb::Act(Act::System)),
    ("schtasks", Verb::Act(Act::Scheduler)),
    ("set", Verb::Look),
    ("shutdown", Verb::Act(Act::Power)),
    ("sort", Verb::Look),
    ("start", Verb::Evaluate),
    ("systeminfo", Verb::Look),
    ("taskkill", Verb::Act(Act::KillNamed)),
    ("tasklist", Verb::Look),
    ("time", Verb::Look),
    ("title", Verb::Look),
    ("tree", Verb::Look),
    ("type", Verb::Read),
    ("ver", Verb::Look),
    ("vol", Verb::Look),
    ("where", Verb::Look),
    ("whoami", Verb::Look),
    ("xcopy", Verb::Copy),
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
