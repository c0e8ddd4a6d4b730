//! Options and variables whose value is a command line that the program runs.
//!
//! What such a value does is judged like a nested shell (see `command/carried.rs`); models that read their own
//! code options (`sh -c`, `git -c`, `find -exec`, `tar --to-command`) are not listed here.

/// The code options of `program`, separated by blanks; empty when none is known.
pub(crate) fn code_options(program: &str) -> &'static str {
    CODE_OPTIONS
        .binary_search_by(|(name, _)| (*name).cmp(program))
        .ok()
        .and_then(|i| CODE_OPTIONS.get(i))
        .map_or("", |(_, options)| *options)
}

/// How a program reads what it is given on its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputProgram {
    /// A text of its language.
    Code,
    /// Lines, of which those behind a `!` are commands.
    Lines,
    /// Macros, of which some run commands.
    Macros,
}

/// Does `program` run what it is given on its input? Interpreters with a model of their own are not listed.
pub(crate) fn reads_program(program: &str) -> Option<InputProgram> {
    INPUT_PROGRAMS
        .binary_search_by(|(name, _)| (*name).cmp(program))
        .ok()
        .and_then(|i| INPUT_PROGRAMS.get(i))
        .map(|(_, kind)| *kind)
}

/// Does every operand of `program` hold a command line of its own?
pub(crate) fn runs_operands(program: &str) -> bool {
    RUNS_OPERANDS.binary_search(&program).is_ok()
}

/// What a variable of that name makes other programs do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeVariable {
    /// Its value is a command line, and setting it asks.
    Command,
    /// Its value names a file that is loaded.
    File,
    /// Its value is expanded by the shell each time it prompts or traces.
    Prompt,
    /// Its value names a tool, as everyday builds do; only what it runs counts.
    Tool,
}

/// Variables through which a command runs other code.
pub(crate) fn code_variable(name: &str) -> Option<CodeVariable> {
    let listed = CODE_VARIABLES
        .binary_search_by(|(key, _)| (*key).cmp(name))
        .ok()
        .and_then(|i| CODE_VARIABLES.get(i))
        .map(|(_, kind)| *kind);
    listed.or_else(|| {
        let cargo = name.starts_with("CARGO_")
            && ["_RUNNER", "_LINKER", "_RUSTC", "_WRAPPER", "_RUSTDOC"].iter().any(|end| name.ends_with(end));
        let setting = name.starts_with("GIT_CONFIG_VALUE_") || name == "GIT_CONFIG_PARAMETERS";
        (cargo || setting).then_some(CodeVariable::Tool)
    })
}

