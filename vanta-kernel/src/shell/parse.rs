//! Commands: lists, pipelines, compounds, functions, assignments, redirects.
//!
//! A parser that goes on after an error: what was understood stays, and [`Faults`] say that something was not.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::MAX_DEPTH;
use super::lex::{Parser, PendingDoc, is_name, is_name_start};
use super::syntax::{Assign, Faults, Item, List, Node, Part, Redirect, RedirectKind, Simple, Word};
use super::text::Text;
use crate::rules::table;

/// What ends a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The end of the text.
    End,
    /// `)`.
    Paren,
    /// One of these words where a command could start.
    Words(&'static [&'static str]),
    /// `;;`, `;&`, `;;&` or `esac`.
    CaseArm,
}

/// A list that is being read.
#[derive(Debug, Default)]
struct OpenList {
    items: List,
    /// A command was read.
    started: bool,
    /// `&&` or `||` stands behind the last one.
    conditional: bool,
}

/// Reads a whole command line and hands it on in pieces, so that a long one needs little memory.
/// `run` says whether to go on.
pub(crate) fn parse(parser: &mut Parser<'_>, mut run: impl FnMut(&List) -> bool) -> Faults {
    let mut goes_on = true;
    loop {
        let mut open = OpenList::default();
        while parser.item(Stop::End, &mut open) {
            // The body of a here-document stands behind its line, and `&` marks the command before it.
            if open.items.len() > PIECE && parser.pending.is_empty() {
                let last = open.items.pop();
                goes_on = goes_on && run(&open.items);
                open.items.clear();
                open.items.extend(last);
            }
        }
        goes_on = goes_on && run(&open.items);
        if parser.at_text_end() {
            return parser.faults;
        }
        // A closing parenthesis or keyword that belongs to nothing: skip it and go on reading.
        parser.faults.syntax = true;
        parser.bump();
    }
}

/// How many commands are kept before they are walked.
const PIECE: usize = 16;

