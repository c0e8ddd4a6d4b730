//! Programs that a table row describes: data, readers, writers, developer tools.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::settings::{names_file, takes_pattern};
use super::{Call, Options};
use crate::rules::act::Act;
use crate::rules::launchers;
use crate::rules::names;
use crate::rules::table::{self, Model, Program, Shape};
use crate::shell::flow::Walker;
use crate::shell::value::{ANY, CONTENT, LISTED, Taint, UNKNOWN, Value};
use crate::{Effect, PathClass};

/// `--help`, `--version` and the like: nothing else happens.
pub(super) fn only_asks_for_help(call: &Call) -> bool {
    match call.args.as_slice() {
        [one] => matches!(
            one.text.as_str(),
            "--help" | "-help" | "--version" | "-V" | "-h" | "help" | "version" | "-version"
        ),
        [first, second] => {
            (second.text == "--help" || first.text == "help")
                && !call.words().any(|w| w.contains(UNKNOWN))
                && call.name != "env"
        }
        _ => false,
    }
}

impl Walker<'_> {
    /// Sends the call to its model.
    pub(super) fn model(&mut self, model: Model, call: &mut Call) {
        match model {
            Model::Alias => self.alias(call),
            Model::Archive => self.archive(call),
            Model::Awk => self.awk(call),
            Model::Cat => self.cat(call),
            Model::ChangeFolder => self.change_folder(call),
            Model::CleanTool => call.fact(Act::HistoryRewrite),
            Model::Copy => self.copy(call),
            Model::Crontab => self.crontab(call),
            Model::Curl => self.curl(call),
            Model::Database => self.database(call),
            Model::Dd => self.dd(call),
            Model::Declare => self.declare(call),
            Model::Delete => self.delete(call),
            Model::Device => self.device(call),
            Model::Docker => self.docker(call),
            Model::Editor => self.editor(call),
            Model::Environment => self.environment(call),
            Model::Eval => self.eval(call),
            Model::Find => self.find(call),
            Model::Git => self.git(call),
            Model::HttpTool => self.http_tool(call),
            Model::Infra => self.infra(call),
            Model::Interpreter => self.interpreter(call),
            Model::Kill => self.kill(call),
            Model::Kubectl => self.kubectl(call),
            Model::Link => self.link(call),
            Model::List => self.list_folder(call),
            Model::Make => self.make(call),
            Model::Move => self.rename(call),
            Model::Netcat => self.netcat(call),
            Model::Packages => self.packages(call),
            Model::Permission => self.permission(call),
            Model::Print => self.print(call),
            Model::PrintFormat => self.print_format(call),
            Model::Produce => self.produce(call),
            Model::Rsync => self.rsync(call),
            Model::Script => self.script_tool(call),
            Model::Sed => self.sed(call),
            Model::SelfTool => self.self_tool(call),
            Model::SendMail => self.send_mail(call),
            Model::Set => self.set_options(call),
            Model::Shell => self.shell(call),
            Model::Sort => self.sort(call),
            Model::Source => self.source(call),
            Model::Ssh => self.ssh(call),
            Model::Tee => self.tee(call),
            Model::Transfer => self.transfer(call),
            Model::Trap => self.trap(call),
            Model::Truncate => self.truncate(call),
            Model::WindowsShell => self.windows_shell(call),
            Model::Xargs => self.xargs(call),
        }
    }

    /// A program described by its row.
    pub(super) fn generic(&mut self, row: &Program, call: &mut Call) {
        let options = Options::cluster(&call.args, row.values);
        let boundary =
            row.act == Act::System && call.words().any(|w| names::segments(w).any(|s| s == "vanta"));
        if boundary {
            call.fact(Act::SelfStop);
        } else if row.act == Act::Message && call.taint().secret {
            call.fact(Act::Exfiltrate);
        } else if row.act != Act::Harmless && !looks_only(&call.name, &options) {
            call.fact(row.act);
        }
        let shows_secret = matches!(row.act, Act::SecretShow | Act::Environment);
        call.output = Value::unknown(call.stdin.taint);
        call.output.taint.secret |= shows_secret;
        match row.shape {
            Shape::Data => self.data(call),
            Shape::Read => {
                self.read_all(&options.operands, call);
                for (option, value) in &options.flags {
                    if let Some(value) = value.as_ref().filter(|v| names_file(option, &v.text)) {
                        self.use_path(value, Effect::Read, call);
                    }
                }
            }
            Shape::Pattern => self.pattern(&options, call),
            Shape::Write => {
                for operand in &options.operands {
                    self.use_path(operand, Effect::Write, call);
                }
            }
            _ => {
                if row.act == Act::Harmless {
                    Self::intent(call);
                }
                self.tool(call);
            }
        }
    }

    fn data(&mut self, call: &mut Call) {
        if call.name == "hash"
            && let options = Options::cluster(&call.args, "-p")
            && let (Some(path), Some(name)) = (options.value(&["-p"]), options.operands.first())
        {
            // From here on the name runs that file.
            self.state.alias(&name.text, &path.text);
        }
        if matches!(call.name.as_str(), "read" | "mapfile" | "readarray") {
            // What is read may be anything.
            let from_file = call.stdin.text.contains([CONTENT, LISTED]) && !call.stdin.text.contains(UNKNOWN);
            let line = if from_file { Self::listing(".", None) } else { Value::marker(UNKNOWN) };
            let line = Value { taint: call.stdin.taint, ..line };
            let names: Vec<String> = call.words().filter(|w| !w.starts_with('-')).map(String::from).collect();
            for name in names {
                self.state.set(&name, Vec::from([line.clone()]), false);
            }
        }
        let changes = match call.name.as_str() {
            "hostname" => call.words().any(|w| !w.starts_with('-')),
            "ifconfig" => call.args.len() > 1,
            "date" => {
                call.words().any(|w| w.len() >= 8 && w.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            }
            "ip" => call.words().any(|w| matches!(w, "set" | "add" | "del" | "delete" | "flush" | "replace")),
            _ => false,
        };
        if changes {
            call.fact(Act::System);
        }
        // Whose processes are listed decides what killing them means.
        call.output.taint.own = matches!(call.name.as_str(), "lsof" | "ss" | "netstat" | "fuser" | "pidof")
            && call.words().any(|w| w.contains("7788"));
        let chosen = || call.words().any(|w| matches!(w, "-C" | "-p" | "-t" | "--pid" | "--ppid" | "--tty"));
        call.output.taint.every |= call.name == "ps" && !call.args.is_empty() && !chosen();
        // `ps auxe` shows the environment of every process.
        let letters = call.words().next().unwrap_or("");
        if call.name == "ps"
            && letters.contains('e')
            && letters.len() <= 7
            && letters.bytes().all(|b| b.is_ascii_alphabetic())
        {
            call.fact(Act::Environment);
            call.output.taint.secret = true;
        }
        let network = matches!(call.name.as_str(), "dig" | "host" | "nslookup" | "whois");
        call.output.taint.network |= network;
    }

    pub(super) fn read_all(&mut self, operands: &[Value], call: &mut Call) {
        let mut taint = call.stdin.taint;
        let mut files = operands.iter().filter(|o| o.text != "-").peekable();
        if files.peek().is_none() {
            call.output = filtered(call);
            return;
        }
        for operand in files {
            let content = self.use_path(operand, Effect::Read, call);
            taint = taint.join(content.taint);
        }
        call.output = Value::content(taint);
    }

    /// `ls`: what it prints can be what another command deletes.
    pub(super) fn list_folder(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "-I --ignore --block-size --time-style --sort -w");
        for operand in &options.operands {
            self.use_path(operand, Effect::Read, call);
        }
        call.output = match options.operands.as_slice() {
            [] => Value::literal(format!("./{ANY}")),
            [one] if one.text.contains(ANY) => one.clone(),
            _ => Self::listing(".", None),
        };
    }

    fn pattern(&mut self, options: &Options, call: &mut Call) {
        let given = options.has(&["-e", "-f", "--regexp", "--file", "--from-file", "--files"]);
        let lists = options.has(&["-l", "-L", "--files", "--files-with-matches", "--files-without-match"]);
        let files: Vec<Value> = options.operands.iter().skip(usize::from(!given)).cloned().collect();
        for value in options.values(&["-f", "--file", "--from-file"]) {
            self.use_path(value, Effect::Read, call);
        }
        if matches!(call.name.as_str(), "jq" | "gojq" | "jaq" | "yq") && !given {
            // `--arg name value` takes two words.
            let named =
                |a: &Value| matches!(a.text.as_str(), "--arg" | "--argjson" | "--slurpfile" | "--rawfile");
            let mut skip = 0_usize;
            let program = call.args.iter().find(|a| {
                let skipped = skip > 0;
                skip = if named(a) { 2 } else { skip.saturating_sub(1) };
                !skipped && !a.text.starts_with('-')
            });
            let program = program.map_or(String::new(), |p| String::from(p.text.as_str()));
            Self::filter_environment(&program, call);
        }
        self.read_all(&files, call);
        if lists {
            let folder = files.first().map_or(".", |f| f.text.as_str());
            call.output = crate::shell::flow::Walker::listing(folder, None);
        }
    }

    /// Some path below `folder`.
    pub(crate) fn listing(folder: &str, name: Option<&str>) -> Value {
        crate::shell::expand::listed(folder, name)
    }

    /// A developer tool: words that look like paths are read, its output options are written.
    pub(super) fn tool(&mut self, call: &mut Call) {
        call.output = Value::unknown(call.stdin.taint);
        let args = call.args.clone();
        let mut output_next = false;
        let mut data_next = false;
        for arg in &args {
            let text = arg.text.as_str();
            let data = core::mem::take(&mut data_next) || self.is_setting(text, call);
            data_next = takes_pattern(&call.name, text);
            if data {
                output_next = false;
                continue;
            }
            let (option, value) = match text.split_once('=').filter(|(option, _)| !option.contains(' ')) {
                Some((option, _)) if takes_pattern(&call.name, option) => {
                    data_next = false;
                    continue;
                }
                Some((option, value)) => (option, Some(value)),
                None => (text, None),
            };
            let is_output = OUTPUT_OPTIONS.binary_search(&option).is_ok();
            let candidate = match value {
                Some(value) => value,
                None if text.starts_with('-') && text.len() > 2 && !text.starts_with("--") => {
                    attached_path(text).unwrap_or("")
                }
                None if text.starts_with('-') => "",
                None => text,
            };
            if !candidate.is_empty() && (output_next || is_output && value.is_some()) {
                self.use_path(&arg.with_text(candidate), Effect::Write, call);
            } else if looks_like_path(candidate) {
                let taint = self.tool_path(&arg.with_text(candidate), call);
                call.output.taint = call.output.taint.join(taint);
            }
            if STREAMS.iter().any(|scheme| candidate.starts_with(scheme)) {
                call.command.fact(Act::NetworkSend, candidate);
            }
            output_next = is_output && value.is_none();
        }
    }

    /// A word that may be a path: it counts when it leads out of the scope or to something sensitive.
    fn tool_path(&mut self, value: &Value, call: &mut Call) -> Taint {
        let (_, class) = self.place().locate(&value.text);
        let shown = !value.text.contains(ANY) && value.text.contains('/');
        match class {
            PathClass::Unknown => Taint::NONE,
            PathClass::InScope | PathClass::Root if !shown => Taint::NONE,
            _ => self.use_path(value, Effect::Read, call).taint,
        }
    }

    /// A script of the project: its name may say that it publishes.
    pub(super) fn project_script(&mut self, program: &str, call: &mut Call) {
        if launchers::is_loader(&call.name) {
            return self.loader(call);
        }
        let name = String::from(program);
        self.task_name(&name, call);
        Self::intent(call);
        self.tool(call);
    }

    /// Tasks and scripts named after an effect ask.
    pub(super) fn task_name(&mut self, name: &str, call: &mut Call) {
        let dry = call.words().any(|w| matches!(w, "--dry-run" | "-n" | "--help" | "--check" | "--list"));
        if dry {
            return;
        }
        // Only a script is told by its folder; a built program lies where the build put it.
        let base = name.rsplit('/').next().unwrap_or(name);
        let inside = if base.contains('.') { name.trim_start_matches("./") } else { base };
        let inside = match inside.split_once('/') {
            Some((folder, rest)) if SCRIPT_FOLDERS.binary_search(&folder).is_ok() => rest,
            _ => inside,
        };
        if let Some(act) = task_act(inside) {
            call.command.fact(act, name);
        }
    }

    /// A program nobody knows may run what stands behind `--`, or behind the name of a program that destroys.
    pub(super) fn hidden_command(&mut self, call: &mut Call) {
        let is_start = |word: &str| table::DESTROYERS.contains(&word.rsplit('/').next().unwrap_or(word));
        let behind_dashes = call.args.iter().position(|a| a.text == "--").map(|at| at + 1);
        let Some(start) = behind_dashes.or_else(|| call.args.iter().position(|a| is_start(&a.text))) else {
            return;
        };
        let fields: Vec<Value> = call.args.iter().skip(start).cloned().collect();
        self.run_inner(fields, call);
    }

    pub(super) fn unknown_program(&mut self, call: &mut Call) {
        if launchers::is_loader(&call.name) {
            return self.loader(call);
        }
        call.fact(Act::UnknownProgram);
        call.output = Value::unknown(call.taint());
        if call.name == "ztcp" {
            // A connection of zsh; the shell that is redirected to it comes behind.
            self.state.wire = true;
        }
        self.hidden_command(call);
        for arg in call.args.clone().iter().filter(|a| a.text.contains(' ')) {
            let tokens = crate::shell::code::tokens(&arg.text, crate::shell::code::Quotes::Shell);
            self.literal_commands(&tokens, call);
            self.option_line(arg, call);
        }
        let args = call.args.clone();
        for arg in args.iter().filter(|a| looks_like_path(&a.text)) {
            self.use_path(arg, Effect::Read, call);
        }
        if call.taint().secret && call.stdin.taint.secret {
            call.output.taint = Taint::SECRET;
        }
    }
}

