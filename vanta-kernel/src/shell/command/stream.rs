//! `sed`, `awk`, `sort` and editors: text tools whose little languages can write files and run commands.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::code::{self, Token};
use crate::shell::flow::Walker;
use crate::shell::value::Value;

impl Walker<'_> {
    pub(super) fn sed(&mut self, call: &mut Call) {
        let in_place = call.words().any(|w| w.starts_with("-i") || w.starts_with("--in-place"));
        // GNU takes the suffix of `-i` in the same word, BSD in the next one, where it is usually empty.
        let args: Vec<Value> =
            call.args.iter().filter(|a| !(in_place && a.text.is_empty())).cloned().collect();
        let options = if in_place {
            without_suffix(&args)
        } else {
            Options::cluster(&args, "-e -f -l --expression --file --line-length")
        };
        let mut scripts: Vec<Value> = options.values(&["-e", "--expression"]).cloned().collect();
        for file in options.values(&["-f", "--file"]) {
            self.use_path(file, Effect::Read, call);
        }
        let mut files = options.operands.clone();
        if scripts.is_empty() && !options.has(&["-f", "--file"]) && !files.is_empty() {
            scripts.push(files.remove(0));
        }
        for script in &scripts {
            self.sed_script(script, call);
        }
        self.read_all(&files, call);
        if in_place {
            let taint = call.output.taint;
            let empties = scripts.iter().any(|s| code::empties(&s.text));
            for file in &files {
                self.use_path(file, if empties { Effect::Overwrite } else { Effect::Write }, call);
            }
            call.output = Value { taint, ..Value::default() };
        }
    }

    fn sed_script(&mut self, script: &Value, call: &mut Call) {
        for command in code::sed_commands(&script.text) {
            match command {
                code::SedCommand::Run(line) if line.is_empty() => call.fact(Act::RunBuilt),
                code::SedCommand::Run(line) => {
                    call.command.fact(Act::RunUnknown, line.as_str());
                    self.nested_code(&line, call);
                }
                code::SedCommand::Write(file) => {
                    self.use_path(&Value::literal(file), Effect::Write, call);
                }
                code::SedCommand::Read(file) => {
                    self.use_path(&Value::literal(file), Effect::Read, call);
                }
            }
        }
    }

    pub(super) fn awk(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("awk").map_or("", |p| p.values));
        let mut files = options.operands.clone();
        for file in options.values(&["-f", "--file", "-i", "--include"]) {
            self.use_path(file, Effect::Read, call);
        }
        if options.has(&["-l", "--load"]) {
            call.fact(Act::RunUnknown);
        }
        if !options.has(&["-f", "--file"]) && !files.is_empty() {
            let program = files.remove(0);
            self.awk_program(&program, call);
        }
        let files: Vec<Value> = files.into_iter().filter(|f| !f.text.contains('=')).collect();
        self.read_all(&files, call);
        if options.values(&["-i", "--include"]).any(|v| v.text.starts_with("inplace")) {
            for file in &files {
                self.use_path(file, Effect::Write, call);
            }
        }
    }

    fn awk_program(&mut self, program: &Value, call: &mut Call) {
        if program.is_open() {
            call.fact(Act::RunBuilt);
        }
        let tokens = super::literals::adjoined(code::tokens(&program.text, code::Quotes::DoubleOnly));
        let reads_command = tokens
            .windows(3)
            .any(|w| matches!(w, [Token::Word(_), Token::Sign('|'), Token::Word(g)] if g == "getline"));
        let opens_network = tokens.iter().any(|t| matches!(t, Token::Text(s) if s.starts_with("/inet")));
        let mut runs = reads_command;
        for (index, token) in tokens.iter().enumerate() {
            let next = tokens.get(index + 1);
            let second = tokens.get(index + 2);
            match (token, next, second) {
                (Token::Word(w), Some(Token::Sign('(')), arg) if w == "system" => {
                    runs = true;
                    match (arg, tokens.get(index + 3)) {
                        (Some(Token::Text(line)), Some(Token::Sign(')'))) => self.awk_command(line, call),
                        _ => call.fact(Act::RunBuilt),
                    }
                }
                (Token::Text(line), Some(Token::Sign('|')), Some(Token::Word(w))) if w == "getline" => {
                    runs = true;
                    self.awk_command(line, call);
                }
                (Token::Sign('|'), Some(Token::Text(line)), _) => {
                    runs = true;
                    self.awk_command(line, call);
                }
                (Token::Sign('>'), Some(Token::Text(file)), _) => {
                    let in_print = tokens
                        .iter()
                        .take(index)
                        .any(|t| matches!(t, Token::Word(w) if w.starts_with("print")));
                    if in_print {
                        self.use_path(&Value::literal(file.as_str()), Effect::Write, call);
                    }
                }
                (Token::Word(w), Some(Token::Sign('<')), Some(Token::Text(file))) if w == "getline" => {
                    self.use_path(&Value::literal(file.as_str()), Effect::Read, call);
                }
                _ => {}
            }
        }
        super::interpreter::environment_words(&tokens, "ENVIRON", call);
        if opens_network {
            call.fact(if runs { Act::ReverseShell } else { Act::NetworkSend });
        }
    }

    fn awk_command(&mut self, line: &str, call: &mut Call) {
        call.command.fact(Act::RunUnknown, line);
        self.nested_code(line, call);
    }

    pub(super) fn sort(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("sort").map_or("", |p| p.values));
        self.read_all(&options.operands.clone(), call);
        for file in options.values(&["-o", "--output"]) {
            self.use_path(file, Effect::Write, call);
        }
        for code in options.values(&["--compress-program"]) {
            self.run_inner(Vec::from([code.clone()]), call);
        }
    }

    /// Editors and pagers: files, and commands behind `+`, `-c` or on their input.
    pub(super) fn editor(&mut self, call: &mut Call) {
        let args = call.args.clone();
        let mut command_next = false;
        let mut taint = call.stdin.taint;
        for arg in &args {
            let text = arg.text.as_str();
            let attached =
                text.strip_prefix('+').or_else(|| text.strip_prefix("-c").filter(|t| !t.is_empty()));
            if let Some(command) = attached.or(command_next.then_some(text)) {
                self.editor_command(command, call);
            } else if !text.starts_with('-') {
                let protected = self.place().locate(text).1 == crate::PathClass::Protected;
                let writes = protected && !matches!(call.name.as_str(), "less" | "view");
                let content = self.use_path(arg, if writes { Effect::Write } else { Effect::Read }, call);
                taint = taint.join(content.taint);
            }
            command_next = matches!(text, "-c" | "--cmd" | "-S" | "--command")
                && !matches!(call.name.as_str(), "less" | "nano");
        }
        if matches!(call.name.as_str(), "ed" | "ex" | "vi" | "vim") {
            let input = call.stdin.text.clone();
            for line in input.lines() {
                self.editor_command(line, call);
            }
        }
        call.output = Value::unknown(taint);
    }

    fn editor_command(&mut self, command: &str, call: &mut Call) {
        let command = command.trim_start_matches([
            ':', '%', '.', ' ', '$', ',', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0',
        ]);
        self.editor_file(command, call);
        let code = command
            .strip_prefix('!')
            .or_else(|| command.strip_prefix("r !"))
            .or_else(|| command.strip_prefix("w !"))
            .or_else(|| command.strip_prefix("silent !"));
        if let Some(code) = code {
            call.command.fact(Act::RunUnknown, code);
            self.nested_code(&String::from(code), call);
        }
    }
}

