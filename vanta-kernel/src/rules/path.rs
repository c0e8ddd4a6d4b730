//! Where a path lies: lexical resolution, then one class. No file system.

use alloc::string::String;
use alloc::vec::Vec;

use super::names;
use crate::shell::value::{ANY, CONTENT, ONE, UNKNOWN, has_marker, matches};
use crate::{PathClass, Scope};

/// A folder inside a container and what it is outside.
#[derive(Debug, Clone)]
pub(crate) struct Mount {
    pub(crate) inside: String,
    pub(crate) outside: String,
}

/// What relative paths and container paths are resolved against.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) cwd: &'a str,
    /// Present while the command of a container is judged.
    pub(crate) mounts: Option<&'a [Mount]>,
}

impl Place<'_> {
    /// Makes `text` absolute and names its class.
    pub(crate) fn locate(&self, text: &str) -> (String, PathClass) {
        let path = if has_marker(text) {
            self.absolute(&text.replace(CONTENT, UNKNOWN_TEXT))
        } else {
            self.absolute(text)
        };
        let Some(mounts) = self.mounts else {
            let class = classify(self.scope, &path);
            return (path, class);
        };
        for mount in mounts {
            if let Some(rest) = path.strip_prefix(mount.inside.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                let host = resolve(&mount.outside, rest);
                let class = classify(self.scope, &host);
                return (host, class);
            }
        }
        let class = if names_secret(&path) { PathClass::Secret } else { PathClass::Elsewhere };
        (path, class)
    }

    /// The class of a place that holds credentials when it is deleted: what it is besides may matter more.
    pub(crate) fn standing(&self, path: &str) -> PathClass {
        let (parts, root) = (Components::of(path), Components::of(self.scope.root()));
        match outside(self.scope, trimmed(parts.as_slice()), root.as_slice()) {
            class @ (PathClass::Home | PathClass::System | PathClass::Ancestor) => class,
            _ => PathClass::Secret,
        }
    }

    /// Joins with the working directory and resolves `.` and `..`.
    pub(crate) fn absolute(&self, text: &str) -> String {
        if let Some(tail) = below_tilde(text) {
            // A home nobody named is still a real one, so it stays a tilde and is never a name inside the root.
            return resolve(self.scope.home_dir().unwrap_or("~"), tail);
        }
        if text.starts_with('/') || text.starts_with(UNKNOWN) {
            normalize(text)
        } else {
            resolve(self.cwd, text)
        }
    }
}

/// Secrets of a container lie in one folder, or in files that are named like any other secret.
fn names_secret(path: &str) -> bool {
    let components = Components::of(path);
    let parts = components.as_slice();
    let named = parts.split_last().is_some_and(|(name, folders)| names::is_secret_file(folders, name));
    path.starts_with("/run/secrets/") || named && !is_fact(parts)
}

const UNKNOWN_TEXT: &str = "\u{fdd2}";

/// What stands behind the tilde of a path in a home folder.
fn below_tilde(path: &str) -> Option<&str> {
    path.strip_prefix('~').filter(|tail| tail.is_empty() || tail.starts_with('/'))
}

/// Resolves `.`, `..` and repeated slashes. Leaves a path that starts with an unknown piece or a tilde relative.
pub(crate) fn normalize(path: &str) -> String {
    resolve("", path)
}

/// `base/tail`, normalised.
fn resolve(base: &str, tail: &str) -> String {
    let start = if base.is_empty() { tail } else { base };
    let tilde = below_tilde(start).is_some();
    let is_relative = tilde || start.starts_with(UNKNOWN);
    let mut out = String::with_capacity(base.len() + tail.len() + 2);
    for part in components(base).chain(components(tail)) {
        match part {
            "." => {}
            ".." if !stays_open(last(&out), tilde) => {
                let length = out.len().saturating_sub(last(&out).len() + 1);
                out.truncate(length);
            }
            other => {
                if !(out.is_empty() && is_relative) {
                    out.push('/');
                }
                out.push_str(other);
            }
        }
    }
    if out.is_empty() && !is_relative {
        out.push('/');
    }
    out
}

/// Behind an unknown piece, or a home nobody named, `..` cannot be resolved, so it stays.
fn stays_open(above: &str, tilde: bool) -> bool {
    tilde && matches!(above, "~" | "..") || above.contains(UNKNOWN)
}

