//! Walks the tree of a line and says what each simple command is, in order, with what it is given to read.
//!
//! Constants, the working directory, functions and aliases of the same line are followed. What single programs do is
//! in `command/`.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::MAX_NESTING;
use super::command::Call;
use super::lex::Parser;
use super::parse::parse;
use super::state::{State, holds_code};
use super::syntax::{Assign, Faults, Item, List, Node, Redirect, RedirectKind, Simple, Word};
use super::value::{ANY, ONE, Taint, UNKNOWN, Value, display, displayed, has_marker, matches};
use crate::reading::{Command, Fact};
use crate::rules::act::Act;
use crate::rules::own_state;
use crate::rules::path::Place;
use crate::{Effect, PathClass, Scope};

/// What the walk of a line may take for each of its bytes, in fields made and values copied.
const WORK_PER_BYTE: usize = 4;

/// What the walk of even the shortest line may take.
const WORK_BASE: usize = 64 * 1024;

/// The end of a here-document that text is put into.
const TEXT_END: &str = "END_OF_TEXT";

/// What reading a substitution takes besides what is in it.
const SUBSTITUTION: usize = 8;

/// Walks one line. Commands come out in `commands`.
#[derive(Debug)]
pub(crate) struct Walker<'s> {
    pub(crate) scope: &'s Scope,
    pub(crate) state: State,
    pub(crate) commands: Vec<Command>,
    /// What the line as a whole does (a fork bomb).
    pub(crate) facts: Vec<Fact>,
    pub(crate) faults: Faults,
    pub(crate) bytes_left: usize,
    steps_left: usize,
    work_left: usize,
    nesting: usize,
    /// What the command being expanded writes, for the `>( … )` among its words.
    pub(crate) feed: Value,
    /// How many substitutions this command is inside: its input is not in the line.
    pub(crate) substituting: usize,
    /// Functions being run, so that recursion ends.
    running: Vec<String>,
    /// Bodies read where they are defined, without arguments.
    defining: usize,
}

impl<'s> Walker<'s> {
    pub(crate) fn new(scope: &'s Scope, cwd: &str, length: usize) -> Self {
        let state = State { cwd: String::from(cwd), ..State::default() };
        Self {
            scope,
            state,
            commands: Vec::new(),
            facts: Vec::new(),
            faults: Faults::default(),
            bytes_left: length.saturating_mul(8).saturating_add(64 * 1024),
            steps_left: length.saturating_mul(4).saturating_add(4096),
            work_left: length.saturating_mul(WORK_PER_BYTE).saturating_add(WORK_BASE),
            nesting: 0,
            feed: Value::default(),
            substituting: 0,
            running: Vec::new(),
            defining: 0,
        }
    }

    /// Reads and walks `text`. `fixed` is the span of code that is not part of the line as written.
    pub(crate) fn run_text(&mut self, text: &str, fixed: Option<Range<usize>>, stdin: &Value) -> Value {
        if self.nesting >= MAX_NESTING || !self.pay(text.len()) {
            self.faults.depth |= self.nesting >= MAX_NESTING;
            return Value::unknown(Taint::NONE);
        }
        self.nesting += 1;
        let line = Rc::from(text);
        let mut parser = Parser::new(&line, fixed, self.nesting / 2);
        let mut output = Value::default();
        let faults = parse(&mut parser, |list| self.items(list, stdin, &mut output));
        self.faults.syntax |= faults.syntax;
        self.faults.depth |= faults.depth;
        self.faults.work |= faults.work;
        self.nesting -= 1;
        output
    }

    /// Walks `list` in a copy of the state and returns what it prints.
    pub(crate) fn substitute(&mut self, list: &List, stdin: &Value) -> Value {
        if !self.spend(SUBSTITUTION + self.state.weight()) {
            return Value::unknown(Taint::NONE);
        }
        let saved = self.state.clone();
        let feed = core::mem::take(&mut self.feed);
        self.substituting += 1;
        let mut output = self.list(list, stdin);
        self.substituting -= 1;
        self.feed = feed;
        self.state = saved;
        let trimmed = output.text.trim_end_matches('\n').len();
        output.text.truncate(trimmed);
        output
    }