/// Is the sub-command listed as harmless although the program else is not?
fn looks_only(name: &str, options: &Options) -> bool {
    let words: Vec<&str> = options.operands.iter().map(|o| o.text.as_str()).collect();
    table::subcommand(name, &words).is_some_and(|(_, act)| act == Act::Harmless)
}

/// What a filter prints of its input: some of its lines, or something made of them.
fn filtered(call: &Call) -> Value {
    let keeps_lines = KEEPS_LINES.binary_search(&call.name.as_str()).is_ok();
    let input = &call.stdin;
    let inverted = call.words().any(|w| w == "-v" || w == "--invert-match");
    let mut input = input.clone();
    if matches!(call.name.as_str(), "grep" | "egrep" | "fgrep" | "rg") && !inverted {
        input.taint.every = false;
        input.taint.own |= call.words().any(|w| w.contains("7788") || w.contains("vanta"));
    }
    if call.name.ends_with("awk") && call.args.first().is_some_and(|a| a.text.contains(['/', '~', '=', '>']))
    {
        input.taint.every = false;
    }
    let narrows = matches!(call.name.as_str(), "grep" | "egrep" | "fgrep" | "rg");
    if narrows && input.text.contains(ANY) {
        return Value { taint: input.taint, ..Walker::listing(".", None) };
    }
    if keeps_lines || input.text.is_empty() {
        return input.clone();
    }
    // Names cut out of a listing or a file are still names somebody wrote.
    // A pattern leaves some names of a listing, not all of them.
    let named = input.text.contains([CONTENT, LISTED]) && !input.text.contains(UNKNOWN);
    if named { Value::content(input.taint) } else { Value::unknown(input.taint) }
}

