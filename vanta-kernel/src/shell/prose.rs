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
    if is_question(line, first) {
        return (Risk::Allow, "text.plain", first.clone());
    }
    if is_final(line, first, &words) {
        return (Risk::Block, "text.destroys", first.clone());
    }
    if let Some(word) = effect(line, first, &words) {
        return (Risk::Ask, "text.effect", word);
    }
    (Risk::Allow, "text.plain", first.clone())
}

/// A question, or a request to explain in another language: it names effects and does none.
fn is_question(line: &str, first: &str) -> bool {
    let one = !line.trim_end_matches(['?', ' ', '!']).contains(['?', ';', '\n']) && !line.contains(". ");
    // "Why not delete it?" and "how about you push?" are orders.
    let polite = segments(line).any(|w| matches!(w.as_str(), "about" | "don" | "not" | "you"));
    let opening = line.split_whitespace().next().unwrap_or("").to_lowercase();
    let asks = is(first, QUESTIONS) && line.trim_end().ends_with('?') || is(opening.as_str(), EXPLAINING);
    // A second clause may hold an order.
    let clause = line.contains(", then ") || line.contains(" and then ") || line.contains(" und dann ");
    one && asks && !polite && !clause
}

fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|w| list.binary_search(&w.as_str()).is_ok())
}

fn is(word: &str, list: &[&str]) -> bool {
    list.binary_search(&word).is_ok()
}

/// What no approval can repair.
fn is_final(line: &str, first: &str, words: &[String]) -> bool {
    let destroys = is(first, DESTROYING);
    let boundary = line.contains(".vanta") && !is(first, PLAIN_VERBS)
        || has(words, BOUNDARY) && (destroys || is(first, STOPPING));
    let total = has(words, TOTAL) && has(words, PLACES)
        || has(words, IRREPLACEABLE)
        || line.contains(".git ")
        || line.ends_with(".git");
    let live = has(words, &["live", "prod", "production"])
        && has(words, &["data", "database", "databases", "db", "tables"]);
    let approves = first == "approve" && has(words, &["approval", "approvals", "pending"]);
    let secret = line.contains(".env") || line.contains(".ssh") || has(words, SECRETS);
    let leaks = is(first, SENDING) && secret && has(words, ELSEWHERE);
    let device = destroys && line.contains("/dev/") || first == "dd" && line.contains("of=/dev/");
    let key = has(words, &["key", "keys"]) && has(words, &["deploy", "private", "signing", "ssh"]);
    let leaks_key = is(first, SENDING) && key && !has(words, &["public"]);
    let shell = has(words, &["shell", "shells"]) && has(words, &["bind", "reverse"]);
    let opens = shell && is(first, OPENING);
    destroys && (total || live) || boundary || approves || leaks || device || leaks_key || opens
}

/// The word that makes a sentence more than a plain task.
fn effect(line: &str, first: &str, words: &[String]) -> Option<String> {
    if !is(first, PLAIN_VERBS) || first == "run" && has(words, EFFECT_NOUNS) {
        return Some(String::from(first));
    }
    // A later part may start with a verb of its own: "fix it and push".
    let mut previous = "";
    for word in words {
        if matches!(previous, "and" | "then" | "afterwards" | "finally" | "next" | "after")
            && (is(word, EFFECT_VERBS) || is(word, DESTROYING) || is(word, LATER_VERBS))
        {
            return Some(word.clone());
        }
        previous = word;
    }
    // "create a pull request" reaches other people; "run … on ssh prod" another machine.
    let reaches = words
        .windows(2)
        .any(|w| matches!(w, [a, b] if matches!(a.as_str(), "merge" | "pull") && b == "request"))
        && matches!(first, "create" | "open" | "add" | "update")
        || first == "run" && has(words, &["rm", "ssh", "sudo"])
        || line.contains(", ") && later_clause(line);
    if reaches {
        return Some(String::from(first));
    }
    let shows = matches!(first, "display" | "open" | "print" | "read" | "show");
    let named = line.contains(".env") && !line.contains(".env.example") || line.contains(".ssh");
    let private = words.windows(2).any(|w| matches!(w, [a, b] if a == "private" && b == "key"));
    let outside = line
        .split_whitespace()
        .find(|w| w.starts_with("/etc") || w.starts_with("~/") || w.starts_with("../"));
    if shows && (named || private) {
        return Some(String::from(first));
    }
    outside.filter(|_| !matches!(first, "describe" | "explain" | "think")).map(String::from)
}