    /// Goes one level of code deeper; `false` when that is too deep.
    pub(crate) fn enter_nesting(&mut self) -> bool {
        let fits = self.nesting < MAX_NESTING && self.step();
        self.faults.depth |= !fits;
        self.nesting += usize::from(fits);
        fits
    }

    pub(crate) fn leave_nesting(&mut self) {
        self.nesting = self.nesting.saturating_sub(1);
    }

    pub(crate) fn in_function(&self) -> bool {
        !self.running.is_empty()
    }

    fn step(&mut self) -> bool {
        self.steps_left = self.steps_left.saturating_sub(1);
        self.faults.work |= self.steps_left == 0;
        self.steps_left > 0
    }

    /// Takes `units` from the budget of the line; `false` when there is nothing left.
    pub(crate) fn spend(&mut self, units: usize) -> bool {
        self.work_left = self.work_left.saturating_sub(units);
        self.faults.work |= self.work_left == 0;
        self.work_left > 0
    }

    /// Counts bytes that are kept or read, so that variables inside variables cannot grow without bound.
    pub(crate) fn pay(&mut self, bytes: usize) -> bool {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        self.faults.work |= self.bytes_left == 0;
        self.bytes_left > 0 && self.work_left > 0
    }

    /// A copy of the state to come back to; the copy is paid for.
    fn saved(&mut self) -> State {
        self.spend(self.state.weight());
        self.state.clone()
    }

    pub(crate) fn list(&mut self, list: &List, stdin: &Value) -> Value {
        let mut output = Value::default();
        self.items(list, stdin, &mut output);
        output
    }

    /// Walks a part of a list and adds what it prints to `output`; `false` when it became too long.
    fn items(&mut self, list: &List, stdin: &Value, output: &mut Value) -> bool {
        for Item { node, conditional, background } in list {
            if !self.step() {
                *output = Value::unknown(Taint::NONE);
                return false;
            }
            let before = self.commands.len();
            self.state.maybe += usize::from(*conditional);
            let printed = self.node(node, stdin);
            self.state.maybe -= usize::from(*conditional);
            if *background && self.commands.len() > before && self.calls_running_function(node) {
                self.facts.push(Fact {
                    act: Act::ForkBomb,
                    word: self.running.last().cloned().unwrap_or_default(),
                });
            }
            output.push(&printed);
        }
        true
    }

    /// Does a background command of a function call that function again?
    fn calls_running_function(&self, node: &Node) -> bool {
        let calls = |node: &Node| match node {
            Node::Simple(simple) => simple
                .words
                .first()
                .and_then(Word::bare)
                .is_some_and(|name| self.running.iter().any(|f| f == name)),
            _ => false,
        };
        match node {
            Node::Pipe(stages) => stages.iter().any(calls),
            other => calls(other),
        }
    }

    fn node(&mut self, node: &Node, stdin: &Value) -> Value {
        match node {
            Node::Simple(simple) => self.simple(simple, stdin),
            Node::Pipe(stages) => self.pipe(stages, stdin),
            Node::Group { lists, redirects, maybe } => self.group(lists, redirects, *maybe, stdin),
            Node::Subshell { list, redirects } => {
                let saved = self.saved();
                let output = self.redirected(redirects, stdin, |walker, input| walker.list(list, input));
                self.restore(saved);
                output
            }
            Node::For { name, words, body, redirects } => {
                let values = self.fields(words);
                if name.is_empty() {
                    self.subscripts(&values, words.first().map_or(0..0, |w| w.span.clone()));
                } else {
                    let unknown = words.is_empty();
                    self.state.set(
                        name,
                        if unknown { Vec::from([Value::marker(UNKNOWN)]) } else { values },
                        false,
                    );
                }
                self.redirected(redirects, stdin, |walker, input| walker.list(body, input))
            }
            Node::Function { name, body } => {
                self.state.define(name, body);
                self.dry_run(name, body);
                Value::default()
            }
            Node::Test { words, arithmetic } => {
                let span = words.first().map_or(0..0, |w| w.span.clone());
                let values = self.fields(words);
                if *arithmetic {
                    self.subscripts(&values, span);
                }
                Value::default()
            }
        }
    }

