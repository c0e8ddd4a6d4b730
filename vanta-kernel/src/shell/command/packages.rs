//! Package managers, task runners, and build tools: what they install, publish and run.

use alloc::string::String;
use alloc::vec::Vec;

use super::generic::task_act;
use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{Value, display};

impl Walker<'_> {
    pub(super) fn packages(&mut self, call: &mut Call) {
        let options = Options::whole(
            &call.args,
            "-C -p -F --prefix --filter --manifest-path --package --bin --example --features --target --dir --cwd --workspace -w --directory --config --project -f -c -r --file --requirement",
        );
        let words: Vec<&str> =
            options.operands.iter().map(|o| o.text.as_str()).filter(|w| !w.starts_with('+')).collect();
        let sub = words.first().copied().unwrap_or("");
        call.command.subcommand = Some(display(sub));
        let dry = options.has(&["--dry-run", "--help", "--list", "--snapshot"])
            || call.name == "rustup" && sub == "show";
        Self::outside_project(&words, &options, call);
        if self.runs_inside(sub, call) || self.runs_project_code(sub, &options, call) {
            return;
        }
        let act = table::subcommand(&call.name, &words).map_or(Act::Harmless, |(_, act)| act);
        let act = self.package_special(act, sub, &options, call);
        let live =
            call.live || self.state.live || call.args.iter().any(|a| crate::rules::names::says_live(&a.text));
        let act = match act {
            _ if dry => Act::Harmless,
            Act::Migrate if live && words.iter().any(|w| destroys_data(w)) => Act::DestroyLive,
            other => other,
        };
        if act != Act::Harmless {
            call.command.fact(act, words.iter().take(2).copied().collect::<Vec<_>>().join(" "));
        }
        for phrase in [String::from(call.name.as_str()), alloc::format!("{} {sub}", call.name)] {
            for (_, option, act) in table::options(&phrase) {
                if call.words().any(|w| w == *option || w.split('=').next() == Some(option))
                    && !is_looking(sub)
                {
                    call.command.fact(*act, *option);
                }
            }
        }
        if !dry && table::subcommand(&call.name, &words).is_none() {
            Self::intent(call);
        }
        self.installs_from_address(sub, call);
        self.given_programs(sub, call);
        if call.name == "cargo" && matches!(sub, "test" | "t" | "bench" | "nextest") {
            // Behind the dashes stand names of tests.
            let dashes = call.args.iter().position(|a| a.text == "--").unwrap_or(call.args.len());
            let filters =
                |(at, arg): (usize, Value)| (at < dashes || arg.text.starts_with('-')).then_some(arg);
            call.args = core::mem::take(&mut call.args).into_iter().enumerate().filter_map(filters).collect();
        }
        self.tool(call);
    }

    /// Sub-commands that run another program: `npm exec`, `poetry run`, `npx tool`.
    fn runs_inside(&mut self, sub: &str, call: &mut Call) -> bool {
        let name = call.name.as_str();
        let runner = matches!(name, "npx" | "pnpx" | "bunx" | "uvx" | "pipx-run");
        if runner {
            let options = Options::leading(&call.args, "-c -p --package --from --with --call --python");
            if let Some(code) = options.value(&["-c", "--call"]).cloned() {
                self.run_value(&code, None, call);
                return true;
            }
            if options.has(&["-g", "--global"]) {
                call.fact(Act::InstallGlobal);
            }
            for source in options.values(&["--from", "-p", "--package"]) {
                if source.text.contains("://") || source.text.contains("git+") {
                    call.command.fact(Act::RunFetched, source.text.as_str());
                }
            }
            self.run_package(options.operands, call);
            return true;
        }
        let exec = matches!(
            (name, sub),
            (
                "npm"
                    | "pnpm"
                    | "yarn"
                    | "bundle"
                    | "bundler"
                    | "mise"
                    | "asdf"
                    | "composer"
                    | "rbenv"
                    | "pyenv"
                    | "nodenv"
                    | "opam"
                    | "stack"
                    | "cabal"
                    | "fvm"
                    | "nvm"
                    | "fnm",
                "exec"
            ) | (
                "poetry"
                    | "pdm"
                    | "uv"
                    | "hatch"
                    | "rye"
                    | "conda"
                    | "mamba"
                    | "micromamba"
                    | "pipx"
                    | "volta",
                "run"
            ) | ("pnpm" | "yarn", "dlx")
                | ("npm", "x")
                | ("bun", "x")
        );
        if exec {
            let tail: Vec<Value> = call.args.iter().skip_while(|a| a.text != sub).skip(1).cloned().collect();
            let options =
                Options::leading(&tail, "-c -p --package -n --name --with --extra --group --python -v");
            let code = options.value(&["-c", "--call"]).cloned();
            let operands = options.operands;
            match code {
                Some(code) => self.run_value(&code, None, call),
                None if operands.len() == 1 && operands.first().is_some_and(|o| o.text.contains(' ')) => {
                    let code = operands.first().cloned().unwrap_or_default();
                    self.run_value(&code, None, call);
                }
                None if sub == "dlx" || sub == "x" || name == "pipx" => self.run_package(operands, call),
                None if name != "conda" && self.is_project_task(&operands, call) => {}
                None => self.run_inner(operands, call),
            }
            return true;
        }
        if matches!(name, "nix" | "nix-shell") {
            let options = Options::whole(&call.args, "-c --command --run");
            let at = call.args.iter().position(|a| matches!(a.text.as_str(), "-c" | "--command"));
            if let Some(code) = options.value(&["--run"]).cloned() {
                self.run_value(&code, None, call);
                return true;
            }
            if let Some(at) = at {
                let fields: Vec<Value> = call.args.iter().skip(at + 1).cloned().collect();
                self.run_inner(fields, call);
                return true;
            }
        }
        false
    }

    /// `pdm run lint`, `hatch run test:cov`: a script of the project, told by its name.
    fn is_project_task(&mut self, operands: &[Value], call: &mut Call) -> bool {
        let Some((first, rest)) = operands.split_first() else { return false };
        let task = first.text.clone();
        let known = table::program(task.rsplit('/').next().unwrap_or("")).is_some();
        let plain = task.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
        if known || !plain || task.contains(".sh") || task.ends_with(".py") {
            return false;
        }
        self.task_name(&task, call);
        call.args = rest.to_vec();
        Self::intent(call);
        self.hidden_command(call);
        self.tool(call);
        true
    }

    /// A package that a runner fetches when it is not there; a known tool is judged as that tool.
    fn run_package(&mut self, mut operands: Vec<Value>, call: &mut Call) {
        let Some(first) = operands.first_mut() else { return };
        if first.text.contains("://") || first.text.starts_with("git+") || first.text.starts_with("github:") {
            call.command.fact(Act::RunFetched, first.text.as_str());
            return;
        }
        let bare = match first.text.rsplit_once('@') {
            Some((name, _)) if !name.is_empty() => String::from(name),
            _ => first.text.clone().into(),
        };
        if table::program(&bare).is_some() {
            first.text = bare.into();
            return self.run_inner(operands, call);
        }
        call.command.fact(Act::Network, bare);
        call.args = operands;
        Self::intent(call);
        self.tool(call);
    }

    /// `cargo run -- args`, `npm run task`: code of the project.
    fn runs_project_code(&mut self, sub: &str, options: &Options, call: &mut Call) -> bool {
        let name = call.name.clone();
        if name == "cargo" && matches!(sub, "run" | "r") {
            let names_boundary =
                options.values(&["-p", "--package", "--bin"]).any(|v| v.text.starts_with("vanta"));
            let tail: Vec<Value> = call.args.iter().skip_while(|a| a.text != "--").skip(1).cloned().collect();
            if names_boundary {
                let mut fields = Vec::from([Value::literal("vanta-kernel")]);
                fields.extend(tail);
                self.run_inner(fields, call);
            }
            self.tool(call);
            return true;
        }
        let is_run = matches!(sub, "run" | "run-script" | "task")
            && matches!(
                name.as_str(),
                "npm" | "pnpm" | "yarn" | "bun" | "deno" | "composer" | "rye" | "turbo" | "nx"
            );
        let runner = matches!(
            name.as_str(),
            "just" | "task" | "mage" | "invoke" | "inv" | "fab" | "rake" | "nox" | "tox" | "gulp" | "grunt"
        ) && !sub.contains(':');
        let direct = matches!(name.as_str(), "yarn" | "pnpm" | "bun")
            && call.args.len() < 16
            && table::subcommand(&name, &plain_words(options)).is_none();
        let task = if is_run {
            options.operands.get(1).map(|o| String::from(o.text.as_str()))
        } else if runner || direct {
            Some(String::from(sub))
        } else {
            None
        };
        let Some(task) = task else { return false };
        if let Some(act) = task_act(&task).filter(|_| !options.has(&["--dry-run", "--list"])) {
            call.command.fact(act, task);
        }
        self.tool(call);
        true
    }

    fn package_special(&mut self, act: Act, sub: &str, options: &Options, call: &mut Call) -> Act {
        let name = call.name.clone();
        match (name.as_str(), sub) {
            ("npm" | "pnpm" | "yarn", "config")
                if call.words().any(|w| w.contains("_authToken") || w.contains("_password")) =>
            {
                Act::SecretShow
            }
            ("npm", "pkg") | ("npm", "set-script") => {
                // A script that is set here may be run right behind.
                for value in options
                    .operands
                    .iter()
                    .filter_map(|o| o.text.split_once('=').map(|(_, v)| String::from(v)))
                {
                    self.nested_code(&value, call);
                }
                act
            }
            ("npm", "install-hooks") => Act::Harmless,
            ("rails" | "rake", task) if task.starts_with("credentials:") || task.starts_with("secrets:") => {
                Act::SecretShow
            }
            ("artisan", "env:decrypt") => Act::SecretShow,
            ("migrate" | "goose" | "dbmate" | "sql-migrate" | "migrate-mongo", _)
                if options.operands.iter().any(|o| {
                    matches!(
                        o.text.as_str(),
                        "up" | "down"
                            | "drop"
                            | "force"
                            | "goto"
                            | "redo"
                            | "reset"
                            | "up-to"
                            | "down-to"
                            | "migrate"
                            | "rollback"
                    )
                }) =>
            {
                Act::Migrate
            }
            ("pre-commit", "install") => Act::HookInstall,
            ("husky", "install" | "init" | "add") => Act::HookInstall,
            ("nix-collect-garbage", _) => Act::InstallGlobal,
            ("go", "clean") if options.has(&["-modcache", "-cache", "-testcache"]) => {
                if options.has(&["-modcache"]) { Act::InstallGlobal } else { Act::Harmless }
            }
            ("go", "env") if options.has(&["-w", "-u"]) => Act::InstallGlobal,
            ("cargo", "release") if !options.has(&["--execute", "-x"]) => Act::Harmless,
            ("release-it" | "semantic-release" | "gh-pages" | "np", _) if !options.has(&["--dry-run"]) => {
                Act::Publish
            }
            ("knex", sub) if sub.starts_with("migrate:make") => Act::Harmless,
            ("mvn" | "mvnw" | "gradle" | "gradlew" | "sbt", _) => {
                let goal = options.operands.iter().find_map(|o| {
                    let goal = o.text.rsplit(':').next().unwrap_or("");
                    (goal == "perform"
                        || goal == "deploy"
                        || goal.starts_with("publish")
                        || goal == "release"
                        || goal == "uploadArchives"
                        || matches!(goal, "jib" | "jibDockerPush")
                        || o.text.starts_with("jib:") && goal == "build")
                        .then_some(Act::Publish)
                });
                goal.unwrap_or(act)
            }
            ("flutter" | "dart", "pub") if call.words().any(|w| w == "publish") => Act::Publish,
            ("rails" | "rake" | "mix" | "artisan", task)
                if act == Act::Harmless && table::subcommand(&name, &plain_words(options)).is_none() =>
            {
                task_act(task).unwrap_or(act)
            }
            (
                "apt" | "apt-get" | "aptitude" | "brew" | "yum" | "dnf" | "pacman" | "apk" | "zypper"
                | "snap" | "port" | "rpm" | "dpkg" | "choco" | "scoop" | "winget",
                _,
            ) if act == Act::Harmless => {
                let looks = is_looking(sub)
                    || call.words().all(|w| w.starts_with('-') && !matches!(w, "-S" | "-R" | "-U" | "-i"));
                let query = call.words().any(|w| {
                    matches!(w, "-l" | "-L" | "-S" | "-s" | "-Q" | "-qa" | "-q" | "-Qi" | "-Ql" | "-Ss")
                }) && matches!(name.as_str(), "dpkg" | "rpm" | "pacman");
                if looks || query { act } else { Act::InstallGlobal }
            }
            _ => act,
        }
    }

    /// Installing from an address runs code nobody published under a name.
    fn installs_from_address(&mut self, sub: &str, call: &mut Call) {
        if !matches!(sub, "install" | "i" | "add" | "get" | "ci" | "run" | "x") {
            return;
        }
        let remote = call.words().take_while(|w| *w != "--").any(|w| {
            w.contains("://") && !w.starts_with("http://localhost") && !w.starts_with('-')
                || w.starts_with("git+")
                || w.starts_with("github:")
        });
        if remote || call.words().any(|w| w == "--git") {
            call.fact(Act::InstallRemote);
        }
        if call.name == "cargo" && sub == "install" && !call.words().any(|w| w == "--list") {
            call.fact(Act::InstallGlobal);
        }
    }

    pub(super) fn make(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, table::program("make").map_or("", |p| p.values));
        for folder in options.values(&["-C", "--directory"]) {
            self.use_path(folder, Effect::Read, call);
            self.fetched_folder(&folder.text, call);
        }
        for file in options.values(&["-f", "--file", "--makefile"]) {
            if file.text == "-" {
                self.recipes(&call.stdin.text.clone(), call);
            } else {
                let content = self.use_path(file, Effect::Read, call);
                self.recipes(&content.text, call);
            }
        }
        if !options.has(&["-f", "--file", "--makefile"]) {
            // A makefile that this very line wrote.
            for name in ["Makefile", "makefile", "GNUmakefile"] {
                let path = self.place().absolute(name);
                if let Some(content) = self.state.files.get(&path).cloned() {
                    self.recipes(&content.text, call);
                }
            }
        }
        for rule in options.values(&["--eval"]) {
            self.recipes(&rule.text.replace(';', "\n\t"), call);
        }
        let dry = options.has(&["-n", "--dry-run", "--just-print", "--recon", "-q", "--question"]);
        for operand in &options.operands {
            match operand.text.split_once('=') {
                Some(("SHELL", value)) => {
                    call.command.fact(Act::TamperEnvironment, "SHELL");
                    self.nested_code(&String::from(value), call);
                }
                Some((_, value)) => {
                    if super::generic::looks_like_path(value) {
                        self.use_path(&operand.with_text(value), Effect::Read, call);
                    }
                    self.tool_variable(&operand.with_text(value), call);
                }
                None if !dry => {
                    if let Some(act) = task_act(&operand.text) {
                        call.command.fact(act, operand.text.as_str());
                    }
                }
                None => {}
            }
        }
        call.output = Value::unknown(call.stdin.taint);
    }

    /// Lines of a makefile that start with a tab are commands.
    fn recipes(&mut self, text: &str, call: &mut Call) {
        for line in text.lines() {
            // Behind the `;` of a rule stands a command too, and `$(shell …)` runs where it is read.
            let inline =
                line.split_once(':').and_then(|(_, tail)| tail.split_once(';')).map(|(_, code)| code);
            let code = if line.starts_with('\t') { Some(line) } else { inline };
            if let Some(code) = code {
                let code = code.trim_start_matches(['\t', ' ', '@', '-', '+']).replace("$(shell ", "$(");
                self.nested_code(&code.replace("$$", "$"), call);
            }
            for (_, tail) in line.split("$(shell ").skip(1).map(|part| ("", part)) {
                let code = tail.rsplit_once(')').map_or(tail, |(code, _)| code);
                self.nested_code(&String::from(code), call);
            }
        }
    }
}

fn plain_words(options: &Options) -> Vec<&str> {
    options.operands.iter().map(|o| o.text.as_str()).collect()
}

fn is_looking(sub: &str) -> bool {
    matches!(
        sub,
        "list"
            | "ls"
            | "info"
            | "show"
            | "search"
            | "outdated"
            | "view"
            | "why"
            | "help"
            | "config"
            | "run"
            | "root"
            | "prefix"
            | "bin"
            | "audit"
            | "query"
            | "policy"
            | "doctor"
            | "deps"
            | "leaves"
            | "home"
            | "desc"
            | "cat"
            | "uses"
            | "status"
            | "explain"
            | "changelog"
            | "depends"
            | "rdepends"
            | "find"
            | "showpkg"
            | "madison"
    )
}

fn destroys_data(word: &str) -> bool {
    crate::rules::names::segments(word).any(|s| {
        matches!(
            s.as_str(),
            "reset"
                | "drop"
                | "flush"
                | "purge"
                | "clean"
                | "dropall"
                | "destroy"
                | "fresh"
                | "wipe"
                | "truncate"
                | "load"
        )
    })
}