/// The part behind the last slash.
fn last(path: &str) -> &str {
    let length = path.bytes().rev().take_while(|b| *b != b'/').count();
    path.get(path.len() - length..).unwrap_or("")
}

/// The parts between slashes that are not empty.
fn components(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    core::iter::from_fn(move || {
        rest = rest.trim_start_matches('/');
        let length = rest.bytes().take_while(|b| *b != b'/').count();
        let (part, tail) = rest.split_at_checked(length)?;
        rest = tail;
        (!part.is_empty()).then_some(part)
    })
}

/// Paths with more components are rare.
const FEW: usize = 12;

/// The components of a path as a slice; only a deep path needs memory for it.
struct Components<'a> {
    few: [&'a str; FEW],
    count: usize,
    many: Vec<&'a str>,
}

impl<'a> Components<'a> {
    fn of(path: &'a str) -> Self {
        let mut all = Self { few: [""; FEW], count: 0, many: Vec::new() };
        let mut parts = components(path);
        for (slot, part) in all.few.iter_mut().zip(parts.by_ref()) {
            *slot = part;
            all.count += 1;
        }
        let rest = parts.next();
        if rest.is_some() {
            all.many = Vec::from(all.few).into_iter().chain(rest).chain(parts).collect();
        }
        all
    }

    fn as_slice(&self) -> &[&'a str] {
        if self.many.is_empty() { self.few.get(..self.count).unwrap_or(&[]) } else { &self.many }
    }
}

/// The class of an absolute, normalised path.
pub(crate) fn classify(scope: &Scope, path: &str) -> PathClass {
    if !has_marker(path) {
        return classify_known(scope, path);
    }
    if path.starts_with(UNKNOWN) {
        return unknown_tail(path);
    }
    let (known, open) = match path.split_once(UNKNOWN) {
        Some((known, _)) => (known.rsplit_once('/').map_or("/", |(folder, _)| folder), true),
        None => (path, false),
    };
    let known = if known.is_empty() { "/" } else { known };
    let class = classify_known(scope, known);
    match class {
        PathClass::Protected | PathClass::Secret | PathClass::Repository | PathClass::Device if open => class,
        _ if open => {
            let named = unknown_tail(path);
            if named == PathClass::Unknown && class == PathClass::Harmless {
                PathClass::Device
            } else {
                named
            }
        }
        other => other,
    }
}

/// An unknown folder can still end in a name that says what it is.
fn unknown_tail(path: &str) -> PathClass {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().map_or("", |n| *n);
    let folders = parts.get(..parts.len().saturating_sub(1)).unwrap_or(&[]);
    match name {
        _ if parts.contains(&".vanta") => PathClass::Protected,
        _ if parts.contains(&".git") => PathClass::Repository,
        _ if !name.contains(UNKNOWN) && names::is_secret_file(folders, name) => PathClass::Secret,
        _ => PathClass::Unknown,
    }
}

fn classify_known(scope: &Scope, path: &str) -> PathClass {
    let components = Components::of(path);
    let parts = components.as_slice();
    if parts.first() == Some(&"dev") {
        return device(parts);
    }
    if is_protected(scope, parts) {
        return PathClass::Protected;
    }
    // `x/*` means every entry of `x`, so it is judged like `x` itself.
    let parts = trimmed(parts);
    if let Some(class) = repository(parts) {
        return class;
    }
    if matches!(parts, ["proc", _, "environ"]) {
        return PathClass::Secret;
    }
    if let Some((name, folders)) = parts.split_last()
        && names::is_secret_file(folders, name)
        && !is_fact(parts)
    {
        return PathClass::Secret;
    }
    if let Some((&"~", below)) = parts.split_first().filter(|_| path.starts_with('~')) {
        return unknown_home(below);
    }
    let root = Components::of(scope.root());
    let root = root.as_slice();
    if parts.len() == root.len() && starts_with(parts, root) {
        PathClass::Root
    } else if is_below(parts, root) {
        inside(parts.get(root.len()..).unwrap_or(&[]))
    } else {
        outside(scope, parts, root)
    }
}

