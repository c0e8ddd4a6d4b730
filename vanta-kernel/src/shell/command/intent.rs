//! Words that say an effect, in the sub-commands, targets and options of tools whose tables do not list them.
//!
//! Data says nothing: what is tested, searched or installed, files, and values of options.

use alloc::string::String;
use alloc::vec::Vec;

use super::Call;
use crate::rules::act::Act;
use crate::rules::verbs::{
    DATA_TOOLS, DATABASE_NOUNS, DATABASE_VERBS, EXTENSIONS, GOAL_TOOLS, LOOKING, OPTION_NOUNS, OPTION_VERBS,
    PLAIN, REHEARSALS, SWITCHES, VERBS, WHOLE_VERBS,
};
use crate::shell::flow::Walker;
use crate::shell::value::{Value, is_marker};

impl Walker<'_> {
    /// A word for publishing, deploying, dropping and the like asks.
    pub(super) fn intent(call: &mut Call) {
        if is_rehearsal(&call.args) {
            return;
        }
        let name = call.name.as_str();
        let found = if DATA_TOOLS.binary_search(&name).is_ok() {
            None
        } else if GOAL_TOOLS.binary_search(&name).is_ok() {
            words(&call.args, true).iter().find_map(|w| word_act(w).map(|act| (act, w.clone())))
        } else {
            command_act(&words(&call.args, false))
        };
        if let Some((act, word)) = found {
            call.command.fact(act, word);
        }
        Self::option_intent(call);
    }

    /// Options that say an effect: `--push`, `--publishImage`, `--delete`.
    pub(super) fn option_intent(call: &mut Call) {
        let found = call
            .args
            .iter()
            .take_while(|a| a.text != "--")
            .find_map(|a| option_act(&a.text).map(|act| (act, a.text.clone())));
        if let Some((act, word)) = found {
            call.command.fact(act, word);
        }
    }
}

/// Only told what would happen.
pub(super) fn is_rehearsal(args: &[Value]) -> bool {
    let last = args.last().map_or("", |a| a.text.as_str());
    matches!(last, "-h" | "help")
        || args.iter().any(|a| {
            let name = a.text.split('=').next().unwrap_or("");
            REHEARSALS.binary_search(&name).is_ok()
        })
}

/// Operands that can be a sub-command or a target, without the values of options.
fn words(args: &[Value], goals: bool) -> Vec<String> {
    let mut out = Vec::new();
    let mut before = "";
    for arg in args.iter().take_while(|a| a.text != "--") {
        let text = arg.text.as_str();
        let option = core::mem::replace(&mut before, text);
        if text.starts_with('-') || takes_value(option) {
            continue;
        }
        let word = if goals { text.split_whitespace().next().unwrap_or("") } else { text };
        let word = word.trim_start_matches(['+', '@', ':']);
        let word = word.rsplit('/').next().filter(|_| goals || out.is_empty()).unwrap_or(word);
        // `-c Release` names a configuration.
        let configuration = option.starts_with('-') && word.eq_ignore_ascii_case("release");
        if !is_word(word) || configuration {
            continue;
        }
        out.push(String::from(word));
        if !goals && out.len() == 3 {
            break;
        }
    }
    out
}

fn is_word(word: &str) -> bool {
    let file = word.rsplit_once('.').is_some_and(|(_, end)| EXTENSIONS.binary_search(&end).is_ok());
    !word.is_empty()
        && !file
        && !word.chars().any(is_marker)
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
}

/// A long option takes the next word, unless its name is that of a switch.
fn takes_value(option: &str) -> bool {
    let Some(name) = option.strip_prefix("--").filter(|n| !n.contains('=')) else { return false };
    let first = name.split('-').next().unwrap_or("");
    SWITCHES.binary_search(&first).is_err()
}

/// The act of a sub-command, its own sub-command, or its first target.
fn command_act(words: &[String]) -> Option<(Act, String)> {
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).map_or("", String::as_str);
        if let Some(act) = word_act(word).or_else(|| whole(word)) {
            let looks = LOOKING.binary_search(&next).is_ok();
            return if looks { None } else { Some((act, word.clone())) };
        }
        if PLAIN.binary_search(&word.as_str()).is_ok() || LOOKING.binary_search(&word.as_str()).is_ok() {
            return None;
        }
    }
    None
}

/// `release`, `db:drop`, `publishToCentral`, but not `assembleRelease`, `release:notes` or `migrate:status`.
fn word_act(word: &str) -> Option<Act> {
    let all = camel(word);
    let is = |table: &[&str], s: &String| table.binary_search(&s.as_str()).is_ok();
    if all.iter().any(|s| is(LOOKING, s) || matches!(s.as_str(), "dry" | "local" | "test")) {
        return None;
    }
    if all.iter().any(|s| is(DATABASE_NOUNS, s)) && all.iter().any(|s| is(DATABASE_VERBS, s)) {
        return Some(Act::Migrate);
    }
    word.split(':').find_map(|part| {
        let segments = camel(part);
        let plain = segments.first().is_some_and(|s| is(PLAIN, s));
        if plain { None } else { segments.iter().find_map(|s| lookup(VERBS, s)) }
    })
}

fn whole(word: &str) -> Option<Act> {
    lookup(WHOLE_VERBS, word)
}

fn lookup(table: &[(&str, Act)], word: &str) -> Option<Act> {
    table.binary_search_by(|(key, _)| (*key).cmp(word)).ok().and_then(|i| table.get(i)).map(|(_, act)| *act)
}

fn option_act(option: &str) -> Option<Act> {
    let text = option.strip_prefix("--")?;
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if matches!(value, "false" | "no" | "0" | "off" | "never") {
        return None;
    }
    let segments = camel(name);
    let denied = segments.iter().any(|s| matches!(s.as_str(), "dry" | "no" | "skip" | "without"));
    let names_thing = segments.len() > 1
        && segments.last().is_some_and(|s| OPTION_NOUNS.binary_search(&s.as_str()).is_ok());
    if denied || names_thing {
        return None;
    }
    segments.iter().find_map(|s| lookup(OPTION_VERBS, s))
}

/// Lower-case parts of a name, split at signs and where a capital follows a small letter.
pub(super) fn camel(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut small = false;
    for c in text.chars() {
        let splits = !c.is_ascii_alphanumeric() || small && c.is_ascii_uppercase();
        if splits && !current.is_empty() {
            out.push(core::mem::take(&mut current));
        }
        if c.is_ascii_alphanumeric() {
            current.push(c.to_ascii_lowercase());
        }
        small = c.is_ascii_lowercase();
    }
    if !current.is_empty() {
        out.push(current);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_an_effect() {
        assert_eq!(word_act("publishToCentral"), Some(Act::Publish));
        assert_eq!(word_act("doctrine:database:drop"), Some(Act::Migrate));
        for plain in ["assembleRelease", "migrate:status", "publishToMavenLocal", "spotlessApply", "lint"] {
            assert_eq!(word_act(plain), None, "{plain}");
        }
        assert_eq!(option_act("--publishImage"), Some(Act::Publish));
        assert_eq!(option_act("--no-push"), None);
        assert_eq!(option_act("--upload-dir"), None);
    }
}
