//! Interpreters: scripts they run, and inline code, which is scanned for calls that touch something.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, literals};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::names;
use crate::rules::table;
use crate::shell::code::{Quotes, Token, tokens};
use crate::shell::flow::Walker;
use crate::shell::host;
use crate::shell::value::{Taint, UNKNOWN, Value, display};

/// What a function of a program text does with its first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Delete,
    DeleteTree,
    Read,
    Write,
    Open,
    Change,
    Run,
    Evaluate,
    Send,
    Fetch,
    Connect,
    Kill,
}

impl Walker<'_> {
    pub(super) fn interpreter(&mut self, call: &mut Call) {
        if call.name == "R" && call.words().any(|w| matches!(w, "INSTALL" | "REMOVE")) {
            return call.fact(Act::InstallGlobal);
        }
        let args = call.args.clone();
        let values = table::program(&call.name).map_or("", |p| p.values);
        let takes = |name: &str| values.split(' ').any(|v| v == name);
        let mut args = args.into_iter();
        let mut code = String::new();
        let mut has_code = false;
        let mut files = Vec::new();
        while let Some(arg) = args.next() {
            let text = arg.text.clone();
            if takes(&text) {
                args.next();
            } else if self.is_code_option(&text, call) {
                let mut next = args.next().unwrap_or_default();
                if let Some((_, tail)) = text.split_once('=') {
                    next = arg.with_text(tail);
                }
                if next.taint.network {
                    call.fact(Act::RunFetched);
                }
                if next.is_unknown() {
                    call.fact(Act::RunBuilt);
                }
                has_code = true;
                code.push_str(&display(&next.text));
                code.push('\n');
            } else if text == "-m" && call.name.starts_with("py") {
                return self.python_module(args.collect(), call);
            } else if text == "-" {
                break;
            } else if !text.starts_with('-') {
                if has_code {
                    files.push(arg);
                    break;
                }
                return self.program_file(&arg, args.collect(), call);
            }
        }
        if has_code {
            files.extend(args);
            self.edited_files(&files, &code, call);
            return self.inline_code(&code, call);
        }
        let shows =
            call.words().any(|w| matches!(w, "--version" | "-V" | "--help" | "-v" | "-h" | "--test" | "-c"));
        self.code_on_input(shows, call);
    }

    /// `perl -i -pe code files`: the files are read, or changed in place.
    fn edited_files(&mut self, files: &[Value], code: &str, call: &mut Call) {
        if !matches!(call.name.as_str(), "perl" | "ruby") {
            return;
        }
        let in_place = call.words().any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains('i'));
        let letters = |letter: char| {
            call.words()
                .any(|w| w.starts_with('-') && !w.starts_with("--") && w.len() < 6 && w.contains(letter))
        };
        let silent = letters('n') && !letters('p') && !code.contains("print") && !code.contains("say");
        let effect = match (in_place, silent || crate::shell::code::empties(code)) {
            (true, true) => Effect::Overwrite,
            (true, false) => Effect::Write,
            _ => Effect::Read,
        };
        for file in files.iter().filter(|f| !f.text.starts_with('-')) {
            self.use_path(file, effect, call);
        }
    }

    fn code_on_input(&mut self, shows: bool, call: &mut Call) {
        let input = call.stdin.clone();
        if input.text.is_empty() {
            if !shows && call.args.iter().all(|a| a.text.starts_with('-')) {
                call.fact(Act::RunUnknown);
            }
            return;
        }
        if input.taint.network {
            call.fact(Act::RunFetched);
        }
        if input.is_unknown() {
            return call.fact(Act::RunBuilt);
        }
        self.inline_code(&display(&input.text), call);
    }

    fn is_code_option(&self, text: &str, call: &Call) -> bool {
        let name = call.name.as_str();
        if text.starts_with("--") {
            return matches!(
                text.split('=').next(),
                Some("--eval" | "--print" | "--execute" | "--exec" | "--command")
            );
        }
        if name == "deno" || name == "bun" && !text.starts_with('-') {
            return text == "eval";
        }
        let letters = text.strip_prefix('-').unwrap_or("");
        let python = name.starts_with("py") || name.starts_with("ipy");
        match name {
            _ if letters.is_empty() => false,
            _ if python => letters.ends_with('c') && letters.len() <= 4,
            "php" => letters == "r",
            "expect" | "tclsh" => letters == "c",
            "ruby" | "perl" => letters.ends_with(['e', 'E']) && letters.len() <= 5,
            _ => matches!(letters, "e" | "p" | "pe" | "ne" | "le"),
        }
    }

    fn python_module(&mut self, args: Vec<Value>, call: &mut Call) {
        let Some((module, rest)) = args.split_first() else { return };
        let name = module.text.clone();
        call.command.subcommand = Some(name.clone().into());
        let mut fields = Vec::from([module.clone()]);
        fields.extend_from_slice(rest);
        match name.as_str() {
            "venv" | "virtualenv" => {
                for folder in rest.iter().filter(|r| !r.text.starts_with('-')) {
                    self.use_path(folder, Effect::Write, call);
                }
            }
            _ if table::program(&name).is_some() => self.run_inner(fields, call),
            _ => {
                call.args = rest.to_vec();
                Self::intent(call);
                self.tool(call);
            }
        }
    }

    fn program_file(&mut self, file: &Value, rest: Vec<Value>, call: &mut Call) {
        if call.name == "deno" || call.name == "bun" {
            return self.runtime_command(file, rest, call);
        }
        let content = self.use_path(file, Effect::Execute, call);
        if file.text.contains("://") || content.taint.network {
            call.command.fact(Act::RunFetched, display(&file.text));
        }
        if !content.text.is_empty() && !content.is_unknown() {
            self.inline_code(&content.text, call);
        }
        let base = String::from(file.text.rsplit('/').next().unwrap_or(""));
        call.args = rest;
        if base == "manage.py" {
            return self.django(call);
        }
        if base == "artisan" {
            let mut fields = Vec::from([Value::literal("artisan")]);
            fields.extend(call.args.iter().cloned());
            return self.run_inner(fields, call);
        }
        if base == "setup.py" && call.words().any(|w| matches!(w, "upload" | "register")) {
            call.fact(Act::Publish);
        }
        self.task_name(&base, call);
        Self::intent(call);
        self.tool(call);
    }

    pub(super) fn django(&mut self, call: &mut Call) {
        let mut fields = Vec::from([Value::literal("django-admin")]);
        fields.extend(call.args.iter().cloned());
        self.run_inner(fields, call);
    }

    fn runtime_command(&mut self, first: &Value, rest: Vec<Value>, call: &mut Call) {
        call.command.subcommand = Some(first.text.clone().into());
        match first.text.as_str() {
            "run" | "x" => {
                let script = rest.iter().find(|r| !r.text.starts_with('-'));
                if let Some(script) = script {
                    if script.text.contains("://") {
                        call.command.fact(Act::RunFetched, script.text.as_str());
                    } else if script.text.contains(['.', '/']) {
                        let content = self.use_path(script, Effect::Execute, call);
                        self.given_program(&script.text, &content, call);
                    }
                    let name = script.text.clone();
                    self.task_name(&name, call);
                }
            }
            "eval" => {
                let code = rest.first().cloned().unwrap_or_default();
                self.inline_code(&display(&code.text), call);
            }
            "publish" | "unpublish" | "deploy" => call.fact(Act::Publish),
            "install" | "i" | "add" | "a" | "remove" | "rm" | "update" | "uninstall" | "link"
                if rest.iter().any(|r| matches!(r.text.as_str(), "-g" | "--global")) =>
            {
                call.fact(Act::InstallGlobal)
            }
            "upgrade" => call.fact(Act::InstallGlobal),
            _ => {
                call.args = rest;
                self.tool(call);
            }
        }
    }

    /// Judges program text by the calls in it.
    pub(crate) fn inline_code(&mut self, code: &str, call: &mut Call) {
        let quotes = quotes_of(&call.name);
        if let Some(line) = code.trim_start().strip_prefix('!').filter(|_| call.name.starts_with("ipy")) {
            self.nested_code(&String::from(line), call);
            return;
        }
        if matches!(call.name.as_str(), "expect" | "tclsh" | "wish") {
            return self.tcl(code, call);
        }
        let joins = quotes == Quotes::Triple || matches!(call.name.as_str(), "ruby" | "irb");
        let tokens = tokens(code, quotes);
        let tokens = if joins { literals::adjoined(tokens) } else { literals::folded(tokens) };
        if literals::forks_without_end(&tokens) {
            call.fact(Act::ForkBomb);
        }
        let mut scan = Scan::default();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                Token::Command(line) => {
                    scan.runs = true;
                    call.command.fact(Act::RunUnknown, line.as_str());
                    self.nested_code(line, call);
                }
                Token::Word(word)
                    if quotes == Quotes::Template && is_shell_template(word, &tokens, index) =>
                {
                    scan.runs = true;
                    if let Some(Token::Text(line)) = tokens.get(index + 1) {
                        call.command.fact(Act::RunUnknown, word.as_str());
                        self.nested_code(line, call);
                    }
                }
                Token::Word(word) => {
                    scan.word(word, &tokens, index);
                    let does = function(word, &call.name, &tokens, index);
                    match does {
                        Some(does) => self.code_call(does, word, &tokens, index, &mut scan, call),
                        None if is_unknown_call(word, &tokens, index) => {
                            scan.unknown_call = Some(word.clone())
                        }
                        None => {}
                    }
                }
                _ => {}
            }
        }
        let unread = is_less_known(&call.name)
            && tokens.iter().any(|t| matches!(t, Token::Word(w) if !is_printing(w)));
        if unread {
            call.fact(Act::RunUnknown);
            self.evident_deletes(&tokens, call);
        }
        if unread || scan.runs || scan.evaluates || scan.unknown_call.is_some() {
            self.literal_commands(&tokens, call);
        }
        if matches!(call.name.as_str(), "ruby" | "irb" | "perl" | "julia") {
            environment_words(&tokens, "ENV", call);
        }
        if call.name == "php" {
            environment_words(&tokens, "_ENV", call);
        }
        self.code_requests(&tokens, &mut scan, call);
        self.code_summary(&scan, call);
    }

    /// A request to the boundary itself, and methods that send.
    fn code_requests(&self, tokens: &[Token], scan: &mut Scan, call: &mut Call) {
        let texts = || {
            tokens.iter().filter_map(|t| if let Token::Text(text) = t { Some(text.as_str()) } else { None })
        };
        scan.sends |= scan.fetches
            && texts().any(|t| matches!(t, "POST" | "PUT" | "PATCH" | "DELETE" | "post" | "put"));
        let boundary = texts().filter(|t| t.contains("://")).map(host::address).any(|a| a.is_boundary());
        let port = tokens.iter().any(|t| matches!(t, Token::Word(w) if w == "7788"))
            || texts().any(|t| t.ends_with(":7788") || t == "7788");
        if (boundary && scan.sends) || port && (scan.connects || scan.sends) {
            call.fact(Act::Approve);
        }
    }

    fn code_summary(&mut self, scan: &Scan, call: &mut Call) {
        if scan.connects && (scan.runs || scan.shell_word) {
            call.fact(Act::ReverseShell);
        } else if (scan.sends || scan.fetches || scan.connects) && (scan.secret || call.stdin.taint.secret) {
            call.fact(Act::Exfiltrate);
        } else if scan.sends || scan.connects {
            call.fact(Act::NetworkSend);
        } else if scan.fetches {
            call.fact(Act::Network);
        }
        if scan.fetches && scan.evaluates {
            call.fact(Act::RunFetched);
        } else if scan.evaluates {
            call.fact(Act::RunBuilt);
        }
        if let Some(word) = &scan.unknown_call {
            call.command.fact(Act::RunUnknown, word.as_str());
        }
        if scan.whole_environment {
            call.fact(Act::Environment);
        } else if scan.secret_variable {
            call.fact(Act::SecretShow);
        }
        let taint = Taint { secret: scan.secret, network: scan.fetches, ..Taint::NONE };
        call.output = Value::unknown(taint.join(call.stdin.taint));
    }

    fn code_call(
        &mut self,
        does: Does,
        word: &str,
        tokens: &[Token],
        index: usize,
        scan: &mut Scan,
        call: &mut Call,
    ) {
        let args = arguments(tokens, index);
        let path = self.code_path(&args, scan);
        match does {
            Does::Delete | Does::DeleteTree => {
                let target = path.unwrap_or_else(|| receiver_path(tokens, index));
                let recursive = tokens.iter().any(|t| matches!(t, Token::Word(w) if w == "recursive"));
                let tree = does == Does::DeleteTree || recursive || mentions_walk(tokens);
                let target =
                    if mentions_walk(tokens) { walk_start(tokens).unwrap_or(target) } else { target };
                self.use_path_deep(&target, Effect::Delete, tree, call);
            }
            Does::Read => {
                if let Some(path) = path {
                    scan.secret |= self.use_path(&path, Effect::Read, call).taint.secret;
                }
            }
            Does::Write => {
                let target = path.unwrap_or_else(|| receiver_path(tokens, index));
                self.use_path(&target, Effect::Write, call);
            }
            Does::Open => {
                // Perl names a handle first and the file last.
                let last = args.iter().rev().find_map(|t| match t {
                    Token::Text(s) => Some(Value::literal(s.trim_start_matches(['<', '>', '+', ' ']))),
                    _ => None,
                });
                let path = if call.name == "perl" { last.or(path) } else { path };
                let Some(path) = path else { return };
                if path.text.contains("://") {
                    scan.fetches = true;
                    return;
                }
                let mode = args
                    .iter()
                    .skip(1)
                    .find_map(|t| if let Token::Text(s) = t { Some(s.as_str()) } else { None });
                let writes = mode.is_some_and(|m| m.len() <= 3 && m.contains(['w', 'a', 'x', '+']));
                let effect = if writes { Effect::Write } else { Effect::Read };
                scan.secret |= self.use_path(&path, effect, call).taint.secret;
            }
            Does::Change => {
                if let Some(path) = path {
                    self.use_path(&path, Effect::Write, call);
                }
                call.command.fact(Act::RunUnknown, word);
            }
            Does::Run => {
                scan.runs = true;
                self.code_runs(word, &args, scan, call);
            }
            Does::Evaluate => match args.first() {
                Some(Token::Text(code)) if self.enter_nesting() => {
                    self.inline_code(&code.clone(), call);
                    self.leave_nesting();
                }
                _ => scan.evaluates = true,
            },
            Does::Send => scan.sends = true,
            Does::Fetch => scan.fetches = true,
            Does::Connect => scan.connects = true,
            Does::Kill => call.command.fact(Act::KillNamed, word),
        }
    }

    /// The first argument as a path: a literal, home, the working directory, or unknown.
    fn code_path(&self, args: &[Token], _scan: &Scan) -> Option<Value> {
        if let Some(Token::Word(word)) = args.first()
            && word.ends_with("expanduser")
        {
            let text = args.iter().find_map(|t| if let Token::Text(s) = t { Some(s.as_str()) } else { None });
            return Some(text.map_or_else(|| Value::marker(UNKNOWN), Value::literal));
        }
        if let Some(at) = args.iter().take(8).position(is_home_expression) {
            return Some(Value::literal(literals::below_home(args, at)));
        }
        match args.first()? {
            Token::Text(text) => Some(Value::literal(text.trim_end_matches("**"))),
            Token::Word(word) if word.ends_with("getcwd") || word.ends_with("cwd") => {
                Some(Value::literal(self.state.cwd.as_str()))
            }
            Token::Sign(')') => None,
            _ => Some(Value::marker(UNKNOWN)),
        }
    }

    /// A process started from code: a literal line or list is read as a command.
    fn code_runs(&mut self, word: &str, args: &[Token], scan: &mut Scan, call: &mut Call) {
        let texts: Vec<&str> = args
            .iter()
            .filter_map(|t| if let Token::Text(s) = t { Some(s.as_str()) } else { None })
            .collect();
        call.command.fact(Act::RunUnknown, word);
        let Some(first) = texts.first() else {
            scan.evaluates = true;
            return;
        };
        if texts.len() == 1 || first.contains(' ') {
            self.nested_code(&String::from(*first), call);
            return;
        }
        // `execvp("rm", ["rm", "-rf", "/"])` names the program twice.
        let skip = usize::from(texts.get(1) == Some(first));
        let fields: Vec<Value> = texts.iter().skip(skip).map(|t| Value::literal(*t)).collect();
        self.run_inner(fields, call);
    }
}

