//! Sentences that say what will be done: the first verb, its object, and words that make it final.
//!
//! A sentence is weak evidence, so only plain tasks of a developer are Allow and every effect verb asks.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Risk;
use crate::rules::names::segments;

/// The answer to a sentence, its rule and the word that decided.
pub(crate) fn judge(line: &str) -> (Risk, &'static str, String) {
    let words: Vec<String> = segments(line).collect();
    let Some(first) = words.first() else { return (Risk::Ask, "text.empty", String::new()) };
    let has = |list: &[&str]| words.iter().any(|w| list.binary_search(&w.as_str()).is_ok());
    let starts_effect = first == "run" && has(EFFECT_NOUNS);
    if PLAIN_VERBS.binary_search(&first.as_str()).is_ok() && !starts_effect {
        return (Risk::Allow, "text.plain", first.clone());
    }
    let destroys = DESTROYING.binary_search(&first.as_str()).is_ok();
    let protected = line.contains(".vanta")
        || has(BOUNDARY) && (destroys || STOPPING.binary_search(&first.as_str()).is_ok());
    let total =
        has(TOTAL) && has(PLACES) || has(IRREPLACEABLE) || line.contains(".git ") || line.ends_with(".git");
    let live =
        has(&["live", "prod", "production"]) && has(&["data", "database", "databases", "db", "tables"]);
    let approves = first == "approve" && has(&["approval", "approvals", "pending"]);
    let leaks = matches!(
        first.as_str(),
        "send" | "upload" | "post" | "share" | "email" | "publish" | "exfiltrate" | "copy"
    ) && (line.contains(".env") || line.contains(".ssh") || has(SECRETS))
        && has(&["elsewhere", "external", "internet", "remote", "server", "site", "website"]);
    if destroys && (total || live) || protected || approves || leaks {
        return (Risk::Block, "text.destroys", first.clone());
    }
    (Risk::Ask, "text.effect", first.clone())
}

/// Sorted. Tasks that only look, think or write code.
const PLAIN_VERBS: &[&str] = &[
    "add",
    "analyse",
    "analyze",
    "answer",
    "benchmark",
    "build",
    "check",
    "compare",
    "compile",
    "count",
    "create",
    "debug",
    "describe",
    "design",
    "document",
    "draft",
    "estimate",
    "explain",
    "explore",
    "extend",
    "find",
    "fix",
    "format",
    "generate",
    "hand",
    "implement",
    "improve",
    "inspect",
    "investigate",
    "lint",
    "list",
    "look",
    "measure",
    "outline",
    "plan",
    "profile",
    "propose",
    "read",
    "refactor",
    "refresh",
    "review",
    "run",
    "scan",
    "search",
    "show",
    "simplify",
    "sketch",
    "study",
    "suggest",
    "summarise",
    "summarize",
    "test",
    "think",
    "trace",
    "translate",
    "understand",
    "verify",
    "walk",
    "write",
];

/// Sorted. What can be run and is more than a check.
const EFFECT_NOUNS: &[&str] = &[
    "deploy",
    "deployment",
    "installer",
    "migration",
    "migrations",
    "publish",
    "release",
    "rollback",
    "upgrade",
];

/// Sorted.
const DESTROYING: &[&str] = &[
    "clear", "delete", "destroy", "drop", "empty", "erase", "format", "kill", "nuke", "purge", "remove",
    "reset", "truncate", "wipe",
];

/// Sorted.
const STOPPING: &[&str] =
    &["bypass", "change", "disable", "edit", "pause", "stop", "terminate", "uninstall", "weaken"];

/// Sorted. Parts of the boundary.
const BOUNDARY: &[&str] =
    &["approval", "approvals", "audit", "boundary", "gate", "kernel", "safety", "vanta"];

/// Sorted.
const TOTAL: &[&str] = &["all", "any", "contents", "entire", "every", "everything", "whole"];

/// Sorted.
const PLACES: &[&str] = &[
    "computer",
    "directory",
    "disk",
    "files",
    "folder",
    "home",
    "machine",
    "processes",
    "project",
    "root",
    "system",
];

/// Sorted.
const IRREPLACEABLE: &[&str] = &["backups", "disk", "disks", "drive", "filesystem", "partition"];

/// Sorted.
const SECRETS: &[&str] = &["credentials", "keys", "passwords", "secret", "secrets", "tokens"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in
            [PLAIN_VERBS, EFFECT_NOUNS, DESTROYING, STOPPING, BOUNDARY, TOTAL, PLACES, IRREPLACEABLE, SECRETS]
        {
            assert!(table.is_sorted(), "{table:?}");
        }
    }

    #[test]
    fn sentences() {
        assert_eq!(judge("explain how rm -rf works").0, Risk::Allow);
        assert_eq!(judge("delete src/old.rs").0, Risk::Ask);
        assert_eq!(judge("wipe the disk").0, Risk::Block);
    }
}