fn trimmed<'p, 'a>(parts: &'p [&'a str]) -> &'p [&'a str] {
    match parts.split_last() {
        Some((last, front)) if is_everything(last) => front,
        _ => parts,
    }
}

/// Component-wise prefix, for certain: what is permitted must not rest on a pattern.
fn is_below(parts: &[&str], prefix: &[&str]) -> bool {
    parts.len() >= prefix.len() && parts.iter().zip(prefix).all(|(a, b)| a == b)
}

/// Component-wise prefix; a pattern component may match.
fn starts_with(parts: &[&str], prefix: &[&str]) -> bool {
    parts.len() >= prefix.len() && parts.iter().zip(prefix).all(|(a, b)| component(a, b))
}

fn component(written: &str, name: &str) -> bool {
    if !has_marker(written) {
        return written == name;
    }
    // A leading dot is matched only by a written dot.
    (!name.starts_with('.') || written.starts_with('.')) && matches(written, name)
}

/// Does a pattern match (nearly) every name: `*`, `?*`, `.*`, `.[!.]*`?
pub(crate) fn is_everything(pattern: &str) -> bool {
    let tail = pattern.strip_prefix('.').unwrap_or(pattern);
    has_marker(tail) && tail.contains(ANY) && tail.chars().all(|c| c == ANY || c == ONE)
}

fn device(parts: &[&str]) -> PathClass {
    match parts {
        ["dev"] => PathClass::System,
        ["dev", "null" | "zero" | "full" | "random" | "urandom" | "tty" | "stdin" | "stdout" | "stderr"] => {
            PathClass::Harmless
        }
        ["dev", "fd", ..] => PathClass::Harmless,
        ["dev", "shm", _, ..] => PathClass::Temp,
        ["dev", "tcp" | "udp", ..] => PathClass::Outside,
        _ => PathClass::Device,
    }
}

fn is_protected(scope: &Scope, parts: &[&str]) -> bool {
    let named = parts.iter().any(|p| is_named(p, ".vanta") || has_marker(p) && p.contains(".vanta"));
    let state = parts.windows(3).any(|w| w == [".local", "state", "vanta"]);
    named || state || scope.protected_dirs().iter().any(|dir| is_below(parts, Components::of(dir).as_slice()))
}

/// Is `part` the hidden `name` in any case, or a pattern for it?
fn is_named(part: &str, name: &str) -> bool {
    part.starts_with('.')
        && (part.eq_ignore_ascii_case(name)
            || has_marker(part) && !is_everything(part) && matches(part, name))
}

fn repository(parts: &[&str]) -> Option<PathClass> {
    let at = parts.iter().position(|p| is_named(p, ".git"))?;
    Some(match parts.get(at + 1) {
        Some(&"hooks") => PathClass::Startup,
        _ => PathClass::Repository,
    })
}

fn inside(below: &[&str]) -> PathClass {
    match below.first() {
        Some(&(".husky" | ".githooks")) => PathClass::Startup,
        _ => PathClass::InScope,
    }
}

fn outside(scope: &Scope, parts: &[&str], root: &[&str]) -> PathClass {
    if let Some(class) = extra_root(scope, parts) {
        return class;
    }
    let home = Components::of(scope.home_dir().unwrap_or(""));
    let home = home.as_slice();
    if !home.is_empty() && starts_with(parts, home) {
        let below = parts.get(home.len()..).unwrap_or(&[]);
        if !(below.is_empty() || starts_with(root, parts)) {
            return below_home(below);
        }
        if below.is_empty() {
            return PathClass::Home;
        }
    }
    if parts.is_empty() {
        return PathClass::System;
    }
    if matches!(parts, ["home" | "Users"] | ["home" | "Users", _]) {
        return PathClass::Home;
    }
    if starts_with(root, parts)
        || parts.len() <= root.len() && parts.iter().zip(root).all(|(a, b)| component(a, b))
    {
        return PathClass::Ancestor;
    }
    if is_temp(scope, parts) {
        return PathClass::Temp;
    }
    if is_fact(parts) {
        return PathClass::Facts;
    }
    let could_be_system = |p: &&str| SYSTEM.iter().any(|s| component(p, s));
    match parts {
        ["var", "www", ..] => PathClass::Outside,
        ["opt" | "srv" | "mnt" | "media" | "Volumes" | "Applications", _, ..] => PathClass::Outside,
        [first, ..] if could_be_system(first) => PathClass::System,
        _ => PathClass::Outside,
    }
}

