//! What is about to be touched: the verb, its paths, command or address. Never content.
//!
//! File content, commit messages, queries and prompts are data; no constructor takes content.

use alloc::string::String;

/// The language a [`Action::Shell`] command is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// POSIX `sh` and bash.
    #[default]
    Posix,
    /// PowerShell.
    PowerShell,
    /// `cmd.exe`.
    Cmd,
}

/// One action, as [`assess`](crate::assess) judges it.
///
/// Paths are strings as a tool would pass them: absolute, relative to the working directory of the scope, or
/// starting with `~`. They are resolved lexically; whoever knows the disk resolves links first and asks about
/// the real path.
///
/// ```
/// use vanta_kernel::{Action, Scope, Verdict, assess};
///
/// let scope = Scope::new("/srv/app");
/// let new_file = Action::Write { path: "src/new.rs".into(), replaces: false };
/// assert!(matches!(assess(&new_file, &scope), Verdict::Allow(_)));
/// let overwrite = Action::Write { path: "src/lib.rs".into(), replaces: true };
/// assert!(matches!(assess(&overwrite, &scope), Verdict::Ask(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// A command line for a shell.
    Shell {
        /// The whole command line.
        command: String,
        /// Working directory; the scope's when absent.
        cwd: Option<String>,
        /// The language of `command`.
        dialect: Dialect,
    },
    /// Reading a file.
    Read {
        /// The file.
        path: String,
    },
    /// Writing a whole file.
    Write {
        /// The file.
        path: String,
        /// The caller saw that the file exists, so its content would be lost.
        replaces: bool,
    },
    /// Changing a part of an existing file.
    Edit {
        /// The file.
        path: String,
    },
    /// Deleting a file or folder.
    Delete {
        /// The file or folder.
        path: String,
    },
    /// Moving or renaming.
    Move {
        /// The present place.
        from: String,
        /// The new place.
        to: String,
    },
    /// Copying.
    Copy {
        /// The source.
        from: String,
        /// The new place.
        to: String,
    },
    /// Listing a folder.
    List {
        /// The folder.
        path: String,
    },
    /// Searching file names or contents below a folder, or (with an empty path) the web.
    Search {
        /// What is looked for; data, never judged as a command.
        query: String,
        /// The folder searched; empty for the scope's working directory.
        path: String,
    },
    /// An HTTP request.
    Fetch {
        /// The request method; `GET` and `HEAD` only read.
        method: String,
        /// The address.
        url: String,
    },
    /// Sending something to people or services: mail, a message, a payment.
    Send {
        /// What kind of thing is sent.
        what: String,
        /// Where it goes.
        to: String,
    },
    /// A tool the kernel knows nothing about. Its best verdict is Ask.
    Tool {
        /// The tool's name.
        name: String,
        /// One line for the person who decides.
        summary: String,
    },
    /// A sentence that says what will be done. Ask when unsure.
    Text {
        /// The sentence.
        line: String,
    },
}

impl Action {
    /// A POSIX shell command in the scope's working directory.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell { command: command.into(), cwd: None, dialect: Dialect::Posix }
    }

    /// Reading the file at `path`.
    pub fn read(path: impl Into<String>) -> Self {
        Self::Read { path: path.into() }
    }

    /// Creating the file at `path`; see [`Action::overwrite`] for one that exists.
    pub fn write(path: impl Into<String>) -> Self {
        Self::Write { path: path.into(), replaces: false }
    }

    /// Replacing the existing file at `path`.
    pub fn overwrite(path: impl Into<String>) -> Self {
        Self::Write { path: path.into(), replaces: true }
    }

    /// Editing the existing file at `path`.
    pub fn edit(path: impl Into<String>) -> Self {
        Self::Edit { path: path.into() }
    }

    /// Deleting what is at `path`.
    pub fn delete(path: impl Into<String>) -> Self {
        Self::Delete { path: path.into() }
    }

    /// Listing the folder at `path`.
    pub fn list(path: impl Into<String>) -> Self {
        Self::List { path: path.into() }
    }

    /// Requesting `url` with `GET`.
    pub fn fetch(url: impl Into<String>) -> Self {
        Self::Fetch { method: String::from("GET"), url: url.into() }
    }

    /// A tool whose effects are unknown to the kernel.
    pub fn tool(name: impl Into<String>, summary: impl Into<String>) -> Self {
        Self::Tool { name: name.into(), summary: summary.into() }
    }
}
