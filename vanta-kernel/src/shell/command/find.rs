//! `find`, `fd` and `xargs`: what they list, and the commands they run on it.

use alloc::format;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::rules::act::Act;
use crate::rules::table;
use crate::shell::flow::Walker;
use crate::shell::value::{ANY, CONTENT, LISTED, UNKNOWN, Value, activate};

/// `find`'s expressions that narrow what is found by name.
const NAME_TESTS: [&str; 4] = ["-name", "-iname", "-path", "-wholename"];

impl Walker<'_> {
    pub(super) fn find(&mut self, call: &mut Call) {
        if call.name.starts_with("fd") {
            return self.fd(call);
        }
        let args = call.args.clone();
        let starts: Vec<Value> = args
            .iter()
            .skip_while(|a| matches!(a.text.as_str(), "-L" | "-H" | "-P"))
            .take_while(|a| !a.text.starts_with('-') && !matches!(a.text.as_str(), "!" | "("))
            .cloned()
            .collect();
        let starts = if starts.is_empty() { Vec::from([Value::literal(".")]) } else { starts };
        let name = positive_name(&args);
        let found = self.found(&starts, name.as_ref(), selects_more(&args));
        for start in &starts {
            self.use_path(start, Effect::Read, call);
        }
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.text.as_str() {
                "-delete" => {
                    for value in &found {
                        self.use_path_deep(value, Effect::Delete, true, call);
                    }
                }
                "-fprint" | "-fprintf" | "-fls" | "-fprint0" => {
                    if let Some(file) = args.next() {
                        self.use_path(file, Effect::Write, call);
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let command: Vec<Value> = args
                        .by_ref()
                        .take_while(|a| !matches!(a.text.as_str(), ";" | "+"))
                        .cloned()
                        .collect();
                    self.run_on(&command, &found, true, call);
                }
                _ => {}
            }
        }
        call.output = found.into_iter().next().unwrap_or_default();
    }

    fn fd(&mut self, call: &mut Call) {
        let args = call.args.clone();
        let at = args.iter().position(|a| matches!(a.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        let front: Vec<Value> = args.iter().take(at.unwrap_or(args.len())).cloned().collect();
        let options =
            Options::cluster(&front, "-e -t -d -E -S -g -c --extension --type --max-depth --exclude --size");
        let folder = options.operands.get(1).cloned().unwrap_or_else(|| Value::literal("."));
        self.use_path(&folder, Effect::Read, call);
        let narrowed = options.operands.first().is_some_and(|p| !matches!(p.text.as_str(), "." | "" | "^"))
            || options.has(&["-e", "-t", "-S", "--extension", "--type", "--size", "--changed-within"]);
        let everything = Value::literal(format!("{}/{ANY}", folder.text));
        let found = Vec::from([if narrowed { Self::listing(&folder.text, None) } else { everything }]);
        if let Some(at) = at {
            let command: Vec<Value> =
                args.iter().skip(at + 1).take_while(|a| a.text != ";").cloned().collect();
            self.run_on(&command, &found, true, call);
        }
        call.output = found.into_iter().next().unwrap_or_default();
    }

    /// What the listing can name: the start itself when nothing narrows it, else something below it.
    fn found(&self, starts: &[Value], name: Option<&Value>, narrowed: bool) -> Vec<Value> {
        starts
            .iter()
            .map(|start| match name {
                Some(name) if name.text.contains('/') => start.with_text(name.text.as_str()),
                Some(name) => Self::listing(&start.text, Some(&name.text)),
                None if narrowed && !start.is_unknown() => Self::listing(&start.text, None),
                None => start.clone(),
            })
            .collect()
    }

    /// Runs `command` with what was found in the place of `{}`.
    fn run_on(&mut self, command: &[Value], found: &[Value], append: bool, call: &mut Call) {
        let mut fields = Vec::new();
        let mut placed = false;
        for word in command {
            if word.text == "{}" {
                fields.extend_from_slice(found);
                placed = true;
            } else if word.text.contains("{}") {
                let text = found.first().map_or("", |f| f.text.as_str());
                fields.push(word.with_text(word.text.replace("{}", text)));
                placed = true;
            } else {
                fields.push(word.clone());
            }
        }
        if !placed && append && call.name.starts_with("fd") {
            fields.extend_from_slice(found);
        }
        call.tree = found.iter().any(|f| !f.text.contains(LISTED));
        self.run_inner(fields, call);
        call.tree = false;
    }

    pub(super) fn xargs(&mut self, call: &mut Call) {
        let values = table::program(&call.name).map_or("", |p| p.values);
        let options = Options::leading(&call.args, values);
        let mut input = call.stdin.clone();
        if let Some(file) = options.value(&["-a", "--arg-file"]) {
            input = self.use_path(file, Effect::Read, call);
        }
        let items = items(&input);
        let mut fields = options.operands.clone();
        if fields.is_empty() {
            fields.push(Value::literal("echo"));
        }
        if call.name == "parallel" {
            let at = fields.iter().position(|f| f.text.starts_with(":::"));
            let list: Vec<Value> =
                at.map_or(items.clone(), |at| fields.iter().skip(at + 1).cloned().collect());
            fields.truncate(at.unwrap_or(fields.len()));
            if !fields.iter().any(|f| f.text.contains('{')) {
                fields.push(Value::literal("{}"));
            }
            return self.placed(&fields, "{}", &list, call);
        }
        let placeholder = options
            .value(&["-I", "-J", "--replace"])
            .map(|v| v.text.clone())
            .or_else(|| options.has(&["-i", "--replace"]).then(|| "{}".into()));
        match placeholder {
            Some(placeholder) => self.placed(&fields, &placeholder, &items, call),
            None => {
                if fields.len() == 1 && fields.first().is_some_and(|f| table::is_shell(&f.text)) {
                    call.fact(Act::RunBuilt);
                }
                fields.extend(items);
                self.take_away_input(call);
                self.run_inner(fields, call);
            }
        }
    }

    /// The command that `xargs` starts reads nothing itself.
    fn take_away_input(&mut self, call: &mut Call) {
        let taint = call.stdin.taint;
        call.stdin = Value { taint, ..Value::default() };
    }

    fn placed(&mut self, fields: &[Value], placeholder: &str, items: &[Value], call: &mut Call) {
        if let Some(code) = fields.first().filter(|f| f.text.contains(' ')) {
            // `parallel` takes a whole line as its command.
            for item in items {
                let line = code.with_text(code.text.replace(placeholder, &item.text));
                self.run_value(&line, None, call);
            }
            return;
        }
        let mut placed = Vec::new();
        for field in fields {
            if field.text == placeholder {
                placed.extend_from_slice(items);
            } else if !placeholder.is_empty() && field.text.contains(placeholder) {
                for item in items {
                    let mut value = field.with_text(field.text.replace(placeholder, &item.text));
                    value.taint = value.taint.join(item.taint);
                    placed.push(value);
                }
            } else {
                placed.push(field.clone());
            }
        }
        self.run_inner(placed, call);
    }
}

/// The arguments that input becomes.
fn items(input: &Value) -> Vec<Value> {
    if input.text.is_empty() {
        return Vec::new();
    }
    if input.text.contains(UNKNOWN) {
        return Vec::from([Value::unknown(input.taint)]);
    }
    if input.text.contains(CONTENT) {
        // Names from a file somebody wrote: in scope when read, and a person looks before they are deleted.
        return Vec::from([Value { taint: input.taint, ..Walker::listing(".", None) }]);
    }
    let separators = |c: char| c.is_ascii_whitespace() || c == '\0';
    input.text.split(separators).filter(|w| !w.is_empty()).map(|w| input.with_text(w)).collect()
}

/// The name test of `find` that holds for what it finds; a negated one says nothing.
fn positive_name(args: &[Value]) -> Option<Value> {
    let mut before = "";
    let mut found = None;
    let mut args = args.iter().peekable();
    while let Some(arg) = args.next() {
        if arg.text == "-o" || arg.text == "-or" {
            // One of several alternatives: the name does not bind.
            return None;
        }
        if NAME_TESTS.contains(&arg.text.as_str()) && !matches!(before, "!" | "-not") {
            found = args.peek().map(|v| {
                let mut text = alloc::string::String::new();
                activate(&v.text, &mut text);
                v.with_text(text)
            });
        }
        before = arg.text.as_str();
    }
    found
}

/// Does a test that is not negated keep most of the tree out of what is found?
fn selects_more(args: &[Value]) -> bool {
    let mut before = "";
    for arg in args {
        let text = arg.text.as_str();
        let narrows = NARROWING.contains(&text) || NAME_TESTS.contains(&text);
        if narrows && !matches!(before, "!" | "-not") {
            return true;
        }
        before = text;
    }
    false
}

const NARROWING: [&str; 10] =
    ["-newer", "-mtime", "-mmin", "-size", "-empty", "-regex", "-iregex", "-perm", "-user", "-newermt"];
