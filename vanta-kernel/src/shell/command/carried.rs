//! Command lines that travel in an option, an operand or a variable of another program.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Call;
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::carriers::{self, CodeVariable, InputProgram};
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{UNKNOWN, Value};

impl Walker<'_> {
    /// Judges the code that the arguments of `call` carry, whatever its model says about the rest.
    pub(super) fn carried_code(&mut self, call: &mut Call) {
        self.behind_exec(call);
        self.program_on_input(call);
        if call.name == "bind" {
            self.bound_keys(call);
        }
        let options = carriers::code_options(&call.name);
        let operands = carriers::runs_operands(&call.name);
        if options.is_empty() && !operands {
            return;
        }
        let args = call.args.clone();
        for (index, arg) in args.iter().enumerate() {
            for option in options.split(' ') {
                if let Some(value) = option_value(&args, index, option) {
                    self.carried_value(&value, call);
                }
            }
            if operands && !arg.text.starts_with('-') && arg.text.contains(' ') {
                self.carried_line(arg, call);
            }
        }
    }

    /// `tool exec rm …`, `tool -- rm …` of a tool whose table does not say that it runs what follows.
    fn behind_exec(&mut self, call: &mut Call) {
        let is_tool = table::program(&call.name).is_some_and(|row| {
            matches!(row.shape, table::Shape::Tool | table::Shape::Model(table::Model::Packages))
        });
        if !is_tool {
            return;
        }
        let runner = matches!(call.name.as_str(), "cross-env" | "env-cmd" | "shx");
        let mut previous = if runner { "--" } else { "" };
        let mut start = None;
        for (index, arg) in call.args.iter().enumerate() {
            let word = arg.text.as_str();
            if matches!(previous, "--" | "exec" | "shx") && table::DESTROYERS.contains(&word) {
                start = Some(index);
                break;
            }
            if !(runner && word.contains('=')) {
                previous = word;
            }
        }
        if let Some(start) = start {
            let fields = call.args.iter().skip(start).cloned().collect();
            self.run_inner(fields, call);
        }
    }

    /// `bind -x '"\C-l": cmd'`: a key runs a line; without `-x` it types one or does what the line editor offers.
    fn bound_keys(&mut self, call: &mut Call) {
        let runs = call.words().any(|w| w.starts_with('-') && w.contains('x'));
        for arg in call.args.clone() {
            let Some((_, code)) = arg.text.rsplit_once("\":").filter(|_| !arg.text.starts_with('-')) else {
                continue;
            };
            let code = code.trim().trim_matches(['"', '\'']).replace("\\n", "");
            if runs {
                call.command.fact(Act::RunUnknown, "bind -x");
            }
            self.carried_line(&arg.with_text(code), call);
        }
    }

    /// Programs that read a program of their language when they are given no file.
    fn program_on_input(&mut self, call: &mut Call) {
        let Some(reads) = carriers::reads_program(&call.name) else { return };
        // With options of its own such a program does something else: `clojure -M:test`.
        let given = match reads {
            InputProgram::Code => !call.args.is_empty() && !call.words().any(|w| w == "-"),
            _ => call.words().any(|w| !w.starts_with('-')),
        };
        if (given || call.stdin.text.is_empty()) && call.name != "dc" {
            return;
        }
        let input = call.stdin.clone();
        match reads {
            InputProgram::Code => self.given_code(&input, call),
            InputProgram::Macros => self.macro_escapes(&input, call),
            InputProgram::Lines => {
                let args = call.args.clone();
                for code in args.iter().chain([&input]) {
                    self.line_escapes(code, call);
                }
            }
        }
    }

    /// `syscmd(…)` of m4.
    fn macro_escapes(&mut self, input: &Value, call: &mut Call) {
        let code = input.text.replace(['`', '\''], "\"");
        let runs = ["syscmd", "esyscmd", "mkstemp", "maketemp"].iter().any(|w| code.contains(w));
        if runs {
            call.fact(Act::RunUnknown);
            self.unread_code(&code, call);
            for (_, tail) in
                code.match_indices("syscmd(").filter_map(|(at, w)| Some((at, code.get(at + w.len()..)?)))
            {
                let line = tail.split(')').next().unwrap_or("").replace('"', "");
                self.nested_code(&line, call);
            }
        }
    }

    /// `!cmd` of dc.
    fn line_escapes(&mut self, input: &Value, call: &mut Call) {
        for line in input.text.lines() {
            let Some((_, code)) = line.split_once('!').filter(|(_, c)| !c.starts_with(['=', '<', '>']))
            else {
                continue;
            };
            call.command.fact(Act::RunUnknown, code);
            self.nested_code(code, call);
        }
    }

    /// A program text that is a value of this line.
    fn given_code(&mut self, code: &Value, call: &mut Call) {
        if code.taint.network {
            call.fact(Act::RunFetched);
        }
        if code.is_open() {
            return call.fact(Act::RunBuilt);
        }
        self.unread_code(&String::from(code.text.as_str()), call);
    }

    /// `dart run <(…)`: the file that is run was made for it.
    pub(super) fn given_programs(&mut self, sub: &str, call: &mut Call) {
        if !matches!(sub, "run" | "run-script" | "exec" | "script" | "compile" | "test") {
            return;
        }
        for arg in
            call.args.clone().iter().filter(|a| a.text.starts_with("/dev/fd/") || a.text == "/dev/stdin")
        {
            let content = self.use_path(arg, Effect::Execute, call);
            self.given_program(&arg.text, &content, call);
        }
    }

    /// The content of a file that is run.
    pub(super) fn given_program(&mut self, name: &str, content: &Value, call: &mut Call) {
        if content.taint.network {
            call.command.fact(Act::RunFetched, name);
        }
        if name.starts_with("/dev/") {
            call.command.fact(Act::RunUnknown, name);
        }
        if !content.text.is_empty() && !content.is_open() {
            self.unread_code(&String::from(content.text.as_str()), call);
        }
    }

    fn carried_value(&mut self, value: &Value, call: &mut Call) {
        match call.name.as_str() {
            "fzf" | "sk" => {
                for code in bound_commands(&value.text) {
                    self.carried_line(&value.with_text(code), call);
                }
                if !value.text.contains(":execute") {
                    self.carried_line(value, call);
                }
            }
            // `key = "command"`, of which only some keys are code; the others do not read as a command.
            "apt" | "apt-get" | "aptitude" | "cargo" | "hg" | "svn" | "scp" | "sftp" => {
                if let Some((key, code)) =
                    value.text.split_once(['=', ' ']).filter(|(key, _)| is_code_key(key))
                {
                    let runs_shell = key.to_ascii_lowercase().contains("command");
                    let code = unquoted(code);
                    if runs_shell || code.contains(' ') || code.contains('/') {
                        self.carried_line(&value.with_text(code), call);
                    }
                } else if matches!(call.name.as_str(), "cargo" | "scp" | "sftp") && !value.text.contains('=')
                {
                    self.carried_line(value, call);
                }
            }
            "gcc" | "g++" | "clang" => {
                self.carried_line(&value.with_text(value.text.replace(',', " ")), call)
            }
            name if LANGUAGES.binary_search(&name).is_ok() => self.unread_code(&value.text.clone(), call),
            _ => self.carried_line(value, call),
        }
    }

    /// An argument of a program nobody knows that reads like a command which destroys.
    pub(super) fn option_line(&mut self, arg: &Value, call: &mut Call) {
        let text = arg
            .text
            .split_once('=')
            .filter(|_| arg.text.starts_with('-'))
            .map_or(arg.text.as_str(), |(_, v)| v);
        let first = text.split_ascii_whitespace().next().unwrap_or("");
        if table::DESTROYERS.contains(&first.rsplit('/').next().unwrap_or(first)) {
            self.carried_line(&arg.with_text(text), call);
        }
    }

    /// One command line. A single word that no table knows is the name of a tool or a style.
    pub(super) fn carried_line(&mut self, line: &Value, call: &mut Call) {
        let text = line.text.trim_start_matches(['|', '-', '@', '!', ' ']);
        let first = text.split_ascii_whitespace().next().unwrap_or("");
        let base = first.rsplit('/').next().unwrap_or(first);
        let bare = text == first && !text.contains(['/', ';', '&', '|', '$', '`']);
        if text.is_empty() || table::is_shell(base) && text == first {
            return;
        }
        if bare && !table::DESTROYERS.contains(&base) {
            return;
        }
        let output = core::mem::take(&mut call.output);
        self.run_value(&line.with_text(text), None, call);
        call.output = output;
    }

    /// Variables that make other programs run code, or move the boundary.
    pub(crate) fn check_variable(&mut self, name: &str, values: &[Value], call: &mut Call) {
        if name.starts_with("VANTA_") {
            call.command.fact(Act::SelfServe, name);
        }
        if MOVING.contains(&name)
            && let Some(value) = values.first()
        {
            call.settings.push((String::from(name), value.clone()));
        }
        let Some(kind) = carriers::code_variable(name) else { return };
        let text = values.iter().map(|v| v.text.as_str()).collect::<Vec<_>>().join(" ");
        if matches!(text.as_str(), "" | "cat" | "less" | "true" | "vi" | "vim" | "nano" | "more" | ":") {
            return;
        }
        let value =
            Value { taint: values.first().map_or_else(Default::default, |v| v.taint), text: text.into() };
        match kind {
            CodeVariable::File => call.command.fact(Act::TamperEnvironment, name),
            CodeVariable::Command => {
                call.command.fact(Act::TamperEnvironment, name);
                if !value.text.contains(UNKNOWN) {
                    let code = String::from(value.text.trim_start_matches(['|', '-', ' ']));
                    self.nested_code(&code, call);
                }
            }
            CodeVariable::Prompt => {
                let code = format!(": \"{}\"", value.text.replace('"', "\\\""));
                self.nested_code(&code, call);
            }
            CodeVariable::Tool => self.tool_variable(&value, call),
        }
    }

    /// `CC='ccache gcc'`, `make ARGS='-x 1'`: flags are data, and a line that starts with a program is code.
    pub(super) fn tool_variable(&mut self, value: &Value, call: &mut Call) {
        let first = value.text.split_ascii_whitespace().next().unwrap_or("");
        let separates =
            value.text.contains([';', '`', '\n']) || value.text.contains("&&") || value.text.contains("$(");
        let base = first.rsplit('/').next().unwrap_or(first);
        if value.text.contains(UNKNOWN) || !separates && table::program(base).is_none() {
            return;
        }
        self.carried_line(value, call);
    }
}

