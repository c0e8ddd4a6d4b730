//! Who owns a session on disk: the lease in `LOCK`, and whether its owner still lives.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufReader, Read};

use serde::{Deserialize, Serialize};

use super::Owner;
use crate::clock::Timestamp;

/// The content of `LOCK`. It is replaced by rename, so a reader sees a whole one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LeaseFile {
    pub(super) fence: u64,
    pub(super) expires: Timestamp,
    /// Absent once the owner has given it back.
    pub(super) owner: Option<Owner>,
}

impl LeaseFile {
    pub(super) fn read(file: File) -> io::Result<Self> {
        Ok(serde_json::from_reader(BufReader::new(file.take(MAX_BYTES)))?)
    }

    pub(super) fn write(&self, file: &File) -> io::Result<()> {
        serde_json::to_writer(file, self)?;
        file.sync_data()
    }

    /// Whether somebody other than `owner` drives the session now.
    pub(super) fn is_held_against(&self, owner: &Owner, now: Timestamp) -> Option<u32> {
        let holder = self.owner.as_ref().filter(|holder| *holder != owner)?;
        let gone = holder.host == owner.host && !is_alive(holder);
        (!gone && now < self.expires).then_some(holder.pid)
    }
}

pub(super) fn this_process() -> Owner {
    let pid = std::process::id();
    Owner { host: host(), pid, start: start_time(pid), token: RandomState::new().build_hasher().finish() }
}

fn host() -> String {
    let read = |path| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    // The boot id changes with a restart, after which no process of before is alive.
    read("/proc/sys/kernel/random/boot_id")
        .or_else(|| read("/etc/hostname"))
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_else(|| "localhost".to_owned())
}

/// A process of this host is gone when no process has its number and start time. Where the system does not tell
/// (no `/proc`), it counts as alive until its lease expires.
fn is_alive(owner: &Owner) -> bool {
    match owner.start {
        Some(start) => start_time(owner.pid) == Some(start),
        None => true,
    }
}

/// When process `pid` started, in the kernel's own ticks.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses that may hold anything; fields are counted after it.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    // A zombie does nothing any more.
    if matches!(fields.next(), Some("Z" | "X")) {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// A lease is a few hundred bytes; a file that is larger is none.
const MAX_BYTES: u64 = 64 * 1024;
