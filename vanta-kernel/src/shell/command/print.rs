//! Commands whose output the text tells: `echo`, `printf`, `cat`, `pwd`, `basename`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Call, Options};
use crate::Effect;
use crate::shell::flow::Walker;
use crate::shell::value::{TOKEN, UNKNOWN, Value};

impl Walker<'_> {
    /// What a variable with a secret's name holds is shown, unless it goes on somewhere else.
    fn shows_variable(call: &mut Call) {
        if call.args.iter().any(|a| a.taint.secret) {
            call.fact(crate::rules::act::Act::SecretShow);
        }
    }

    pub(super) fn print(&mut self, call: &mut Call) {
        Self::shows_variable(call);
        let mut newline = true;
        let mut escapes = false;
        let mut text = Value::default();
        let mut first = true;
        for arg in &call.args {
            let letters = arg.text.strip_prefix('-').unwrap_or("");
            if first && !letters.is_empty() && letters.chars().all(|c| matches!(c, 'n' | 'e' | 'E')) {
                newline &= !letters.contains('n');
                escapes |= letters.contains('e');
                continue;
            }
            if !first {
                text.text.push(' ');
            }
            first = false;
            text.push(arg);
        }
        if escapes {
            text.text = unescape(&text.text).into();
        }
        if newline && !(text.text.is_empty() && call.args.len() <= 1) {
            text.text.push('\n');
        }
        call.output = text;
    }

    pub(super) fn print_format(&mut self, call: &mut Call) {
        Self::shows_variable(call);
        let mut args = call.args.clone().into_iter().peekable();
        if args.peek().is_some_and(|a| a.text == "-v") {
            args.next();
            let name = args.next().unwrap_or_default();
            self.state.set(&name.text, Vec::from([Value::marker(UNKNOWN)]), false);
            return;
        }
        if args.peek().is_some_and(|a| a.text == "--") {
            args.next();
        }
        let Some(format) = args.next() else { return };
        let args: Vec<Value> = args.collect();
        call.output = formatted(&format, &args);
    }

    pub(super) fn cat(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "");
        let mut output = Value::default();
        if options.operands.is_empty() {
            output = self.piped_input(call);
        }
        for (option, value) in &options.flags {
            if let Some(value) = value.as_ref().filter(|v| super::settings::names_file(option, &v.text)) {
                self.use_path(value, Effect::Read, call);
            }
        }
        for operand in &options.operands {
            if operand.text == "-" {
                output.push(&call.stdin.clone());
                continue;
            }
            let content = self.use_path(operand, Effect::Read, call);
            if operand.text == "/dev/null" {
                continue;
            }
            if matches!(operand.text.as_str(), "/dev/zero" | "/dev/urandom" | "/dev/random") {
                call.command.fact(crate::rules::act::Act::Fill, operand.text.as_str());
            }
            output.push(&content);
        }
        call.output = output;
    }

    /// What a filter reads: inside a substitution the input may be that of the whole shell.
    pub(super) fn piped_input(&self, call: &Call) -> Value {
        let silent = call.stdin == Value::default() && self.substituting > 0;
        if silent { Value::marker(UNKNOWN) } else { call.stdin.clone() }
    }

    /// Small programs that print something the scope or the arguments tell.
    pub(super) fn produce(&mut self, call: &mut Call) {
        let options = Options::cluster(&call.args, "-s --suffix -d --date -r -p");
        let first = options.operands.first().cloned().unwrap_or_default();
        let sets = |w: &str| {
            w == "-s" || w.starts_with("--set") || w.len() >= 8 && w.bytes().all(|b| b.is_ascii_digit())
        };
        if call.name == "date" && call.words().any(sets) {
            call.fact(crate::rules::act::Act::System);
        }
        let text = match call.name.as_str() {
            "pwd" => self.state.cwd.clone(),
            "basename" if first.is_literal() => {
                let name = first.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
                let suffix = options.operands.get(1).map_or("", |s| s.text.as_str());
                String::from(name.strip_suffix(suffix).unwrap_or(name))
            }
            "dirname" if first.is_literal() => String::from(
                first
                    .text
                    .rsplit_once('/')
                    .map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder }),
            ),
            "realpath" | "readlink" => {
                let content = self.use_path(&first, Effect::Read, call);
                if first.is_unknown() { content.text.into() } else { self.place().absolute(&first.text) }
            }
            "which" if first.is_literal() && !first.text.is_empty() => first.text.clone().into(),
            // Whose number it is decides what killing it means.
            "pgrep" | "pidof" => alloc::format!("{TOKEN}{}", first.text),
            "dirname" => String::from(UNKNOWN),
            "basename" if first.is_unknown() => String::from(UNKNOWN),
            "mktemp" => alloc::format!("/tmp/{TOKEN}"),
            _ => String::from(TOKEN),
        };
        let own = matches!(call.name.as_str(), "pgrep" | "pidof")
            && call.words().any(|w| w.contains("vanta") || w.contains("7788"));
        call.output = first.with_text(text);
        call.output.taint.own |= own;
        let all = |o: &Value| matches!(o.text.as_str(), "." | ".*" | "" | "^" | "$" | ".+" | "[0-9]*");
        call.output.taint.every |= call.name == "pgrep"
            && (options.operands.iter().any(all)
                || options.operands.is_empty() && call.words().any(|w| w == "-v"));
    }
}

/// What `printf` prints; formats it does not know become a marker.
fn formatted(format: &Value, args: &[Value]) -> Value {
    let pattern = unescape(&format.text);
    let mut output = Value { taint: format.taint, ..Value::default() };
    let mut args = args.iter();
    loop {
        let mut used = false;
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                output.text.push(c);
                continue;
            }
            let mut spec = String::new();
            while let Some(&s) = chars.peek() {
                chars.next();
                spec.push(s);
                if s.is_ascii_alphabetic() || s == '%' {
                    break;
                }
            }
            match spec.as_str() {
                "%" => output.text.push('%'),
                "s" | "b" | "q" => {
                    let arg = args.next().cloned().unwrap_or_default();
                    let text = if spec == "b" { unescape(&arg.text).into() } else { arg.text.clone() };
                    output.push(&arg.with_text(text));
                    used = true;
                }
                _ => {
                    output.taint = args.next().map_or(output.taint, |a| output.taint.join(a.taint));
                    output.text.push(TOKEN);
                    used = true;
                }
            }
        }
        // The format is used again until the arguments are gone.
        if !used || args.len() == 0 {
            return output;
        }
    }
}

/// Decodes the escapes of `echo -e` and `printf`.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('e') => out.push('\u{1b}'),
            Some('a') => out.push('\u{7}'),
            Some('x') => out.extend(number(&mut chars, 0, 16, 2)),
            Some(d @ '0'..='7') => {
                let first = if d == '0' { 0 } else { d.to_digit(8).unwrap_or(0) };
                out.extend(number(&mut chars, first, 8, if d == '0' { 3 } else { 2 }));
            }
            Some('\\') => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

fn number(
    chars: &mut core::iter::Peekable<core::str::Chars<'_>>,
    first: u32,
    radix: u32,
    most: usize,
) -> Option<char> {
    let mut code = first;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        code = code * radix + digit;
        chars.next();
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_escapes() {
        assert_eq!(unescape(r"\162\155\x20-rf\040/\n"), "rm -rf /\n");
    }

    #[test]
    fn formats_words() {
        let args = [Value::literal("a"), Value::literal("b")];
        assert_eq!(formatted(&Value::literal(r"%s\n"), &args).text, "a\nb\n");
    }
}