    /// Variables of a subshell are gone behind it; files it wrote are not.
    fn restore(&mut self, mut saved: State) {
        saved.files = core::mem::take(&mut self.state.files);
        saved.live |= self.state.live;
        saved.wire |= self.state.wire;
        self.state = saved;
    }

    /// A function may be called from a place this reading does not see, so its body counts where it is defined.
    fn dry_run(&mut self, name: &str, body: &List) {
        if self.nesting >= MAX_NESTING {
            self.faults.depth = true;
            return;
        }
        let saved = self.saved();
        self.nesting += 1;
        self.running.push(String::from(name));
        self.defining += 1;
        self.list(body, &Value::unknown(Taint::NONE));
        self.defining -= 1;
        self.running.pop();
        self.nesting -= 1;
        self.restore(saved);
    }

    /// Calls a function of this line with `args`.
    pub(crate) fn call_function(&mut self, name: &str, args: Vec<Value>, stdin: &Value) -> Option<Value> {
        if self.running.iter().any(|f| f == name) {
            return Some(Value::unknown(Taint::NONE));
        }
        let body = self.state.functions.get(name).cloned()?;
        if self.nesting >= MAX_NESTING {
            self.faults.depth = true;
            return Some(Value::unknown(Taint::NONE));
        }
        self.nesting += 1;
        self.running.push(String::from(name));
        let outer = self.state.positional.replace(args);
        let mark = self.state.locals.len();
        let output = self.list(&body, stdin);
        self.state.leave_function(mark);
        self.state.positional = outer;
        self.running.pop();
        self.nesting -= 1;
        Some(output)
    }

    fn pipe(&mut self, stages: &[Node], stdin: &Value) -> Value {
        let saved = self.saved();
        let mut input = stdin.clone();
        for stage in stages {
            let output = self.node(stage, &input);
            input = output;
        }
        self.restore(saved);
        input
    }

    fn group(&mut self, lists: &[List], redirects: &[Redirect], maybe: bool, stdin: &Value) -> Value {
        self.redirected(redirects, stdin, |walker, input| {
            let mut output = Value::default();
            for (index, list) in lists.iter().enumerate() {
                let branch = usize::from(maybe && index > 0);
                walker.state.maybe += branch;
                let printed = walker.list(list, input);
                walker.state.maybe -= branch;
                output.push(&printed);
            }
            output
        })
    }

    /// Applies redirects around `body`; they become a command of their own in the reading.
    fn redirected(
        &mut self,
        redirects: &[Redirect],
        stdin: &Value,
        body: impl FnOnce(&mut Self, &Value) -> Value,
    ) -> Value {
        if redirects.is_empty() {
            return body(self, stdin);
        }
        let span = redirects.first().map_or(0..0, |r| r.target.span.clone());
        let mut call = Call::new("", Vec::new(), stdin.clone(), span);
        self.apply_inputs(redirects, &mut call);
        let input = call.stdin.clone();
        let output = body(self, &input);
        call.output = output;
        let printed = self.apply_outputs(redirects, &mut call, false);
        self.commands.push(call.command);
        printed
    }

    fn simple(&mut self, simple: &Simple, stdin: &Value) -> Value {
        let mut call = Call::new("", Vec::new(), stdin.clone(), simple.span.clone());
        self.apply_inputs(&simple.redirects, &mut call);
        self.feed.clone_from(&call.stdin);
        let fields = self.fields(&simple.words);
        self.assignments(&simple.assigns, fields.is_empty(), &mut call);
        if fields.is_empty() {
            // `$(< file)` prints the file.
            call.output = if simple.assigns.is_empty() { call.stdin.clone() } else { Value::default() };
            let printed = self.apply_outputs(&simple.redirects, &mut call, true);
            if !simple.words.is_empty() {
                // Every word vanished: nothing runs.
                call.command.opaque = true;
            }
            self.commands.push(call.command);
            return printed;
        }
        let slot = self.reserve(&call);
        call.live = simple.assigns.iter().any(|a| self.assign_says_live(a)) || self.state.live;
        self.run_fields(fields, &mut call);
        let empty = matches!(call.command.program.as_str(), ":" | "true" | "false") || call.prints_nothing();
        let printed = self.apply_outputs(&simple.redirects, &mut call, empty);
        self.fill(slot, call.command);
        printed
    }

