//! `approvals.tsv`: every change of every approval, one row each; the last row of an id is its state.
//!
//! A row counts when its MAC verifies with this user's key, so rows that came with a clone never do. How far
//! the file had got is noted in the state folder. When the file was set back to an earlier state, the rows that
//! are gone may have used up an approval that still looks unused: such approvals expire, and ids go on where
//! they were.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::dirs::open_file;
use super::log::{Flaw, LineLog, Lines, Repair};
use super::row::{self, FORMAT, HEADER, Row};
use super::{StateDir, StoreError, VantaDir};
use crate::{Answer, Approval, ApprovalId, ApprovalStatus, Proposal};

/// The approvals of one root. Any number of handles, in any number of processes, may be open.
#[derive(Debug)]
pub struct Approvals {
    log: Mutex<LineLog<Table>>,
}

impl Approvals {
    /// Opens `approvals.tsv` and checks all of it.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the file and line, [`StoreError::TooNew`], [`StoreError::BadKey`],
    /// [`StoreError::NotAFile`], [`StoreError::Io`]. No approval counts then.
    pub fn open(vanta: &VantaDir, state: &StateDir) -> Result<Self, StoreError> {
        let table = Table::new(state.mac_key()?, state.path().join("approvals.head"));
        let log = LineLog::open(vanta.path(), "approvals.tsv", table)?;
        Ok(Self { log: Mutex::new(log) })
    }

    /// Records the question `proposal` for a person.
    ///
    /// # Errors
    /// [`StoreError::Refused`] with [`NotApprovable`](crate::ApprovalError::NotApprovable) for a Block and as
    /// [`Approval::propose`] says; any other as for [`Approvals::open`].
    pub fn propose(&self, proposal: &Proposal, now_ms: u64) -> Result<Approval, StoreError> {
        self.change(now_ms, |table| Ok(Approval::propose(table.next_id(), proposal, now_ms)?))
    }

    /// All approvals as they stand at `now_ms`, oldest first.
    ///
    /// # Errors
    /// As for [`Approvals::open`].
    pub fn list(&self, now_ms: u64) -> Result<Vec<Approval>, StoreError> {
        self.log().read(|log| {
            let table = &log.lines;
            table.approvals.values().map(|approval| table.at(approval, now_ms)).collect()
        })
    }

    /// The approval `id` as it stands at `now_ms`.
    ///
    /// # Errors
    /// As for [`Approvals::open`].
    pub fn get(&self, id: ApprovalId, now_ms: u64) -> Result<Option<Approval>, StoreError> {
        self.log().read(|log| {
            let table = &log.lines;
            table.approvals.get(&id).map(|approval| table.at(approval, now_ms))
        })
    }

    /// Records what the person `by` answered.
    ///
    /// # Errors
    /// [`StoreError::UnknownApproval`]; [`StoreError::Refused`] as [`Approval::decide`] says; any other as for
    /// [`Approvals::open`].
    pub fn decide(
        &self,
        id: ApprovalId,
        answer: Answer,
        by: &str,
        now_ms: u64,
    ) -> Result<Approval, StoreError> {
        self.change(now_ms, |table| Ok(table.find(id)?.decide(answer, by, now_ms)?))
    }

    /// Uses the approval for the act with digest `binding`, on behalf of `holder`.
    ///
    /// Only after this returned may the act begin. The same holder may ask again, so that a crash in between
    /// costs no second question; nobody else may.
    ///
    /// # Errors
    /// [`StoreError::UnknownApproval`]; [`StoreError::Refused`] as [`Approval::consume`] says; any other as for
    /// [`Approvals::open`]. None of them may run anything.
    pub fn consume(
        &self,
        id: ApprovalId,
        binding: &str,
        holder: &str,
        now_ms: u64,
    ) -> Result<Approval, StoreError> {
        self.change(now_ms, |table| Ok(table.find(id)?.consume(binding, holder, now_ms)?))
    }

    /// The torn ends this handle cut off and kept aside.
    #[must_use]
    pub fn repairs(&self) -> Vec<Repair> {
        self.log().repairs.clone()
    }

    fn change(
        &self,
        now_ms: u64,
        make: impl FnOnce(&Table) -> Result<Approval, StoreError>,
    ) -> Result<Approval, StoreError> {
        self.log().append(now_ms, |table| {
            let approval = make(table)?;
            let changed = table.approvals.get(&approval.id()) != Some(&approval);
            let row = changed.then(|| table.row(&approval, now_ms));
            Ok((row, approval))
        })
    }

    /// A panic in another thread leaves nothing half done: lines are taken in after they are durable.
    fn log(&self) -> MutexGuard<'_, LineLog<Table>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the rows add up to.
struct Table {
    key: [u8; 32],
    head_path: PathBuf,
    has_header: bool,
    approvals: BTreeMap<ApprovalId, Approval>,
    last: Head,
    /// How far the file had got when the note was written.
    noted: Head,
    /// The noted row is in the file.
    meets_note: bool,
}

/// How far the file has got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Head {
    row: u64,
    id: u64,
    mac: String,
}