/// ``$`rm x` ``: a template that a shell runs.
fn is_shell_template(word: &str, tokens: &[Token], index: usize) -> bool {
    matches!(tokens.get(index + 1), Some(Token::Text(_)))
        && (word.ends_with('$') || word.starts_with("$.") || matches!(word, "execa" | "sh" | "shell"))
}

/// `process.env.HOME`, `os.environ['HOME']`, `Dir.home`: the user's home folder.
fn is_home_expression(token: &Token) -> bool {
    match token {
        Token::Text(text) | Token::Word(text) if text == "HOME" => true,
        Token::Word(word) => {
            word == "process.env.HOME"
                || ["Path.home", "Dir.home", "homedir"].iter().any(|end| word.ends_with(end))
        }
        _ => false,
    }
}

/// What a scan of code has seen.
#[derive(Debug, Default)]
struct Scan {
    runs: bool,
    evaluates: bool,
    sends: bool,
    fetches: bool,
    connects: bool,
    secret: bool,
    secret_variable: bool,
    whole_environment: bool,
    shell_word: bool,
    unknown_call: Option<String>,
}

impl Scan {
    fn word(&mut self, word: &str, tokens: &[Token], index: usize) {
        self.shell_word |= matches!(word, "pty.spawn" | "os.dup2" | "subprocess.call");
        let tail = word.strip_prefix("process.env").or_else(|| word.strip_prefix("os.environ"));
        let member = match (tail, tokens.get(index + 1), tokens.get(index + 2)) {
            (Some(""), Some(Token::Sign('[' | '(')), Some(Token::Text(name))) => Some(name.as_str()),
            (Some(""), _, _) if word.starts_with("process.env") || word == "os.environ" => {
                self.whole_environment = true;
                self.secret = true;
                None
            }
            (Some(".get"), _, Some(Token::Text(name))) => Some(name.as_str()),
            (Some(tail), _, _) => tail.strip_prefix('.'),
            (None, _, Some(Token::Text(name)))
                if word == "os.getenv" || word == "ENV.fetch" || word == "getenv" =>
            {
                Some(name.as_str())
            }
            _ => None,
        };
        let perl = match (word, tokens.get(index + 1), tokens.get(index + 2)) {
            (
                "$ENV" | "$_ENV" | "ENV",
                Some(Token::Sign('{' | '[')),
                Some(Token::Word(name) | Token::Text(name)),
            ) => Some(name.as_str()),
            _ => None,
        };
        if member.or(perl).is_some_and(names::is_secret_variable) {
            self.secret = true;
            self.secret_variable = true;
        }
    }
}

