//! Tcl and expect: commands that run programs, delete, open files and sockets.

use alloc::string::String;
use alloc::vec::Vec;

use super::Call;
use crate::Effect;
use crate::rules::act::Act;
use crate::shell::flow::Walker;
use crate::shell::value::Value;

impl Walker<'_> {
    pub(super) fn tcl(&mut self, code: &str, call: &mut Call) {
        let mut sends = false;
        for line in code.split([';', '\n', '\u{fffd}', '[', ']', '{', '}']) {
            let words: Vec<&str> = line.split_ascii_whitespace().map(|w| w.trim_matches('"')).collect();
            match words.as_slice() {
                ["exec" | "spawn" | "system", ..] => {
                    let command = line.trim().split_once(' ').map_or("", |(_, tail)| tail);
                    call.command.fact(Act::RunUnknown, command);
                    self.nested_code(&String::from(command), call);
                }
                ["file", "delete", targets @ ..] => {
                    for target in targets.iter().filter(|t| !t.starts_with('-')) {
                        self.use_path_deep(&tcl_path(target), Effect::Delete, true, call);
                    }
                }
                ["file", "rename" | "copy", targets @ ..] => {
                    for target in targets.iter().filter(|t| !t.starts_with('-')) {
                        self.use_path(&tcl_path(target), Effect::Write, call);
                    }
                }
                ["open", target, mode @ ..] => self.tcl_open(line, target, mode, call),
                ["socket", ..] => sends = true,
                ["", ..] | [] => {}
                [first, ..] if PLAIN.binary_search(first).is_ok() || first.starts_with(['$', '#', '-']) => {}
                [first, ..] => call.command.fact(Act::RunUnknown, *first),
            }
        }
        if sends {
            let secret = call.touched.secret || call.stdin.taint.secret;
            let shell = call.command.facts.iter().any(|f| f.act == Act::RunUnknown);
            call.fact(match (secret, shell) {
                (true, _) => Act::Exfiltrate,
                (_, true) => Act::ReverseShell,
                _ => Act::NetworkSend,
            });
        }
        call.output = Value::unknown(call.touched.join(call.stdin.taint));
    }

    fn tcl_open(&mut self, line: &str, target: &str, mode: &[&str], call: &mut Call) {
        if target.starts_with('|') {
            let code = line.split_once('|').map_or("", |(_, code)| code);
            call.command.fact(Act::RunUnknown, code);
            self.nested_code(&String::from(code.trim_matches('"')), call);
            return;
        }
        let writes = mode.first().is_some_and(|m| m.contains(['w', 'a', '+']));
        self.use_path(&tcl_path(target), if writes { Effect::Write } else { Effect::Read }, call);
    }
}

/// A path of Tcl; a variable is unknown, except the home folder.
fn tcl_path(word: &str) -> Value {
    let home = word.strip_prefix("$env(HOME)").or_else(|| word.strip_prefix("$::env(HOME)"));
    match home {
        Some(tail) => Value::literal(alloc::format!("~{tail}")),
        None if word.starts_with('$') => Value::marker(crate::shell::value::UNKNOWN),
        None => Value::literal(word),
    }
}

/// Sorted. Commands that compute, print or steer.
const PLAIN: &[&str] = &[
    "after",
    "append",
    "array",
    "break",
    "catch",
    "close",
    "concat",
    "continue",
    "dict",
    "else",
    "elseif",
    "eof",
    "exit",
    "exp_continue",
    "expect",
    "expr",
    "flush",
    "for",
    "foreach",
    "format",
    "gets",
    "global",
    "if",
    "incr",
    "info",
    "interact",
    "join",
    "lappend",
    "lindex",
    "list",
    "llength",
    "lrange",
    "lsort",
    "package",
    "proc",
    "puts",
    "read",
    "regexp",
    "regsub",
    "return",
    "scan",
    "send",
    "set",
    "split",
    "string",
    "switch",
    "timeout",
    "unset",
    "wait",
    "while",
];

#[cfg(test)]
mod tests {
    #[test]
    fn plain_words_are_sorted() {
        assert!(super::PLAIN.is_sorted());
    }
}