    fn assign_says_live(&self, assign: &Assign) -> bool {
        self.state
            .vars
            .get(&assign.name)
            .is_some_and(|v| v.iter().any(|v| crate::rules::names::says_live(&v.text)))
            || assign.values.iter().any(|w| w.bare().is_some_and(crate::rules::names::says_live))
    }

    fn assignments(&mut self, assigns: &[Assign], persistent: bool, call: &mut Call) {
        for assign in assigns {
            let mut values = Vec::new();
            for word in &assign.values {
                values.extend(if assign.array { self.expand(word) } else { self.expand_assigned(word) });
            }
            self.check_variable(&assign.name, &values, call);
            if !persistent {
                self.check_folder(&assign.name, &values, call);
            }
            if persistent {
                self.state.set(&assign.name, values, assign.append);
            }
        }
    }

    /// Arithmetic reads names as their values, and runs the substitutions in the subscripts of both.
    pub(crate) fn subscripts(&mut self, values: &[Value], span: Range<usize>) {
        for value in values {
            if holds_code(&value.text) && value.text.contains('[') {
                self.read_substitutions(&value.text, span.clone());
            }
        }
        if !self.state.holds_code {
            return;
        }
        let held = self.state.vars.values().flatten().filter(|v| holds_code(&v.text));
        let held: Vec<String> = held.map(|v| v.text.to_string()).collect();
        for text in held {
            self.read_substitutions(&text, span.clone());
        }
    }

    /// Reads the substitutions in text that is otherwise data.
    pub(crate) fn read_substitutions(&mut self, text: &str, span: Range<usize>) {
        let saved = self.saved();
        // In a here-document only substitutions mean something.
        let code = format!(": <<{TEXT_END}\n{text}\n{TEXT_END}\n");
        self.run_text(&code, Some(span), &Value::default());
        self.restore(saved);
    }

    /// Walks code that a command of the line holds, in a copy of the state.
    pub(crate) fn nested_code(&mut self, text: &str, call: &mut Call) -> Value {
        let saved = self.saved();
        let stdin = call.stdin.clone();
        let output = self.run_text(text, Some(call.command.span.clone()), &stdin);
        self.restore(saved);
        output
    }

    fn apply_inputs(&mut self, redirects: &[Redirect], call: &mut Call) {
        for redirect in redirects {
            match redirect.kind {
                RedirectKind::HereDoc => {
                    if let Some(body) = redirect.body.get() {
                        call.stdin = self.expand_joined(body);
                    }
                }
                RedirectKind::HereString => call.stdin = self.expand_joined(&redirect.target),
                RedirectKind::Read | RedirectKind::ReadWrite => {
                    for value in self.expand(&redirect.target) {
                        self.network_path(&value, call);
                        call.stdin = self.use_path(&value, Effect::Read, call);
                    }
                }
                _ => {}
            }
        }
    }

    /// `/dev/tcp/host/port` is a connection.
    fn network_path(&mut self, value: &Value, call: &mut Call) {
        let mut parts = value.text.trim_start_matches('/').split('/');
        if parts.next() == Some("dev") && matches!(parts.next(), Some("tcp" | "udp")) {
            let host = parts.next().unwrap_or("");
            self.state.wire = true;
            call.command.hosts.push(String::from(host));
            let local = super::host::is_loopback(host);
            let act = match (local, parts.next() == Some("7788"), call.is_shell()) {
                (true, true, _) => Act::Approve,
                (_, _, true) => Act::ReverseShell,
                _ if call.output.taint.wire => Act::ReverseShell,
                _ if call.output.taint.secret => Act::Exfiltrate,
                _ => Act::NetworkSend,
            };
            call.command.fact(act, value.text.as_str());
        }
    }

