//! Containment: which place a path really means, and opening exactly that place.
//!
//! [`Place::locate`] resolves every link by looking at the disk, so that the gate judges the real path. After
//! clearance [`Place::cleared`] resolves again and refuses when the path now leads elsewhere. `open.rs` then walks
//! to the real path from a handle, component by component, following no link at all: a link that is swapped in
//! after the check ends in an error, never in another file. The same walk serves places outside the root that a
//! person approved; it starts at `/` instead of the root.
//!
//! This module decides nothing. Whether a place may be touched is the gate's answer to the described action.

mod open;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use vanta_core::{Action, Scope};

use crate::error::FileError;
use crate::{clean, near};

pub(crate) use open::{FileId, Folder, Kind, Made, TempFile, is_writable};

/// A path as it is on disk, links resolved. The last parts may not exist yet.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Absolute, without links, `.` or `..`.
    real: PathBuf,
    /// The folder the walk starts from: the root's real path, or `/`.
    base: PathBuf,
    /// As the gate and the person see it: below the root in the root's own spelling.
    described: String,
    /// As the model sees it: relative inside the root.
    shown: String,
    inside: bool,
}

impl Place {
    /// The place that `asked` means in `scope`, links resolved.
    ///
    /// # Errors
    /// [`FileError`] when it cannot mean any place: empty, not text, below a file, links in a circle.
    pub(crate) fn locate(scope: &Scope, asked: &str) -> Result<Self, FileError> {
        let absolute = absolute(scope, asked)?;
        let real = resolve(&absolute, asked)?;
        let root = fs::canonicalize(scope.root()).map_err(FileError::io("open the root", scope.root()))?;
        let below = real.strip_prefix(&root).map(Path::to_path_buf).ok();
        let described = match &below {
            Some(below) if below.as_os_str().is_empty() => PathBuf::from(scope.root()),
            Some(below) => Path::new(scope.root()).join(below),
            None => real.clone(),
        };
        let shown = match &below {
            Some(below) if below.as_os_str().is_empty() => PathBuf::from("."),
            Some(below) => below.clone(),
            None => real.clone(),
        };
        let inside = below.is_some();
        let base = if inside { root } else { PathBuf::from("/") };
        Ok(Self { real, base, described: text(&described, asked)?, shown: text(&shown, asked)?, inside })
    }

    /// The place that `asked` means now, when it is still one that was judged as `actions`.
    ///
    /// # Errors
    /// [`FileError::Changed`] when it now leads elsewhere; whatever [`Place::locate`] reports.
    pub(crate) fn cleared(scope: &Scope, asked: &str, actions: &[Action]) -> Result<Self, FileError> {
        let place = Self::locate(scope, asked)?;
        let judged = actions.iter().any(|action| judged_path(action) == Some(place.described.as_str()));
        if judged { Ok(place) } else { Err(place.changed(format!("it now leads to `{}`", place.shown))) }
    }

    /// The path for the described action.
    pub(crate) fn described(&self) -> &str {
        &self.described
    }

    /// The path for answers.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The real path, the key for what is remembered about the place.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// Whether it is the root or below it.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside
    }

    /// The facts about this place are no longer those that were judged.
    pub(crate) fn changed(&self, how: impl Into<String>) -> FileError {
        FileError::Changed { path: self.shown.clone(), how: how.into() }
    }

    /// The tool does not handle `kind`.
    pub(crate) fn unsuitable(&self, kind: impl Into<String>, advice: &'static str) -> FileError {
        FileError::Unsuitable { path: self.shown.clone(), kind: kind.into(), advice }
    }

    /// Names beside this one that are like it, for "did you mean". Outside the root no names are told.
    pub(crate) fn near_names(&self) -> Vec<String> {
        if !self.inside {
            return Vec::new();
        }
        let wanted = self.real.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(folder) = self.real.parent() else { return Vec::new() };
        let beside = Self { real: folder.to_owned(), ..self.clone() };
        let Ok(folder) = beside.open_folder() else { return Vec::new() };
        let Ok(names) = folder.names() else { return Vec::new() };
        let names = names.filter_map(|name| name.ok()?.into_string().ok()).take(MAX_NAMES);
        near::closest(wanted, names).map(|name| clean::name(OsStr::new(&name))).into_iter().collect()
    }

    /// The components of the walk from the base.
    fn parts(&self) -> impl Iterator<Item = &OsStr> {
        self.real.strip_prefix(&self.base).unwrap_or(&self.real).components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
    }
}

