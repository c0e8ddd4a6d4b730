//! Words that say what a tool is about to do, and the positions in which they are only data.
//!
//! Read by `shell/command/intent.rs` for sub-commands, targets and options that no other table lists.

use super::act::Act;

/// Sorted. Options with which nothing happens.
#[rustfmt::skip]
pub(crate) const REHEARSALS: &[&str] = &[
    "--check", "--dry", "--dry-run", "--dryrun", "--dump-sql", "--help", "--just-print", "--list",
    "--list-tasks", "--no-op", "--noop", "--simulate", "--snapshot", "--version", "--what-if", "--whatif",
    "-help",
];

/// Sorted. First words of long options that take no value.
#[rustfmt::skip]
pub(crate) const SWITCHES: &[&str] = &[
    "all", "batch", "ci", "color", "daemon", "debug", "force", "global", "info", "interactive", "no", "non",
    "offline", "parallel", "prod", "production", "quiet", "silent", "skip", "stacktrace", "strict",
    "verbose", "watch", "yes",
];

/// Sorted. Tools whose operands are all targets.
#[rustfmt::skip]
pub(crate) const GOAL_TOOLS: &[&str] = &[
    "ant", "bb", "buck", "cake", "doit", "fab", "fake", "gradle", "gradlew", "grunt", "gulp", "inv",
    "invoke", "jake", "just", "mage", "mill", "mvn", "mvnw", "ninja", "nmake", "npm-run-all", "nuke",
    "rake", "run-p", "run-s", "sbt", "scons", "task", "thor",
];

/// Sorted. Tools whose operands are patterns, names or folders, so that a verb among them is data.
#[rustfmt::skip]
pub(crate) const DATA_TOOLS: &[&str] = &[
    "act", "ag", "aspell", "ava", "axe", "bats", "behat", "behave", "black", "busted", "c8", "cargo-tree",
    "cheat", "clang", "clang-format", "cloc", "codespell", "cowthink", "cspell", "ct_run", "ctest",
    "cucumber", "dlv", "doxygen", "dune", "eslint", "flake8", "fzf", "gcc", "global", "golangci-lint",
    "gotestsum", "gum", "howdoi", "isort", "jasmine", "jest", "jo", "karma", "lolcat", "magick", "mlr",
    "mocha", "mypy", "navi", "ninja-test", "parallel_test", "peco", "pest", "phpunit", "prettier", "prove",
    "ptw", "py.test", "pydoc", "pydoc3", "pylint", "pyright", "pytest", "rdoc", "rspec", "rubocop", "ruff",
    "rustc", "shellcheck", "sk", "stylelint", "thefuck", "toilet", "tsc", "typos", "uuencode", "vale",
    "vitest", "vulture", "write-good", "xdg-open", "yamllint", "zoxide",
];

/// Sorted. Words that only look, or write a draft.
#[rustfmt::skip]
pub(crate) const LOOKING: &[&str] = &[
    "changelog", "check", "current", "describe", "diff", "draft", "dump", "generate", "get", "heads",
    "help", "history", "info", "lint", "list", "log", "logs", "ls", "make", "new", "notes", "pending",
    "plan", "preview", "print", "render", "show", "status", "validate", "verify", "version", "view",
];

/// Sorted. Sub-commands that build, look or work in the project, whatever stands behind them.
#[rustfmt::skip]
pub(crate) const PLAIN: &[&str] = &[
    "add", "analyze", "assemble", "audit", "bench", "benchmark", "build", "bundle", "check", "clean",
    "compile", "completion", "coverage", "create", "dev", "doc", "docs", "explain", "export", "fmt",
    "format", "g", "gen", "generate", "help", "i", "info", "init", "install", "lint", "list", "ls", "make",
    "new", "outdated", "pack", "package", "preview", "print", "remove", "repl", "run", "search", "serve",
    "show", "start", "storybook", "test", "tests", "typecheck", "uninstall", "update", "validate", "verify",
    "version", "view", "watch", "why",
];

/// Sorted. Parts of a word that say an effect.
pub(crate) const VERBS: &[(&str, Act)] = &[
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
pub(crate) const WHOLE_VERBS: &[(&str, Act)] = &[
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
pub(crate) const OPTION_VERBS: &[(&str, Act)] = &[
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
#[rustfmt::skip]
pub(crate) const OPTION_NOUNS: &[&str] = &[
    "after", "branch", "count", "date", "dir", "directory", "exclude", "file", "format", "id", "key",
    "level", "mode", "name", "path", "port", "prefix", "size", "strategy", "target", "timeout", "type",
    "url", "version",
];

/// Sorted.
#[rustfmt::skip]
pub(crate) const DATABASE_NOUNS: &[&str] =
    &[
    "database", "db", "ecto", "fixture", "fixtures", "migration", "migrations", "schema",
];

/// Sorted. What changes a database, behind one of its nouns.
#[rustfmt::skip]
pub(crate) const DATABASE_VERBS: &[&str] = &[
    "create", "down", "downgrade", "drop", "execute", "flush", "fresh", "import", "load", "migrate",
    "prepare", "purge", "push", "refresh", "reset", "restore", "revert", "rollback", "run", "seed", "setup",
    "sync", "truncate", "undo", "up", "update", "upgrade", "wipe",
];

/// Sorted. A word with such an end is a file.
#[rustfmt::skip]
pub(crate) const EXTENSIONS: &[&str] = &[
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
}