impl Parser<'_> {
    pub(super) fn list(&mut self, stop: Stop) -> List {
        let mut open = OpenList::default();
        while self.item(stop, &mut open) {}
        open.items
    }

    /// Reads the next command of a list; `false` at its end.
    fn item(&mut self, stop: Stop, open: &mut OpenList) -> bool {
        self.separators(!open.started);
        if self.at_text_end() || self.at_stop(stop) {
            return false;
        }
        let before = self.pos;
        let node = self.pipeline();
        let empty = node.is_none();
        if let Some(node) = node {
            open.items.push(Item { node, conditional: open.conditional, background: false });
            open.started = true;
        }
        self.blanks();
        open.conditional = self.eat("&&") || self.eat("||");
        if open.conditional {
            self.faults.syntax |= empty;
            self.operand_follows();
        }
        if !open.conditional
            && self.byte() == b'&'
            && !self.is_next("&>")
            && let Some(last) = open.items.last_mut()
        {
            last.background = true;
        }
        if self.pos == before {
            // An operator where a command should be: a stray `)`, `}`, `|`.
            if stop != Stop::End && self.byte() == b')' {
                return false;
            }
            self.faults.syntax = true;
            self.bump();
        }
        true
    }

    /// Skips `;`, `&` and newlines between commands; `;` before any command is an error.
    fn separators(&mut self, first: bool) {
        let mut ended = first;
        loop {
            self.blanks();
            match self.byte() {
                b'\n' => {
                    ended = true;
                    self.pos += 1;
                    self.read_docs();
                }
                b';' if self.is_next(";;") || self.is_next(";&") => return,
                b';' => {
                    self.faults.syntax |= ended;
                    ended = true;
                    self.pos += 1;
                }
                b'&' if !self.is_next("&>") && !self.is_next("&&") => {
                    self.faults.syntax |= ended;
                    ended = true;
                    self.pos += 1;
                }
                _ => return,
            }
        }
    }

    fn at_stop(&self, stop: Stop) -> bool {
        match stop {
            Stop::End => false,
            Stop::Paren => self.byte() == b')',
            Stop::Words(words) => words.contains(&self.keyword()),
            Stop::CaseArm => self.is_next(";;") || self.is_next(";&") || self.keyword() == "esac",
        }
    }

    /// The plain word that comes next, without consuming it; empty when it is not a plain word.
    fn keyword(&self) -> &str {
        // Keywords are short; a longer word is none.
        let start = self.src.as_bytes().iter().skip(self.pos).take(MAX_KEYWORD + 1);
        let length = start.take_while(|b| !is_keyword_end(**b)).count();
        if length > MAX_KEYWORD { "" } else { self.src.get(self.pos..self.pos + length).unwrap_or("") }
    }

    fn eat_keyword(&mut self, word: &str) -> bool {
        self.blanks();
        let found = self.keyword() == word;
        if found {
            self.pos += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) {
        if !self.eat_keyword(word) {
            self.faults.syntax = true;
        }
    }

    fn pipeline(&mut self) -> Option<Node> {
        let first = self.stage();
        if !self.at_pipe() {
            return first;
        }
        let mut stages = Vec::from_iter(first);
        while self.at_pipe() {
            self.pos += 1;
            self.eat("&");
            self.separators_after_pipe();
            self.operand_follows();
            stages.extend(self.stage());
        }
        if stages.len() > 1 { Some(Node::Pipe(stages)) } else { stages.pop() }
    }

    /// One command of a pipeline, and the blanks behind it.
    fn stage(&mut self) -> Option<Node> {
        self.blanks();
        while self.byte() == b'!' && self.keyword() == "!" {
            self.pos += 1;
            self.blanks();
        }
        let node = self.command();
        self.blanks();
        node
    }

    /// Behind `|`, `&&` and `||` a command has to follow.
    fn operand_follows(&mut self) {
        let rest = self.rest().trim_start();
        self.faults.syntax |=
            rest.is_empty() || rest.starts_with(['|', '&', ';', ')']) && !rest.starts_with("&>");
    }

    fn at_pipe(&self) -> bool {
        self.byte() == b'|' && !self.is_next("||")
    }

    fn separators_after_pipe(&mut self) {
        self.blanks();
        while self.byte() == b'\n' {
            self.pos += 1;
            self.read_docs();
            self.blanks();
        }
    }

    fn command(&mut self) -> Option<Node> {
        if self.depth >= MAX_DEPTH {
            // Too deep to nest: brackets and keywords are skipped and what is inside is read flat.
            self.faults.depth = true;
            while matches!(self.byte(), b'(' | b')' | b' ') {
                self.pos += 1;
            }
            return self.simple();
        }
        self.depth += 1;
        let node = self.command_inside();
        self.depth -= 1;
        node
    }

    fn command_inside(&mut self) -> Option<Node> {
        if self.is_next("((") {
            return Some(self.double_paren());
        }
        if self.byte() == b'(' {
            return Some(self.subshell());
        }
        match self.keyword() {
            "{" => self.braces(),
            "if" => self.conditional(),
            "while" | "until" => self.looping(),
            "for" | "select" => self.for_each(),
            "case" => self.case(),
            "time" if self.times_a_compound() => {
                self.pos += "time".len();
                self.blanks();
                if self.eat("-p") {
                    self.blanks();
                }
                self.command()
            }
            "function" => self.function_keyword(),
            "coproc" => {
                self.pos += "coproc".len();
                self.blanks();
                self.command()
            }
            "[[" => {
                self.pos += 2;
                Some(self.test("]]"))
            }
            _ => self.function_or_simple(),
        }
    }

    fn subshell(&mut self) -> Node {
        self.pos += 1;
        let list = self.list(Stop::Paren);
        if !self.eat(")") {
            self.faults.syntax = true;
        }
        Node::Subshell { list, redirects: self.redirects() }
    }

    /// `[[ … ]]` or `(( … ))` behind its opening, and what is redirected.
    fn test(&mut self, end: &str) -> Node {
        let words = self.words_until(end);
        let compares = |w: &Word| w.bare().is_some_and(|t| COMPARISONS.contains(&t));
        let arithmetic = end == "))" || words.iter().any(compares);
        let test = Node::Test { words, arithmetic };
        let redirects = self.redirects();
        if redirects.is_empty() {
            return test;
        }
        let item = Item { node: test, conditional: false, background: false };
        Node::Group { lists: Vec::from([Vec::from([item])]), redirects, maybe: false }
    }

    /// `(( … ))`: arithmetic, or a subshell in a subshell. A shell without arithmetic commands always reads the
    /// second, and where the text is no arithmetic the others do nothing.
    fn double_paren(&mut self) -> Node {
        if !is_arithmetic(self.rest().get(2..).unwrap_or("")) {
            return self.subshell();
        }
        self.pos += 2;
        self.test("))")
    }

    /// `time for …`: the keyword stands before any command, not only before a program.
    fn times_a_compound(&self) -> bool {
        let tail = self.rest().strip_prefix("time").unwrap_or("").trim_start_matches([' ', '\t']);
        let tail = tail.strip_prefix("-p").unwrap_or(tail).trim_start_matches([' ', '\t']);
        let word = tail.split([' ', '\t', '\n', ';']).next().unwrap_or("");
        tail.starts_with('(')
            || matches!(word, "for" | "while" | "until" | "if" | "case" | "{" | "[[" | "select")
    }

    /// Words up to `end`; operators between them have no meaning here.
    fn words_until(&mut self, end: &str) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            if self.eat(end) {
                return words;
            }
            match self.word() {
                Some(word) if word.bare() == Some(end) => return words,
                Some(word) => words.push(word),
                None if self.bump().is_none() => {
                    self.faults.syntax = true;
                    return words;
                }
                None => {}
            }
        }
    }

    fn braces(&mut self) -> Option<Node> {
        self.pos += 1;
        let list = self.list(Stop::Words(&["}"]));
        self.expect("}");
        Some(Node::Group { lists: Vec::from([list]), redirects: self.redirects(), maybe: false })
    }

    fn conditional(&mut self) -> Option<Node> {
        self.pos += "if".len();
        let mut lists = Vec::from([self.list(Stop::Words(&["then"]))]);
        self.expect("then");
        lists.push(self.list(Stop::Words(&["elif", "else", "fi"])));
        while self.eat_keyword("elif") {
            lists.push(self.list(Stop::Words(&["then"])));
            self.expect("then");
            lists.push(self.list(Stop::Words(&["elif", "else", "fi"])));
        }
        if self.eat_keyword("else") {
            lists.push(self.list(Stop::Words(&["fi"])));
        }
        self.expect("fi");
        Some(Node::Group { lists, redirects: self.redirects(), maybe: true })
    }

    fn looping(&mut self) -> Option<Node> {
        self.pos += "while".len();
        let condition = self.list(Stop::Words(&["do"]));
        let body = self.do_body();
        Some(Node::Group { lists: Vec::from([condition, body]), redirects: self.redirects(), maybe: true })
    }

    fn do_body(&mut self) -> List {
        self.expect("do");
        let body = self.list(Stop::Words(&["done"]));
        self.expect("done");
        body
    }

    fn for_each(&mut self) -> Option<Node> {
        self.pos += self.keyword().len();
        self.blanks();
        let mut words = Vec::new();
        let mut name = String::new();
        if self.eat("((") {
            words = self.words_until("))");
        } else {
            name = self.name();
            self.separators_after_pipe();
            if self.eat_keyword("in") {
                self.blanks();
                while let Some(word) = self.word() {
                    words.push(word);
                    self.blanks();
                }
            }
        }
        self.separators(false);
        let body = if self.keyword() == "{" {
            self.pos += 1;
            let body = self.list(Stop::Words(&["}"]));
            self.expect("}");
            body
        } else {
            self.do_body()
        };
        Some(Node::For { name, words, body, redirects: self.redirects() })
    }

    fn case(&mut self) -> Option<Node> {
        self.pos += "case".len();
        self.blanks();
        let mut lists = Vec::new();
        let subject = self.word().unwrap_or_default();
        lists.push(Vec::from([Item {
            node: Node::Test { words: Vec::from([subject]), arithmetic: false },
            conditional: false,
            background: false,
        }]));
        self.separators_after_pipe();
        self.expect("in");
        loop {
            self.separators(false);
            if self.eat_keyword("esac") {
                break;
            }
            if self.at_text_end() {
                self.faults.syntax = true;
                break;
            }
            self.eat("(");
            self.words_until(")");
            lists.push(self.list(Stop::CaseArm));
            self.blanks();
            let closed = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if !closed && self.keyword() != "esac" {
                self.faults.syntax = true;
                break;
            }
        }
        Some(Node::Group { lists, redirects: self.redirects(), maybe: true })
    }

    fn function_keyword(&mut self) -> Option<Node> {
        self.pos += "function".len();
        self.blanks();
        let name = self.name();
        self.blanks();
        if self.eat("(") {
            self.blanks();
            self.eat(")");
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Option<Node> {
        self.separators_after_pipe();
        let node = self.command()?;
        let body = Rc::new(Vec::from([Item { node, conditional: false, background: false }]));
        Some(Node::Function { name, body })
    }

    fn function_or_simple(&mut self) -> Option<Node> {
        let text = self.rest();
        let length = text.bytes().take_while(|b| !is_name_end(*b)).count();
        let (name, tail) = text.split_at_checked(length).unwrap_or((text, ""));
        let after = tail.trim_start_matches([' ', '\t']);
        if !name.is_empty() && after.starts_with('(') {
            let inside = after.trim_start_matches('(').trim_start_matches([' ', '\t']);
            if inside.starts_with(')') {
                let name = String::from(name);
                self.pos += length;
                self.pos += self.rest().find(')').map_or(0, |i| i + 1);
                return self.function_body(name);
            }
        }
        self.simple()
    }

    fn simple(&mut self) -> Option<Node> {
        let start = self.pos;
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.next_redirect() {
                simple.redirects.push(redirect);
                continue;
            }
            let Some(word) = self.word() else { break };
            match self.assignment(&word, simple.words.is_empty()) {
                Some(assign) => simple.assigns.push(assign),
                None => simple.words.push(word),
            }
            simple.span = self.span_from(start);
        }
        if simple.words.is_empty() && simple.assigns.is_empty() && simple.redirects.is_empty() {
            return None;
        }
        if simple.span.is_empty() {
            simple.span = self.span_from(start);
        }
        Some(Node::Simple(simple))
    }

    /// Splits `NAME=value` off a word that stands before the program.
    fn assignment(&mut self, word: &Word, before_program: bool) -> Option<Assign> {
        if !before_program && self.byte() != b'(' {
            return None;
        }
        let Some((Part::Text { text, quoted: false }, tail)) = word.parts.split_first() else { return None };
        let (left, right) = text.split_once('=')?;
        let array_follows = right.is_empty() && tail.is_empty() && self.byte() == b'(';
        if !before_program && !array_follows {
            return None;
        }
        let append = left.ends_with('+');
        let name = left.trim_end_matches('+').split('[').next().unwrap_or("");
        if !name.chars().next().is_some_and(is_name_start) || !name.chars().all(is_name) {
            return None;
        }
        let values = if array_follows {
            self.bump();
            self.words_until(")")
        } else {
            let first = (!right.is_empty()).then(|| Part::Text { text: Text::from(right), quoted: false });
            let parts = first.into_iter().chain(tail.iter().cloned()).collect();
            Vec::from([Word { parts, span: word.span.clone() }])
        };
        Some(Assign { name: String::from(name), values, append, array: array_follows })
    }

    fn redirects(&mut self) -> Vec<Redirect> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.next_redirect() {
                Some(redirect) => all.push(redirect),
                None => return all,
            }
        }
    }

    /// Reads one redirect, or nothing.
    fn next_redirect(&mut self) -> Option<Redirect> {
        if !matches!(self.byte(), b'<' | b'>' | b'&' | b'{' | b'0'..=b'9') {
            return None;
        }
        let start = self.pos;
        let redirect = self.redirect();
        if redirect.is_none() {
            self.pos = start;
        }
        redirect
    }

    /// Reads one redirect; on `None` the position may have moved and is put back by the caller.
    fn redirect(&mut self) -> Option<Redirect> {
        while self.byte().is_ascii_digit() {
            self.pos += 1;
        }
        if self.byte() == b'{' {
            let end = self.rest().char_indices().take(32).find(|(_, c)| *c == '}').map(|(i, _)| i)?;
            let name = self.rest().get(1..end)?;
            if name.is_empty() || !name.chars().all(is_name) {
                return None;
            }
            self.pos += end + 1;
        }
        let (text, kind) = OPERATORS.iter().find(|(text, _)| self.is_next(text))?;
        if self.is_next("<(") || self.is_next(">(") {
            return None;
        }
        self.pos += text.len();
        self.blanks();
        let target = self.word().unwrap_or_else(|| {
            self.faults.syntax = true;
            Word::default()
        });
        let body = Rc::new(OnceCell::new());
        if *kind == RedirectKind::HereDoc {
            self.pending.push(pending(text, &target, &body));
        }
        let is_fd = |word: &Word| {
            word.bare().is_some_and(|t| t.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()))
        };
        let kind = match kind {
            RedirectKind::Duplicate if !is_fd(&target) && *text == ">&" => RedirectKind::Write,
            other => *other,
        };
        Some(Redirect { kind, target, body })
    }
}

