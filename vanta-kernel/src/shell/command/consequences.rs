//! What holds for every program, whatever its model: use of the boundary's own state, secrets that end in another
//! file, and secrets given to a program that sends what it is given.

use alloc::string::String;
use alloc::vec::Vec;

use super::Call;
use crate::rules::act::Act;
use crate::rules::own_state;
use crate::rules::sinks::{self, Sink};
use crate::rules::table::{self, Model, Shape};
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, Value, is_marker};
use crate::{Effect, PathClass};

impl Walker<'_> {
    /// Looks at a command once more after its model.
    pub(super) fn consequences(&mut self, call: &mut Call) {
        self.own_state(call);
        self.sends_secret(call);
        if call.command.facts.iter().any(|f| matches!(f.act, Act::SecretShow | Act::Environment)) {
            call.output.taint.secret = true;
        }
        self.derived_files(call);
    }

    /// A protected path in the hands of anything but a known reader counts as a change of it.
    fn own_state(&mut self, call: &mut Call) {
        let in_place =
            call.name == "yq" && call.words().any(|w| matches!(w, "-i" | "--inplace" | "--in-place"));
        if own_state::only_reads(&call.name) && !in_place || runs_its_arguments(&call.name) {
            return;
        }
        let special = self.state.cwd.contains("vanta") || !self.scope.protected_dirs().is_empty();
        let mut previous = String::new();
        for arg in call.args.clone() {
            let near = special || arg.text.contains(|c: char| matches!(c, 'v' | 'V') || is_marker(c));
            let left_out = |text: &str| {
                ["exclude", "ignore", "skip", "message", "title", "body"].iter().any(|w| text.contains(w))
                    || text == "-m"
            };
            let skipped = left_out(&previous) || arg.text.starts_with('-') && left_out(&arg.text);
            previous = String::from(arg.text.as_str());
            if near && !skipped {
                self.own_path(&arg, call);
            }
        }
    }

    fn own_path(&mut self, arg: &Value, call: &mut Call) {
        if arg.text.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(')) {
            return;
        }
        let attached = arg.text.get(2..).filter(|_| arg.text.starts_with('-') && !arg.text.starts_with("--"));
        let valued = arg.text.split_once('=').map(|(_, value)| value);
        for text in [Some(arg.text.as_str()), valued, attached].into_iter().flatten() {
            let known = text.chars().any(|c| !is_marker(c) && !matches!(c, '.' | '/'));
            if known && self.place().locate(text).1 == PathClass::Protected {
                self.use_path(&arg.with_text(text), Effect::Write, call);
            }
        }
    }

    /// Programs that send their arguments, their input or the files they name.
    fn sends_secret(&mut self, call: &mut Call) {
        let Some(sink) = sinks::sink(&call.name) else { return };
        let mut taint = call.taint();
        if sink == Sink::Files {
            taint = taint.join(call.touched);
            let lines: Vec<Value> = call.args.iter().chain([&call.stdin]).cloned().collect();
            for line in lines {
                for word in
                    line.text.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '=' | '@' | ':'))
                {
                    taint = taint.join(self.file_taint(word));
                }
            }
        }
        if taint.secret && !names_this_machine(call) {
            call.fact(Act::Exfiltrate);
        }
    }

    /// Where the content of a file came from, without noting that it is used.
    fn file_taint(&self, word: &str) -> Taint {
        let place = self.place();
        let (path, class) = place.locate(word.trim_end_matches('*'));
        if word.is_empty() {
            return Taint::NONE;
        }
        if class == PathClass::Secret {
            return Taint::SECRET;
        }
        self.state.files.get(&path).map_or(Taint::NONE, |content| content.taint)
    }

    /// What a command writes after reading a secret holds the secret, packed or encrypted as it may be.
    fn derived_files(&mut self, call: &mut Call) {
        if sinks::encrypts(&call.name) {
            let output = call.output.clone();
            self.tool(call);
            call.output = output;
        }
        if !call.touched.secret || runs_its_arguments(&call.name) {
            return;
        }
        let taint = Taint { secret: true, ..Taint::NONE };
        let written: Vec<String> = call
            .command
            .paths
            .iter()
            .filter(|p| matches!(p.effect, Effect::Write | Effect::Overwrite) && p.class != PathClass::Secret)
            .map(|p| p.path.clone())
            .collect();
        for path in written {
            if !self.state.files.get(&path).is_some_and(|f| f.taint.secret) {
                self.state.remember_file(&path, Value::unknown(taint));
            }
        }
    }
}

/// Does the command talk to this machine only?
fn names_this_machine(call: &Call) -> bool {
    call.words().any(crate::shell::host::is_loopback)
}

/// Programs whose arguments are a command that is judged by itself.
fn runs_its_arguments(name: &str) -> bool {
    table::program(name).is_some_and(|row| {
        matches!(
            row.shape,
            Shape::Wrapper
                | Shape::Model(
                    Model::Alias
                        | Model::Declare
                        | Model::Docker
                        | Model::Eval
                        | Model::Kubectl
                        | Model::Print
                        | Model::PrintFormat
                        | Model::Set
                        | Model::Shell
                        | Model::Trap
                        | Model::WindowsShell
                        | Model::Xargs
                )
        )
    })
}
