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
use super::syntax::{Faults, Part, Parts, VarOp, Word};
use super::text::Text;

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
    /// At the `)` of a pattern such as `@(a|b)`.
    Pattern,
    /// At the closing double quote.
    Quote,
    /// At the end of the text (here-document bodies).
    Text,
}

impl WordEnd {
    /// Does `byte` end the word? Brackets are counted by the caller.
    fn is_at(self, byte: u8) -> bool {
        match self {
            Self::Meta => {
                matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
            }
            Self::Brace => byte == b'}',
            Self::Arith | Self::Pattern => byte == b')',
            Self::Bracket => byte == b']',
            Self::Quote => byte == b'"',
            Self::Text => false,
        }
    }

    /// Does `byte` mean itself in such a word, so that runs of it are taken at once?
    fn is_plain(self, byte: u8) -> bool {
        #[expect(clippy::indexing_slicing, reason = "an index that is wrong stops the compiler")]
        const SPECIAL: [bool; 256] = {
            let mut special = [false; 256];
            let mut rest: &[u8] = b" \t\n\r;&|<>()'\"$`\\}]";
            while let [first, tail @ ..] = rest {
                special[*first as usize] = true;
                rest = tail;
            }
            special
        };
        let special = SPECIAL.get(usize::from(byte)).is_some_and(|s| *s);
        !special || self != Self::Meta && byte.is_ascii_whitespace()
    }
}