/// Operators of `[[ … ]]` that evaluate their operands.
const COMPARISONS: [&str; 8] = ["-R", "-eq", "-ge", "-gt", "-le", "-lt", "-ne", "-v"];

/// Does text behind `((` read as arithmetic: operands with operators between them? A name of a program alone or in
/// front of an option does not.
fn is_arithmetic(text: &str) -> bool {
    let mut operand = false;
    let mut depth = 0_usize;
    let mut rest = text.trim_start();
    let first: String = rest.chars().take_while(|c| is_name(*c)).collect();
    let tail = rest.get(first.len()..).unwrap_or("").trim_start();
    if table::program(&first).is_some()
        && (tail.starts_with(')') || tail.starts_with('-') && !tail.starts_with("--"))
    {
        return false;
    }
    while let Some(c) = rest.chars().next() {
        let length = match c {
            ')' if depth == 0 => return rest.starts_with("))") && (operand || rest.len() == text.len()),
            '(' if operand => return false,
            '(' | '[' => {
                depth += 1;
                operand = false;
                1
            }
            ')' | ']' if !operand => return false,
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                operand = true;
                1
            }
            '$' | '`' | '"' | '\'' => {
                // Substitutions are read either way; only what stands between them is looked at.
                if operand {
                    return false;
                }
                operand = true;
                quoted_length(rest)
            }
            '#' if operand => 1,
            c if is_name(c) => {
                if operand {
                    return false;
                }
                operand = true;
                rest.find(|c| !is_name(c) && c != '#' && c != '@').unwrap_or(rest.len())
            }
            '+' | '-' if rest.starts_with("++") || rest.starts_with("--") => 2,
            '+' | '-' if rest.get(1..).is_some_and(|r| r.starts_with('=')) => {
                operand = false;
                2
            }
            '+' | '-' | '!' | '~' => {
                operand = false;
                1
            }
            '*' | '/' | '%' | '<' | '>' | '=' | '&' | '|' | '^' | '?' | ':' | ',' => {
                let signs = rest
                    .find(|c| !matches!(c, '*' | '/' | '%' | '<' | '>' | '=' | '&' | '|' | '^'))
                    .unwrap_or(rest.len());
                if !operand {
                    return false;
                }
                operand = false;
                signs.clamp(1, 3)
            }
            c if c.is_ascii_whitespace() || c == '\\' => 1,
            _ => return false,
        };
        rest = rest.get(length..).unwrap_or("");
    }
    false
}

