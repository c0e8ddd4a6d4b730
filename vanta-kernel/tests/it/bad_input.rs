//! Text that is broken, hides something or is too much: always a verdict with a reason, never Allow by accident.

use vanta_kernel::{Action, Dialect, Risk, Scope, Verdict, assess};

fn scope() -> Scope {
    Scope::new("/home/dev/project").home("/home/dev")
}

/// Collects what is wrong, so that one run shows all of it.
#[derive(Debug, Default)]
struct Check {
    wrong: Vec<String>,
}

impl Check {
    /// The verdict, after checking that it can be shown to a person.
    fn verdict(&mut self, action: &Action) -> Verdict {
        let verdict = assess(action, &scope());
        let (finding, shown) = (verdict.finding(), verdict.to_string());
        let says_why = !finding.reason().is_empty() && !finding.rule().is_empty();
        let is_short = finding.reason().len() < 1_000 || OPEN_REASONS.contains(&finding.rule());
        if !says_why || !is_short || shown.contains(char::is_control) {
            self.wrong.push(format!("no reason to show: {shown:?}"));
        }
        verdict
    }

    fn at_least(&mut self, action: &Action, least: Risk) {
        let verdict = self.verdict(action);
        let shown: String = format!("{action:?}").chars().take(120).collect();
        if verdict.risk() < least && !is_open(action) {
            self.wrong.push(format!("{shown}: want {least}, got {verdict}"));
        }
    }

    fn asks(&mut self, command: &str) {
        self.at_least(&Action::shell(command), Risk::Ask);
    }

    fn blocks(&mut self, command: &str) {
        self.at_least(&Action::shell(command), Risk::Block);
    }

