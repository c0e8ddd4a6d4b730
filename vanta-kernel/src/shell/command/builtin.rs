//! What the built-ins of a shell evaluate among their words, and the variables they change.
//!
//! Subscripts of arrays and arithmetic run the substitutions in them, in single quotes as well.

use alloc::string::String;

use super::Call;
use crate::shell::flow::Walker;
use crate::shell::state::holds_code;
use crate::shell::value::{UNKNOWN, Value};

impl Walker<'_> {
    /// Reads the words of a built-in that are code, and follows what it does to variables.
    pub(super) fn builtin(&mut self, call: &Call) {
        match call.name.as_str() {
            "test" | "[" => self.evaluated(call, |before, text| before == "-v" && text.contains('[')),
            "unset" | "wait" => self.evaluated(call, |_, text| text.contains('[')),
            "read" | "mapfile" | "readarray" | "getopts" => {
                self.evaluated(call, |_, text| text.contains('['));
                for name in call.words() {
                    self.state.doubt_variable(name);
                }
            }
            "printf" => self.evaluated(call, |before, text| before == "-v" && text.contains('[')),
            "declare" | "typeset" | "local" | "export" | "readonly" => {
                let number = call.words().any(|w| w.starts_with('-') && w.contains('i'));
                self.evaluated(call, |_, text| {
                    number || holds_code(text.split_once('=').map_or(text, |(name, _)| name))
                });
            }
            "let" => {
                self.evaluated(call, |_, _| true);
                self.subscripts(&[], call.command.span.clone());
            }
            "compgen" => self.evaluated(call, |before, _| before == "-W"),
            "shift" => self.shift(call),
            _ => {}
        }
    }

    /// Reads the substitutions in the words that `is_code` picks by the word before and the word itself.
    fn evaluated(&mut self, call: &Call, is_code: impl Fn(&str, &str) -> bool) {
        let mut before = "";
        for arg in &call.args {
            let text = arg.text.as_str();
            if holds_code(text) && is_code(before, text) {
                self.read_substitutions(text, call.command.span.clone());
            }
            before = text;
        }
    }

    fn shift(&mut self, call: &Call) {
        let count = call.args.first().map_or(Some(1), |a| a.text.parse::<usize>().ok());
        let known = self.state.positional.take();
        if let (Some(mut all), Some(count), 0) = (known, count, self.state.maybe) {
            let end = count.saturating_add(1).min(all.len());
            all.drain(1.min(end)..end);
            self.state.positional = Some(all);
        }
    }

    /// `declare NAME`: in a function, a variable of that function.
    pub(super) fn declared(&mut self, name: &str, call: &Call) {
        let own = match call.name.as_str() {
            "local" => true,
            "declare" | "typeset" => !call.words().any(|w| w.starts_with('-') && w.contains('g')),
            _ => false,
        };
        if own && self.in_function() {
            self.state.localize(name);
        }
    }

    /// `declare -n NAME=other`: two names for one variable, which is not followed.
    pub(super) fn names_another(&mut self, name: &str, call: &Call) -> bool {
        let reference = call.name != "unset"
            && call.name != "export"
            && call.words().any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains('n'));
        if reference {
            self.state.loose = true;
            self.state.set(name, [Value::marker(UNKNOWN)].into(), false);
        }
        reference
    }

    /// The code of a `trap` runs between commands, and may set what they use.
    pub(super) fn trapped(&mut self, code: &str, mut signals: impl Iterator<Item = String>) {
        let sets = code.contains('=') || code.split([' ', ';']).any(|w| SETTERS.contains(&w));
        if sets && signals.any(|s| !matches!(s.as_str(), "EXIT" | "0")) {
            self.state.loose = true;
        }
    }
}

/// Commands that change variables without an assignment.
const SETTERS: [&str; 8] = [".", "eval", "getopts", "mapfile", "read", "readarray", "source", "unset"];