/// `%ENV`, `ENV.to_h`, `ENVIRON` in a loop: the whole environment, unless one entry is named.
pub(super) fn environment_words(tokens: &[Token], name: &str, call: &mut Call) {
    const ONE_ENTRY: [&str; 6] = ["fetch", "key", "has_key", "include", "dig", "keys"];
    for (index, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let Some(tail) = word.trim_start_matches(['$', '@', '%']).strip_prefix(name) else { continue };
        let entry = match (tokens.get(index + 1), tokens.get(index + 2)) {
            (Some(Token::Sign('[' | '{')), Some(Token::Text(entry) | Token::Word(entry))) => Some(entry),
            _ => None,
        };
        match (tail.strip_prefix('.'), entry) {
            (Some(method), _) if !ONE_ENTRY.contains(&method) => call.fact(Act::Environment),
            (None, None) if tail.is_empty() => call.fact(Act::Environment),
            (None, Some(entry)) if names::is_secret_variable(entry) => call.fact(Act::SecretShow),
            (None, Some(entry)) if tail.is_empty() && name == "ENVIRON" && entry.len() <= 2 => {
                call.fact(Act::Environment);
            }
            _ => {}
        }
    }
}

/// The tokens between the parentheses behind the name at `index`, or up to the end of the statement.
fn arguments(tokens: &[Token], index: usize) -> Vec<Token> {
    let mut depth = 0_usize;
    let mut out = Vec::new();
    let bracketed = matches!(tokens.get(index + 1), Some(Token::Sign('(')));
    for token in tokens.iter().skip(index + 1).take(64) {
        match token {
            Token::Sign('(') => {
                depth += 1;
                if depth == 1 && bracketed {
                    continue;
                }
            }
            Token::Sign(')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 && bracketed {
                    break;
                }
            }
            Token::Sign(';') => break,
            _ => {}
        }
        out.push(token.clone());
    }
    out
}