/// How long the expansion or string at the start of `text` is, without looking into it.
fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let close = match (bytes.first(), bytes.get(1)) {
        (Some(b'$'), Some(b'{')) => b'}',
        (Some(b'$'), Some(b'(')) => b')',
        (Some(b'$'), _) => {
            let name = text.get(1..).unwrap_or("");
            return 1 + name.find(|c| !is_name(c)).unwrap_or(name.len()).max(1).min(name.len());
        }
        (Some(quote), _) => *quote,
        (None, _) => return 0,
    };
    let open = bytes.get(1).copied().filter(|_| bytes.first() == Some(&b'$'));
    let mut depth = 0_usize;
    for (index, byte) in bytes.iter().enumerate().skip(1) {
        if Some(*byte) == open {
            depth += 1;
        } else if *byte == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return index + 1;
            }
        }
    }
    text.len()
}

/// `function` and `select` are no longer.
const MAX_KEYWORD: usize = 10;

fn is_keyword_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// What cannot be in the name of a function.
fn is_name_end(byte: u8) -> bool {
    is_keyword_end(byte) || matches!(byte, b'$' | b'"' | b'\'' | b'`' | b'=' | b'\\')
}

/// The end word of a here-document is taken as written; any quote in it makes the body literal.
fn pending(operator: &str, target: &Word, body: &Rc<OnceCell<Word>>) -> PendingDoc {
    let mut end = String::new();
    let mut literal = false;
    for part in &*target.parts {
        if let Part::Text { text, quoted } = part {
            end.push_str(text);
            literal |= *quoted;
        }
    }
    PendingDoc { end, strip_tabs: operator == "<<-", literal, body: Rc::clone(body) }
}

/// Longest first, so that the first match is the right one.
const OPERATORS: [(&str, RedirectKind); 12] = [
    ("&>>", RedirectKind::Append),
    ("<<<", RedirectKind::HereString),
    ("<<-", RedirectKind::HereDoc),
    ("&>", RedirectKind::Write),
    ("<<", RedirectKind::HereDoc),
    ("<&", RedirectKind::Duplicate),
    ("<>", RedirectKind::ReadWrite),
    (">>", RedirectKind::Append),
    (">&", RedirectKind::Duplicate),
    (">|", RedirectKind::Write),
    ("<", RedirectKind::Read),
    (">", RedirectKind::Write),
];
