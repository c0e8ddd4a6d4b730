//! From words to values: variables, defaults, braces, tildes, globs, substitutions.
//!
//! Literal assignments of the same line are followed; everything else becomes a marker of `value.rs`.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::flow::Walker;
use super::syntax::{Part, VarOp, Word, is_active};
use super::value::{LISTED, TOKEN, Taint, UNKNOWN, Value, activate};
use crate::rules::names;

/// More alternatives than this become one unknown value.
const MAX_FIELDS: usize = 256;

impl Walker<'_> {
    /// The fields `words` expand to.
    pub(crate) fn fields(&mut self, words: &[Word]) -> Vec<Value> {
        let mut fields = Vec::with_capacity(words.len());
        for word in words {
            match word.plain() {
                // The common word needs none of the machinery below.
                Some(text) if self.pay(text.len()) => fields.push(Value::literal(text.clone())),
                _ => fields.extend(self.expand(word)),
            }
        }
        fields
    }

    /// The fields of one word.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Value> {
        let has_brace =
            word.parts.iter().any(|p| matches!(p, Part::Text { text, quoted: false } if text.contains('{')));
        if !has_brace {
            let fields = self.expand_parts(&word.parts);
            return self.charge(fields);
        }
        let mut fields = Vec::new();
        match super::brace::alternatives(&word.parts, MAX_FIELDS) {
            Some(all) => {
                for parts in all {
                    fields.extend(self.expand_parts(&parts));
                }
            }
            None => {
                self.faults.depth = true;
                fields.push(Value::marker(UNKNOWN));
            }
        }
        self.charge(fields)
    }

    /// One value for a word that is not split (assignments, redirects, here-documents).
    pub(crate) fn expand_joined(&mut self, word: &Word) -> Value {
        let mut fields = self.expand(word).into_iter();
        let mut joined = fields.next().unwrap_or_default();
        for field in fields {
            joined.text.push(' ');
            joined.push(&field);
        }
        joined
    }

    /// Counts expanded bytes, so that variables inside variables cannot grow without bound.
    fn charge(&mut self, fields: Vec<Value>) -> Vec<Value> {
        let bytes = fields.iter().map(|f| f.text.len()).sum();
        if self.pay(bytes) { fields } else { Vec::from([Value::marker(UNKNOWN)]) }
    }

    fn pay(&mut self, bytes: usize) -> bool {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        self.faults.depth |= self.bytes_left == 0;
        self.bytes_left > 0
    }

    fn expand_parts(&mut self, parts: &[Part]) -> Vec<Value> {
        let mut fields = Fields { separators: self.separators(), ..Fields::default() };
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text { text, quoted } if *quoted || !is_active(text) => {
                    fields.append(Value::literal(text.clone()));
                }
                Part::Text { text, .. } => {
                    let mut active = String::new();
                    let text = if index == 0 { self.tilde(text, &mut active) } else { text };
                    activate(text, &mut active);
                    fields.append(Value::literal(active));
                }
                Part::Var { name, op, quoted } => {
                    let values = self.variable(name, op);
                    fields.append_all(values, *quoted);
                }
                Part::Sub { list, quoted } => {
                    let output = self.substitute(list, &Value::default());
                    fields.append_all(Vec::from([output]), *quoted);
                }
                Part::Process { list, fed } => {
                    let input = if *fed { self.feed.clone() } else { Value::default() };
                    let output = self.substitute(list, &input);
                    let path = format!("/dev/fd/{}", 63 + self.state.files.len());
                    self.state.remember_file(&path, output);
                    fields.append(Value::literal(path));
                }
                Part::Arith { inner } => {
                    let _ = self.expand_parts(&inner.parts);
                    fields.append(Value::marker(TOKEN));
                }
            }
        }
        fields.finish()
    }

    /// What unquoted values are split at: blanks, and what `IFS` was set to in this line.
    fn separators(&self) -> Cow<'static, str> {
        let mut all = Cow::Borrowed(" \t\n");
        for value in self.state.vars.get("IFS").into_iter().flatten() {
            all.to_mut().push_str(&value.text);
        }
        all
    }

    /// Replaces a leading tilde and returns the rest of the text.
    fn tilde<'t>(&self, text: &'t str, value: &mut String) -> &'t str {
        let (before, from_tilde) = match text.split_once("=~") {
            // `--dir=~/x` and `of=~/x`: bash expands only some of them; the others are named so by mistake.
            Some((name, _)) => text.split_at_checked(name.len() + 1).unwrap_or(("", text)),
            None => ("", text),
        };
        let Some(tail) = from_tilde.strip_prefix('~') else { return text };
        let end = tail.find('/').unwrap_or(tail.len());
        let (user, path) = tail.split_at_checked(end).unwrap_or((tail, ""));
        value.push_str(before);
        match user {
            "" => value.push_str(self.scope.home_dir().unwrap_or("~")),
            "+" => value.push_str(&self.state.cwd),
            "-" => value.push(UNKNOWN),
            other => {
                let homes =
                    self.scope.home_dir().and_then(|h| h.rsplit_once('/')).map_or("/home", |(h, _)| h);
                value.push_str(homes);
                value.push('/');
                value.push_str(other);
            }
        }
        path
    }

    fn variable(&mut self, name: &str, op: &VarOp) -> Vec<Value> {
        let known = self.lookup(name);
        match op {
            VarOp::Plain => known.unwrap_or_else(|| unknown_variable(name)),
            VarOp::Length => Vec::from([Value::marker(TOKEN)]),
            VarOp::Default(word) => {
                let mut values = self.expand_parts(&word.parts);
                if let Some(known) = known {
                    return known;
                }
                // The default is what the line shows; the variable may still hold something else.
                values.extend(unknown_variable(name));
                values
            }
            VarOp::Alternative(word) => self.expand_parts(&word.parts),
            VarOp::Required(word) => {
                let _ = self.expand_parts(&word.parts);
                known.unwrap_or_else(|| unknown_variable(name))
            }
            VarOp::Other(word) => self.transformed(name, word, known),
        }
    }

    fn transformed(&mut self, name: &str, word: &Word, known: Option<Vec<Value>>) -> Vec<Value> {
        let written = self.expand_parts(&word.parts);
        let how = written.first().map_or("", |v| v.text.as_str());
        if how.starts_with('@') {
            // `${x@P}` runs the value.
            self.faults.depth = true;
        }
        let Some(known) = known else { return unknown_variable(name) };
        if !how.starts_with('%') || how.starts_with("%%") {
            let taint = known.iter().fold(Taint::NONE, |t, v| t.join(v.taint));
            return Vec::from([Value::unknown(taint)]);
        }
        // A suffix is cut off: the folder stays, the name is some name.
        known
            .iter()
            .map(|v| match v.text.rsplit_once('/') {
                Some((folder, _)) => v.with_text(format!("{folder}/{TOKEN}")),
                None if v.is_unknown() => v.clone(),
                None => v.with_text(String::from(TOKEN)),
            })
            .collect()
    }

    /// The value of a variable when the line or the scope says it.
    pub(crate) fn lookup(&self, name: &str) -> Option<Vec<Value>> {
        if let Some(values) = self.state.vars.get(name) {
            return Some(values.clone());
        }
        let one = |text: &str| Some(Vec::from([Value::literal(text)]));
        match name {
            "HOME" => one(self.scope.home_dir().unwrap_or("~")),
            "PWD" => one(&self.state.cwd),
            "IFS" => one(" "),
            "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "BASHPID" | "USER" | "LOGNAME"
            | "HOSTNAME" | "?" | "#" | "$" | "!" | "-" => Some(Vec::from([Value::marker(TOKEN)])),
            "@" | "*" => self.state.positional.as_ref().map(|p| p.iter().skip(1).cloned().collect()),
            _ => {
                let index: usize = name.parse().ok()?;
                let positional = self.state.positional.as_ref()?;
                Some(positional.get(index).cloned().into_iter().collect())
            }
        }
    }
}