/// Below a home folder whose place nobody named.
fn unknown_home(below: &[&str]) -> PathClass {
    match below {
        [] => PathClass::Home,
        ["..", ..] => PathClass::Unknown,
        _ => below_home(below),
    }
}

fn extra_root(scope: &Scope, parts: &[&str]) -> Option<PathClass> {
    let below = |dir: &String| is_below(parts, Components::of(dir).as_slice());
    if scope.write_dirs().iter().any(below) {
        return Some(PathClass::InScope);
    }
    scope.read_dirs().iter().any(below).then_some(PathClass::Facts)
}

fn below_home(below: &[&str]) -> PathClass {
    match below {
        [name] if STANDARD_FOLDERS.binary_search(name).is_ok() => PathClass::Home,
        [name] if names::is_login_file(name) => PathClass::Login,
        [".config", "autostart" | "fish" | "systemd" | "bash" | "zsh" | "environment.d", ..] => {
            PathClass::Login
        }
        ["Library", "LaunchAgents", ..] => PathClass::Login,
        [".cargo", "registry", ..] | ["go", "pkg", "mod", ..] => PathClass::Facts,
        _ => PathClass::Outside,
    }
}

fn is_temp(scope: &Scope, parts: &[&str]) -> bool {
    // A root inside a temp folder makes the rest of that folder a place outside.
    let root = Components::of(scope.root());
    let holds = |dir: &[&str]| is_below(parts, dir) && !is_below(root.as_slice(), dir);
    STANDARD_TEMP.iter().any(|dir| holds(dir))
        || scope.temp_dirs().iter().any(|dir| holds(Components::of(dir).as_slice()))
}

fn is_fact(parts: &[&str]) -> bool {
    matches!(
        parts,
        ["bin"]
            | ["proc", "cpuinfo" | "meminfo" | "loadavg" | "version" | "uptime" | "stat"]
            | ["etc", "os-release" | "lsb-release" | "debian_version" | "timezone"]
            | ["usr", "include" | "share" | "bin", ..]
            | ["usr", "local", "bin" | "include" | "share", ..]
    )
}

const STANDARD_TEMP: [&[&str]; 3] = [&["tmp"], &["var", "tmp"], &["private", "tmp"]];

/// Sorted. Folders directly below home that count as home.
pub(crate) const STANDARD_FOLDERS: &[&str] = &[
    ".config",
    ".gnupg",
    ".local",
    ".ssh",
    "Desktop",
    "Documents",
    "Downloads",
    "Library",
    "Movies",
    "Music",
    "Pictures",
    "Public",
    "Videos",
];

/// Sorted. First components of system places.
pub(crate) const SYSTEM: &[&str] = &[
    "Applications",
    "Library",
    "Network",
    "System",
    "Volumes",
    "bin",
    "boot",
    "cores",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(STANDARD_FOLDERS.windows(2).all(|w| w[0] < w[1]));
        assert!(SYSTEM.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn an_unknown_home_is_no_name_inside_the_root() {
        let scope = Scope::new("/srv/app");
        let place = Place { scope: &scope, cwd: "/srv/app", mounts: None };
        assert_eq!(place.locate("~"), ("~".into(), PathClass::Home));
        assert_eq!(place.locate("~/notes.txt").1, PathClass::Outside);
        assert_eq!(place.locate("~/../x").1, PathClass::Unknown);
        assert_eq!(place.locate("a~").1, PathClass::InScope);
    }

    #[test]
    fn temp_is_not_free_around_a_root_in_it() {
        let scope = Scope::new("/tmp/x");
        assert_eq!(classify(&scope, "/tmp/y"), PathClass::Outside);
        assert_eq!(classify(&scope, "/tmp"), PathClass::Ancestor);
        assert_eq!(classify(&scope, "/var/tmp/y"), PathClass::Temp);
    }

    #[test]
    fn normalizes_lexically() {
        assert_eq!(normalize("/a//b/./c/../d/"), "/a/b/d");
        assert_eq!(normalize("/../.."), "/");
    }
}
