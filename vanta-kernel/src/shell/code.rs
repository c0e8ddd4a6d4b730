//! Little languages inside arguments: a token scan that knows strings, and `sed` scripts. Nothing is evaluated.

use alloc::string::String;
use alloc::vec::Vec;

/// One token of program text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name, with the dots that join it: `os.path.join`.
    Word(String),
    /// The content of a string literal.
    Text(String),
    /// Text between backquotes, or `%x( … )`.
    Command(String),
    /// Any other character.
    Sign(char),
}

/// Which quotes make strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// `"…"` only (awk, SQL identifiers aside).
    DoubleOnly,
    /// `'…'`, `"…"` and backquoted templates (JavaScript).
    Template,
    /// `'…'`, `"…"`, backquotes run commands (Ruby, Perl, PHP).
    Shell,
    /// `'…'`, `"…"` and their triple forms (Python).
    Triple,
}

/// Splits `text` into tokens. Linear; an unclosed string reaches to the end.
pub(crate) fn tokens(text: &str, quotes: Quotes) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            _ if c.is_whitespace() => {}
            '"' => out.push(Token::Text(string(&mut chars, '"'))),
            '\'' if quotes != Quotes::DoubleOnly => out.push(Token::Text(string(&mut chars, '\''))),
            '`' if quotes == Quotes::Template => out.push(Token::Text(string(&mut chars, '`'))),
            '`' if quotes == Quotes::Shell => out.push(Token::Command(string(&mut chars, '`'))),
            '%' if quotes == Quotes::Shell && chars.peek() == Some(&'x') => {
                chars.next();
                let close = match chars.next() {
                    Some('(') => ')',
                    Some('[') => ']',
                    Some('{') => '}',
                    Some(other) => other,
                    None => break,
                };
                out.push(Token::Command(string(&mut chars, close)));
            }
            '/' if quotes == Quotes::Shell && regex_follows(&out) => {
                let pattern = regex(&mut chars, '/');
                if runs_code(&pattern) {
                    out.push(Token::Command(pattern));
                }
            }
            '#' if matches!(quotes, Quotes::Triple | Quotes::DoubleOnly) => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            _ if is_word(c) => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|n| is_word(*n) || *n == '.' || *n == ':') {
                    word.push(next);
                }
                if quotes == Quotes::Shell && quote_like(&word, &mut chars) {
                    continue;
                }
                // `rm_rf!(…)`: the mark belongs to the name.
                if chars.peek() == Some(&'!') && chars.clone().nth(1) == Some('(') {
                    chars.next();
                }
                out.push(Token::Word(String::from(word.trim_end_matches(['.', ':']))));
            }
            other => out.push(Token::Sign(other)),
        }
    }
    out
}

/// Can a `/` behind these tokens start a pattern? Behind a value it divides.
fn regex_follows(before: &[Token]) -> bool {
    match before.last() {
        None => true,
        Some(Token::Sign(c)) => matches!(c, '(' | ',' | '=' | '~' | '!' | '|' | '&' | '{' | ';' | '}'),
        Some(Token::Word(w)) => {
            matches!(
                w.as_str(),
                "if" | "unless"
                    | "and"
                    | "or"
                    | "not"
                    | "grep"
                    | "split"
                    | "while"
                    | "until"
                    | "return"
                    | "when"
            )
        }
        _ => false,
    }
}

/// `s/a/b/`, `m{a}`, `qr/a/`, `tr/a/b/`: patterns and plain replacements are data.
fn quote_like(word: &str, chars: &mut Chars<'_>) -> bool {
    let parts = match word {
        "s" | "tr" | "y" => 2,
        "m" | "qr" => 1,
        _ => return false,
    };
    let Some(&close) = chars.peek().filter(|c| matches!(c, '/' | '|' | '#' | '!' | ',')) else {
        return false;
    };
    let mut ahead = chars.clone();
    ahead.next();
    for _ in 0..parts {
        if runs_code(&regex(&mut ahead, close)) {
            return false;
        }
    }
    let mut flags = ahead.clone();
    let evaluates = core::iter::from_fn(|| flags.next_if(char::is_ascii_alphabetic)).any(|c| c == 'e');
    if evaluates {
        return false;
    }
    *chars = ahead;
    while chars.next_if(char::is_ascii_alphabetic).is_some() {}
    true
}

fn regex(chars: &mut Chars<'_>, close: char) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            _ if c == close => break,
            '\\' => text.extend(chars.next()),
            other => text.push(other),
        }
    }
    text
}

/// A pattern can hold code: `(?{ … })`, `@{[ … ]}`.
fn runs_code(pattern: &str) -> bool {
    ["(?{", "(??{", "@{", "${", "#{"].iter().any(|start| pattern.contains(start))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || c == '@'
}