impl Walker<'_> {
    /// `:w path`, `:r path`, `:source path`.
    fn editor_file(&mut self, command: &str, call: &mut Call) {
        let (verb, target) = command.split_once(' ').unwrap_or((command, ""));
        let target = Value::literal(target.trim());
        match verb.trim_end_matches('!') {
            _ if target.text.is_empty() || target.text.starts_with('!') => {}
            "w" | "wq" | "x" | "sav" | "saveas" | "write" | "W" | "wa" => {
                self.use_path(&target, Effect::Write, call);
            }
            "e" | "r" | "edit" | "read" | "tabe" | "sp" | "vs" => {
                self.use_path(&target, Effect::Read, call);
            }
            "so" | "source" | "luafile" | "pyfile" | "py3file" | "ru" => {
                if target.text.contains("://") {
                    call.command.fact(Act::RunFetched, target.text.as_str());
                }
                self.use_path(&target, Effect::Execute, call);
            }
            "call" | "lua" | "py" | "py3" | "python" | "python3" | "perl" | "ruby" | "exe" | "execute" => {
                call.command.fact(Act::RunUnknown, verb);
                self.unread_code(&target.text, call);
            }
            _ => {}
        }
    }
}

/// The options once more with every `-i`, whose suffix (`-i.bak`) is no file, out of the way.
fn without_suffix(args: &[Value]) -> Options {
    let plain: Vec<Value> = args
        .iter()
        .map(|a| if a.text.starts_with("-i") { Value::literal("-n") } else { a.clone() })
        .collect();
    Options::cluster(&plain, "-e -f -l --expression --file --line-length")
}