/// Sorted by program.
#[rustfmt::skip]
const CODE_OPTIONS: &[(&str, &str)] = &[
    ("7z", "-sfx"),
    ("ag", "--pager"),
    ("alacritty", "-e --command"),
    ("apt", "-o --option"),
    ("apt-get", "-o --option"),
    ("aptitude", "-o"),
    ("bat", "--pager"),
    ("batcat", "--pager"),
    ("bazel", "--run_under --shell_executable"),
    ("bazelisk", "--run_under --shell_executable"),
    ("bb", "-e"),
    ("bsdtar", "-F --rsh-command"),
    ("capsh", "-c"),
    ("cargo", "--config -s --shell"),
    ("cargo-watch", "-s --shell -x --exec"),
    ("chokidar", "-c --command"),
    ("clang", "-wrapper"),
    ("clj", "-e"),
    ("clojure", "-e"),
    ("complete", "-C"),
    ("crystal", "eval"),
    ("csi", "-e"),
    ("ctest", "--test-command"),
    ("delta", "--pager --paging-command"),
    ("dotnet-script", "eval"),
    ("dpkg", "--pre-invoke --post-invoke"),
    ("dune", "--workspace-command"),
    ("entr", "-s"),
    ("erl", "-eval"),
    ("fish", "-C --init-command"),
    ("fly", "-C --command"),
    ("flyctl", "-C --command"),
    ("foot", "-e"),
    ("fzf", "--preview --bind --become"),
    ("g++", "-wrapper"),
    ("gcc", "-wrapper"),
    ("ghc", "-e"),
    ("gnome-terminal", "-e --command -x"),
    ("gnuplot", "-e"),
    ("go", "-exec -toolexec -vettool"),
    ("gtar", "-F --info-script --rsh-command"),
    ("guile", "-c"),
    ("hg", "--config"),
    ("hyperfine", "-p --prepare -s --setup -c --cleanup -C --conclude --reference"),
    ("java", "--execution"),
    ("konsole", "-e"),
    ("kotlin", "-e -expression"),
    ("kotlinc", "-e -expression"),
    ("latexmk", "-e -latex -pdflatex -xelatex -lualatex -pdf-viewer"),
    ("less", "--cmd"),
    ("lf", "-command -c"),
    ("logrotate", "-m --mail"),
    ("lxterminal", "-e --command"),
    ("man", "-P --pager"),
    ("mapfile", "-C"),
    ("maxima", "--batch-string"),
    ("mutt", "-e"),
    ("mysql", "--pager"),
    ("neomutt", "-e"),
    ("nim", "--eval"),
    ("nnn", "-P"),
    ("nodemon", "-x --exec"),
    ("npm", "--script-shell"),
    ("nvim", "--cmd"),
    ("ocaml", "-e"),
    ("octave", "--eval"),
    ("octave-cli", "--eval"),
    ("onchange", "-e"),
    ("pandoc", "-F --filter --pdf-engine"),
    ("pass", "--clip-command"),
    ("pnpm", "--script-shell"),
    ("pulumi", "--exec-kind"),
    ("raku", "-e"),
    ("ranger", "--cmd"),
    ("readarray", "-C"),
    ("reflex", "--sequential"),
    ("rg", "--pre --hostname-bin"),
    ("ripgrep", "--pre --hostname-bin"),
    ("rpm", "--pipe --eval -E"),
    ("scp", "-o -S"),
    ("sftp", "-o -S"),
    ("sk", "--preview --bind --cmd -c"),
    ("st", "-e"),
    ("stack", "--exec"),
    ("svn", "--editor-cmd --diff-cmd --diff3-cmd --config-option"),
    ("swift", "-e"),
    ("tar", "-F --info-script --new-volume-script --rsh-command --rmt-command"),
    ("tcpdump", "-z"),
    ("terminator", "-e --command -x --execute"),
    ("tilix", "-e --command"),
    ("tsc-watch", "--onSuccess --onFailure --onFirstSuccess --onEmit"),
    ("tsup", "--onSuccess"),
    ("tsx", "--exec"),
    ("urxvt", "-e"),
    ("v", "-e"),
    ("vagrant", "--command"),
    ("valgrind", "--db-command"),
    ("vim", "--cmd"),
    ("vimdiff", "--cmd"),
    ("watchexec", "--exec"),
    ("watchman-make", "--run"),
    ("wget", "--use-askpass"),
    ("wget2", "--use-askpass"),
    ("wolframscript", "-code -c"),
    ("xfce4-terminal", "-e --command -x"),
    ("xterm", "-e"),
    ("yarn", "--script-shell"),
    ("zip", "-TT --unzip-command"),
];

/// Sorted by program.
#[rustfmt::skip]
const INPUT_PROGRAMS: &[(&str, InputProgram)] = &[
    ("bb", InputProgram::Code),
    ("clj", InputProgram::Code),
    ("clojure", InputProgram::Code),
    ("crystal", InputProgram::Code),
    ("csi", InputProgram::Code),
    ("dart", InputProgram::Code),
    ("dc", InputProgram::Lines),
    ("gnuplot", InputProgram::Code),
    ("kotlin", InputProgram::Code),
    ("kotlinc", InputProgram::Code),
    ("m4", InputProgram::Macros),
    ("maxima", InputProgram::Code),
    ("nim", InputProgram::Code),
    ("ocaml", InputProgram::Code),
    ("swift", InputProgram::Code),
    ("v", InputProgram::Code),
    ("wolframscript", InputProgram::Code),
];

