//! Opening a [`Place`] by handle: component by component, following no link, refusing by type.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::Place;
use crate::error::FileError;

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe with a name.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device, or something unknown.
    Device,
}

impl Kind {
    fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            _ => Self::Device,
        }
    }

    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a directory",
            Self::Link => "a link",
            Self::Fifo => "a named pipe (fifo)",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

/// Tells one state of one file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl FileId {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the fields' types differ between systems"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Length in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
}

/// An open folder. Everything below is relative to the handle, so renames of its parents do not matter.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: OwnedFd,
}

impl Place {
    /// What is there now, without opening it; `None` when nothing is.
    pub(crate) fn kind(&self) -> Result<Option<Kind>, FileError> {
        let Some((folder, name)) = self.parent()? else { return Ok(Some(Kind::Folder)) };
        folder.stat(&name).map(|stat| stat.as_ref().map(Kind::of)).map_err(self.failed("look at"))
    }

    /// Opens the ordinary file that is there, for reading.
    pub(crate) fn open_file(&self) -> Result<(File, FileId), FileError> {
        let missing = || FileError::Missing { path: self.shown().to_owned(), near: Vec::new() };
        let (folder, name) = self.parent()?.ok_or_else(|| self.not_a_file(Kind::Folder))?;
        // Looked at first: opening a device can already do something.
        let stat = folder.stat(&name).map_err(self.failed("look at"))?.ok_or_else(missing)?;
        self.check_file(&stat)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let handle =
            rustix::fs::openat(&folder.handle, &name, flags, Mode::empty()).map_err(self.failed("open"))?;
        let stat = rustix::fs::fstat(&handle).map_err(self.failed("look at"))?;
        self.check_file(&stat)?;
        self.check_file_system(&handle)?;
        Ok((File::from(handle), FileId::of(&stat)))
    }

    /// Opens the folder that is there, for listing.
    pub(crate) fn open_folder(&self) -> Result<Folder, FileError> {
        let start = open_base(&self.base).map_err(self.failed("open"))?;
        let folder = self.parts().try_fold(start, |at, part| at.enter(part)).map_err(self.failed("open"))?;
        folder.readable().map_err(self.failed("open"))
    }

    /// Opens the folder that holds it, and its name there. `None` for the start of the walk itself.
    pub(crate) fn parent(&self) -> Result<Option<(Folder, OsString)>, FileError> {
        let parts: Vec<&OsStr> = self.parts().collect();
        let Some((name, above)) = parts.split_last() else { return Ok(None) };
        let start = open_base(&self.base).map_err(self.failed("open"))?;
        let folder = above.iter().try_fold(start, |at, part| at.enter(part)).map_err(self.failed("open"))?;
        Ok(Some((folder, (*name).to_owned())))
    }

    /// Like [`Place::parent`], making the folders that are missing. Also says which it made, outermost first.
    pub(crate) fn make_parent(&self) -> Result<(Folder, OsString, Vec<Made>), FileError> {
        let parts: Vec<&OsStr> = self.parts().collect();
        let (name, above) = parts.split_last().ok_or_else(|| self.not_a_file(Kind::Folder))?;
        let mut made = Vec::new();
        let mut at = open_base(&self.base).map_err(self.failed("open"))?;
        for part in above {
            at = match at.enter(part) {
                Err(Errno::NOENT) => {
                    let new = at.make(part).and_then(|fresh| Ok((at.enter(part)?, fresh)));
                    let (inner, fresh) = new.map_err(self.failed("make the directory of"))?;
                    if fresh {
                        made.push(Made { folder: at, name: (*part).to_owned() });
                    }
                    inner
                }
                other => other.map_err(self.failed("open"))?,
            };
        }
        Ok((at, (*name).to_owned(), made))
    }

    /// Turns an error of the walk into a message. A link or a file where a folder was means that someone
    /// changed the path after it was resolved.
    pub(crate) fn failed(&self, doing: &'static str) -> impl Fn(Errno) -> FileError {
        move |errno| match errno {
            Errno::LOOP | Errno::NOTDIR => self.changed("a part of the path was replaced"),
            Errno::NOENT => FileError::Missing { path: self.shown().to_owned(), near: Vec::new() },
            errno => FileError::io(doing, self.shown())(errno),
        }
    }

    fn not_a_file(&self, kind: Kind) -> FileError {
        let advice = match kind {
            Kind::Folder => "name a file, or list it with list_dir",
            _ => "only ordinary files can be read or written",
        };
        self.unsuitable(kind.name(), advice)
    }

    fn check_file(&self, stat: &Stat) -> Result<(), FileError> {
        match Kind::of(stat) {
            Kind::File => Ok(()),
            Kind::Link => Err(self.changed("it is now a link")),
            kind => Err(self.not_a_file(kind)),
        }
    }

    /// Files of `/proc` show the inside of processes, this one's environment among them.
    #[cfg(target_os = "linux")]
    fn check_file_system(&self, handle: &OwnedFd) -> Result<(), FileError> {
        let stat = rustix::fs::fstatfs(handle).map_err(self.failed("look at"))?;
        if stat.f_type == rustix::fs::PROC_SUPER_MAGIC {
            return Err(self.unsuitable("a file of /proc", "those show running processes and are not read"));
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "there is no /proc to refuse here")]
    fn check_file_system(&self, _: &OwnedFd) -> Result<(), FileError> {
        Ok(())
    }
}

/// For walking only: needs no permission to read the folders on the way where the system has such handles.
#[cfg(any(target_os = "linux", target_os = "android"))]
const WALK: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const WALK: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn open_base(path: &Path) -> Result<Folder, Errno> {
    rustix::fs::open(path, WALK, Mode::empty()).map(|handle| Folder { handle })
}

