//! The boundary's own files: which programs only look at them, and which names hold its tokens.
//!
//! Any use of a protected place that is not known to be reading counts as a change (see `command/consequences.rs`).

use crate::shell::value::{ANY, CONTENT, LISTED, ONE, TOKEN, UNKNOWN, matches};

/// Does `name` only read the files it is given, or has a model that notes what it writes?
pub(crate) fn only_reads(name: &str) -> bool {
    READERS.binary_search(&name).is_ok()
}

/// Does `name` show names and sizes, never content?
pub(crate) fn only_lists(name: &str) -> bool {
    LISTERS.binary_search(&name).is_ok()
}

/// Can reading `path`, which lies in a protected place, show a token?
pub(crate) fn covers_tokens(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or("");
    if name.contains([UNKNOWN, LISTED, CONTENT]) {
        return true;
    }
    let is_folder = name.eq_ignore_ascii_case(".vanta") || name == "vanta" || path.ends_with("/vanta");
    let is_pattern = name.contains([ANY, ONE, TOKEN]);
    is_folder || is_pattern && TOKEN_FILES.iter().any(|file| matches(name, file))
}

/// Names under which tokens and keys are kept.
const TOKEN_FILES: [&str; 5] = ["agent.token", "operator.token", "tokens", "audit.key", "audit.mac"];

/// Sorted.
const LISTERS: &[&str] = &[
    "[", "[[", "basename", "cd", "chdir", "df", "dir", "dirname", "du", "exa", "eza", "fd", "fdfind", "file",
    "find", "git", "ls", "lsd", "namei", "popd", "pushd", "readlink", "realpath", "stat", "test", "tree",
    "vdir",
];

/// Sorted.
const READERS: &[&str] = &[
    "[",
    "[[",
    "ack",
    "ag",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "bat",
    "batcat",
    "cat",
    "cd",
    "chdir",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cp",
    "cut",
    "dd",
    "df",
    "diff",
    "dir",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exa",
    "exit",
    "eza",
    "fd",
    "fdfind",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "gawk",
    "git",
    "grep",
    "hd",
    "head",
    "hexdump",
    "jq",
    "less",
    "list",
    "ls",
    "lsd",
    "mawk",
    "md5",
    "md5sum",
    "more",
    "namei",
    "nawk",
    "nl",
    "od",
    "paste",
    "popd",
    "printf",
    "pushd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rg",
    "sed",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "sort",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "tar",
    "test",
    "tr",
    "tree",
    "type",
    "uniq",
    "vanta",
    "vanta-kernel",
    "vdir",
    "view",
    "wc",
    "xxd",
    "yq",
    "zcat",
    "zgrep",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(READERS.windows(2).all(|w| w[0] < w[1]));
        assert!(LISTERS.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn patterns_that_reach_tokens() {
        assert!(covers_tokens("/p/.vanta"));
        assert!(covers_tokens("/p/.vanta/\u{fdd0}"));
        assert!(covers_tokens("/p/.vanta/a\u{fdd0}"));
        assert!(!covers_tokens("/p/.vanta/\u{fdd0}.jsonl"));
        assert!(!covers_tokens("/p/.vanta/events.jsonl"));
    }
}
