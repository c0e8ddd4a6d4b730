//! Why a file tool could not do what it was asked; the text is for the model and says what to do next.

use std::io;

use vanta_core::tool::DescribeError;

use crate::text::Mismatch;

/// One refusal or failure. Names paths, never content beyond the line that helps to correct an edit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// An argument makes no sense.
    #[error("{0}")]
    Argument(String),

    /// Nothing is at the path.
    #[error("not found: `{path}` does not exist{}", suggestion(near))]
    Missing { path: String, near: Vec<String> },

    /// A part of the path in front of the last is not a folder.
    #[error("`{path}` is not a directory, so nothing can be below it")]
    NotAFolder { path: String },

    /// The path holds more links than anyone follows.
    #[error("`{path}` goes through too many links; they may form a circle")]
    TooManyLinks { path: String },

    /// The path names something that the tool does not handle.
    #[error("`{path}` is {kind}; {advice}")]
    Unsuitable { path: String, kind: String, advice: &'static str },

    /// The facts that were judged are no longer so.
    #[error("`{path}` changed since it was cleared: {how}; nothing was done, look again and repeat the call")]
    Changed { path: String, how: String },

    /// The content is not what the session saw last.
    #[error(
        "`{path}` was changed by someone else since this session last saw it; read it again before replacing it"
    )]
    Stale { path: String },

    /// The file is larger than the tool takes.
    #[error("`{path}` is larger than {limit} bytes; change it with a shell command, or in parts")]
    TooLarge { path: String, limit: u64 },

    /// The edit does not fit the text.
    #[error("`{path}` was not changed: {mismatch}")]
    Mismatch { path: String, mismatch: Mismatch },

    /// The operating system said no.
    #[error("cannot {doing} `{path}`: {source}")]
    Io { doing: &'static str, path: String, source: io::Error },

    /// The call was stopped before it did anything.
    #[error("stopped before anything was done")]
    Cancelled,

    /// The work ended without an answer; a defect, reported rather than raised.
    #[error("the tool stopped in the middle; look at the file before trying again")]
    Interrupted,
}

impl FileError {
    /// For `map_err`: the system refused `doing` with `path`.
    pub(crate) fn io<E: Into<io::Error>>(doing: &'static str, path: &str) -> impl FnOnce(E) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source: source.into() }
    }
}

impl From<FileError> for DescribeError {
    fn from(error: FileError) -> Self {
        Self::new(error.to_string())
    }
}

fn suggestion(near: &[String]) -> String {
    if near.is_empty() {
        return String::from("; list the directory to see what is there");
    }
    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(" or "))
}
