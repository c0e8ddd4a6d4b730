//! Sessions as files: the default store.
//!
//! ```text
//! <dir>/<id>/  LOCK (the lease) · log.jsonl (append-only) · quarantine/ (bytes cut from a torn tail)
//! ```
//!
//! The operating system's lock on `log.jsonl` is held for one append or one change of the lease, never longer. An
//! append is one write, then a data sync. A process kill loses nothing that `append` acknowledged; a power cut
//! loses nothing acknowledged with [`Durability::Sync`].

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use vanta_kernel::store::{StoreError as KernelError, make_folder, open_file, sync_folder};

use super::Record;
use super::frame;
use super::lease::LeaseFile;
use super::store::{
    Damage, Durability, Lease, Owner, SessionId, SessionLog, SessionStore, SessionSummary, StoreError,
};
use crate::clock::{Clock, SystemClock};

/// Keeps each session in a folder of its own below one folder.
///
/// ```no_run
/// use vanta_core::session::FileSessionStore;
///
/// let store = FileSessionStore::open("project/.vanta/sessions")?;
/// # let _ = store;
/// # Ok::<(), vanta_core::session::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileSessionStore {
    dir: PathBuf,
    /// Where each log this process appends to ends: a different length means that somebody else wrote.
    ends: Arc<Mutex<HashMap<SessionId, End>>>,
}

#[derive(Debug, Clone, Copy)]
struct End {
    bytes: u64,
    next_seq: u64,
}

