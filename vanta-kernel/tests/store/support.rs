//! A root and a state folder of their own, with a known key, so that the bytes written are known too.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use vanta_kernel::store::{Approvals, Events, StateDir, StoreError, VantaDir};
use vanta_kernel::{Action, ApprovalError, Proposal, Risk};

pub(crate) const NOW: u64 = 1_764_530_000_000;

pub(crate) struct Place {
    pub(crate) dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(place.root()).unwrap();
        fs::create_dir(place.state_path()).unwrap();
        fs::write(place.state_path().join("mac.key"), [7; 32]).unwrap();
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn state_path(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.root().join(".vanta").join(name)
    }

    pub(crate) fn vanta(&self) -> VantaDir {
        VantaDir::open(&self.root()).unwrap()
    }

    pub(crate) fn approvals(&self) -> Result<Approvals, StoreError> {
        Approvals::open(&self.vanta(), &StateDir::at(self.state_path()).unwrap())
    }

    pub(crate) fn events(&self) -> Result<Events, StoreError> {
        Events::open(&self.vanta())
    }
}

pub(crate) fn proposal() -> Proposal {
    let actions = vec![Action::delete("old\tnotes\\1.txt"), Action::shell("rm 'a\nb'")];
    Proposal::new(actions, Risk::Ask, "delete.scope", "`rm` deletes a file").session("s-1").call("c-1")
}

pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> ApprovalError {
    match result {
        Err(StoreError::Refused(error)) => error,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// The line a file is damaged at.
pub(crate) fn damaged_line<T: std::fmt::Debug>(result: Result<T, StoreError>) -> u64 {
    match result {
        Err(StoreError::Damaged { line, .. }) => line,
        other => panic!("expected damage, got {other:?}"),
    }
}

/// Compares with a golden file; `VANTA_BLESS=1` writes it instead.
pub(crate) fn golden(name: &str, bytes: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/golden").join(name);
    if std::env::var_os("VANTA_BLESS").is_some() {
        fs::write(&path, bytes).unwrap();
    }
    let expected = fs::read(&path).unwrap();
    assert_eq!(String::from_utf8_lossy(bytes), String::from_utf8_lossy(&expected), "{name}");
}

/// The first bytes of the last `count` lines.
pub(crate) fn last_lines(bytes: &[u8], count: usize) -> usize {
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    ends[ends.len() - 1 - count] + 1
}