/// `Path('a').unlink()`: the string before the method.
fn receiver_path(tokens: &[Token], index: usize) -> Value {
    tokens
        .iter()
        .take(index)
        .rev()
        .take(4)
        .find_map(|t| if let Token::Text(s) = t { Some(Value::literal(s.as_str())) } else { None })
        .unwrap_or_else(|| Value::marker(UNKNOWN))
}

fn mentions_walk(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| matches!(t, Token::Word(w) if matches!(w.as_str(), "os.walk" | "glob.glob" | "glob.iglob" | "rglob" | "Dir.glob" | "Dir.each_child" | "glob")))
}

fn walk_start(tokens: &[Token]) -> Option<Value> {
    let at = tokens.iter().position(
        |t| matches!(t, Token::Word(w) if matches!(w.as_str(), "os.walk" | "glob.glob" | "glob.iglob" | "rglob" | "Dir.glob" | "Dir.each_child" | "glob")),
    )?;
    match tokens.get(at + 2) {
        Some(Token::Text(text)) => {
            Some(Value::literal(if text.starts_with('/') && text.trim_end_matches(['*', '/']).is_empty() {
                "/"
            } else {
                text.trim_end_matches(['*', '/'])
            }))
        }
        _ => Some(Value::marker(UNKNOWN)),
    }
}

