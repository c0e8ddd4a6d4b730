//! Port `SessionStore`: append-only records with one owner at a time.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Entry, Record};
use crate::clock::{Clock, Timestamp};

/// Names a session: 1 to 64 letters, digits, `-` and `_`, so that it is a file name everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    pub(crate) fn from_parts(millis: u64, random: u64) -> Self {
        Self(format!("s-{millis:012x}-{random:08x}"))
    }

    /// Stands in where the name is not known yet.
    pub(crate) fn unnamed() -> Self {
        Self("unnamed".to_owned())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = StoreError;

    fn from_str(id: &str) -> Result<Self, StoreError> {
        let fits = !id.is_empty()
            && id.len() <= 64
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if fits { Ok(Self(id.to_owned())) } else { Err(StoreError::BadId(id.chars().take(80).collect())) }
    }
}

impl TryFrom<String> for SessionId {
    type Error = StoreError;

    fn try_from(id: String) -> Result<Self, StoreError> {
        id.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Keeps sessions.
///
/// # Contract
/// - `append` is all or nothing, and is refused unless the lease is the present one and `records` continue the
///   session without a gap. That is the whole consistency contract; everything else is rebuilt from it.
/// - Fences grow with every claim of a session, for ever.
/// - With [`Durability::Sync`] the records survive a power cut once `append` has returned.
/// - `read` gives records in order, verified; it never repairs. `claim` may set aside a torn last line.
///
/// Dropping a future of this port may leave the append done or not done, never half done.
#[async_trait]
pub trait SessionStore: Send + Sync + fmt::Debug {
    /// Makes room for a session.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is one of that id.
    async fn create(&self, id: &SessionId) -> Result<(), StoreError>;

    /// Becomes the owner for `ttl`, which [`SessionStore::renew`] prolongs.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another living owner holds it; [`StoreError::Damaged`] and
    /// [`StoreError::TooNew`] when it must not be written to.
    async fn claim(&self, id: &SessionId, owner: &Owner, ttl: Duration) -> Result<Lease, StoreError>;

    /// Prolongs a lease by `ttl` from now.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] when there is a newer owner.
    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<(), StoreError>;

    /// Gives a lease back. One that is not the present one any more is no error.
    ///
    /// # Errors
    /// When it cannot be recorded; the lease then ends by its time.
    async fn release(&self, lease: &Lease) -> Result<(), StoreError>;

    /// Adds `records`, whose first must have number `expected_seq`.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] for an old lease, [`StoreError::OutOfOrder`] for a wrong number,
    /// [`StoreError::Io`] when they could not be made durable: then nothing that depends on them may happen.
    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        records: &[Record],
        durability: Durability,
    ) -> Result<(), StoreError>;

    /// Everything the session holds.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::TooNew`], [`StoreError::Io`]. Damage is part of the answer.
    async fn read(&self, id: &SessionId) -> Result<SessionLog, StoreError>;

    /// Every session, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError>;
}

/// Whether an append must survive a power cut before it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// It must.
    Sync,
    /// It may be lost with the machine, never with the process, and never reordered.
    Lazy,
}

/// The right to append, until somebody else claims the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    session: SessionId,
    fence: u64,
    repaired_bytes: u64,
}

impl Lease {
    /// Ownership number `fence` of `session`.
    #[must_use]
    pub fn new(session: SessionId, fence: u64) -> Self {
        Self { session, fence, repaired_bytes: 0 }
    }

    /// Notes that `bytes` of a torn last line were set aside.
    #[must_use]
    pub fn with_repaired(mut self, bytes: u64) -> Self {
        self.repaired_bytes = bytes;
        self
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Grows with every claim.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// How many bytes of a torn last line were set aside by this claim.
    #[must_use]
    pub fn repaired_bytes(&self) -> u64 {
        self.repaired_bytes
    }
}

/// Who drives a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub(crate) host: String,
    pub(crate) pid: u32,
    pub(crate) start: Option<u64>,
    pub(crate) token: u64,
}

impl Owner {
    /// This process; each value is an owner of its own.
    #[must_use]
    pub fn this_process() -> Self {
        super::lease::this_process()
    }
}

/// What a store holds of one session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionLog {
    pub(crate) records: Vec<Record>,
    pub(crate) torn_bytes: u64,
    pub(crate) damage: Option<Damage>,
}

impl SessionLog {
    /// A log of `records` without damage.
    #[must_use]
    pub fn new(records: Vec<Record>) -> Self {
        Self { records, torn_bytes: 0, damage: None }
    }

    /// The records, up to the first damage.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Bytes after the last whole line.
    #[must_use]
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// The first damage, if any. A damaged session can be shown and not resumed.
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }
}

/// Where a session is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Damage {
    pub(crate) line: u64,
    pub(crate) what: String,
}

