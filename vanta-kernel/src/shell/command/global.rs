//! Package managers and toolchains: what reaches beyond the project into the user's or the system's folders.

use alloc::vec::Vec;

use super::{Call, Options};
use crate::rules::act::Act;
use crate::shell::flow::Walker;
use crate::{Effect, shell::value::Value};

impl Walker<'_> {
    /// Installs for every project, settings of the user, and certificates the system trusts.
    pub(super) fn outside_project(words: &[&str], options: &Options, call: &mut Call) {
        let sub = words.first().copied().unwrap_or("");
        let next = words.get(1).copied().unwrap_or("");
        let looks = options.has(&["--help", "--dry-run", "--list", "--version"])
            || is_reading(sub)
            || is_reading(next);
        if looks {
            return;
        }
        let name = call.name.as_str();
        let act = if changes_settings(name, sub, words, options) {
            Act::UserSettings
        } else if is_base_environment(call)
            || is_global(name, options) && !matches!(sub, "run" | "exec" | "config" | "set" | "")
            || installs(name, sub, next)
        {
            Act::InstallGlobal
        } else {
            return;
        };
        let word = alloc::format!("{name} {sub}");
        call.command.fact(act, word);
    }

    /// What a clone or a download put into `folder` is about to run.
    pub(super) fn fetched_folder(&self, folder: &str, call: &mut Call) {
        let path = self.place().absolute(folder);
        if self.written(&path, Effect::Execute).is_some_and(|found: Value| found.taint.network) {
            call.fact(Act::RunFetched);
        }
    }
}

/// `conda install -n base`: every environment starts from it.
fn is_base_environment(call: &Call) -> bool {
    let words: Vec<&str> = call.words().collect();
    matches!(call.name.as_str(), "conda" | "mamba" | "micromamba")
        && (words.contains(&"--name=base")
            || words.windows(2).any(|w| matches!(w, ["-n" | "--name", "base"])))
        && !words.contains(&"run")
}

fn is_reading(word: &str) -> bool {
    matches!(
        word,
        "ls" | "list"
            | "ll"
            | "outdated"
            | "root"
            | "bin"
            | "prefix"
            | "get"
            | "info"
            | "show"
            | "view"
            | "why"
            | "search"
            | "help"
            | "available"
            | "installed"
            | "current"
            | "which"
            | "where"
            | "versions"
            | "ls-remote"
            | "check"
            | "doctor"
            | "env"
            | "path"
            | "debug"
    )
}

fn is_global(name: &str, options: &Options) -> bool {
    let long = options.has(&["--global"])
        || options
            .flags
            .iter()
            .any(|(f, v)| f == "--location" && v.as_ref().is_some_and(|v| v.text == "global"));
    let short = matches!(name, "npm" | "pnpm" | "yarn" | "cnpm" | "composer" | "dotnet" | "mise");
    long && !matches!(name, "sbt" | "nx" | "bundle") || short && options.has(&["-g"])
}

/// `npm config set`, `poetry config key value`: kept in the home folder unless the option says otherwise.
fn changes_settings(name: &str, sub: &str, words: &[&str], options: &Options) -> bool {
    let local = options.has(&["--local", "--site"])
        || options
            .flags
            .iter()
            .any(|(f, v)| f == "--location" && v.as_ref().is_some_and(|v| v.text == "project"));
    let next = words.get(1).copied().unwrap_or("");
    let writes = matches!(
        next,
        "set" | "unset" | "delete" | "rm" | "edit" | "add" | "remove" | "import" | "append" | "prepend"
    );
    match (name, sub) {
        _ if local => false,
        ("npm" | "pnpm" | "cnpm", "set") => true,
        (
            "npm" | "pnpm" | "yarn" | "cnpm" | "pip" | "pip3" | "uv" | "pdm" | "hatch" | "rye" | "mise"
            | "pixi",
            "config" | "c" | "settings",
        ) => writes || words.len() > 2 && name == "pdm",
        ("bundle" | "bundler" | "composer", "config") => options.has(&["--global", "-g"]),
        ("poetry", "config") => words.len() > 2 || options.has(&["--unset"]),
        ("conda" | "mamba" | "micromamba", "config") => {
            options.has(&["--add", "--set", "--append", "--prepend", "--remove", "--remove-key"])
        }
        ("gem", "sources") => options.has(&["-a", "--add", "-r", "--remove", "-c", "--clear-all"]),
        ("opam" | "cabal" | "stack", "config" | "user-config") => writes || next == "init",
        ("luarocks", "config") => words.len() > 2,
        ("flutter" | "dart", "config" | "--disable-analytics") => !options.flags.is_empty(),
        ("nuget" | "dotnet", "sources" | "source" | "config") => writes,
        ("dotnet", "nuget") => {
            matches!(words.get(1..3), Some([_, "source" | "config"]))
                && matches!(next, "add" | "remove" | "update" | "enable" | "disable")
        }
        ("dotnet", "dev-certs") => options.has(&["--trust", "-t", "--clean", "--import", "-i"]),
        ("pnpm", "setup") => true,
        _ => false,
    }
}

