//! Program text of any language: literals that are command lines, strings put together from literals, and deletes
//! whose target the text shows. It only makes an answer stricter; unknown code asks by itself.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::Call;
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::code::Token;
use crate::shell::flow::Walker;
use crate::shell::value::Value;
use crate::{Effect, PathClass};

impl Walker<'_> {
    /// Code of a language the kernel does not read.
    pub(super) fn unread_code(&mut self, code: &str, call: &mut Call) {
        let tokens = folded(crate::shell::code::tokens(code, crate::shell::code::Quotes::Shell));
        let prints = |word: &str| {
            matches!(
                word,
                "disp" | "display" | "echo" | "plot" | "print" | "printf" | "println" | "puts" | "say"
            ) || word.chars().all(|c| c.is_ascii_digit() || c == '.')
        };
        if tokens.iter().any(|t| matches!(t, Token::Command(_)) || matches!(t, Token::Word(w) if !prints(w)))
        {
            call.fact(Act::RunUnknown);
        }
        self.literal_commands(&tokens, call);
        self.evident_deletes(&tokens, call);
        if forks_without_end(&tokens) {
            call.fact(Act::ForkBomb);
        }
    }

    /// Runs the literals that name a program that destroys, as one line or as a list of words.
    pub(super) fn literal_commands(&mut self, tokens: &[Token], call: &mut Call) {
        let output = call.output.clone();
        for (index, token) in tokens.iter().enumerate() {
            let (Token::Text(text) | Token::Command(text)) = token else { continue };
            let first = text.split_ascii_whitespace().next().unwrap_or("");
            if !is_destroyer(first) {
                continue;
            }
            if text.trim().contains(' ') {
                self.nested_code(text, call);
                continue;
            }
            let mut fields = Vec::from([Value::literal(first)]);
            for next in tokens.iter().skip(index + 1).take(48) {
                match next {
                    Token::Text(word) => fields.push(Value::literal(word.as_str())),
                    Token::Sign(',' | '[' | ']' | '(' | ')' | '{' | '}' | ':') => {}
                    Token::Word(word)
                        if matches!(word.as_str(), "args" | "arguments" | "List.of" | "listOf") => {}
                    _ => break,
                }
            }
            if fields.len() > 1 {
                self.run_inner(fields, call);
            }
        }
        call.output = output;
    }

    /// Where a word says that something is deleted, the places among the literals are what is deleted.
    pub(super) fn evident_deletes(&mut self, tokens: &[Token], call: &mut Call) {
        if !tokens.iter().any(|t| matches!(t, Token::Word(w) if says_delete(w))) {
            return;
        }
        for (index, token) in tokens.iter().enumerate() {
            let path = match token {
                Token::Text(text) if text == "HOME" || text == "user.home" => below_home(tokens, index),
                Token::Word(word) if is_home(word) => below_home(tokens, index),
                Token::Text(text) if text.starts_with(['/', '~', '.']) => text.clone(),
                _ => continue,
            };
            let class = self.place().locate(&path).1;
            if matches!(
                class,
                PathClass::Home
                    | PathClass::Root
                    | PathClass::Ancestor
                    | PathClass::System
                    | PathClass::Facts
                    | PathClass::Protected
                    | PathClass::Repository
                    | PathClass::Secret
            ) {
                self.use_path_deep(&Value::literal(path), Effect::Delete, true, call);
            }
        }
    }
}

fn is_destroyer(first: &str) -> bool {
    let base = first.rsplit('/').next().unwrap_or(first);
    table::DESTROYERS.contains(&base) || matches!(base, "sudo" | "find" | "doas" | "env" | "nohup" | "wipefs")
}

fn says_delete(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["delete", "remove", "unlink", "rmdir", "rmtree", "erase", "purge", "deltree", "rm_rf", "rmrf"]
        .iter()
        .any(|verb| lower.contains(verb))
        || matches!(lower.rsplit(['.', ':']).next(), Some("rm" | "rmall" | "removeall"))
}

/// Does a name stand for the user's home folder?
pub(super) fn is_home(word: &str) -> bool {
    let last = word.rsplit(['.', ':']).next().unwrap_or(word).to_ascii_lowercase();
    matches!(
        last.as_str(),
        "homedir" | "homedirectory" | "nshomedirectory" | "userhomedir" | "home" | "gethomedir"
    ) && word != "home"
}