/// How many names are compared for a suggestion.
const MAX_NAMES: usize = 5000;

fn judged_path(action: &Action) -> Option<&str> {
    match action {
        Action::Read { path }
        | Action::Write { path, .. }
        | Action::Edit { path }
        | Action::List { path } => Some(path),
        Action::Shell { cwd, .. } => cwd.as_deref(),
        _ => None,
    }
}

/// The longest path that is looked at, in bytes; as on Linux.
const MAX_PATH: usize = 4096;

fn absolute(scope: &Scope, asked: &str) -> Result<PathBuf, FileError> {
    if asked.is_empty() {
        return Err(FileError::Argument("the path is empty; name a file or directory".into()));
    }
    if asked.len() > MAX_PATH {
        return Err(FileError::Argument(format!(
            "the path has {} bytes; no path may have more than {MAX_PATH}",
            asked.len()
        )));
    }
    if asked.contains('\0') {
        return Err(FileError::Argument("the path holds a NUL character, which no file name can".into()));
    }
    let path = match (asked.strip_prefix('~'), scope.home_dir()) {
        (Some(""), Some(home)) => PathBuf::from(home),
        (Some(below), Some(home)) if below.starts_with('/') => {
            Path::new(home).join(below.trim_start_matches('/'))
        }
        _ => Path::new(scope.working_dir()).join(asked),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    let complaint =
        format!("`{asked}` cannot be found from `{}`, which is not an absolute path", scope.working_dir());
    Err(FileError::Argument(complaint))
}

/// Follows every link, also the last, and keeps what does not exist as it is written.
fn resolve(absolute: &Path, asked: &str) -> Result<PathBuf, FileError> {
    let mut ahead: VecDeque<OsString> = components(absolute).collect();
    let mut done = PathBuf::from("/");
    let mut exists = true;
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            if !exists {
                return Err(FileError::Missing { path: shown(&done), near: Vec::new() });
            }
            done.pop();
            continue;
        }
        let next = done.join(&part);
        match look(&next, exists).map_err(FileError::io("look at", &shown(&next)))? {
            Found::Nothing => {
                exists = false;
                done = next;
            }
            Found::Link(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(FileError::TooManyLinks { path: asked.to_owned() });
                }
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                for part in components(&target).collect::<Vec<_>>().into_iter().rev() {
                    ahead.push_front(part);
                }
            }
            Found::File if !ahead.is_empty() => return Err(FileError::NotAFolder { path: shown(&next) }),
            Found::File | Found::Folder => done = next,
        }
    }
    Ok(done)
}

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

enum Found {
    Nothing,
    Link(PathBuf),
    File,
    Folder,
}

fn look(path: &Path, parent_exists: bool) -> io::Result<Found> {
    if !parent_exists {
        return Ok(Found::Nothing);
    }
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => fs::read_link(path).map(Found::Link),
        Ok(meta) if meta.is_dir() => Ok(Found::Folder),
        Ok(_) => Ok(Found::File),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(error),
    }
}

fn components(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

fn text(path: &Path, asked: &str) -> Result<String, FileError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        FileError::Argument(format!("`{asked}` leads to a name that is not UTF-8, which cannot be judged"))
    })
}

fn shown(path: &Path) -> String {
    // Errors travel to the model; a path of thousands of characters teaches it nothing.
    let mut shown = path.to_string_lossy().into_owned();
    if let Some((end, _)) = shown.char_indices().nth(300) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
