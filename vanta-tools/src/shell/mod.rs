//! `shell`: one command, run to its end, with nothing of it left behind.
//!
//! The command line is described to the gate as it is, together with what its paths are on disk (`disk.rs`), and
//! what was judged is what runs. It gets no terminal, no
//! input and a clean environment (`env.rs`); it is stopped with everything it started at its time limit, when the
//! call is cancelled and when the call is dropped (`job.rs`); its output is kept in bounded memory (`capture.rs`).

mod capture;
mod disk;
mod env;
mod escaped;
mod job;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use vanta_core::message::JsonObject;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput, ToolSpec};
use vanta_core::typed::schema_of;
use vanta_core::{Action, ClearedCall, Scope, Tool};

use crate::error::FileError;
use crate::file::offload;
use crate::path::{Kind, Place};
use job::{End, Job, Left, Report};

/// Runs a command with `bash`, or `sh` where there is no bash.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use vanta_core::Tool;
/// use vanta_tools::Shell;
///
/// let shell = Shell::new().with_default_timeout(Duration::from_secs(30)).pass_env("DATABASE_URL");
/// assert_eq!(shell.spec().name(), "shell");
/// ```
#[derive(Debug, Clone)]
pub struct Shell {
    default_timeout: Duration,
    passthrough: BTreeSet<String>,
    sandbox: Sandbox,
}

/// Whether commands run behind a wall of the operating system, beside the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Sandbox {
    /// Without.
    #[default]
    Off,
    /// With one where there is one; without it otherwise.
    Prefer,
    /// Only with one: where there is none, commands are refused.
    Require,
}

/// Keeps commands from reading this process's environment, where keys often are, through `/proc`.
///
/// Call it first thing in `main`. It also turns core dumps and debuggers off for this process, so a library does
/// not do it by itself. It does nothing where there is no such file, and does not hold against root.
///
/// # Errors
/// When the system refuses.
///
/// # Examples
/// ```
/// vanta_tools::hide_environment()?;
/// # std::io::Result::Ok(())
/// ```
pub fn hide_environment() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Arguments of [`Shell`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellArgs {
    /// The command line, for bash.
    command: String,
    /// When to give up, in milliseconds: 120000 when left out, 600000 at most.
    #[serde(default, deserialize_with = "crate::args::whole")]
    timeout_ms: Option<u64>,
    /// The directory to run it in; the working directory when left out.
    #[serde(default)]
    cwd: Option<String>,
}

impl Default for Shell {
    fn default() -> Self {
        Self::new()
    }
}

impl Shell {
    /// Gives commands two minutes when the call does not say, passes no secrets, uses no sandbox.
    #[must_use]
    pub fn new() -> Self {
        Self {
            default_timeout: Duration::from_secs(120),
            passthrough: BTreeSet::new(),
            sandbox: Sandbox::Off,
        }
    }

    /// Sets the time limit of calls that name none; ten minutes at most.
    #[must_use]
    pub fn with_default_timeout(mut self, limit: Duration) -> Self {
        self.default_timeout = limit.min(MAX_TIMEOUT);
        self
    }

    /// Passes the variable `name` of the agent's environment to commands, though it may look like a secret.
    #[must_use]
    pub fn pass_env(mut self, name: impl Into<String>) -> Self {
        self.passthrough.insert(name.into());
        self
    }

    /// Sets whether a sandbox is used. This version has none, so [`Sandbox::Require`] refuses every command.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    fn limit(&self, args: &ShellArgs) -> Duration {
        args.timeout_ms.map_or(self.default_timeout, Duration::from_millis).min(MAX_TIMEOUT)
    }
}

/// The longest a command may take.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// For killing and collecting after the limit, before the loop itself gives up.
const AFTERMATH: Duration = Duration::from_secs(10);

#[async_trait::async_trait]
impl Tool for Shell {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("shell", DESCRIPTION)
            .with_schema(schema_of::<ShellArgs>())
            .with_effect(EffectClass::Effect)
            .with_timeout(MAX_TIMEOUT + AFTERMATH)
    }

    async fn describe_for_safety(
        &self,
        args: &JsonObject,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        let args = parse(args).map_err(DescribeError::new)?;
        if self.sandbox == Sandbox::Require {
            return Err(DescribeError::new(NO_SANDBOX));
        }
        let scope = cx.scope().clone();
        Ok(offload(move || described(&args, &scope)).await?)
    }

    async fn execute(&self, call: ClearedCall, cx: &ToolContext) -> ToolOutput {
        if self.sandbox == Sandbox::Require {
            return ToolOutput::fail(NO_SANDBOX);
        }
        let args = match parse(call.arguments()) {
            Ok(args) => args,
            Err(complaint) => return ToolOutput::fail(complaint),
        };
        let job = match self.prepare(args, call.actions(), cx).await {
            Ok(_) if cx.cancel().is_cancelled() => return ToolOutput::fail(FileError::Cancelled.to_string()),
            Ok(job) => job,
            Err(error) => return ToolOutput::fail(error.to_string()),
        };
        let limit = job.limit;
        match job.run(cx.cancel()).await {
            Ok(report) => answer(&report, limit),
            Err(error) => ToolOutput::fail(format!("the command could not be started: {error}")),
        }
    }
}

const NO_SANDBOX: &str = "a sandbox is required and this build has none, so no command is run";

const DESCRIPTION: &str = "Runs a command with bash and returns its output and exit code. There is no terminal and no \
    input. What it leaves in the background is stopped when it ends. Long output is shortened in the middle.";

