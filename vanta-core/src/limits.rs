//! How much a run may use. Every limit is checked before the call it bounds, and ends in a named outcome.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The budget of a session; what earlier processes used counts.
///
/// ```
/// use std::time::Duration;
/// use vanta_core::Limits;
///
/// let limits = Limits::default().turns(10).wall_clock(Duration::from_secs(300));
/// # let _ = limits;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub(crate) turns: u32,
    pub(crate) tool_calls: Option<u32>,
    pub(crate) tokens: Option<u64>,
    pub(crate) wall_clock: Option<Duration>,
    pub(crate) empty_results: u32,
    pub(crate) failures: u32,
    pub(crate) tool_timeout: Duration,
    pub(crate) output_bytes: usize,
}

impl Default for Limits {
    /// 50 turns, 3 empty tool results in a row, 8 failed or denied calls in a row, ten minutes for one tool
    /// attempt, 128 KiB of output a call; no limit on tool calls, tokens and time.
    fn default() -> Self {
        Self {
            turns: 50,
            tool_calls: None,
            tokens: None,
            wall_clock: None,
            empty_results: 3,
            failures: 8,
            tool_timeout: Duration::from_secs(600),
            output_bytes: 128 * 1024,
        }
    }
}

impl Limits {
    /// Most model calls.
    #[must_use]
    pub fn turns(mut self, turns: u32) -> Self {
        self.turns = turns;
        self
    }

    /// Most tool executions.
    #[must_use]
    pub fn tool_calls(mut self, calls: u32) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// Most tokens, input and output together, as reported by the provider.
    #[must_use]
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Longest time at work. Waiting for an approval between processes does not count. What is under way when it is over
    /// is stopped as by a cancellation.
    #[must_use]
    pub fn wall_clock(mut self, limit: Duration) -> Self {
        self.wall_clock = Some(limit);
        self
    }

    /// How many empty tool results in a row end the run as stalled.
    #[must_use]
    pub fn empty_results(mut self, count: u32) -> Self {
        self.empty_results = count;
        self
    }

    /// How many failed, denied or blocked calls in a row end the run.
    #[must_use]
    pub fn failures(mut self, count: u32) -> Self {
        self.failures = count;
        self
    }

    /// Time limit of one tool attempt, for tools that set none.
    #[must_use]
    pub fn tool_timeout(mut self, limit: Duration) -> Self {
        self.tool_timeout = limit;
        self
    }

    /// Most bytes of one tool's output; a longer one keeps head and tail and says so.
    #[must_use]
    pub fn output_bytes(mut self, bytes: usize) -> Self {
        self.output_bytes = bytes;
        self
    }
}

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::turns`].
    Turns,
    /// [`Limits::tool_calls`].
    ToolCalls,
    /// [`Limits::tokens`].
    Tokens,
    /// [`Limits::wall_clock`].
    WallClock,
}
