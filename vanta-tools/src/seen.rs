//! What a session last saw of each file, so that a change by somebody else is noticed.
//!
//! Contents are compared, not time stamps: a file that was only touched is still the one that was read. The
//! session's own writes count as seen, and a file that was read in part counts as seen whole. Nothing here is
//! durable.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stands for the content of a file; equal contents have equal prints.
///
/// Not a cryptographic digest: it notices an editor, a formatter or a merge, it does not resist forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Print {
    bytes: u64,
    hash: u64,
}

impl Print {
    /// Of a whole content.
    pub(crate) fn of(content: &[u8]) -> Self {
        let mut print = Printer::default();
        print.update(content);
        print.finish()
    }
}

/// A [`Print`] in the making.
#[derive(Debug, Default)]
pub(crate) struct Printer {
    bytes: u64,
    hasher: DefaultHasher,
}

impl Printer {
    /// Adds the next part of the content. Where parts begin and end makes no difference.
    pub(crate) fn update(&mut self, part: &[u8]) {
        self.bytes += u64::try_from(part.len()).unwrap_or(u64::MAX);
        self.hasher.write(part);
    }

    /// The print of everything added.
    pub(crate) fn finish(self) -> Print {
        Print { bytes: self.bytes, hash: self.hasher.finish() }
    }
}

impl io::Write for Printer {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.update(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The session's memory, kept in its [`Slots`](vanta_core::Slots).
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<HashMap<PathBuf, Print>>);

impl Seen {
    /// The session knows that the file at `path` has this content.
    pub(crate) fn record(&self, path: &Path, print: Print) {
        self.map().insert(path.to_owned(), print);
    }

    /// The content that was seen last; `None` when the session does not know the file.
    pub(crate) fn last(&self, path: &Path) -> Option<Print> {
        self.map().get(path).copied()
    }

    fn map(&self) -> MutexGuard<'_, HashMap<PathBuf, Print>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_do_not_depend_on_the_parts() {
        let mut parts = Printer::default();
        parts.update(b"ab");
        parts.update(b"c");
        assert_eq!(parts.finish(), Print::of(b"abc"));
        assert_ne!(Print::of(b"abd"), Print::of(b"abc"));
    }
}
