//! The `vanta` binary in a folder of its own; every child has a deadline and is reaped.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;
use tempfile::TempDir;

use crate::model::Model;

/// Nothing here takes a tenth of it on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A root, a home and a state folder.
#[derive(Debug)]
pub(crate) struct World {
    place: TempDir,
    url: Option<String>,
}

/// What a child left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// With `model` in the environment.
    pub(crate) fn new(model: &Model) -> Self {
        Self { url: Some(model.url()), ..Self::without_model() }
    }

    pub(crate) fn without_model() -> Self {
        let place = tempfile::tempdir().unwrap();
        for name in ["root", "home", "state"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        Self { place, url: None }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("root").canonicalize().unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap_or_default()
    }

    /// A command with `--root`, and an environment of its own.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vanta"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.place.path().join("home"));
        command.env("XDG_STATE_HOME", self.place.path().join("state"));
        command.env("VANTA_ROOT", self.root()).env("VANTA_TOOL_RETRIES", "0");
        if let Some(url) = &self.url {
            command.env("VANTA_OPENAI_BASE_URL", url);
        }
        command.args(args).stdin(Stdio::null());
        command
    }

    pub(crate) fn vanta(&self, args: &[&str]) -> Ended {
        Running::start(self.command(args)).end()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(self.command(args))
    }

    /// With `input` on stdin.
    pub(crate) fn piped(&self, args: &[&str], input: &[u8]) -> Ended {
        let mut command = self.command(args);
        command.stdin(Stdio::piped());
        let mut running = Running::start(command);
        let mut stdin = running.child.stdin.take().unwrap();
        // The child need not read all of it.
        let _ = stdin.write_all(input);
        drop(stdin);
        running.end()
    }

    /// The id of the only session.
    pub(crate) fn session(&self) -> String {
        let [id] = <[String; 1]>::try_from(self.sessions()).expect("one session");
        id
    }

    pub(crate) fn sessions(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root().join(".vanta/sessions"));
        entries.into_iter().flatten().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.root().join(".vanta/sessions").join(self.session()).join("log.jsonl")
    }

    /// The records of the only session, as they are on disk.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap()
    }

    /// Puts `new` for `old` in the first record of the only session, with the checksum that belongs to it.
    pub(crate) fn rewrite_first_record(&self, old: &str, new: &str) {
        let log = self.log();
        let first = log.lines().next().unwrap();
        let (body, _) = first.rsplit_once(",\"crc\"").unwrap();
        assert!(body.contains(old), "{old}: {body}");
        let body = body.replacen(old, new, 1);
        let crc = crc32(body.as_bytes());
        fs::write(self.log_path(), log.replacen(first, &format!("{body},\"crc\":\"{crc:08x}\"}}"), 1))
            .unwrap();
    }

    /// How many records of `kind` the only session holds.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.log().matches(&format!("\"kind\":\"{kind}\"")).count()
    }
}

/// A child at work.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        Self::adopt(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// A child whose streams the test may have taken.
    pub(crate) fn adopt(mut child: Child) -> Self {
        let (stdout, stderr) = (child.stdout.take().map(drain), child.stderr.take().map(drain));
        Self { child, stdout, stderr }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether it has a handler for `signal`.
    pub(crate) fn catches(&self, signal: Signal) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default();
        // The first signal is the lowest bit.
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
    }

    /// Whether it has ended; it is still there to be reaped.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&self.child)), options).unwrap().is_some()
    }

    /// Waits for the end, which must come by itself.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.wait();
        self.collect(status)
    }

    /// Ends it the hard way. It must still have been at work.
    pub(crate) fn kill(mut self) {
        assert!(self.child.try_wait().unwrap().is_none(), "it had ended before it was killed");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // Its streams may be held open by commands it had started.
    }

    fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if begin.elapsed() > DEADLINE {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("vanta did not end in time");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn collect(&mut self, status: ExitStatus) -> Ended {
        let text = |stream: &mut Option<JoinHandle<String>>| {
            stream.take().map(|thread| thread.join().unwrap()).unwrap_or_default()
        };
        Ended {
            code: status.code().unwrap_or(-1),
            stdout: text(&mut self.stdout),
            stderr: text(&mut self.stderr),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn drain(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Ended {
    /// Ended with `code`, and said each of `words` on stderr.
    #[track_caller]
    pub(crate) fn is(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is missing: {self:#?}");
        }
    }

    /// The JSON lines, after the rules that hold for all of them.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines: Vec<Value> = self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let count = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        assert_eq!((count("run_started"), count("run_finished")), (1, 1), "{self:#?}");
        let (first, last) = (lines.first().unwrap(), lines.last().unwrap());
        assert_eq!((&first["type"], &last["type"]), (&"run_started".into(), &"run_finished".into()));
        assert_eq!(last["exit_code"], self.code, "{self:#?}");
        for name in ["outcome", "usage", "cost", "denied"] {
            assert!(last.get(name).is_some(), "{name}: {last}");
        }
        for line in &lines {
            for name in ["v", "type", "session_id", "turn", "seq", "ts"] {
                assert!(line.get(name).is_some(), "{name}: {line}");
            }
        }
        lines
    }
}

/// Waits until `done`.
pub(crate) fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < DEADLINE, "{what} did not come");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Every file below `dir` with its content.
pub(crate) fn tree(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

/// The checksum of the lines, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
