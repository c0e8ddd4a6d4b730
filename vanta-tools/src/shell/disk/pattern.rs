//! The paths a pattern stands for now.

use std::ffi::OsString;

use super::Disk;
use crate::path::Place;

/// As the kernel writes what it knows only in part: `*`, `?` and sets, any text, a control character.
const OPEN: [char; 4] = ['*', '?', '…', '\u{fffd}'];

impl Disk<'_> {
    /// The paths that `path` can mean: itself, or what its pattern matches on disk.
    pub(super) fn expand(&mut self, path: &str) -> Vec<String> {
        if !path.contains(OPEN) {
            return vec![path.to_owned()];
        }
        let mut found = vec![String::new()];
        for part in path.split('/').filter(|part| !part.is_empty()) {
            found = match part.contains(OPEN) {
                true => found.iter().flat_map(|folder| self.matching(folder, part)).collect(),
                false => found.iter().map(|folder| format!("{folder}/{part}")).collect(),
            };
        }
        found
    }

    /// The entries of `folder` that `pattern` matches.
    fn matching(&mut self, folder: &str, pattern: &str) -> Vec<String> {
        let opened = Place::locate(self.scope, if folder.is_empty() { "/" } else { folder })
            .and_then(|place| place.open_folder());
        // What cannot be listed cannot be matched by the shell either.
        let Ok(opened) = opened else { return Vec::new() };
        let Ok(names) = opened.names() else { return Vec::new() };
        let names = names.take_while(|_| self.look()).filter_map(|name| name.ok().map(OsString::into_string));
        // A name that is no text cannot be described; the question is about the folder then.
        let matched = names.map(|name| name.unwrap_or_default()).filter(|name| matches(pattern, name));
        matched.map(|name| format!("{folder}/{name}")).collect()
    }
}

/// Whether `name` is one that `pattern` can mean, in time proportional to both lengths at worst.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    let mut retry = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*' | '…') => {
                retry = Some((at + 1, in_name));
                at += 1;
            }
            Some(wanted) if matches!(wanted, '?' | '\u{fffd}') || name.get(in_name) == Some(wanted) => {
                at += 1;
                in_name += 1;
            }
            _ => match retry {
                Some((after, tried)) => {
                    retry = Some((after, tried + 1));
                    (at, in_name) = (after, tried + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|rest| matches!(rest, '*' | '…'))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name) in
            [("*", "a"), ("*.txt", "a.txt"), ("?*.t?t", "ab.txt"), ("a…c", "abbc"), ("a*b*", "aXbY")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.txt", "a.txtx"), ("?", ""), ("?", "ab"), ("a*b", "ac"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