/// Sorted. Programs whose code option holds a language of its own.
const LANGUAGES: &[&str] = &[
    "bb",
    "clj",
    "clojure",
    "crystal",
    "csi",
    "dotnet-script",
    "erl",
    "ghc",
    "gnuplot",
    "guile",
    "kotlin",
    "kotlinc",
    "latexmk",
    "maxima",
    "nim",
    "ocaml",
    "octave",
    "octave-cli",
    "raku",
    "rpm",
    "swift",
    "v",
    "wolframscript",
];

/// Variables that move what a command works on.
const MOVING: [&str; 2] = ["GIT_DIR", "GIT_WORK_TREE"];

/// The value of `option` when the argument at `index` is it: behind it, attached, or behind `=`.
fn option_value(args: &[Value], index: usize, option: &str) -> Option<Value> {
    let arg = args.get(index).filter(|_| !option.is_empty())?;
    let tail = arg.text.strip_prefix(option)?;
    if tail.is_empty() {
        return args.get(index + 1).cloned();
    }
    if let Some(value) = tail.strip_prefix(['=', ':']) {
        return Some(arg.with_text(value));
    }
    (option.len() == 2 && !option.starts_with("--")).then(|| arg.with_text(tail))
}

/// `key:execute(cmd),key:reload(cmd)`: the commands among the actions of a key binding.
fn bound_commands(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for action in ["execute", "reload", "become", "transform", "preview", "silent"] {
        for (at, _) in text.match_indices(action) {
            let tail = text.get(at + action.len()..).unwrap_or("");
            let inner = match tail.strip_prefix('(') {
                Some(inner) => inner.rsplit_once(')').map_or(inner, |(code, _)| code),
                None => tail.strip_prefix(':').unwrap_or(""),
            };
            out.push(String::from(inner));
        }
    }
    out
}

/// Keys of configuration given on the command line whose value is run.
fn is_code_key(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    [
        "runner",
        "linker",
        "wrapper",
        "rustc",
        "alias",
        "credential-process",
        "invoke",
        "hook",
        "command",
        "tunnel",
        "editor",
        "diff",
        "merge-tools",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// A value of such a configuration without its quotes and brackets.
fn unquoted(text: &str) -> String {
    let list = text.trim_start().starts_with('[');
    let plain: String =
        text.chars().filter(|c| !(matches!(c, '"' | '\'') || list && matches!(c, '[' | ']' | ','))).collect();
    String::from(plain.trim_matches(['!', ' ']))
}
