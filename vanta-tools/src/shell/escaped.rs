//! Processes that left the group of their command: daemons, and children that took a session of their own.
//!
//! Every command gets a mark in its environment, which all it starts inherit. Where the system shows the
//! environment of processes (Linux), those that still carry the mark when the command is over are killed too.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name and value of a mark that no other command of this machine has had.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    value: String,
}

/// The variable that carries the mark.
const NAME: &str = "VANTA_SHELL_CALL";

impl Mark {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { value: format!("{}-{count}-{}", std::process::id(), since.as_nanos()) }
    }

    /// For the command's environment.
    pub(super) fn variable(&self) -> (OsString, OsString) {
        (NAME.into(), self.value.clone().into())
    }

    /// Kills whatever carries the mark, also what is started meanwhile.
    pub(super) fn kill_bearers(&self) {
        // A process can start another between the look and the kill; one that does so for ever is not chased.
        for _ in 0..PASSES {
            if !self.kill_pass() {
                return;
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn kill_pass(&self) -> bool {
        let wanted = format!("{NAME}={}", self.value).into_bytes();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        // `|`, not `||`: every bearer is killed in each pass.
        ids.fold(false, |killed, id| killed | kill_if_marked(id, &wanted))
    }

    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::unused_self, reason = "environments of other processes are not shown here")]
    fn kill_pass(&self) -> bool {
        false
    }
}

const PASSES: usize = 5;

/// The handle is taken before the look, so that the process that is killed is the one that was looked at.
#[cfg(target_os = "linux")]
fn kill_if_marked(id: i32, wanted: &[u8]) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let carries = || {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
    };
    let Some(pid) = Pid::from_raw(id) else { return false };
    if !carries() {
        return false;
    }
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    carries() && pidfd_send_signal(&handle, Signal::KILL).is_ok()
}