/// The home folder, with the literal that is added to it close by.
pub(super) fn below_home(tokens: &[Token], index: usize) -> String {
    let mut path = String::from("~");
    let mut open = 0_usize;
    for token in tokens.iter().skip(index + 1).take(12) {
        match token {
            Token::Text(tail) => {
                if !tail.starts_with('/') {
                    path.push('/');
                }
                path.push_str(tail);
            }
            Token::Sign(';' | '\n') => break,
            Token::Sign(')') if open == 0 => break,
            Token::Sign('(') => open += 1,
            Token::Sign(')') => open -= 1,
            _ => {}
        }
    }
    path
}

/// `while True: os.fork()`, `fork while fork`, `loop { fork }`.
pub(super) fn forks_without_end(tokens: &[Token]) -> bool {
    let word = |test: &dyn Fn(&str) -> bool| tokens.iter().any(|t| matches!(t, Token::Word(w) if test(w)));
    word(&|w| matches!(w.rsplit(['.', ':']).next(), Some("fork" | "posix_spawn" | "pcntl_fork" | "forkIO")))
        && word(&|w| matches!(w, "while" | "loop" | "until" | "forever" | "redo" | "itertools.count" | "repeat" | "goto"))
        || tokens.windows(5).any(|w| {
            // `for (;;) fork()`.
            matches!(w, [Token::Word(f), Token::Sign('('), Token::Sign(';'), Token::Sign(';'), Token::Sign(')')] if f == "for")
        }) && word(&|w| w.ends_with("fork"))
}

/// The tokens with names of literals replaced and literals joined: `p = '/'; run('rm -rf ' + p)`.
pub(super) fn folded(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let tokens = named(tokens);
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        index += 1;
        match token {
            Token::Text(text) => {
                let (text, used) = formatted(text, tokens.get(index..).unwrap_or(&[]));
                index += used;
                push_text(&mut out, text);
            }
            other => out.push(other.clone()),
        }
    }
    out
}

/// [`folded`] for a language in which literals next to each other are one: awk, Python, Ruby.
pub(super) fn adjoined(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in folded(tokens) {
        match (out.last_mut(), token) {
            (Some(Token::Text(left)), Token::Text(right)) if left.len() + right.len() < 4096 => {
                left.push_str(&right);
            }
            (_, token) => out.push(token),
        }
    }
    out
}

/// The tokens with literals for the names that hold one.
fn named(tokens: Vec<Token>) -> Vec<Token> {
    let constants = constants(&tokens);
    let literal = |(index, token): (usize, &Token)| {
        let assigned = matches!(tokens.get(index + 1), Some(Token::Sign('=' | '(')));
        match token {
            Token::Word(name) if !assigned && constants.contains_key(name.as_str()) => {
                Token::Text(constants.get(name.as_str()).map_or("", |v| *v).into())
            }
            Token::Text(text) if text.contains(['{', '$']) => Token::Text(filled(text, &constants)),
            other => other.clone(),
        }
    };
    tokens.iter().enumerate().map(literal).collect()
}

/// A literal with the literals that `.format(…)` or `% (…)` behind it fill in, and how many tokens those are.
fn formatted(text: &str, behind: &[Token]) -> (String, usize) {
    let (start, percent) = match behind {
        [Token::Sign('.'), Token::Word(name), Token::Sign('('), ..] if name == "format" => (3, false),
        [Token::Sign('%'), Token::Sign('('), ..] => (2, true),
        _ => return (String::from(text), 0),
    };
    let mut arguments: Vec<(&str, &str)> = Vec::new();
    let mut name = "";
    let mut used = start;
    for token in behind.iter().skip(start).take(48) {
        used += 1;
        match token {
            Token::Text(value) => arguments.push((core::mem::take(&mut name), value)),
            Token::Word(word) => name = word,
            Token::Sign(',' | '=') => {}
            Token::Sign(')') => break,
            _ => return (String::from(text), 0),
        }
    }
    let enough = !arguments.is_empty() && text.len() < 4096 && name.is_empty();
    if !enough {
        return (String::from(text), 0);
    }
    let mut out = String::from(text);
    for (index, (name, value)) in arguments.iter().enumerate() {
        if percent {
            out = out.replacen("%s", value, 1);
        } else if !name.is_empty() {
            out = out.replace(&alloc::format!("{{{name}}}"), value);
        } else {
            out = out.replacen("{}", value, 1).replace(&alloc::format!("{{{index}}}"), value);
        }
        if out.len() > 4096 {
            return (String::from(text), 0);
        }
    }
    (out, used)
}