impl Folder {
    /// The folder `name` in this one, unless it is a link.
    // INVARIANT: `name` is one component and never `..`; with NOFOLLOW on each step no link is ever followed.
    fn enter(&self, name: impl AsRef<OsStr>) -> Result<Self, Errno> {
        let handle = rustix::fs::openat(&self.handle, name.as_ref(), WALK | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { handle })
    }

    /// Makes the folder `name`; false when it is there already.
    fn make(&self, name: &OsStr) -> Result<bool, Errno> {
        match rustix::fs::mkdirat(&self.handle, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// The same folder, through a handle that may list and sync it.
    fn readable(&self) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, ".", flags, Mode::empty()).map(|handle| Self { handle })
    }

    /// What `name` is here, links not followed.
    pub(crate) fn stat(&self, name: &OsStr) -> Result<Option<Stat>, Errno> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// The state of the file `name`, if there is one.
    pub(crate) fn file_id(&self, name: &OsStr) -> Result<Option<FileId>, Errno> {
        Ok(self.stat(name)?.as_ref().map(FileId::of))
    }

    /// The type of `name`; a device when it vanished meanwhile.
    pub(crate) fn kind(&self, name: &OsStr) -> Kind {
        self.stat(name).ok().flatten().as_ref().map_or(Kind::Device, Kind::of)
    }

    /// Where the link `name` points.
    pub(crate) fn link_target(&self, name: &OsStr) -> Option<OsString> {
        use std::os::unix::ffi::OsStringExt;

        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new()).ok()?;
        Some(OsString::from_vec(target.into_bytes()))
    }

    /// The names in an [opened](Place::open_folder) folder, in no order.
    pub(crate) fn names(&self) -> Result<impl Iterator<Item = Result<OsString, Errno>>, Errno> {
        use std::os::unix::ffi::OsStrExt;

        let names = rustix::fs::Dir::read_from(&self.handle)?
            .map(|entry| entry.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned()));
        Ok(names.filter(|name| !matches!(name, Ok(name) if name == "." || name == "..")))
    }

    /// Makes renames and new names in it durable.
    fn sync(&self) -> Result<(), Errno> {
        rustix::fs::fsync(self.readable()?.handle.as_fd())
    }
}

/// A folder that [`Place::make_parent`] made, to be taken back when the write fails.
#[derive(Debug)]
pub(crate) struct Made {
    folder: Folder,
    name: OsString,
}

impl Made {
    /// Makes its name durable.
    pub(crate) fn sync(&self) {
        // As in `TempFile::place`: the content is there, and some file systems cannot sync a folder.
        let _ = self.folder.sync();
    }

    /// Removes it if it is still empty.
    pub(crate) fn take_back(&self) {
        // Nothing can be done about a folder that others already use.
        let _ = rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::REMOVEDIR);
    }
}

/// A new file beside its target; gone unless it is put in the target's place.
#[derive(Debug)]
pub(crate) struct TempFile<'a> {
    folder: &'a Folder,
    name: OsString,
    file: File,
    placed: bool,
}

impl<'a> TempFile<'a> {
    /// Makes one in `folder`, with the mode of any new file.
    pub(crate) fn new(folder: &'a Folder) -> Result<Self, Errno> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".vanta-{}-{count}.tmp", std::process::id()));
            match rustix::fs::openat(&folder.handle, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(handle) => return Ok(Self { folder, name, file: File::from(handle), placed: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// For writing.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Takes over owner and mode of the file `name`, as far as this user may.
    pub(crate) fn adopt(&self, name: &OsStr) -> Result<(), Errno> {
        let Some(old) = self.folder.stat(name)? else { return Ok(()) };
        let new = rustix::fs::fstat(&self.file)?;
        let mut mode = Mode::from_raw_mode(old.st_mode);
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
            let owner = rustix::fs::Uid::from_raw(old.st_uid);
            let group = rustix::fs::Gid::from_raw(old.st_gid);
            if rustix::fs::fchown(&self.file, Some(owner), Some(group)).is_err() {
                // Set-user and set-group bits would now speak for somebody else.
                mode.remove(Mode::SUID | Mode::SGID);
            }
        }
        rustix::fs::fchmod(&self.file, mode)
    }

    /// Puts it in the place of `name`, durably. With `replace` off an existing `name` is an error.
    pub(crate) fn place(mut self, name: &OsStr, replace: bool) -> Result<(), Errno> {
        rustix::fs::fsync(&self.file)?;
        let handle = &self.folder.handle;
        if replace {
            rustix::fs::renameat(handle, &self.name, handle, name)?;
            self.placed = true;
        } else {
            self.placed = place_new(self.folder, &self.name, name)?;
        }
        // The content is in place; a folder that cannot be synced (some network file systems) is no failure.
        let _ = self.folder.sync();
        Ok(())
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::empty());
        }
    }
}

/// Gives the file `temp` the name `name` unless that is taken. False when the old name is still there too.
fn place_new(folder: &Folder, temp: &OsStr, name: &OsStr) -> Result<bool, Errno> {
    #[cfg(any(target_vendor = "apple", target_os = "linux", target_os = "android"))]
    match rustix::fs::renameat_with(
        &folder.handle,
        temp,
        &folder.handle,
        name,
        rustix::fs::RenameFlags::NOREPLACE,
    ) {
        // The file system does not know this kind of rename: a hard link never replaces either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        other => return other.map(|()| true),
    }
    rustix::fs::linkat(&folder.handle, temp, &folder.handle, name, AtFlags::empty()).map(|()| false)
}

/// Whether this user may change the file `name`; a rename would not ask.
pub(crate) fn is_writable(folder: &Folder, name: &OsStr) -> bool {
    rustix::fs::accessat(&folder.handle, name, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}
