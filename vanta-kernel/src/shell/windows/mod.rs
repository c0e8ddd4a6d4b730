//! PowerShell and `cmd.exe`: enough to recognise reads, deletes and what destroys; everything else asks.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use self::verbs::{Verb, verb};
use super::flow::Walker;
use super::value::{Taint, Value};
use crate::reading::Command;
use crate::rules::act::Act;
use crate::rules::names;
use crate::rules::table;
use crate::{Dialect, Effect, PathClass, PathUse};

mod verbs;

/// What one stage of a pipeline leaves for the next.
#[derive(Debug, Default)]
struct Stage {
    listed: Option<Vec<String>>,
    /// The listing goes down into folders.
    deep: bool,
    fetched: bool,
    secret: bool,
    /// The text it prints, when the line spells it.
    text: Option<String>,
}

/// Reads `line` and adds its commands to `walker`.
pub(crate) fn read(walker: &mut Walker<'_>, line: &str, dialect: Dialect, span: &Range<usize>) {
    let lower = line.to_ascii_lowercase();
    if lower.contains("sockets.tcpclient")
        && ["iex", "invoke-expression", "getstream"].iter().any(|w| lower.contains(w))
    {
        let mut command = Command::new("powershell", span.clone());
        command.fact(Act::ReverseShell, "TCPClient");
        walker.commands.push(command);
    }
    // Blocks are read like statements of their own: `& { … }`, `if (…) { … }`, `ForEach-Object { … }`.
    let mut stage = Stage::default();
    for statement in split(line, if dialect == Dialect::Cmd { "&" } else { ";{}" }) {
        if dialect == Dialect::Cmd || !statement.contains('|') {
            // A block behind a listing still works on what was listed.
            stage.secret = false;
        }
        for text in split(&statement, "|") {
            let words = words(&text, dialect);
            let mut command = Command::new(words.first().map_or("", String::as_str), span.clone());
            let words = redirects(walker, words, &mut command);
            if let [one] = words.as_slice()
                && text.trim_start().starts_with(['\'', '"'])
            {
                // A text by itself is printed, for whatever is behind it.
                stage.text = Some(one.clone());
                continue;
            }
            statement_words(walker, &words, dialect, &mut command, &mut stage);
            stage.secret |=
                command.paths.iter().any(|p| p.class == PathClass::Secret && p.effect == Effect::Read);
            let port = lower.contains("7788") && command.facts.iter().any(|f| f.act == Act::KillNamed);
            if port {
                command.fact(Act::SelfStop, "7788");
            }
            walker.commands.push(command);
        }
        if !statement.trim_end().ends_with('|') && dialect == Dialect::Cmd {
            stage = Stage { fetched: stage.fetched, ..Stage::default() };
        }
    }
}

/// Notes the files that are written behind `>` and returns the words without them.
fn redirects(walker: &mut Walker<'_>, words: Vec<String>, command: &mut Command) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some((before, after)) =
            word.split_once('>').filter(|(b, _)| b.is_empty() || matches!(*b, "1" | "2" | "*"))
        else {
            kept.push(word);
            continue;
        };
        let target = after.trim_start_matches('>');
        let target = if target.is_empty() { words.next().unwrap_or_default() } else { String::from(target) };
        let nothing =
            target.starts_with('&') || matches!(target.to_ascii_lowercase().as_str(), "$null" | "nul" | "");
        if !nothing {
            touch(walker, &target, Effect::Write, false, command);
        }
        let _ = before;
    }
    kept
}

