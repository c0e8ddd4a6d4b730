//! The scratch copy: a small crate with a failing test, in a folder of its own.
//!
//! Its files are part of the program, so the demo works wherever the program does. The folder is kept: it holds the
//! session, which is worth a look.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::exit::Complaint;

/// Writes the crate into `dir`, or into a fresh folder below the temp folder.
pub(super) fn make(dir: Option<&Path>) -> Result<PathBuf> {
    let dir = match dir {
        Some(dir) => empty_folder(dir)?,
        None => fresh_folder(&std::env::temp_dir())?,
    };
    for (name, content) in FILES {
        let path = dir.join(name);
        let folder = path.parent().unwrap_or(&dir);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, content));
        written.with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(dir)
}

const FILES: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("scratch/manifest.toml")),
    ("src/lib.rs", include_str!("scratch/lib.rs")),
    ("old_notes.txt", include_str!("scratch/old_notes.txt")),
];

/// A folder that was asked for must be the demo's alone: it writes there, and runs what it wrote.
fn empty_folder(dir: &Path) -> Result<PathBuf> {
    let shown = dir.display();
    private().recursive(true).create(dir).with_context(|| format!("cannot make the folder `{shown}`"))?;
    let mut entries = fs::read_dir(dir).with_context(|| format!("cannot look into `{shown}`"))?;
    if entries.next().is_some() {
        let complaint = format!("`{shown}` is not empty; give --dir a new or an empty folder");
        return Err(Complaint::Usage(complaint).into());
    }
    dir.canonicalize().with_context(|| format!("cannot find `{shown}`"))
}

fn fresh_folder(below: &Path) -> Result<PathBuf> {
    for number in 1..=MOST_TRIES {
        let dir = below.join(format!("vanta-demo-{}-{number}", std::process::id()));
        match made(&dir) {
            Ok(dir) => return Ok(dir),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make `{}`", dir.display())),
        }
    }
    anyhow::bail!("`{}` is full of earlier demos; give one a folder with --dir", below.display())
}

/// Fails when there is one already, so nobody can have put anything there.
fn made(dir: &Path) -> io::Result<PathBuf> {
    private().create(dir)?;
    dir.canonicalize()
}

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

const MOST_TRIES: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("mine.txt"), "mine").unwrap();
        let error = make(Some(dir.path())).unwrap_err();
        assert!(error.to_string().contains("not empty"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn fresh_folders_are_new_and_private() {
        let below = tempfile::tempdir().unwrap();
        let (first, second) = (fresh_folder(below.path()).unwrap(), fresh_folder(below.path()).unwrap());
        assert_ne!(first, second);
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(first).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
    }
}