/// The parser. `fixed` gives every span when the text is not part of the original line.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    /// What `line` holds.
    pub(super) src: &'a str,
    line: &'a Rc<str>,
    pub(super) pos: usize,
    pub(super) depth: usize,
    pub(super) fixed: Option<Range<usize>>,
    pub(super) pending: Vec<PendingDoc>,
    pub(super) faults: Faults,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(line: &'a Rc<str>, fixed: Option<Range<usize>>, depth: usize) -> Self {
        Self { src: line, line, pos: 0, depth, fixed, pending: Vec::new(), faults: Faults::default() }
    }

    /// The byte that comes next; 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        self.src.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    pub(super) fn at_text_end(&self) -> bool {
        self.pos >= self.src.len()
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

    pub(super) fn is_next(&self, text: &str) -> bool {
        self.src.as_bytes().get(self.pos..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Consumes `text` when it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.is_next(text);
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
            match self.byte() {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'\\' if self.is_next("\\\n") => self.pos += 2,
                b'#' => {
                    self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Reads one word; `None` at an operator or the end.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.pos;
        let length = self.plain_run(WordEnd::Meta);
        let next = self.src.as_bytes().get(start + length);
        if length > 0 && next.is_none_or(|b| WordEnd::Meta.is_at(*b) && !matches!(b, b'<' | b'>' | b'(')) {
            // The common word is one piece of the line.
            self.pos += length;
            let text = Text::Piece(Rc::clone(self.line), start..self.pos);
            return Some(Word {
                parts: Parts::One(Part::Text { text, quoted: false }),
                span: self.span_from(start),
            });
        }
        let mut parts = Collector::new(self.line);
        loop {
            let fed = self.is_next(">(");
            if fed || self.is_next("<(") {
                self.pos += 2;
                let list = self.nested_list();
                parts.push(Part::Process { list, fed });
            }
            self.word_parts(WordEnd::Meta, &mut parts);
            // `@<(cmd)`: a process in the middle of a word.
            if self.pos == start || !(self.is_next("<(") || self.is_next(">(")) {
                break;
            }
        }
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
        let mut parts = Collector::new(self.line);
        if self.depth >= MAX_DEPTH {
            self.faults.depth = true;
            return Word::default();
        }
        self.depth += 1;
        self.word_parts(end, &mut parts);
        self.depth -= 1;
        Word { parts: parts.finish(), span: self.span_from(start) }
    }

    fn word_parts(&mut self, end: WordEnd, parts: &mut Collector<'a>) {
        // Single quotes are ordinary characters wherever double-quote rules hold.
        let quoted = matches!(end, WordEnd::Quote | WordEnd::Text | WordEnd::Arith | WordEnd::Bracket);
        let mut parens = 0_usize;
        loop {
            let start = self.pos;
            self.pos += self.plain_run(end);
            parts.text(start..self.pos, quoted);
            let Some(next) = self.src.as_bytes().get(self.pos).copied() else { break };
            match next {
                b'\\' => self.escape(quoted, parts),
                b'\'' if !quoted => self.single_quoted(parts),
                b'"' if !matches!(end, WordEnd::Text | WordEnd::Quote) => self.double_quoted(parts),
                b'$' => self.dollar(quoted, parts),
                b'`' => self.backquoted(quoted, parts),
                b'!' | b'@' | b'+' | b'?' | b'*' if self.extended_glob(parts) => {}
                b'(' if end != WordEnd::Meta => {
                    parens += 1;
                    self.ordinary(quoted, parts);
                }
                b')' if end != WordEnd::Meta && (!end.is_at(b')') || parens > 0) => {
                    parens = parens.saturating_sub(1);
                    self.ordinary(quoted, parts);
                }
                _ if end.is_at(next) => return,
                _ => self.ordinary(quoted, parts),
            }
        }
        if !matches!(end, WordEnd::Meta | WordEnd::Text) {
            self.faults.syntax = true;
        }
    }

    /// How many bytes that mean themselves come next; the sign before a `(` may start a pattern.
    fn plain_run(&self, end: WordEnd) -> usize {
        let rest = self.src.as_bytes().get(self.pos..).unwrap_or(&[]);
        let length = rest.iter().take_while(|b| end.is_plain(**b)).count();
        match rest.get(length.saturating_sub(1)..) {
            Some([b'!' | b'@' | b'+' | b'?' | b'*', b'(', ..]) if end == WordEnd::Meta => length - 1,
            _ => length,
        }
    }

    /// `!(a|b)`, `+(x)`: a pattern of bash, which can match most names. Substitutions in it run.
    fn extended_glob(&mut self, parts: &mut Collector<'a>) -> bool {
        let inside = self.rest().get(1..).and_then(|r| r.strip_prefix('(')).unwrap_or(")");
        if inside.trim_start_matches([' ', '\t']).starts_with(')') {
            return false;
        }
        self.pos += 2;
        let word = self.nested_word(WordEnd::Pattern);
        self.eat(")");
        parts.decoded('*', false);
        if word.parts.iter().any(|p| !matches!(p, Part::Text { .. })) {
            parts.push(Part::Var {
                name: String::from("_"),
                op: VarOp::Other(Box::new(word)),
                quoted: false,
            });
        }
        true
    }

    /// Takes one byte that means itself here.
    fn ordinary(&mut self, quoted: bool, parts: &mut Collector<'a>) {
        self.pos += 1;
        parts.text(self.pos - 1..self.pos, quoted);
    }

    fn escape(&mut self, quoted: bool, parts: &mut Collector<'a>) {
        let backslash = self.pos;
        self.pos += 1;
        match self.bump() {
            Some('\n') => {}
            Some(c) if quoted && !matches!(c, '$' | '`' | '"' | '\\') => {
                parts.text(backslash..self.pos, true)
            }
            Some(_) => parts.text(backslash + 1..self.pos, true),
            None => self.faults.syntax = true,
        }
    }

    fn single_quoted(&mut self, parts: &mut Collector<'a>) {
        self.pos += 1;
        let text = self.rest();
        let length = text.find('\'').unwrap_or_else(|| {
            self.faults.syntax = true;
            text.len()
        });
        parts.quoted_text(self.pos..self.pos + length);
        self.pos = (self.pos + length + 1).min(self.src.len());
    }

    fn double_quoted(&mut self, parts: &mut Collector<'a>) {
        self.pos += 1;
        parts.quoted_text(self.pos..self.pos);
        self.word_parts(WordEnd::Quote, parts);
        self.eat("\"");
    }

    fn dollar(&mut self, quoted: bool, parts: &mut Collector<'a>) {
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
                parts.push(Part::Arith { inner: Box::new(inner) });
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
                parts.push(Part::Arith { inner: Box::new(inner) });
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
            _ => parts.text(self.pos - 1..self.pos, true),
        }
    }

    pub(super) fn name(&mut self) -> String {
        let text = self.rest();
        let length = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
        self.pos += length;
        String::from(text.get(..length).unwrap_or(""))
    }

    fn braced_variable(&mut self, quoted: bool, parts: &mut Collector<'a>) {
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
            Some('-' | '=') if known => VarOp::Default { word, colon },
            Some('+') if known => VarOp::Alternative { word, colon },
            Some('?') if known => VarOp::Required(word),
            _ if all_items && word.parts.is_empty() => VarOp::Plain,
            _ => VarOp::Other(word),
        }
    }

    /// `$'…'` with its escapes decoded.
    fn ansi_quoted(&mut self, parts: &mut Collector<'a>) {
        self.pos += 1;
        parts.quoted_text(self.pos..self.pos);
        // A NUL ends the text, though not the quotes.
        let mut ended = false;
        loop {
            match self.bump() {
                None => {
                    self.faults.syntax = true;
                    return;
                }
                Some('\'') => return,
                Some('\\') => {
                    let decoded = self.ansi_escape();
                    ended |= decoded == Some('\0');
                    if let Some(c) = decoded.filter(|_| !ended) {
                        parts.decoded(c, true);
                    }
                }
                Some(_) if ended => {}
                Some(c) => parts.text(self.pos - c.len_utf8()..self.pos, true),
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
    fn backquoted(&mut self, quoted: bool, parts: &mut Collector<'a>) {
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
        let body = Rc::from(body);
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
            return Word { parts: Parts::One(Part::Text { text: Text::from(text), quoted: true }), span };
        }
        let text = Rc::from(text);
        let mut inner = Parser::new(&text, Some(span.clone()), self.depth + 1);
        let mut parts = Collector::new(&text);
        inner.word_parts(WordEnd::Text, &mut parts);
        self.merge_faults(inner.faults);
        Word { parts: parts.finish(), span }
    }
}

/// Collects parts, joining neighbouring text of the same quoting.
#[derive(Debug)]
struct Collector<'a> {
    line: &'a Rc<str>,
    done: Parts,
    /// Text that is still growing: a piece of the line as long as it is one.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    quoted: bool,
    piece: Range<usize>,
    /// What came before `piece` and is not next to it.
    before: String,
}

impl<'a> Collector<'a> {
    fn new(line: &'a Rc<str>) -> Self {
        Self { line, done: Parts::default(), open: None }
    }

    fn push(&mut self, part: Part) {
        self.close();
        self.done.push(part);
    }

    /// Adds a piece of the line; an empty one adds nothing.
    fn text(&mut self, piece: Range<usize>, quoted: bool) {
        if !piece.is_empty() {
            self.join(piece, quoted);
        }
    }

    /// Adds quoted text; an empty one still makes the word exist (`""`).
    fn quoted_text(&mut self, piece: Range<usize>) {
        self.join(piece, true);
    }

    /// Adds a character that the line does not hold as such.
    fn decoded(&mut self, c: char, quoted: bool) {
        self.join(0..0, quoted);
        if let Some(open) = &mut self.open {
            open.before.push(c);
        }
    }

    fn join(&mut self, piece: Range<usize>, quoted: bool) {
        match &mut self.open {
            Some(open) if open.quoted == quoted => {
                if open.piece.end == piece.start {
                    open.piece.end = piece.end;
                } else {
                    open.before.push_str(self.line.get(open.piece.clone()).unwrap_or(""));
                    open.piece = piece;
                }
            }
            _ => {
                self.close();
                self.open = Some(Open { quoted, piece, before: String::new() });
            }
        }
    }

    fn close(&mut self) {
        let Some(Open { quoted, piece, mut before }) = self.open.take() else { return };
        let text = if before.is_empty() {
            Text::Piece(Rc::clone(self.line), piece)
        } else {
            before.push_str(self.line.get(piece).unwrap_or(""));
            Text::Own(before)
        };
        self.done.push(Part::Text { text, quoted });
    }

    fn finish(mut self) -> Parts {
        self.close();
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
