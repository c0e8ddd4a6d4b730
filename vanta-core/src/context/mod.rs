//! What the model is told: the system prompt in three tiers of stability.
//!
//! The tiers are data, not one text: a provider places its cache marks at their ends, and the first tier's
//! bytes do not change within a session.

use std::fmt::Write as _;
use std::sync::Arc;

use vanta_kernel::sha256;

/// The system prompt, from what never changes to what changes every turn.
///
/// ```
/// use vanta_core::context::Prompt;
///
/// let prompt = Prompt::new("You are careful.").with_volatile("Two turns are left.");
/// assert_eq!(prompt.text(), "You are careful.\n\nTwo turns are left.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    stable: Arc<str>,
    recall: Arc<str>,
    volatile: Arc<str>,
}

impl Prompt {
    /// A prompt whose stable tier reads `stable`: identity, working folder, rules.
    pub fn new(stable: impl Into<Arc<str>>) -> Self {
        Self { stable: stable.into(), ..Self::default() }
    }

    /// Sets the recall tier: memory, skills, project instructions.
    #[must_use]
    pub fn with_recall(mut self, text: impl Into<Arc<str>>) -> Self {
        self.recall = text.into();
        self
    }

    /// Sets the volatile tier: goal, time, budget.
    #[must_use]
    pub fn with_volatile(mut self, text: impl Into<Arc<str>>) -> Self {
        self.volatile = text.into();
        self
    }

    /// The tiers that are not empty, in order.
    pub fn tiers(&self) -> impl Iterator<Item = &str> {
        [&self.stable, &self.recall, &self.volatile]
            .into_iter()
            .map(AsRef::as_ref)
            .filter(|t: &&str| !t.is_empty())
    }

    /// All tiers as one text, for endpoints that know only one.
    #[must_use]
    pub fn text(&self) -> String {
        self.tiers().collect::<Vec<_>>().join("\n\n")
    }

    /// SHA-256 of the stable tier in hex: equal as long as the prefix is.
    #[must_use]
    pub fn prefix_hash(&self) -> String {
        sha256::sha256(self.stable.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}
