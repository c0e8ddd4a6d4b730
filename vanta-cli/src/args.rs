//! The command line as types. It parses and explains; what a value means is decided in `config.rs`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use vanta_core::Mode;

/// Runs agents whose every action passes a safety boundary.
#[derive(Debug, Parser)]
#[command(name = "vanta", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs one task to its end
    Run(RunArgs),
    /// Goes on with a session where it stopped
    Resume(ResumeArgs),
    /// Shows what sessions hold
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Lists and answers what agents wait for
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Asks the safety boundary itself
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// Shows a whole run with a scripted model: no key, no network
    Demo(DemoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The task; `-` or nothing reads it from a pipe
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The session; `vanta sessions list` shows them
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Something to say before the model is called again; `-` reads it from a pipe
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// Takes the session that was active last
    #[arg(long)]
    last: bool,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

impl ResumeArgs {
    /// The session, `None` for the last one, and what to say.
    pub(crate) fn target(&self) -> Result<(Option<&str>, Option<&str>), &'static str> {
        match (self.last, self.id.as_deref(), self.prompt.as_deref()) {
            (true, _, Some(_)) => Err("give an id or `--last`, not both"),
            (true, prompt, None) => Ok((None, prompt)),
            (false, Some(id), prompt) => Ok((Some(id), prompt)),
            (false, None, _) => Err("name a session, or take the last one with `--last`"),
        }
    }
}

/// What `run` and `resume` share. What `resume` is not given comes from the session.
#[derive(Debug, Args, Default)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) root: RootArg,
    /// Who serves the model: openai, openrouter, groq, ollama, llamacpp, … or openai-compatible
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The model's name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Where the model is served, such as http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Prints events as JSON lines instead of the answer
    #[arg(long)]
    pub(crate) json: bool,
    /// Who answers when an action needs a person [default: prompt on a terminal, else defer]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) on_ask: Option<OnAsk>,
    /// How much runs without asking: default, accept-edits, auto or plan
    #[arg(long, value_parser = parse_mode, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Most model calls of the session [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// Most tokens of the session
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Most tool executions of the session
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<u32>,
    /// Longest time at work, such as 90s, 5m or 1h
    #[arg(long, value_parser = parse_duration, value_name = "DUR")]
    pub(crate) timeout: Option<Duration>,
    /// The tools on offer, with commas between [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) tools: Option<Vec<String>>,
}

#[derive(Debug, Args, Default)]
pub(crate) struct RootArg {
    /// The folder to work in [default: VANTA_ROOT, else the current folder]
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Who answers an Ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnAsk {
    /// The person at the terminal
    Prompt,
    /// Nobody now: the run ends, and goes on after an answer
    Defer,
    /// No
    Deny,
    /// Yes to every question (never to a Block)
    Approve,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Lists the sessions of the folder, oldest first
    List {
        #[command(flatten)]
        root: RootArg,
        /// Prints one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Prints what happened in a session, as far as it can be read
    Show {
        /// The session
        id: String,
        #[command(flatten)]
        root: RootArg,
        /// Prints one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Lists what waits for an answer
    List {
        /// Lists what was answered, used or has lapsed as well
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        root: RootArg,
        /// Prints one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Lets the act run, once
    Approve(AnswerArgs),
    /// Keeps the act from running
    Deny(AnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The number in the list
    pub(crate) id: u64,
    #[command(flatten)]
    pub(crate) root: RootArg,
    /// Prints the answered item as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Decides whether an action may run; see `vanta kernel assess --help`
    #[command(disable_help_flag = true)]
    Assess {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Prints events as JSON lines instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Makes the scratch crate here, in a folder that is new or empty [default: a temp folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

fn parse_mode(word: &str) -> Result<Mode, String> {
    Mode::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| {
        let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.as_str()).collect();
        format!("choose one of {}", names.join(", "))
    })
}

/// `90`, `90s`, `500ms`, `5m`, `1h`; never nothing.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let complaint = || "give a time such as 90s, 500ms, 5m or 1h".to_owned();
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(unit_at).ok_or_else(complaint)?;
    let number: u64 = digits.parse().map_err(|_| complaint())?;
    let millis = match unit {
        "ms" => Some(number),
        "" | "s" => number.checked_mul(1000),
        "m" => number.checked_mul(60_000),
        "h" => number.checked_mul(3_600_000),
        _ => None,
    };
    millis.filter(|millis| *millis > 0).map(Duration::from_millis).ok_or_else(complaint)
}

const EXIT_CODES: &str = "\
exit codes: 0 finished; 1 failed; 2 usage; 3 configuration, key or no such session; 4 stopped at a limit;
5 denied or refused; 6 gate unreachable; 10 waiting for an approval; 14 session busy; 15 storage refused;
16 format newer than this build; 17 damaged; 130 interrupted; 143 terminated";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_have_units_and_are_never_nothing() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("1h"), Ok(Duration::from_secs(3600)));
        for wrong in
            ["", "0", "0ms", "s", "1d", "-1s", "1.5s", "99999999999999999999", "18446744073709551615h"]
        {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_session_takes_a_prompt_and_no_id() {
        let target = |words: &[&str]| {
            let words = ["vanta", "resume"].iter().chain(words).copied().map(str::to_owned);
            let Command::Resume(args) = Cli::parse_from(words).command else { panic!() };
            args.target().map(|(id, prompt)| (id.map(str::to_owned), prompt.map(str::to_owned)))
        };
        let some = |word: &str| Some(word.to_owned());
        assert_eq!(target(&["s-1"]), Ok((some("s-1"), None)));
        assert_eq!(target(&["s-1", "go"]), Ok((some("s-1"), some("go"))));
        assert_eq!(target(&["--last"]), Ok((None, None)));
        assert_eq!(target(&["--last", "go"]), Ok((None, some("go"))));
        assert!(target(&[]).is_err());
        assert!(target(&["--last", "s-1", "go"]).is_err());
    }
}
