//! From words to values: variables, defaults, braces, tildes, globs, substitutions.
//!
//! Literal assignments of the same line are followed; everything else becomes a marker of `value.rs`.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::flow::Walker;
use super::syntax::{Part, VarOp, Word, is_active};
use super::value::{CONTENT, LISTED, ONE, TOKEN, Taint, UNKNOWN, Value, activate, has_marker, matches};
use crate::rules::names;

/// More alternatives than this become one unknown value.
const MAX_FIELDS: usize = 256;

/// How many characters of a word with braces are copied for one unit of the budget.
const ATOMS_PER_UNIT: usize = 8;

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
        if !has_brace(word) {
            let fields = self.expand_parts(&word.parts);
            return self.charge(fields);
        }
        if !self.spend(1) {
            return Vec::from([Value::marker(UNKNOWN)]);
        }
        let parts = self.known_parts(&word.parts, false);
        let atoms: usize =
            parts.iter().map(|p| if let Part::Text { text, .. } = p { text.len() } else { 1 }).sum();
        let mut fields = Vec::new();
        match super::brace::alternatives(&parts, MAX_FIELDS) {
            Some(all) => {
                self.spend(all.len().saturating_mul(atoms / ATOMS_PER_UNIT));
                for parts in all {
                    fields.extend(self.expand_parts(&parts));
                }
            }
            None => {
                self.faults.work = true;
                fields.push(Value::marker(UNKNOWN));
            }
        }
        self.charge(fields)
    }

    /// What `NAME=word` sets: values are not split, and one that may be empty stays possible.
    pub(crate) fn expand_assigned(&mut self, word: &Word) -> Vec<Value> {
        if word.parts.is_empty() {
            return Vec::from([Value::default()]);
        }
        if has_brace(word) || word.parts.iter().all(|p| matches!(p, Part::Text { .. })) {
            return self.expand(word);
        }
        let parts = self.known_parts(&word.parts, true);
        let fields = self.expand_parts(&parts);
        self.charge(fields)
    }

    /// `parts` with everything but text read once.
    fn known_parts(&mut self, parts: &[Part], quoted: bool) -> Vec<Part> {
        parts
            .iter()
            .map(|part| match part {
                Part::Text { .. } | Part::Known { .. } => part.clone(),
                other => {
                    let (values, in_quotes) = self.part(other);
                    Part::Known { values, quoted: quoted || in_quotes }
                }
            })
            .collect()
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

    /// Counts what was expanded; too much of it is one unknown value.
    fn charge(&mut self, fields: Vec<Value>) -> Vec<Value> {
        let bytes = fields.iter().map(|f| f.text.len()).sum();
        if self.pay(bytes) && self.spend(fields.len()) { fields } else { Vec::from([Value::marker(UNKNOWN)]) }
    }

    fn expand_parts(&mut self, parts: &[Part]) -> Vec<Value> {
        if !self.spend(parts.len()) || !self.pay(0) {
            return Vec::from([Value::marker(UNKNOWN)]);
        }
        let mut fields = Fields { separators: self.separators(), ..Fields::default() };
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text { text, quoted } if *quoted || !is_active(text) => {
                    fields.quoted |= *quoted;
                    fields.append(Value::literal(text.clone()));
                }
                Part::Text { text, .. } => {
                    let mut active = String::new();
                    let text = if index == 0 { self.tilde(text, &mut active) } else { text };
                    activate(text, &mut active);
                    fields.append(Value::literal(active));
                }
                other => {
                    let (values, quoted) = self.part(other);
                    fields.append_all(values, quoted);
                }
            }
        }
        fields.finish()
    }

    /// What a part that is no text stands for, and whether that is left as it is.
    fn part(&mut self, part: &Part) -> (Vec<Value>, bool) {
        match part {
            Part::Text { text, quoted } => (Vec::from([Value::literal(text.clone())]), *quoted),
            Part::Known { values, quoted } => (values.clone(), *quoted),
            Part::Var { name, op, quoted } => (self.variable(name, op), *quoted),
            Part::Sub { list, quoted } => (Vec::from([self.substitute(list, &Value::default())]), *quoted),
            Part::Process { list, fed } => {
                let input = if *fed { self.feed.clone() } else { Value::default() };
                let output = self.substitute(list, &input);
                let path = format!("/dev/fd/{}", 63 + self.state.files.len());
                self.state.remember_file(&path, output);
                (Vec::from([Value::literal(path)]), true)
            }
            Part::Arith { inner } => {
                let values = self.expand_parts(&inner.parts);
                self.subscripts(&values, inner.span.clone());
                (Vec::from([Value::marker(TOKEN)]), true)
            }
        }
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
            VarOp::Default { word, colon } => {
                let mut values = self.expand_parts(&word.parts);
                match known {
                    Some(mut known) => {
                        let empty = known.iter().any(|v| v.text.is_empty());
                        if *colon && (empty || known.is_empty()) {
                            known.retain(|v| !v.text.is_empty());
                            known.append(&mut values);
                        }
                        known
                    }
                    None => {
                        // The default is what the line shows; the variable may still hold something else.
                        values.extend(unknown_variable(name));
                        values
                    }
                }
            }
            VarOp::Alternative { word, colon } => {
                let mut values = self.expand_parts(&word.parts);
                let empty = |v: &Value| v.text.is_empty() || v.is_unknown();
                let (set, unset) = match &known {
                    Some(known) if *colon => (
                        known.iter().any(|v| !v.text.is_empty()),
                        known.is_empty() || known.iter().any(empty),
                    ),
                    Some(_) => (true, false),
                    None => (true, true),
                };
                if !set {
                    values.clear();
                }
                if unset {
                    values.push(Value::default());
                }
                values
            }
            VarOp::Required(word) => {
                let _ = self.expand_parts(&word.parts);
                known.unwrap_or_else(|| unknown_variable(name))
            }
            VarOp::Other(word) => self.transformed(name, word, known),
        }
    }

    fn transformed(&mut self, name: &str, word: &Word, known: Option<Vec<Value>>) -> Vec<Value> {
        let written = self.expand_parts(&word.parts);
        self.subscripts(&written, word.span.clone());
        let how = match written.as_slice() {
            [one] => one.text.as_str(),
            _ => "",
        };
        if how.starts_with('@') {
            // `${x@P}` runs the value.
            self.faults.depth = true;
        }
        let Some(known) = known else { return unknown_variable(name) };
        let Some(cut) = Cut::parse(how) else {
            let taint = known.iter().fold(Taint::NONE, |t, v| t.join(v.taint));
            return Vec::from([Value::unknown(taint)]);
        };
        if !self.spend(known.iter().map(|v| 4 * v.text.len().min(MAX_CUT)).sum()) {
            return Vec::from([Value::marker(UNKNOWN)]);
        }
        known.iter().flat_map(|v| cut.apply(v)).collect()
    }

    /// The value of a variable when the line or the scope says it.
    pub(crate) fn lookup(&self, name: &str) -> Option<Vec<Value>> {
        if let Some(values) = self.state.vars.get(name) {
            let mut values = values.clone();
            if self.state.loose {
                values.push(Value::marker(UNKNOWN));
            }
            return Some(values);
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
    /// It holds quotes, so that it stays a field when it is empty.
    quoted: bool,
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
            self.quoted = true;
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
        if !pieces.is_empty() && values.iter().any(|v| v.text.is_empty()) {
            // Perhaps nothing, which leaves what stands around it.
            pieces.push(Value::default());
        }
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
        if !self.quoted {
            self.open.retain(|v| !v.text.is_empty());
        }
        self.done.append(&mut self.open);
        self.done
    }
}

