//! Words that say an effect, in the sub-commands, targets and options of tools whose tables do not list them.
//!
//! Data says nothing: what is tested, searched or installed, files, and values of options.

use alloc::string::String;
use alloc::vec::Vec;

use super::Call;
use crate::rules::act::Act;
use crate::shell::flow::Walker;
use crate::shell::value::{Value, is_marker};

impl Walker<'_> {
    /// A word for publishing, deploying, dropping and the like asks.
    pub(super) fn intent(call: &mut Call) {
        if is_rehearsal(&call.args) {
            return;
        }
        let name = call.name.as_str();
        let found = if DATA_TOOLS.binary_search(&name).is_ok() {
            None
        } else if GOAL_TOOLS.binary_search(&name).is_ok() {
            words(&call.args, true).iter().find_map(|w| word_act(w).map(|act| (act, w.clone())))
        } else {
            command_act(&words(&call.args, false))
        };
        if let Some((act, word)) = found {
            call.command.fact(act, word);
        }
        Self::option_intent(call);
    }

    /// Options that say an effect: `--push`, `--publishImage`, `--delete`.
    pub(super) fn option_intent(call: &mut Call) {
        let found = call
            .args
            .iter()
            .take_while(|a| a.text != "--")
            .find_map(|a| option_act(&a.text).map(|act| (act, a.text.clone())));
        if let Some((act, word)) = found {
            call.command.fact(act, word);
        }
    }
}

/// Only told what would happen.
pub(super) fn is_rehearsal(args: &[Value]) -> bool {
    let last = args.last().map_or("", |a| a.text.as_str());
    matches!(last, "-h" | "help")
        || args.iter().any(|a| {
            let name = a.text.split('=').next().unwrap_or("");
            REHEARSALS.binary_search(&name).is_ok()
        })
}

/// Operands that can be a sub-command or a target, without the values of options.
fn words(args: &[Value], goals: bool) -> Vec<String> {
    let mut out = Vec::new();
    let mut before = "";
    for arg in args.iter().take_while(|a| a.text != "--") {
        let text = arg.text.as_str();
        let option = core::mem::replace(&mut before, text);
        if text.starts_with('-') || takes_value(option) {
            continue;
        }
        let word = if goals { text.split_whitespace().next().unwrap_or("") } else { text };
        let word = word.trim_start_matches(['+', '@', ':']);
        let word = word.rsplit('/').next().filter(|_| goals || out.is_empty()).unwrap_or(word);
        // `-c Release` names a configuration.
        let configuration = option.starts_with('-') && word.eq_ignore_ascii_case("release");
        if !is_word(word) || configuration {
            continue;
        }
        out.push(String::from(word));
        if !goals && out.len() == 3 {
            break;
        }
    }
    out
}

fn is_word(word: &str) -> bool {
    let file = word.rsplit_once('.').is_some_and(|(_, end)| EXTENSIONS.binary_search(&end).is_ok());
    !word.is_empty()
        && !file
        && !word.chars().any(is_marker)
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
}

/// A long option takes the next word, unless its name is that of a switch.
fn takes_value(option: &str) -> bool {
    let Some(name) = option.strip_prefix("--").filter(|n| !n.contains('=')) else { return false };
    let first = name.split('-').next().unwrap_or("");
    SWITCHES.binary_search(&first).is_err()
}

/// The act of a sub-command, its own sub-command, or its first target.
fn command_act(words: &[String]) -> Option<(Act, String)> {
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).map_or("", String::as_str);
        if let Some(act) = word_act(word).or_else(|| whole(word)) {
            let looks = LOOKING.binary_search(&next).is_ok();
            return if looks { None } else { Some((act, word.clone())) };
        }
        if PLAIN.binary_search(&word.as_str()).is_ok() || LOOKING.binary_search(&word.as_str()).is_ok() {
            return None;
        }
    }
    None
}

