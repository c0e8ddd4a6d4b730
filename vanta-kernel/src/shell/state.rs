//! What a shell knows at one point of a line: variables, functions, the working directory, files just written.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::syntax::List;
use super::text::Text;
use super::value::{Taint, UNKNOWN, Value};
use crate::rules::path::Mount;

/// More names than this are not followed, so that copying the state for a subshell stays cheap.
const MAX_NAMES: usize = 128;

/// A longer value is unknown.
const MAX_VALUE: usize = 4096;

/// The state of one shell; a subshell works on a copy.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) vars: BTreeMap<String, Vec<Value>>,
    pub(crate) functions: BTreeMap<String, Rc<List>>,
    pub(crate) aliases: BTreeMap<String, String>,
    /// `$0`, `$1`, …; `None` when the line does not say.
    pub(crate) positional: Option<Vec<Value>>,
    pub(crate) cwd: String,
    pub(crate) previous_cwd: Option<String>,
    /// Files written in this line and what went into them.
    pub(crate) files: BTreeMap<String, Value>,
    pub(crate) mounts: Option<Vec<Mount>>,
    /// Something in the line said production.
    pub(crate) live: bool,
    /// A connection was opened by a redirect of this line.
    pub(crate) wire: bool,
    /// Inside a branch that may not run.
    pub(crate) maybe: usize,
    /// Variables of the functions being run, and what they were outside.
    pub(crate) locals: Vec<(String, Option<Vec<Value>>)>,
    /// Something runs between the commands or gives variables a second name: every variable may have changed.
    pub(crate) loose: bool,
    /// Some variable holds text that arithmetic would run.
    pub(crate) holds_code: bool,
}

impl State {
    pub(crate) fn set(&mut self, name: &str, mut values: Vec<Value>, append: bool) {
        self.holds_code |= values.iter().any(|v| holds_code(&v.text));
        if values.iter().map(|v| v.text.len()).sum::<usize>() > MAX_VALUE {
            let taint = values.iter().fold(Taint::NONE, |t, v| t.join(v.taint));
            values = Vec::from([Value::unknown(taint)]);
        }
        let full = self.vars.len() >= MAX_NAMES && !self.vars.contains_key(name);
        if full {
            return;
        }
        // In a branch that may not run the old value stays possible.
        if (append || self.maybe > 0)
            && let Some(old) = self.vars.get(name)
        {
            let mut all = old.clone();
            all.extend(values);
            all.dedup();
            all.truncate(64);
            values = all;
        }
        self.vars.insert(String::from(name), values);
    }

    /// How much work a copy is, in the units of the walker's budget.
    pub(crate) fn weight(&self) -> usize {
        let names = self.vars.len() + self.functions.len() + self.aliases.len() + self.files.len();
        let texts = self.vars.values().flatten().chain(self.files.values());
        let bytes: usize =
            texts.map(|v| if let Text::Own(text) = &v.text { 8 + text.len() } else { 8 }).sum();
        names / 4 + bytes / 64
    }

    /// Makes `name` a variable of the function that runs.
    pub(crate) fn localize(&mut self, name: &str) {
        let outer = self.vars.remove(name);
        self.locals.push((String::from(name), outer));
    }

    /// Gives the variables that a function made its own since `mark` their values outside it again.
    pub(crate) fn leave_function(&mut self, mark: usize) {
        while self.locals.len() > mark {
            match self.locals.pop() {
                Some((name, Some(values))) => self.vars.insert(name, values),
                Some((name, None)) => self.vars.remove(&name),
                None => return,
            };
        }
    }

    /// A variable gets a value that is not followed.
    pub(crate) fn doubt_variable(&mut self, name: &str) {
        if let Some(values) = self.vars.get_mut(name)
            && values.last().is_none_or(|v| !v.is_unknown())
        {
            values.push(Value::marker(UNKNOWN));
        }
    }

    /// Code that is not in the line may have set any variable; what it held stays possible.
    pub(crate) fn doubt_variables(&mut self) {
        for values in self.vars.values_mut() {
            values.push(Value::marker(UNKNOWN));
        }
    }

    pub(crate) fn define(&mut self, name: &str, body: &Rc<List>) {
        if self.functions.len() < MAX_NAMES {
            self.functions.insert(String::from(name), Rc::clone(body));
        }
    }

    pub(crate) fn alias(&mut self, name: &str, text: &str) {
        if self.aliases.len() < MAX_NAMES && text.len() <= MAX_VALUE {
            self.aliases.insert(String::from(name), String::from(text));
        }
    }

    pub(crate) fn remember_file(&mut self, path: &str, content: Value) {
        if self.files.len() >= MAX_NAMES {
            return;
        }
        let kept = if content.text.len() > MAX_VALUE { Value::unknown(content.taint) } else { content };
        self.files.insert(String::from(path), kept);
    }

    pub(crate) fn enter(&mut self, path: String) {
        // A folder entered again and again would make every path below it longer.
        let path = if path.len() > MAX_VALUE { String::from(UNKNOWN) } else { path };
        self.previous_cwd = Some(core::mem::replace(&mut self.cwd, path));
    }

    pub(crate) fn enter_unknown(&mut self) {
        self.enter(String::from(UNKNOWN));
    }
}

/// Does `text` hold a substitution, so that arithmetic and subscripts of arrays run it?
pub(crate) fn holds_code(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'$' | b'`')) && (text.contains("$(") || text.contains('`'))
}
