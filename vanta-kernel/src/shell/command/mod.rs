//! What one simple command does: program, options, operands, and the model of that program.
//!
//! [`Walker::run_fields`] finds the program behind aliases, functions and wrappers and hands the call to the model the
//! table names. A program without a model of its own is described by its row alone (`generic.rs`).

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::flow::Walker;
use super::text::Text;
use super::value::{ANY, ONE, Taint, UNKNOWN, Value, display, matches};
use crate::reading::Command;
use crate::rules::act::Act;
use crate::rules::table::{self, Shape};
use crate::{Effect, PathClass};

mod builtin;
mod carried;
mod cloud;
mod consequences;
mod container;
mod database;
mod files;
mod find;
mod generic;
mod git;
mod global;
mod intent;
mod interpreter;
mod literals;
mod network;
mod options;
mod outputs;
mod packages;
mod print;
mod process;
mod settings;
mod shells;
mod stream;
mod tcl;
mod wrappers;

pub(crate) use options::Options;

/// A command being judged.
#[derive(Debug)]
pub(crate) struct Call {
    /// Base name of the program.
    pub(crate) name: Text,
    pub(crate) args: Vec<Value>,
    pub(crate) stdin: Value,
    /// What it prints.
    pub(crate) output: Value,
    /// Something around it says production.
    pub(crate) live: bool,
    /// Its operands stand for everything below them (`find … -exec`).
    pub(crate) tree: bool,
    /// Where what it has read so far came from.
    pub(crate) touched: Taint,
    /// Variables set for it alone that move what it works on.
    pub(crate) settings: Vec<(String, Value)>,
    pub(crate) command: Command,
}

impl Call {
    pub(crate) fn new(name: &'static str, args: Vec<Value>, stdin: Value, span: Range<usize>) -> Self {
        Self {
            name: Text::Static(name),
            args,
            stdin,
            output: Value::default(),
            live: false,
            tree: false,
            touched: Taint::NONE,
            settings: Vec::new(),
            command: Command::new(name, span),
        }
    }

    /// Everything the command is given, by argument or input.
    pub(crate) fn taint(&self) -> Taint {
        self.args.iter().fold(self.stdin.taint, |t, a| t.join(a.taint))
    }

    pub(crate) fn is_shell(&self) -> bool {
        table::is_shell(&self.name)
    }

    /// Its output is nothing, for certain.
    pub(crate) fn prints_nothing(&self) -> bool {
        matches!(self.name.as_str(), "echo" | "printf" | "cat") && self.output == Value::default()
    }

    pub(crate) fn fact(&mut self, act: Act) {
        let word = self.name.clone();
        self.command.fact(act, word);
    }

    /// The first operands that are plain words, for tables of sub-commands.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.args.iter().map(|a| a.text.as_str())
    }
}