    /// Applies output redirects; `empty` says that nothing is written, so that `>` only empties.
    fn apply_outputs(&mut self, redirects: &[Redirect], call: &mut Call, empty: bool) -> Value {
        let mut printed = core::mem::take(&mut call.output);
        for redirect in redirects {
            let effect = match redirect.kind {
                RedirectKind::Write if empty => Effect::Overwrite,
                RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => Effect::Write,
                RedirectKind::Duplicate if self.state.wire && printed.taint.secret => {
                    call.command.fact(Act::Exfiltrate, "a redirect");
                    continue;
                }
                _ => continue,
            };
            self.feed.clone_from(&printed);
            for value in self.expand(&redirect.target) {
                call.output = printed.clone();
                self.network_path(&value, call);
                self.use_path(&value, effect, call);
                let path = self.place().absolute(&value.text);
                if printed.taint != Taint::NONE || !printed.text.is_empty() {
                    self.state.remember_file(&path, printed.clone());
                }
            }
            if redirect.kind != RedirectKind::ReadWrite {
                printed = Value::default();
            }
        }
        printed
    }

    /// Keeps the place of a command whose inner ones come before it is finished.
    pub(crate) fn reserve(&mut self, call: &Call) -> usize {
        self.commands.push(Command::new("", call.command.span.clone()));
        self.commands.len() - 1
    }

    pub(crate) fn fill(&mut self, slot: usize, command: Command) {
        if let Some(place) = self.commands.get_mut(slot) {
            *place = command;
        }
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { scope: self.scope, cwd: &self.state.cwd, mounts: self.state.mounts.as_deref() }
    }

    /// Notes that `call` touches `value`, and returns what reading it gives.
    pub(crate) fn use_path(&mut self, value: &Value, effect: Effect, call: &mut Call) -> Value {
        self.use_path_deep(value, effect, false, call)
    }

    pub(crate) fn use_path_deep(
        &mut self,
        value: &Value,
        effect: Effect,
        recursive: bool,
        call: &mut Call,
    ) -> Value {
        let (path, located) = self.place().locate(&value.text);
        let mut class = located;
        let mut recursive = recursive;
        if class == PathClass::Secret && effect == Effect::Delete {
            class = self.place().standing(&path);
        }
        if class == PathClass::Protected && effect == Effect::Read {
            recursive |= own_state::covers_tokens(&path) && !own_state::only_lists(&call.name);
        }
        let known = self.written(&path, effect);
        let content = known.unwrap_or_else(|| match class {
            // It holds nothing, which is more than can be said of any other file.
            PathClass::Harmless if effect == Effect::Read && path == "/dev/null" => Value::default(),
            PathClass::Protected => Value::content(Taint::OWN),
            _ if located == PathClass::Secret => Value::content(Taint::SECRET),
            _ => Value::content(Taint::NONE),
        });
        call.touched = call.touched.join(content.taint);
        // What a function reads is known where it is called.
        if self.defining > 0 && effect == Effect::Read && class == PathClass::Unknown {
            return content;
        }
        let path = if class == PathClass::Unknown { display(&value.text) } else { displayed(path) };
        call.command.paths.push(crate::PathUse { path, effect, class, recursive });
        content
    }

    /// What this line wrote to `path`, or fetched into a folder that holds it.
    pub(crate) fn written(&self, path: &str, effect: Effect) -> Option<Value> {
        if let Some(known) = self.state.files.get(path) {
            return Some(known.clone());
        }
        if self.state.files.is_empty() {
            return None;
        }
        if has_marker(path) && path.contains([ANY, ONE]) {
            // `for f in part.*`: the files of this line that the pattern can mean.
            let found = self.state.files.iter().find(|(name, f)| f.taint.secret && matches(path, name));
            return found.map(|(_, content)| Value::unknown(content.taint));
        }
        if effect != Effect::Execute {
            return None;
        }
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            folder = above;
            if let Some(known) = self.state.files.get(folder).filter(|f| f.taint.network) {
                return Some(known.clone());
            }
        }
        None
    }
}
