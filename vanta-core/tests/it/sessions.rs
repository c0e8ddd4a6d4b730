//! Both stores against one contract, and what the file store does with damage.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use vanta_core::Message;
use vanta_core::clock::Timestamp;
use vanta_core::session::{
    Durability, Entry, FileSessionStore, MemorySessionStore, Owner, Record, SessionId, SessionStore,
    StoreError,
};

const TTL: Duration = Duration::from_secs(60);

fn id(name: &str) -> SessionId {
    name.parse().unwrap()
}

fn records(from: u64, count: u64) -> Vec<Record> {
    let entry = |n| Arc::new(Entry::UserMessage { message: Message::user(format!("message {n}")) });
    (from..from + count).map(|n| Record::new(n, Timestamp::from_millis(1_000 + n), 1, entry(n))).collect()
}

async fn contract(store: &dyn SessionStore) {
    let (one, other) = (Owner::this_process(), Owner::this_process());
    store.create(&id("a")).await.unwrap();
    assert!(matches!(store.create(&id("a")).await, Err(StoreError::Exists(_))));
    assert!(matches!(store.read(&id("b")).await, Err(StoreError::NotFound(_))));
    assert!(matches!(store.claim(&id("b"), &one, TTL).await, Err(StoreError::NotFound(_))));

    let lease = store.claim(&id("a"), &one, TTL).await.unwrap();
    assert!(matches!(store.claim(&id("a"), &other, TTL).await, Err(StoreError::Busy { .. })));
    store.append(&lease, 1, &records(1, 3), Durability::Sync).await.unwrap();
    let wrong = store.append(&lease, 1, &records(1, 1), Durability::Sync).await;
    assert!(matches!(wrong, Err(StoreError::OutOfOrder { at: 4, expected: 1, .. })));
    store.renew(&lease, TTL).await.unwrap();
    store.append(&lease, 4, &records(4, 1), Durability::Lazy).await.unwrap();
    assert_eq!(store.read(&id("a")).await.unwrap().records(), records(1, 4));

    store.release(&lease).await.unwrap();
    let next = store.claim(&id("a"), &other, Duration::ZERO).await.unwrap();
    assert!(next.fence() > lease.fence());
    let third = store.claim(&id("a"), &one, TTL).await.unwrap();
    assert!(third.fence() > next.fence(), "an expired lease is replaced");
    for stale in [&lease, &next] {
        let refused = store.append(stale, 5, &records(5, 1), Durability::Sync).await;
        assert!(matches!(refused, Err(StoreError::Fenced(_))));
        assert!(matches!(store.renew(stale, TTL).await, Err(StoreError::Fenced(_))));
    }
    store.release(&next).await.unwrap();
    store.append(&third, 5, &records(5, 1), Durability::Sync).await.unwrap();
    assert_eq!(store.read(&id("a")).await.unwrap().records().len(), 5);
    assert_eq!(store.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    contract(&MemorySessionStore::new()).await;
}

#[tokio::test]
async fn files_keep_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    contract(&FileSessionStore::open(dir.path()).unwrap()).await;
}

/// A session of four records, and the bytes of its log.
async fn written(store: &FileSessionStore) -> Vec<u8> {
    store.create(&id("s")).await.unwrap();
    let lease = store.claim(&id("s"), &Owner::this_process(), TTL).await.unwrap();
    store.append(&lease, 1, &records(1, 4), Durability::Sync).await.unwrap();
    store.release(&lease).await.unwrap();
    fs::read(store.path_of(&id("s")).join("log.jsonl")).unwrap()
}

#[tokio::test]
async fn a_log_cut_anywhere_in_its_last_two_records_opens_with_the_whole_lines_before_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&FileSessionStore::open(dir.path()).unwrap()).await;
    let log = dir.path().join("s/log.jsonl");
    let two_from_the_end = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').rev().nth(2).unwrap().0;
    for cut in std::iter::once(0).chain(two_from_the_end..bytes.len()) {
        fs::write(&log, &bytes[..cut]).unwrap();
        let whole = bytes[..cut].iter().filter(|b| **b == b'\n').count() as u64;
        let end = bytes[..cut].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let store = FileSessionStore::open(dir.path()).unwrap();
        let lease = store.claim(&id("s"), &Owner::this_process(), TTL).await.unwrap();
        assert_eq!(lease.repaired_bytes(), (cut - end) as u64);
        store.append(&lease, whole + 1, &records(whole + 1, 1), Durability::Sync).await.unwrap();
        store.release(&lease).await.unwrap();
        assert_eq!(store.read(&id("s")).await.unwrap().records().len() as u64, whole + 1);
        let kept: usize = match fs::read_dir(dir.path().join("s/quarantine")) {
            Ok(entries) => entries.map(|e| e.unwrap().metadata().unwrap().len() as usize).sum(),
            Err(_) => 0,
        };
        assert_eq!(kept, cut - end, "what was cut is kept");
        let _ = fs::remove_dir_all(dir.path().join("s/quarantine"));
    }
}

