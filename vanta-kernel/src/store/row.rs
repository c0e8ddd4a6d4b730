//! One row of `approvals.tsv`: the state of one approval after a change, as text and back.
//!
//! Columns are separated by tabs; `\\`, tab, line breaks and NUL are written as `\\\\`, `\\t`, `\\n`, `\\r`, `\\0`.
//! The last two are a checksum of the columns before it, against accidents, and this user's MAC of all before
//! it, against rows from elsewhere.

use super::log::Flaw;
use crate::json::Json;
use crate::sha256::{eq, hex, hmac_sha256, sha256};
use crate::{Action, Approval, ApprovalId, ApprovalStatus, RaisedBy, Risk};

/// The first line of the file.
pub(crate) const HEADER: &str = "vanta-approvals/1 row\ttime\tid\tstatus\trisk\trule\treason\tsession\tcall\t\
     binding\traised_by\tcreated\texpires\tdecided_by\tholder\tactions\tsum\tmac";

/// How every header of this format begins, whatever its version.
pub(crate) const FORMAT: &[u8] = b"vanta-approvals/";

/// A row that verified.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) number: u64,
    pub(crate) approval: Approval,
    pub(crate) mac: String,
}

/// The text of row `number`: `approval` as it was at `now_ms`.
pub(crate) fn encode(number: u64, approval: &Approval, now_ms: u64, key: &[u8]) -> String {
    let actions = Json::Array(approval.actions.iter().map(Action::to_json).collect()).to_string();
    let columns = [
        &number.to_string(),
        &now_ms.to_string(),
        &approval.id.to_string(),
        approval.status.as_str(),
        approval.risk.as_str(),
        &approval.rule,
        &approval.reason,
        &approval.session,
        &approval.call,
        &approval.binding,
        approval.raised_by.as_str(),
        &approval.created_ms.to_string(),
        &approval.expires_ms.to_string(),
        approval.decided_by().unwrap_or_default(),
        approval.holder().unwrap_or_default(),
        &actions,
    ];
    let row = columns.map(escape).join("\t");
    let row = format!("{row}\t{}", checksum(row.as_bytes()));
    let mac = hex(&hmac_sha256(key, row.as_bytes()));
    format!("{row}\t{mac}")
}

/// The row in `line`, when its checksum and its MAC under `key` are right.
pub(crate) fn decode(line: &[u8], key: &[u8]) -> Result<Row, Flaw> {
    let line = std::str::from_utf8(line).map_err(|_| Flaw::Damage("not text"))?;
    let (signed, mac) = line.rsplit_once('\t').ok_or(Flaw::Damage("columns are missing"))?;
    let (row, sum) = signed.rsplit_once('\t').ok_or(Flaw::Damage("columns are missing"))?;
    if sum != checksum(row.as_bytes()) {
        return Err(Flaw::Damage("its checksum is wrong"));
    }
    if !eq(mac.as_bytes(), hex(&hmac_sha256(key, signed.as_bytes())).as_bytes()) {
        return Err(Flaw::Damage("it was not written with this user's key"));
    }
    let columns: Option<Vec<String>> = row.split('\t').map(unescape).collect();
    let row = columns.and_then(|columns| parse(columns.try_into().ok()?, mac));
    row.ok_or(Flaw::Damage("its columns cannot be read"))
}

fn parse(columns: [String; 16], mac: &str) -> Option<Row> {
    let [number, _time, id, status, risk, rule, reason, session, call, rest @ ..] = columns;
    let [binding, raised_by, created, expires, decided_by, holder, actions] = rest;
    let present = |text: String| (!text.is_empty()).then_some(text);
    let actions = Json::parse(&actions).ok()?;
    let approval = Approval {
        id: id.parse::<ApprovalId>().ok()?,
        status: ApprovalStatus::from_word(&status)?,
        actions: actions.as_array()?.iter().map(Action::from_json).collect::<Result<_, _>>().ok()?,
        risk: Risk::from_word(&risk)?,
        rule,
        reason,
        session,
        call,
        binding,
        raised_by: RaisedBy::from_word(&raised_by)?,
        created_ms: created.parse().ok()?,
        expires_ms: expires.parse().ok()?,
        decided_by: present(decided_by),
        holder: present(holder),
    };
    Some(Row { number: number.parse().ok()?, approval, mac: mac.into() })
}

fn checksum(row: &[u8]) -> String {
    hex(sha256(row).first_chunk::<8>().unwrap_or(&[0; 8]))
}

fn escape(column: &str) -> String {
    let mut escaped = String::with_capacity(column.len());
    for char in column.chars() {
        match char {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\0' => escaped.push_str("\\0"),
            _ => escaped.push(char),
        }
    }
    escaped
}

fn unescape(column: &str) -> Option<String> {
    let mut plain = String::with_capacity(column.len());
    let mut chars = column.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next()? {
                '\\' => '\\',
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                '0' => '\0',
                _ => return None,
            },
            _ => char,
        });
    }
    Some(plain)
}
