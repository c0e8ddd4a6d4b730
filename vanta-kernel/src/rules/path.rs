//! Where a path lies: lexical resolution, then one class. No file system.

use alloc::string::String;
use alloc::vec::Vec;

use super::names;
use crate::shell::value::{ANY, CONTENT, ONE, UNKNOWN, is_marker, matches};
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
        let path = self.absolute(&text.replace(CONTENT, UNKNOWN_TEXT));
        let Some(mounts) = self.mounts else {
            let class = classify(self.scope, &path);
            return (path, class);
        };
        for mount in mounts {
            if let Some(rest) = path.strip_prefix(mount.inside.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                let mut host = mount.outside.clone();
                host.push_str(rest);
                let host = normalize(&host);
                let class = classify(self.scope, &host);
                return (host, class);
            }
        }
        (path, PathClass::Elsewhere)
    }

    /// Joins with the working directory and resolves `.` and `..`.
    pub(crate) fn absolute(&self, text: &str) -> String {
        if let Some(tail) = text.strip_prefix('~')
            && (tail.is_empty() || tail.starts_with('/'))
            && let Some(home) = self.scope.home_dir()
        {
            let mut path = String::from(home);
            path.push_str(tail);
            return normalize(&path);
        }
        if text.starts_with('/') || text.starts_with(UNKNOWN) {
            return normalize(text);
        }
        let mut path = String::from(self.cwd);
        path.push('/');
        path.push_str(text);
        normalize(&path)
    }
}

const UNKNOWN_TEXT: &str = "\u{fdd2}";

/// Resolves `.`, `..` and repeated slashes. Leaves a path that starts with an unknown piece relative.
pub(crate) fn normalize(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Behind an unknown piece `..` cannot be resolved, so it stays.
                if parts.last().is_some_and(|p| p.contains(UNKNOWN)) {
                    parts.push(part);
                } else {
                    parts.pop();
                }
            }
            other => parts.push(other),
        }
    }
    let mut out = String::new();
    if !path.starts_with(UNKNOWN) {
        out.push('/');
    }
    out.push_str(&parts.join("/"));
    out
}

/// The class of an absolute, normalised path.
pub(crate) fn classify(scope: &Scope, path: &str) -> PathClass {
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
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
    if parts.first() == Some(&"dev") {
        return device(&parts);
    }
    if is_protected(scope, path, &parts) {
        return PathClass::Protected;
    }
    // `x/*` means every entry of `x`, so it is judged like `x` itself.
    let parts = match parts.split_last() {
        Some((last, front)) if is_everything(last) => front.to_vec(),
        _ => parts,
    };
    if let Some(class) = repository(&parts) {
        return class;
    }
    if matches!(parts.as_slice(), ["proc", _, "environ"]) {
        return PathClass::Secret;
    }
    if let Some((name, folders)) = parts.split_last()
        && names::is_secret_file(folders, name)
        && !is_fact(&parts)
    {
        return PathClass::Secret;
    }
    let root: Vec<&str> = split(scope.root());
    if parts.len() == root.len() && starts_with(&parts, &root) {
        PathClass::Root
    } else if is_below(&parts, &root) {
        inside(parts.get(root.len()..).unwrap_or(&[]))
    } else {
        outside(scope, &parts, &root)
    }
}

fn split(path: &str) -> Vec<&str> {
    path.split('/').filter(|p| !p.is_empty()).collect()
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
    if !written.chars().any(is_marker) {
        return written == name;
    }
    // A leading dot is matched only by a written dot.
    (!name.starts_with('.') || written.starts_with('.')) && matches(written, name)
}

/// Does a pattern match (nearly) every name: `*`, `?*`, `.*`, `.[!.]*`?
pub(crate) fn is_everything(pattern: &str) -> bool {
    let tail = pattern.strip_prefix('.').unwrap_or(pattern);
    tail.contains(ANY) && tail.chars().all(|c| c == ANY || c == ONE)
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

fn is_protected(scope: &Scope, path: &str, parts: &[&str]) -> bool {
    let named = parts.iter().any(|p| {
        p.eq_ignore_ascii_case(".vanta")
            || p.starts_with('.') && p.chars().any(is_marker) && !is_everything(p) && matches(p, ".vanta")
    });
    let state = parts.windows(3).any(|w| w == [".local", "state", "vanta"]);
    named
        || state
        || scope.protected_dirs().iter().any(|dir| {
            let dir = normalize(dir);
            path.strip_prefix(dir.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

fn repository(parts: &[&str]) -> Option<PathClass> {
    let at = parts.iter().position(|p| {
        p.eq_ignore_ascii_case(".git")
            || p.starts_with('.') && p.chars().any(is_marker) && !is_everything(p) && matches(p, ".git")
    })?;
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
    let home = scope.home_dir().map(split).unwrap_or_default();
    if !home.is_empty() && starts_with(parts, &home) {
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

fn extra_root(scope: &Scope, parts: &[&str]) -> Option<PathClass> {
    let below = |dir: &String| is_below(parts, &split(dir));
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
    let standard = matches!(parts, ["tmp", ..] | ["var", "tmp", ..] | ["private", "tmp", ..]);
    standard || scope.temp_dirs().iter().any(|dir| is_below(parts, &split(dir)))
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
    fn normalizes_lexically() {
        assert_eq!(normalize("/a//b/./c/../d/"), "/a/b/d");
        assert_eq!(normalize("/../.."), "/");
    }
}
