//! When to send a request to a model again, and after how long. Pure: whoever asks does the waiting.
//!
//! The loop asks this for every failed model call, and `vanta_providers::Retry` does for callers without a loop.
//! Nothing here ever repeats a tool.

use std::time::Duration;

use crate::provider::{ErrorClass, ProviderError};

/// How often to try again, and how long to wait in between.
///
/// The wait doubles with every attempt and is drawn between nothing and that, so that many agents do not come
/// back at once. What the service asks for is the least wait; if it asks for more than the limit, trying again is
/// given up, and the error keeps the hint. The same seed draws the same waits.
///
/// ```
/// use std::time::Duration;
/// use vanta_core::provider::{ErrorClass, ProviderError};
/// use vanta_core::retry::RetryPolicy;
///
/// let policy = RetryPolicy::new();
/// let busy = ProviderError::new(ErrorClass::RateLimited, "busy").with_retry_after(Duration::from_secs(3));
/// assert!(policy.wait(0, &busy).is_some_and(|wait| wait >= Duration::from_secs(3)));
/// assert_eq!(policy.wait(2, &busy), None);
///
/// let wrong_key = ProviderError::new(ErrorClass::Auth, "wrong key");
/// assert_eq!(policy.wait(0, &wrong_key), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    max_retries: u32,
    base: Duration,
    limit: Duration,
    seed: u64,
}

impl RetryPolicy {
    /// Two retries, half a second before the first, never more than a minute.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_retries: 2, base: Duration::from_millis(500), limit: Duration::from_secs(60), seed: 0 }
    }

    /// No retries.
    #[must_use]
    pub const fn never() -> Self {
        Self { max_retries: 0, ..Self::new() }
    }

    /// Sets how often to try again.
    #[must_use]
    pub const fn with_max_retries(mut self, times: u32) -> Self {
        self.max_retries = times;
        self
    }

    /// Sets the longest wait before the first retry; it doubles for each further one.
    #[must_use]
    pub const fn with_base(mut self, wait: Duration) -> Self {
        self.base = wait;
        self
    }

    /// Sets the longest wait of all. A service that asks for more ends the retries.
    #[must_use]
    pub const fn with_limit(mut self, wait: Duration) -> Self {
        self.limit = wait;
        self
    }

    /// Sets what the waits are drawn with: give each agent its own.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How long to wait before trying again after `error`, when `retries` retries have been made; `None` to give up.
    ///
    /// Gives up on errors that are not retryable, on an answer that made no sense a second time, and on one that
    /// had already shown something: a repetition would be shown, and paid, twice.
    #[must_use]
    pub fn wait(&self, retries: u32, error: &ProviderError) -> Option<Duration> {
        let visible = error.partial().is_some_and(|partial| !partial.parts().is_empty());
        let most = match error.class() {
            ErrorClass::MalformedResponse => self.max_retries.min(1),
            ErrorClass::MalformedToolCall => self.max_retries.min(2),
            _ => self.max_retries,
        };
        if !error.is_retryable() || visible || retries >= most {
            return None;
        }
        match error.retry_after() {
            Some(hint) if hint > self.limit => None,
            // A little more than asked for, or everybody is back at the same moment.
            Some(hint) => {
                Some(hint.saturating_add(self.draw(retries, self.base.min(hint) / 4)).min(self.limit))
            }
            None => {
                let doubled = self.base.saturating_mul(1_u32.checked_shl(retries).unwrap_or(u32::MAX));
                Some(self.draw(retries, doubled.min(self.limit)))
            }
        }
    }

    /// A duration between nothing and `most`.
    fn draw(&self, retries: u32, most: Duration) -> Duration {
        // SplitMix64, of which the upper 32 bits are taken as a fraction.
        let mut bits =
            self.seed.wrapping_add(u64::from(retries).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let fraction = (bits >> 32) as f64 / f64::from(u32::MAX);
        most.mul_f64(fraction.min(1.0))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    fn error(class: ErrorClass) -> ProviderError {
        ProviderError::new(class, "x")
    }

    #[test]
    fn waits_grow_up_to_the_limit_and_end_with_the_retries() {
        let policy = RetryPolicy::new().with_max_retries(40).with_limit(Duration::from_secs(8));
        for retries in 0..40 {
            let most = Duration::from_millis(500).saturating_mul(1 << retries.min(4));
            assert!(policy.wait(retries, &error(ErrorClass::Overloaded)).unwrap() <= most);
        }
        assert_eq!(policy.wait(40, &error(ErrorClass::Overloaded)), None);
        let (first, second) = (policy.with_seed(1), policy.with_seed(2));
        let wait = |policy: RetryPolicy| policy.wait(3, &error(ErrorClass::Timeout));
        assert_eq!(wait(first), wait(first));
        assert_ne!(wait(first), wait(second));
    }

    #[test]
    fn a_hint_is_a_floor_and_one_above_the_limit_the_end() {
        let policy = RetryPolicy::new().with_limit(Duration::from_secs(5));
        let hinted = |seconds| error(ErrorClass::RateLimited).with_retry_after(Duration::from_secs(seconds));
        for seed in 0..100 {
            let wait = policy.with_seed(seed).wait(0, &hinted(4)).unwrap();
            assert!((4.0..=5.0).contains(&wait.as_secs_f64()), "{wait:?}");
        }
        assert_eq!(policy.wait(0, &hinted(5)), Some(Duration::from_secs(5)));
        assert_eq!(policy.wait(0, &hinted(6)), None);
        assert_eq!(policy.wait(0, &hinted(0)), Some(Duration::ZERO));
    }

    #[test]
    fn some_failures_are_not_repeated_or_only_once() {
        let policy = RetryPolicy::new().with_max_retries(9);
        assert_eq!(policy.wait(0, &error(ErrorClass::InvalidRequest)), None);
        assert_eq!(policy.wait(0, &error(ErrorClass::ServerError).with_retryable(false)), None);
        assert!(policy.wait(0, &error(ErrorClass::InvalidRequest).with_retryable(true)).is_some());
        assert!(policy.wait(0, &error(ErrorClass::MalformedResponse)).is_some());
        assert_eq!(policy.wait(1, &error(ErrorClass::MalformedResponse)), None);
        assert_eq!(policy.wait(2, &error(ErrorClass::MalformedToolCall)), None);
        let shown = error(ErrorClass::Transport).with_partial(Message::assistant("Hel"));
        assert_eq!(policy.wait(0, &shown), None);
        assert_eq!(RetryPolicy::never().wait(0, &error(ErrorClass::Timeout)), None);
    }
}
