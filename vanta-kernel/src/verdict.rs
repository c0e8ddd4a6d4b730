//! The kernel's answer, with a stable rule code, a sentence and the part that decided.

use alloc::borrow::Cow;
use core::fmt;
use core::ops::Range;

/// Changes with any change of any verdict.
pub const POLICY_VERSION: u32 = 1;

/// How strict an answer is. Ordered: `Allow < Ask < Block`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must break every match")]
pub enum Risk {
    /// Runs without a person.
    Allow,
    /// Waits for a person.
    Ask,
    /// Never executes.
    Block,
}

impl Risk {
    /// The lower-case word used on every wire and in every file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    /// The inverse of [`Risk::as_str`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "ask" => Some(Self::Ask),
            "block" => Some(Self::Block),
            _ => None,
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a verdict was given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    rule: Cow<'static, str>,
    reason: Cow<'static, str>,
    span: Range<usize>,
}

impl Finding {
    /// A finding by rule `rule`, in one plain sentence, about bytes `span` of the judged text.
    pub fn new(
        rule: impl Into<Cow<'static, str>>,
        reason: impl Into<Cow<'static, str>>,
        span: Range<usize>,
    ) -> Self {
        Self { rule: rule.into(), reason: reason.into(), span }
    }

    /// Stable code such as `delete.scope`.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// One sentence that names the word and why it decided.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Byte range of the part that decided, in the command, path, address or line that was judged.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// May it run? Ordered by strictness, exhaustive on purpose: a new answer must break every `match`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must break every match")]
pub enum Verdict {
    /// In scope, reversible, no risk: it runs.
    Allow(Finding),
    /// A person sees it first.
    Ask(Finding),
    /// It never executes.
    Block(Finding),
}

impl Verdict {
    /// A verdict of strictness `risk`.
    #[must_use]
    pub fn new(risk: Risk, finding: Finding) -> Self {
        match risk {
            Risk::Allow => Self::Allow(finding),
            Risk::Ask => Self::Ask(finding),
            Risk::Block => Self::Block(finding),
        }
    }

    /// How strict this verdict is.
    #[must_use]
    pub fn risk(&self) -> Risk {
        match self {
            Self::Allow(_) => Risk::Allow,
            Self::Ask(_) => Risk::Ask,
            Self::Block(_) => Risk::Block,
        }
    }

    /// Why.
    #[must_use]
    pub fn finding(&self) -> &Finding {
        match self {
            Self::Allow(finding) | Self::Ask(finding) | Self::Block(finding) => finding,
        }
    }

    /// The stricter of two verdicts; of equals, the first.
    ///
    /// ```
    /// use vanta_kernel::{Finding, Risk, Verdict};
    ///
    /// let ask = Verdict::Ask(Finding::new("delete.scope", "`rm` deletes a file", 0..2));
    /// let allow = Verdict::Allow(Finding::new("read.scope", "reads inside the scope", 0..2));
    /// assert_eq!(allow.strictest(ask).risk(), Risk::Ask);
    /// ```
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        if other.risk() > self.risk() { other } else { self }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.risk(), self.finding().rule(), self.finding().reason())
    }
}
