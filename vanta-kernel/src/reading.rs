//! How an action was understood: per simple command the program, its paths, hosts and scripts.
//!
//! Everything that needs to know what a command does uses [`read`]; there is no second shell parser.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::rules::act::Act;
use crate::shell;
use crate::{Action, Scope};

/// What a command does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// Reads it.
    Read,
    /// Creates or changes it.
    Write,
    /// Replaces content that exists.
    Overwrite,
    /// Deletes it.
    Delete,
    /// Runs it as code.
    Execute,
}

/// Where a path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathClass {
    /// Below the root, or below an extra allowed root.
    InScope,
    /// The root itself.
    Root,
    /// A temp folder.
    Temp,
    /// A harmless pseudo device such as `/dev/null`.
    Harmless,
    /// The boundary's own state: `.vanta/`, tokens, protected places.
    Protected,
    /// Credentials and secret stores.
    Secret,
    /// The home folder itself or a standard folder directly below it.
    Home,
    /// System folders, devices, disks.
    System,
    /// Devices and disks.
    Device,
    /// The repository's own data in `.git`.
    Repository,
    /// Hook folders of the project, whose files run by themselves later.
    Startup,
    /// Login files and autostart entries of the user.
    Login,
    /// A folder that holds the root.
    Ancestor,
    /// World-readable facts outside the root, such as `/proc/cpuinfo` or headers.
    Facts,
    /// Inside a container or on another machine, where this scope says nothing.
    Elsewhere,
    /// Any other place outside the root.
    Outside,
    /// Cannot be told from the text.
    Unknown,
}

/// One path a command touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    pub(crate) path: String,
    pub(crate) effect: Effect,
    pub(crate) class: PathClass,
    pub(crate) recursive: bool,
}

impl PathUse {
    /// The path, made absolute lexically; the words as written where it is [`PathClass::Unknown`].
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is done to it.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Where it lies.
    #[must_use]
    pub fn class(&self) -> PathClass {
        self.class
    }

    /// Everything below it is meant as well.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        self.recursive
    }
}

/// One simple command, after wrappers and constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub(crate) program: String,
    pub(crate) subcommand: Option<String>,
    pub(crate) paths: Vec<PathUse>,
    pub(crate) hosts: Vec<String>,
    pub(crate) span: Range<usize>,
    pub(crate) opaque: bool,
    pub(crate) facts: Vec<Fact>,
}

/// Something a command does besides touching paths, and the word that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) act: Act,
    pub(crate) word: String,
}

impl Command {
    pub(crate) fn new(program: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            program: program.into(),
            subcommand: None,
            paths: Vec::new(),
            hosts: Vec::new(),
            span,
            opaque: false,
            facts: Vec::new(),
        }
    }

    pub(crate) fn fact(&mut self, act: Act, word: impl Into<String>) {
        self.facts.push(Fact { act, word: word.into() });
    }

    /// The program's base name; for actions that are no command, the action's kind (`read`, `fetch`, …).
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The sub-command (`commit` in `git commit`), when the program has them.
    #[must_use]
    pub fn subcommand(&self) -> Option<&str> {
        self.subcommand.as_deref()
    }

    /// The paths it touches.
    #[must_use]
    pub fn paths(&self) -> &[PathUse] {
        &self.paths
    }

    /// In-scope script files it runs.
    pub fn scripts(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().filter(|p| p.effect == Effect::Execute).map(|p| p.path.as_str())
    }

    /// Network hosts it names.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Byte range in the command line.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Something in it is only known when it runs.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.opaque
    }
}

/// How an action was understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    pub(crate) commands: Vec<Command>,
    pub(crate) opaque: bool,
    /// It was opaque because it stands for more than is ever expanded.
    pub(crate) too_much: bool,
    pub(crate) facts: Vec<Fact>,
}

impl Reading {
    /// The simple commands, in order of appearance, nested ones included.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Something in the action could not be read, so it can be Ask at best.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.opaque
    }
}

/// Reads `action` as the kernel understands it. [`assess`](crate::assess) is a function of this.
///
/// ```
/// use vanta_kernel::{Action, Effect, PathClass, Scope, read};
///
/// let scope = Scope::new("/srv/app");
/// let reading = read(&Action::shell("d=build; rm -rf \"$d\""), &scope);
/// let rm = reading.commands().last().unwrap();
/// assert_eq!(rm.program(), "rm");
/// assert_eq!(rm.paths()[0].path(), "/srv/app/build");
/// assert_eq!(rm.paths()[0].effect(), Effect::Delete);
/// assert_eq!(rm.paths()[0].class(), PathClass::InScope);
/// ```
#[must_use]
pub fn read(action: &Action, scope: &Scope) -> Reading {
    shell::action::read(action, scope)
}

#[cfg(test)]
mod tests {
    use super::Reading;

    #[test]
    fn readings_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>(_: &T) {}
        shared(&Reading::default());
    }
}
