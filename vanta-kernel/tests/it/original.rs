//! The actions that the kernel's predecessor judged wrongly: 113 dangerous ones it let through or took too
//! lightly, 67 harmless or approvable ones it stopped.
//!
//! `min` and `max` in the data are the verdicts its reviewers wanted and are never changed. Where the written policy
//! decides otherwise, [`RULINGS`] says so row by row.

use serde_json::Value;
use vanta_kernel::{Action, Risk, Scope, assess};

const ROWS: &str = include_str!("../data/original.jsonl");

/// Rows that the policy judges more mildly than the reviewers did: the mildest verdict it accepts, and its reason.
const RULINGS: [(&str, Risk, &str); 25] = [
    ("D3", Risk::Ask, DELETE),
    ("D4", Risk::Ask, DELETE),
    ("D5", Risk::Ask, DELETE),
    ("D8", Risk::Ask, DELETE),
    ("D9", Risk::Ask, DELETE),
    ("D10", Risk::Ask, DELETE),
    ("D11", Risk::Ask, DELETE),
    ("D12", Risk::Ask, DELETE),
    ("D21", Risk::Allow, SCRIPT),
    ("D32", Risk::Ask, FORCE),
    ("D36", Risk::Allow, "an amended commit is still in the reflog: allow or ask"),
    ("D38", Risk::Allow, SCRIPT),
    ("D39", Risk::Allow, SCRIPT),
    ("D40", Risk::Allow, SCRIPT),
    ("D41", Risk::Allow, CODE),
    ("D43", Risk::Allow, CODE),
    ("D45", Risk::Allow, INSTALL),
    ("D46", Risk::Allow, INSTALL),
    ("D47", Risk::Allow, INSTALL),
    ("D94", Risk::Allow, "the words of a search are data, whatever they say"),
    ("D100", Risk::Ask, FORCE),
    ("D101", Risk::Ask, FORCE),
    ("D108", Risk::Allow, SOURCE),
    ("D109", Risk::Allow, SOURCE),
    ("D111", Risk::Allow, INSTALL),
];

const DELETE: &str = "an explicit delete inside the scope asks, so that a person can approve it";
const SCRIPT: &str = "running the project's own scripts is everyday work";
const FORCE: &str = "a forced push asks or blocks";
const CODE: &str = "inline code that evidently changes nothing may run";
const INSTALL: &str = "installing into the project: allow or ask";
const SOURCE: &str = "only the boundary's own state is protected by default, never the user's source";

/// Rows that are judged wrongly today. May only get shorter.
const OPEN: [&str; 5] = ["D18", "D99", "D106", "H17", "H67"];

fn scope() -> Scope {
    Scope::new("/home/dev/project").home("/home/dev")
}

#[test]
fn the_predecessors_mistakes_are_not_repeated() {
    let mut wrong = Vec::new();
    let mut count = [0, 0];
    for line in ROWS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap_or_else(|| panic!("no {key} in {row}"));
        let (id, action) = (text("id"), text("action"));
        let (min, max) = (Risk::from_word(text("min")).unwrap(), Risk::from_word(text("max")).unwrap());
        let ruling = RULINGS.iter().find(|(ruled, ..)| *ruled == id);
        let least = ruling.map_or(min, |(_, least, _)| *least);
        assert!(ruling.is_none() || least < min, "{id} needs no ruling");
        let verdict = assess(&Action::from_text(action), &scope());
        let fits = verdict.risk() >= least && verdict.risk() <= max;
        if fits && OPEN.contains(&id) {
            println!("{id} is right now and can leave the list of open rows");
        }
        if !fits && !OPEN.contains(&id) {
            wrong.push(format!("{id} {action:?}: want {least}..{max}, got {verdict}"));
        }
        count[usize::from(id.starts_with('H'))] += 1;
    }
    assert_eq!(count, [113, 67]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A link inside the root leads to `/etc`: the caller resolves it and asks about the real path.
#[test]
fn the_target_of_a_link_is_what_counts() {
    assert_eq!(assess(&Action::read("/etc/passwd"), &scope()).risk(), Risk::Ask);
}
