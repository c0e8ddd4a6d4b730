//! The two folders: `.vanta/` under the root, and this user's state outside it.
//!
//! What comes with a clone lies in the first, so nothing in it is believed without the key in the second.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::StoreError;
use crate::sha256::{hex, sha256};

/// The `.vanta/` folder of a root: private to the user, ignored by git.
#[derive(Debug, Clone)]
pub struct VantaDir {
    path: PathBuf,
}

impl VantaDir {
    /// Opens `.vanta/` under `root`, making it when missing.
    ///
    /// # Errors
    /// [`StoreError::NotAFolder`] when `.vanta` is a link or a file, [`StoreError::Io`] when it cannot be made.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let path = root.join(".vanta");
        make_folder(&path)?;
        let ignore = path.join(".gitignore");
        let mut file = open_file(&ignore, OpenOptions::new().read(true).append(true).create(true))?;
        let mut present = Vec::new();
        file.read_to_end(&mut present).map_err(StoreError::io(&ignore))?;
        // In git the last pattern that matches decides.
        if present != b"*\n" && !present.ends_with(b"\n*\n") {
            let line: &[u8] = if present.is_empty() { b"*\n" } else { b"\n*\n" };
            file.write_all(line).map_err(StoreError::io(&ignore))?;
        }
        Ok(Self { path })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// This user's private state for one root; never under the root.
#[derive(Debug, Clone)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// The state folder of `root`: `$XDG_STATE_HOME/vanta/<digest>`, else `~/.local/state/vanta/<digest>`,
    /// where the digest is of the root's real path. Made when missing.
    ///
    /// When the root is the home folder or one above it, the state lies inside: name it in
    /// [`Scope::protect`](crate::Scope::protect).
    ///
    /// # Errors
    /// [`StoreError::NoStateHome`] when neither variable names an absolute folder, [`StoreError::Io`] when the
    /// root has no real path or the folder cannot be made, [`StoreError::NotAFolder`] for a link or a file.
    pub fn for_root(root: &Path) -> Result<Self, StoreError> {
        let root = root.canonicalize().map_err(StoreError::io(root))?;
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
        let vanta = state.ok_or(StoreError::NoStateHome)?.join("vanta");
        Self::at(vanta.join(hex(&sha256(root.as_os_str().as_bytes()))))
    }

    /// The state folder at `path`, made when missing.
    ///
    /// # Errors
    /// [`StoreError::Io`] when it cannot be made, [`StoreError::NotAFolder`] for a link or a file.
    pub fn at(path: PathBuf) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            made.map_err(StoreError::io(parent))?;
        }
        make_folder(&path)?;
        Ok(Self { path })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key of this user's record MACs, made at first use.
    ///
    /// # Errors
    /// [`StoreError::BadKey`] when the file holds anything but 32 bytes, [`StoreError::Io`],
    /// [`StoreError::NotAFile`].
    pub(crate) fn mac_key(&self) -> Result<[u8; 32], StoreError> {
        let path = self.path.join("mac.key");
        let file = match open_file(&path, OpenOptions::new().read(true)) {
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                self.make_key(&path).map_err(StoreError::io(&path))?;
                open_file(&path, OpenOptions::new().read(true))?
            }
            opened => opened?,
        };
        let mut key = Vec::new();
        file.take(33).read_to_end(&mut key).map_err(StoreError::io(&path))?;
        key.try_into().map_err(|_| StoreError::BadKey { path })
    }

    /// Makes the key under a name of its own and links it into place, so that of several makers one wins and
    /// nobody ever sees a part of it.
    fn make_key(&self, path: &Path) -> io::Result<()> {
        let key = random()?;
        let own: OsString = format!("mac.key.{}", hex(&random()?)).into();
        let own = self.path.join(own);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&own)?;
        file.write_all(&key)?;
        file.sync_all()?;
        let linked = fs::hard_link(&own, path);
        fs::remove_file(&own)?;
        match linked {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => File::open(&self.path)?.sync_all(),
        }
    }
}

/// 32 random bytes from the operating system.
fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Makes the folder `path` when missing, and private in any case. Its parent must exist.
///
/// # Errors
/// [`StoreError::NotAFolder`] for a link or anything else that is no folder; [`StoreError::Io`].
pub fn make_folder(path: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => sync_folder(path.parent().unwrap_or(path))?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(StoreError::io(path)(error)),
    }
    let found = fs::symlink_metadata(path).map_err(StoreError::io(path))?;
    if !found.is_dir() {
        return Err(StoreError::NotAFolder { path: path.into() });
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(StoreError::io(path))?;
    }
    Ok(())
}

/// Opens the ordinary file `path`, private in any case. Never follows a link, never blocks on a pipe.
///
/// # Errors
/// [`StoreError::NotAFile`] for a link, a pipe or anything else that is no ordinary file; [`StoreError::Io`].
pub fn open_file(path: &Path, options: &mut OpenOptions) -> Result<File, StoreError> {
    let not_a_file = || StoreError::NotAFile { path: path.into() };
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(not_a_file());
    }
    let file = options.mode(0o600).open(path).map_err(StoreError::io(path))?;
    let opened = file.metadata().map_err(StoreError::io(path))?;
    let found = fs::symlink_metadata(path).map_err(StoreError::io(path))?;
    if !found.is_file() || (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
        return Err(not_a_file());
    }
    if opened.mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600)).map_err(StoreError::io(path))?;
    }
    Ok(file)
}

/// Makes the entries of `folder` durable.
///
/// # Errors
/// [`StoreError::Io`].
pub fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    // A relative path of one word has the empty path as its parent.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io(folder))
}