/// One line about a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionSummary {
    id: SessionId,
    created: Timestamp,
    updated: Timestamp,
    records: u64,
    status: String,
    task: String,
}

impl SessionSummary {
    /// Sums up `log`; `None` when it holds no record.
    #[must_use]
    pub fn of(id: &SessionId, log: &SessionLog) -> Option<Self> {
        let (first, last) = (log.records.first()?, log.records.last()?);
        let task = log.records.iter().find_map(|record| match record.entry() {
            Entry::UserMessage { message } => Some(first_line(&message.text())),
            _ => None,
        });
        let status = match (&log.damage, last.entry()) {
            (Some(_), _) => "damaged",
            (None, Entry::RunFinished { outcome, .. }) => outcome.kind(),
            _ => "interrupted",
        };
        Some(Self {
            id: id.clone(),
            created: first.ts(),
            updated: last.ts(),
            records: log.records.len() as u64,
            status: status.to_owned(),
            task: task.unwrap_or_default(),
        })
    }

    /// The session.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// When its first record was written.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// How many records can be read.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// When its last record was written.
    #[must_use]
    pub fn updated(&self) -> Timestamp {
        self.updated
    }

    /// The last outcome's name, `interrupted` when the last run did not end, or `damaged`.
    #[must_use]
    pub fn status(&self) -> &str {
        &self.status
    }

    /// The first line of the first prompt.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(100).collect()
}

/// Why a store did not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The id cannot name a session.
    #[error("`{0}` is no session id: 1 to 64 letters, digits, `-` and `_`")]
    BadId(String),
    /// There is no such session.
    #[error("there is no session `{0}`; list the sessions to see those there are")]
    NotFound(SessionId),
    /// There is one already.
    #[error("there is a session `{0}` already; choose another id")]
    Exists(SessionId),
    /// Another owner drives it.
    #[error("session `{session}` is in use by process {pid}; wait for it to end, or stop it")]
    Busy {
        /// The session.
        session: SessionId,
        /// Its owner.
        pid: u32,
    },
    /// A newer owner has taken over; this one must stop.
    #[error("session `{0}` was taken over by another process; this one stops")]
    Fenced(SessionId),
    /// The records do not continue the session.
    #[error("session `{session}` stands at record {at}, not at {expected}; open it again")]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The next number the store would take.
        at: u64,
        /// The number that was offered.
        expected: u64,
    },
    /// The log is damaged; it was left as it is.
    #[error("session `{session}` is damaged at {damage}; it can be shown up to there, nothing was changed")]
    Damaged {
        /// The session.
        session: SessionId,
        /// Where.
        #[source]
        damage: Damage,
    },
    /// It was written by a later version.
    #[error("session `{session}` needs a newer build: {what}")]
    TooNew {
        /// The session.
        session: SessionId,
        /// What this build does not know.
        what: String,
    },
    /// A place of the session is a link, a pipe, or of another kind than it should be. Nothing was read or changed.
    #[error("`{path}` is a link or no ordinary file or folder; move it away")]
    NotAFile {
        /// The place.
        path: String,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} `{path}`: {source}; {}", what_next(source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
}

fn what_next(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "make the folder first, or name another",
        std::io::ErrorKind::StorageFull => "free some space, then resume",
        _ => "check its permissions and the space, then resume",
    }
}

/// An open session: the store, the lease, and the next number.
#[derive(Debug)]
pub(crate) struct Session {
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
    lease: Lease,
    next_seq: u64,
}

impl Session {
    pub(crate) fn new(
        store: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
        lease: Lease,
        next_seq: u64,
    ) -> Self {
        Self { store, clock, lease, next_seq }
    }

    pub(crate) fn id(&self) -> &SessionId {
        self.lease.session()
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.next_seq - 1
    }

    /// Numbers, dates and appends `entries` as one batch.
    pub(crate) async fn append(&mut self, entries: &[Arc<Entry>]) -> Result<Vec<Record>, StoreError> {
        let (ts, fence) = (self.clock.now(), self.lease.fence());
        let records: Vec<Record> = (self.next_seq..)
            .zip(entries)
            .map(|(seq, entry)| Record::new(seq, ts, fence, Arc::clone(entry)))
            .collect();
        let durability =
            if entries.iter().any(|entry| needs_sync(entry)) { Durability::Sync } else { Durability::Lazy };
        self.store.append(&self.lease, self.next_seq, &records, durability).await?;
        self.next_seq += records.len() as u64;
        Ok(records)
    }
}

/// What may be lost with the machine: nothing depends on these, or what does is synced after them.
fn needs_sync(entry: &Entry) -> bool {
    !matches!(
        entry,
        Entry::TurnStarted { .. }
            | Entry::VerdictGiven { .. }
            | Entry::TurnCut { .. }
            | Entry::RetryScheduled { .. }
            | Entry::LogRepaired { .. }
    )
}
