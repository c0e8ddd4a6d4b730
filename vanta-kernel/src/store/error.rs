//! What can go wrong with the files, and what to do about it.

use std::path::PathBuf;
use std::{fmt, io};

use crate::{ApprovalError, ApprovalId};

/// A file of the store could not be used, or a change of state is not legal.
///
/// Every variant means that nothing was acknowledged: whoever waits for it must not act.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused. Free space or fix permissions, then try again.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not what was written there. The file is left as it is; look at it, then move it away.
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The file was written by a newer version. Update.
    TooNew {
        /// The file.
        file: PathBuf,
    },
    /// The place is a link or no folder. Move away what is there.
    NotAFolder {
        /// The place.
        path: PathBuf,
    },
    /// The place is a link or no ordinary file. Move away what is there.
    NotAFile {
        /// The place.
        path: PathBuf,
    },
    /// The key file does not hold a key. Delete it: approvals given with the old key no longer count.
    BadKey {
        /// The key file.
        path: PathBuf,
    },
    /// Neither `XDG_STATE_HOME` nor `HOME` names an absolute folder. Set one of them.
    NoStateHome,
    /// There is no approval with this id.
    UnknownApproval(ApprovalId),
    /// The approval does not allow this change.
    Refused(ApprovalError),
    /// The kind of event has characters other than lower-case letters, digits, `.`, `_` and `-`.
    BadEventKind,
    /// The record could not be read back: it is too long, repeats a member name or nests too deep. Simplify it.
    Unwritable,
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => {
                write!(f, "cannot use `{}`: {source}; check space and permissions", path.display())
            }
            Self::Damaged { file, line, what } => {
                let file = file.display();
                write!(f, "`{file}` line {line} is damaged ({what}); inspect it and move the file away")
            }
            Self::TooNew { file } => {
                write!(f, "`{}` was written by a newer version; update to read it", file.display())
            }
            Self::NotAFolder { path } => {
                write!(f, "`{}` is a link or not a folder; move it away", path.display())
            }
            Self::NotAFile { path } => {
                write!(f, "`{}` is a link or not an ordinary file; move it away", path.display())
            }
            Self::BadKey { path } => {
                write!(f, "`{}` is not a key; delete it to make a new one", path.display())
            }
            Self::NoStateHome => f.write_str("no folder for state; set XDG_STATE_HOME or HOME"),
            Self::UnknownApproval(id) => write!(f, "there is no approval {id}; list the approvals"),
            Self::Refused(error) => error.fmt(f),
            Self::Unwritable => {
                f.write_str("the record is too long, repeats a member name or nests too deep; simplify it")
            }
            Self::BadEventKind => {
                f.write_str("an event kind is up to 64 of a-z, 0-9, `.`, `_` and `-`; choose another")
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Refused(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ApprovalError> for StoreError {
    fn from(error: ApprovalError) -> Self {
        Self::Refused(error)
    }
}
