//! Text of words and values: a piece of a line that is shared and not copied, or a string of its own.

use alloc::rc::Rc;
use alloc::string::String;
use core::fmt;
use core::ops::{Deref, Range};

/// Reads like a `str`. Most words are never changed, so that cloning one needs no memory.
#[derive(Clone)]
pub(crate) enum Text {
    /// A literal of this crate.
    Static(&'static str),
    /// A piece of a line, on character boundaries.
    Piece(Rc<str>, Range<usize>),
    /// Text that was put together.
    Own(String),
}

impl Text {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Static(text) => text,
            Self::Piece(line, range) => line.get(range.clone()).unwrap_or(""),
            Self::Own(text) => text,
        }
    }

    pub(crate) fn push_str(&mut self, more: &str) {
        if !more.is_empty() {
            let mut text = core::mem::take(self).into_string();
            text.push_str(more);
            *self = Self::Own(text);
        }
    }

    pub(crate) fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    /// Keeps the first `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        match self {
            Self::Static(text) => *text = text.get(..length).unwrap_or(text),
            Self::Piece(_, range) => range.end = range.end.min(range.start.saturating_add(length)),
            Self::Own(text) => text.truncate(length),
        }
    }

    pub(crate) fn into_string(self) -> String {
        match self {
            Self::Own(text) => text,
            other => String::from(other.as_str()),
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Static("")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Own(String::from(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Own(text)
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.into_string()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
