//! `git`: global options, sub-commands by table, and configuration that is code.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::PathClass;
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, UNKNOWN, Value, display};

/// Options of a sub-command that take a value.
fn values(sub: &str) -> &'static str {
    match sub {
        "log" | "shortlog" | "show" | "diff" | "whatchanged" => {
            "-n -S -G -L -O --author --since --until --format --pretty --grep --output --date --diff-filter"
        }
        "commit" | "tag" | "notes" | "merge" | "revert" | "cherry-pick" | "stash" => {
            "-m -F -C -c -t -u --message --file --author --date --template --strategy"
        }
        "checkout" | "switch" => "-b -B -c -C --orphan --conflict",
        "rebase" => "-x --exec --onto --strategy",
        "grep" => "-e -f -O -A -B -C -m --open-files-in-pager",
        "clone" => "-b -o -c -u --branch --origin --depth --config --upload-pack --reference --template -j",
        "fetch" | "ls-remote" | "pull" => "--upload-pack --depth -o -j",
        "restore" => "-s --source",
        "apply" | "am" => "--directory --exclude --include -C",
        "push" => "-o --receive-pack --exec",
        "difftool" => "-x --extcmd -t --tool",
        "filter-branch" => {
            "--index-filter --tree-filter --msg-filter --env-filter --commit-filter --tag-name-filter -d"
        }
        "config" => "-f --file --type --default",
        "archive" => "-o --output --format --prefix --remote --exec",
        "format-patch" => {
            "-o --output-directory -v --subject-prefix --suffix --start-number --to --cc --base"
        }
        "blame" | "annotate" => "-L -C -M -S --since --date --ignore-rev --ignore-revs-file",
        "init" => "-b --initial-branch --template --separate-git-dir --object-format",
        _ => "--message --author --format --output",
    }
}