/// Sorted. Filters whose output lines are lines of their input.
const KEEPS_LINES: &[&str] =
    &["egrep", "fgrep", "grep", "head", "less", "more", "rg", "shuf", "sort", "tac", "tail", "uniq"];

/// `-I../x`, `-o/tmp/y`: the path behind a single letter.
fn attached_path(text: &str) -> Option<&str> {
    let tail = text.get(2..)?;
    (tail.starts_with(['/', '~', '.']) && tail.contains('/')).then_some(tail)
}

/// Could this word be a path at all?
pub(super) fn looks_like_path(text: &str) -> bool {
    // A path may hold blanks; a line of code has more than that.
    let is_line = text.contains('\n')
        || text.contains(' ')
            && (!text.starts_with('/')
                || text.contains([';', '|', '&', '<', '>', '$', '*', '?', '='])
                || text.contains(" -"));
    if text.is_empty() || text.contains("://") || is_line {
        return false;
    }
    text.contains('/') || text.starts_with('~') || text.starts_with('.') || names::is_secret_file(&[], text)
}

/// What a task of that name does: `deploy`, `db:migrate`, but not `build:release` or `test-deploy`.
pub(super) fn task_act(name: &str) -> Option<Act> {
    if names::segments(name).any(|s| s == "dry") {
        return None;
    }
    let mut words = names::segments(name);
    let first = words.next()?;
    if PLAIN_TASKS.binary_search(&first.as_str()).is_ok() {
        return None;
    }
    core::iter::once(first).chain(words).find_map(|word| {
        TASK_ACTS
            .binary_search_by(|(key, _)| (*key).cmp(&word))
            .ok()
            .and_then(|i| TASK_ACTS.get(i))
            .map(|(_, act)| *act)
    })
}