/// `release`, `db:drop`, `publishToCentral`, but not `assembleRelease`, `release:notes` or `migrate:status`.
fn word_act(word: &str) -> Option<Act> {
    let all = camel(word);
    let is = |table: &[&str], s: &String| table.binary_search(&s.as_str()).is_ok();
    if all.iter().any(|s| is(LOOKING, s) || matches!(s.as_str(), "dry" | "local" | "test")) {
        return None;
    }
    if all.iter().any(|s| is(DATABASE_NOUNS, s)) && all.iter().any(|s| is(DATABASE_VERBS, s)) {
        return Some(Act::Migrate);
    }
    word.split(':').find_map(|part| {
        let segments = camel(part);
        let plain = segments.first().is_some_and(|s| is(PLAIN, s));
        if plain { None } else { segments.iter().find_map(|s| lookup(VERBS, s)) }
    })
}

fn whole(word: &str) -> Option<Act> {
    lookup(WHOLE_VERBS, word)
}

fn lookup(table: &[(&str, Act)], word: &str) -> Option<Act> {
    table.binary_search_by(|(key, _)| (*key).cmp(word)).ok().and_then(|i| table.get(i)).map(|(_, act)| *act)
}

fn option_act(option: &str) -> Option<Act> {
    let text = option.strip_prefix("--")?;
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if matches!(value, "false" | "no" | "0" | "off" | "never") {
        return None;
    }
    let segments = camel(name);
    let denied = segments.iter().any(|s| matches!(s.as_str(), "dry" | "no" | "skip" | "without"));
    let names_thing = segments.len() > 1
        && segments.last().is_some_and(|s| OPTION_NOUNS.binary_search(&s.as_str()).is_ok());
    if denied || names_thing {
        return None;
    }
    segments.iter().find_map(|s| lookup(OPTION_VERBS, s))
}

/// Lower-case parts of a name, split at signs and where a capital follows a small letter.
pub(super) fn camel(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut small = false;
    for c in text.chars() {
        let splits = !c.is_ascii_alphanumeric() || small && c.is_ascii_uppercase();
        if splits && !current.is_empty() {
            out.push(core::mem::take(&mut current));
        }
        if c.is_ascii_alphanumeric() {
            current.push(c.to_ascii_lowercase());
        }
        small = c.is_ascii_lowercase();
    }
    if !current.is_empty() {
        out.push(current);
    }
    out
}

/// Sorted. Options with which nothing happens.
const REHEARSALS: &[&str] = &[
    "--check",
    "--dry",
    "--dry-run",
    "--dryrun",
    "--dump-sql",
    "--help",
    "--just-print",
    "--list",
    "--list-tasks",
    "--no-op",
    "--noop",
    "--simulate",
    "--snapshot",
    "--version",
    "--what-if",
    "--whatif",
    "-help",
];

/// Sorted. First words of long options that take no value.
const SWITCHES: &[&str] = &[
    "all",
    "batch",
    "ci",
    "color",
    "daemon",
    "debug",
    "force",
    "global",
    "info",
    "interactive",
    "no",
    "non",
    "offline",
    "parallel",
    "prod",
    "production",
    "quiet",
    "silent",
    "skip",
    "stacktrace",
    "strict",
    "verbose",
    "watch",
    "yes",
];

/// Sorted. Tools whose operands are all targets.
const GOAL_TOOLS: &[&str] = &[
    "ant",
    "bb",
    "buck",
    "cake",
    "doit",
    "fab",
    "fake",
    "gradle",
    "gradlew",
    "grunt",
    "gulp",
    "inv",
    "invoke",
    "jake",
    "just",
    "mage",
    "mill",
    "mvn",
    "mvnw",
    "ninja",
    "nmake",
    "npm-run-all",
    "nuke",
    "rake",
    "run-p",
    "run-s",
    "sbt",
    "scons",
    "task",
    "thor",
];

