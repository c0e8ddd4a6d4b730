//! What a word can be when it runs: text in which a few noncharacters stand for what is not known.
//!
//! One string per field keeps matching and path resolution simple: a pattern or an unknown piece is one
//! character of the text. Input that contains these noncharacters itself is Ask (see `assess.rs`).

use alloc::string::String;
use alloc::vec::Vec;

use super::text::Text;

/// An active `*`.
pub(crate) const ANY: char = '\u{fdd0}';
/// An active `?` or `[…]`.
pub(crate) const ONE: char = '\u{fdd1}';
/// Any text, perhaps none, perhaps with slashes.
pub(crate) const UNKNOWN: char = '\u{fdd2}';
/// Some text without a slash and not empty: a number, a date, a base name.
pub(crate) const TOKEN: char = '\u{fdd3}';
/// Some path below the folder in front of it, as a listing gives it.
pub(crate) const LISTED: char = '\u{fdd4}';

/// The content of a file: any text, but names in it are names somebody wrote down.
pub(crate) const CONTENT: char = '\u{fdd5}';

/// Is `c` one of the characters this module gives a meaning?
pub(crate) fn is_marker(c: char) -> bool {
    (ANY..=CONTENT).contains(&c)
}

/// Does `text` hold one of them? They start with the same byte, which hardly any other text has.
pub(crate) fn has_marker(text: &str) -> bool {
    text.bytes().any(|b| b == LEAD) && text.chars().any(is_marker)
}

/// The first byte of every marker.
const LEAD: u8 = 0xef;

/// Where text came from, as far as it matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taint {
    /// A credential file, the environment, a keychain.
    pub(crate) secret: bool,
    /// The network.
    pub(crate) network: bool,
    /// A place whose name says production.
    pub(crate) live: bool,
    /// An open connection, or a shell that runs what it is given: two of them make a remote shell.
    pub(crate) wire: bool,
    /// The boundary's own state or process.
    pub(crate) own: bool,
    /// A list of every process.
    pub(crate) every: bool,
}

impl Taint {
    pub(crate) const NONE: Self =
        Self { secret: false, network: false, live: false, wire: false, own: false, every: false };
    pub(crate) const SECRET: Self = Self { secret: true, ..Self::NONE };
    pub(crate) const NETWORK: Self = Self { network: true, ..Self::NONE };
    pub(crate) const OWN: Self = Self { own: true, ..Self::NONE };

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            secret: self.secret || other.secret,
            network: self.network || other.network,
            live: self.live || other.live,
            wire: self.wire || other.wire,
            own: self.own || other.own,
            every: self.every || other.every,
        }
    }
}

/// One field, or the output of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: Text,
    pub(crate) taint: Taint,
}

impl Value {
    pub(crate) fn literal(text: impl Into<Text>) -> Self {
        Self { text: text.into(), taint: Taint::NONE }
    }

    pub(crate) fn marker(marker: char) -> Self {
        let text = match marker {
            UNKNOWN => Text::Static("\u{fdd2}"),
            TOKEN => Text::Static("\u{fdd3}"),
            CONTENT => Text::Static("\u{fdd5}"),
            other => Text::Own(String::from(other)),
        };
        Self { text, taint: Taint::NONE }
    }

    pub(crate) fn unknown(taint: Taint) -> Self {
        Self { taint, ..Self::marker(UNKNOWN) }
    }

    /// Nothing in it is left open.
    pub(crate) fn is_literal(&self) -> bool {
        !has_marker(&self.text)
    }

    /// It could be any text at some place.
    pub(crate) fn is_unknown(&self) -> bool {
        has_marker(&self.text) && self.text.contains([UNKNOWN, CONTENT])
    }

    pub(crate) fn push(&mut self, other: &Self) {
        if self.text.is_empty() {
            self.text = other.text.clone();
        } else {
            self.text.push_str(&other.text);
        }
        self.taint = self.taint.join(other.taint);
    }

    /// As code it could be anything: some piece of it is only known when it runs.
    pub(crate) fn is_open(&self) -> bool {
        has_marker(&self.text) && self.text.contains([UNKNOWN, CONTENT, LISTED])
    }

    /// The text of a file.
    pub(crate) fn content(taint: Taint) -> Self {
        Self { taint, ..Self::marker(CONTENT) }
    }

    /// The same origin, other text.
    pub(crate) fn with_text(&self, text: impl Into<Text>) -> Self {
        Self { text: text.into(), taint: self.taint }
    }
}

/// Matches `name` against a pattern of markers. Linear in practice: one backtrack point, like `fnmatch`.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(&(ANY | UNKNOWN | TOKEN | LISTED | CONTENT)) => {
                back = Some((p, n));
                p += 1;
            }
            Some(&c) if c == ONE || name.get(n) == Some(&c) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star, from)) = back else { return false };
                back = Some((star, from + 1));
                p = star + 1;
                n = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|c| matches!(*c, ANY | UNKNOWN | TOKEN | LISTED | CONTENT))
}

/// Turns the glob characters of unquoted text into markers.
pub(crate) fn activate(text: &str, into: &mut String) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or("");
        match c {
            '*' => into.push(ANY),
            '?' => into.push(ONE),
            // The brackets of an address such as `http://[::1]/` are none.
            '[' if into.ends_with("://") => into.push('['),
            '[' => {
                // The first character may be `]` or `!]`; a set is one character of any kind.
                let close = rest.char_indices().skip(1).take(256).find(|(_, c)| *c == ']');
                match close {
                    Some((end, _)) => {
                        into.push(ONE);
                        rest = rest.get(end + 1..).unwrap_or("");
                    }
                    None => into.push('['),
                }
            }
            other => into.push(other),
        }
    }
}

/// Writes `text` for a person: markers as what they stood for.
pub(crate) fn display(text: &str) -> String {
    displayed(String::from(text))
}

/// [`display`] of a string that is not needed any more.
pub(crate) fn displayed(text: String) -> String {
    // Control characters and what is not ASCII are rare.
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return text;
    }
    text.chars()
        .map(|c| match c {
            ANY => '*',
            ONE => '?',
            UNKNOWN | TOKEN | LISTED | CONTENT => '…',
            c if c.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}
