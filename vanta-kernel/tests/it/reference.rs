//! A second, naive reading of a small grammar, written without the kernel's parser, that must agree with [`read`].
//!
//! The grammar: words with quotes, `;` `&&` `||` `|`, redirects, wrappers in front, variables set to a literal earlier
//! in the line. `VANTA_SLOW_TESTS=1` runs ten times as many commands.

use std::collections::{BTreeMap, BTreeSet};

use vanta_kernel::{Action, Effect, Scope, read};

use crate::generate::{Random, cases};

const ROOT: &str = "/home/dev/project";
const HOME: &str = "/home/dev";

/// One simple command with its wrappers: their programs, its sub-command, what it does to which path.
#[derive(Debug, Default, PartialEq, Eq)]
struct Part {
    programs: Vec<String>,
    subcommand: Option<String>,
    paths: BTreeSet<(String, Effect)>,
}

#[test]
fn a_naive_reading_agrees() {
    let scope = Scope::new(ROOT).home(HOME);
    let mut random = Random::seeded(20);
    let count = cases(10_000, 100_000);
    for _ in 0..count {
        let command = line(&mut random);
        let ours = kernel(&command, &scope);
        assert_eq!(ours, naive(&command), "{command:?}: the kernel left, the reference right");
    }
    println!("{count} commands read twice");
}

/// The kernel's reading: commands of one span are wrappers and what they wrap.
fn kernel(command: &str, scope: &Scope) -> Vec<Part> {
    let reading = read(&Action::shell(command), scope);
    assert!(!reading.is_opaque(), "{command:?}");
    let mut parts: Vec<Part> = Vec::new();
    let mut last = None;
    for command in reading.commands() {
        if last.replace(command.span()) != Some(command.span()) {
            parts.push(Part::default());
        }
        let part = parts.last_mut().unwrap();
        part.programs.push(command.program().into());
        part.subcommand = command.subcommand().map(String::from);
        part.paths.extend(command.paths().iter().map(|p| (p.path().into(), p.effect())));
    }
    parts
}

// ---- the reference -------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    /// `;`, `&&`, `||`, `|`, newline.
    Joint,
    /// A redirect, and whether it writes.
    Redirect(bool),
}

fn naive(command: &str) -> Vec<Part> {
    let mut variables = BTreeMap::new();
    let mut parts = Vec::new();
    // Variables are set before later commands are read, so tokens are made one command at a time.
    let mut rest = command;
    while !rest.trim().is_empty() {
        let (tokens, tail) = first_command(rest, &variables);
        rest = tail;
        parts.push(part(&tokens, &mut variables));
    }
    parts
}

/// The tokens up to the next joint, and the text behind it.
fn first_command<'a>(text: &'a str, variables: &BTreeMap<String, String>) -> (Vec<Token>, &'a str) {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t']);
    while !rest.is_empty() {
        let (token, tail) = token(rest, variables);
        rest = tail.trim_start_matches([' ', '\t']);
        if token == Token::Joint {
            break;
        }
        tokens.push(token);
    }
    (tokens, rest)
}

fn token<'a>(text: &'a str, variables: &BTreeMap<String, String>) -> (Token, &'a str) {
    const OPERATORS: [(&str, Token); 11] = [
        ("&&", Token::Joint),
        ("||", Token::Joint),
        ("2>>", Token::Redirect(true)),
        ("2>", Token::Redirect(true)),
        (">>", Token::Redirect(true)),
        (">|", Token::Redirect(true)),
        (">", Token::Redirect(true)),
        ("<", Token::Redirect(false)),
        (";", Token::Joint),
        ("|", Token::Joint),
        ("\n", Token::Joint),
    ];
    for (written, token) in OPERATORS {
        if let Some(tail) = text.strip_prefix(written) {
            return (token, tail);
        }
    }
    let mut word = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some(&(at, c)) = chars.peek() {
        match c {
            ' ' | '\t' | ';' | '&' | '|' | '<' | '>' | '\n' => return (Token::Word(word), &text[at..]),
            '\'' => {
                chars.next();
                word.extend(chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '\''));
            }
            '"' => {
                chars.next();
                let quoted: String = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '"').collect();
                word.push_str(&expanded(&quoted, variables));
            }
            '\\' => {
                chars.next();
                word.extend(chars.next().map(|(_, c)| c));
            }
            '~' if word.is_empty() => {
                chars.next();
                word.push_str(HOME);
            }
            _ => {
                word.push(c);
                chars.next();
            }
        }
    }
    (Token::Word(word), "")
}