/// One statement: behind the call operator, an assignment, or the words of a loop.
fn statement_words(
    walker: &mut Walker<'_>,
    words: &[String],
    dialect: Dialect,
    command: &mut Command,
    stage: &mut Stage,
) {
    match words {
        [first, rest @ ..] if matches!(first.as_str(), "&" | "." | "=") && !rest.is_empty() => {
            statement_words(walker, rest, dialect, command, stage);
        }
        [first, rest @ ..]
            if first.starts_with('$') && first.find('=').is_some_and(|at| at + 1 < first.len()) =>
        {
            let (name, value) = first.split_once('=').unwrap_or((first, ""));
            let mut parts = Vec::from([String::from(name), String::from("="), String::from(value)]);
            parts.extend_from_slice(rest);
            statement_words(walker, &parts, dialect, command, stage);
        }
        [name, equals, text] if name.starts_with('$') && equals == "=" && text.contains(' ') => {
            // A text that is given a name; it may be run by that name.
            let value = Value::literal(text.as_str());
            walker.state.set(&name.to_ascii_lowercase(), Vec::from([value]), false);
        }
        [name, equals, rest @ ..] if name.starts_with('$') && equals == "=" && !rest.is_empty() => {
            statement_words(walker, rest, dialect, command, stage);
            let secret = command.paths.iter().any(|p| p.class == PathClass::Secret)
                || rest.iter().any(|w| is_secret_value(walker, w));
            if secret {
                walker.state.set(
                    &name.to_ascii_lowercase(),
                    Vec::from([Value::unknown(Taint::SECRET)]),
                    false,
                );
            }
        }
        [first, ..]
            if dialect == Dialect::Cmd
                && matches!(first.to_ascii_lowercase().as_str(), "for" | "if" | "call") =>
        {
            let is_start = |w: &String| {
                let lower = w.to_ascii_lowercase();
                matches!(verb(&lower, dialect), Some(v) if v != Verb::Look)
                    || table::program(&lower).is_some()
            };
            if let Some(at) = words.iter().skip(1).position(is_start) {
                one(walker, words.get(at + 1..).unwrap_or(&[]), dialect, command, stage);
            }
        }
        _ => one(walker, words, dialect, command, stage),
    }
}

/// The text that the line gave a variable, or the word itself.
fn named_text(walker: &Walker<'_>, word: &str) -> String {
    match walker.state.vars.get(&word.to_ascii_lowercase()).map(Vec::as_slice) {
        Some([value]) if word.starts_with('$') && value.is_literal() => String::from(value.text.as_str()),
        _ => String::from(word),
    }
}