impl Walker<'_> {
    pub(super) fn git(&mut self, call: &mut Call) {
        let globals = Options::leading(&call.args, table::program("git").map_or("", |p| p.values));
        let saved = self.state.cwd.clone();
        self.git_globals(&globals, call);
        let mut operands = globals.operands.into_iter();
        let Some(sub) = operands.next() else {
            self.state.cwd = saved;
            return;
        };
        call.args = operands.collect();
        call.command.subcommand = Some(display(&sub.text));
        if sub.is_unknown() {
            call.fact(Act::RunBuilt);
        }
        self.git_subcommand(&sub.text, call);
        self.state.cwd = saved;
    }

    fn git_globals(&mut self, globals: &Options, call: &mut Call) {
        for folder in globals.values(&["-C"]) {
            self.use_path(folder, Effect::Read, call);
            self.state.cwd = self.place().absolute(&folder.text);
        }
        for folder in globals.values(&["--work-tree", "--git-dir"]) {
            self.use_path(folder, Effect::Read, call);
        }
        let moved = call.settings.iter().find(|(name, _)| name == "GIT_WORK_TREE").map(|(_, v)| v.clone());
        let moved = moved.or_else(|| self.state.vars.get("GIT_WORK_TREE").and_then(|v| v.first().cloned()));
        if let Some(tree) = globals.value(&["--work-tree"]).cloned().or(moved) {
            self.use_path(&tree, Effect::Read, call);
            self.state.cwd = self.place().absolute(&tree.text);
        }
        for setting in globals.values(&["-c", "--config-env"]) {
            if let Some((key, value)) = setting.text.split_once('=') {
                let (key, value) = (String::from(key), setting.with_text(value));
                self.git_setting(&key, &value, call);
            }
        }
    }

    /// A setting whose value git runs.
    fn git_setting(&mut self, key: &str, value: &Value, call: &mut Call) {
        let lower = key.to_ascii_lowercase();
        let lower = lower.as_str();
        if lower == "clean.requireforce" {
            call.command.fact(Act::Discard, key);
        }
        let alias = lower.starts_with("alias.");
        if alias && !value.text.starts_with('!') {
            return;
        }
        if lower == "include.path" || lower.starts_with("includeif.") {
            call.command.fact(Act::TamperEnvironment, key);
            self.use_path(value, Effect::Read, call);
            return;
        }
        let runs = alias
            || EXECUTED.binary_search(&lower).is_ok()
            || lower.ends_with(".textconv")
            || lower.ends_with(".cmd")
            || lower.starts_with("filter.")
            || lower.ends_with(".driver")
            || lower.starts_with("pager.")
            || lower.ends_with(".command") && lower.starts_with("diff.");
        if !runs
            || matches!(value.text.as_str(), "" | "cat" | "less" | "true" | "false" | "vim" | "vi" | "nano")
        {
            return;
        }
        call.command.fact(Act::TamperEnvironment, key);
        if lower == "core.hookspath" {
            self.use_path(value, Effect::Execute, call);
            return;
        }
        let code = value.text.trim_start_matches('!');
        self.nested_code(&String::from(code), call);
    }

    fn git_subcommand(&mut self, sub: &str, call: &mut Call) {
        let options = Options::cluster(&call.args, values(sub));
        let mut words = Vec::from([sub]);
        words.extend(options.operands.iter().map(|o| o.text.as_str()));
        let (count, act) = table::subcommand("git", &words).unwrap_or((1, Act::UnknownArguments));
        let phrase =
            alloc::format!("git {}", words.iter().take(count).copied().collect::<Vec<_>>().join(" "));
        let dry = options.has(&["--dry-run"])
            || matches!(sub, "clean" | "push" | "rm" | "add") && options.has(&["-n"]);
        let dry = dry || sub == "gc" && options.has(&["--auto"]);
        let resumes = options.has(&["--abort", "--continue", "--skip", "--quit", "--show-current-patch"]);
        if act != Act::Harmless && !(dry && sub != "push" || resumes && sub == "rebase") {
            call.command.fact(act, sub);
        }
        if !dry {
            self.git_options(&phrase, sub, &options, call);
        }
        self.git_operands(sub, &options, call);
        self.git_code(sub, &options, call);
        if !LOOKS.contains(&sub) {
            self.git_on_boundary(&options, call);
        }
        self.git_output(sub, &options, call);
    }

    fn git_options(&mut self, phrase: &str, sub: &str, options: &Options, call: &mut Call) {
        for (_, option, act) in table::options(phrase) {
            if options.has(&[option]) {
                call.command.fact(*act, *option);
            }
        }
        if sub == "branch" && options.has(&["-d", "--delete"]) && options.has(&["-f", "--force"]) {
            call.command.fact(Act::Discard, "-f");
        }
        if sub == "push" && options.operands.iter().any(|o| o.text.starts_with(['+', ':'])) {
            call.command.fact(Act::HistoryRewrite, "push");
        }
        if sub == "fetch" && options.operands.iter().any(|o| o.text.starts_with('+')) {
            call.command.fact(Act::HistoryRewrite, "fetch");
        }
        if options.open && matches!(sub, "reset" | "clean" | "checkout" | "restore" | "branch" | "stash") {
            call.command.fact(Act::UnknownArguments, sub);
        }
    }

    /// Operands that are files whose present content is lost or shown.
    fn git_operands(&mut self, sub: &str, options: &Options, call: &mut Call) {
        let force_path = options.has(&["--cached"]);
        match sub {
            "checkout" => self.git_checkout(options, call),
            "restore" => {
                let staged_only = options.has(&["--staged", "-S"]) && !options.has(&["--worktree", "-W"]);
                if !staged_only {
                    call.command.fact(Act::Discard, "restore");
                }
            }
            "rm" => {
                for operand in &options.operands {
                    let (_, class) = self.place().locate(&operand.text);
                    let keeps = force_path && class == PathClass::InScope;
                    if !keeps {
                        self.use_path_deep(operand, Effect::Delete, options.has(&["-r"]), call);
                    }
                }
            }
            "clean" => self.git_clean(options, call),
            "mv" => {
                for operand in &options.operands {
                    self.use_path(operand, Effect::Write, call);
                }
            }
            "add" | "diff" | "show" | "blame" | "grep" | "log" | "cat-file" | "hash-object" | "apply"
            | "am" | "archive" | "stash" | "annotate" | "ls-files" | "check-ignore" => {
                // Without its patches a history shows who changed a file and when, not what is in it.
                let messages = sub == "log" && !options.has(&["-p", "-u", "--patch", "-c", "--cc"]);
                for operand in options.operands.iter().skip(usize::from(sub == "grep")) {
                    if messages && self.place().locate(&operand.text).1 == PathClass::Protected {
                        continue;
                    }
                    let text = operand.text.rsplit(':').next().unwrap_or("");
                    self.git_read(&operand.with_text(text), call);
                }
                for folder in options.values(&["--directory"]) {
                    self.use_path(folder, Effect::Write, call);
                }
            }
            "clone" => self.git_clone(options, call),
            "init" => {
                let folders = options.values(&["--separate-git-dir"]);
                for folder in options.operands.iter().take(1).chain(folders) {
                    self.use_path(folder, Effect::Write, call);
                }
            }
            "bundle" if options.operands.first().is_some_and(|o| o.text == "create") => {
                for file in options.operands.iter().skip(1).take(1) {
                    self.use_path(file, Effect::Write, call);
                }
            }
            "remote"
                if options.operands.first().is_some_and(|o| o.text == "add")
                    && holds_password(&options.operands) =>
            {
                call.command.fact(Act::Login, "remote");
            }
            "worktree" if options.operands.first().is_some_and(|o| o.text == "add") => {
                if let Some(folder) = options.operands.get(1) {
                    self.use_path(folder, Effect::Write, call);
                }
            }
            "config" => self.git_config(options, call),
            "remote"
                if options
                    .operands
                    .first()
                    .is_some_and(|o| matches!(o.text.as_str(), "set-url" | "remove" | "rm" | "rename")) =>
            {
                call.command.fact(Act::CloudChange, "remote");
            }
            _ => {}
        }
    }

    /// Any change git makes to the boundary's own files counts.
    fn git_on_boundary(&mut self, options: &Options, call: &mut Call) {
        for operand in &options.operands {
            if self.place().locate(&operand.text).1 == PathClass::Protected {
                self.use_path(operand, Effect::Write, call);
            }
        }
    }

    fn git_read(&mut self, operand: &Value, call: &mut Call) {
        if super::generic::looks_like_path(&operand.text) && !operand.text.contains("..")
            || operand.text.starts_with("../")
        {
            let content = self.use_path(operand, Effect::Read, call);
            call.output.taint = call.output.taint.join(content.taint);
        }
    }

    fn git_checkout(&mut self, options: &Options, call: &mut Call) {
        let creates = options.has(&["-b", "--orphan", "--track", "-t"]);
        let after_dashes = call.words().any(|w| w == "--");
        // A branch may hold a dot too (`release/2.0`); an extension is letters.
        let path = |text: &str| {
            let name = text.rsplit('/').next().unwrap_or("");
            let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
            let is_file = !extension.is_empty() && extension.chars().all(|c| c.is_ascii_alphabetic());
            text == "." || text.starts_with("./") || text.ends_with('/') || is_file
        };
        let first_is_path =
            options.operands.first().is_some_and(|o| path(&o.text) && !o.text.starts_with("origin/"));
        let restores = after_dashes || first_is_path || !creates && options.operands.len() > 1;
        if restores && !options.has(&["-p", "--patch"]) {
            call.command.fact(Act::Discard, "checkout");
        }
    }

    fn git_clean(&mut self, options: &Options, call: &mut Call) {
        if options.has(&["-n", "--dry-run"]) {
            return;
        }
        let forced = options.has(&["-f", "--force"]);
        let all_ignored = options.has(&["-x", "-X"]);
        let outside = !matches!(self.place().locate(".").1, PathClass::Root | PathClass::InScope);
        if outside && forced {
            self.use_path_deep(&Value::literal("."), Effect::Delete, true, call);
        }
        for operand in &options.operands {
            self.use_path_deep(operand, Effect::Delete, all_ignored, call);
        }
    }

    fn git_clone(&mut self, options: &Options, call: &mut Call) {
        let source = options.operands.first().map_or("", |o| o.text.as_str());
        call.command.hosts.push(crate::shell::host::address(source).host);
        if let Some(code) = source.strip_prefix("ext::") {
            call.command.fact(Act::RunUnknown, "ext::");
            self.nested_code(&String::from(code), call);
        }
        for setting in options.values(&["-c", "--config"]) {
            if let Some((key, value)) = setting.text.split_once('=') {
                self.git_setting(key, &setting.with_text(value), call);
            }
        }
        call.fact(Act::Network);
        let name = source.trim_end_matches(".git").rsplit(['/', ':']).next().unwrap_or("");
        let target = options.operands.get(1).cloned().unwrap_or_else(|| Value::literal(name));
        self.use_path(&target, Effect::Write, call);
        let path = self.place().absolute(&target.text);
        self.state.remember_file(&path, Value::unknown(Taint::NETWORK));
        if call.taint().secret {
            call.fact(Act::SecretShow);
        }
    }

    fn git_config(&mut self, options: &Options, call: &mut Call) {
        let reads = options.has(&[
            "--get",
            "--get-all",
            "--get-regexp",
            "-l",
            "--list",
            "--show-origin",
            "--get-urlmatch",
        ]);
        let key = options.operands.first().map_or("", |o| o.text.as_str());
        // Settings can hold tokens for remotes; sending them elsewhere is what matters.
        call.output = Value::unknown(Taint { secret: options.has(&["-l", "--list"]), ..Taint::NONE });
        if reads || options.operands.len() < 2 {
            if key.contains("extraheader") || key.contains("token") || key.contains("password") {
                call.command.fact(Act::SecretShow, key);
                call.output = Value::unknown(Taint::SECRET);
            }
            return;
        }
        if options.has(&["--global", "--system"]) {
            call.command.fact(Act::Login, "--global");
        }
        if let Some(value) = options.operands.get(1).cloned() {
            self.git_setting(key, &value, call);
        }
    }

    /// Options that run commands.
    fn git_code(&mut self, sub: &str, options: &Options, call: &mut Call) {
        let filters = [
            "--exec",
            "-x",
            "--index-filter",
            "--tree-filter",
            "--msg-filter",
            "--env-filter",
            "--upload-pack",
            "--receive-pack",
            "--extcmd",
        ];
        let codes: Vec<Value> = match sub {
            "rebase" | "filter-branch" | "fetch" | "clone" | "ls-remote" | "difftool" => {
                options.values(&filters).cloned().collect()
            }
            "grep" => options.values(&["-O", "--open-files-in-pager"]).cloned().collect(),
            "submodule" if options.operands.first().is_some_and(|o| o.text == "foreach") => {
                options.operands.iter().skip(1).cloned().collect()
            }
            "bisect" if options.operands.first().is_some_and(|o| o.text == "run") => {
                let fields: Vec<Value> =
                    call.args.iter().skip_while(|a| a.text != "run").skip(1).cloned().collect();
                return self.run_inner(fields, call);
            }
            _ => Vec::new(),
        };
        for code in codes {
            if sub != "submodule" && sub != "rebase" {
                call.command.fact(Act::RunUnknown, code.text.as_str());
            }
            self.run_value(&code, None, call);
        }
    }

    fn git_output(&mut self, sub: &str, options: &Options, call: &mut Call) {
        let short = matches!(sub, "archive" | "format-patch");
        let written = options.values(&["--output", "--output-directory"]);
        for file in written.chain(options.values(&["-o"]).filter(|_| short)) {
            self.use_path(file, Effect::Write, call);
        }
        let taint = call.output.taint;
        call.output = match sub {
            "rev-parse" if options.has(&["--show-toplevel"]) => Value::literal(self.scope.root()),
            "rev-parse" if options.has(&["--git-dir", "--absolute-git-dir", "--git-common-dir"]) => {
                Value::literal(alloc::format!("{}/.git", self.scope.root()))
            }
            "rev-parse" if options.has(&["--git-path", "--show-cdup", "--show-prefix"]) => {
                Value::unknown(taint)
            }
            "rev-parse" | "describe" | "rev-list" | "log"
                if !options.operands.iter().any(|o| o.text.contains(UNKNOWN)) && sub != "log" =>
            {
                Value::marker(crate::shell::value::TOKEN)
            }
            "ls-files" | "diff" | "grep" | "ls-tree" => Self::listing(".", None),
            _ => Value::unknown(taint),
        };
        call.output.taint = taint;
    }
}

/// `https://user:secret@host`: the password stays in the configuration for everyone to read.
fn holds_password(operands: &[Value]) -> bool {
    operands.iter().any(|o| {
        let user =
            o.text.split_once("://").and_then(|(_, rest)| rest.split_once('@')).map_or("", |(user, _)| user);
        !user.contains('/')
            && (user.contains(':') || !user.is_empty() && user != "git" && o.taint.secret || user.len() > 20)
    })
}

/// Sub-commands that change no file of the working tree.
const LOOKS: [&str; 12] = [
    "add",
    "blame",
    "check-ignore",
    "commit",
    "diff",
    "grep",
    "help",
    "log",
    "ls-files",
    "rm",
    "show",
    "status",
];

/// Sorted. Settings whose value is run.
const EXECUTED: &[&str] = &[
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "credential.helper",
    "diff.external",
    "gpg.program",
    "interactive.difffilter",
    "sendemail.smtpserver",
    "sequence.editor",
    "uploadpack.packobjectshook",
];

#[cfg(test)]
mod tests {
    #[test]
    fn executed_is_sorted() {
        assert!(super::EXECUTED.is_sorted());
    }
}
