#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Where to read next
//!
//! `path/` decides which place a path means and opens it; `text/` is the only code that changes the content of files;
//! `file/` holds the file tools, one per file; `shell/` the command tool. `error.rs` is what a model reads when
//! something is refused.

#[cfg(not(unix))]
compile_error!("vanta-tools needs a Unix system: its tools work with file handles and process groups");

mod args;
mod clean;
mod error;
mod file;
mod near;
mod path;
mod seen;
mod shell;
mod text;

use vanta_core::ToolRegistry;

pub use file::{
    EditFile, EditFileArgs, ListDir, ListDirArgs, MoreEdit, ReadFile, ReadFileArgs, WriteFile, WriteFileArgs,
};
pub use shell::{Sandbox, Shell, ShellArgs, hide_environment};

/// All tools of this crate, as they come.
///
/// Add to it, replace one by the same name, or build a registry from single tools instead.
///
/// ```
/// use std::time::Duration;
/// use vanta_tools::{Shell, builtin};
///
/// let tools = builtin().with(Shell::new().with_default_timeout(Duration::from_secs(20)));
/// let names: Vec<_> = tools.specs().iter().map(|spec| spec.name().to_owned()).collect();
/// assert_eq!(names, ["edit_file", "list_dir", "read_file", "shell", "write_file"]);
/// ```
#[must_use]
pub fn builtin() -> ToolRegistry {
    ToolRegistry::new().with(ReadFile).with(WriteFile).with(EditFile).with(ListDir).with(Shell::new())
}