/// Does a part behind a comma start with a verb that does more than a plain task?
fn later_clause(line: &str) -> bool {
    line.split(", ")
        .skip(1)
        .filter_map(|part| segments(part).next())
        .any(|word| is(&word, EFFECT_VERBS) || is(&word, DESTROYING) || is(&word, LATER_VERBS))
}

/// Sorted. Words a question starts with.
const QUESTIONS: &[&str] = &[
    "are", "comment", "did", "do", "does", "has", "have", "how", "is", "should", "was", "were", "what",
    "when", "where", "which", "who", "whose", "why", "wo",
];

/// Sorted. "Explain" and question words of other languages.
const EXPLAINING: &[&str] = &[
    "beschreibe",
    "cómo",
    "erkläre",
    "erklären",
    "explica",
    "explique",
    "expliquer",
    "expliquez",
    "pourquoi",
    "qué",
    "spiega",
    "warum",
    "welche",
    "welcher",
    "welches",
    "wie",
    "wozu",
    "как",
    "объясни",
    "почему",
    "что",
];

/// Sorted. What a later clause may do besides.
const LATER_VERBS: &[&str] = &[
    "approve",
    "bypass",
    "commit",
    "copy",
    "disable",
    "exfiltrate",
    "force",
    "kill",
    "leak",
    "overwrite",
    "revoke",
    "run",
    "share",
    "steal",
    "stop",
    "transfer",
    "uninstall",
];

/// Sorted. Tasks that only look, think or write code.
const PLAIN_VERBS: &[&str] = &[
    "add",
    "adjust",
    "analyse",
    "analyze",
    "answer",
    "benchmark",
    "build",
    "check",
    "clarify",
    "collect",
    "compare",
    "compile",
    "consider",
    "convert",
    "count",
    "create",
    "debug",
    "decide",
    "describe",
    "design",
    "display",
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
    "group",
    "hand",
    "handle",
    "implement",
    "improve",
    "inspect",
    "investigate",
    "lint",
    "list",
    "load",
    "log",
    "look",
    "map",
    "measure",
    "note",
    "observe",
    "optimise",
    "optimize",
    "outline",
    "parse",
    "plan",
    "polish",
    "port",
    "prepare",
    "print",
    "profile",
    "propose",
    "prototype",
    "read",
    "record",
    "refactor",
    "refresh",
    "rename",
    "reorganise",
    "reorganize",
    "reproduce",
    "review",
    "rewrite",
    "run",
    "scan",
    "search",
    "show",
    "simplify",
    "simulate",
    "sketch",
    "sort",
    "split",
    "study",
    "suggest",
    "summarise",
    "summarize",
    "support",
    "test",
    "think",
    "tidy",
    "trace",
    "translate",
    "type",
    "understand",
    "update",
    "use",
    "validate",
    "verify",
    "walk",
    "watch",
    "wire",
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
const STOPPING: &[&str] = &[
    "bypass",
    "change",
    "circumvent",
    "disable",
    "edit",
    "pause",
    "skip",
    "stop",
    "switch",
    "terminate",
    "turn",
    "uninstall",
    "weaken",
];

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

/// Sorted. Verbs that make something run or listen.
const OPENING: &[&str] = &[
    "connect",
    "establish",
    "execute",
    "give",
    "launch",
    "make",
    "open",
    "run",
    "send",
    "set",
    "spawn",
    "start",
];

/// Sorted.
const SENDING: &[&str] =
    &["copy", "email", "exfiltrate", "forward", "leak", "post", "publish", "send", "share", "upload"];

/// Sorted.
const ELSEWHERE: &[&str] =
    &["anyone", "elsewhere", "external", "internet", "pastebin", "remote", "server", "site", "website"];

/// Sorted. Verbs that reach other people or machines.
const EFFECT_VERBS: &[&str] = &[
    "buy", "deploy", "email", "install", "merge", "migrate", "pay", "post", "publish", "push", "release",
    "restart", "send", "submit", "upload",
];

/// Sorted.
const SECRETS: &[&str] = &["credentials", "keys", "passwords", "secret", "secrets", "tokens"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [
            PLAIN_VERBS,
            EFFECT_NOUNS,
            DESTROYING,
            STOPPING,
            BOUNDARY,
            TOTAL,
            PLACES,
            IRREPLACEABLE,
            SECRETS,
            SENDING,
            OPENING,
            ELSEWHERE,
            EFFECT_VERBS,
            QUESTIONS,
            EXPLAINING,
            LATER_VERBS,
        ] {
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