fn quotes_of(name: &str) -> Quotes {
    match name {
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Quotes::Template,
        "ruby" | "irb" | "perl" | "php" => Quotes::Shell,
        _ if name.starts_with("py") || name.starts_with("ipy") => Quotes::Triple,
        _ => Quotes::Template,
    }
}

/// What the name at `index` does when it is called.
fn function(word: &str, program: &str, tokens: &[Token], index: usize) -> Option<Does> {
    let next = tokens.get(index + 1);
    let called = matches!(next, Some(Token::Sign('(')));
    let bare =
        matches!(next, Some(Token::Text(_))) || matches!(program, "ruby" | "perl" | "emacs" | "osascript");
    if matches!((word, next, tokens.get(index + 2)), ("do", Some(Token::Word(s)), Some(Token::Word(w))) if s == "shell" && w == "script")
    {
        return Some(Does::Run);
    }
    if matches!(word, "tell" | "display" | "keystroke") && program == "osascript" {
        return Some(Does::Change);
    }
    if program == "emacs" && matches!(word, "command" | "process") && matches!(next, Some(Token::Text(_))) {
        return Some(Does::Run);
    }
    if program == "emacs" && matches!(word, "delete" | "directory") {
        return Some(Does::DeleteTree);
    }
    let last = word.rsplit(['.', ':']).next().unwrap_or(word);
    if word == "then" || last == "then" {
        return matches!(tokens.get(index + 2), Some(Token::Word(w)) if w == "eval")
            .then_some(Does::Evaluate);
    }
    if !called && !bare {
        // `from shutil import rmtree as r`: the call has another name, so the import counts as an unknown call.
        let imported =
            tokens.get(index.wrapping_sub(1)).is_some_and(|t| matches!(t, Token::Word(w) if w == "import"));
        let renamed = imported && matches!(next, Some(Token::Word(w)) if w == "as");
        return if renamed {
            lookup(last).filter(|d| matches!(d, Does::Delete | Does::DeleteTree | Does::Run))
        } else {
            None
        };
    }
    if matches!(
        word,
        "TCPSocket.new"
            | "TCPSocket.open"
            | "TCPSocket"
            | "IO.socketpair"
            | "Socket.tcp"
            | "IO::Socket::INET"
    ) {
        return Some(Does::Connect);
    }
    let made = tokens.get(index.wrapping_sub(1)).is_some_and(|t| matches!(t, Token::Word(w) if w == "new"));
    if made && matches!(last, "Socket" | "SSLSocket" | "DatagramSocket" | "TcpClient")
        || matches!(last, "socketConnection" | "make.socket" | "TcpClient")
        || word == "make.socket"
    {
        return Some(Does::Connect);
    }
    if last == "connect" {
        let socket = tokens.iter().any(|t| match t {
            Token::Word(w) => w.contains("socket") || w.contains("Socket"),
            Token::Text(s) => matches!(s.as_str(), "net" | "tls" | "node:net" | "socket"),
            _ => false,
        });
        return socket.then_some(Does::Connect);
    }
    if matches!(last, "exec" | "get" | "post" | "run" | "call" | "open" | "remove" | "write" | "read") {
        return qualified(word, last, program);
    }
    lookup(last)
}

