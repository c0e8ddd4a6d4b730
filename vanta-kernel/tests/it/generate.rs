//! What the generated tests share: a small random sequence, how many cases to run, commands to start from.

use serde_json::Value;

/// A linear congruential generator (Knuth's MMIX constants), so that every run tests the same cases.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// How many cases a generated test runs: `few`, or `many` when `VANTA_SLOW_TESTS` is set.
pub(crate) fn cases(few: usize, many: usize) -> usize {
    if std::env::var_os("VANTA_SLOW_TESTS").is_some_and(|v| v != "0" && !v.is_empty()) { many } else { few }
}

/// A labelled POSIX command.
#[derive(Debug)]
pub(crate) struct Labelled {
    pub(crate) command: String,
    pub(crate) root: String,
    pub(crate) home: Option<String>,
    pub(crate) cwd: Option<String>,
}

/// The POSIX commands of the corpus that are one line of ordinary characters.
pub(crate) fn corpus_commands() -> Vec<Labelled> {
    let text = include_str!("../data/safety.jsonl");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let field = |row: &Value, key: &str| row[key].as_str().map(String::from);
    rows.filter(|row| row["kind"] == "shell" && row["shell"].is_null())
        .map(|row| Labelled {
            command: field(&row, "action").unwrap(),
            root: field(&row, "root").unwrap(),
            home: field(&row, "home"),
            cwd: field(&row, "cwd"),
        })
        .filter(|row| row.command.len() < 2_000 && row.command.chars().all(|c| matches!(c, ' '..='~')))
        .collect()
}

/// `text` in single quotes.
pub(crate) fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `text` in double quotes.
pub(crate) fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
