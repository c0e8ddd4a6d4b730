//! One command as a group of processes, watched by a thread of its own until all of it is gone.
//!
//! This file is the only one in the crate that starts a process. The command runs in a new session (no terminal,
//! its own process group) with both outputs on one pipe, so that they keep their order. A thread waits for output,
//! the end of the leader, the deadline and a call to stop, whichever comes first; it needs no async runtime. The
//! group is always killed before its leader is reaped, so its id cannot belong to anybody else by then.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::oneshot;
use vanta_core::CancelToken;

use super::capture::Capture;
use super::escaped::{Mark, kill_holders};

/// A command to run.
#[derive(Debug)]
pub(super) struct Job {
    /// The program and its arguments.
    pub(super) program: Vec<OsString>,
    /// Working directory.
    pub(super) cwd: PathBuf,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    /// How long it may take.
    pub(super) limit: Duration,
}

/// How it ended and what it printed.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) end: End,
    pub(super) output: Capture,
    pub(super) left: Left,
}

/// What is known of processes that outlived the command: those that hold its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Nobody held it when the command ended.
    Nothing,
    /// Somebody did, and is gone.
    Stopped,
    /// Somebody does and could not be stopped.
    Running,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By a signal that it did not get from here.
    Signal(i32),
    /// The limit passed.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// Nobody knows; somebody else took the exit code.
    Unknown,
}

impl Job {
    /// Runs it to its end, its limit or `cancel`. When the future is dropped the whole group is killed at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) async fn run(self, cancel: &CancelToken) -> io::Result<Report> {
        let (wake, waker) = io::pipe()?;
        let control = Arc::new(Control { state: Mutex::default(), wake, waker });
        let _guard = KillOnDrop(Arc::clone(&control));
        let (answer, mut answered) = oneshot::channel();
        let watched = Arc::clone(&control);
        std::thread::Builder::new()
            .name("vanta-shell".into())
            .spawn(move || watch(self, &watched, answer))?;
        let gone = |_| io::Error::other("the thread that watched the command ended without a report");
        tokio::select! {
            report = &mut answered => report.map_err(gone)?,
            () = cancel.cancelled() => {
                control.stop();
                answered.await.map_err(gone)?
            }
        }
    }
}

/// Shared by the call and the watching thread.
#[derive(Debug)]
struct Control {
    state: Mutex<State>,
    /// A byte on it ends the thread's waiting. Both ends live here, so that a late byte never meets a closed pipe.
    wake: PipeReader,
    waker: PipeWriter,
}

#[derive(Debug, Default)]
struct State {
    /// The group, from start until just before its leader is reaped.
    group: Option<Pid>,
    stop: bool,
    abandoned: bool,
}

impl Control {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the thread to end the command.
    fn stop(&self) {
        self.state().stop = true;
        // Two bytes at most are ever written, so this cannot wait; if it fails, the thread looks again on its own.
        let _ = (&self.waker).write(&[1]);
    }

    // INVARIANT: the leader is not reaped while `group` is set, so the id is this group's and nobody else's.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.state().group {
            // A group that is already gone needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Nobody waits any longer: nothing of the command may stay.
struct KillOnDrop(Arc<Control>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.state().abandoned = true;
        self.0.signal(Signal::KILL);
        self.0.stop();
    }
}

/// The thread: start, watch, kill what is left, report, reap.
fn watch(job: Job, control: &Control, answer: oneshot::Sender<io::Result<Report>>) {
    if control.state().abandoned {
        return;
    }
    let (limit, mark) = (job.limit, Mark::new());
    let started = start(job, &mark).and_then(|(child, output)| {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok((child, output, leader.ok_or_else(|| io::Error::other("the system gave no process id"))?))
    });
    let (mut child, output, leader) = match started {
        Ok(started) => started,
        Err(error) => {
            let _ = answer.send(Err(error));
            return;
        }
    };
    control.state().group = Some(leader);
    let mut watch = Watch::new(leader, output, limit);
    let end = watch.until_end(control);
    let held = watch.output.is_some();
    control.signal(Signal::KILL);
    mark.kill_bearers();
    let report = watch.report(end, held, control);
    // Whoever waits gets the answer before the leader is reaped: a process that cannot be killed (a dead network
    // disk) must not hold the call.
    let _ = answer.send(Ok(report));
    let mut state = control.state();
    state.group = None;
    drop(state);
    let _ = child.wait();
}

fn start(job: Job, mark: &Mark) -> io::Result<(Box<dyn ChildWrapper>, PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let mut words = job.program.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command
        .args(words)
        .current_dir(&job.cwd)
        .env_clear()
        .envs(job.env)
        .envs([mark.variable()])
        .env("PWD", &job.cwd);
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut command = CommandWrap::from(command);
    let child = command.wrap(ProcessSession).spawn()?;
    // Only the command holds the writing end now, so its end is seen.
    drop(command);
    Ok((child, reader))
}

