//! Shells and shell built-ins: `sh -c`, `eval`, `source`, `alias`, `cd`, `export`, `set`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::rules::act::Act;
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, UNKNOWN, Value, display};
use crate::{Effect, PathClass};

impl Walker<'_> {
    pub(super) fn shell(&mut self, call: &mut Call) {
        let args = call.args.clone();
        let mut args = args.into_iter();
        let mut code = false;
        let mut reads_input = false;
        let mut check_only = false;
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            match text {
                "-o" | "+o" | "-O" | "+O" => {
                    args.next();
                }
                "--rcfile" | "--init-file" => {
                    let file = args.next().unwrap_or_default();
                    let content = self.use_path(&file, Effect::Execute, call);
                    self.script_content(&content, call);
                }
                "-c" | "--command" => code = true,
                "-" | "-s" => reads_input = true,
                "--" => {
                    let tail: Vec<Value> = args.collect();
                    return self.shell_operands(tail, code, reads_input, check_only, call);
                }
                _ if text.starts_with("--") => {}
                _ if text.starts_with('-') && !text.contains(UNKNOWN) => {
                    code |= text.contains('c');
                    reads_input |= text.contains('s');
                    check_only |= text.contains('n');
                    if text.ends_with('o') {
                        args.next();
                    }
                }
                _ => {
                    let mut operands = Vec::from([arg]);
                    operands.extend(args);
                    return self.shell_operands(operands, code, reads_input, check_only, call);
                }
            }
        }
        self.shell_operands(Vec::new(), code, reads_input, check_only, call);
    }

    fn shell_operands(
        &mut self,
        operands: Vec<Value>,
        code: bool,
        reads_input: bool,
        check_only: bool,
        call: &mut Call,
    ) {
        let mut operands = operands.into_iter();
        let first = operands.next();
        if code {
            let Some(text) = first else {
                return call.fact(Act::RunBuilt);
            };
            let positional: Vec<Value> = operands.collect();
            return self.run_value(&text, Some(positional), call);
        }
        let first = if reads_input { None } else { first };
        let Some(script) = first else {
            return self.run_input(call);
        };
        let content = self.use_path(&script, if check_only { Effect::Read } else { Effect::Execute }, call);
        if check_only {
            return;
        }
        self.task_name(&script.text, call);
        if is_input(&script.text) {
            return self.run_input(call);
        }
        if content.taint.network {
            call.command.fact(Act::RunFetched, display(&script.text));
        }
        if content.is_open() && script.text.starts_with("/dev/fd/") {
            call.fact(Act::RunBuilt);
        }
        if !content.is_unknown() && !content.text.is_empty() {
            let text = content.clone();
            self.run_value(&text, Some(Vec::from([script])), call);
        }
    }

    /// What a shell is given to read is code.
    fn run_input(&mut self, call: &mut Call) {
        if call.stdin.text.is_empty() && call.stdin.taint == Taint::NONE {
            // A shell at the terminal, or with nothing to do; what it prints may answer a connection.
            call.output = Value::unknown(Taint { wire: true, ..Taint::NONE });
            return call.fact(if self.state.wire { Act::ReverseShell } else { Act::RunUnknown });
        }
        let code = call.stdin.clone();
        call.stdin = Value::default();
        if code.taint.wire || self.state.wire {
            call.fact(Act::ReverseShell);
        }
        self.run_value(&code, None, call);
        // What this shell prints is the answer to whoever sent its lines.
        call.output.taint.wire |= code.is_open();
    }

    /// Runs a value as a command line.
    pub(crate) fn run_value(&mut self, code: &Value, positional: Option<Vec<Value>>, call: &mut Call) {
        if code.taint.network {
            call.fact(Act::RunFetched);
        }
        if code.is_open() {
            call.fact(Act::RunBuilt);
            call.command.opaque = true;
        }
        let outer = core::mem::replace(&mut self.state.positional, positional);
        let text = display_code(&code.text);
        call.output = self.nested_code(&text, call);
        self.state.positional = outer;
    }

    pub(super) fn eval(&mut self, call: &mut Call) {
        let mut code = Value::default();
        for (index, arg) in call.args.iter().enumerate() {
            if index > 0 {
                code.text.push(' ');
            }
            code.push(arg);
        }
        self.run_here(&code, call);
    }

    /// Runs a value in this very shell, so that what it sets stays set.
    fn run_here(&mut self, code: &Value, call: &mut Call) {
        if code.taint.network {
            call.fact(Act::RunFetched);
        }
        if code.is_open() {
            call.fact(Act::RunBuilt);
            call.command.opaque = true;
        }
        let stdin = call.stdin.clone();
        let text = display_code(&code.text);
        call.output = self.run_text(&text, Some(call.command.span.clone()), &stdin);
    }

    /// `trap 'code' SIGNAL`: the code runs later in this shell.
    pub(super) fn trap(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "");
        if options.operands.len() > 1
            && let Some(code) = options.operands.first().filter(|code| code.text != "-").cloned()
        {
            self.run_value(&code, None, call);
            let signals = options.operands.iter().skip(1).map(|s| s.text.to_ascii_uppercase());
            self.trapped(&code.text, signals);
        }
    }

    pub(super) fn source(&mut self, call: &mut Call) {
        let Some(script) = call.args.first().cloned() else { return };
        let content = self.use_path(&script, Effect::Execute, call);
        if is_input(&script.text) {
            if call.stdin.text.is_empty() && call.stdin.taint == Taint::NONE {
                return self.run_input(call);
            }
            if call.stdin.taint.wire || self.state.wire {
                call.fact(Act::ReverseShell);
            }
            let code = core::mem::take(&mut call.stdin);
            if code.is_open() {
                self.state.doubt_variables();
            }
            return self.run_here(&code, call);
        }
        if content.is_open() && script.text.starts_with("/dev/fd/") {
            self.state.doubt_variables();
        }
        if content.taint.network {
            call.fact(Act::RunFetched);
        }
        if !content.text.is_empty() && !content.is_unknown() {
            let stdin = call.stdin.clone();
            self.run_text(&content.text, Some(call.command.span.clone()), &stdin);
        } else if self.place().locate(&script.text).1 == PathClass::Harmless {
            call.fact(Act::RunBuilt);
        }
    }

    pub(super) fn alias(&mut self, call: &mut Call) {
        for arg in call.args.clone() {
            if let Some((name, text)) = arg.text.split_once('=') {
                self.state.alias(name, text);
                // It may be called where this line does not show it.
                let text = String::from(text);
                self.nested_code(&text, call);
            }
        }
    }

    pub(super) fn change_folder(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "");
        let target = options.operands.first().cloned();
        let Some(target) = target else {
            let is_dash = call.words().any(|w| w == "-");
            let home = self.scope.home_dir().map(String::from);
            let place = if is_dash { self.state.previous_cwd.clone() } else { home };
            match place {
                Some(place) => self.enter(&Value::literal(place), call),
                None => self.state.enter_unknown(),
            }
            return;
        };
        if target.text == "-" {
            let previous = self.state.previous_cwd.clone().unwrap_or_else(|| self.state.cwd.clone());
            self.state.enter(previous);
            return;
        }
        self.enter(&target, call);
    }

    fn enter(&mut self, target: &Value, call: &mut Call) {
        self.use_path(target, Effect::Read, call);
        if target.is_unknown() {
            self.state.enter_unknown();
        } else {
            let path = self.place().absolute(&target.text);
            self.state.enter(path);
        }
    }

    pub(super) fn declare(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "");
        let array = call.words().any(|w| w.starts_with('-') && w.contains(['A', 'a']));
        if array && options.operands.is_empty() {
            // The elements of an array are assignments of their own.
            return;
        }
        if call.name == "history" {
            if options.has(&["-c", "-d", "-w", "-r"]) {
                call.fact(Act::System);
            }
            return;
        }
        let prints = options.operands.is_empty() && call.name != "unset" && call.name != "local";
        if prints && !options.has(&["-f", "-F"]) {
            call.fact(Act::Environment);
            call.output = Value::unknown(Taint::SECRET);
        }
        for operand in &options.operands {
            let (name, value) = match operand.text.split_once('=') {
                Some((name, value)) => (name, Some(operand.with_text(value))),
                None => (operand.text.as_str(), None),
            };
            let name = String::from(name.trim_end_matches('+'));
            self.declared(&name, call);
            if self.names_another(&name, call) {
                continue;
            }
            if call.name == "unset" {
                self.state.vars.remove(&name);
                if name.starts_with("HIST") {
                    call.command.fact(Act::System, name);
                } else if name.starts_with("VANTA_") {
                    call.command.fact(Act::SelfServe, name);
                }
                continue;
            }
            if let Some(value) = value {
                self.check_variable(&name, core::slice::from_ref(&value), call);
                if call.name == "export" {
                    self.check_folder(&name, core::slice::from_ref(&value), call);
                }
                self.state.live |= crate::rules::names::says_live(&value.text);
                self.state.set(&name, Vec::from([value]), false);
            }
        }
        if options.operands.iter().any(|o| o.taint.secret && o.text.starts_with(UNKNOWN)) {
            call.fact(Act::Environment);
        }
    }

    pub(super) fn set_options(&mut self, call: &mut Call) {
        let words: Vec<&str> = call.words().collect();
        match words.as_slice() {
            [] => {
                call.fact(Act::Environment);
                call.output = Value::unknown(Taint::SECRET);
            }
            ["--", ..] => {
                let mut all = Vec::from([Value::default()]);
                all.extend(call.args.iter().skip(1).cloned());
                // `"$@"` of which nothing is known may be any number of words.
                self.state.positional = (!all.iter().any(Value::is_unknown)).then_some(all);
            }
            _ => {}
        }
    }
}

/// The names of a program's own input.
fn is_input(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Code as text again: a pattern is written as it was, an unknown piece as a variable nobody has set.
fn display_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            UNKNOWN | crate::shell::value::CONTENT => out.push_str("${_}"),
            crate::shell::value::ANY => out.push('*'),
            crate::shell::value::ONE => out.push('?'),
            crate::shell::value::TOKEN => out.push('_'),
            crate::shell::value::LISTED => out.push_str("${_}"),
            other => out.push(other),
        }
    }
    out
}