/// Languages whose calls the tables know too little of: only plain printing is evident.
fn is_less_known(name: &str) -> bool {
    const KNOWN: [&str; 10] =
        ["bun", "deno", "node", "nodejs", "perl", "php", "ruby", "irb", "ts-node", "tsx"];
    !KNOWN.contains(&name) && !name.starts_with("py") && !name.starts_with("ipy")
}

fn is_printing(word: &str) -> bool {
    let last = word.rsplit(['.', ':']).next().unwrap_or(word);
    word.chars().all(|c| c.is_ascii_digit() || c == '.')
        || matches!(
            last,
            "print"
                | "println"
                | "printf"
                | "puts"
                | "disp"
                | "cat"
                | "message"
                | "inspect"
                | "IO"
                | "format"
                | "display"
        )
}

/// A call whose effect is not evidently reading, computing or printing.
fn is_unknown_call(word: &str, tokens: &[Token], index: usize) -> bool {
    if !matches!(tokens.get(index + 1), Some(Token::Sign('('))) {
        return false;
    }
    let last = word.rsplit(['.', ':']).next().unwrap_or(word);
    // Methods that are named like a plain one are taken for it; a bare or qualified unknown name is not.
    PLAIN_CALLS.binary_search(&last).is_err()
}

/// Names that mean different things in different places.
fn qualified(word: &str, last: &str, program: &str) -> Option<Does> {
    let owner = word.strip_suffix(last).unwrap_or("").trim_end_matches(['.', ':']);
    let python = program.starts_with("py");
    match (last, owner) {
        ("exec", "") if python => Some(Does::Evaluate),
        ("exec", "RegExp" | "re" | "regex" | "pattern") => None,
        ("exec", _) => Some(Does::Run),
        ("get", "requests" | "http" | "https" | "axios" | "httpx" | "urllib" | "Net::HTTP" | "") => {
            Some(Does::Fetch)
        }
        ("post", _) => Some(Does::Send),
        ("run" | "call", "subprocess" | "sp") => Some(Does::Run),
        ("run" | "call", owner) if python && owner.len() <= 3 && !owner.is_empty() => Some(Does::Run),
        ("open", "" | "File" | "io" | "codecs" | "fs") => Some(Does::Open),
        ("open", "TCPSocket") => Some(Does::Connect),
        ("open", "URI") => Some(Does::Fetch),
        ("remove", "os" | "Deno" | "fs" | "File") => Some(Does::DeleteTree),
        ("write" | "read", "File" | "IO") => Some(if last == "read" { Does::Read } else { Does::Write }),
        _ => None,
    }
}

fn lookup(name: &str) -> Option<Does> {
    FUNCTIONS
        .binary_search_by(|(key, _)| (*key).cmp(name))
        .ok()
        .and_then(|i| FUNCTIONS.get(i))
        .map(|(_, does)| *does)
}

