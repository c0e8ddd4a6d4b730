//! Changes to a command that must not soften its verdict, over the corpus and over commands put together at random.
//!
//! A fixed corpus shows only that its own rows are right. These relations hold for every command, so they find what
//! nobody thought of writing down. `VANTA_SLOW_TESTS=1` runs fifty times as many cases.

use vanta_kernel::{Action, Risk, Scope, Verdict, assess};

use crate::generate::{Labelled, Random, cases, corpus_commands, double_quoted, single_quoted};

/// A command with the scope it is judged in.
struct Case {
    command: String,
    scope: Scope,
    /// It is one simple command of plain words.
    is_plain: bool,
}

impl Case {
    fn verdict(&self, command: &str) -> Verdict {
        assess(&Action::shell(command), &self.scope)
    }

    fn words(&self) -> Vec<&str> {
        self.command.split_whitespace().collect()
    }
}

/// The cases of one test, and what went wrong in them.
struct Trial {
    pool: Vec<Case>,
    random: Random,
    /// One command in so many is put together at random.
    made: usize,
    ran: usize,
    wrong: Vec<String>,
}

impl Trial {
    fn new(seed: u64) -> Self {
        let pool = corpus_commands().into_iter().map(case).collect();
        Self { pool, random: Random::seeded(seed), made: 3, ran: 0, wrong: Vec::new() }
    }

    /// Starts from the corpus alone.
    fn corpus_only(mut self) -> Self {
        self.made = usize::MAX;
        self
    }

    /// Runs `check` on the test's number of cases that `fits`.
    fn run(
        mut self,
        name: &str,
        fits: impl Fn(&Case) -> bool,
        check: impl Fn(&Case, &mut Random) -> Result<(), String>,
    ) {
        let (fitting, rest): (Vec<Case>, Vec<Case>) = self.pool.into_iter().partition(fits);
        drop(rest);
        for _ in 0..cases(2_000, 100_000) {
            let made;
            let case = if self.random.one_in(self.made) {
                made = plain_command(&mut self.random);
                &made
            } else {
                &fitting[self.random.below(fitting.len())]
            };
            self.ran += 1;
            if let Err(problem) = check(case, &mut self.random) {
                self.wrong.push(problem);
            }
        }
        self.wrong.sort();
        self.wrong.dedup();
        println!(
            "{name}: {} executions over {} commands, {} wrong",
            self.ran,
            fitting.len(),
            self.wrong.len()
        );
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

fn case(row: Labelled) -> Case {
    let mut scope = Scope::new(row.root);
    if let Some(home) = row.home {
        scope = scope.home(home);
    }
    if let Some(cwd) = row.cwd {
        scope = scope.cwd(cwd);
    }
    let is_plain = row.command.split(' ').all(|w| !w.is_empty() && w.chars().all(is_plain_character));
    let starts = row.command.split(' ').next().is_some_and(|w| !KEYWORDS.contains(&w) && !w.contains('='));
    Case { is_plain: is_plain && starts, command: row.command, scope }
}

fn is_plain_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '=' | ':' | ',' | '@' | '+' | '%')
}

/// Words that mean something only where they stand bare, and builtins a wrapper cannot run.
const KEYWORDS: [&str; 40] = [
    "!", ".", "[[", "alias", "builtin", "case", "cd", "coproc", "declare", "do", "done", "elif", "else",
    "enable", "esac", "eval", "exec", "exit", "export", "fi", "for", "function", "if", "in", "let", "local",
    "popd", "pushd", "read", "readonly", "return", "select", "set", "shift", "source", "then", "time",
    "trap", "unset", "while",
];

/// A simple command of plain words, put together at random.
fn plain_command(random: &mut Random) -> Case {
    const VERBS: [&str; 22] = [
        "rm",
        "rm -r",
        "rm -rf",
        "rm -fr --",
        "cat",
        "cp",
        "mv",
        "ls -la",
        "chmod -R 777",
        "chown -R dev",
        "git push",
        "git reset --hard",
        "git status",
        "find",
        "touch",
        "tee",
        "shred",
        "truncate -s 0",
        "ln -s",
        "curl -d @.env",
        "sudo rm -rf",
        "cargo test",
    ];
    const PLACES: [&str; 20] = [
        "/",
        "/etc",
        "/usr/lib",
        "/home/dev",
        "/home/dev/project",
        "/home/dev/Documents",
        ".",
        "..",
        "build",
        "src/lib.rs",
        ".git",
        ".git/hooks/pre-push",
        ".vanta/rules.toml",
        ".env",
        "/dev/sda",
        "/tmp/x",
        "/home/dev/.ssh/id_rsa",
        "/home/dev/.bashrc",
        "../other",
        "https://x.example",
    ];
    let mut command = String::from(random.pick(&VERBS));
    for _ in 0..1 + random.below(2) {
        command.push(' ');
        command.push_str(random.pick(&PLACES));
    }
    Case { command, scope: Scope::new("/home/dev/project").home("/home/dev"), is_plain: true }
}

