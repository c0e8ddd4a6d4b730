//! The `vanta` command: parses, assembles, runs, and gives an exit code. It decides nothing.
//!
//! stdout carries the answer, or JSON with `--json`; everything else goes to stderr. The files: `args.rs` the
//! command line, `config.rs` where settings come from, `assemble.rs` the agent, `run.rs` the two commands that run
//! one, `approve.rs` the permission prompt, `render.rs` and `jsonl.rs` what is shown, `exit.rs` every exit code.
#![forbid(unsafe_code)]

mod approvals;
mod approve;
mod args;
mod assemble;
mod config;
mod demo;
mod exit;
mod input;
mod jsonl;
mod keys;
mod out;
mod render;
mod run;
mod sessions;
mod site;
mod stop;
mod text;
mod view;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use args::{Cli, Command, KernelCommand};
use out::{Paint, note};

fn main() -> ExitCode {
    // First of all: commands that agents run must not read keys from this process.
    if let Err(error) = vanta_tools::hide_environment() {
        note(&format!("warning: cannot hide the environment from commands: {error}"));
    }
    let cli = Cli::parse();
    let paint = Paint::new(cli.color);
    if let Command::Kernel(KernelCommand::Assess { args }) = &cli.command {
        return kernel(args).into();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&error.into()).into(),
    };
    let code = runtime.block_on(dispatch(&cli.command, paint));
    // A prompt that waits for a line must not keep the process.
    runtime.shutdown_timeout(LAST_WORDS);
    code.into()
}

async fn dispatch(command: &Command, paint: Paint) -> u8 {
    match command {
        Command::Run(args) => run::run(args, paint).await,
        Command::Resume(args) => run::resume(args, paint).await,
        Command::Sessions(command) => code_of(sessions::command(command).await),
        Command::Approvals(command) => code_of(approvals::command(command).await),
        Command::Demo(options) => code_of(demo::run(options).await),
        Command::Kernel(KernelCommand::Assess { args }) => kernel(args),
    }
}

/// The kernel's own command line.
fn kernel(args: &[OsString]) -> u8 {
    let mut words: Vec<OsString> = vec!["assess".into()];
    if !says_home(args) {
        words.extend(["--home".into(), site::home().into()]);
    }
    words.extend(args.iter().cloned());
    let (mut stdin, mut stdout, mut stderr) = (io::stdin().lock(), io::stdout().lock(), io::stderr().lock());
    vanta_kernel::cli::main_as("vanta kernel", &words, &mut stdin, &mut stdout, &mut stderr)
}

/// Whether a home is named; the rows of a batch name their own.
fn says_home(args: &[OsString]) -> bool {
    let options = args.iter().take_while(|arg| *arg != "--");
    options
        .filter_map(|arg| arg.to_str())
        .any(|arg| matches!(arg, "--home" | "--batch") || arg.starts_with("--home="))
}

fn code_of(result: Result<u8>) -> u8 {
    result.unwrap_or_else(|error| complain(&error))
}

/// Says what is wrong and what helps, and gives its exit code.
fn complain(error: &anyhow::Error) -> u8 {
    let message = message(error);
    note(&format!("error: {message}"));
    if let Some((command, does)) = exit::hint(error).filter(|(command, _)| !message.contains(command)) {
        note(&format!("hint: `{command}` {does}"));
    }
    exit::of_error(error)
}

/// The error with its causes, each said once.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text::visible_lines(&text)
}

/// How long the runtime waits for threads that are still at work when all is done.
const LAST_WORDS: Duration = Duration::from_millis(200);
