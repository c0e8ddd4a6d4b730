//! Files with content that a command would replace: targets of `>` and of programs that write whole files.
//!
//! The kernel's reading says which paths are written and not whether they are appended to, so the text is looked at
//! for `>>` and for options such as `-a`. In doubt a path counts as replaced.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use vanta_core::Action;
use vanta_core::{Command, Effect, PathClass, PathUse};

use super::Disk;
use crate::path::{Folder, Place};

impl Disk<'_> {
    /// Describes the files with content that `command` would replace.
    pub(super) fn replace(&mut self, command: &Command) {
        let writes = |used: &&PathUse| used.effect() == Effect::Write;
        if !command.paths().iter().any(|used| writes(&used)) {
            return;
        }
        let near = Redirects::of(around(self.text, command.span().start));
        let emptied = command.paths().iter().filter(|used| self.redirects.replaces(used.path()));
        let own: Vec<&PathUse> = command.paths().iter().filter(|used| !near.names(used.path())).collect();
        // A target that is only known as a variable can be any file that is written.
        let maybe = own.iter().copied().filter(|_| near.unknown);
        let mut targets: Vec<String> = emptied.chain(maybe).filter_map(in_scope).collect();
        let program = command.program();
        let words = self.text.get(command.span()).unwrap_or_default();
        match program {
            "tee" if has_option(words, program, 'a', "--append") => {}
            "cp" | "mv" if has_option(words, program, 'n', "--no-clobber") => {}
            "tee" | "dd" => targets.extend(own.into_iter().filter_map(in_scope)),
            "cp" | "mv" | "install" | "ln" => targets.extend(self.copied(&own, words)),
            _ => {}
        }
        for target in targets {
            let keeps = matches!(program, "mv" | "ln") && Path::new(&target).is_symlink();
            for path in if keeps { Vec::new() } else { self.expand(&target) } {
                self.check_replaced(&path);
            }
        }
    }

    /// Where the files of a copy or move come to lie: the last path, or inside it when it is a folder.
    fn copied(&mut self, paths: &[&PathUse], words: &str) -> Vec<String> {
        let Some((target, sources)) = paths.split_last() else { return Vec::new() };
        let Some(target) = in_scope(target) else { return Vec::new() };
        if !Path::new(&target).is_dir() {
            return vec![target];
        }
        let mut inside = Vec::new();
        for source in sources.iter().flat_map(|source| self.expand(source.path())) {
            inside.extend(source.rsplit('/').next().map(|name| format!("{target}/{name}")));
        }
        // `cp -r from/. to` merges into the folder itself.
        let merges = words.split_whitespace().any(|word| word.trim_matches(['\'', '"']).ends_with("/."));
        inside.extend(merges.then_some(target));
        inside
    }

    fn check_replaced(&mut self, path: &str) {
        if !self.look() {
            return;
        }
        let Ok(place) = Place::locate(self.scope, path) else { return };
        // Outside the root the question is already there.
        if place.is_inside() && has_content(&place) {
            self.add(Action::overwrite(place.described()));
        }
    }
}

/// A file that is not empty, or a folder that another would be merged into.
fn has_content(place: &Place) -> bool {
    match fs::metadata(place.real()) {
        Ok(meta) if meta.is_dir() => {
            let names = |folder: Folder| folder.names().is_ok_and(|mut names| names.next().is_some());
            place.open_folder().is_ok_and(names)
        }
        Ok(meta) => meta.is_file() && meta.len() > 0,
        Err(_) => false,
    }
}

/// The path of a use that the text alone would allow.
fn in_scope(used: &PathUse) -> Option<String> {
    let inside = matches!(used.class(), PathClass::InScope | PathClass::Root);
    (inside && used.effect() == Effect::Write).then(|| used.path().to_owned())
}

/// The text in which the redirects of the command that starts at `start` are, an operator in front included.
fn around(text: &str, start: usize) -> &str {
    let before = text.get(..start).unwrap_or_default().trim_end_matches([' ', '>', '|', '&']).len();
    let rest = text.get(before..).unwrap_or_default();
    let end = (0..=NEAR.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at));
    rest.get(..end.unwrap_or(0)).and_then(|near| near.lines().next()).unwrap_or_default()
}

/// How far behind the start of a command its redirects are looked for; bounds the work per command.
const NEAR: usize = 1024;

/// Whether every use of `program` among `words` has the option directly behind it.
fn has_option(words: &str, program: &str, short: char, long: &str) -> bool {
    let words: Vec<&str> = words.split(|c: char| c.is_whitespace() || "'\"".contains(c)).collect();
    let mut uses =
        words.iter().enumerate().filter(|(_, word)| word.rsplit('/').next() == Some(program)).peekable();
    let is_it = |word: &&str| {
        let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        *word == long || cluster.is_some_and(|letters| letters.contains(short))
    };
    let has = |from: usize| words.iter().skip(from).take_while(|word| word.starts_with('-')).any(is_it);
    uses.peek().is_some() && uses.all(|(at, _)| has(at + 1))
}

/// The targets of `>` and `>>` in a text, quoted or not, without the folders that only say where to start.
#[derive(Default)]
pub(super) struct Redirects {
    replacing: BTreeSet<String>,
    appending: BTreeSet<String>,
    /// A target of `>` is only known when it runs.
    unknown: bool,
}

impl Redirects {
    pub(super) fn of(text: &str) -> Self {
        let mut all = Self::default();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('>') {
            let appends = after.starts_with('>') || before.ends_with('<');
            rest = after.trim_start_matches(['>', '|', '&']);
            let ends = |c: char| c.is_whitespace() || ";|&()<>".contains(c);
            let word = rest.trim_start_matches([' ', '\t']).split(ends).next().unwrap_or_default();
            let word = word.replace(['\'', '"', '\\'], "");
            let named = word.rsplit("./").next().unwrap_or_default().trim_start_matches(['~', '/']);
            if word.contains(['$', '`', '*', '?', '[', '{']) {
                all.unknown |= !appends;
            } else if !named.is_empty() {
                if appends { &mut all.appending } else { &mut all.replacing }.insert(named.to_owned());
            }
        }
        all
    }

    fn replaces(&self, path: &str) -> bool {
        tails(path).any(|tail| self.replacing.contains(tail))
    }

    fn names(&self, path: &str) -> bool {
        self.replaces(path) || tails(path).any(|tail| self.appending.contains(tail))
    }
}

/// The ends of `path` that start behind a slash.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..))
}