/// The verdict on `changed` must not be milder than on the command of `case`.
fn not_milder(case: &Case, changed: &str) -> Result<(), String> {
    let (before, after) = (case.verdict(&case.command), case.verdict(changed));
    if after.risk() >= before.risk() {
        return Ok(());
    }
    Err(format!("{:?}: {before}\n    {changed:?}: {after}", case.command))
}

/// The verdict on `changed` must be as strict as on the command of `case`.
fn as_strict(case: &Case, changed: &str) -> Result<(), String> {
    let (before, after) = (case.verdict(&case.command), case.verdict(changed));
    if after.risk() == before.risk() {
        return Ok(());
    }
    Err(format!("{:?}: {before}\n    {changed:?}: {after}", case.command))
}

/// Neither comment nor here-document: text may follow on the same line. Nothing that only a script's own arguments fill.
fn takes_more(case: &Case) -> bool {
    let positional = case.command.match_indices('$').any(|(at, _)| {
        let rest = case.command[at + 1..].trim_start_matches('{');
        rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '@' | '*' | '#'))
    });
    !positional
        && !case.command.contains('#')
        && !case.command.contains("<<")
        && !case.command.ends_with(['\\', '&', '|', ';'])
}

#[test]
fn a_wrapper_around_a_simple_command_never_softens() {
    const WRAPPERS: [&str; 23] = [
        "command {}",
        "env {}",
        "env A=1 {}",
        "env -i {}",
        "nohup {}",
        "nice {}",
        "nice -n 5 {}",
        "timeout 5 {}",
        "timeout -k 1 5s {}",
        "time {}",
        "stdbuf -oL {}",
        "setsid {}",
        "setsid -w {}",
        "ionice -c 3 {}",
        "sudo {}",
        "sudo -u root {}",
        "doas {}",
        "exec {}",
        "A=1 {}",
        "flock /tmp/lock {}",
        "strace -f {}",
        "/usr/bin/env {}",
        "\\command {}",
    ];
    Trial::new(1).run(
        "wrappers",
        |c| c.is_plain,
        |case, random| {
            let mut wrapped = random.pick(&WRAPPERS).replace("{}", &case.command);
            if random.one_in(3) && !wrapped.starts_with("A=1") {
                wrapped = random.pick(&WRAPPERS[..18]).replace("{}", &wrapped);
            }
            not_milder(case, &wrapped)
        },
    );
}

#[test]
fn a_construct_around_a_command_never_softens() {
    Trial::new(2).run("constructs", takes_more, |case, random| {
        let c = &case.command;
        let changed = match random.below(14) {
            0 => format!("( {c} )"),
            1 => format!("{{ {c}; }}"),
            2 => format!("if true; then {c}; fi"),
            3 => format!("for i in 1; do {c}; done"),
            4 => format!("while :; do {c}; break; done"),
            5 => format!("f() {{ {c}; }}; f"),
            6 => format!("sh -c {}", single_quoted(c)),
            7 => format!("bash -c {}", single_quoted(c)),
            8 => format!("bash -c {}", double_quoted(c)),
            9 => format!("eval {}", single_quoted(c)),
            10 => format!("sudo sh -c {}", single_quoted(c)),
            11 => format!("case x in x) :; {c};; esac"),
            12 => format!("bash <<'END'\n{c}\nEND"),
            _ => format!("echo \"$( {c} )\""),
        };
        not_milder(case, &changed)
    });
}

