//! A file of lines that several processes append to: lock, read what is new, check, write once, sync, unlock.
//!
//! Knows nothing of what the lines mean: [`Lines`] checks them and keeps what they add up to. Reading is
//! incremental, so an append costs what was added since the last one, not the whole file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::StoreError;
use super::dirs::{make_folder, open_file, sync_folder};

/// What the lines of one file mean.
pub(crate) trait Lines {
    /// A line that was checked and can be taken in.
    type Line;

    /// Forgets everything: the file is about to be read from its beginning.
    fn reset(&mut self) -> Result<(), StoreError>;

    /// Checks `line`, which follows those taken in so far and comes without its newline.
    fn check(&self, line: &[u8]) -> Result<Self::Line, Flaw>;

    /// Takes in a checked line, which begins at byte `at`.
    fn take(&mut self, line: Self::Line, at: u64);

    /// Called when the file was read to its end after a reset.
    fn complete(&mut self);

    /// The next line, if any, that must be added before anything else is.
    fn amend(&self, now_ms: u64) -> Option<String>;

    /// Called when what was taken in is durable.
    fn durable(&mut self) -> Result<(), StoreError>;

    /// The line that opens an empty file.
    fn header(&self, now_ms: u64) -> String;

    /// The line to add, if any, when bytes were cut off.
    fn repaired(&self, repair: &Repair, now_ms: u64) -> Option<String>;
}

/// Why a line is not accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flaw {
    Damage(&'static str),
    TooNew,
}

/// The end of a file that is no whole line, because a writer died: kept aside and cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    pub(crate) file: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) kept: PathBuf,
}

impl Repair {
    /// The file that was repaired.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// How many bytes stood after the last whole line.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where they are kept.
    #[must_use]
    pub fn kept(&self) -> &Path {
        &self.kept
    }
}

/// One open file, how far it was read and what was found.
#[derive(Debug)]
pub(crate) struct LineLog<L> {
    path: PathBuf,
    quarantine: PathBuf,
    lock_path: PathBuf,
    lock: File,
    file: File,
    read_to: u64,
    lines_read: u64,
    pub(crate) lines: L,
    pub(crate) repairs: Vec<Repair>,
}

impl<L: Lines> LineLog<L> {
    /// Opens `name` in `folder`, making it when missing, and checks all of it.
    pub(crate) fn open(folder: &Path, name: &str, lines: L) -> Result<Self, StoreError> {
        let path = folder.join(name);
        let lock_path = path.with_extension("lock");
        let lock = open_lock(&lock_path)?;
        let file = open_log(&path)?;
        let quarantine = folder.join("quarantine");
        let (read_to, lines_read, repairs) = (0, 0, Vec::new());
        let mut log = Self { path, quarantine, lock_path, lock, file, read_to, lines_read, lines, repairs };
        log.read(|_| ())?;
        Ok(log)
    }

    /// Reads what others added and hands the up-to-date log to `look`, all under a shared lock.
    pub(crate) fn read<T>(&mut self, look: impl FnOnce(&Self) -> T) -> Result<T, StoreError> {
        let _held = self.hold(File::lock_shared)?;
        self.refresh()?;
        Ok(look(self))
    }

    /// Appends the line `make` derives from the up-to-date state, all under an exclusive lock.
    ///
    /// `make` may find that nothing needs saying.
    pub(crate) fn append<T>(
        &mut self,
        now_ms: u64,
        make: impl FnOnce(&L) -> Result<(Option<String>, T), StoreError>,
    ) -> Result<T, StoreError> {
        let _held = self.hold(File::lock)?;
        let tail = self.refresh()?;
        if !tail.is_empty() {
            self.repair(tail, now_ms)?;
        }
        if self.read_to == 0 {
            self.write(self.lines.header(now_ms))?;
        }
        while let Some(line) = self.lines.amend(now_ms) {
            self.write(line)?;
        }
        let (line, result) = make(&self.lines)?;
        match line {
            Some(line) => self.write(line)?,
            // What is confirmed may stem from a writer that was killed before it synced.
            None => self.sync()?,
        }
        self.lines.durable()?;
        Ok(result)
    }