/// Sub-commands that install for the user, whatever the project is.
fn installs(name: &str, sub: &str, next: &str) -> bool {
    let verb = matches!(
        next,
        "add"
            | "install"
            | "remove"
            | "uninstall"
            | "update"
            | "upgrade"
            | "use"
            | "link"
            | "delete"
            | "create"
            | "switch"
    );
    match (name, sub) {
        ("poetry" | "pdm" | "rye" | "uv" | "hatch" | "pixi", "self") => !next.is_empty(),
        ("uv" | "hatch" | "rye", "tool" | "python" | "tools" | "toolchain") => {
            verb || matches!(next, "fetch" | "register")
        }
        ("composer" | "pixi" | "yarn", "global") => !next.is_empty(),
        ("cpan" | "cpanm", _) => !sub.is_empty() && sub != ".",
        ("guix", _) => {
            matches!(sub, "install" | "remove" | "upgrade" | "pull" | "gc" | "package" | "system" | "home")
        }
        ("nix", "profile") => verb || matches!(next, "rollback" | "wipe-history"),
        ("nix", "upgrade-nix" | "store") => {
            sub == "upgrade-nix" || matches!(next, "gc" | "delete" | "optimise")
        }
        ("asdf", "plugin" | "plugin-add" | "install" | "uninstall" | "global" | "update") => true,
        (
            "pyenv" | "rbenv" | "nodenv" | "nvm" | "fnm" | "sdk" | "fvm" | "jenv" | "goenv" | "tfenv",
            "install" | "i" | "uninstall" | "global" | "default" | "alias" | "rm" | "upgrade" | "selfupdate",
        ) => true,
        ("volta", "install" | "pin" | "uninstall" | "setup") => sub != "pin",
        ("mise", "install" | "uninstall" | "upgrade" | "self-update" | "implode" | "plugins" | "plugin") => {
            true
        }
        (
            "pipx",
            "install" | "uninstall" | "upgrade" | "upgrade-all" | "inject" | "reinstall" | "ensurepath"
            | "uninstall-all",
        ) => true,
        ("rustup", "install" | "default" | "update" | "uninstall" | "self" | "override" | "set") => true,
        ("rustup", "toolchain" | "component" | "target") => verb,
        (
            "mix",
            "archive.install" | "archive.uninstall" | "local.hex" | "local.rebar" | "local.phx"
            | "escript.install",
        ) => true,
        ("dart" | "flutter" | "pub", "pub") => next == "global",
        ("pub", "global") | ("flutter", "upgrade" | "downgrade" | "channel") => true,
        ("opam", "switch" | "install" | "remove" | "upgrade" | "pin") => true,
        ("cabal" | "stack" | "nimble" | "shards", "install" | "upgrade") => name != "shards",
        ("conda" | "mamba" | "micromamba", "init") => true,
        ("gem", "install" | "uninstall" | "update" | "cleanup" | "pristine") => true,
        ("luarocks", "install" | "remove" | "purge") => true,
        ("swift", "sdk") | ("dotnet", "workload" | "sdk") => {
            verb || matches!(next, "repair" | "clean" | "restore")
        }
        (
            "ghcup" | "elan" | "juliaup" | "swiftly" | "choosenim" | "tlmgr" | "sdkmanager"
            | "cargo-binstall" | "spack" | "coursier" | "cs" | "haxelib",
            _,
        ) => !matches!(sub, "" | "fetch" | "resolve" | "launch" | "run" | "spec"),
        ("devbox" | "pkgx", "global" | "install") => true,
        _ => false,
    }
}
