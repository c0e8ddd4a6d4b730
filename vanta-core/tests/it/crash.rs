//! Killed after any record, then resumed: effects at most once, one result per call, the same end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use vanta_core::effect::EffectDisposition;
use vanta_core::ledger::MemoryLedger;
use vanta_core::session::{
    Durability, Entry, Lease, MemorySessionStore, Owner, Record, SessionId, SessionLog, SessionStore,
    SessionSummary, StoreError,
};
use vanta_core::testing::ScriptedApprover;
use vanta_core::{Agent, AgentBuilder, AgentError, Outcome, Task};

use crate::support::{Planned, Probe, calls, registry, says, scope};

fn plan() -> Planned {
    Planned::new(vec![
        calls(&[("a", "look", json!({})), ("b", "make", json!({"n": 1}))]),
        calls(&[("c", "remove", json!({})), ("d", "make", json!({"n": 2}))]),
        calls(&[("e", "wipe", json!({}))]),
        says("Done."),
    ])
}

struct World {
    store: MemorySessionStore,
    ledger: MemoryLedger,
    look: Probe,
    make: Probe,
    remove: Probe,
    wipe: Probe,
}

impl World {
    fn new() -> Self {
        let (store, ledger) = (MemorySessionStore::new(), MemoryLedger::default());
        let (look, make, remove, wipe) = (Probe::look(), Probe::make(), Probe::remove(), Probe::wipe());
        Self { store, ledger, look, make, remove, wipe }
    }

    fn agent(&self) -> Agent {
        self.builder().build().unwrap()
    }

    fn builder(&self) -> AgentBuilder {
        Agent::builder()
            .provider(plan())
            .tools(registry([&self.look, &self.make, &self.remove, &self.wipe]))
            .scope(scope())
            .store(self.store.clone())
            .ledger(self.ledger.clone())
            .operator(self.ledger.clone())
            .approver(ScriptedApprover::approve_all())
    }
}

/// Keeps records until its budget of appends is used up; then every append fails, as on a full disk.
#[derive(Debug)]
struct Failing {
    inner: MemorySessionStore,
    left: AtomicUsize,
}

#[async_trait::async_trait]
impl SessionStore for Failing {
    async fn create(&self, id: &SessionId) -> Result<(), StoreError> {
        self.inner.create(id).await
    }
    async fn claim(&self, id: &SessionId, owner: &Owner, ttl: Duration) -> Result<Lease, StoreError> {
        self.inner.claim(id, owner, ttl).await
    }
    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<(), StoreError> {
        self.inner.renew(lease, ttl).await
    }
    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.inner.release(lease).await
    }
    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        records: &[Record],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let spent =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err();
        if spent {
            let source = std::io::Error::other("no space left");
            return Err(StoreError::Io { doing: "append to", path: "log".into(), source });
        }
        self.inner.append(lease, expected_seq, records, durability).await
    }
    async fn read(&self, id: &SessionId) -> Result<SessionLog, StoreError> {
        self.inner.read(id).await
    }
    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError> {
        self.inner.list().await
    }
}

/// The disk is full at any append: what depends on the record does not happen, and the resumed run costs neither a
/// second effect nor a second question.
#[tokio::test]
async fn a_full_disk_at_any_append() {
    let id: SessionId = "full".parse().unwrap();
    for appends in 1.. {
        let world = World::new();
        let approver = ScriptedApprover::approve_all();
        let store = Failing { inner: world.store.clone(), left: AtomicUsize::new(appends) };
        let full = world.builder().store(store).approver(approver.clone()).build().unwrap();
        let stopped = full.run(Task::new("Work").session_id(id.clone())).await;
        let (made, removed) = (world.make.count(), world.remove.count());
        if stopped.is_ok() {
            assert!(appends > 10, "the run appended only {appends} times");
            return;
        }
        assert!(matches!(stopped, Err(AgentError::Store(StoreError::Io { .. }))), "{stopped:?}");
        let before = world.store.read(&id).await.unwrap().records().to_vec();
        assert!(made <= started(&before, "b") + started(&before, "d"), "an effect without a record");
        assert_eq!(removed, started(&before, "c"));

        let again = world.builder().approver(approver.clone()).build().unwrap();
        let report = again.run(Task::resume(id.clone())).await.unwrap();
        assert!(matches!(report.outcome(), Outcome::Done { .. }), "{:?}", report.outcome());
        let records = world.store.read(&id).await.unwrap().records().to_vec();
        for call in ["b", "c", "d"] {
            assert_eq!(started(&records, call), 1, "call {call} with {appends} appends");
        }
        assert_eq!((world.make.count(), world.remove.count(), world.wipe.count()), (2, 1, 0));
        assert_eq!(approver.questions().len(), 1, "one act, one question, with {appends} appends");
    }
}

