//! Time and ids come from outside, so that a replay can be byte-identical.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::session::SessionId;

/// Milliseconds since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// `millis` after 1970 began.
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// Time since `earlier`; zero when that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This moment and `wait` more.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Tells the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::default().after(since)
    }
}

/// Names new sessions.
pub trait IdSource: Send + Sync + fmt::Debug {
    /// A session id never given before, for a session that begins `now`.
    fn session_id(&self, now: Timestamp) -> SessionId;
}

/// Ids that sort by time: milliseconds in hex, then 32 random bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn session_id(&self, now: Timestamp) -> SessionId {
        // `RandomState` is seeded by the operating system; no further source of randomness is needed for a name.
        let random = RandomState::new().build_hasher().finish() & 0xffff_ffff;
        SessionId::from_parts(now.as_millis(), random)
    }
}