impl FileSessionStore {
    /// Keeps sessions below `dir`, which is made, readable by this user only.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let dir = dir.into();
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(|source| io_error("make", parent, source))?;
        }
        make_folder(&dir).map_err(of_kernel)?;
        Ok(Self { dir, ends: Arc::default() })
    }

    /// The folder of session `id`.
    #[must_use]
    pub fn path_of(&self, id: &SessionId) -> PathBuf {
        self.dir.join(id.as_str())
    }

    fn log_path(&self, id: &SessionId) -> PathBuf {
        self.path_of(id).join("log.jsonl")
    }

    /// Opens the log for appending and takes the operating system's lock on it, until the file is dropped.
    fn lock(&self, id: &SessionId) -> Result<File, StoreError> {
        let file = self.open_log(id, OpenOptions::new().read(true).append(true))?;
        file.lock().map_err(|source| io_error("lock", &self.log_path(id), source))?;
        Ok(file)
    }

    /// Opens the log of a session whose folder is a folder: what came with a clone may be a link to anywhere.
    fn open_log(&self, id: &SessionId, options: &mut OpenOptions) -> Result<File, StoreError> {
        let dir = self.path_of(id);
        match fs::symlink_metadata(&dir) {
            Ok(found) if !found.is_dir() => {
                return Err(StoreError::NotAFile { path: dir.display().to_string() });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NotFound(id.clone()));
            }
            _ => {}
        }
        open_file(&self.log_path(id), options).map_err(|error| match of_kernel(error) {
            StoreError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                StoreError::NotFound(id.clone())
            }
            other => other,
        })
    }

    fn lease_path(&self, id: &SessionId) -> PathBuf {
        self.path_of(id).join("LOCK")
    }

    fn lease(&self, id: &SessionId) -> Result<Option<LeaseFile>, StoreError> {
        let path = self.lease_path(id);
        let file = match open_file(&path, OpenOptions::new().read(true)) {
            Err(KernelError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            opened => opened.map_err(of_kernel)?,
        };
        LeaseFile::read(file).map(Some).map_err(|source| io_error("read", &path, source))
    }

    fn set_lease(&self, id: &SessionId, lease: &LeaseFile) -> Result<(), StoreError> {
        let path = self.lease_path(id);
        let fresh = path.with_extension("new");
        let options = &mut OpenOptions::new();
        let file = open_file(&fresh, options.write(true).create(true).truncate(true)).map_err(of_kernel)?;
        // Replaced by rename, so that a reader sees a whole one.
        lease
            .write(&file)
            .and_then(|()| fs::rename(&fresh, &path))
            .map_err(|source| io_error("write", &path, source))
    }

    /// The present lease, if it is `lease`.
    fn check_fence(&self, lease: &Lease) -> Result<LeaseFile, StoreError> {
        match self.lease(lease.session())? {
            Some(present) if present.fence == lease.fence() && present.owner.is_some() => Ok(present),
            _ => Err(StoreError::Fenced(lease.session().clone())),
        }
    }

    fn do_create(&self, id: &SessionId) -> Result<(), StoreError> {
        let dir = self.path_of(id);
        match fs::create_dir(&dir) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists(id.clone()));
            }
            Err(source) => return Err(io_error("make", &dir, source)),
        }
        make_folder(&dir).map_err(of_kernel)?;
        let log = self.log_path(id);
        let file = open_file(&log, OpenOptions::new().write(true).create_new(true)).map_err(of_kernel)?;
        file.sync_all().map_err(|source| io_error("make", &log, source))?;
        sync_folder(&dir).map_err(of_kernel)?;
        sync_folder(&self.dir).map_err(of_kernel)
    }

    fn do_claim(&self, id: &SessionId, owner: &Owner, ttl: Duration) -> Result<Lease, StoreError> {
        let file = self.lock(id)?;
        let now = SystemClock.now();
        let before = self.lease(id)?;
        if let Some(pid) = before.as_ref().and_then(|lease| lease.is_held_against(owner, now)) {
            return Err(StoreError::Busy { session: id.clone(), pid });
        }
        let (end, repaired) = self.verify(id, &file)?;
        let fence = before.map_or(0, |lease| lease.fence) + 1;
        self.set_lease(id, &LeaseFile { fence, expires: now.after(ttl), owner: Some(owner.clone()) })?;
        sync_folder(&self.path_of(id)).map_err(of_kernel)?;
        self.remember(id, Some(end));
        Ok(Lease::new(id.clone(), fence).with_repaired(repaired))
    }

    /// Verifies the whole log and sets a torn tail aside. Leaves a damaged log as it is.
    fn verify(&self, id: &SessionId, file: &File) -> Result<(End, u64), StoreError> {
        let path = self.log_path(id);
        let bytes = read_all(file).map_err(|source| io_error("read", &path, source))?;
        let log = frame::read_log(id, &bytes)?;
        if let Some(damage) = log.damage {
            return Err(StoreError::Damaged { session: id.clone(), damage });
        }
        let whole = bytes.len() as u64 - log.torn_bytes;
        if log.torn_bytes > 0 {
            // A file without one whole record is no session that was interrupted; it may be anything.
            if log.records.is_empty() {
                let damage = Damage { line: 1, what: "no record is whole".to_owned() };
                return Err(StoreError::Damaged { session: id.clone(), damage });
            }
            self.quarantine(id, file, &bytes, whole)?;
        }
        Ok((End { bytes: whole, next_seq: log.records.len() as u64 + 1 }, log.torn_bytes))
    }

    fn quarantine(&self, id: &SessionId, file: &File, bytes: &[u8], whole: u64) -> Result<(), StoreError> {
        let dir = self.path_of(id).join("quarantine");
        make_folder(&dir).map_err(of_kernel)?;
        let torn = bytes.get(usize::try_from(whole).unwrap_or(usize::MAX)..).unwrap_or_default();
        // Named by where it was cut; a second cut at the same place keeps both.
        let free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
        if let Some(path) = (0u32..).map(|n| dir.join(format!("tail-{whole}-{n}"))).find(free) {
            let mut side =
                open_file(&path, OpenOptions::new().write(true).create_new(true)).map_err(of_kernel)?;
            side.write_all(torn)
                .and_then(|()| side.sync_all())
                .map_err(|source| io_error("write", &path, source))?;
            sync_folder(&dir).map_err(of_kernel)?;
        }
        file.set_len(whole)
            .and_then(|()| file.sync_data())
            .map_err(|source| io_error("repair", &self.log_path(id), source))
    }

    fn do_append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        records: &[Record],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let id = lease.session();
        let mut file = self.lock(id)?;
        self.check_fence(lease)?;
        let path = self.log_path(id);
        let length = file.metadata().map_err(|source| io_error("read", &path, source))?.len();
        let end = match self.remembered(id) {
            Some(end) if end.bytes == length => end,
            // Not what this process left: after a failed append, or another owner's work. Look at all of it.
            _ => self.verify(id, &file)?.0,
        };
        if end.next_seq != expected_seq {
            return Err(StoreError::OutOfOrder {
                session: id.clone(),
                at: end.next_seq,
                expected: expected_seq,
            });
        }
        let mut lines = Vec::new();
        for record in records {
            frame::write_line(&mut lines, record);
        }
        // Until all of it is known to be on disk, the end is not known.
        self.remember(id, None);
        let written = file.write_all(&lines).and_then(|()| match durability {
            Durability::Sync => file.sync_data(),
            Durability::Lazy => Ok(()),
        });
        if let Err(source) = written {
            // What part of the batch arrived must not be taken for the whole of it.
            let _ = file.set_len(end.bytes).and_then(|()| file.sync_data());
            return Err(io_error("append to", &path, source));
        }
        let next_seq = end.next_seq + records.len() as u64;
        self.remember(id, Some(End { bytes: end.bytes + lines.len() as u64, next_seq }));
        Ok(())
    }

    fn do_renew(&self, lease: &Lease, ttl: Duration) -> Result<(), StoreError> {
        let _file = self.lock(lease.session())?;
        let mut present = self.check_fence(lease)?;
        present.expires = SystemClock.now().after(ttl);
        self.set_lease(lease.session(), &present)
    }

    fn do_release(&self, lease: &Lease) -> Result<(), StoreError> {
        let _file = self.lock(lease.session())?;
        self.remember(lease.session(), None);
        match self.check_fence(lease) {
            Ok(mut present) => {
                present.owner = None;
                self.set_lease(lease.session(), &present)
            }
            Err(StoreError::Fenced(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn do_read(&self, id: &SessionId) -> Result<SessionLog, StoreError> {
        let file = self.open_log(id, OpenOptions::new().read(true))?;
        let bytes = read_all(&file).map_err(|source| io_error("read", &self.log_path(id), source))?;
        frame::read_log(id, &bytes)
    }

    fn do_list(&self) -> Result<Vec<SessionSummary>, StoreError> {
        let entries = fs::read_dir(&self.dir).map_err(|source| io_error("read", &self.dir, source))?;
        let mut ids: Vec<SessionId> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        ids.sort();
        // A session that cannot be read (too new, not ours) is not a reason to hide the others.
        Ok(ids.iter().filter_map(|id| SessionSummary::of(id, &self.do_read(id).ok()?)).collect())
    }

    fn remember(&self, id: &SessionId, end: Option<End>) {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        match end {
            Some(end) => ends.insert(id.clone(), end),
            None => ends.remove(id),
        };
    }

    fn remembered(&self, id: &SessionId) -> Option<End> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    /// Runs `work` where it may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        tokio::task::spawn_blocking(move || work(&store))
            .await
            .unwrap_or_else(|gone| Err(io_error("use", &self.dir, io::Error::other(gone))))
    }
}

#[async_trait]
impl SessionStore for FileSessionStore {
    async fn create(&self, id: &SessionId) -> Result<(), StoreError> {
        let id = id.clone();
        self.blocking(move |store| store.do_create(&id)).await
    }

    async fn claim(&self, id: &SessionId, owner: &Owner, ttl: Duration) -> Result<Lease, StoreError> {
        let (id, owner) = (id.clone(), owner.clone());
        self.blocking(move |store| store.do_claim(&id, &owner, ttl)).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.blocking(move |store| store.do_renew(&lease, ttl)).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.blocking(move |store| store.do_release(&lease)).await
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        records: &[Record],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let (lease, records) = (lease.clone(), records.to_vec());
        self.blocking(move |store| store.do_append(&lease, expected_seq, &records, durability)).await
    }

    async fn read(&self, id: &SessionId) -> Result<SessionLog, StoreError> {
        let id = id.clone();
        self.blocking(move |store| store.do_read(&id)).await
    }

    async fn list(&self) -> Result<Vec<SessionSummary>, StoreError> {
        self.blocking(Self::do_list).await
    }
}

fn io_error(doing: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { doing, path: path.display().to_string(), source }
}

fn read_all(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut reader: &File = file;
    io::Seek::rewind(&mut reader)?;
    reader.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn of_kernel(error: KernelError) -> StoreError {
    match error {
        KernelError::Io { path, source } => io_error("use", &path, source),
        KernelError::NotAFile { path } | KernelError::NotAFolder { path } => {
            StoreError::NotAFile { path: path.display().to_string() }
        }
        other => io_error("use", Path::new("."), io::Error::other(other.to_string())),
    }
}
