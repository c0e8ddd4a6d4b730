//! Keys: a type that never shows itself, and the removal of keys from text that others wrote.

use std::fmt;
use std::sync::Arc;

/// What stands in for a key wherever text is shown.
const MASK: &str = "[secret]";
/// A piece of a key this long gives it away; shorter ones appear by chance.
const TELLING: usize = 8;

/// A key or token. Neither `Debug` nor `Display` shows it, and it cannot be serialised.
///
/// ```
/// use vanta_providers::Secret;
///
/// let key = Secret::new("sk-very-private");
/// assert_eq!(format!("{key} {key:?}"), "[secret] [secret]");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Keeps `text`.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The key itself, for the header it belongs in.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with every word masked that shows a telling piece of this secret.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let whole = text.replace(&*self.0, MASK);
        whole.split_inclusive(is_break).map(|word| self.scrub_word(word)).collect()
    }

    fn scrub_word(&self, word: &str) -> String {
        let (stem, end) = match word.char_indices().next_back() {
            Some((at, last)) if is_break(last) => word.split_at_checked(at).unwrap_or((word, "")),
            _ => (word, ""),
        };
        let telling = self
            .0
            .as_bytes()
            .windows(TELLING)
            .any(|piece| memchr::memmem::find(stem.as_bytes(), piece).is_some());
        if telling { format!("{MASK}{end}") } else { word.to_owned() }
    }
}

/// Keys are words of letters, digits, `-`, `_`, `.`, `*` and the like; these characters end one.
fn is_break(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')' | '{' | '}' | '[' | ']' | '=' | '&' | '?'
        )
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_partial_echoes_are_masked() {
        let key = Secret::new("sk-test-THEKEY-0123456789");
        assert_eq!(key.scrub("bad key `sk-test-THEKEY-0123456789`."), "bad key `[secret]`.");
        assert_eq!(key.scrub("key: sk-test-THE****, try again"), "key: [secret], try again");
        assert_eq!(key.scrub("nothing to hide: test"), "nothing to hide: test");
        assert_eq!(Secret::new("").scrub("as it is"), "as it is");
        assert_eq!(Secret::new("abc").scrub("xabcx"), "x[secret]x");
    }
}
