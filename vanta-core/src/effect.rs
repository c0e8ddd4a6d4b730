//! What is known about an effect, and receipts: one line per transition, without content.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::event::{Observer, RunEvent};
use crate::message::CallId;
use crate::session::{Entry, Record, SessionId};
use crate::tool::EffectClass;

/// What is known about the effect of one call. Exhaustive on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a new disposition must break every match")]
pub enum EffectDisposition {
    /// It did not start: blocked, denied, refused.
    None,
    /// The tool's code returned, with success or failure.
    Confirmed,
    /// It started and nobody knows how it ended. It is never repeated silently.
    Unknown,
}

impl EffectDisposition {
    /// The word used in files and on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Confirmed => "confirmed",
            Self::Unknown => "unknown",
        }
    }
}

/// One transition of one attempt. Holds digests, never arguments or output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    ts: Timestamp,
    session: SessionId,
    seq: u64,
    call: CallId,
    tool: String,
    attempt: u32,
    transition: Transition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<EffectClass>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disposition: Option<EffectDisposition>,
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Transition {
    /// Cleared, not begun.
    Pending,
    /// Its code is about to run; from here on the effect may exist.
    Started,
    /// It ended, or is known not to have begun.
    Settled,
}

impl Receipt {
    /// The receipt of a record, if the record is a transition.
    #[must_use]
    pub fn of(session: &SessionId, record: &Record) -> Option<Self> {
        let (call, tool, attempt, transition) = match record.entry() {
            Entry::ToolPending { call, tool, attempt, .. } => (call, tool, attempt, Transition::Pending),
            Entry::ToolStarted { call, tool, attempt, .. } => (call, tool, attempt, Transition::Started),
            Entry::ToolSettled { call, tool, attempt, .. } => (call, tool, attempt, Transition::Settled),
            _ => return None,
        };
        let mut receipt = Self {
            ts: record.ts(),
            session: session.clone(),
            seq: record.seq(),
            call: call.clone(),
            tool: tool.clone(),
            attempt: *attempt,
            transition,
            class: None,
            digest: None,
            disposition: None,
        };
        match record.entry() {
            Entry::ToolPending { class, digest, .. } => {
                receipt.class = Some(*class);
                receipt.digest = Some(digest.clone());
            }
            Entry::ToolSettled { disposition, .. } => receipt.disposition = Some(*disposition),
            _ => {}
        }
        Some(receipt)
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Where the attempt stood.
    #[must_use]
    pub fn transition(&self) -> Transition {
        self.transition
    }

    /// What is known about the effect, once settled.
    #[must_use]
    pub fn disposition(&self) -> Option<EffectDisposition> {
        self.disposition
    }
}

/// Writes receipts to a file such as `.vanta/tool-effects.jsonl`.
///
/// The file is a projection of the session's log, for other programs to read: lines are not synced, and those a crash
/// swallowed are added when the session is opened again.
#[derive(Debug)]
pub struct FileReceipts {
    path: PathBuf,
    file: Mutex<File>,
}

impl FileReceipts {
    /// Appends to the file at `path`, which is made if needed.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = Mutex::new(open_ordinary(&path, OpenOptions::new().append(true).create(true))?);
        Ok(Self { path, file })
    }

    /// Adds the receipts of `records` that the file lacks.
    fn complete(&self, session: &SessionId, records: &[Record]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let last = last_seq(&self.path, session)?;
        for receipt in records.iter().filter_map(|record| Receipt::of(session, record)) {
            if receipt.seq > last {
                self.write(&receipt)?;
            }
        }
        Ok(())
    }

    fn write(&self, receipt: &Receipt) -> io::Result<()> {
        let mut line = serde_json::to_vec(receipt)?;
        line.push(b'\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }
}

/// What came with a clone may be a link to anywhere, or a pipe: neither is opened.
fn open_ordinary(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    return vanta_kernel::store::open_file(path, options).map_err(|error| match error {
        vanta_kernel::store::StoreError::Io { source, .. } => source,
        other => io::Error::other(other.to_string()),
    });
    #[cfg(not(unix))]
    options.open(path)
}

/// The highest `seq` the file holds of `session`; lines that do not parse (a torn tail) are passed over.
fn last_seq(path: &Path, session: &SessionId) -> io::Result<u64> {
    let mut last = 0;
    let file = open_ordinary(path, OpenOptions::new().read(true))?;
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(receipt) = serde_json::from_slice::<Receipt>(&line?)
            && receipt.session == *session
        {
            last = last.max(receipt.seq);
        }
    }
    Ok(last)
}

impl Observer for FileReceipts {
    fn opened(&self, session: &SessionId, records: &[Record]) {
        // A receipt that cannot be written is missing from a projection; the session's log stands.
        let _ = self.complete(session, records);
    }

    fn event(&self, event: &RunEvent) {
        if let Some(receipt) = event.record().and_then(|record| Receipt::of(event.session(), record)) {
            let _ = self.write(&receipt);
        }
    }
}