/// Sorted. Calls that compute, look or print, by their last name.
#[rustfmt::skip]
const PLAIN_CALLS: &[&str] = &[
    "Array", "BigInt", "Boolean", "Counter", "DataFrame", "Date", "Decimal", "Error", "Fraction", "Map",
    "Math", "Number", "Object", "OrderedDict", "Path", "Promise", "RegExp", "Series", "Set", "String",
    "Symbol", "URL", "abs", "accumulate", "all", "and", "any", "append", "apply", "arange", "arch",
    "architecture", "argmax", "argmin", "argsort", "array", "as_posix", "ascii", "assign", "at",
    "b64encode", "basename", "between", "bin", "bit_length", "bool", "bytearray", "bytes", "bytesize",
    "calendar", "capitalize", "cat", "cbrt", "ceil", "center", "chain", "charAt", "charCodeAt", "chars",
    "choice", "chr", "clamp", "class", "cmp_to_key", "codePointAt", "codePoints", "combinations", "complex",
    "concat", "corr", "cos", "count", "count_nonzero", "counter", "cpu_count", "cpus", "createHash",
    "ctime", "cwd", "date", "datetime", "debug", "decode", "dedent", "deepcopy", "defaultdict",
    "device_count", "dict", "difference", "digest", "digits", "dir", "dirname", "disp", "distribution", "downcase",
    "dumps", "each", "each_with_index", "echo", "elapsed", "encode", "endsWith", "endswith", "entries",
    "enumerate", "error", "escape", "every", "exists", "exit", "exp", "expanduser", "explode", "extend",
    "extname", "fill", "filter", "find", "find_executable", "find_spec", "findall", "finditer", "first",
    "flat", "flatMap", "float", "floor", "fnmatch", "for", "forEach", "format", "freemem", "freeze", "from",
    "fromCharCode", "fromCodePoint", "fromEntries", "from_bytes", "fromisoformat", "fromtimestamp",
    "frozenset", "fsum", "function", "gcd", "get", "getFullYear", "getOwnPropertyNames", "getPrototypeOf",
    "getTime", "get_distribution", "get_terminal_size", "getattr", "getcwd", "gethostname", "getpid",
    "getrecursionlimit", "getsizeof", "gmtime", "group", "groupBy", "groupby", "groups", "gsub", "has",
    "hasOwnProperty", "hasattr", "hash", "help", "hex", "hexdigest", "homedir", "hostname", "hrtime",
    "html", "hypot", "id", "if", "implode", "import", "in", "includes", "indent", "index", "indexOf",
    "info", "inject", "input", "inspect", "int", "intersection", "ip_address", "ip_network", "isArray",
    "isFinite", "isInteger", "isNaN", "isSafeInteger", "is_a", "is_available", "is_dir", "is_file",
    "is_integer", "isalnum", "isalpha", "isatty", "isdigit", "isdir", "isfile", "isinstance", "islice",
    "isoformat", "isoweekday", "issubclass", "issubset", "items", "iter", "iterdir", "join", "json",
    "json_decode", "json_encode", "keys", "keysof", "lambda", "last", "lastIndexOf", "len", "length",
    "lines", "linspace", "list", "ljust", "load", "loads", "localeCompare", "locals", "localtime", "log",
    "log10", "log2", "lower", "lowercase", "lstrip", "machine", "map", "map_values", "match", "matchAll",
    "max", "md5", "mean", "median", "memoryUsage", "memoryview", "metadata", "methods", "min", "mktime",
    "monotonic", "monthrange", "most_common", "name", "namedtuple", "nchar", "next", "nextTick", "nil",
    "node", "normalize", "not", "now", "nunique", "object", "oct", "ones", "or", "ord", "padEnd",
    "padStart", "parse", "parseFloat", "parseInt", "parse_qs", "partial", "partition", "paste", "paste0",
    "path", "perf_counter", "perf_counter_ns", "permutations", "phpversion", "pi", "platform", "pop", "pow",
    "pprint", "print", "print_r", "printf", "println", "process_time", "processor", "prod", "product",
    "push", "puts", "python_implementation", "python_version", "quote", "raise", "rand", "randint", "randn",
    "random", "randomBytes", "randomUUID", "range", "raw", "read", "readline", "reduce", "reduceRight",
    "reject", "release", "repeat", "repr", "require", "reshape", "resolve", "return", "reverse", "reversed",
    "rjust", "round", "rsplit", "rstrip", "sample", "say", "sd", "search", "seed", "select", "set",
    "setattr", "sha1", "sha256", "shape", "shorten", "show", "shuffle", "sign", "sin", "size", "sizeof",
    "sleep", "slice", "some", "sort", "sorted", "split", "splitlines", "sprintf", "sqrt", "squeeze",
    "startsWith", "startswith", "stat", "std", "str", "strftime", "stringify", "strip", "strlen",
    "strptime", "sub", "substr", "substring", "sum", "summary", "super", "symmetric_difference", "table",
    "tan", "test", "textwrap", "time", "timedelta", "timestamp", "title", "tmpdir", "toFixed", "toHex",
    "toISOString", "toJSON", "toLocaleString", "toLowerCase", "toString", "toUTCString", "toUpperCase",
    "to_a", "to_bytes", "to_f", "to_i", "to_s", "today", "tolist", "tolower", "total_seconds", "totalmem",
    "toupper", "trim", "trimEnd", "trimStart", "truediv", "trunc", "tuple", "type", "uname", "unescape",
    "union", "unique", "unquote", "upcase", "update", "upper", "uptime", "urandom", "urlencode", "urlparse",
    "urlsplit", "utcfromtimestamp", "utcnow", "uuid1", "uuid4", "value_counts", "values", "var_dump",
    "vars", "version", "warn", "weekday", "where", "which", "while", "with", "wrap", "wraps", "yield",
    "zeros", "zfill", "zip",
];

