//! Splits arguments into options and operands: any order, clusters, `=`, `--`, shortened long options.

use alloc::string::String;
use alloc::vec::Vec;

use crate::shell::text::Text;
use crate::shell::value::{UNKNOWN, Value, has_marker};

/// Arguments after splitting.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Name with its dashes, and the value when it takes one.
    pub(crate) flags: Vec<(Text, Option<Value>)>,
    pub(crate) operands: Vec<Value>,
    /// An argument that may be an option or several.
    pub(crate) open: bool,
}

impl Options {
    /// Reads `args` the way `getopt_long` does. `values` lists the options that take a value.
    pub(crate) fn cluster(args: &[Value], values: &str) -> Self {
        Self::read(args, values, true, false)
    }

    /// Options are whole words (`find -name`, `terraform -chdir=x`).
    pub(crate) fn whole(args: &[Value], values: &str) -> Self {
        Self::read(args, values, false, false)
    }

    /// Like [`Options::cluster`], but the first operand ends the options (`sudo -u x rm -rf y`).
    pub(crate) fn leading(args: &[Value], values: &str) -> Self {
        Self::read(args, values, true, true)
    }

    fn read(args: &[Value], values: &str, clusters: bool, leading: bool) -> Self {
        let mut all = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            if text == "--" {
                all.operands.extend(args.cloned());
                break;
            }
            if text.len() < 2 || !text.starts_with('-') {
                all.open |= text.starts_with(UNKNOWN);
                all.operands.push(arg.clone());
                if leading {
                    all.operands.extend(args.cloned());
                    break;
                }
                continue;
            }
            all.open |= has_marker(text) && text.contains(UNKNOWN) && !text.contains('=');
            let takes = |name: &str| lists(values, name);
            if text.starts_with("--") || !clusters {
                let flag = match text.split_once('=') {
                    Some((name, value)) => (name.into(), Some(arg.with_text(value))),
                    None if takes(text) => (arg.text.clone(), args.next().cloned()),
                    None => (arg.text.clone(), None),
                };
                all.flags.push(flag);
                continue;
            }
            all.short_cluster(arg, text, &takes, &mut args);
        }
        all
    }

    fn short_cluster<'a>(
        &mut self,
        arg: &Value,
        text: &str,
        takes: &dyn Fn(&str) -> bool,
        args: &mut impl Iterator<Item = &'a Value>,
    ) {
        let mut letters = text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let name = short(letter);
            if !takes(&name) {
                self.flags.push((name, None));
                continue;
            }
            let rest = letters.as_str();
            let value = if rest.is_empty() {
                args.next().cloned()
            } else {
                Some(arg.with_text(rest.trim_start_matches('=')))
            };
            self.flags.push((name, value));
            return;
        }
    }

    /// Was any of `names` given? A long option may be shortened to five characters.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(flag, _)| names.iter().any(|name| is_option(flag, name)))
    }

    /// The value of the first of `names` that has one.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Value> {
        self.flags
            .iter()
            .filter(|(flag, _)| names.iter().any(|name| is_option(flag, name)))
            .find_map(|(_, value)| value.as_ref())
    }

    /// The values of all of `names`.
    pub(crate) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        self.flags
            .iter()
            .filter(|(flag, _)| names.iter().any(|name| is_option(flag, name)))
            .filter_map(|(_, value)| value.as_ref())
    }
}

/// Is `name` one of the words of `values`?
fn lists(values: &str, name: &str) -> bool {
    let mut rest = values.as_bytes();
    loop {
        if let Some([] | [b' ', ..]) = rest.strip_prefix(name.as_bytes()) {
            return true;
        }
        let Some(blank) = rest.iter().position(|b| *b == b' ') else { return false };
        rest = rest.get(blank + 1..).unwrap_or(&[]);
    }
}

/// The name of a one-letter option.
fn short(letter: char) -> Text {
    const ALL: &str = "-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z";
    match u32::from(letter)
        .checked_sub(u32::from('a'))
        .and_then(|i| ALL.get(2 * i as usize..2 * i as usize + 2))
    {
        Some(name) => Text::Static(name),
        None => Text::Own(String::from_iter(['-', letter])),
    }
}

/// Is `given` the option `name`, in full or shortened?
pub(crate) fn is_option(given: &str, name: &str) -> bool {
    given == name || given.len() >= 5 && name.starts_with("--") && name.starts_with(given)
}