/// A variable nobody in this line has set; its name may still say what it holds.
fn unknown_variable(name: &str) -> Vec<Value> {
    let taint =
        Taint { secret: names::is_secret_variable(name), live: names::says_live(name), ..Taint::NONE };
    Vec::from([Value::unknown(taint)])
}

/// Builds fields from parts: `open` holds the alternatives of the field that is still growing.
#[derive(Default)]
struct Fields {
    done: Vec<Value>,
    open: Vec<Value>,
    started: bool,
    separators: Cow<'static, str>,
}

impl Fields {
    fn append(&mut self, value: Value) {
        self.started = true;
        if self.open.is_empty() {
            self.open.push(value);
        } else {
            self.open.iter_mut().for_each(|o| o.push(&value));
        }
    }

    /// Appends alternatives; unquoted ones are split at blanks and their globs are active.
    fn append_all(&mut self, values: Vec<Value>, quoted: bool) {
        if quoted {
            self.started = true;
            return self.product(&values);
        }
        let mut pieces = Vec::new();
        for value in &values {
            let splits = value.text.contains(|c| self.separators.contains(c));
            if !splits && !value.text.contains(['*', '?', '[']) {
                pieces.push(value.clone());
                continue;
            }
            self.started = true;
            if values.len() == 1 {
                return self.append_split(value);
            }
            for piece in value.text.split(|c| self.separators.contains(c)) {
                let mut text = String::new();
                activate(piece, &mut text);
                pieces.push(value.with_text(text));
            }
        }
        pieces.retain(|p| !p.text.is_empty());
        self.product(&pieces);
    }

    fn append_split(&mut self, value: &Value) {
        let mut first = true;
        let separators = core::mem::take(&mut self.separators);
        for piece in value.text.split(|c| separators.contains(c)) {
            if !first {
                self.done.append(&mut self.open);
            }
            first = false;
            if !piece.is_empty() {
                let mut text = String::new();
                activate(piece, &mut text);
                self.append(value.with_text(text));
            }
        }
        self.separators = separators;
    }

    fn product(&mut self, values: &[Value]) {
        match values {
            [] => {}
            [one] => self.append(one.clone()),
            many if self.open.is_empty() => {
                self.started = true;
                self.open.extend_from_slice(many);
            }
            many if self.open.len().saturating_mul(many.len()) > MAX_FIELDS => {
                let taint = many.iter().fold(Taint::NONE, |t, v| t.join(v.taint));
                self.append(Value::unknown(taint));
            }
            many => {
                let open = core::mem::take(&mut self.open);
                for prefix in open {
                    for value in many {
                        let mut joined = prefix.clone();
                        joined.push(value);
                        self.open.push(joined);
                    }
                }
            }
        }
    }

    fn finish(mut self) -> Vec<Value> {
        if self.open.is_empty() && self.done.is_empty() && self.started {
            self.done.push(Value::default());
        }
        self.done.append(&mut self.open);
        self.done
    }
}

/// Some path as a listing of `folder` gives it.
pub(crate) fn listed(folder: &str, name: Option<&str>) -> Value {
    let folder = if folder.is_empty() { "." } else { folder.trim_end_matches('/') };
    match name {
        Some(name) => Value::literal(format!("{folder}/{LISTED}/{name}")),
        None => Value::literal(format!("{folder}/{LISTED}")),
    }
}