#[test]
fn a_harmless_neighbour_never_softens() {
    const HARMLESS: [&str; 8] =
        ["true", "ls", "cargo test", "echo done", "git status", "cd .", "mkdir -p out", "x=1"];
    const JOINTS: [&str; 5] = [" ; ", " && ", "\n", " || ", " | "];
    Trial::new(3).run("neighbours", takes_more, |case, random| {
        let (other, joint) = (random.pick(&HARMLESS), random.pick(&JOINTS));
        // The parts of a pipeline run in shells of their own, so the command has to stay in one of them.
        let kept = if joint == " | " { format!("{{ {}; }}", case.command) } else { case.command.clone() };
        let changed = match random.below(3) {
            0 => format!("{other}{joint}{kept}"),
            1 => format!("{kept}{joint}{other}"),
            _ => format!("{other}\n{kept}{joint}{}", random.pick(&HARMLESS)),
        };
        not_milder(case, &changed)
    });
}

#[test]
fn quoting_a_word_changes_nothing() {
    Trial::new(4).run(
        "quoting",
        |c| c.is_plain,
        |case, random| {
            let words: Vec<String> = case.words().iter().map(|word| requoted(word, random)).collect();
            as_strict(case, &words.join(" "))
        },
    );
}

fn requoted(word: &str, random: &mut Random) -> String {
    let (front, back) = word.split_at(random.below(word.len()));
    match random.below(8) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("$'{word}'"),
        3 => format!("{front}\\{back}"),
        4 => format!("{front}''{back}"),
        5 => format!("{front}\"{back}\""),
        6 => format!("$'{}'", front.bytes().map(|b| format!("\\x{b:02x}")).collect::<String>()) + back,
        _ => String::from(word),
    }
}

#[test]
fn a_literal_variable_changes_nothing() {
    const NAMES: [&str; 6] = ["a", "dir", "TARGET", "x1", "_q", "longer_name_2"];
    Trial::new(5).run(
        "variables",
        |c| c.is_plain,
        |case, random| {
            let words = case.words();
            let (at, name) = (random.below(words.len()), random.pick(&NAMES));
            let cut = random.below(words[at].len());
            let (front, back) = words[at].split_at(cut);
            let used = match random.below(4) {
                0 => format!("{front}\"${{{name}}}\""),
                1 => format!("{front}${{{name}}}"),
                2 => format!("{front}\"${name}\""),
                _ => format!("{front}\"${{{name}:-other}}\""),
            };
            let set = match random.below(3) {
                0 => format!("{name}={back}; "),
                1 => format!("{name}='{back}'\n"),
                _ => format!("export {name}=\"{back}\" && "),
            };
            let mut changed: Vec<&str> = words.clone();
            changed[at] = &used;
            as_strict(case, &format!("{set}{}", changed.join(" ")))
        },
    );
}

#[test]
fn the_name_of_a_variable_changes_nothing() {
    const NAMES: [&str; 5] = ["q", "other", "Some_Name_2", "_", "zzz"];
    let fits = |case: &Case| own_variable(&case.command).is_some();
    Trial::new(11).corpus_only().run("variable names", fits, |case, random| {
        let name = own_variable(&case.command).unwrap();
        let new = random.pick(&NAMES);
        as_strict(case, &renamed(&case.command, name, new))
    });
}

/// A variable that the command sets and whose name means nothing by itself.
fn own_variable(command: &str) -> Option<&str> {
    let first = command.split([' ', ';']).next()?;
    let (name, _) = first.split_once('=')?;
    let plain = !name.is_empty() && name.len() <= 4 && name.chars().all(|c| c.is_ascii_alphabetic());
    let means_something =
        matches!(name, "IFS" | "HOME" | "PATH" | "PWD" | "ENV" | "CI" | "TERM" | "LANG" | "PAGE");
    let used = command.contains(&format!("${name}")) || command.contains(&format!("${{{name}"));
    (plain && !means_something && used).then_some(name)
}

/// Replaces `name` where it is a whole name.
fn renamed(command: &str, name: &str, new: &str) -> String {
    let mut out = String::new();
    let mut rest = command;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(at) = rest.find(name) {
        let (front, tail) = (&rest[..at], &rest[at + name.len()..]);
        let before = front.chars().next_back().or(out.chars().next_back());
        let in_use = matches!(before, Some('$' | '{' | '!'))
            || tail.starts_with('=') && before.is_none_or(|c| !is_part(c));
        out.push_str(front);
        out.push_str(if in_use && !tail.starts_with(is_part) { new } else { name });
        rest = tail;
    }
    out + rest
}