impl Table {
    fn new(key: [u8; 32], head_path: PathBuf) -> Self {
        Self {
            key,
            head_path,
            has_header: false,
            approvals: BTreeMap::new(),
            last: Head::default(),
            noted: Head::default(),
            meets_note: true,
        }
    }

    fn next_id(&self) -> ApprovalId {
        ApprovalId::new(self.last.id + 1)
    }

    fn find(&self, id: ApprovalId) -> Result<&Approval, StoreError> {
        self.approvals.get(&id).ok_or(StoreError::UnknownApproval(id))
    }

    fn row(&self, approval: &Approval, now_ms: u64) -> String {
        row::encode(self.last.row + 1, approval, now_ms, &self.key)
    }

    /// Whether `approval` looks unused while rows that may say otherwise are gone.
    fn is_doubtful(&self, approval: &Approval) -> bool {
        !self.meets_note && approval.status == ApprovalStatus::Approved
    }

    fn at(&self, approval: &Approval, now_ms: u64) -> Approval {
        let mut approval = approval.clone().at(now_ms);
        if self.is_doubtful(&approval) {
            approval.status = ApprovalStatus::Expired;
        }
        approval
    }
}

/// The key stays out of logs.
impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("last", &self.last).finish_non_exhaustive()
    }
}

impl Lines for Table {
    /// `None` is the header.
    type Line = Option<Row>;

    fn reset(&mut self) -> Result<(), StoreError> {
        *self = Self::new(self.key, std::mem::take(&mut self.head_path));
        self.noted = Head::load(&self.head_path)?;
        self.meets_note = self.noted.row == 0;
        Ok(())
    }

    fn check(&self, line: &[u8]) -> Result<Option<Row>, Flaw> {
        if !self.has_header {
            return match line {
                line if line == HEADER.as_bytes() => Ok(None),
                line if is_newer(line) => Err(Flaw::TooNew),
                _ => Err(Flaw::Damage("it is not the header of this format")),
            };
        }
        let row = row::decode(line, &self.key)?;
        if row.number != self.last.row + 1 {
            return Err(Flaw::Damage("rows before it are missing or out of order"));
        }
        Ok(Some(row))
    }

    fn take(&mut self, line: Option<Row>, _at: u64) {
        self.has_header = true;
        if let Some(row) = line {
            let id = self.last.id.max(row.approval.id().get());
            self.last = Head { row: row.number, id, mac: row.mac };
            self.meets_note |= (self.last.row, &self.last.mac) == (self.noted.row, &self.noted.mac);
            self.approvals.insert(row.approval.id(), row.approval);
        }
    }

    fn complete(&mut self) {
        self.last.id = self.last.id.max(self.noted.id);
    }

    /// Expires, one by one, what may have been used up by rows that are gone.
    fn amend(&self, now_ms: u64) -> Option<String> {
        let doubtful = self.approvals.values().find(|approval| self.is_doubtful(approval))?;
        Some(self.row(&Approval { status: ApprovalStatus::Expired, ..doubtful.clone() }, now_ms))
    }

    fn durable(&mut self) -> Result<(), StoreError> {
        if self.last != self.noted {
            self.last.save(&self.head_path)?;
            self.noted = self.last.clone();
        }
        self.meets_note = true;
        Ok(())
    }

    fn header(&self, _now_ms: u64) -> String {
        HEADER.into()
    }

    fn repaired(&self, _repair: &Repair, _now_ms: u64) -> Option<String> {
        None
    }
}

impl Head {
    fn load(path: &PathBuf) -> Result<Self, StoreError> {
        let file = match open_file(path, OpenOptions::new().read(true)) {
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            opened => opened?,
        };
        let mut text = String::new();
        file.take(4096).read_to_string(&mut text).map_err(StoreError::io(path))?;
        Self::parse(&text).ok_or(StoreError::Damaged { file: path.clone(), line: 1, what: "not a head" })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut columns = text.strip_suffix('\n')?.strip_prefix(HEAD_FORMAT)?.split('\t');
        let head = Self {
            row: columns.next()?.parse().ok()?,
            id: columns.next()?.parse().ok()?,
            mac: columns.next()?.into(),
        };
        columns.next().is_none().then_some(head)
    }

    /// Replaces the note as a whole. It may lag behind the file after a kill, and never runs ahead of it.
    fn save(&self, path: &PathBuf) -> Result<(), StoreError> {
        let new = path.with_extension("new");
        let text = format!("{HEAD_FORMAT}{}\t{}\t{}\n", self.row, self.id, self.mac);
        let mut file = open_file(&new, OpenOptions::new().write(true).create(true).truncate(true))?;
        let saved = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        saved.and_then(|()| fs::rename(&new, path)).map_err(StoreError::io(path))
    }
}

/// A header of this format with another version number.
fn is_newer(line: &[u8]) -> bool {
    let version = line.strip_prefix(FORMAT).unwrap_or_default();
    let digits: Vec<u8> = version.iter().copied().take_while(u8::is_ascii_digit).collect();
    String::from_utf8(digits).is_ok_and(|digits| digits.parse::<u32>().is_ok_and(|version| version > 1))
}

const HEAD_FORMAT: &str = "vanta-head/1\t";
