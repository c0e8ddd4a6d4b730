//! The commands that the measurements of `assess` judge, and the floor they stand beside.

use aho_corasick::AhoCorasick;

/// A list of commands that only read, exactly `bytes` long.
pub(crate) fn harmless(bytes: usize) -> String {
    let mut command = String::with_capacity(bytes);
    for line in READ_ONLY.iter().cycle() {
        if command.len() + line.len() + LAST.len() > bytes {
            break;
        }
        command.push_str(line);
    }
    command.push_str(LAST);
    command.extend(std::iter::repeat_n('x', bytes.saturating_sub(command.len())));
    command
}

/// An automaton for a hundred literals, none of which occurs in a harmless command.
#[expect(clippy::expect_used, reason = "a measurement without its floor must not go on")]
pub(crate) fn literal_scan() -> AhoCorasick {
    let literals = PROGRAMS.iter().flat_map(|program| OPTIONS.map(|option| format!("{program} {option}")));
    AhoCorasick::builder().ascii_case_insensitive(true).build(literals).expect("a hundred literals fit")
}

const READ_ONLY: [&str; 5] = [
    "ls -la src; ",
    "git status --short && ",
    "wc -l 'src/lib.rs'; ",
    "grep -n \"fn main\" src/main.rs | head -n 5; ",
    "cat Cargo.toml; ",
];

/// The last command; its argument fills what is left.
const LAST: &str = "echo ";

const PROGRAMS: [&str; 10] =
    ["rm", "dd", "mkfs", "shutdown", "chmod", "chown", "curl", "wget", "truncate", "shred"];

const OPTIONS: [&str; 10] = ["-r", "-f", "-rf", "-R", "if=", "of=", "--force", "-o", "-X", "/"];
