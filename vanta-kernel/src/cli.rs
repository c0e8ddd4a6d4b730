//! What the `vanta-kernel` command does, on streams that are handed in, so that other front ends offer the same.
//!
//! It parses arguments and prints verdicts; every decision is [`assess`]'s. It looks at no file
//! and no variable, except that a relative `--root` starts from the working directory.

use std::ffi::OsString;
use std::io::{self, BufRead, ErrorKind, Write};

use crate::json::Json;
use crate::wire::{WireError, batch_case};
use crate::{Action, Command, Dialect, Finding, PathUse, Reading, Scope, Verdict, assess, read};

/// Runs the command with `args` (without the program's name) and returns the exit code.
///
/// 0 is success, 1 a stream that failed, 2 arguments or input lines that cannot be read. Every line of output
/// is flushed; when nobody reads it any more, the command ends quietly.
///
/// ```
/// let args = ["assess", "--root", "/srv/app", "--kind", "read", "src/main.rs"].map(Into::into);
/// let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
/// let code = vanta_kernel::cli::main_with(&args, &mut std::io::empty(), &mut stdout, &mut stderr);
/// assert_eq!(code, 0);
/// assert!(stdout.starts_with(br#"{"verdict":"#));
/// ```
pub fn main_with(
    args: &[OsString],
    stdin: &mut dyn BufRead,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    main_as("vanta-kernel", args, stdin, stdout, stderr)
}

/// The same for a front end that calls it `program`, as help and complaints then do.
pub fn main_as(
    program: &str,
    args: &[OsString],
    stdin: &mut dyn BufRead,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let outcome = match Task::parse(args) {
        Ok(Task::Help) => say(stdout, &HELP.replace("{program}", program)).map(|()| OK),
        Ok(Task::Version) => say(stdout, &format!("{program} {}", env!("CARGO_PKG_VERSION"))).map(|()| OK),
        Ok(Task::Batch) => batch(stdin, stdout, stderr),
        Ok(Task::One { action, scope, explain }) => one(&action, &scope, explain, stdout).map(|()| OK),
        Err(problem) => {
            say(stderr, &format!("error: {problem}; see `{program} assess --help`")).map(|()| USAGE)
        }
    };
    match outcome {
        Ok(code) => code,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => OK,
        Err(error) => {
            // When this fails too there is no stream left to complain to.
            let _ = say(stderr, &format!("error: cannot read or write: {error}"));
            FAILED
        }
    }
}

/// What the arguments ask for.
enum Task {
    Help,
    Version,
    Batch,
    One { action: Action, scope: Box<Scope>, explain: bool },
}

impl Task {
    fn parse(args: &[OsString]) -> Result<Self, String> {
        let words: Option<Vec<&str>> = args.iter().map(|arg| arg.to_str()).collect();
        let words = words.ok_or("the arguments are not valid text")?;
        match words.split_first() {
            Some((&"assess", rest)) => Options::parse(rest)?.task(),
            Some((&("--version" | "-V"), [])) => Ok(Self::Version),
            Some((&("--help" | "-h" | "help"), _)) => Ok(Self::Help),
            Some((other, _)) => Err(format!("`{}` is no command", other.escape_debug())),
            None => Err("no command".into()),
        }
    }
}

