//! One record as one line: JSON whose last member, of fixed width, is a checksum over the bytes before it.
//!
//! `{"seq":1,"ts":…,"fence":1,"kind":"…","crit":true,"body":{…},"crc":"xxxxxxxx"}`. The fixed place means that the
//! check needs no canonical form, and the file still works with ordinary JSON tools.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::record::{Entry, Record, Unknown};
use super::store::{Damage, SessionId, SessionLog, StoreError};
use crate::clock::Timestamp;

/// The format's name, version, and the oldest version whose readers understand what this build writes.
pub(crate) const FORMAT: &str = "vanta-session";
pub(crate) const VERSION: u32 = 1;
pub(crate) const MIN_READER: u32 = 1;

/// Appends `record` to `out` as a line.
pub(super) fn write_line(out: &mut Vec<u8>, record: &Record) {
    let begin = out.len();
    let head = serde_json::json!(record.entry().kind());
    // Written by hand so that the order of members, and with it the place of the checksum, is fixed.
    let text = format!(
        r#"{{"seq":{},"ts":{},"fence":{},"kind":{head},"crit":{},"body":{}"#,
        record.seq(),
        record.ts().as_millis(),
        record.fence(),
        record.entry().is_critical(),
        Value::Object(record.entry().fields()),
    );
    out.extend_from_slice(text.as_bytes());
    let crc = crc32fast::hash(out.get(begin..).unwrap_or_default());
    out.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes());
}

#[derive(Deserialize)]
struct Line {
    seq: u64,
    ts: Timestamp,
    fence: u64,
    kind: String,
    #[serde(default = "critical")]
    crit: bool,
    body: Map<String, Value>,
}

fn critical() -> bool {
    true
}

/// Length of `,"crc":"xxxxxxxx"}`.
const TRAILER: usize = 18;

/// Reads a whole log. Stops at the first damage; bytes after the last newline are torn, not damaged.
pub(super) fn read_log(session: &SessionId, bytes: &[u8]) -> Result<SessionLog, StoreError> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (lines, torn) = bytes.split_at_checked(whole).unwrap_or((bytes, &[]));
    let mut log = SessionLog { torn_bytes: torn.len() as u64, ..SessionLog::default() };
    for (number, line) in (1u64..).zip(lines.split_inclusive(|byte| *byte == b'\n')) {
        match read_line(session, number, line)? {
            Ok(record) => log.records.push(record),
            Err(what) => {
                log.damage = Some(Damage { line: number, what });
                break;
            }
        }
    }
    Ok(log)
}

/// The record of line `number`, or what is wrong with it.
fn read_line(session: &SessionId, number: u64, line: &[u8]) -> Result<Result<Record, String>, StoreError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let Some((covered, trailer)) = line.len().checked_sub(TRAILER).and_then(|at| line.split_at_checked(at))
    else {
        return Ok(Err("the line is too short".to_owned()));
    };
    let crc = crc32fast::hash(covered);
    if trailer != format!(",\"crc\":\"{crc:08x}\"}}").as_bytes() {
        return Ok(Err("the checksum does not match".to_owned()));
    }
    let line: Line = match serde_json::from_slice(line) {
        Ok(line) => line,
        Err(error) => return Ok(Err(format!("the line is not a record: {error}"))),
    };
    if line.seq != number {
        return Ok(Err(format!("record {number} is missing, record {} stands in its place", line.seq)));
    }
    read_entry(session, line)
}

fn read_entry(session: &SessionId, line: Line) -> Result<Result<Record, String>, StoreError> {
    let too_new = |what: String| StoreError::TooNew { session: session.clone(), what };
    let min_reader = line.body.get("min_reader").and_then(Value::as_u64);
    if line.kind == "session_created" && min_reader.is_some_and(|min| min > u64::from(VERSION)) {
        return Err(too_new(format!("it asks for format version {}", min_reader.unwrap_or_default())));
    }
    let body = Value::Object(line.body);
    let entry = match Entry::from_form(&line.kind, body.clone()) {
        Ok(entry) => entry,
        // The checksum holds, so a later build meant it.
        Err(error) if line.crit => {
            return Err(too_new(format!("record {} is a `{}` ({error})", line.seq, line.kind)));
        }
        Err(_) => Entry::Unknown(Unknown { kind: line.kind, body }),
    };
    Ok(Ok(Record::new(line.seq, line.ts, line.fence, Arc::new(entry))))
}