/// Sorted. Each operand with a blank in it is a line.
const RUNS_OPERANDS: &[&str] = &[
    "conc",
    "concurrently",
    "cross-env-shell",
    "onchange",
    "reflex",
    "start-server-and-test",
    "start-test",
    "wsl",
];

/// Sorted.
#[rustfmt::skip]
pub(crate) const CODE_VARIABLES: &[(&str, CodeVariable)] = &[
    ("AR", CodeVariable::Tool),
    ("BASH_ENV", CodeVariable::File),
    ("BROWSER", CodeVariable::Tool),
    ("CC", CodeVariable::Tool),
    ("CVS_RSH", CodeVariable::Command),
    ("CXX", CodeVariable::Tool),
    ("DYLD_INSERT_LIBRARIES", CodeVariable::File),
    ("EDITOR", CodeVariable::Command),
    ("ENV", CodeVariable::File),
    ("FCEDIT", CodeVariable::Command),
    ("FZF_DEFAULT_COMMAND", CodeVariable::Tool),
    ("GIT_ASKPASS", CodeVariable::Command),
    ("GIT_EDITOR", CodeVariable::Command),
    ("GIT_EXTERNAL_DIFF", CodeVariable::Command),
    ("GIT_PAGER", CodeVariable::Command),
    ("GIT_PROXY_COMMAND", CodeVariable::Command),
    ("GIT_SEQUENCE_EDITOR", CodeVariable::Command),
    ("GIT_SSH", CodeVariable::Command),
    ("GIT_SSH_COMMAND", CodeVariable::Command),
    ("GOFLAGS", CodeVariable::Tool),
    ("HGEDITOR", CodeVariable::Command),
    ("KUBE_EDITOR", CodeVariable::Command),
    ("LD", CodeVariable::Tool),
    ("LD_AUDIT", CodeVariable::File),
    ("LD_PRELOAD", CodeVariable::File),
    ("LESSCLOSE", CodeVariable::Command),
    ("LESSOPEN", CodeVariable::Command),
    ("MAKEFLAGS", CodeVariable::Tool),
    ("MANPAGER", CodeVariable::Command),
    ("MANROFFOPT", CodeVariable::Tool),
    ("PAGER", CodeVariable::Command),
    ("PERL5DB", CodeVariable::Command),
    ("PERL5OPT", CodeVariable::File),
    ("PROMPT_COMMAND", CodeVariable::Command),
    ("PS0", CodeVariable::Prompt),
    ("PS1", CodeVariable::Prompt),
    ("PS2", CodeVariable::Prompt),
    ("PS4", CodeVariable::Prompt),
    ("PSQL_PAGER", CodeVariable::Command),
    ("PYTHONSTARTUP", CodeVariable::File),
    ("RSYNC_CONNECT_PROG", CodeVariable::Command),
    ("RSYNC_RSH", CodeVariable::Tool),
    ("RUBYOPT", CodeVariable::File),
    ("RUSTC", CodeVariable::Tool),
    ("RUSTC_WORKSPACE_WRAPPER", CodeVariable::Tool),
    ("RUSTC_WRAPPER", CodeVariable::Tool),
    ("SHELL", CodeVariable::Tool),
    ("SSH_ASKPASS", CodeVariable::Command),
    ("SUDO_ASKPASS", CodeVariable::Command),
    ("SVN_EDITOR", CodeVariable::Command),
    ("SVN_SSH", CodeVariable::Command),
    ("SYSTEMD_EDITOR", CodeVariable::Command),
    ("SYSTEMD_PAGER", CodeVariable::Command),
    ("TAR_OPTIONS", CodeVariable::Tool),
    ("VISUAL", CodeVariable::Command),
    ("npm_config_script_shell", CodeVariable::Command),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(CODE_OPTIONS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(INPUT_PROGRAMS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(RUNS_OPERANDS.is_sorted());
        assert!(CODE_VARIABLES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