async fn write(store: &MemorySessionStore, id: &SessionId, records: &[Record]) {
    store.create(id).await.unwrap();
    let lease = store.claim(id, &Owner::this_process(), Duration::ZERO).await.unwrap();
    let records: Vec<Record> = records
        .iter()
        .map(|r| Record::new(r.seq(), r.ts(), lease.fence(), Arc::new(r.entry().clone())))
        .collect();
    store.append(&lease, 1, &records, Durability::Sync).await.unwrap();
    store.release(&lease).await.unwrap();
}

/// How often each call of class effect had started in `records`.
fn started(records: &[Record], id: &str) -> usize {
    let begins = |r: &&Record| matches!(r.entry(), Entry::ToolStarted { call, .. } if call.as_str() == id);
    records.iter().filter(begins).count()
}

#[tokio::test]
async fn killed_after_any_record() {
    let clean = World::new();
    let id: SessionId = "clean".parse().unwrap();
    let report = clean.agent().run(Task::new("Work").session_id(id.clone())).await.unwrap();
    assert_eq!(report.text(), Some("Done."));
    let all = clean.store.read(&id).await.unwrap().records().to_vec();
    assert_eq!((clean.make.count(), clean.remove.count(), clean.wipe.count()), (2, 1, 0));

    // A session without any record holds nothing to resume; from the second on, every prefix must go on.
    for cut in 2..=all.len() {
        let world = World::new();
        let id: SessionId = format!("cut-{cut}").parse().unwrap();
        // The ids are part of bindings and keys, so the prefix is replayed under the id it was written for.
        let id = if all.is_empty() { id } else { "clean".parse().unwrap() };
        write(&world.store, &id, &all[..cut]).await;
        let report = world.agent().run(Task::resume(id.clone())).await.unwrap();
        let records = world.store.read(&id).await.unwrap().records().to_vec();
        for (call, effects) in [("b", &world.make), ("d", &world.make), ("c", &world.remove)] {
            let before = started(&all[..cut], call);
            let in_all = started(&records, call);
            assert!(in_all <= 1, "call {call} started {in_all} times with a cut at {cut}");
            assert!(before + effects.count() <= 3);
        }
        let once_in_the_world = started(&all[..cut], "b") + started(&all[..cut], "d") + world.make.count();
        assert_eq!(once_in_the_world, 2, "cut at {cut}");
        assert_eq!(world.wipe.count(), 0);
        assert!(matches!(report.outcome(), Outcome::Done { .. }), "cut at {cut}: {:?}", report.outcome());
        for call in ["a", "b", "c", "d", "e"] {
            let settled =
                |r: &&Record| matches!(r.entry(), Entry::ToolSettled { call: c, .. } if c.as_str() == call);
            assert_eq!(records.iter().filter(settled).count(), 1, "call {call}, cut at {cut}");
        }
        assert_unknown_where_it_is(&all[..cut], &records, cut);
    }
}

/// A started effect without a result is `unknown`, nothing else is.
fn assert_unknown_where_it_is(prefix: &[Record], after: &[Record], cut: usize) {
    for call in ["b", "c", "d"] {
        let settled_before = prefix
            .iter()
            .any(|r| matches!(r.entry(), Entry::ToolSettled { call: c, .. } if c.as_str() == call));
        let doubtful = started(prefix, call) == 1 && !settled_before;
        let unknown = after.iter().any(|r| {
            matches!(r.entry(), Entry::ToolSettled { call: c, disposition: EffectDisposition::Unknown, .. } if c.as_str() == call)
        });
        assert_eq!(doubtful, unknown, "call {call}, cut at {cut}");
    }
}
