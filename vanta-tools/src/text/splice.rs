//! Exact replacement.
//!
//! Matching happens on bytes in LF space: a CRLF pair counts as one line break in the file and in the text that is
//! looked for, so a model that saw LF can edit a CRLF file. The replacement takes over the line ending of the
//! region it replaces, and bytes outside the part that really differs are never touched, mixed endings included.
//! The new text is data: nothing in it is expanded.

use std::fmt;
use std::iter::Peekable;

use memchr::memmem::Finder;

use super::MAX_TEXT;
use super::decode::Text;
use crate::near;

/// One replacement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'a> {
    /// What is there now; must occur once unless `all`.
    pub(crate) old: &'a str,
    /// What shall be there.
    pub(crate) new: &'a str,
    /// Whether every occurrence is replaced.
    pub(crate) all: bool,
}

/// Why a change does not fit; the text is for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// Nothing to look for.
    Empty,
    /// Nothing would change.
    Same,
    /// It does not occur. With the line that is most like its first line.
    Absent(Option<(usize, String)>),
    /// It occurs more than once, overlaps counted, on these lines.
    Ambiguous { count: usize, lines: Vec<usize> },
    /// The result would be larger than any file that is edited.
    TooLarge,
    /// The file's encoding is unknown and the change is not plain ASCII between ASCII.
    NotAscii,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("old_string is empty; give the text to replace, or use write_file for a new file")
            }
            Self::Same => f.write_str("old_string and new_string are identical, so there is nothing to change"),
            Self::Absent(closest) => {
                f.write_str("old_string was not found in it (no match); ")?;
                if let Some((line, text)) = closest {
                    write!(f, "the closest line is {line}:\n{text}\n")?;
                }
                f.write_str("copy the text exactly as read_file shows it, spaces and tabs included")
            }
            Self::Ambiguous { count, lines } => {
                let listed: Vec<String> = lines.iter().map(usize::to_string).collect();
                let more = if lines.len() < SHOWN_LINES { "" } else { ", …" };
                write!(
                    f,
                    "old_string is ambiguous, it matches {count} times (lines {}{more}); add lines around it until \
                     it is unique, or set replace_all",
                    listed.join(", ")
                )
            }
            Self::TooLarge => write!(f, "the result would have more than {MAX_TEXT} bytes; replace less at once"),
            Self::NotAscii => f.write_str(
                "its encoding is not UTF-8 and not known, so only ASCII text that follows an ASCII character can be changed; convert the file to UTF-8 first",
            ),
        }
    }
}

/// `text` with `change` made, and the lines (from 1) on which it was made.
pub(crate) fn apply(text: &Text, change: &Change<'_>) -> Result<(Text, Vec<usize>), Mismatch> {
    let (old, new) = (change.old.replace("\r\n", "\n"), change.new.replace("\r\n", "\n"));
    if old.is_empty() {
        return Err(Mismatch::Empty);
    }
    if old == new {
        return Err(Mismatch::Same);
    }
    let folded = Folded::new(text.bytes());
    let found = find(&folded.lf, old.as_bytes(), change.all);
    if found.is_empty() {
        return Err(Mismatch::Absent(closest_line(text, &old)));
    }
    let mut lines = line_numbers(&folded.lf, &found);
    if !change.all && found.len() > 1 {
        lines.dedup();
        lines.truncate(SHOWN_LINES);
        return Err(Mismatch::Ambiguous { count: found.len(), lines });
    }
    if !text.is_unicode() && !is_plain(&folded.lf, &found, &old, &new) {
        return Err(Mismatch::NotAscii);
    }
    let most =
        found.len().saturating_mul(new.len()).saturating_add(folded.lf.len() - found.len() * old.len());
    if u64::try_from(most).is_ok_and(|most| most > MAX_TEXT) {
        return Err(Mismatch::TooLarge);
    }
    let changed = splice(text.bytes(), &folded, &found, old.as_bytes(), new.as_bytes());
    Ok((text.with_bytes(changed), lines))
}

/// How many line numbers of an ambiguous match are worth reading.
const SHOWN_LINES: usize = 20;

/// The text with every CRLF as LF, and where the dropped carriage returns were.
struct Folded {
    lf: Vec<u8>,
    /// Positions in `lf` of the line breaks that were CRLF, ascending.
    crlf: Vec<usize>,
}