impl Shell {
    async fn prepare(&self, args: ShellArgs, actions: &[Action], cx: &ToolContext) -> Result<Job, FileError> {
        let (limit, command) = (self.limit(&args), args.command.clone());
        let judged = actions
            .iter()
            .any(|action| matches!(action, Action::Shell { command, .. } if *command == args.command));
        if !judged {
            return Err(FileError::Argument("the command is not the one that was cleared".into()));
        }
        let (scope, actions) = (cx.scope().clone(), actions.to_vec());
        let cwd = offload(move || {
            let cwd = match &args.cwd {
                Some(asked) => Place::cleared(&scope, asked, &actions)?,
                None => Place::locate(&scope, ".")?,
            };
            unchanged(&described(&args, &scope)?, &actions)?;
            Ok(folder(cwd)?.real().to_owned())
        })
        .await?;
        let env = env::environment(std::env::vars_os(), &self.passthrough);
        Ok(Job { program: program(command), cwd, env, limit })
    }
}

/// The command, the folder it sees, and what its paths are on disk now.
fn described(args: &ShellArgs, scope: &Scope) -> Result<Vec<Action>, FileError> {
    let place = args.cwd.as_deref().map(|asked| folder(Place::locate(scope, asked)?)).transpose()?;
    let cwd = place.as_ref().map(|place| place.described().to_owned());
    let shell = Action::Shell { command: args.command.clone(), cwd, dialect: Default::default() };
    let facts = disk::facts(&shell, scope);
    // A command sees the directory it runs in, also when it names no path.
    let seen = place.filter(|place| !place.is_inside()).map(|place| Action::list(place.described()));
    Ok([shell].into_iter().chain(seen).chain(facts).collect())
}

fn unchanged(now: &[Action], judged: &[Action]) -> Result<(), FileError> {
    if now == judged {
        return Ok(());
    }
    let how = "a path of the command leads elsewhere now, or a file it would replace came or went";
    Err(FileError::Changed { path: "the command's surroundings".into(), how: how.into() })
}

fn parse(args: &JsonObject) -> Result<ShellArgs, String> {
    let args: ShellArgs = serde_json::from_value(Value::Object(args.clone()))
        .map_err(|error| format!("the arguments do not fit: {error}"))?;
    if args.command.trim().is_empty() {
        return Err("the command is empty".into());
    }
    if args.command.contains('\0') {
        return Err("the command holds a NUL character, which no command line can".into());
    }
    if args.timeout_ms == Some(0) {
        return Err("timeout_ms is 0; give the command some time, or leave it out".into());
    }
    Ok(args)
}

/// Refuses what is known not to be a folder; outside the root only starting the command will tell.
fn folder(place: Place) -> Result<Place, FileError> {
    if !place.is_inside() {
        return Ok(place);
    }
    match place.kind()? {
        Some(Kind::Folder) => Ok(place),
        Some(kind) => Err(place.unsuitable(kind.name(), "name a directory to run the command in")),
        None => Err(FileError::Missing { path: place.shown().to_owned(), near: place.near_names() }),
    }
}

fn interpreter() -> &'static str {
    ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .unwrap_or("/bin/sh")
}

/// `command` behind a shell that first closes whatever this process would hand down by accident: files and
/// sockets that a library opened without close-on-exec.
fn program(command: String) -> Vec<OsString> {
    let shell = interpreter();
    let gate = if shell.ends_with("bash") { CLOSE_ALL } else { CLOSE_SINGLE_DIGITS };
    let words = [shell, "-c", gate, shell, shell, "-c", "--"].map(OsString::from);
    words.into_iter().chain([command.into()]).collect()
}

// The name of the variable is one that is never passed on, so assigning it changes nothing for the command.
const CLOSE_ALL: &str = r#"for VANTA_FD in /dev/fd/*; do VANTA_FD=${VANTA_FD##*/}
case $VANTA_FD in [3-9]|[1-9][0-9]*) eval "exec $VANTA_FD>&-";; esac; done; exec "$@""#;

/// Other shells take no larger numbers.
const CLOSE_SINGLE_DIGITS: &str =
    r#"for VANTA_FD in 3 4 5 6 7 8 9; do eval "exec $VANTA_FD>&-"; done; exec "$@""#;

fn answer(report: &Report, limit: Duration) -> ToolOutput {
    let mut text = report.output.text();
    if text.trim().is_empty() {
        text = "[no output]".into();
    }
    let text = text.trim_end_matches('\n');
    let left = match report.left {
        Left::Nothing => "",
        Left::Stopped => "; what still held its output in the background was stopped",
        Left::Running => "; something it left in the background still runs and could not be stopped",
    };
    match report.end {
        End::Exit(0) => ToolOutput::ok(format!("{text}\n[exit code 0{left}]")),
        End::Exit(code) => ToolOutput::fail(format!("{text}\n[exit code {code}{left}]")),
        End::Signal(signal) => {
            ToolOutput::fail(format!("{text}\n[killed by signal {signal}, exit code {}{left}]", 128 + signal))
        }
        End::TimedOut => ToolOutput::fail(format!(
            "{text}\n[timed out after {} ms, exit code 124; the command was stopped with its group{left}. \
             Give a larger timeout_ms (at most {}), or do less at once]",
            limit.as_millis(),
            MAX_TIMEOUT.as_millis()
        )),
        End::Cancelled => {
            ToolOutput::fail(format!("{text}\n[cancelled; the command was stopped with its group{left}]"))
        }
        End::Unknown => ToolOutput::fail(format!("{text}\n[ended, exit code unknown{left}]")),
    }
}