impl Walker<'_> {
    /// Runs the command `fields` spell, inside `call`.
    pub(crate) fn run_fields(&mut self, fields: Vec<Value>, call: &mut Call) {
        let mut fields = fields.into_iter();
        let Some(program) = fields.next() else { return };
        call.args = fields.collect();
        if program.taint.network {
            call.command.fact(Act::RunFetched, display(&program.text));
        }
        if let Some(text) = self.state.aliases.get(program.text.as_str()).cloned() {
            return self.run_alias(&program.text, &text, call);
        }
        if program.is_literal()
            && let Some(output) = self.function(&program, call)
        {
            call.command.program = program.text.into();
            call.output = output;
            return;
        }
        let name = self.program_name(&program, call);
        call.name.clone_from(&name);
        call.command.program = name.into();
        self.builtin(call);
        self.carried_code(call);
        self.dispatch(&program, call);
        self.consequences(call);
    }

    fn run_alias(&mut self, name: &str, text: &str, call: &mut Call) {
        // An alias is not expanded inside itself.
        let hidden = self.state.aliases.remove(name);
        let mut line = String::from(text);
        for arg in &call.args {
            line.push(' ');
            line.push_str(&arg.text);
        }
        call.output = self.nested_code(&line, call);
        if let Some(hidden) = hidden {
            self.state.aliases.insert(String::from(name), hidden);
        }
    }

    fn function(&mut self, program: &Value, call: &Call) -> Option<Value> {
        if !self.state.functions.contains_key(program.text.as_str()) {
            return None;
        }
        let mut positional = Vec::from([program.clone()]);
        positional.extend(call.args.iter().cloned());
        self.call_function(&program.text, positional, &call.stdin)
    }

    /// The base name; a pattern becomes the most dangerous program it can be.
    fn program_name(&mut self, program: &Value, call: &mut Call) -> Text {
        let text = program.text.as_str();
        if text.contains('/') && !text.contains(UNKNOWN) {
            self.program_path(program, call);
        }
        let base = text.rsplit('/').next().unwrap_or(text);
        if base.contains([ANY, ONE]) {
            call.command.fact(Act::RunBuilt, display(text));
            let candidate = table::DESTROYERS.iter().find(|name| matches(base, name));
            return candidate.map_or_else(|| display(base).into(), |name| Text::Static(name));
        }
        let base = base.strip_suffix(".exe").unwrap_or(base);
        match table::program(base) {
            Some(_) if base.len() == text.len() => program.text.clone(),
            Some(_) => base.into(),
            None => base.to_ascii_lowercase().into(),
        }
    }

    /// A program given by path: known folders of programs say nothing, scripts of the project are read, the rest asks.
    fn program_path(&mut self, program: &Value, call: &mut Call) {
        let (path, class) = self.place().locate(&program.text);
        let is_system = matches!(class, PathClass::System | PathClass::Facts | PathClass::Elsewhere)
            && path.rsplit_once('/').is_some_and(|(folder, _)| table::is_program_folder(folder));
        if !is_system && !program.text.contains([ANY, ONE]) {
            let content = self.use_path(program, Effect::Execute, call);
            self.script_content(&content, call);
        }
    }

    /// A script that was written in this very line is read like the line.
    pub(crate) fn script_content(&mut self, content: &Value, call: &mut Call) {
        if content.taint.network {
            call.fact(Act::RunFetched);
        }
        if !content.is_unknown() && !content.text.is_empty() {
            let text = content.text.clone();
            self.nested_code(&text, call);
        }
    }

    /// Hands the call to the model of its program.
    pub(crate) fn dispatch(&mut self, program: &Value, call: &mut Call) {
        if program.is_open() || program.text.is_empty() {
            call.command.opaque = true;
            let act = if self.state.wire { Act::ReverseShell } else { Act::RunBuilt };
            call.command.fact(act, display(&program.text));
            call.output = Value::unknown(call.taint());
            return;
        }
        if call.name == "manage.py" {
            return self.django(call);
        }
        let in_scope_script =
            program.text.contains('/') && call.command.paths.iter().any(|p| p.effect == Effect::Execute);
        let row = table::program(&call.name);
        if in_scope_script && row.is_none_or(|r| r.shape == Shape::Tool)
            || row.is_none() && call.name.ends_with(".sh")
        {
            let text = program.text.clone();
            return self.project_script(&text, call);
        }
        let Some(row) = row else {
            self.unknown_program(call);
            return;
        };
        if generic::only_asks_for_help(call) {
            return;
        }
        self.outputs(call);
        if !self.state.files.is_empty() && builds(row.shape) {
            self.fetched_folder(".", call);
            for arg in call.args.clone().iter().filter(|a| !a.text.starts_with('-')) {
                self.fetched_folder(&arg.text, call);
            }
        }
        match row.shape {
            Shape::Wrapper => self.wrapper(row, call),
            Shape::Model(model) => self.model(model, call),
            _ => self.generic(row, call),
        }
    }

    /// Runs `fields` as the command that a wrapper holds; facts and paths join those of the wrapper.
    pub(crate) fn run_inner(&mut self, fields: Vec<Value>, call: &mut Call) {
        if fields.is_empty() {
            return;
        }
        if !self.enter_nesting() {
            return;
        }
        let mut inner = Call::new("", Vec::new(), call.stdin.clone(), call.command.span.clone());
        inner.live = call.live;
        inner.tree = call.tree;
        inner.settings.clone_from(&call.settings);
        let slot = self.reserve(&inner);
        self.run_fields(fields, &mut inner);
        self.leave_nesting();
        call.output = inner.output;
        call.touched = call.touched.join(inner.touched);
        self.fill(slot, inner.command);
    }
}

/// Does a program of that shape run code it finds in the working directory?
fn builds(shape: Shape) -> bool {
    matches!(
        shape,
        Shape::Tool | Shape::Model(table::Model::Make | table::Model::Packages | table::Model::Script)
    )
}