/// Sorted. Tools whose operands are patterns, names or folders, so that a verb among them is data.
const DATA_TOOLS: &[&str] = &[
    "act",
    "ag",
    "aspell",
    "ava",
    "axe",
    "bats",
    "behat",
    "behave",
    "black",
    "busted",
    "c8",
    "cargo-tree",
    "cheat",
    "clang",
    "clang-format",
    "cloc",
    "codespell",
    "cowthink",
    "cspell",
    "ct_run",
    "ctest",
    "cucumber",
    "dlv",
    "doxygen",
    "dune",
    "eslint",
    "flake8",
    "fzf",
    "gcc",
    "global",
    "golangci-lint",
    "gotestsum",
    "gum",
    "howdoi",
    "isort",
    "jasmine",
    "jest",
    "jo",
    "karma",
    "lolcat",
    "magick",
    "mlr",
    "mocha",
    "mypy",
    "navi",
    "ninja-test",
    "parallel_test",
    "peco",
    "pest",
    "phpunit",
    "prettier",
    "prove",
    "ptw",
    "py.test",
    "pydoc",
    "pydoc3",
    "pylint",
    "pyright",
    "pytest",
    "rdoc",
    "rspec",
    "rubocop",
    "ruff",
    "rustc",
    "shellcheck",
    "sk",
    "stylelint",
    "thefuck",
    "toilet",
    "tsc",
    "typos",
    "uuencode",
    "vale",
    "vitest",
    "vulture",
    "write-good",
    "xdg-open",
    "yamllint",
    "zoxide",
];

/// Sorted. Words that only look, or write a draft.
const LOOKING: &[&str] = &[
    "changelog",
    "check",
    "current",
    "describe",
    "diff",
    "draft",
    "dump",
    "generate",
    "get",
    "heads",
    "help",
    "history",
    "info",
    "lint",
    "list",
    "log",
    "logs",
    "ls",
    "make",
    "new",
    "notes",
    "pending",
    "plan",
    "preview",
    "print",
    "render",
    "show",
    "status",
    "validate",
    "verify",
    "version",
    "view",
];

/// Sorted. Sub-commands that build, look or work in the project, whatever stands behind them.
const PLAIN: &[&str] = &[
    "add",
    "analyze",
    "assemble",
    "audit",
    "bench",
    "benchmark",
    "build",
    "bundle",
    "check",
    "clean",
    "compile",
    "completion",
    "coverage",
    "create",
    "dev",
    "doc",
    "docs",
    "explain",
    "export",
    "fmt",
    "format",
    "g",
    "gen",
    "generate",
    "help",
    "i",
    "info",
    "init",
    "install",
    "lint",
    "list",
    "ls",
    "make",
    "new",
    "outdated",
    "pack",
    "package",
    "preview",
    "print",
    "remove",
    "repl",
    "run",
    "search",
    "serve",
    "show",
    "start",
    "storybook",
    "test",
    "tests",
    "typecheck",
    "uninstall",
    "update",
    "validate",
    "verify",
    "version",
    "view",
    "watch",
    "why",
];

/// Sorted. Parts of a word that say an effect.
const VERBS: &[(&str, Act)] = &[
    ("delete", Act::Irreversible),
    ("deploy", Act::Publish),
    ("destroy", Act::Irreversible),
    ("drop", Act::Irreversible),
    ("erase", Act::Irreversible),
    ("login", Act::Login),
    ("logout", Act::Login),
    ("migrate", Act::Migrate),
    ("nuke", Act::Irreversible),
    ("promote", Act::Publish),
    ("provision", Act::CloudChange),
    ("publish", Act::Publish),
    ("purge", Act::Irreversible),
    ("push", Act::Publish),
    ("release", Act::Publish),
    ("rollback", Act::Publish),
    ("rollout", Act::Publish),
    ("ship", Act::Publish),
    ("signin", Act::Login),
    ("submit", Act::Publish),
    ("teardown", Act::Irreversible),
    ("terminate", Act::Irreversible),
    ("truncate", Act::Irreversible),
    ("undeploy", Act::Irreversible),
    ("unpublish", Act::Publish),
    ("upload", Act::Publish),
    ("wipe", Act::Irreversible),
    ("yank", Act::Publish),
];

