//! Where actions may happen: the root, and lexical containment in it. No file system.

use alloc::string::String;
use alloc::vec::Vec;

use crate::rules::path::normalize;

/// The place an agent works in. Built by its owner, never by the model.
///
/// ```
/// use vanta_kernel::Scope;
///
/// let scope = Scope::new("/home/dev/project").home("/home/dev").allow_read("/usr/share/doc");
/// assert_eq!(scope.root(), "/home/dev/project");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    root: String,
    home: Option<String>,
    cwd: Option<String>,
    temp: Vec<String>,
    protected: Vec<String>,
    read_roots: Vec<String>,
    write_roots: Vec<String>,
    max_action: usize,
}

/// Default for [`Scope::max_action`]: 1 MiB.
const MAX_ACTION: usize = 1024 * 1024;

impl Scope {
    /// A scope whose root is the absolute path `root`.
    ///
    /// The temp folder is `/tmp`, `.vanta/` under the root is protected, and actions up to 1 MiB are judged.
    pub fn new(root: impl Into<String>) -> Self {
        Self {
            root: resolved(root.into()),
            home: None,
            cwd: None,
            temp: Vec::from([String::from("/tmp")]),
            protected: Vec::new(),
            read_roots: Vec::new(),
            write_roots: Vec::new(),
            max_action: MAX_ACTION,
        }
    }

    /// Sets the user's home folder, which `~` and `$HOME` mean.
    #[must_use]
    pub fn home(mut self, home: impl Into<String>) -> Self {
        self.home = Some(resolved(home.into()));
        self
    }

    /// Sets the working directory that relative paths start from; the root by default.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Adds a temp folder.
    #[must_use]
    pub fn temp(mut self, dir: impl Into<String>) -> Self {
        self.temp.push(resolved(dir.into()));
        self
    }

    /// Protects a place like `.vanta/`: writes are Block. Use it for the folder that holds the tokens.
    #[must_use]
    pub fn protect(mut self, dir: impl Into<String>) -> Self {
        self.protected.push(normalize(&dir.into()));
        self
    }

    /// Lets reads below `dir` count as inside the scope.
    #[must_use]
    pub fn allow_read(mut self, dir: impl Into<String>) -> Self {
        self.read_roots.push(resolved(dir.into()));
        self
    }

    /// Lets reads and writes below `dir` count as inside the scope.
    #[must_use]
    pub fn allow_write(mut self, dir: impl Into<String>) -> Self {
        self.write_roots.push(resolved(dir.into()));
        self
    }

    /// Sets how many bytes of action are judged; a longer one is Ask, never cut.
    #[must_use]
    pub fn max_action(mut self, bytes: usize) -> Self {
        self.max_action = bytes;
        self
    }

    /// The root folder.
    #[must_use]
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The home folder, when known.
    #[must_use]
    pub fn home_dir(&self) -> Option<&str> {
        self.home.as_deref()
    }

    /// The working directory: [`Scope::cwd`] as given, else the root.
    #[must_use]
    pub fn working_dir(&self) -> &str {
        self.cwd.as_deref().unwrap_or(&self.root)
    }

    /// The temp folders.
    #[must_use]
    pub fn temp_dirs(&self) -> &[String] {
        &self.temp
    }

    /// Protected places besides `.vanta/`.
    #[must_use]
    pub fn protected_dirs(&self) -> &[String] {
        &self.protected
    }

    /// Extra folders in which reads count as inside the scope.
    #[must_use]
    pub fn read_dirs(&self) -> &[String] {
        &self.read_roots
    }

    /// Extra folders in which reads and writes count as inside the scope.
    #[must_use]
    pub fn write_dirs(&self) -> &[String] {
        &self.write_roots
    }

    /// The largest action that is judged, in bytes.
    #[must_use]
    pub fn action_limit(&self) -> usize {
        self.max_action
    }
}

/// Without `.` and `..`, as the paths of actions are when they are compared with it.
fn resolved(path: String) -> String {
    if path.starts_with('/') && path.contains("/.") { normalize(&path) } else { path }
}
