//! Programs that run another command: `sudo`, `env`, `timeout`, `nice`, `flock`, …

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::launchers;
use crate::rules::path::Mount;
use crate::rules::table::Program;
use crate::shell::flow::Walker;
use crate::shell::value::{Taint, Value};

impl Walker<'_> {
    pub(super) fn wrapper(&mut self, row: &Program, call: &mut Call) {
        if row.act != Act::Harmless {
            call.fact(row.act);
        }
        let options = Options::leading(&call.args, row.values);
        if let Some(code) = options.value(&["-S", "--split-string"]).filter(|_| call.name == "env") {
            let mut line = code.clone();
            for operand in &options.operands {
                line.text.push(' ');
                line.push(operand);
            }
            return self.run_value(&line, None, call);
        }
        let mut operands = options.operands.clone();
        match call.name.as_str() {
            "command" if options.has(&["-v", "-V"]) => return,
            "su" | "runuser" => return self.switch_user(call),
            "env" | "sudo" | "doas" => operands = self.leading_assignments(operands, call),
            "timeout" | "gtimeout" | "chrt" | "taskset" | "direnv" | "chroot" => {
                let skip = usize::from(
                    !(call.name == "direnv" && operands.first().is_some_and(|o| o.text != "exec")),
                );
                operands = operands.into_iter().skip(skip).collect();
                if call.name == "direnv" {
                    operands = operands.into_iter().skip(1).collect();
                }
            }
            "flock" => return self.locked(operands, call),
            "bwrap" => return self.sandboxed(call),
            "foreman" | "honcho" | "overmind" | "dotenv" | "perf" | "rr" => {
                let sub = operands.first().map_or("", |o| o.text.as_str());
                let wraps = matches!(sub, "run" | "stat" | "record" | "trace" | "exec");
                if !wraps && call.name != "dotenv" {
                    return;
                }
                let tail: Vec<Value> = operands.into_iter().skip(usize::from(wraps)).collect();
                operands = Options::leading(&tail, row.values).operands;
            }
            "watch" | "hyperfine" if operands.len() == 1 || call.name == "hyperfine" => {
                for code in operands {
                    self.run_value(&code, None, call);
                }
                return;
            }
            _ => {}
        }
        for file in options.values(&["--output"]) {
            self.use_path(file, Effect::Write, call);
        }
        if operands.is_empty() {
            return self.nothing_wrapped(call);
        }
        let cwd = self.state.cwd.clone();
        for folder in
            options.values(&["-C", "--chdir", "-D"]).filter(|_| matches!(call.name.as_str(), "env" | "sudo"))
        {
            self.state.cwd = self.place().absolute(&folder.text);
        }
        self.run_inner(operands, call);
        self.state.cwd = cwd;
    }

    /// `bwrap --bind FOLDER PLACE … command`: a folder that is bound to another place has that name inside.
    fn sandboxed(&mut self, call: &mut Call) {
        let args = call.args.clone();
        let mut args = args.into_iter();
        let mut mounts = Vec::new();
        let mut command = Vec::new();
        while let Some(arg) = args.next() {
            if arg.text == "--" {
                break;
            }
            if !arg.text.starts_with('-') {
                command.push(arg);
                break;
            }
            let values: Vec<Value> = args.by_ref().take(launchers::bwrap_values(&arg.text)).collect();
            if let [outside, inside] = values.as_slice()
                && launchers::bwrap_binds(&arg.text)
            {
                let outside = self.place().absolute(&outside.text);
                let inside = String::from(inside.text.trim_end_matches('/'));
                mounts.push(Mount { inside, outside });
            }
        }
        command.extend(args);
        // Where every folder keeps its name, the command means the folders of this machine.
        let renames = mounts.iter().any(|m| m.inside != m.outside.trim_end_matches('/'));
        let outer = if renames { self.state.mounts.replace(mounts) } else { self.state.mounts.clone() };
        self.run_inner(command, call);
        self.state.mounts = outer;
    }

    /// The dynamic loader, given the program to start.
    pub(super) fn loader(&mut self, call: &mut Call) {
        let options = Options::leading(&call.args, launchers::LOADER_VALUES);
        if options.has(&[
            "--list",
            "--verify",
            "--help",
            "--version",
            "--list-tunables",
            "--list-diagnostics",
        ]) {
            return;
        }
        if options.has(&["--preload", "--audit"]) {
            call.fact(Act::TamperEnvironment);
        }
        self.run_inner(options.operands, call);
    }

    /// A wrapper without a command.
    fn nothing_wrapped(&mut self, call: &mut Call) {
        if matches!(call.name.as_str(), "sudo" | "doas") && !call.stdin.text.is_empty() {
            // `sudo -s` starts a shell that reads its input.
            let code = call.stdin.clone();
            return self.run_value(&code, None, call);
        }
        if call.name == "env" {
            call.fact(Act::Environment);
            call.output = Value::unknown(Taint::SECRET);
        }
    }

    /// `env A=1 B=2 cmd`: the assignments are checked and dropped.
    fn leading_assignments(&mut self, operands: Vec<Value>, call: &mut Call) -> Vec<Value> {
        let mut operands = operands.into_iter().peekable();
        while let Some(next) = operands.peek() {
            let Some((name, value)) = next.text.split_once('=') else { break };
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                break;
            }
            call.live |= crate::rules::names::says_live(value);
            let (name, value) = (String::from(name), next.with_text(value));
            self.check_variable(&name, core::slice::from_ref(&value), call);
            self.check_folder(&name, core::slice::from_ref(&value), call);
            operands.next();
        }
        operands.collect()
    }

    fn switch_user(&mut self, call: &mut Call) {
        if call.name == "runuser"
            && let options = Options::leading(&call.args, "-u --user -g --group -G -s --shell -w")
            && options.has(&["-u", "--user"])
        {
            return self.run_inner(options.operands, call);
        }
        let options = Options::cluster(&call.args, "-c --command -s --shell -g -G");
        let codes: Vec<Value> = options.values(&["-c", "--command"]).cloned().collect();
        for code in codes {
            self.run_value(&code, None, call);
        }
    }

    fn locked(&mut self, operands: Vec<Value>, call: &mut Call) {
        let mut operands = operands.into_iter();
        if let Some(file) = operands.next() {
            self.use_path(&file, Effect::Write, call);
        }
        let tail: Vec<Value> = operands.collect();
        let options = Options::leading(&tail, "-c --command");
        if let Some(code) = options.value(&["-c", "--command"]).cloned() {
            return self.run_value(&code, None, call);
        }
        self.run_inner(options.operands, call);
    }
}
