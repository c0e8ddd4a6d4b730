//! Processes that left the group of their command: daemons, and children that took a session of their own.
//!
//! Every command gets a mark in its environment, which all it starts inherit. Where the system shows the
//! environment of processes (Linux), those that still carry the mark when the command is over are killed too. So are
//! those that threw the environment away and still hold the output of the command. A process that did both, and
//! left the group, is not found.

use std::ffi::OsString;
use std::io::PipeReader;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
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
        let carries = |id: i32| {
            let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        };
        // `|`, not `||`: every bearer is killed in each pass.
        processes().fold(false, |killed, id| killed | kill_if(id, || carries(id)))
    }

    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::unused_self, reason = "environments of other processes are not shown here")]
    fn kill_pass(&self) -> bool {
        false
    }
}

const PASSES: usize = 5;

/// Kills the processes that hold the other end of `output`, a pipe that only one command got.
#[cfg(target_os = "linux")]
pub(super) fn kill_holders(output: &PipeReader) {
    let Ok(stat) = rustix::fs::fstat(output) else { return };
    let pipe = PathBuf::from(format!("pipe:[{}]", stat.st_ino));
    let own_program = std::fs::read_link("/proc/self/exe").ok();
    let holds = |id: i32| {
        let handles = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        let mut targets = handles.filter_map(|handle| std::fs::read_link(handle.path()).ok());
        // This process, and its children that are about to become the command of another call, hold it for a moment.
        targets.any(|target| target == pipe)
            && std::fs::read_link(format!("/proc/{id}/exe")).ok() != own_program
    };
    for id in processes() {
        kill_if(id, || holds(id));
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn kill_holders(_: &PipeReader) {}

#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The handle is taken between two looks, so that the process that is killed is the one that was looked at.
#[cfg(target_os = "linux")]
fn kill_if(id: i32, is_it: impl Fn() -> bool) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    let Some(pid) = Pid::from_raw(id) else { return false };
    if !is_it() {
        return false;
    }
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    is_it() && pidfd_send_signal(&handle, Signal::KILL).is_ok()
}
