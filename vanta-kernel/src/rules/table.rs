//! The shape of the program tables, and how they are searched.

use super::act::Act;
use super::programs::PROGRAMS;
use super::subcommands::{OPTIONS, SUBCOMMANDS};

/// How a program uses its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Operands are data: nothing is opened.
    Data,
    /// Operands are files it reads.
    Read,
    /// The first operand is a pattern or program text, the others are read.
    Pattern,
    /// Operands are files it creates.
    Write,
    /// A developer tool: it works in the project; operands that look like paths are read.
    Tool,
    /// It runs the command behind its own options.
    Wrapper,
    /// It has a model of its own.
    Model(Model),
}

/// Programs whose arguments need more than a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    Alias,
    Archive,
    Awk,
    Cat,
    ChangeFolder,
    CleanTool,
    Copy,
    Crontab,
    Curl,
    Database,
    Dd,
    Declare,
    Delete,
    Device,
    Docker,
    Editor,
    Environment,
    Eval,
    Find,
    Git,
    HttpTool,
    Infra,
    Interpreter,
    Kill,
    Kubectl,
    Link,
    List,
    Make,
    Move,
    Netcat,
    Packages,
    Permission,
    Print,
    PrintFormat,
    Produce,
    Rsync,
    Script,
    Sed,
    SelfTool,
    SendMail,
    Set,
    Shell,
    Sort,
    Source,
    Ssh,
    Tee,
    Transfer,
    Trap,
    Truncate,
    WindowsShell,
    Xargs,
}

/// One program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// What running it does when no sub-command or option says otherwise.
    pub(crate) act: Act,
    /// Its options that take a value, separated by blanks.
    pub(crate) values: &'static str,
}

/// The row of `name`.
pub(crate) fn program(name: &str) -> Option<&'static Program> {
    row(name).or_else(|| versioned(name))
}

/// Looks `name` up in [`SLOTS`].
fn row(name: &str) -> Option<&'static Program> {
    let mut slot = hash(name.as_bytes());
    loop {
        let row = PROGRAMS.get(usize::from(*SLOTS.get(slot)?))?;
        if row.name == name {
            return Some(row);
        }
        slot = (slot + 1) % SLOTS.len();
    }
}

/// A hash table of the rows, made when the crate is compiled: a row is at the hash of its name or soon behind it.
/// An empty slot holds a number that no row has.
#[expect(clippy::indexing_slicing, reason = "an index that is wrong stops the compiler")]
static SLOTS: [u16; 8192] = {
    let mut slots = [u16::MAX; 8192];
    let mut index = 0;
    while index < PROGRAMS.len() {
        let mut slot = hash(PROGRAMS[index].name.as_bytes());
        while slots[slot] != u16::MAX {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = index as u16;
        index += 1;
    }
    slots
};

const fn hash(name: &[u8]) -> usize {
    let mut hash = 0_u32;
    let mut rest = name;
    while let [first, tail @ ..] = rest {
        hash = (hash ^ *first as u32).wrapping_mul(0x0100_0193);
        rest = tail;
    }
    (hash >> 16 ^ hash) as usize % 8192
}

/// `python3.12`, `gcc-13`, `mkfs.ext4`: the name without its version or kind.
fn versioned(name: &str) -> Option<&'static Program> {
    let base = match name.split_once(['.', '_']) {
        Some((base @ ("mkfs" | "newfs" | "fsck"), _)) => base,
        _ => name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-'),
    };
    if base.is_empty() || base.len() == name.len() {
        return None;
    }
    row(base)
}

/// The act of the longest listed phrase that `words` start with.
pub(crate) fn subcommand(program: &str, words: &[&str]) -> Option<(usize, Act)> {
    (1..=words.len().min(3)).rev().find_map(|count| {
        let phrase = words.iter().take(count);
        SUBCOMMANDS
            .binary_search_by(|(key, _)| compare(key, program, phrase.clone().copied()))
            .ok()
            .and_then(|i| SUBCOMMANDS.get(i))
            .map(|(_, act)| (count, *act))
    })
}

/// Orders a phrase of the table against words, without joining them.
fn compare<'a>(key: &'a str, program: &'a str, words: impl Iterator<Item = &'a str>) -> core::cmp::Ordering {
    key.split(' ').cmp(core::iter::once(program).chain(words))
}

/// The acts of options `program` (with its sub-command, `git reset`) was given.
pub(crate) fn options(phrase: &str) -> impl Iterator<Item = &'static (&'static str, &'static str, Act)> {
    let from = OPTIONS.partition_point(|(key, _, _)| *key < phrase);
    let phrase_len = phrase.len();
    let first = OPTIONS.get(from).map_or("", |(key, _, _)| *key);
    let matches = first.len() == phrase_len && first == phrase;
    OPTIONS.iter().skip(from).take_while(move |(key, _, _)| matches && *key == first)
}

/// Is `name` a shell that runs its input?
pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.binary_search(&name).is_ok()
}

/// Folders that hold installed programs.
pub(crate) fn is_program_folder(folder: &str) -> bool {
    PROGRAM_FOLDERS.binary_search(&folder).is_ok()
}

/// Sorted.
pub(crate) const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "yash", "zsh"];

/// Sorted.
pub(crate) const PROGRAM_FOLDERS: &[&str] =
    &["/bin", "/opt/homebrew/bin", "/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/sbin"];

/// What a program name that is a pattern could be, most dangerous first.
pub(crate) const DESTROYERS: &[&str] =
    &["rm", "dd", "shred", "mkfs", "unlink", "rmdir", "curl", "mv", "chmod", "chown", "sh", "bash"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(SHELLS.windows(2).all(|w| w[0] < w[1]));
        assert!(PROGRAM_FOLDERS.windows(2).all(|w| w[0] < w[1]));
        for pair in PROGRAMS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
        for pair in SUBCOMMANDS.windows(2) {
            assert!(pair[0].0.split(' ').lt(pair[1].0.split(' ')), "{} before {}", pair[0].0, pair[1].0);
        }
        for pair in OPTIONS.windows(2) {
            assert!((pair[0].0, pair[0].1) < (pair[1].0, pair[1].1), "{:?} before {:?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn every_subcommand_belongs_to_a_program() {
        for (phrase, _) in SUBCOMMANDS {
            let name = phrase.split(' ').next().unwrap();
            assert!(program(name).is_some(), "{phrase}");
        }
        for (phrase, option, _) in OPTIONS {
            let name = phrase.split(' ').next().unwrap();
            assert!(program(name).is_some(), "{phrase} {option}");
        }
    }
}
