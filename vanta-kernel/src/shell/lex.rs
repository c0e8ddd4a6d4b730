//! Words: quoting, variables, substitutions, here-documents. One pass, left to right, nothing evaluated.
//!
//! Commands and lists are in `parse.rs`; both are one parser, because a substitution in a word holds a list.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ops::Range;

use super::MAX_DEPTH;
use super::syntax::{Faults, Part, VarOp, Word};

/// A here-document whose body has not been reached yet.
#[derive(Debug)]
pub(super) struct PendingDoc {
    pub(super) end: String,
    pub(super) strip_tabs: bool,
    pub(super) literal: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

/// Where a word being read ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordEnd {
    /// At a blank or an operator.
    Meta,
    /// At the `}` of `${x:-word}`.
    Brace,
    /// At the `))` of arithmetic.
    Arith,
    /// At the `]` of `$[ … ]`.
    Bracket,
    /// At the closing double quote.
    Quote,
    /// At the end of the text (here-document bodies).
    Text,
}

/// The parser. `fixed` gives every span when the text is not part of the original line.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    pub(super) src: &'a str,
    pub(super) pos: usize,
    pub(super) depth: usize,
    pub(super) fixed: Option<Range<usize>>,
    pub(super) pending: Vec<PendingDoc>,
    pub(super) faults: Faults,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(src: &'a str, fixed: Option<Range<usize>>, depth: usize) -> Self {
        Self { src, pos: 0, depth, fixed, pending: Vec::new(), faults: Faults::default() }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.src.get(self.pos..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    /// Consumes `text` when it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    pub(super) fn span_from(&self, start: usize) -> Range<usize> {
        self.fixed.clone().unwrap_or(start..self.pos)
    }

    /// Skips blanks, line continuations and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.pos += 1,
                Some('\\') if self.rest().starts_with("\\\n") => self.pos += 2,
                Some('#') => {
                    self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Reads one word; `None` at an operator or the end.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.pos;
        let mut parts = Parts::default();
        if self.rest().starts_with("<(") || self.rest().starts_with(">(") {
            self.pos += 2;
            let list = self.nested_list();
            parts.push(Part::Process { list });
        }
        self.word_parts(WordEnd::Meta, &mut parts);
        if self.pos == start {
            return None;
        }
        Some(Word { parts: parts.finish(), span: self.span_from(start) })
    }

    /// Reads the list of a substitution up to and including its `)`.
    fn nested_list(&mut self) -> super::syntax::List {
        if self.depth >= MAX_DEPTH {
            self.faults.depth = true;
            return Vec::new();
        }
        self.depth += 1;
        let list = self.list(super::parse::Stop::Paren);
        self.depth -= 1;
        if !self.eat(")") {
            self.faults.syntax = true;
        }
        list
    }

    fn nested_word(&mut self, end: WordEnd) -> Word {
        let start = self.pos;
        let mut parts = Parts::default();
        if self.depth >= MAX_DEPTH {
            self.faults.depth = true;
            return Word::default();
        }
        self.depth += 1;
        self.word_parts(end, &mut parts);
        self.depth -= 1;
        Word { parts: parts.finish(), span: self.span_from(start) }
    }

    fn word_parts(&mut self, end: WordEnd, parts: &mut Parts) {
        // Single quotes are ordinary characters wherever double-quote rules hold.
        let quoted = matches!(end, WordEnd::Quote | WordEnd::Text | WordEnd::Arith | WordEnd::Bracket);
        let mut parens = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                _ if self.at_end(end, next, parens) => return,
                '\\' => self.escape(quoted, parts),
                '\'' if !quoted => self.single_quoted(parts),
                '"' if end != WordEnd::Text => self.double_quoted(parts),
                '$' => self.dollar(quoted, parts),
                '`' => self.backquoted(quoted, parts),
                _ => {
                    parens = match next {
                        '(' => parens + 1,
                        ')' => parens.saturating_sub(1),
                        _ => parens,
                    };
                    self.pos += next.len_utf8();
                    parts.text(next, quoted);
                }
            }
        }
        if !matches!(end, WordEnd::Meta | WordEnd::Text) {
            self.faults.syntax = true;
        }
    }

    fn at_end(&self, end: WordEnd, next: char, parens: usize) -> bool {
        match end {
            WordEnd::Meta => {
                matches!(next, ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
            }
            WordEnd::Brace => next == '}',
            WordEnd::Arith => next == ')' && parens == 0,
            WordEnd::Bracket => next == ']',
            WordEnd::Quote => next == '"',
            WordEnd::Text => false,
        }
    }

    fn escape(&mut self, quoted: bool, parts: &mut Parts) {
        self.pos += 1;
        match self.bump() {
            Some('\n') => {}
            Some(c) if quoted && !matches!(c, '$' | '`' | '"' | '\\') => {
                parts.text('\\', true);
                parts.text(c, true);
            }
            Some(c) => parts.text(c, true),
            None => self.faults.syntax = true,
        }
    }

    fn single_quoted(&mut self, parts: &mut Parts) {
        self.pos += 1;
        let text = self.rest();
        let length = text.find('\'').unwrap_or_else(|| {
            self.faults.syntax = true;
            text.len()
        });
        parts.quoted_text(text.get(..length).unwrap_or(""));
        self.pos = (self.pos + length + 1).min(self.src.len());
    }

    fn double_quoted(&mut self, parts: &mut Parts) {
        self.pos += 1;
        parts.quoted_text("");
        self.word_parts(WordEnd::Quote, parts);
        self.eat("\"");
    }

    fn dollar(&mut self, quoted: bool, parts: &mut Parts) {
        self.pos += 1;
        match self.peek() {
            Some('(') if self.rest().starts_with("((") => {
                self.pos += 2;
                let inner = self.nested_word(WordEnd::Arith);
                if !self.eat("))") {
                    // `$( (a) )` written without a blank, or broken: not followed.
                    self.faults.syntax = true;
                    self.eat(")");
                }
                parts.push(Part::Arith { inner });
            }
            Some('(') => {
                self.pos += 1;
                let list = self.nested_list();
                parts.push(Part::Sub { list, quoted });
            }
            Some('[') => {
                self.pos += 1;
                let inner = self.nested_word(WordEnd::Bracket);
                self.eat("]");
                parts.push(Part::Arith { inner });
            }
            Some('{') => {
                self.pos += 1;
                self.braced_variable(quoted, parts);
            }
            Some('\'') if !quoted => self.ansi_quoted(parts),
            Some('"') if !quoted => self.double_quoted(parts),
            Some(c) if is_name_start(c) => {
                let name = self.name();
                parts.push(Part::Var { name, op: VarOp::Plain, quoted });
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-') => {
                self.pos += 1;
                parts.push(Part::Var { name: String::from(c), op: VarOp::Plain, quoted });
            }
            _ => parts.text('$', true),
        }
    }

    pub(super) fn name(&mut self) -> String {
        let text = self.rest();
        let length = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
        self.pos += length;
        String::from(text.get(..length).unwrap_or(""))
    }

    fn braced_variable(&mut self, quoted: bool, parts: &mut Parts) {
        let indirect = self.eat("!");
        let length =
            !indirect && self.rest().starts_with('#') && !self.rest().starts_with("#}") && self.eat("#");
        let mut name = self.name();
        if name.is_empty() {
            name.extend(self.peek().filter(|c| matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-')));
            self.pos += name.len();
        }
        let all_items = self.eat("[@]") || self.eat("[*]");
        let op = self.variable_op(indirect, length, all_items);
        if !self.eat("}") {
            self.faults.syntax = true;
        }
        parts.push(Part::Var { name, op, quoted });
    }

    fn variable_op(&mut self, indirect: bool, length: bool, all_items: bool) -> VarOp {
        let colon = self.rest().starts_with(':') && matches!(self.peek_second(), Some('-' | '=' | '?' | '+'));
        if colon {
            self.pos += 1;
        }
        let sign = self.peek();
        let known = matches!(sign, Some('-' | '=' | '?' | '+')) && !indirect && !length;
        if known {
            self.pos += 1;
        }
        let word = Box::new(self.nested_word(WordEnd::Brace));
        match sign {
            _ if length => VarOp::Length,
            Some('}') if !indirect => VarOp::Plain,
            Some('-' | '=') if known => VarOp::Default(word),
            Some('+') if known => VarOp::Alternative(word),
            Some('?') if known => VarOp::Required(word),
            _ if all_items && word.parts.is_empty() => VarOp::Plain,
            _ => VarOp::Other(word),
        }
    }

    /// `$'…'` with its escapes decoded.
    fn ansi_quoted(&mut self, parts: &mut Parts) {
        self.pos += 1;
        parts.quoted_text("");
        loop {
            match self.bump() {
                None => {
                    self.faults.syntax = true;
                    return;
                }
                Some('\'') => return,
                Some('\\') => {
                    if let Some(c) = self.ansi_escape() {
                        parts.text(c, true);
                    }
                }
                Some(c) => parts.text(c, true),
            }
        }
    }

    fn ansi_escape(&mut self) -> Option<char> {
        let escape = self.bump()?;
        match escape {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'e' | 'E' => Some('\u{1b}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            'c' => self.bump().and_then(|c| char::from_u32(u32::from(c) & 0x1f)),
            '0'..='7' => {
                self.pos -= 1;
                self.digits(8, 3)
            }
            other => Some(other),
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<char> {
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(digit);
            self.pos += 1;
        }
        char::from_u32(code)
    }

    /// Backquotes: the body is unescaped once and read as a line of its own.
    fn backquoted(&mut self, quoted: bool, parts: &mut Parts) {
        let start = self.pos;
        self.pos += 1;
        let mut body = String::new();
        loop {
            match self.bump() {
                None => {
                    self.faults.syntax = true;
                    break;
                }
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(c @ ('`' | '\\' | '$')) => body.push(c),
                    Some(c) => body.extend(['\\', c]),
                    None => {}
                },
                Some(c) => body.push(c),
            }
        }
        if self.depth >= MAX_DEPTH {
            self.faults.depth = true;
            return;
        }
        let mut inner = Parser::new(&body, Some(self.span_from(start)), self.depth + 1);
        let list = inner.list(super::parse::Stop::End);
        self.merge_faults(inner.faults);
        parts.push(Part::Sub { list, quoted });
    }

    fn merge_faults(&mut self, other: Faults) {
        self.faults.syntax |= other.syntax;
        self.faults.depth |= other.depth;
    }

    /// Called behind a newline: reads the bodies of the here-documents announced on the line before it.
    pub(super) fn read_docs(&mut self) {
        for doc in core::mem::take(&mut self.pending) {
            let start = self.pos;
            let mut text = String::new();
            let mut closed = false;
            while self.pos < self.src.len() && !closed {
                let line = self.rest().split('\n').next().unwrap_or("");
                self.pos = (self.pos + line.len() + 1).min(self.src.len());
                let line = if doc.strip_tabs { line.trim_start_matches('\t') } else { line };
                closed = line.trim_end_matches('\r') == doc.end;
                if !closed {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            self.faults.syntax |= !closed;
            let span = self.span_from(start);
            let _ = doc.body.set(self.doc_word(text, doc.literal, span));
        }
    }

    fn doc_word(&mut self, text: String, literal: bool, span: Range<usize>) -> Word {
        if literal || self.depth >= MAX_DEPTH {
            self.faults.depth |= !literal;
            return Word { parts: Vec::from([Part::Text { text, quoted: true }]), span };
        }
        let mut inner = Parser::new(&text, Some(span.clone()), self.depth + 1);
        let mut parts = Parts::default();
        inner.word_parts(WordEnd::Text, &mut parts);
        self.merge_faults(inner.faults);
        Word { parts: parts.finish(), span }
    }
}

/// Collects parts, joining neighbouring characters of the same quoting.
#[derive(Debug, Default)]
struct Parts {
    done: Vec<Part>,
}

impl Parts {
    fn push(&mut self, part: Part) {
        self.done.push(part);
    }

    fn text(&mut self, c: char, is_quoted: bool) {
        if let Some(Part::Text { text, quoted }) = self.done.last_mut()
            && *quoted == is_quoted
        {
            text.push(c);
            return;
        }
        self.done.push(Part::Text { text: String::from(c), quoted: is_quoted });
    }

    /// Adds quoted text; an empty one still makes the word exist (`""`).
    fn quoted_text(&mut self, new: &str) {
        if let Some(Part::Text { text, quoted: true }) = self.done.last_mut() {
            text.push_str(new);
        } else {
            self.done.push(Part::Text { text: String::from(new), quoted: true });
        }
    }

    fn finish(self) -> Vec<Part> {
        self.done
    }
}

/// May `c` start a variable name?
pub(super) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// May `c` continue a variable name?
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
