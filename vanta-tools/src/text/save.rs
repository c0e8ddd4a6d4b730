//! Writing a whole file so that every reader sees the old content or the new, never a part.
//!
//! The new content goes to a file beside the target, is synced, and takes the target's name. Owner and mode are
//! taken over; a new file follows the umask. Hard links to the old content keep it. Extended attributes are not
//! copied.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::error::FileError;
use crate::path::{FileId, Folder, Made, Place, TempFile, is_writable};

/// What the new content is based on; checked again just before it is put in place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Basis {
    /// There was no file.
    Nothing,
    /// The file in this state.
    File(FileId),
}

/// Keeps other calls of this process from changing the file at `path` while the guard lives.
///
/// Take it before reading what an edit is based on. Different files may share a lock.
pub(crate) fn exclusive(path: &Path) -> MutexGuard<'static, ()> {
    static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
    static REST: Mutex<()> = Mutex::new(());

    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    let slot = usize::try_from(hasher.finish() % 64).unwrap_or(0);
    LOCKS.get(slot).unwrap_or(&REST).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the file at `place` through `fill`, all or nothing. Missing folders are made.
pub(crate) fn save(
    place: &Place,
    basis: Basis,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let (folder, name, made) = place.make_parent()?;
    let saved = save_in(place, &folder, &name, basis, fill);
    match &saved {
        Ok(()) => made.iter().for_each(Made::sync),
        Err(_) => made.iter().rev().for_each(Made::take_back),
    }
    saved
}

fn save_in(
    place: &Place,
    folder: &Folder,
    name: &std::ffi::OsStr,
    basis: Basis,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let failed = |errno: Errno| FileError::io("write", place.shown())(errno);
    if matches!(basis, Basis::File(_)) && !is_writable(folder, name) {
        return Err(place.unsuitable("read-only", "ask for its mode to be changed, or write elsewhere"));
    }
    let mut temp = TempFile::new(folder).map_err(failed)?;
    fill(temp.file()).map_err(FileError::io("write", place.shown()))?;
    let now = folder.file_id(name).map_err(failed)?;
    match (basis, now) {
        (Basis::Nothing, None) => {}
        (Basis::Nothing, Some(_)) => return Err(place.changed("something was created there meanwhile")),
        (Basis::File(_), None) => return Err(place.changed("it was deleted meanwhile")),
        (Basis::File(then), Some(now)) if then != now => {
            return Err(place.changed("it was changed meanwhile"));
        }
        (Basis::File(_), Some(_)) => temp.adopt(name).map_err(failed)?,
    }
    temp.place(name, matches!(basis, Basis::File(_))).map_err(|errno| match errno {
        Errno::EXIST => place.changed("something was created there meanwhile"),
        errno => failed(errno),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use vanta_core::Scope;

    use super::*;

    fn place(root: &tempfile::TempDir, name: &str) -> Place {
        Place::locate(&Scope::new(root.path().to_str().unwrap()), name).unwrap()
    }

    fn names(root: &tempfile::TempDir) -> Vec<String> {
        fs::read_dir(root.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    fn basis(place: &Place) -> Basis {
        Basis::File(place.open_file().unwrap().1)
    }

    #[test]
    fn a_write_that_fails_midway_leaves_the_old_content_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("f"), "old").unwrap();
        let place = place(&root, "f");
        let failed = save(&place, basis(&place), |file| {
            file.write_all(b"ne")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(matches!(failed, Err(FileError::Io { .. })));
        assert_eq!(
            (fs::read_to_string(root.path().join("f")).unwrap(), names(&root)),
            ("old".into(), vec!["f".into()])
        );
    }

    #[test]
    fn folders_made_for_a_failed_write_are_taken_back() {
        let root = tempfile::tempdir().unwrap();
        let failed = save(&place(&root, "a/b/f"), Basis::Nothing, |_| {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert!(failed.is_err() && names(&root).is_empty());
    }

    #[test]
    fn a_change_while_writing_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("f");
        fs::write(&path, "old").unwrap();
        let place = place(&root, "f");
        let raced = |during: &dyn Fn(), basis| {
            save(&place, basis, |file| {
                during();
                file.write_all(b"new")
            })
        };
        let edited = raced(&|| fs::write(&path, "human").unwrap(), basis(&place));
        assert!(matches!(edited, Err(FileError::Changed { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "human");
        let deleted = raced(&|| fs::remove_file(&path).unwrap(), basis(&place));
        assert!(matches!(deleted, Err(FileError::Changed { .. })) && names(&root).is_empty());
        let created = raced(&|| fs::write(&path, "human").unwrap(), Basis::Nothing);
        assert!(matches!(created, Err(FileError::Changed { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "human");
    }

    #[test]
    fn mode_is_kept_and_hard_links_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("f");
        fs::write(&path, "old").unwrap();
        fs::hard_link(&path, root.path().join("other")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let place = place(&root, "f");
        save(&place, basis(&place), |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_to_string(root.path().join("other")).unwrap(), "old");
    }
}
