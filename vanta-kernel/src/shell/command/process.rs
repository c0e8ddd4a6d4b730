//! Processes, schedules, the environment, recorders, and the boundary's own programs.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::names;
use crate::shell::flow::Walker;
use crate::shell::value::{TOKEN, Taint, UNKNOWN, Value};

impl Walker<'_> {
    pub(super) fn kill(&mut self, call: &mut Call) {
        let words: Vec<String> = call.words().map(String::from).collect();
        let is_boundary = call.taint().own
            || words
                .iter()
                .any(|w| w.contains("vanta") || w.split(|c: char| !c.is_ascii_digit()).any(|n| n == "7788"));
        let every = call.taint().every;
        match call.name.as_str() {
            "killall5" => call.fact(Act::KillAll),
            "fuser" if !words.iter().any(|w| w.starts_with('-') && w.contains('k')) => {
                call.output = Value::unknown(if is_boundary { Taint::OWN } else { Taint::NONE });
            }
            _ if is_boundary => call.fact(Act::SelfStop),
            _ if every => call.fact(Act::KillAll),
            "kill" => self.kill_numbers(&words, call),
            "taskkill" | "xkill" | "fuser" => {
                let kills =
                    call.name != "fuser" || words.iter().any(|w| w.starts_with('-') && w.contains('k'));
                if kills {
                    call.fact(Act::KillNamed);
                }
            }
            _ => {
                let options = Options::cluster(&call.args, "-u -U -g -s -t -P -G --signal --user");
                let lists =
                    options.has(&["-l", "--list", "-V", "--version"]) || words.iter().any(|w| w == "-0");
                let everything = options.operands.iter().any(|o| {
                    matches!(o.text.as_str(), "." | ".*" | "" | "^")
                        || o.text.chars().all(|c| c == crate::shell::value::ANY)
                });
                if everything || options.operands.is_empty() && options.has(&["-u", "-U"]) {
                    call.fact(Act::KillAll);
                } else if !lists {
                    call.fact(Act::KillNamed);
                }
            }
        }
    }

    fn kill_numbers(&mut self, words: &[String], call: &mut Call) {
        let mut words = words.iter().peekable();
        let mut signalled = false;
        while let Some(word) = words.next() {
            match word.as_str() {
                "-l" | "-L" | "--list" | "-0" => return,
                "-s" | "-n" | "--signal" => {
                    signalled = true;
                    if words.next().is_some_and(|s| s == "0") {
                        return;
                    }
                }
                "--" => {}
                "-1" if signalled || words.peek().is_none() => return call.fact(Act::KillAll),
                "1" => return call.fact(Act::System),
                "0" => return call.fact(Act::KillNamed),
                _ if word.starts_with('-') && !signalled => signalled = true,
                _ if word.starts_with(UNKNOWN) => return call.fact(Act::KillNamed),
                _ if word.starts_with(TOKEN) && word.chars().count() == 1 || word.starts_with('%') => {}
                _ => call.fact(Act::KillNamed),
            }
        }
    }

    pub(super) fn crontab(&mut self, call: &mut Call) {
        if call.words().any(|w| w == "-l") && call.args.len() == 1 {
            return call.fact(Act::System);
        }
        call.fact(Act::Scheduler);
        let input = call.stdin.text.clone();
        for line in input.lines() {
            let command = if line.starts_with('@') {
                line.split_once(' ').map_or("", |(_, c)| c)
            } else {
                line.splitn(6, ' ').nth(5).unwrap_or("")
            };
            self.nested_code(&String::from(command), call);
        }
    }

    /// `printenv`.
    pub(super) fn environment(&mut self, call: &mut Call) {
        let names: Vec<String> = call.words().filter(|w| !w.starts_with('-')).map(String::from).collect();
        if names.is_empty() {
            call.fact(Act::Environment);
            call.output = Value::unknown(Taint::SECRET);
        } else if names.iter().any(|n| names::is_secret_variable(n)) {
            call.fact(Act::SecretShow);
            call.output = Value::unknown(Taint::SECRET);
        } else {
            call.output = Value::unknown(Taint::NONE);
        }
    }

    /// Tools that run a command given as one word or behind their options.
    pub(super) fn script_tool(&mut self, call: &mut Call) {
        let name = call.name.clone();
        match name.as_str() {
            "script" => {
                let options = Options::cluster(&call.args, "-c --command -T -t -o -E");
                let code = options.value(&["-c", "--command"]).cloned();
                for file in options.operands.iter().take(1) {
                    self.use_path(file, Effect::Write, call);
                }
                match code {
                    Some(code) => self.run_value(&code, None, call),
                    None => self.run_inner(options.operands.iter().skip(1).cloned().collect(), call),
                }
            }
            "split" => {
                let options = Options::cluster(
                    &call.args,
                    "-a -b -C -l -n --filter --bytes --lines --number --suffix-length",
                );
                self.read_all(&options.operands.iter().take(1).cloned().collect::<Vec<_>>(), call);
                let taint = call.output.taint;
                let prefix = options.operands.get(1).map_or("x", |o| o.text.as_str());
                let path = self.place().absolute(&alloc::format!("{prefix}aa"));
                if let Some(code) = options.value(&["--filter"]).cloned() {
                    call.stdin = call.stdin.with_text(String::from(UNKNOWN));
                    call.stdin.taint = taint;
                    self.run_value(&code, None, call);
                } else if taint != Taint::NONE {
                    self.state.remember_file(&path, Value::unknown(taint));
                }
            }
            "gdb" | "lldb" => self.debugger(call),
            "cmake" => self.cmake(call),
            "at" | "batch" => {
                call.fact(Act::Scheduler);
                let input = call.stdin.clone();
                if !input.text.is_empty() {
                    self.run_value(&input, None, call);
                }
            }
            "entr" | "watchexec" | "nodemon" => {
                let options =
                    Options::leading(&call.args, "-w -e -x -i -d --exec --watch --ext --exts --delay");
                if let Some(code) = options.value(&["--exec", "-x"]).filter(|_| name == "nodemon").cloned() {
                    return self.run_value(&code, None, call);
                }
                if name == "nodemon" { self.tool(call) } else { self.run_inner(options.operands, call) }
            }
            _ => self.multiplexer(call),
        }
    }

    /// `tmux`, `screen`: keys that are typed into a shell.
    fn multiplexer(&mut self, call: &mut Call) {
        let lists =
            call.words().any(|w| matches!(w, "ls" | "list-sessions" | "-ls" | "-V" | "attach" | "-r" | "a"));
        let options = Options::whole(&call.args, "-t -s -n -S -c -X");
        for operand in options.operands.iter().filter(|o| o.text.contains(' ')) {
            let text = operand.clone();
            self.run_value(&text, None, call);
        }
        if !lists {
            call.fact(Act::RunUnknown);
            self.hidden_command(call);
        }
    }

    fn debugger(&mut self, call: &mut Call) {
        let options = Options::whole(
            &call.args,
            "-ex -iex -x -ix -o -O -p --eval-command --init-eval-command --pid -s",
        );
        for line in options.values(&["-ex", "-iex", "--eval-command", "--init-eval-command", "-o", "-O"]) {
            self.debugger_line(line, call);
        }
        for line in call.stdin.text.clone().lines() {
            self.debugger_line(&Value::literal(line), call);
        }
        if options.has(&["-p", "--pid"]) {
            call.fact(Act::Trace);
        }
        self.read_all(&options.operands.clone(), call);
    }

    /// A debugger's command, which may be one of the shell or of Python, or call into the program.
    fn debugger_line(&mut self, line: &Value, call: &mut Call) {
        let text = line.text.trim_start();
        let (verb, code) = text.split_once(' ').unwrap_or((text, ""));
        match verb {
            "shell" | "make" | "pipe" | "|" | "platform" => {
                call.command.fact(Act::RunUnknown, code);
                self.nested_code(code.trim_start_matches("shell "), call);
            }
            _ if text.starts_with('!') => {
                call.command.fact(Act::RunUnknown, text);
                self.nested_code(text.trim_start_matches(['!', ' ']), call);
            }
            "python" | "py" | "python-interactive" | "pi" | "script" => {
                let fields = ["python3", "-c", code].map(|word| line.with_text(word));
                self.run_inner(Vec::from(fields), call);
            }
            "guile" | "gu" | "call" | "print" | "p" | "compile" | "expression" | "expr" | "eval" => {
                let evident = matches!(verb, "print" | "p" | "expr" | "expression") && !code.contains('(');
                if !evident {
                    call.command.fact(Act::RunUnknown, verb);
                    self.unread_code(code, call);
                }
            }
            "source" => {
                self.use_path(&line.with_text(code), Effect::Execute, call);
            }
            _ => {}
        }
    }

    fn cmake(&mut self, call: &mut Call) {
        let args = call.args.clone();
        let words: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        match words.as_slice() {
            ["-E", command, ..] => {
                let program = match *command {
                    "remove_directory" | "rm" | "remove" => "rm",
                    "copy" | "copy_directory" | "copy_if_different" => "cp",
                    "rename" => "mv",
                    "touch" => "touch",
                    "make_directory" => "mkdir",
                    "env" | "time" => "env",
                    _ => "true",
                };
                let mut fields = Vec::from([Value::literal(program)]);
                if *command == "remove_directory" {
                    fields.push(Value::literal("-r"));
                }
                fields.extend(args.iter().skip(2).cloned());
                self.run_inner(fields, call);
            }
            _ if words.contains(&"--install") => call.fact(Act::InstallGlobal),
            _ => self.tool(call),
        }
        if words.windows(2).any(|w| matches!(w, ["--target", "install" | "deploy"])) {
            call.fact(Act::InstallGlobal);
        }
    }

    /// The boundary's own programs: looking is fine, deciding in a person's place is not.
    pub(super) fn self_tool(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "--root --port --kind");
        let words: Vec<&str> = options.operands.iter().map(|o| o.text.as_str()).collect();
        let decides = words.iter().any(|w| {
            matches!(
                *w,
                "approve"
                    | "deny"
                    | "decide"
                    | "allow"
                    | "consume"
                    | "trust"
                    | "untrust"
                    | "reset"
                    | "disable"
                    | "stop"
            )
        });
        match words.as_slice() {
            ["assess", ..]
            | [
                "approvals" | "goals" | "events" | "log" | "audit" | "status",
                "list" | "show" | "verify" | "tail",
            ] => {}
            [
                "approvals" | "approve" | "permissions" | "trust" | "rules" | "token" | "tokens" | "stop",
                ..,
            ] if decides => call.fact(Act::Approve),
            ["serve", ..] => call.fact(Act::SelfServe),
            _ if decides => call.fact(Act::Approve),
            _ => {}
        }
    }

    pub(super) fn windows_shell(&mut self, call: &mut Call) {
        let dialect = if call.name == "cmd" { crate::Dialect::Cmd } else { crate::Dialect::PowerShell };
        let mut args = call.args.iter().skip_while(|a| {
            let lower = a.text.to_ascii_lowercase();
            !matches!(
                lower.as_str(),
                "-c" | "-command" | "/c" | "/k" | "-encodedcommand" | "-enc" | "-e" | "-file" | "-f"
            )
        });
        let how = args.next().map(|a| a.text.to_ascii_lowercase());
        let code: Vec<&str> = args.map(|a| a.text.as_str()).collect();
        let line = code.join(" ");
        match how.as_deref() {
            None | Some("-encodedcommand" | "-enc" | "-e") => call.fact(Act::RunBuilt),
            Some("-file" | "-f") => {
                self.use_path(&Value::literal(line), Effect::Execute, call);
            }
            Some(_) => {
                let span = call.command.span.clone();
                crate::shell::windows::read(self, &line, dialect, &span);
            }
        }
    }
}
