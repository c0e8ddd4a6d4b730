//! Sessions that live as long as the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::{
    Durability, Lease, Owner, Record, SessionId, SessionLog, SessionStore, SessionSummary, StoreError,
};

/// Keeps sessions in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemorySessionStore(Arc<Mutex<BTreeMap<SessionId, Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    records: Vec<Record>,
    fence: u64,
    owner: Option<(Owner, Instant)>,
}

impl MemorySessionStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Kept) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        act(self.sessions().get_mut(id).ok_or_else(|| StoreError::NotFound(id.clone()))?)
    }
}

#[async_trait]
impl SessionStore for MemorySessionStore {
    async fn create(&self, id: &SessionId) -> Result<(), StoreError> {
        let mut sessions = self.sessions();
        if sessions.contains_key(id) {
            return Err(StoreError::Exists(id.clone()));
        }
        sessions.insert(id.clone(), Kept::default());
        Ok(())
    }

    async fn claim(&self, id: &SessionId, owner: &Owner, ttl: Duration) -> Result<Lease, StoreError> {
        self.with(id, |kept| {
            if let Some((other, until)) = &kept.owner
                && *until > Instant::now()
                && other != owner
            {
                return Err(StoreError::Busy { session: id.clone(), pid: other.pid });
            }
            kept.fence += 1;
            kept.owner = Some((owner.clone(), Instant::now() + ttl));
            Ok(Lease::new(id.clone(), kept.fence))
        })
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<(), StoreError> {
        self.with(lease.session(), |kept| {
            if kept.fence != lease.fence() {
                return Err(StoreError::Fenced(lease.session().clone()));
            }
            if let Some((_, until)) = &mut kept.owner {
                *until = Instant::now() + ttl;
            }
            Ok(())
        })
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.with(lease.session(), |kept| {
            if kept.fence == lease.fence() {
                kept.owner = None;
            }
            Ok(())
        })
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        records: &[Record],
        _: Durability,
    ) -> Result<(), StoreError> {
        self.with(lease.session(), |kept| {
            if kept.fence != lease.fence() {
                return Err(StoreError::Fenced(lease.session().clone()));
            }
            let at = kept.records.len() as u64 + 1;
            if at != expected_seq {
                return Err(StoreError::OutOfOrder {
                    session: lease.session().clone(),
                    at,
                    expected: expected_seq,
                });
            }
            kept.records.extend_from_slice(records);
            Ok(())
        })
    }

    async fn read(&self, id: &SessionId) -> Result<SessionLog, StoreError> {
        self.with(id, |kept| Ok(SessionLog::new(kept.records.clone())))
    }

    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError> {
        let sessions = self.sessions();
        Ok(sessions
            .iter()
            .filter_map(|(id, kept)| SessionSummary::of(id, &SessionLog::new(kept.records.clone())))
            .collect())
    }
}