/// Sorted. Words that say an effect only when nothing is joined to them (`spotlessApply` formats).
const WHOLE_VERBS: &[(&str, Act)] = &[
    ("apply", Act::CloudChange),
    ("decrypt", Act::SecretShow),
    ("disable", Act::Irreversible),
    ("email", Act::Message),
    ("kill", Act::Irreversible),
    ("notify", Act::Message),
    ("prune", Act::Irreversible),
    ("revoke", Act::Irreversible),
    ("send", Act::Message),
    ("shutdown", Act::Irreversible),
    ("transfer", Act::Publish),
    ("uninstall", Act::InstallGlobal),
    ("unlink", Act::Irreversible),
];

/// Sorted.
const OPTION_VERBS: &[(&str, Act)] = &[
    ("broadcast", Act::Publish),
    ("delete", Act::Irreversible),
    ("deploy", Act::Publish),
    ("destroy", Act::Irreversible),
    ("drop", Act::Irreversible),
    ("publish", Act::Publish),
    ("purge", Act::Irreversible),
    ("push", Act::Publish),
    ("submit", Act::Publish),
    ("undeploy", Act::Irreversible),
    ("uninstall", Act::InstallGlobal),
    ("unpublish", Act::Publish),
    ("upload", Act::Publish),
    ("wipe", Act::Irreversible),
];

/// Sorted. An option that ends in one of these names a thing and does nothing.
const OPTION_NOUNS: &[&str] = &[
    "after",
    "branch",
    "count",
    "date",
    "dir",
    "directory",
    "exclude",
    "file",
    "format",
    "id",
    "key",
    "level",
    "mode",
    "name",
    "path",
    "port",
    "prefix",
    "size",
    "strategy",
    "target",
    "timeout",
    "type",
    "url",
    "version",
];

/// Sorted.
const DATABASE_NOUNS: &[&str] =
    &["database", "db", "ecto", "fixture", "fixtures", "migration", "migrations", "schema"];

/// Sorted. What changes a database, behind one of its nouns.
const DATABASE_VERBS: &[&str] = &[
    "create",
    "down",
    "downgrade",
    "drop",
    "execute",
    "flush",
    "fresh",
    "import",
    "load",
    "migrate",
    "prepare",
    "purge",
    "push",
    "refresh",
    "reset",
    "restore",
    "revert",
    "rollback",
    "run",
    "seed",
    "setup",
    "sync",
    "truncate",
    "undo",
    "up",
    "update",
    "upgrade",
    "wipe",
];

/// Sorted. A word with such an end is a file.
const EXTENSIONS: &[&str] = &[
    "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "env", "ex", "exs", "go", "h", "hs", "html", "ini",
    "ipynb", "java", "jl", "js", "json", "jsx", "kt", "lock", "lua", "md", "ml", "mts", "nix", "php", "pl",
    "ps1", "py", "r", "rb", "rs", "rst", "scala", "sh", "sol", "sql", "svg", "swift", "tex", "tf", "toml",
    "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [
            REHEARSALS,
            SWITCHES,
            GOAL_TOOLS,
            DATA_TOOLS,
            LOOKING,
            PLAIN,
            OPTION_NOUNS,
            DATABASE_NOUNS,
            DATABASE_VERBS,
            EXTENSIONS,
        ] {
            assert!(table.windows(2).all(|w| w[0] < w[1]), "{table:?}");
        }
        for table in [VERBS, WHOLE_VERBS, OPTION_VERBS] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
        }
    }

    #[test]
    fn words_that_say_an_effect() {
        assert_eq!(word_act("publishToCentral"), Some(Act::Publish));
        assert_eq!(word_act("doctrine:database:drop"), Some(Act::Migrate));
        for plain in ["assembleRelease", "migrate:status", "publishToMavenLocal", "spotlessApply", "lint"] {
            assert_eq!(word_act(plain), None, "{plain}");
        }
        assert_eq!(option_act("--publishImage"), Some(Act::Publish));
        assert_eq!(option_act("--no-push"), None);
        assert_eq!(option_act("--upload-dir"), None);
    }
}
