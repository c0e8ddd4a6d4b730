//! How alike two short texts are: for "did you mean" and for showing the line an edit nearly matched.

use std::collections::HashMap;

/// From 0 (nothing in common) to 1 (the same): the share of letter pairs that both have.
///
/// Spaces and case do not count, so that a difference in them scores highest of all near misses.
pub(crate) fn similarity(a: &str, b: &str) -> f64 {
    let (left, right) = (pairs(a), pairs(b));
    let total: usize = left.values().sum::<usize>() + right.values().sum::<usize>();
    if total == 0 {
        return 0.0;
    }
    let shared: usize = left.iter().map(|(pair, n)| right.get(pair).map_or(0, |m| *n.min(m))).sum();
    2.0 * as_f64(shared) / as_f64(total)
}

/// The candidate most like `wanted`, if any is like it at all.
pub(crate) fn closest<T: AsRef<str>>(wanted: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    let scored = candidates.into_iter().map(|text| (similarity(wanted, text.as_ref()), text));
    let best = scored.fold(None, |best: Option<(f64, T)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.filter(|(score, _)| *score >= ENOUGH).map(|(_, text)| text)
}

/// Texts less alike than this are not worth showing.
const ENOUGH: f64 = 0.6;

fn pairs(text: &str) -> HashMap<(char, char), usize> {
    let letters: Vec<char> =
        text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).take(MAX_LETTERS).collect();
    let mut count = HashMap::new();
    for (a, b) in letters.iter().zip(letters.iter().skip(1)) {
        *count.entry((*a, *b)).or_default() += 1;
    }
    count
}

/// Longer texts are compared by their beginning.
const MAX_LETTERS: usize = 400;

fn as_f64(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_letter_is_near_and_another_word_is_not() {
        assert_eq!(closest("setings.toml", ["other.rs", "settings.toml"]), Some("settings.toml"));
        assert_eq!(closest("setings.toml", ["other.rs", "main.c"]), None);
    }

    #[test]
    fn spacing_does_not_count() {
        assert!((similarity("f(a,b)", "  f(a, b)") - 1.0).abs() < f64::EPSILON);
    }
}