#[test]
fn padding_never_softens() {
    Trial::new(6).run("padding", takes_more, |case, random| {
        let much = [10, 1_000, 40_000][random.below(3)];
        let c = &case.command;
        let changed = match random.below(8) {
            0 => format!("{}{c}{}", " ".repeat(much), "\n".repeat(random.below(9))),
            1 => format!(": {}\n{c}", "x".repeat(much)),
            2 => format!("{c} # {}", "x ".repeat(much)),
            3 => format!("# {}\n{c}", "x".repeat(much)),
            4 => format!("{}{c}", "true; ".repeat(much / 20)),
            5 => format!("{c}{}", "; true".repeat(much / 20)),
            6 => format!("{}{c}", "x=1\n".repeat(much / 20)),
            _ => format!("cat <<'END' > notes.txt\n{}\nEND\n{c}", "words\n".repeat(much / 10)),
        };
        not_milder(case, &changed)
    });
}

#[test]
fn blanks_between_words_change_nothing() {
    Trial::new(7).run(
        "blanks",
        |c| c.is_plain,
        |case, random| {
            let joint = random.pick(&["  ", "\t", " \\\n", "   \t "]);
            as_strict(case, &case.words().join(joint))
        },
    );
}

#[test]
fn a_command_that_is_only_quoted_is_allowed() {
    Trial::new(8).run(
        "quoted commands",
        |_| true,
        |case, random| {
            let quoted =
                if random.one_in(2) { single_quoted(&case.command) } else { double_quoted(&case.command) };
            let changed = match random.below(7) {
                0 => format!("echo {quoted}"),
                1 => format!("printf %s {quoted}"),
                2 => format!("git commit -m {quoted}"),
                3 => format!("grep -F {quoted} README.md"),
                4 => format!("git commit --message={quoted}"),
                5 => format!(": {quoted}"),
                _ => format!("cat <<'END' > notes.txt\n{}\nEND", case.command),
            };
            let verdict = case.verdict(&changed);
            let starts_with_dash = case.command.starts_with('-');
            if verdict.risk() == Risk::Allow || starts_with_dash {
                return Ok(());
            }
            Err(format!("{changed:?}: {verdict}"))
        },
    );
}

#[test]
fn the_spelling_of_the_root_changes_nothing() {
    Trial::new(9).run(
        "root spellings",
        |_| true,
        |case, random| {
            let root = String::from(case.scope.root());
            let (parent, name) = root.rsplit_once('/').unwrap();
            let spelled = match random.below(5) {
                0 => format!("{root}/"),
                1 => format!("{parent}/./{name}"),
                2 => format!("{parent}//{name}"),
                3 => format!("/{root}"),
                _ => format!("{root}/x/.."),
            };
            let mut scope = Scope::new(spelled.clone());
            if let Some(home) = case.scope.home_dir() {
                scope = scope.home(home);
            }
            if case.scope.working_dir() != root {
                scope = scope.cwd(case.scope.working_dir());
            }
            let (before, after) =
                (case.verdict(&case.command), assess(&Action::shell(case.command.as_str()), &scope));
            if before.risk() != after.risk() {
                return Err(format!("{:?}: {before}\n    in {spelled:?}: {after}", case.command));
            }
            // The same place, written differently in the command.
            if case.is_plain {
                let words: Vec<String> = case
                    .words()
                    .iter()
                    .map(|w| if *w == root { spelled.clone() } else { String::from(*w) })
                    .collect();
                return as_strict(case, &words.join(" "));
            }
            Ok(())
        },
    );
}

#[test]
fn settings_about_other_places_change_nothing() {
    Trial::new(10).run(
        "scope settings",
        |_| true,
        |case, random| {
            let scope = case.scope.clone();
            let scope = match random.below(5) {
                0 => scope.allow_read("/nowhere/of/interest"),
                1 => scope.allow_write("/nowhere/of/interest"),
                2 => scope.protect("/nowhere/of/interest"),
                3 => scope.temp("/nowhere/of/interest"),
                _ => {
                    let cwd = String::from(scope.working_dir());
                    scope.cwd(cwd).max_action(2 * 1024 * 1024)
                }
            };
            let (before, after) =
                (case.verdict(&case.command), assess(&Action::shell(case.command.as_str()), &scope));
            if before == after {
                return Ok(());
            }
            Err(format!("{:?}: {before}\n    with {scope:?}: {after}", case.command))
        },
    );
}