/// `$name` and `${name}`, inside double quotes.
fn expanded(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((front, tail)) = rest.split_once('$') {
        out.push_str(front);
        let tail = tail.strip_prefix('{').unwrap_or(tail);
        let end = tail.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(tail.len());
        out.push_str(&variables[&tail[..end]]);
        rest = tail[end..].strip_prefix('}').unwrap_or(&tail[end..]);
    }
    out + rest
}

fn part(tokens: &[Token], variables: &mut BTreeMap<String, String>) -> Part {
    let mut part = Part::default();
    let mut words = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => words.push(word.clone()),
            Token::Redirect(writes) => {
                let Some(Token::Word(file)) = tokens.next() else { panic!("a redirect without a file") };
                let effect = if *writes { Effect::Write } else { Effect::Read };
                part.paths.insert((absolute(file), effect));
            }
            Token::Joint => {}
        }
    }
    if let [only] = words.as_slice()
        && let Some((name, value)) = only.split_once('=')
    {
        variables.insert(name.into(), value.into());
        part.programs.push(String::new());
        return part;
    }
    let mut words = words.as_slice();
    while let Some(behind) = unwrapped(words) {
        part.programs.push(words[0].clone());
        words = behind;
    }
    part.programs.push(words[0].rsplit('/').next().unwrap().into());
    simple(words, &mut part);
    part
}

/// What a wrapper runs.
fn unwrapped(words: &[String]) -> Option<&[String]> {
    let skip = match words.first()?.as_str() {
        "command" | "nohup" | "time" => 1,
        "env" => 1 + words[1..].iter().take_while(|w| w.contains('=')).count(),
        "nice" if words[1] == "-n" => 3,
        "nice" => 1,
        "timeout" if words[1] == "-k" => 4,
        "timeout" => 2,
        "stdbuf" => 2,
        _ => return None,
    };
    Some(&words[skip..])
}

/// What each program of the grammar does to its operands.
fn simple(words: &[String], part: &mut Part) {
    let operands: Vec<&String> = words[1..].iter().filter(|w| !w.starts_with('-')).collect();
    let mut add = |path: &str, effect| part.paths.insert((absolute(path), effect));
    let all = match words[0].as_str() {
        "rm" => Some(Effect::Delete),
        "cat" | "wc" | "ls" => Some(Effect::Read),
        "touch" | "mkdir" | "tee" => Some(Effect::Write),
        _ => None,
    };
    for operand in operands.iter().filter(|_| all.is_some()) {
        add(operand, all.unwrap());
    }
    match words[0].as_str() {
        "head" | "grep" => {
            add(operands[1], Effect::Read);
        }
        "cp" => {
            add(operands[0], Effect::Read);
            add(operands[1], Effect::Write);
        }
        "mv" => {
            add(operands[0], if is_kept(operands[0]) { Effect::Write } else { Effect::Delete });
            add(operands[1], Effect::Write);
        }
        "git" | "cargo" | "npm" => part.subcommand = Some(operands[0].clone()),
        "sh" => {
            add(operands[0], Effect::Execute);
        }
        other => assert!(all.is_some() || other == "echo", "{other} is not in the grammar"),
    }
}

/// Moving inside the scope loses nothing; moving something else away is like deleting it.
fn is_kept(path: &str) -> bool {
    let path = absolute(path);
    let inside = path.starts_with("/home/dev/project/") || path.starts_with("/tmp/");
    inside && !path.contains("/.git/") && !path.ends_with(".env")
}

fn absolute(path: &str) -> String {
    let joined = if path.starts_with('/') { path.into() } else { format!("{ROOT}/{path}") };
    let mut parts = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}

// ---- the generator -------------------------------------------------------------------------------------------------

