//! Words that look like paths and are none: patterns, settings for later, fields of a filter; and those that are.

use super::Call;
use super::generic::looks_like_path;
use crate::rules::act::Act;
use crate::rules::names;
use crate::shell::code::{Quotes, Token, tokens};
use crate::shell::flow::Walker;

impl Walker<'_> {
    /// `env`, `$ENV`, `env.NAME` and `strenv(NAME)` in a filter; `.env` is a field of the input.
    pub(super) fn filter_environment(program: &str, call: &mut Call) {
        let tokens = tokens(program, Quotes::DoubleOnly);
        for (index, token) in tokens.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            let field = index > 0 && tokens.get(index - 1) == Some(&Token::Sign('.'));
            let (base, member) = word.split_once('.').unwrap_or((word, ""));
            if field || !matches!(base, "env" | "$ENV" | "strenv" | "envsubst") {
                continue;
            }
            let named = match (tokens.get(index + 1), tokens.get(index + 2)) {
                (Some(Token::Sign('(' | '[')), Some(Token::Word(name) | Token::Text(name))) => name.as_str(),
                (Some(Token::Sign('(')), _) if base == "envsubst" => "x",
                _ => member,
            };
            if named.is_empty() {
                call.fact(Act::Environment);
            } else if names::is_secret_variable(named) {
                call.fact(Act::SecretShow);
            }
        }
    }

    /// A word that is remembered for later or belongs to another syntax: `./configure --prefix=/usr`, `cmake -DX=/usr`.
    pub(super) fn is_setting(&self, text: &str, call: &Call) -> bool {
        match call.name.as_str() {
            "configure" | "config.status" => text.starts_with('-') && text.contains('='),
            "meson" | "cmake" | "ccmake" | "xmake" | "gn" => {
                text.starts_with("-D") || text.starts_with("--prefix=") || text.ends_with("dir=")
            }
            "msbuild" | "dotnet" | "csc" | "vbc" | "cl" | "link" | "devenv" | "xbuild" => {
                text.starts_with('/') && (text.contains(':') || !text.trim_start_matches('/').contains('/'))
            }
            _ => false,
        }
    }
}

/// `--files0-from=/x`, `--f=../x`: a value that is a path is read, unless the option says that it is a pattern.
pub(super) fn names_file(option: &str, value: &str) -> bool {
    let pattern = ["delim", "expr", "format", "pattern", "prefix", "regex", "sep", "style", "suffix"];
    option.starts_with("--")
        && value.len() > 1
        && !pattern.iter().any(|p| option.contains(p))
        && (looks_like_path(value) || option.contains("from"))
}

/// Options whose value is a pattern, a name or a setting: `pytest -k`, `--xpath`, `rails test -n`.
pub(super) fn takes_pattern(program: &str, option: &str) -> bool {
    match option {
        "--xpath"
        | "--filter"
        | "--grep"
        | "--testNamePattern"
        | "--tests"
        | "--test-name-pattern"
        | "--regex"
        | "--regexp"
        | "--pattern"
        | "--match"
        | "--build-arg"
        | "--grep-invert"
        | "--ignore-pattern"
        | "--message" => true,
        "-k" => matches!(program, "pytest" | "py.test" | "python" | "nosetests"),
        "-m" => matches!(program, "pytest" | "py.test" | "xmlstarlet"),
        "-n" => matches!(program, "rails" | "xmlstarlet"),
        "-t" => matches!(program, "jest" | "vitest" | "ava" | "xmlstarlet" | "rspec" | "buf"),
        "-e" => matches!(program, "rspec" | "hlint"),
        "-v" | "-s" | "-i" | "-d" | "-u" | "-r" | "-c" => program == "xmlstarlet",
        "-g" | "-f" => matches!(program, "mocha" | "bats") || program == "playwright" && option == "-g",
        "-R" | "-E" | "-L" | "-LE" => program == "ctest",
        "-run" | "-bench" | "-skip" | "-ldflags" | "-gcflags" | "-tags" => program == "go",
        "-D" => matches!(program, "cmake" | "meson" | "sphinx-build"),
        "--prefix" => matches!(program, "configure" | "meson" | "cmake"),
        _ => false,
    }
}