    /// Hands the complete lines from byte `from` to `each`, which must have been accepted before.
    pub(crate) fn lines_from(&self, from: u64, mut each: impl FnMut(&[u8])) -> Result<(), StoreError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(from)).map_err(StoreError::io(&self.path))?;
        let mut reader = BufReader::new(file.take(self.read_to.saturating_sub(from)));
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(StoreError::io(&self.path))? > 0 {
            each(line.strip_suffix(b"\n").unwrap_or(&line));
            line.clear();
        }
        Ok(())
    }

    /// Waits for the lock, and for the one in its place when somebody deleted it meanwhile.
    fn hold(&mut self, lock: fn(&File) -> io::Result<()>) -> Result<Held, StoreError> {
        loop {
            let file = self.lock.try_clone().map_err(StoreError::io(&self.lock_path))?;
            match lock(&file) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                locked => locked.map_err(StoreError::io(&self.lock_path))?,
            }
            let held = Held(file);
            if is_at(&self.lock_path, &held.0)? {
                return Ok(held);
            }
            self.lock = open_lock(&self.lock_path)?;
        }
    }

    /// Reads and checks what was added since the last time; returns the bytes after the last newline.
    fn refresh(&mut self) -> Result<Vec<u8>, StoreError> {
        if self.reopen_when_replaced()? || self.read_to == 0 {
            return self.read_all();
        }
        if self.file.metadata().map_err(StoreError::io(&self.path))?.len() < self.read_to {
            return Err(self.damaged("lines that were here are gone"));
        }
        self.read_on()
    }

    /// Reads from the beginning; what was read counts only when it was read to the end.
    fn read_all(&mut self) -> Result<Vec<u8>, StoreError> {
        (self.read_to, self.lines_read) = (0, 0);
        self.lines.reset()?;
        let tail = self.read_on();
        match &tail {
            Ok(_) => self.lines.complete(),
            Err(_) => self.read_to = 0,
        }
        tail
    }

    fn read_on(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut file = self.file.try_clone().map_err(StoreError::io(&self.path))?;
        file.seek(SeekFrom::Start(self.read_to)).map_err(StoreError::io(&self.path))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut bounded = reader.by_ref().take(MAX_LINE);
            let length = bounded.read_until(b'\n', &mut line).map_err(StoreError::io(&self.path))?;
            if length as u64 == MAX_LINE {
                return Err(self.damaged("it is too long"));
            }
            let Some(whole) = line.strip_suffix(b"\n") else {
                return self.check_tail(&line).map(|()| line);
            };
            let checked = self.lines.check(whole).map_err(|flaw| self.flawed(flaw))?;
            self.advance(checked, length);
        }
    }

    /// A torn write leaves a part of a line; a whole line with one more byte lost its newline to damage.
    fn check_tail(&self, tail: &[u8]) -> Result<(), StoreError> {
        match tail.split_last() {
            Some((last, line)) if *last != 0 && self.lines.check(line).is_ok() => {
                Err(self.damaged("another byte stands in place of the newline"))
            }
            _ => Ok(()),
        }
    }

    /// Follows the path when another file was put there.
    fn reopen_when_replaced(&mut self) -> Result<bool, StoreError> {
        let same = is_at(&self.path, &self.file)?;
        if !same {
            self.file = open_log(&self.path)?;
        }
        Ok(!same)
    }

    /// Keeps the torn `tail` aside and cuts it off; a whole line that only lacks its newline gets it.
    fn repair(&mut self, tail: Vec<u8>, now_ms: u64) -> Result<(), StoreError> {
        let zeros = tail.iter().rev().take_while(|byte| **byte == 0).count();
        let line = tail.get(..tail.len() - zeros).unwrap_or_default();
        let kept = self.keep(&tail)?;
        if let Ok(whole) = self.lines.check(line) {
            // INVARIANT: a whole line may have been acknowledged, so it is never missing, not even for a moment.
            self.cut(self.read_to + line.len() as u64)?;
            self.put(b"\n")?;
            self.advance(whole, line.len() + 1);
        } else {
            self.cut(self.read_to)?;
        }
        let repair = Repair { file: self.path.clone(), bytes: tail.len() as u64, kept };
        if self.read_to == 0 {
            self.write(self.lines.header(now_ms))?;
        }
        if let Some(note) = self.lines.repaired(&repair, now_ms) {
            self.write(note)?;
        }
        self.repairs.push(repair);
        Ok(())
    }

    /// Copies `tail` to a new file in the quarantine, durably.
    fn keep(&self, tail: &[u8]) -> Result<PathBuf, StoreError> {
        make_folder(&self.quarantine)?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        for attempt in 0_u32.. {
            let kept = self.quarantine.join(format!("{name}.{}.{attempt}", self.read_to));
            match open_file(&kept, OpenOptions::new().write(true).create_new(true)) {
                Err(StoreError::NotAFile { .. }) => {}
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {}
                opened => {
                    let mut file = opened?;
                    file.write_all(tail).and_then(|()| file.sync_all()).map_err(StoreError::io(&kept))?;
                    sync_folder(&self.quarantine)?;
                    return Ok(kept);
                }
            }
        }
        Err(StoreError::NotAFolder { path: self.quarantine.clone() })
    }

    /// Appends `line` in one write and syncs it, or leaves the file as it was.
    fn write(&mut self, line: String) -> Result<(), StoreError> {
        let checked = self.lines.check(line.as_bytes()).map_err(|_| StoreError::Unwritable)?;
        let bytes = (line + "\n").into_bytes();
        if bytes.len() as u64 >= MAX_LINE {
            return Err(StoreError::Unwritable);
        }
        if let Err(error) = self.put(&bytes) {
            // What was not acknowledged must not stay; if cutting fails as well, the next reader sees the
            // whole file anew.
            if self.cut(self.read_to).is_err() {
                self.read_to = 0;
            }
            return Err(error);
        }
        self.advance(checked, bytes.len());
        Ok(())
    }

    fn advance(&mut self, line: L::Line, length: usize) {
        self.lines.take(line, self.read_to);
        self.read_to += length as u64;
        self.lines_read += 1;
    }

    /// Writes `bytes` at the end in one go, and syncs.
    fn put(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let count = (&self.file).write(bytes).map_err(StoreError::io(&self.path))?;
        if count < bytes.len() {
            return Err(StoreError::io(&self.path)(ErrorKind::StorageFull.into()));
        }
        self.sync()
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::io(&self.path))
    }

    fn cut(&self, length: u64) -> Result<(), StoreError> {
        let cut = self.file.set_len(length).and_then(|()| self.file.sync_all());
        cut.map_err(StoreError::io(&self.path))
    }

    fn flawed(&self, flaw: Flaw) -> StoreError {
        match flaw {
            Flaw::Damage(what) => self.damaged(what),
            Flaw::TooNew => StoreError::TooNew { file: self.path.clone() },
        }
    }

    fn damaged(&self, what: &'static str) -> StoreError {
        StoreError::Damaged { file: self.path.clone(), line: self.lines_read + 1, what }
    }
}

fn open_log(path: &Path) -> Result<File, StoreError> {
    let file = open_file(path, OpenOptions::new().read(true).append(true).create(true))?;
    let is_new = file.metadata().map_err(StoreError::io(path))?.len() == 0;
    if let (true, Some(folder)) = (is_new, path.parent()) {
        sync_folder(folder)?;
    }
    Ok(file)
}

fn open_lock(path: &Path) -> Result<File, StoreError> {
    open_file(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
}

/// Whether `file` is what stands at `path`.
fn is_at(path: &Path, file: &File) -> Result<bool, StoreError> {
    let file = file.metadata().map_err(StoreError::io(path))?;
    Ok(fs::symlink_metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino())))
}

/// The OS lock, let go when dropped, and by the system when the process dies.
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // There is nobody to tell; closing the last handle lets go as well.
        let _ = self.0.unlock();
    }
}

/// No line is as long as this, so that a planted one cannot fill the memory.
const MAX_LINE: u64 = 16 * 1024 * 1024;