    fn done(self) {
        assert!(self.wrong.is_empty(), "{} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

/// Commands that are judged wrongly today. May only get shorter.
const OPEN: [&str; 33] = [
    // A list or pipeline that ends or begins in an operator, and a `case` without an end, are no commands.
    "ls; ; ;",
    "ls\n; ;\nls",
    "ls; && ls",
    "ls\n&& ls\nls",
    "&& ls ls",
    "ls; || ls",
    "ls\n|| ls\nls",
    "|| ls ls",
    "ls; | ls",
    "ls\n| ls\nls",
    "| ls ls",
    "ls; & &",
    "ls\n& &\nls",
    "& & ls",
    "case x in",
    "ls; case x in",
    "ls\ncase x in",
    "ls |",
    "ls; ls |",
    "ls\nls |",
    "ls &&",
    "ls; ls &&",
    "ls\nls &&",
    "ls ||",
    "ls; ls ||",
    "ls\nls ||",
    // A shell without arithmetic commands, such as dash, reads two subshells.
    "((rm -rf /))",
    "(((rm -rf /)))",
    "((git push))",
    "((cat .env))",
    // The NUL ends the word.
    "$'rm\\0x' -rf /",
    // Separators of lines that some terminals and editors break at.
    "\u{2028}",
    "\u{2029}",
];

/// Rules whose reason repeats a word of any length today.
const OPEN_REASONS: [&str; 1] = ["code.outside"];

/// A row of [`OPEN`] is a whole command, or one character anywhere.
fn is_open(action: &Action) -> bool {
    let text = match action {
        Action::Shell { command, .. } => command,
        Action::Read { path } | Action::Write { path, .. } | Action::List { path } => path,
        Action::Move { to, .. } | Action::Copy { to, .. } => to,
        _ => return false,
    };
    OPEN.iter().any(|open| text == open || open.chars().count() == 1 && text.contains(open))
}

#[test]
fn nothing_is_asked() {
    let mut check = Check::default();
    for text in ["", " ", "\t", "\n\n", "\r\n"] {
        check.asks(text);
        for dialect in [Dialect::PowerShell, Dialect::Cmd] {
            let action = Action::Shell { command: text.into(), cwd: None, dialect };
            check.at_least(&action, Risk::Ask);
        }
        for action in [Action::read(text), Action::write(text), Action::edit(text), Action::fetch(text)] {
            check.at_least(&action, Risk::Ask);
        }
        check.at_least(&Action::delete(text), Risk::Ask);
        check.at_least(&Action::Text { line: text.into() }, Risk::Ask);
    }
    check.done();
}

#[test]
fn characters_that_hide_something_are_asked_anywhere() {
    let mut check = Check::default();
    let controls =
        (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).filter(|c| !matches!(c, '\n' | '\t'));
    let marks = "\u{a0}\u{ad}\u{61c}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\
                 \u{2066}\u{2069}\u{3000}\u{feff}\u{e0001}\u{e0041}\u{fdd0}\u{fdd5}\u{2215}\u{ff0f}";
    for c in controls.chain(marks.chars()) {
        for command in [
            format!("ls {c}"),
            format!("{c}ls"),
            format!("l{c}s src"),
            format!("echo 'a{c}b'"),
            format!("ls # {c}"),
            format!("cat <<E\n{c}\nE"),
        ] {
            check.asks(&command);
        }
        let path = format!("src/{c}.rs");
        for action in [
            Action::read(&*path),
            Action::write(&*path),
            Action::list(&*path),
            Action::Move { from: "a".into(), to: path.clone() },
            Action::Copy { from: "a".into(), to: path.clone() },
        ] {
            check.at_least(&action, Risk::Ask);
        }
        check.blocks(&format!("echo '{c}'; rm -rf /"));
        check.blocks(&format!("rm -rf / # {c}"));
    }
    check.done();
}

#[test]
fn text_in_any_language_is_plain() {
    let mut check = Check::default();
    for command in [
        "git commit -m 'Größe geprüft, naïve façade'",
        "echo '日本語のメッセージ'",
        "grep -rn 'Привет' docs",
        "echo 'שלום'",
        "echo '🎉'",
        "cat docs/résumé.md",
    ] {
        let verdict = check.verdict(&Action::shell(command));
        assert_eq!(verdict.risk(), Risk::Allow, "{command}");
    }
    check.done();
}

#[test]
fn what_does_not_end_is_asked() {
    let mut check = Check::default();
    for open in [
        "'",
        "\"",
        "`",
        "$(",
        "\"$(",
        "${",
        "\"${x",
        "$((",
        "((",
        "(",
        "{ ",
        "[[ a",
        "$'",
        "$'\\",
        "<(",
        ">(",
        "if true",
        "if true; then ls",
        "while true; do ls",
        "until x",
        "for i in a; do",
        "case x in",
        "case x in a)",
        "case x in a) ls",
        "f() {",
        "function f {",
        "select x in a; do",
        "ls |",
        "ls &&",
        "ls ||",
        "ls <",
        "ls >",
        "ls >>",
        "ls 2>",
        "ls <<<",
        "ls &>",
        "coproc {",
        "echo $(ls",
        "echo `ls",
        "echo \"a",
        "echo 'a",
    ] {
        check.asks(open);
        check.asks(&format!("ls; {open}"));
        check.asks(&format!("ls\n{open}"));
        check.blocks(&format!("rm -rf /; {open}"));
        check.blocks(&format!("rm -rf /\n{open}"));
    }
    check.done();
}

#[test]
fn what_closes_nothing_is_asked() {
    let mut check = Check::default();
    for stray in [
        ")", "}", "fi", "done", "esac", "then", "do", "else", "elif", ";;", "; ;", "&& ls", "|| ls", "| ls",
        "& &",
    ] {
        for command in [format!("ls; {stray}"), format!("ls\n{stray}\nls"), format!("{stray} ls")] {
            check.asks(&command);
        }
        check.blocks(&format!("rm -rf /\n{stray}"));
        check.blocks(&format!("{stray}\nrm -rf /"));
    }
    for crossed in [
        "( ls }",
        "{ ls; )",
        "if true; do ls; done",
        "while true; then ls; fi",
        "for i in a; then ls; fi",
        "case x in a) ls",
        "f() ( ls }",
        "$( ls }",
        "if true; then ls; done",
        "( if true; then ls ) fi",
        "{ case x in a) ls; } esac",
    ] {
        check.asks(crossed);
        check.blocks(&format!("rm -rf /\n{crossed}"));
    }
    check.done();
}

#[test]
fn escapes_that_name_no_character_hide_nothing() {
    let mut check = Check::default();
    for escape in [r"$'\ud800'", r"$'\U00110000'", r"$'\Uffffffff'", r"$'\x'", r"$'\u'", r"$'\400'"] {
        check.blocks(&format!("echo {escape}; rm -rf /"));
        check.asks(&format!("{escape} -rf /"));
        check.asks(&format!("rm -rf {escape}"));
        check.asks(&format!("cat > {escape}/etc/passwd"));
    }
    // This one swallows the quote, so the rest is in an open string.
    check.asks(r"echo $'\c'; rm -rf /");
    check.blocks(r"$'r\x6d' -rf $'\57'");
    check.blocks(r"$'r\u006d' -rf $'\u002f'");
    check.blocks(r"$'\162\155' -rf /");
    // A NUL ends the string, as bash has it.
    check.blocks(r"$'rm\0x' -rf /");
    check.done();
}

#[test]
fn a_mebibyte_is_judged_and_more_is_not() {
    let mut check = Check::default();
    const MEBIBYTE: usize = 1024 * 1024;
    for pad in ["x", "x ", "# x\n", "true; ", "'a' ", "a=1\n", "\n", "\\\n", "é"] {
        let padded = |size: usize, end: &str| {
            let head = "echo ";
            let room = size - head.len() - end.len();
            let mut text = String::from(head) + &pad.repeat(room / pad.len());
            text.push_str(&"y".repeat(size - end.len() - text.len()));
            text + end
        };
        let fits = padded(MEBIBYTE, "\nrm -rf /");
        assert_eq!(fits.len(), MEBIBYTE);
        check.blocks(&fits);
        let over = padded(MEBIBYTE + 1, "\nrm -rf /");
        let verdict = check.verdict(&Action::shell(over));
        assert_eq!((verdict.risk(), verdict.finding().rule()), (Risk::Ask, "text.too_long"), "{pad:?}");
        let harmless = padded(MEBIBYTE + 1, "");
        check.asks(&harmless);
    }
    for action in [
        Action::read("a/".repeat(MEBIBYTE)),
        Action::write("a/".repeat(MEBIBYTE)),
        Action::delete("a/".repeat(MEBIBYTE)),
        Action::fetch("a/".repeat(MEBIBYTE)),
        Action::Text { line: "explain ".repeat(MEBIBYTE) },
    ] {
        check.at_least(&action, Risk::Ask);
    }
    check.done();
}

#[test]
fn what_is_ten_thousand_deep_is_asked() {
    let mut check = Check::default();
    let constructs = [
        ("( ", " )"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("echo $(", ")"),
        ("echo \"$(", ")\""),
        ("echo ${x:-", "}"),
        ("echo ${x:-$(", ")}"),
        ("echo $((", "))"),
        ("echo $(( 1 + $(", ") ))"),
        ("cat <(", ")"),
        ("cat >(", ")"),
        ("if ", "; then :; fi"),
        ("if true; then ", "; fi"),
        ("if true; then :; else ", "; fi"),
        ("while ", "; do :; done"),
        ("while true; do ", "; done"),
        ("until ", "; do :; done"),
        ("for i in a; do ", "; done"),
        ("select i in a; do ", "; done"),
        ("case x in x) ", ";; esac"),
        ("f() { ", "; }; f"),
        ("function f { ", "; }; f"),
        ("coproc { ", "; }"),
        ("time ", ""),
        ("! ", ""),
        ("sudo ", ""),
        ("env ", ""),
        ("nice ", ""),
        ("command ", ""),
        ("xargs ", ""),
        ("eval ", ""),
        ("find . -exec ", " \\;"),
        ("watch ", ""),
    ];
    for (open, close) in constructs {
        let nested = |depth: usize, body: &str, closed: usize| {
            format!("{}{body}{}", open.repeat(depth), close.repeat(closed))
        };
        check.asks(&nested(10_000, "rm -rf /", 10_000));
        for body in ["rm -rf /", "git push", "cat .env"] {
            check.asks(&nested(500, body, 500));
            check.asks(&nested(500, body, 0));
            check.asks(&format!("{}\n{body}", nested(500, "ls", 500)));
        }
        let runs = !matches!(open, "echo ${x:-" | "echo $((");
        if runs {
            check.blocks(&nested(3, "rm -rf /", 3));
        }
    }
    for repeated in [
        "{a,", "[", "[[ ", "\\", "'", "\"", "`", "$", "${", "<<E ", "<", ">", "&", "|", ";", "#", "~", "a=",
        "a[", "$[", "((", "))", "}",
    ] {
        check.asks(&format!("{}\nrm -rf /", repeated.repeat(10_000)));
        check.verdict(&Action::shell(format!("{} rm -rf / {repeated}", repeated.repeat(10_001))));
    }
    check.done();
}

#[test]
fn other_dialects_survive_the_same() {
    let mut check = Check::default();
    for piece in [
        "(",
        "{",
        "\"",
        "'",
        "`",
        "$(",
        "@(",
        "%x%",
        "^",
        "|",
        ";",
        "&",
        "if (1) {",
        "for %i in (a) do ",
        "\u{0}",
    ] {
        for dialect in [Dialect::PowerShell, Dialect::Cmd] {
            let destroys =
                if dialect == Dialect::Cmd { "rd /s /q C:\\" } else { "Remove-Item C:\\ -Recurse" };
            let shell = |command| Action::Shell { command, cwd: None, dialect };
            check.verdict(&shell(piece.repeat(10_000)));
            check.at_least(&shell(format!("{}\n{destroys}", piece.repeat(10_000))), Risk::Ask);
            check.at_least(&shell(format!("{destroys}\n{}", piece.repeat(10_000))), Risk::Block);
        }
    }
    check.done();
}