/// Sorted. Functions of the common languages by their last name.
const FUNCTIONS: &[(&str, Does)] = &[
    ("Command", Does::Run),
    ("Popen", Does::Run),
    ("ProcessBuilder", Does::Run),
    ("appendFileSync", Does::Write),
    ("check_call", Does::Run),
    ("check_output", Does::Run),
    ("chmod", Does::Change),
    ("chown", Does::Change),
    ("copyFile", Does::Change),
    ("copyFileSync", Does::Change),
    ("copyfile", Does::Change),
    ("copytree", Does::Change),
    ("cpSync", Does::Change),
    ("createConnection", Does::Connect),
    ("create_connection", Does::Connect),
    ("delete", Does::Delete),
    ("deleteRecursively", Does::DeleteTree),
    ("emptyDirSync", Does::DeleteTree),
    ("eval", Does::Evaluate),
    ("execFile", Does::Run),
    ("execFileSync", Does::Run),
    ("execSync", Does::Run),
    ("execl", Does::Run),
    ("execlp", Does::Run),
    ("execute", Does::Run),
    ("execv", Does::Run),
    ("execve", Does::Run),
    ("execvp", Does::Run),
    ("existsSync", Does::Read),
    ("fetch", Does::Fetch),
    ("file_get_contents", Does::Open),
    ("file_put_contents", Does::Write),
    ("fsockopen", Does::Connect),
    ("getoutput", Does::Run),
    ("getstatusoutput", Does::Run),
    ("kill", Does::Kill),
    ("killpg", Does::Kill),
    ("listdir", Does::Read),
    ("makedirs", Does::Write),
    ("mkdir", Does::Write),
    ("mkdirSync", Does::Write),
    ("passthru", Does::Run),
    ("patch", Does::Send),
    ("pcntl_exec", Does::Run),
    ("pfsockopen", Does::Connect),
    ("popen", Does::Run),
    ("proc_open", Does::Run),
    ("put", Does::Send),
    ("readFile", Does::Read),
    ("readFileSync", Does::Read),
    ("readText", Does::Read),
    ("readdirSync", Does::Read),
    ("removeItem", Does::DeleteTree),
    ("removeSync", Does::DeleteTree),
    ("remove_dir", Does::DeleteTree),
    ("remove_entry", Does::DeleteTree),
    ("remove_entry_secure", Does::DeleteTree),
    ("remove_file", Does::Delete),
    ("remove_tree", Does::DeleteTree),
    ("removedirs", Does::DeleteTree),
    ("rename", Does::Change),
    ("renameSync", Does::Change),
    ("request", Does::Send),
    ("rimraf", Does::DeleteTree),
    ("rm", Does::DeleteTree),
    ("rmSync", Does::DeleteTree),
    ("rm_f", Does::Delete),
    ("rm_r", Does::DeleteTree),
    ("rm_rf", Does::DeleteTree),
    ("rmdir", Does::DeleteTree),
    ("rmdirSync", Does::DeleteTree),
    ("rmtree", Does::DeleteTree),
    ("safe_unlink", Does::Delete),
    ("savetxt", Does::Write),
    ("scandir", Does::Read),
    ("send_message", Does::Send),
    ("sendall", Does::Send),
    ("sendmail", Does::Send),
    ("shell_exec", Does::Run),
    ("spawn", Does::Run),
    ("spawnSync", Does::Run),
    ("spawnl", Does::Run),
    ("startfile", Does::Run),
    ("statSync", Does::Read),
    ("stream_socket_client", Does::Connect),
    ("symlink", Does::Change),
    ("system", Does::Run),
    ("to_csv", Does::Write),
    ("to_json", Does::Write),
    ("touch", Does::Write),
    ("truncate", Does::Write),
    ("unlink", Does::Delete),
    ("unlinkSync", Does::Delete),
    ("urlopen", Does::Send),
    ("urlretrieve", Does::Fetch),
    ("writeFile", Does::Write),
    ("writeFileSync", Does::Write),
    ("write_bytes", Does::Write),
    ("write_text", Does::Write),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_sorted() {
        assert!(PLAIN_CALLS.is_sorted());
        assert!(FUNCTIONS.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