/// The watching of one command.
struct Watch {
    leader: Pid,
    /// `None` once every writer is gone.
    output: Option<PipeReader>,
    /// Becomes readable when the leader ends, where the system has such handles.
    ended: Option<OwnedFd>,
    deadline: Instant,
    capture: Capture,
}

impl Watch {
    fn new(leader: Pid, output: PipeReader, limit: Duration) -> Self {
        let deadline = Instant::now() + limit;
        Self {
            leader,
            output: Some(output),
            ended: end_handle(leader),
            deadline,
            capture: Capture::default(),
        }
    }

    fn until_end(&mut self, control: &Control) -> End {
        let end = loop {
            if let Some(end) = self.leader_end() {
                break end;
            }
            if control.state().stop {
                break self.end_by(control, End::Cancelled);
            }
            if Instant::now() >= self.deadline {
                break self.end_by(control, End::TimedOut);
            }
            self.wait_until(self.deadline, control);
        };
        // What a pipeline or a background process prints last; held no longer than this.
        self.drain_until(Instant::now() + DRAIN, control);
        end
    }

    /// After the kill: whether the output, when it was `held`, still is.
    fn report(mut self, end: End, held: bool, control: &Control) -> Report {
        self.drain_until(Instant::now() + DRAIN, control);
        if let Some(output) = &self.output {
            kill_holders(output);
            self.drain_until(Instant::now() + DRAIN, control);
        }
        let left = match (held, &self.output) {
            (_, Some(_)) => Left::Running,
            (true, None) => Left::Stopped,
            (false, None) => Left::Nothing,
        };
        Report { end, output: self.capture, left }
    }

    /// Asks the group to end, and kills it when it does not.
    fn end_by(&mut self, control: &Control, end: End) -> End {
        control.signal(Signal::TERM);
        let patience = Instant::now() + GRACE;
        while self.leader_end().is_none() && Instant::now() < patience && !control.state().abandoned {
            self.wait_until(patience, control);
        }
        control.signal(Signal::KILL);
        end
    }

    fn drain_until(&mut self, until: Instant, control: &Control) {
        while self.output.is_some() && Instant::now() < until && !control.state().abandoned {
            self.wait_until(until, control);
        }
    }

    /// How the leader ended, if it did. It stays unreaped.
    fn leader_end(&self) -> Option<End> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(None) => None,
            Ok(Some(status)) => match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Some(End::Exit(code)),
                (None, Some(signal)) => Some(End::Signal(signal)),
                (None, None) => Some(End::Unknown),
            },
            Err(rustix::io::Errno::INTR) => None,
            // The process around this ignores the end of children, so the system reaped it.
            Err(_) => Some(End::Unknown),
        }
    }

    /// Waits for anything to happen, at most until `until`, and takes what was printed.
    fn wait_until(&mut self, until: Instant, control: &Control) {
        let mut longest = until.saturating_duration_since(Instant::now());
        if self.ended.is_none() {
            longest = longest.min(TICK);
        }
        let timeout = Timespec::try_from(longest).ok();
        // An absent handle is stood in for by the wake pipe; its answer is not looked at.
        let wake = control.wake.as_fd();
        let ended = self.ended.as_ref().map_or(wake, AsFd::as_fd);
        let output = self.output.as_ref().map_or(wake, AsFd::as_fd);
        let mut fds = [wake, ended, output].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        if poll(&mut fds, timeout.as_ref()).is_err() {
            // Interrupted, or short of memory: look again a little later.
            std::thread::sleep(Duration::from_millis(1));
            return;
        }
        let [woken, ended, printed] = fds.map(|fd| !fd.revents().is_empty());
        if woken {
            // The byte must not wake again; what it means is in the state.
            let _ = (&control.wake).read(&mut [0; 16]);
        }
        if ended {
            self.ended = None;
        }
        if printed {
            self.take_output();
        }
    }

    fn take_output(&mut self) {
        let Some(output) = &mut self.output else { return };
        let mut part = [0; 64 * 1024];
        match output.read(&mut part) {
            Ok(n) if n > 0 => self.capture.push(part.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => self.output = None,
        }
    }
}

/// How long output is still read after the leader ended.
const DRAIN: Duration = Duration::from_millis(500);

/// Between the request to end and the kill.
const GRACE: Duration = Duration::from_secs(2);

/// How often the end of the leader is looked for where no handle tells.
const TICK: Duration = Duration::from_millis(10);

#[cfg(target_os = "linux")]
fn end_handle(leader: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(leader, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_handle(_: Pid) -> Option<OwnedFd> {
    None
}

#[cfg(test)]
mod tests;