/// `${x%pattern}` and its kind: what is cut off where.
struct Cut<'p> {
    end: bool,
    longest: bool,
    pattern: &'p str,
}

/// A longer value is not searched for a pattern.
const MAX_CUT: usize = 64;

impl<'p> Cut<'p> {
    fn parse(how: &'p str) -> Option<Self> {
        let sign = how.chars().next().filter(|c| matches!(c, '%' | '#'))?;
        let tail = how.get(1..)?;
        let longest = tail.starts_with(sign);
        let pattern = if longest { tail.get(1..)? } else { tail };
        Some(Self { end: sign == '%', longest, pattern })
    }

    /// What is left of `value`; more than one when the value is only partly known.
    fn apply(&self, value: &Value) -> Vec<Value> {
        let literal = !has_marker(self.pattern);
        if literal {
            let tail = match self.end {
                true => value.text.strip_suffix(self.pattern),
                false => value.text.strip_prefix(self.pattern),
            };
            match tail {
                Some(tail) => return Vec::from([value.with_text(tail)]),
                None if value.is_literal() => return Vec::from([value.clone()]),
                None => {}
            }
        }
        let open = value.is_unknown() || self.pattern.contains([UNKNOWN, CONTENT]);
        if value.is_literal() && !open && value.text.len() <= MAX_CUT && self.pattern.len() <= MAX_CUT {
            let mut left = Vec::from([self.search(value)]);
            if self.pattern.contains(ONE) {
                // `[0-9]` may not match.
                left.push(value.clone());
            }
            return left;
        }
        if open || !self.end || self.longest {
            return Vec::from([Value::unknown(value.taint)]);
        }
        // A suffix of a name that is not known is cut off: the folder stays, the name is some name.
        match value.text.rsplit_once('/') {
            Some((folder, _)) if self.pattern.starts_with('/') => {
                Vec::from([value.with_text(folder), value.with_text(format!("{folder}/{TOKEN}"))])
            }
            Some((folder, _)) => Vec::from([value.with_text(format!("{folder}/{TOKEN}"))]),
            None => Vec::from([value.with_text(String::from(TOKEN))]),
        }
    }

    /// The shortest or longest piece that the pattern matches is cut off.
    fn search(&self, value: &Value) -> Value {
        let text = value.text.as_str();
        let mut places: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
        if self.end != self.longest {
            places.reverse();
        }
        for at in places {
            let Some((before, after)) = text.split_at_checked(at) else { continue };
            let (piece, rest) = if self.end { (after, before) } else { (before, after) };
            if matches(self.pattern, piece) {
                return value.with_text(rest);
            }
        }
        value.clone()
    }
}

/// Does an unquoted part hold a brace, which may open a group?
fn has_brace(word: &Word) -> bool {
    word.parts.iter().any(|p| matches!(p, Part::Text { text, quoted: false } if text.contains('{')))
}

/// Some path as a listing of `folder` gives it.
pub(crate) fn listed(folder: &str, name: Option<&str>) -> Value {
    let folder = if folder.is_empty() { "." } else { folder.trim_end_matches('/') };
    match name {
        Some(name) => Value::literal(format!("{folder}/{LISTED}/{name}")),
        None => Value::literal(format!("{folder}/{LISTED}")),
    }
}