/// The options of `assess`, as given.
#[derive(Default)]
struct Options<'a> {
    help: bool,
    batch: bool,
    explain: bool,
    values: Vec<(&'static str, &'a str)>,
    actions: Vec<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(words: &[&'a str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--" => options.actions.extend(words.by_ref()),
                "--help" | "-h" => options.help = true,
                "--batch" => options.batch = true,
                "--explain" => options.explain = true,
                _ if word.starts_with("--") => options.value(word, &mut words)?,
                _ => options.actions.push(word),
            }
        }
        Ok(options)
    }

    /// Takes `--name VALUE` or `--name=VALUE`.
    fn value(&mut self, word: &'a str, words: &mut impl Iterator<Item = &'a str>) -> Result<(), String> {
        let (given, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let known = VALUES.iter().copied().find(|name| *name == given);
        let name = known.ok_or_else(|| format!("`{}` is no option of assess", given.escape_debug()))?;
        if self.get(name).is_some() {
            return Err(format!("`{name}` is given twice"));
        }
        let value = value.or_else(|| words.next()).ok_or_else(|| format!("`{name}` needs a value"))?;
        self.values.push((name, value));
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn task(&self) -> Result<Task, String> {
        if self.help {
            return Ok(Task::Help);
        }
        if self.batch {
            let alone = self.values.is_empty() && self.actions.is_empty() && !self.explain;
            return alone.then_some(Task::Batch).ok_or_else(|| "`--batch` takes nothing else".into());
        }
        let [action] = self.actions.as_slice() else {
            return Err("give one action, in quotes".into());
        };
        Ok(Task::One { action: self.action(action)?, scope: Box::new(self.scope()?), explain: self.explain })
    }

    fn action(&self, subject: &str) -> Result<Action, String> {
        let shell = self.get("--shell").unwrap_or(Dialect::Posix.as_str());
        let dialect = Dialect::from_word(shell).ok_or("`--shell` is posix, powershell or cmd")?;
        let kind = self.get("--kind").unwrap_or("shell");
        let action = Action::of_kind(kind, subject, dialect);
        action.map_err(|error| match error {
            WireError::UnknownKind(_) => format!("`{}` is no kind of action", kind.escape_debug()),
            _ => format!("a `{kind}` is about two things; judge it with `--batch`"),
        })
    }

    fn scope(&self) -> Result<Scope, String> {
        let root = self.get("--root").ok_or("`--root` is missing")?;
        let root = std::path::absolute(root).map_err(|_| "`--root` is empty")?;
        let mut scope = Scope::new(root.to_str().ok_or("`--root` is not valid text")?);
        if let Some(home) = self.get("--home") {
            scope = scope.home(home);
        }
        if let Some(cwd) = self.get("--cwd") {
            scope = scope.cwd(root.join(cwd).to_str().unwrap_or(cwd));
        }
        Ok(scope)
    }
}

fn one(action: &Action, scope: &Scope, explain: bool, stdout: &mut dyn Write) -> io::Result<()> {
    say(stdout, &assess(action, scope).to_json().to_string())?;
    if explain {
        say(stdout, &reading_json(&read(action, scope)).to_string())?;
    }
    Ok(())
}

/// Answers each row in order; a row that cannot be judged is named on `stderr` and the rest goes on.
fn batch(stdin: &mut dyn BufRead, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let mut code = OK;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if stdin.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match answer(&line) {
            Ok(answer) => say(stdout, &answer)?,
            Err(problem) => {
                say(stderr, &format!("error: line {number}: {problem}"))?;
                code = USAGE;
            }
        }
    }
    Ok(code)
}

fn answer(line: &[u8]) -> Result<String, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not valid text")?;
    let row = Json::parse(text).map_err(|error| error.to_string())?;
    let id = row.get("id").ok_or("member `id` is missing")?;
    let verdict = match batch_case(&row) {
        Ok((action, scope)) => assess(&action, &scope),
        Err(error @ WireError::UnknownKind(_)) => {
            Verdict::Ask(Finding::new("unknown.kind", error.to_string(), 0..0))
        }
        Err(error) => return Err(error.to_string()),
    };
    let answer = Json::object([
        ("id", id.clone()),
        ("verdict", verdict.risk().as_str().into()),
        ("rule", verdict.finding().rule().into()),
        ("reason", verdict.finding().reason().into()),
    ]);
    Ok(answer.to_string())
}

fn reading_json(reading: &Reading) -> Json {
    let commands = reading.commands().iter().map(command_json).collect();
    let body = Json::object([("commands", Json::Array(commands)), ("opaque", reading.is_opaque().into())]);
    Json::object([("reading", body)])
}

fn command_json(command: &Command) -> Json {
    let hosts = command.hosts().iter().map(|host| host.as_str().into()).collect();
    Json::object([
        ("program", Json::from(command.program())),
        ("subcommand", command.subcommand().into()),
        ("paths", Json::Array(command.paths().iter().map(path_json).collect())),
        ("hosts", Json::Array(hosts)),
        ("span", Json::Array(vec![command.span().start.into(), command.span().end.into()])),
        ("opaque", command.is_opaque().into()),
    ])
}

fn path_json(path: &PathUse) -> Json {
    Json::object([
        ("path", Json::from(path.path())),
        ("effect", snake(&format!("{:?}", path.effect())).into()),
        ("class", snake(&format!("{:?}", path.class())).into()),
    ])
}

/// `InScope` as `in_scope`.
fn snake(name: &str) -> String {
    let mut word = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(char.to_ascii_lowercase());
    }
    word
}

fn say(stream: &mut dyn Write, line: &str) -> io::Result<()> {
    stream.write_all(format!("{line}\n").as_bytes())?;
    stream.flush()
}

const OK: u8 = 0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// Options of `assess` that take a value.
const VALUES: [&str; 5] = ["--kind", "--root", "--home", "--cwd", "--shell"];

const HELP: &str = "\
Decides whether an action may run: allow, ask or block. Looks at nothing but its input.

usage:
  {program} assess --root DIR [options] ACTION
  {program} assess --batch < cases.jsonl

options of assess:
  --kind KIND    shell (default), read, write, edit, delete, list, search, fetch, tool or text
  --root DIR     the folder the action should stay in
  --home DIR     the user's home folder, which `~` means
  --cwd DIR      the working directory; the root by default
  --shell NAME   language of the command: posix (default), powershell or cmd
  --explain      print how the action was read as a second line
  --batch        one case per line of input: {id, kind, action, root, cwd?, home?, shell?};
                 one {id, verdict, rule, reason} per line of output, in order

  --help, --version

exit code: 0 answered, 1 a stream failed, 2 arguments or lines that cannot be read";