#[tokio::test]
async fn damage_anywhere_else_refuses_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = FileSessionStore::open(dir.path()).unwrap();
    let bytes = written(&store).await;
    let log = dir.path().join("s/log.jsonl");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let mut damaged = vec![
        [lines[0], lines[2], lines[3]].concat(),
        [lines[0], lines[2], lines[1], lines[3]].concat(),
        [lines[0], lines[1], lines[1], lines[2]].concat(),
        [lines[0], b"\n".as_slice(), lines[1]].concat(),
    ];
    // One flipped bit in every byte of every line but the newlines, which would tear the tail instead.
    for at in (0..bytes.len()).filter(|at| bytes[*at] != b'\n') {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x04;
        if flipped[at] != b'\n' {
            damaged.push(flipped);
        }
    }
    for copy in damaged {
        fs::write(&log, &copy).unwrap();
        let refused = store.claim(&id("s"), &Owner::this_process(), TTL).await;
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
        assert_eq!(fs::read(&log).unwrap(), copy, "left as it is");
        let shown = store.read(&id("s")).await.unwrap();
        assert!(shown.damage().is_some() && shown.records().len() < 4);
    }
}

#[tokio::test]
async fn a_newer_session_is_refused_and_an_unknown_note_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = FileSessionStore::open(dir.path()).unwrap();
    written(&store).await;
    let log = dir.path().join("s/log.jsonl");
    let line = |seq: u64, crit: bool| {
        let text = format!(
            r#"{{"seq":{seq},"ts":1,"fence":9,"kind":"from_the_future","crit":{crit},"body":{{"x":1}}"#
        );
        format!("{text},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(text.as_bytes()))
    };
    let old = fs::read_to_string(&log).unwrap();
    fs::write(&log, old.clone() + &line(5, true)).unwrap();
    let refused = store.claim(&id("s"), &Owner::this_process(), TTL).await;
    assert!(matches!(refused, Err(StoreError::TooNew { .. })), "{refused:?}");

    fs::write(&log, old + &line(5, false)).unwrap();
    let lease = store.claim(&id("s"), &Owner::this_process(), TTL).await.unwrap();
    store.append(&lease, 6, &records(6, 1), Durability::Sync).await.unwrap();
    let kept = store.read(&id("s")).await.unwrap();
    assert_eq!(kept.records()[4].entry().kind(), "from_the_future");
    assert_eq!(kept.records().len(), 6);
}

/// The file of this format version as it was first released. It must load in every later build, and a build of this
/// version writes the same bytes.
#[tokio::test]
async fn the_golden_session_loads_and_is_written_alike() {
    let dir = tempfile::tempdir().unwrap();
    let store = FileSessionStore::open(dir.path()).unwrap();
    store.create(&id("golden")).await.unwrap();
    let golden = include_bytes!("../golden/session-v1.jsonl");
    fs::write(dir.path().join("golden/log.jsonl"), golden).unwrap();
    let log = store.read(&id("golden")).await.unwrap();
    assert_eq!(log.damage(), None);
    let kinds: Vec<_> = log.records().iter().map(|record| record.entry().kind().to_owned()).collect();
    assert_eq!((kinds[0].as_str(), kinds[kinds.len() - 1].as_str()), ("session_created", "run_finished"));

    store.create(&id("again")).await.unwrap();
    let lease = store.claim(&id("again"), &Owner::this_process(), TTL).await.unwrap();
    store.append(&lease, 1, log.records(), Durability::Sync).await.unwrap();
    let written = fs::read(dir.path().join("again/log.jsonl")).unwrap();
    assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(golden));
}

/// What came with a clone may be a link to anywhere, or a pipe: it is neither read nor changed, and nothing hangs.
#[tokio::test]
async fn planted_links_and_pipes_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o755)).unwrap();
    let token = victim.join("token");
    fs::write(&token, "secret without a newline").unwrap();

    symlink(&victim, dir.path().join("sessions")).unwrap();
    assert!(matches!(FileSessionStore::open(dir.path().join("sessions")), Err(StoreError::NotAFile { .. })));
    assert_eq!(fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o755, "looking changes nothing");

    let store = FileSessionStore::open(dir.path().join("own")).unwrap();
    store.create(&id("evil")).await.unwrap();
    let log = store.path_of(&id("evil")).join("log.jsonl");
    for plant in ["link", "pipe"] {
        fs::remove_file(&log).unwrap();
        match plant {
            "link" => symlink(&token, &log).unwrap(),
            _ => drop(std::process::Command::new("mkfifo").arg(&log).status().unwrap()),
        }
        let claimed = store.claim(&id("evil"), &Owner::this_process(), TTL).await;
        assert!(matches!(claimed, Err(StoreError::NotAFile { .. })), "{plant}: {claimed:?}");
        assert!(matches!(store.read(&id("evil")).await, Err(StoreError::NotAFile { .. })));
        assert_eq!(store.list().await.unwrap().len(), 0);
    }
    symlink(&victim, store.path_of(&id("linked"))).unwrap();
    assert!(matches!(store.read(&id("linked")).await, Err(StoreError::NotAFile { .. })));
    assert_eq!(fs::read_to_string(&token).unwrap(), "secret without a newline");

    let receipts = dir.path().join("tool-effects.jsonl");
    symlink(&token, &receipts).unwrap();
    assert!(vanta_core::effect::FileReceipts::open(&receipts).is_err());
}

/// A file that holds no whole record is not a session that was cut off.
#[tokio::test]
async fn a_file_without_a_record_is_not_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let store = FileSessionStore::open(dir.path()).unwrap();
    store.create(&id("s")).await.unwrap();
    fs::write(dir.path().join("s/log.jsonl"), "anything").unwrap();
    let refused = store.claim(&id("s"), &Owner::this_process(), TTL).await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(dir.path().join("s/log.jsonl")).unwrap(), "anything");
}