fn string(chars: &mut core::iter::Peekable<core::str::Chars<'_>>, close: char) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            _ if c == close => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    text
}

/// What a `sed` script does besides editing its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SedCommand {
    /// Runs this line; empty when it runs what it read.
    Run(String),
    /// Writes this file.
    Write(String),
    /// Reads this file.
    Read(String),
}

/// The commands of a `sed` script that touch something.
pub(crate) fn sed_commands(script: &str) -> Vec<SedCommand> {
    let mut out = Vec::new();
    let mut chars = script.chars().peekable();
    loop {
        address(&mut chars);
        let Some(command) = chars.next() else { return out };
        match command {
            's' | 'y' => substitution(&mut chars, command == 's', &mut out),
            'e' => out.push(SedCommand::Run(line(&mut chars))),
            'w' | 'W' => out.push(SedCommand::Write(line(&mut chars))),
            'r' | 'R' => out.push(SedCommand::Read(line(&mut chars))),
            'a' | 'i' | 'c' | ':' | 'b' | 't' | 'T' => {
                line(&mut chars);
            }
            _ => {}
        }
    }
}

type Chars<'a> = core::iter::Peekable<core::str::Chars<'a>>;

/// Skips addresses: numbers, `$`, `/regex/`, `\cregexc`, and what separates commands.
fn address(chars: &mut Chars<'_>) {
    while let Some(&c) = chars.peek() {
        match c {
            '/' => {
                chars.next();
                delimited(chars, '/');
                while chars.next_if(|c| matches!(c, 'I' | 'M')).is_some() {}
            }
            '\\' => {
                chars.next();
                if let Some(close) = chars.next() {
                    delimited(chars, close);
                }
            }
            '0'..='9' | '$' | ',' | '~' | '+' | '-' | '!' | ' ' | '\t' | '\n' | ';' | '{' | '}' => {
                chars.next();
            }
            _ => return,
        }
    }
}

fn delimited(chars: &mut Chars<'_>, close: char) {
    let mut set = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => set = true,
            ']' => set = false,
            _ if c == close && !set => return,
            _ if c == close && close != '/' => return,
            _ => {}
        }
    }
}

fn substitution(chars: &mut Chars<'_>, has_flags: bool, out: &mut Vec<SedCommand>) {
    let Some(close) = chars.next() else { return };
    delimited(chars, close);
    // The replacement has no character sets.
    let mut replacement = String::new();
    while let Some(c) = chars.next() {
        if c == '\\' {
            replacement.extend(chars.next());
        } else if c == close {
            break;
        } else {
            replacement.push(c);
        }
    }
    if !has_flags {
        return;
    }
    loop {
        match chars.peek() {
            Some('e') => {
                chars.next();
                // What stays of the line runs with it, so this is at least what runs.
                out.push(SedCommand::Run(String::new()));
                out.push(SedCommand::Run(core::mem::take(&mut replacement)));
            }
            Some('w') => {
                chars.next();
                out.push(SedCommand::Write(line(chars)));
                return;
            }
            Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                chars.next();
            }
            _ => return,
        }
    }
}

/// Does an in-place script leave nothing of the file: `d`, `1,$d`, `s/.*//`?
pub(crate) fn empties(script: &str) -> bool {
    let plain: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.trim_end_matches([';', 'g', 's', 'm']);
    let plain = match plain.strip_prefix('s').and_then(|tail| tail.chars().next()) {
        Some(close) if !close.is_alphanumeric() => plain.replace(close, "/"),
        _ => String::from(plain),
    };
    matches!(
        plain.as_str(),
        "d" | "1,$d"
            | "0,$d"
            | "/.*/d"
            | "/^/d"
            | "/$/d"
            | "q"
            | "Q"
            | "1q"
            | "1Q"
            | "{d}"
            | "c"
            | "c\\"
            | "s/.*//"
            | "s/^.*$//"
            | "s/.+//"
            | "s/^.*//"
            | "s/.*$//"
            | "$_=''"
            | "$_=\"\""
            | "undef$_"
            | "$_=undef"
    )
}

fn line(chars: &mut Chars<'_>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        text.push(c);
    }
    String::from(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts() {
        assert_eq!(sed_commands("s/rm -rf/trash/g"), []);
        assert_eq!(sed_commands("/rm -rf/p"), []);
        assert_eq!(sed_commands("1e id"), [SedCommand::Run("id".into())]);
        assert_eq!(sed_commands("s/a/b/w out"), [SedCommand::Write("out".into())]);
        assert_eq!(sed_commands("s|/usr/local|/opt|g"), []);
    }

    #[test]
    fn strings_are_not_names() {
        let all = tokens("f('rm -rf /')", Quotes::Triple);
        assert_eq!(all[0], Token::Word("f".into()));
        assert_eq!(all[2], Token::Text("rm -rf /".into()));
    }
}