fn constants(tokens: &[Token]) -> BTreeMap<&str, &str> {
    let mut all = BTreeMap::new();
    for window in tokens.windows(3) {
        if let [Token::Word(name), Token::Sign('='), Token::Text(text)] = window {
            all.insert(name.as_str(), text.as_str());
        }
    }
    all
}

/// A template with the names of constants filled in.
fn filled(text: &str, constants: &BTreeMap<&str, &str>) -> String {
    let mut out = without_inner_quotes(text);
    for (name, value) in constants.iter().take(16) {
        let bare = name.trim_start_matches(['$', '@']);
        for form in [
            alloc::format!("${{{bare}}}"),
            alloc::format!("#{{{bare}}}"),
            alloc::format!("{{{bare}}}"),
            alloc::format!("${bare}"),
        ] {
            if out.len() < 4096 && out.contains(&form) {
                out = out.replace(&form, value);
            }
        }
    }
    out
}

/// `rm {'-rf'}` of a template: a literal inside the braces is that text.
fn without_inner_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((front, tail)) = rest.split_once('{') {
        let quote = tail.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'));
        let inner = quote
            .and_then(|q| tail.get(1..)?.split_once(q))
            .and_then(|(literal, end)| Some((literal, end.trim_start().strip_prefix('}')?)));
        match inner {
            Some((literal, end)) => {
                out.push_str(front.trim_end_matches(['$', '#']));
                out.push_str(literal);
                rest = end;
            }
            None => {
                out.push_str(front);
                out.push('{');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Adds a literal; behind `literal +`, `literal .` or `literal %` it is joined with the one before.
fn push_text(out: &mut Vec<Token>, text: String) {
    let signs = out.iter().rev().take_while(|t| matches!(t, Token::Sign('+' | '.' | '%' | '('))).count();
    let operator = out.get(out.len().saturating_sub(signs)).cloned();
    let before = out.len().checked_sub(signs + 1).and_then(|at| out.get(at)).cloned();
    let (Some(Token::Text(left)), Some(Token::Sign(sign)), 1..=2) = (before, operator, signs) else {
        return out.push(Token::Text(text));
    };
    let joined = match sign {
        '%' if left.contains("%s") => left.replacen("%s", &text, 1),
        '+' | '.' => left + &text,
        _ => return out.push(Token::Text(text)),
    };
    if joined.len() > 4096 {
        return out.push(Token::Text(text));
    }
    let parens = out.iter().rev().take(signs).filter(|t| matches!(t, Token::Sign('('))).count();
    out.truncate(out.len() - signs - 1);
    out.push(Token::Text(joined));
    // The bracket behind it closes one that is gone, which nothing here counts.
    debug_assert!(parens <= signs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::code::{Quotes, tokens};

    fn texts(code: &str) -> Vec<String> {
        folded(tokens(code, Quotes::Triple))
            .into_iter()
            .filter_map(|t| if let Token::Text(s) = t { Some(s) } else { None })
            .collect()
    }

    #[test]
    fn literals_are_joined() {
        assert!(texts("p='/'; f('rm -rf ' + p)").contains(&"rm -rf /".into()));
        assert!(texts("p='/'; f(f'rm -rf {p}')").contains(&"rm -rf /".into()));
        assert!(texts("f('rm -rf %s' % '/')").contains(&"rm -rf /".into()));
        assert!(texts("f('rm -rf {}'.format('/'))").contains(&"rm -rf /".into()));
        assert!(texts("f('{1} {0}'.format('/', 'rm'))").contains(&"rm /".into()));
        assert!(texts("f('rm %s %s' % ('-rf', '/'))").contains(&"rm -rf /".into()));
        assert!(texts("f(f\"rm -rf {'/'}\")").contains(&"rm -rf /".into()));
        assert!(!texts("f('rm -rf {}'.format(x))").contains(&"rm -rf x".into()));
        assert!(!texts("f('rm -rf', '/')").contains(&"rm -rf/".into()));
    }

    #[test]
    fn forks() {
        assert!(forks_without_end(&tokens("fork while fork", Quotes::Shell)));
        assert!(!forks_without_end(&tokens("if fork: pass", Quotes::Triple)));
    }
}