/// Does a word hold a secret: a variable named like one, or one that was given one in this line?
fn is_secret_value(walker: &Walker<'_>, word: &str) -> bool {
    let lower = word.trim_matches(['"', '$', '(', ')', '{', '}']).to_ascii_lowercase();
    if let Some((_, name)) = lower.rsplit_once("env:") {
        return names::is_secret_variable(name.split(['}', '"', '.', '&']).next().unwrap_or(""));
    }
    let percent = word.split('%').nth(1).is_some_and(names::is_secret_variable);
    let variable =
        walker.state.vars.get(&word.to_ascii_lowercase()).is_some_and(|v| v.iter().any(|v| v.taint.secret));
    percent || variable
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
    stage: &mut Stage,
) {
    let Some((program, args)) = words.split_first() else { return };
    let lower = program.trim_start_matches(['&', '.', '@']).to_ascii_lowercase();
    let lower = lower.strip_suffix(".exe").unwrap_or(&lower);
    let inner_fetch = args.iter().any(|a| {
        matches!(verb(&a.to_ascii_lowercase(), dialect), Some(Verb::Fetch))
            || a.to_ascii_lowercase().contains("downloadstring")
    });
    stage.fetched |= inner_fetch
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
        return plain_program(walker, lower, args, stage, command);
    };
    if matches!(verb, Verb::Act(_) | Verb::Evaluate) {
        own_state(walker, args, command);
    }
    match verb {
        Verb::Look => {
            let environment =
                lower == "set" && args.is_empty() || operands.iter().any(|o| o.eq_ignore_ascii_case("env:"));
            if environment {
                command.fact(Act::Environment, lower);
            }
        }
        Verb::List => {
            let environment = operands.iter().any(|o| o.to_ascii_lowercase().starts_with("env:"));
            if environment {
                command.fact(Act::Environment, lower);
            }
            let mut targets = data_operands(args, dialect);
            if targets.is_empty() {
                targets.push(String::from("."));
            }
            let processes = matches!(lower, "get-process" | "gps");
            if processes && operands.is_empty() {
                targets = Vec::from([String::from("*")]);
            }
            if args
                .iter()
                .any(|a| matches!(a.to_ascii_lowercase().as_str(), "-filter" | "-include" | "-name" | "-id"))
                && !processes
            {
                targets.iter_mut().for_each(|t| t.push_str("/one"));
            }
            stage.deep = args.iter().any(|a| is_recursive(a, dialect));
            stage.listed = Some(targets);
        }
        Verb::Narrow => {
            // Some of what was listed, no longer all of it.
            stage.deep = false;
            if let Some(listed) = &mut stage.listed {
                listed.iter_mut().for_each(|t| t.push_str("/one"));
            }
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
            let piped = operands.iter().all(|o| o.starts_with("$_") || o.starts_with("$psitem"));
            let recursive = args.iter().any(|a| is_recursive(a, dialect)) || piped && stage.deep;
            let targets = if piped { stage.listed.take().unwrap_or(operands) } else { operands };
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
        Verb::Evaluate => {
            command.fact(if stage.fetched { Act::RunFetched } else { Act::RunBuilt }, lower);
            // What is given as text is read like a line of its own.
            let mut code: Vec<String> =
                args.iter().filter(|a| !is_code_option(a)).map(|a| named_text(walker, a)).collect();
            code.extend(stage.text.take());
            if !code.is_empty() && walker.enter_nesting() {
                let span = command.span.clone();
                read(walker, &code.join(" "), dialect, &span);
                walker.leave_nesting();
            }
        }
        Verb::Fetch => {
            stage.fetched = true;
            fetch(walker, lower, args, stage.secret, command);
        }
        Verb::Act(act) => {
            let listed = stage.listed.clone().unwrap_or_default();
            let boundary = args.iter().chain(&listed).any(|a| a.to_ascii_lowercase().contains("vanta"));
            if boundary && matches!(act, Act::KillNamed | Act::System) {
                command.fact(Act::SelfStop, lower);
            }
            let listed = stage.listed.take().filter(|_| operands.is_empty()).unwrap_or_default();
            let everything = act == Act::KillNamed && operands.iter().chain(&listed).any(|o| o == "*");
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
fn fetch(walker: &mut Walker<'_>, name: &str, args: &[String], piped: bool, command: &mut Command) {
    let mut act = Act::Network;
    let mut secret = piped;
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
        } else if locate(walker, arg).1 == PathClass::Secret && !lower.contains("://") {
            touch(walker, arg, Effect::Read, false, command);
        }
        secret |= is_secret_value(walker, arg) && previous != "-token";
        let address = crate::shell::host::address(arg);
        if lower.contains("://")
            && address.is_boundary()
            && args.iter().any(|a| a.eq_ignore_ascii_case("post"))
        {
            command.fact(Act::Approve, name);
        }
        previous = lower;
    }
    let secret =
        secret || command.paths.iter().any(|p| p.class == PathClass::Secret && p.effect == Effect::Read);
    command.fact(if secret { Act::Exfiltrate } else { act }, name);
}

/// Words of PowerShell in front of a block, which is read by itself.
const KEYWORDS: [&str; 12] =
    ["catch", "do", "else", "elseif", "finally", "for", "foreach", "function", "if", "param", "try", "while"];

/// A program of either shell that is not one of its own commands.
fn plain_program(
    walker: &mut Walker<'_>,
    lower: &str,
    args: &[String],
    stage: &Stage,
    command: &mut Command,
) {
    if table::program(lower).is_none() {
        own_state(walker, args, command);
        command.fact(Act::UnknownProgram, lower);
        return;
    }
    let mut fields = Vec::from([Value::literal(lower)]);
    fields.extend(args.iter().map(|a| Value::literal(a.replace('\\', "/"))));
    for (field, arg) in fields.iter_mut().skip(1).zip(args) {
        field.taint.secret = is_secret_value(walker, arg);
    }
    let stdin = if stage.secret { Value::unknown(Taint::SECRET) } else { Value::default() };
    let mut call = super::command::Call::new("", Vec::new(), stdin, command.span.clone());
    walker.run_fields(fields, &mut call);
    let written = core::mem::take(&mut command.paths);
    *command = call.command;
    command.paths.extend(written);
}

/// Any use of the boundary's own files by something unknown counts as a change.
fn own_state(walker: &mut Walker<'_>, args: &[String], command: &mut Command) {
    for arg in args.iter().filter(|a| a.to_ascii_lowercase().contains("vanta")) {
        if locate(walker, arg).1 == PathClass::Protected {
            touch(walker, arg, Effect::Write, false, command);
        }
    }
}

/// An option of `Start-Process` and its kind, whose value is the code.
fn is_code_option(arg: &str) -> bool {
    let lower = arg.to_ascii_lowercase();
    lower.starts_with("-arg")
        || matches!(
            lower.as_str(),
            "-filepath" | "-wait" | "-verb" | "runas" | "-nonewwindow" | "-command" | "/b" | "/wait"
        )
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
    let whole = path.contains('*') || path.trim_end_matches('/').ends_with(".vanta");
    let recursive = recursive || class == PathClass::Protected && effect == Effect::Read && whole;
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
