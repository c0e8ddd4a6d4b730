//! What the paths of a command are on disk, which its text does not say.
//!
//! The kernel reads the text. Where a path of the text goes through a link, the real place is described beside the
//! command, so that the strictest answer counts; where a file with content would be replaced, that is described
//! too (`replaced.rs`). Patterns are expanded like the shell does (`pattern.rs`), up to a limit; beyond it a person
//! is asked. Nothing here decides.

mod pattern;
mod replaced;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use vanta_core::{Action, Scope};
use vanta_core::{Command, Effect, PathClass, PathUse, read};

use crate::error::FileError;
use crate::path::Place;
use replaced::Redirects;

/// What is to be judged beside `shell` itself, as the disk is now.
pub(super) fn facts(shell: &Action, scope: &Scope) -> Vec<Action> {
    let Action::Shell { command: text, cwd, .. } = shell else { return Vec::new() };
    if text.len() > scope.action_limit() {
        // Too long to be read, so a person is asked about all of it.
        return Vec::new();
    }
    let reading = read(shell, scope);
    let mut disk =
        Disk { scope, text, redirects: Redirects::of(text), looks_left: MAX_LOOKS, found: Vec::new() };
    for command in reading.commands() {
        for used in command.paths().iter().filter(|used| passes(used.class())) {
            disk.follow(command, used);
        }
        disk.replace(command);
    }
    let start = cwd.as_deref().unwrap_or(scope.working_dir());
    let entered = reading.commands().iter().filter(|command| matches!(command.program(), "cd" | "pushd"));
    let bases = entered.flat_map(|command| command.paths()).map(PathUse::path);
    let bases: Vec<&str> = [start].into_iter().chain(bases).collect();
    disk.climb(&bases);
    // One program that acts on a link itself; with more, another can use what it did.
    let keeps_links =
        |command: &Command| matches!(command.program(), "rm" | "unlink" | "mv" | "ln" | "readlink");
    if reading.commands().len() != 1 || !reading.commands().iter().all(keeps_links) {
        disk.mentions(&bases);
    }
    if disk.looks_left == 0 {
        disk.add(Action::tool("shell", "names more files than can be looked at"));
    }
    disk.found
}

/// How many paths and folder entries are looked at for one command.
const MAX_LOOKS: usize = 10_000;

/// From how many folders, entered with `cd`, every word is looked up.
const MAX_BASES: usize = 8;

/// Places in which the text alone may be enough for an Allow.
fn passes(class: PathClass) -> bool {
    use PathClass::{InScope, Repository, Root, Startup, Temp};
    matches!(class, InScope | Root | Repository | Startup | Temp)
}

struct Disk<'a> {
    scope: &'a Scope,
    text: &'a str,
    redirects: Redirects,
    looks_left: usize,
    found: Vec<Action>,
}

impl Disk<'_> {
    fn add(&mut self, action: Action) {
        if !self.found.contains(&action) {
            self.found.push(action);
        }
    }

    /// Takes one look, if any is left.
    fn look(&mut self) -> bool {
        self.looks_left = self.looks_left.saturating_sub(1);
        self.looks_left > 0
    }

    /// Describes the real place of a path that goes through a link.
    fn follow(&mut self, command: &Command, used: &PathUse) {
        for path in self.expand(used.path()) {
            if !self.look() {
                return;
            }
            let located = if self.takes_the_link(command.program(), used.effect(), &path) {
                self.beside(&path)
            } else {
                self.real(&path)
            };
            match located {
                Ok(real) if Path::new(&real) == Path::new(&path) => {}
                Ok(real) if used.effect() == Effect::Execute && is_installed(&real) => {}
                Ok(real) => self.add(action(used.effect(), real)),
                Err(FileError::Argument(why)) => self.add(Action::tool("shell", why)),
                // The command meets the same obstacle.
                Err(_) => {}
            }
        }
    }

    /// Whether the program acts on a link itself and not on what it leads to.
    fn takes_the_link(&self, program: &str, effect: Effect, path: &str) -> bool {
        let path = Path::new(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // With a slash behind it a link is what it leads to.
        if !path.is_symlink() || self.text.contains(&format!("{name}/")) {
            return false;
        }
        effect == Effect::Delete || matches!(program, "mv" | "ln") && !path.is_dir()
    }

    /// The real place of `path`, spelled as the scope spells its folders.
    fn real(&self, path: &str) -> Result<String, FileError> {
        let place = Place::locate(self.scope, path)?;
        if place.is_inside() {
            return Ok(place.described().to_owned());
        }
        let scope = self.scope;
        let known = scope.temp_dirs().iter().chain(scope.read_dirs()).chain(scope.write_dirs());
        let mut respelled = known.filter_map(|folder| {
            let below = place.real().strip_prefix(fs::canonicalize(folder).ok()?).ok()?;
            Some(Path::new(folder).join(below).to_str()?.to_owned())
        });
        Ok(respelled.next().unwrap_or_else(|| place.described().to_owned()))
    }

    /// The real place of the folder that `path` is in, and its name there.
    fn beside(&self, path: &str) -> Result<String, FileError> {
        match path.rsplit_once('/') {
            Some((folder, name)) if !folder.is_empty() => Ok(format!("{}/{name}", self.real(folder)?)),
            _ => Ok(path.to_owned()),
        }
    }

    /// Describes what is behind links that are named anywhere, also to programs whose paths the kernel does not know.
    fn mentions(&mut self, bases: &[&str]) {
        let named: BTreeSet<&str> = words(self.text).take(MAX_LOOKS).collect();
        for (word, base) in
            named.iter().flat_map(|word| bases.iter().take(MAX_BASES).map(move |base| (word, base)))
        {
            let full = Path::new(base).join(word);
            let Some(lexical) = without_parents(&full).filter(|_| full.exists()) else { continue };
            match self.real(&lexical) {
                Ok(real)
                    if Path::new(&real) != Path::new(&lexical)
                        && !is_installed(&real)
                        && Path::new(&lexical).starts_with(self.scope.root()) =>
                {
                    self.add(action(Effect::Read, real));
                }
                _ => {}
            }
        }
    }

    /// Describes where `..` behind a link really leads; the text alone says that it leads back.
    fn climb(&mut self, bases: &[&str]) {
        let text = self.text;
        for word in words(text).filter(|word| word.contains("/..")) {
            for base in bases {
                if !self.look() {
                    return;
                }
                let full =
                    if word.starts_with('~') { PathBuf::from(word) } else { Path::new(base).join(word) };
                let (Some(written), Some(lexical)) = (full.to_str(), without_parents(&full)) else {
                    continue;
                };
                let (Ok(real), Ok(expected)) = (self.real(written), self.real(&lexical)) else { continue };
                if real != expected {
                    self.add(Action::edit(real));
                }
            }
        }
    }
}

/// What could be a path, in a text of any kind.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "'\"`;|&()<>=,:".contains(c)).filter(|word| !word.is_empty())
}

/// Programs that many projects link to, such as the interpreter of a virtual environment. What runs there is no
/// more than what code inside the root may start by itself.
fn is_installed(real: &str) -> bool {
    Path::new(real).parent().is_some_and(|folder| folder.ends_with("bin"))
}

fn action(effect: Effect, real: String) -> Action {
    match effect {
        Effect::Write => Action::edit(real),
        Effect::Overwrite => Action::overwrite(real),
        Effect::Delete => Action::delete(real),
        _ if Path::new(&real).is_dir() => Action::list(real),
        _ => Action::read(real),
    }
}

/// `path` with every `..` taken as the text has it.
fn without_parents(path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