/// One to four commands.
fn line(random: &mut Random) -> String {
    let mut set = Vec::new();
    let mut out = String::new();
    for index in 0..1 + random.below(4) {
        if index > 0 {
            // A variable set in a pipeline is not seen behind it, and one that may not be set is not known.
            let joints: &[&str] =
                if set.is_empty() { &["; ", ";", " && ", " || ", " | ", "\n"] } else { &["; ", "\n", ";"] };
            out.push_str(random.pick(joints));
        }
        let only_sequence = !out.contains(['&', '|']);
        if only_sequence && random.one_in(4) {
            let name = random.pick(&["v", "dir", "TARGET", "x_1"]);
            out.push_str(&format!(
                "{name}={}",
                random.pick(&["build", "src/a", "/srv/data", "'two words'", "../up"])
            ));
            set.push(name);
        } else {
            out.push_str(&command(random, &set));
        }
    }
    out
}

fn command(random: &mut Random, set: &[&str]) -> String {
    const WRAPPERS: [&str; 9] = [
        "command ",
        "nohup ",
        "time ",
        "env ",
        "env A=1 B=2 ",
        "nice ",
        "nice -n 5 ",
        "timeout -k 1 9 ",
        "stdbuf -oL ",
    ];
    let mut out = String::new();
    for _ in 0..random.below(3) {
        if random.one_in(2) {
            out.push_str(random.pick(&WRAPPERS));
        }
    }
    let path = |random: &mut Random| path(random, set);
    let body = match random.below(16) {
        0 => format!("rm {}{}", random.pick(&["", "-f ", "-rf ", "-r -f "]), path(random)),
        1 => format!("rm -rf {} {}", path(random), path(random)),
        2 => format!("cat {} {}", path(random), path(random)),
        3 => format!("wc -l {}", path(random)),
        4 => format!("ls -la {}", path(random)),
        5 => format!("head -n 3 {}", path(random)),
        6 => format!("grep -n {} {}", quoted(random, "rm -rf /"), path(random)),
        7 => format!("touch {}", path(random)),
        8 => format!("mkdir -p {} {}", path(random), path(random)),
        9 => format!("cp {} {}", path(random), path(random)),
        10 => format!("mv {} {}", path(random), path(random)),
        11 => format!(
            "git {}",
            random.pick(&["status", "diff", "log -3", "add -A", "push", "commit -m 'a > b; c'"])
        ),
        12 => format!("cargo {}", random.pick(&["test", "build --release", "fmt --check", "publish"])),
        13 => format!("npm {}", random.pick(&["test", "run build", "publish"])),
        14 => format!("sh {}", random.pick(&["run.sh", "scripts/a.sh", "'my script.sh'"])),
        _ => format!("echo {} | cat | tee {}", quoted(random, "a && rm b > c"), path(random)),
    };
    out.push_str(&body);
    for _ in 0..random.below(3) {
        if random.one_in(3) {
            let operator = random.pick(&[" > ", " >", " >> ", " 2> ", " < ", " >| ", " 2>>"]);
            out.push_str(operator);
            out.push_str(&path(random));
        }
    }
    out
}

fn path(random: &mut Random, set: &[&str]) -> String {
    const PLAIN: [&str; 15] = [
        "a.txt",
        "src/lib.rs",
        "./b",
        "build/",
        "docs/../c",
        "/etc/hosts",
        "/home/dev/x",
        "/tmp/t",
        "..",
        "../other/f",
        "src//d",
        "/usr/lib/../share/e",
        ".env",
        ".git/config",
        "/home/dev/project/g",
    ];
    if !set.is_empty() && random.one_in(2) {
        let name = random.pick(set);
        return match random.below(4) {
            0 => format!("\"${name}\""),
            1 => format!("\"${{{name}}}/deep\""),
            2 => format!("\"${name}/x\"'y'"),
            _ => format!("\"${{{name}}}\"/z"),
        };
    }
    match random.below(6) {
        0 => quoted(random, "two words/f.txt"),
        1 => quoted(random, "a;b&c|d>e"),
        2 => String::from(random.pick(&["~", "~/x", "~/.ssh/config"])),
        3 => {
            let word = random.pick(&PLAIN);
            quoted(random, word)
        }
        _ => String::from(random.pick(&PLAIN)),
    }
}

fn quoted(random: &mut Random, text: &str) -> String {
    let (front, back) = text.split_at(random.below(text.len()));
    match random.below(4) {
        0 => format!("'{text}'"),
        1 => format!("\"{text}\""),
        2 => format!("'{front}'\"{back}\""),
        _ => text.chars().flat_map(|c| ['\\', c]).collect(),
    }
}
