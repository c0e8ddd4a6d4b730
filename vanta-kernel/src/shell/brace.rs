//! Brace expansion: `{a,b}` in every combination, `{1..9}` as one unknown name.

use alloc::string::String;
use alloc::vec::Vec;

use super::syntax::{Part, Parts, VarOp};
use super::text::Text;

/// A longer word with braces is not expanded, so that the copies stay small.
const MAX_ATOMS: usize = 4096;

/// A character that may be a brace, or a piece that cannot.
#[derive(Clone)]
enum Atom {
    Char(char),
    Whole(Part),
}

/// All words `parts` stand for, or `None` when there are more than `limit`.
pub(super) fn alternatives(parts: &[Part], limit: usize) -> Option<Vec<Parts>> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Text { text, quoted: false } => atoms.extend(text.chars().map(Atom::Char)),
            other => atoms.push(Atom::Whole(other.clone())),
        }
    }
    if atoms.len() > MAX_ATOMS && first_group(&atoms).is_some() {
        return None;
    }
    let mut open = Vec::from([atoms]);
    let mut done = Vec::new();
    // Each step replaces the first brace group of one word; every replacement removes one group.
    while let Some(word) = open.pop() {
        match first_group(&word) {
            None => done.push(join(&word)),
            Some((start, end, choices)) => {
                for choice in choices.iter().rev() {
                    let mut next: Vec<Atom> = word.iter().take(start).cloned().collect();
                    next.extend(choice.iter().cloned());
                    next.extend(word.iter().skip(end + 1).cloned());
                    open.push(next);
                }
            }
        }
        if open.len() + done.len() > limit {
            return None;
        }
    }
    Some(done)
}

/// The first `{…}` with a comma or a range in it: its start, its end and its choices.
fn first_group(word: &[Atom]) -> Option<(usize, usize, Vec<Vec<Atom>>)> {
    let mut from = 0;
    // A group that is not closed makes every later start unclosed as well, so few starts are tried.
    for _ in 0..8 {
        let start = from + word.iter().skip(from).position(|a| matches!(a, Atom::Char('{')))?;
        if let Some((end, choices)) = group_at(word, start) {
            return Some((start, end, choices));
        }
        from = start + 1;
    }
    None
}

fn group_at(word: &[Atom], start: usize) -> Option<(usize, Vec<Vec<Atom>>)> {
    let mut depth = 0_usize;
    let mut choices = Vec::from([Vec::new()]);
    for (index, atom) in word.iter().enumerate().skip(start + 1) {
        match atom {
            Atom::Char('}') if depth == 0 => {
                if choices.len() > 1 {
                    return Some((index, choices));
                }
                return range(choices.first()?).map(|choice| (index, Vec::from([choice])));
            }
            Atom::Char(',') if depth == 0 => choices.push(Vec::new()),
            other => {
                match other {
                    Atom::Char('{') => depth += 1,
                    Atom::Char('}') => depth -= 1,
                    _ => {}
                }
                choices.last_mut()?.push(other.clone());
            }
        }
    }
    None
}

/// `1..9` or `a..e`: some short name; it is not enumerated.
fn range(body: &[Atom]) -> Option<Vec<Atom>> {
    let text: String = body.iter().map(|a| if let Atom::Char(c) = a { *c } else { '/' }).collect();
    let (from, to) = text.split_once("..")?;
    let plain =
        |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    if !plain(from) || !plain(to) {
        return None;
    }
    let part = Part::Var { name: String::from("?"), op: VarOp::Length, quoted: true };
    Some(Vec::from([Atom::Whole(part)]))
}

fn join(word: &[Atom]) -> Parts {
    let mut parts = Parts::default();
    let mut open = String::new();
    for atom in word {
        match atom {
            Atom::Char(c) => open.push(*c),
            Atom::Whole(part) => {
                close(&mut open, &mut parts);
                parts.push(part.clone());
            }
        }
    }
    close(&mut open, &mut parts);
    parts
}

fn close(open: &mut String, parts: &mut Parts) {
    if !open.is_empty() {
        parts.push(Part::Text { text: Text::Own(core::mem::take(open)), quoted: false });
    }
}
