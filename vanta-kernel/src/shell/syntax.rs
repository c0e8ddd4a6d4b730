//! The small tree a command line becomes: lists, pipelines, compounds, simple commands, words.
//!
//! Only data; `lex.rs` and `parse.rs` build it and `flow.rs` walks it.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ops::{Deref, Range};

use super::text::Text;
use super::value::Value;

/// A word as written: pieces that are joined when the command runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    pub(crate) parts: Parts,
    pub(crate) span: Range<usize>,
}

impl Word {
    /// The text of a word that is one unquoted literal, so that it can be a keyword or an alias.
    pub(crate) fn bare(&self) -> Option<&str> {
        match &self.parts {
            Parts::One(Part::Text { text, quoted: false }) => Some(text),
            _ => None,
        }
    }

    /// The text of a word that is one literal and means nothing but itself.
    pub(crate) fn plain(&self) -> Option<&Text> {
        match &self.parts {
            Parts::One(Part::Text { text, quoted }) if *quoted || !is_active(text) => Some(text),
            _ => None,
        }
    }
}

/// May unquoted `text` stand for something else than itself?
pub(crate) fn is_active(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'~' | b'{' | b'*' | b'?' | b'['))
}

/// The pieces of a word. Most words have one, which needs no list.
#[derive(Debug, Clone)]
pub(crate) enum Parts {
    One(Part),
    Many(Vec<Part>),
}

impl Parts {
    pub(crate) fn push(&mut self, part: Part) {
        match core::mem::take(self) {
            Self::Many(parts) if parts.is_empty() => *self = Self::One(part),
            Self::Many(mut parts) => {
                parts.push(part);
                *self = Self::Many(parts);
            }
            Self::One(first) => *self = Self::Many(Vec::from([first, part])),
        }
    }
}

impl Default for Parts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Deref for Parts {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        match self {
            Self::One(part) => core::slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.push(part));
        all
    }
}

/// One piece of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Characters; globs, braces and tildes are active only when not quoted.
    Text { text: Text, quoted: bool },
    /// `$x`, `${x}`, `${x:-word}`.
    Var { name: String, op: VarOp, quoted: bool },
    /// `$( … )` or backquotes.
    Sub { list: List, quoted: bool },
    /// `<( … )`, or `>( … )`, which is fed what the command writes.
    Process { list: List, fed: bool },
    /// `$(( … ))`: a number; the substitutions inside still run.
    Arith { inner: Box<Word> },
    /// What a part stands for, so that the words of a brace expansion do not read it again.
    Known { values: Vec<Value>, quoted: bool },
}

/// What is done to a variable when it is expanded.
#[derive(Debug, Clone)]
pub(crate) enum VarOp {
    /// `$x`.
    Plain,
    /// `${x-word}`, `${x=word}`: the word when unset; with a colon also when empty.
    Default { word: Box<Word>, colon: bool },
    /// `${x+word}`: the word when set; with a colon only when not empty.
    Alternative { word: Box<Word>, colon: bool },
    /// `${x:?word}`: an error when unset.
    Required(Box<Word>),
    /// `${#x}`: a number.
    Length,
    /// Anything else: the value is not followed.
    Other(Box<Word>),
}

/// `NAME=value` or `NAME=(a b)` in front of a command or as a command.
#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) values: Vec<Word>,
    pub(crate) append: bool,
    /// `NAME=( … )`: its words are split.
    pub(crate) array: bool,
}

/// How a redirect touches its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    /// `2>&1`, `<&-`.
    Duplicate,
    /// `<<< word`.
    HereString,
    /// `<< END`.
    HereDoc,
}

/// One redirect.
#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    /// The body of a here-document, filled when its lines are reached.
    pub(crate) body: Rc<OnceCell<Word>>,
}

/// A simple command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub(crate) assigns: Vec<Assign>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Range<usize>,
}

/// Commands in order.
pub(crate) type List = Vec<Item>;

/// One entry of a list.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) node: Node,
    /// It runs only when the one before it succeeded or failed.
    pub(crate) conditional: bool,
    /// It runs in the background.
    pub(crate) background: bool,
}

/// One command of any form.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Simple(Simple),
    Pipe(Vec<Node>),
    /// `{ … }` and every compound whose parts simply run one after the other.
    Group {
        lists: Vec<List>,
        redirects: Vec<Redirect>,
        /// Its parts may not run, or not once (`if`, `while`, `case`).
        maybe: bool,
    },
    Subshell {
        list: List,
        redirects: Vec<Redirect>,
    },
    For {
        name: String,
        words: Vec<Word>,
        body: List,
        redirects: Vec<Redirect>,
    },
    Function {
        name: String,
        body: Rc<List>,
    },
    /// `[[ … ]]`, `(( … ))`: reads nothing and writes nothing, but substitutions in it run.
    Test {
        words: Vec<Word>,
        /// Its names stand for their values, and subscripts are evaluated.
        arithmetic: bool,
    },
}

/// What went wrong while reading; any of it makes the command Ask at best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// Quotes, parentheses or keywords that do not match.
    pub(crate) syntax: bool,
    /// Nested deeper than [`super::MAX_DEPTH`].
    pub(crate) depth: bool,
    /// More steps, fields or bytes than the walk of one line may take.
    pub(crate) work: bool,
}