/// Sorted. Tasks that start with one of these only build or look.
const PLAIN_TASKS: &[&str] = &[
    "analyze",
    "audit",
    "bench",
    "benchmark",
    "build",
    "bundle",
    "check",
    "compile",
    "coverage",
    "dev",
    "doc",
    "docs",
    "format",
    "generate",
    "lint",
    "make",
    "pack",
    "preview",
    "print",
    "serve",
    "show",
    "start",
    "storybook",
    "test",
    "tests",
    "typecheck",
    "validate",
    "verify",
    "watch",
];

/// Sorted. Folders whose name says nothing about the scripts in them.
const SCRIPT_FOLDERS: &[&str] =
    &["bin", "build", "ci", "contrib", "dev", "hack", "script", "scripts", "tools", "utils"];

/// Sorted. Words in the name of a task or script that say what it does.
const TASK_ACTS: &[(&str, Act)] = &[
    ("deploy", Act::Publish),
    ("destroy", Act::CloudDestroy),
    ("install", Act::InstallGlobal),
    ("migrate", Act::Migrate),
    ("migration", Act::Migrate),
    ("promote", Act::Publish),
    ("provision", Act::CloudChange),
    ("publish", Act::Publish),
    ("push", Act::Publish),
    ("release", Act::Publish),
    ("reset", Act::Migrate),
    ("rollback", Act::Publish),
    ("ship", Act::Publish),
    ("teardown", Act::CloudDestroy),
    ("uninstall", Act::InstallGlobal),
    ("upload", Act::Publish),
    ("wipe", Act::CloudDestroy),
];

/// Addresses a tool can write to.
const STREAMS: [&str; 9] =
    ["rtmp://", "rtmps://", "srt://", "rtp://", "udp://", "icecast://", "ftp://", "sftp://", "s3://"];

/// Sorted. Options whose value is a file or folder that is written.
const OUTPUT_OPTIONS: &[&str] = &[
    "--build-dir",
    "--dest",
    "--destination",
    "--dir",
    "--dist",
    "--out",
    "--out-dir",
    "--outDir",
    "--outdir",
    "--outfile",
    "--output",
    "--output-dir",
    "--output-file",
    "--pack-destination",
    "--prefix",
    "--target-dir",
    "-o",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(KEEPS_LINES.is_sorted());
        assert!(SCRIPT_FOLDERS.is_sorted());
        assert!(PLAIN_TASKS.windows(2).all(|w| w[0] < w[1]));
        assert!(TASK_ACTS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(OUTPUT_OPTIONS.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn task_names() {
        assert_eq!(task_act("deploy:prod"), Some(Act::Publish));
        assert_eq!(task_act("db:migrate"), Some(Act::Migrate));
        assert_eq!(task_act("build:release"), None);
        assert_eq!(task_act("lint"), None);
    }
}
