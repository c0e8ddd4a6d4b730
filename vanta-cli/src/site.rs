//! The folder a command works on: its real path, its scope, and what of it belongs to this user.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use vanta_core::Scope;
use vanta_core::ledger::FileLedger;
use vanta_core::session::{FileSessionStore, SessionId};
use vanta_kernel::store::StateDir;

use crate::args::RootArg;
use crate::exit::Complaint;

/// A folder that exists and can be read.
#[derive(Debug)]
pub(crate) struct Site {
    root: PathBuf,
}

impl Site {
    /// The folder that was named, else `VANTA_ROOT`, else the current one.
    pub(crate) fn open(arg: &RootArg) -> Result<Self> {
        let named = arg
            .dir
            .clone()
            .or_else(|| std::env::var_os("VANTA_ROOT").filter(|value| !value.is_empty()).map(PathBuf::from));
        let asked = named.unwrap_or_else(|| PathBuf::from("."));
        let unusable = |why: &dyn std::fmt::Display| {
            let asked = crate::text::escaped(&asked.to_string_lossy());
            Complaint::Setup(format!("cannot work in `{asked}`: {why}; name an existing folder with --root"))
        };
        let root = asked.canonicalize().map_err(|error| unusable(&error))?;
        fs::read_dir(&root).map_err(|error| unusable(&error))?;
        if root.to_str().is_none() {
            return Err(unusable(&"its path is not valid text").into());
        }
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The root as an argument for a command to copy.
    pub(crate) fn root_flag(&self) -> String {
        format!("--root {}", crate::text::quoted(&self.root.to_string_lossy()))
    }

    /// Where actions may happen.
    pub(crate) fn scope(&self) -> Result<Scope> {
        let state = self.state()?;
        Ok(Scope::new(self.root.to_string_lossy())
            .home(home())
            .temp(std::env::temp_dir().to_string_lossy())
            .protect(state.path().to_string_lossy()))
    }

    fn vanta(&self) -> PathBuf {
        self.root.join(".vanta")
    }

    /// The sessions, or `None` where there never was one: looking makes no folders.
    pub(crate) fn sessions(&self) -> Result<Option<FileSessionStore>> {
        let dir = self.vanta().join("sessions");
        if !dir.is_dir() {
            return Ok(None);
        }
        Ok(Some(FileSessionStore::open(dir)?))
    }

    /// The approvals, or `None` where there never was one.
    pub(crate) fn ledger(&self) -> Result<Option<FileLedger>> {
        let there = self.vanta().join("approvals.tsv").symlink_metadata().is_ok();
        if there { Ok(Some(FileLedger::open(&self.root)?)) } else { Ok(None) }
    }

    fn state(&self) -> Result<StateDir> {
        Ok(StateDir::for_root(&self.root)?)
    }

    /// Notes in the user's own state that `session` was started here by this user.
    ///
    /// A session's files lie under the root and may have come with a clone; this note did not.
    pub(crate) fn note_own(&self, session: &SessionId) -> Result<()> {
        let path = self.state()?.path().join(OWN_SESSIONS);
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written =
            options.open(&path).and_then(|mut file| file.write_all(format!("{session}\n").as_bytes()));
        written.with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// Whether this user started `session` here.
    pub(crate) fn is_own(&self, session: &SessionId) -> bool {
        let Ok(state) = self.state() else { return false };
        let own = fs::read_to_string(state.path().join(OWN_SESSIONS)).unwrap_or_default();
        own.lines().any(|line| line == session.as_str())
    }
}

/// What a shell takes `~` for: the variable, else the user's entry in the system's list.
///
/// Never nothing: a scope without a home would take `~` for a name inside the root.
pub(crate) fn home() -> String {
    let absolute = |home: &String| home.starts_with('/');
    let listed = || {
        let users = fs::read_to_string("/etc/passwd").ok()?;
        home_of(&users, rustix::process::getuid().as_raw())
    };
    let home = std::env::var("HOME").ok().filter(absolute).or_else(listed);
    home.unwrap_or_else(|| NO_HOME.to_owned())
}

/// The home of user number `uid` in the system's list of users.
fn home_of(users: &str, uid: u32) -> Option<String> {
    let of_line = |line: &str| {
        let mut fields = line.split(':').skip(2);
        let number: u32 = fields.next()?.parse().ok()?;
        let home = fields.nth(2)?;
        (number == uid && home.starts_with('/')).then(|| home.to_owned())
    };
    users.lines().find_map(of_line)
}

/// Outside any root, so that whatever names the home of nobody is asked about.
const NO_HOME: &str = "/nonexistent";

/// In the state folder: the ids of sessions started here, one a line.
const OWN_SESSIONS: &str = "sessions";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_that_of_the_user() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\ndana:x:1000:1000:Dana,,,:/home/dana:/bin/zsh\n";
        assert_eq!(home_of(users, 1000).as_deref(), Some("/home/dana"));
        assert_eq!((home_of(users, 0).as_deref(), home_of(users, 7)), (Some("/root"), None));
    }
}
