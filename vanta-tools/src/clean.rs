//! Text that is safe to show: no escape sequences, no control characters, names on one line.

use std::ffi::OsStr;

/// What a terminal would leave on the screen of `text`, roughly: escape sequences and control characters are
/// removed, and of a line that was rewritten with carriage returns its last state is kept.
pub(crate) fn printable(text: &str) -> String {
    let plain = without_escapes(text);
    let mut lines =
        plain.split('\n').map(last_state).fold(String::with_capacity(plain.len()), |mut all, line| {
            all.extend(line.chars().filter(|c| *c == '\t' || !c.is_control()));
            all.push('\n');
            all
        });
    lines.pop();
    lines
}

/// `name` on one line, control characters and backslashes spelled as escapes.
pub(crate) fn name(name: &OsStr) -> String {
    let mut shown = String::new();
    for c in name.to_string_lossy().chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            c if c.is_control() || is_invisible(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// Marks that reorder or break the text around them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn last_state(line: &str) -> &str {
    // "\r\n" ends a line; a carriage return before the end starts it afresh.
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{9b}' => skip_until_final(&mut rest),
            c => plain.push(c),
        }
    }
    plain
}

/// Skips what follows an escape character.
fn skip_sequence(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            skip_until_final(rest);
        }
        // Operating system command, device control and the like: up to the bell or the string terminator.
        Some(']' | 'P' | '^' | '_' | 'X') => skip_string(rest, ahead),
        // Intermediates, then one final character.
        Some(' '..='/') => {
            *rest = ahead;
            rest.by_ref().find(|c| !matches!(c, ' '..='/'));
        }
        Some('0'..='~') => *rest = ahead,
        _ => {}
    }
}

/// Parameters, then one letter. Anything else ends the sequence without being swallowed.
fn skip_until_final(rest: &mut std::str::Chars<'_>) {
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            Some(' '..='?') => *rest = ahead,
            Some('@'..='~') => {
                *rest = ahead;
                return;
            }
            _ => return,
        }
    }
}

/// A string ends at the bell, at `ESC \` or, when it never ends, before the next line.
fn skip_string<'a>(rest: &mut std::str::Chars<'a>, mut ahead: std::str::Chars<'a>) {
    loop {
        *rest = ahead.clone();
        match ahead.next() {
            None | Some('\n') => return,
            Some('\u{7}' | '\u{9c}') => {
                *rest = ahead;
                return;
            }
            Some('\u{1b}') => {
                if ahead.next() == Some('\\') {
                    *rest = ahead;
                }
                return;
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_titles_and_charsets_go() {
        assert_eq!(printable("\u{1b}[1;31mred\u{1b}[0m plain"), "red plain");
        assert_eq!(printable("\u{1b}]0;title\u{7}after"), "after");
        assert_eq!(printable("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\"), "link");
        assert_eq!(printable("\u{1b}(Bx\u{1b}=y\u{1b}"), "xy");
        assert_eq!(printable("\u{1b}]never ends\nnext"), "\nnext");
        assert_eq!(printable("a\u{1b}[12\nb"), "a\nb");
    }

    #[test]
    fn progress_keeps_its_last_state() {
        assert_eq!(printable("10%\r20%\rdone\r\nnext\n"), "done\nnext\n");
        assert_eq!(printable("50%\r"), "50%");
    }

    #[test]
    fn control_characters_go() {
        assert_eq!(printable("a\0b\u{8}c\td\u{85}"), "abc\td");
    }

    proptest::proptest! {
        #[test]
        fn no_control_character_is_left(text in "[\\PC\\x00-\\x1f\\x7f-\\u{9f}\\[\\]]{0,60}") {
            let clean = printable(&text);
            proptest::prop_assert!(clean.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            let shown = name(OsStr::new(&text));
            proptest::prop_assert!(!shown.contains(|c: char| c.is_control()));
        }
    }

    #[test]
    fn names_stay_on_one_line() {
        assert_eq!(name(OsStr::new("evil\n../x")), "evil\\n../x");
        assert_eq!(name(OsStr::new("red\u{1b}[31m")), "red\\u{1b}[31m");
        assert_eq!(name(OsStr::new("résumé")), "résumé");
    }
}
