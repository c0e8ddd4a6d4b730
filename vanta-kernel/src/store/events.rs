//! `events.jsonl`: what happened, one JSON object per line.
//!
//! Each line ends in `"chain"`, the SHA-256 of the chain value before it and of the line up to that member, so
//! a changed, missing or moved line does not fit its neighbours. The first line names the format.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::log::{Flaw, LineLog, Lines, Repair};
use super::{StoreError, VantaDir};
use crate::event::{Event, is_event_kind};
use crate::json::Json;
use crate::sha256::{Sha256, hex};

/// The event log of one root. Any number of handles, in any number of processes, may be open.
#[derive(Debug)]
pub struct Events {
    log: Mutex<LineLog<Chain>>,
}

impl Events {
    /// Opens `events.jsonl` and checks all of it.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the file and line, [`StoreError::TooNew`], [`StoreError::NotAFile`],
    /// [`StoreError::Io`].
    pub fn open(vanta: &VantaDir) -> Result<Self, StoreError> {
        let log = LineLog::open(vanta.path(), "events.jsonl", Chain::default())?;
        Ok(Self { log: Mutex::new(log) })
    }

    /// Records that `kind` happened, with its details, and returns its place in the log once it is durable.
    ///
    /// Of details with the same name the first counts. Nothing here is secret: leave contents and keys out.
    ///
    /// # Errors
    /// [`StoreError::BadEventKind`], [`StoreError::Unwritable`]; any other as for [`Events::open`].
    pub fn append(&self, kind: &str, fields: &[(&str, Json)], now_ms: u64) -> Result<u64, StoreError> {
        if !is_event_kind(kind) {
            return Err(StoreError::BadEventKind);
        }
        self.log().append(now_ms, |chain| {
            let seq = chain.next_seq();
            Ok((Some(chain.line(seq, kind, fields, now_ms)), seq))
        })
    }

    /// The events after place `after`, oldest first; all of them after 0.
    ///
    /// # Errors
    /// As for [`Events::open`].
    pub fn read(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.log().read(|log| {
            let mut events = Vec::new();
            log.lines_from(log.lines.near(after), |line| {
                events.extend(parse(line).map(|(event, _)| event).filter(|event| event.seq > after));
            })?;
            Ok(events)
        })?
    }

    /// The torn ends this handle cut off and kept aside.
    #[must_use]
    pub fn repairs(&self) -> Vec<Repair> {
        self.log().repairs.clone()
    }

    /// A panic in another thread leaves nothing half done: lines are taken in after they are durable.
    fn log(&self) -> MutexGuard<'_, LineLog<Chain>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far the chain has got.
#[derive(Debug, Default)]
struct Chain {
    /// The place and chain value of the last line; the header has place 0.
    last: Option<(u64, String)>,
    /// Place and first byte of every 128th line.
    marks: Vec<(u64, u64)>,
}

impl Chain {
    fn next_seq(&self) -> u64 {
        self.last.as_ref().map_or(0, |(seq, _)| seq + 1)
    }

    /// The first byte of a line at or before the one after `seq`.
    fn near(&self, seq: u64) -> u64 {
        let later = self.marks.partition_point(|(mark, _)| *mark <= seq);
        later.checked_sub(1).and_then(|index| self.marks.get(index)).map_or(0, |(_, at)| *at)
    }

    fn line(&self, seq: u64, kind: &str, fields: &[(&str, Json)], now_ms: u64) -> String {
        let fields = fields.iter().map(|(name, value)| (*name, value.clone()));
        let line = Json::object([
            ("seq", Json::from(seq)),
            ("time", now_ms.into()),
            ("kind", kind.into()),
            ("fields", Json::object(fields)),
        ]);
        let mut line = line.to_string();
        line.pop();
        let chain = self.value(line.as_bytes());
        format!("{line}{CHAIN}{chain}{END}")
    }

    /// The chain value of a line that begins with `body`.
    fn value(&self, body: &[u8]) -> String {
        let mut hash = Sha256::new();
        hash.update(self.last.as_ref().map_or("", |(_, chain)| chain).as_bytes());
        hash.update(body);
        hex(&hash.finish())
    }
}

impl Lines for Chain {
    type Line = (u64, String);

    fn reset(&mut self) -> Result<(), StoreError> {
        *self = Self::default();
        Ok(())
    }

    fn check(&self, line: &[u8]) -> Result<(u64, String), Flaw> {
        let body = line.len().checked_sub(CHAIN.len() + 64 + END.len());
        let (body, _) =
            body.and_then(|at| line.split_at_checked(at)).ok_or(Flaw::Damage("it is too short"))?;
        let chain = self.value(body);
        if line.get(body.len()..) != Some(format!("{CHAIN}{chain}{END}").as_bytes()) {
            return Err(Flaw::Damage("its checksum is wrong"));
        }
        let (event, _) = parse(line).ok_or(Flaw::Damage("it is not an event"))?;
        match event.field("version").and_then(Json::as_u64) {
            _ if event.seq != self.next_seq() => Err(Flaw::Damage("lines before it are missing")),
            Some(version) if event.seq == 0 && version > VERSION => Err(Flaw::TooNew),
            _ if event.seq == 0 && event.kind != HEADER => Err(Flaw::Damage("it is not the header")),
            _ => Ok((event.seq, chain)),
        }
    }

    fn take(&mut self, (seq, chain): (u64, String), at: u64) {
        if seq % 128 == 0 {
            self.marks.push((seq, at));
        }
        self.last = Some((seq, chain));
    }

    fn complete(&mut self) {}

    fn amend(&self, _now_ms: u64) -> Option<String> {
        None
    }

    fn durable(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn header(&self, now_ms: u64) -> String {
        let format = [("format", "vanta-events".into()), ("version", VERSION.into())];
        self.line(0, HEADER, &format, now_ms)
    }

    fn repaired(&self, repair: &Repair, now_ms: u64) -> Option<String> {
        let kept = repair.kept().file_name()?.to_string_lossy();
        let fields = [("bytes", repair.bytes().into()), ("kept", (&*kept).into())];
        Some(self.line(self.next_seq(), "log.repaired", &fields, now_ms))
    }
}

/// The event in `line`, and its chain value.
fn parse(line: &[u8]) -> Option<(Event, String)> {
    let Json::Object(mut members) = Json::parse(std::str::from_utf8(line).ok()?).ok()? else { return None };
    let (name, Json::String(chain)) = members.pop()? else { return None };
    let event = Event::from_json(&Json::Object(members))?;
    (name == "chain").then_some((event, chain))
}

/// The kind of the first line.
const HEADER: &str = "log.header";
/// The version of the format.
const VERSION: u64 = 1;
/// What stands before the chain value, and after it.
const CHAIN: &str = ",\"chain\":\"";
const END: &str = "\"}";