impl Folded {
    fn new(raw: &[u8]) -> Self {
        let mut lf = Vec::with_capacity(raw.len());
        let mut crlf = Vec::new();
        let mut bytes = raw.iter().peekable();
        while let Some(byte) = bytes.next() {
            if *byte == b'\r' && bytes.peek() == Some(&&b'\n') {
                crlf.push(lf.len());
            } else {
                lf.push(*byte);
            }
        }
        Self { lf, crlf }
    }

    /// Where position `at` is in the raw text; for a CRLF break, where its carriage return is.
    fn raw(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|position| *position < at)
    }

    fn is_crlf(&self, at: usize) -> bool {
        self.crlf.binary_search(&at).is_ok()
    }
}

/// Looks up line endings for places in ascending order; each byte is looked at once, however long the lines are.
struct Endings<'a> {
    folded: &'a Folded,
    breaks: Peekable<memchr::Memchr<'a>>,
    before: Option<usize>,
}

impl<'a> Endings<'a> {
    fn new(folded: &'a Folded) -> Self {
        Self { folded, breaks: memchr::memchr_iter(b'\n', &folded.lf).peekable(), before: None }
    }

    /// The line ending that a text put at `from` should have: that of the first line break behind it (inside what
    /// is replaced, or at the end of its line), else of the line before.
    fn at(&mut self, from: usize) -> &'static [u8] {
        while let Some(passed) = self.breaks.next_if(|at| *at < from) {
            self.before = Some(passed);
        }
        match self.breaks.peek().copied().or(self.before) {
            Some(at) if self.folded.is_crlf(at) => b"\r\n",
            _ => b"\n",
        }
    }
}

/// Where `old` occurs: every place, overlaps included, or (for `all`) one after the other.
fn find(text: &[u8], old: &[u8], all: bool) -> Vec<usize> {
    let finder = Finder::new(old);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)) {
        found.push(from + at);
        // A thousand overlapping matches are as ambiguous as a million.
        if !all && found.len() >= MAX_OVERLAPPING {
            break;
        }
        from += at + if all { old.len() } else { 1 };
    }
    found
}

const MAX_OVERLAPPING: usize = 1000;

fn line_numbers(text: &[u8], found: &[usize]) -> Vec<usize> {
    let mut line = 1;
    let mut counted = 0;
    let number = |at: &usize| {
        line += text.get(counted..*at).map_or(0, |part| memchr::memchr_iter(b'\n', part).count());
        counted = *at;
        line
    };
    found.iter().map(number).collect()
}

/// In an unknown superset of ASCII an ASCII byte may be the second half of a character. After an ASCII byte it
/// cannot be, nor can the ASCII bytes that follow.
fn is_plain(text: &[u8], found: &[usize], old: &str, new: &str) -> bool {
    let follows_ascii =
        |at: &usize| at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(u8::is_ascii);
    old.is_ascii() && new.is_ascii() && found.iter().all(follows_ascii)
}

fn splice(raw: &[u8], folded: &Folded, found: &[usize], old: &[u8], new: &[u8]) -> Vec<u8> {
    // What old and new share at both ends stays as it is in the file.
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let shared = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let tail = shared.min(old.len().min(new.len()) - head);
    let middle = new.get(head..new.len() - tail).unwrap_or_default();

    let mut changed = Vec::with_capacity(raw.len() + found.len() * new.len());
    let mut copied = 0;
    let mut endings = Endings::new(folded);
    for at in found {
        let (from, to) = (at + head, at + old.len() - tail);
        changed.extend_from_slice(raw.get(copied..folded.raw(from)).unwrap_or_default());
        let ending = endings.at(*at);
        for (i, line) in middle.split(|byte| *byte == b'\n').enumerate() {
            if i > 0 {
                changed.extend_from_slice(ending);
            }
            changed.extend_from_slice(line);
        }
        copied = folded.raw(to);
    }
    changed.extend_from_slice(raw.get(copied..).unwrap_or_default());
    changed
}

fn closest_line(text: &Text, old: &str) -> Option<(usize, String)> {
    let wanted = old.lines().find(|line| !line.trim().is_empty())?;
    let shown = text.shown();
    let lines =
        shown.lines().enumerate().take(SEARCHED_LINES).filter(|(_, line)| line.len() <= SEARCHED_LENGTH);
    let best = near::closest(wanted, lines.map(Numbered))?;
    Some((best.0.0 + 1, best.0.1.to_owned()))
}

struct Numbered<'a>((usize, &'a str));

impl AsRef<str> for Numbered<'_> {
    fn as_ref(&self) -> &str {
        self.0.1
    }
}

const SEARCHED_LINES: usize = 5000;
const SEARCHED_LENGTH: usize = 500;

#[cfg(test)]
mod tests;
