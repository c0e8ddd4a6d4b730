//! Text as a terminal should get it: nothing that moves the cursor, hides or reverses; sizes, dates and quoting.

use std::fmt::Write;

/// `text` with every control, direction and invisible character spelled out, line ends and tabs included.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        push_visible(&mut out, c);
        out
    })
}

/// The same, but for line ends and tabs: for text of several lines.
pub(crate) fn visible_lines(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if matches!(c, '\n' | '\t') {
            out.push(c)
        } else {
            push_visible(&mut out, c)
        }
        out
    })
}

fn push_visible(out: &mut String, c: char) {
    if c.is_control() || is_invisible(c) {
        // Writing into a String cannot fail.
        let _ = write!(out, "{}", c.escape_default());
    } else {
        out.push(c);
    }
}

/// Characters that change what a reader sees without being seen: direction marks, joiners, tags, line separators.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of `text` on one line, at most `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let line = escaped(text.trim());
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// `1 byte`, `812 bytes`, `1.4 KB`.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Milliseconds since 1970 as `2026-03-01 12:30:05Z`.
pub(crate) fn utc(millis: u64) -> String {
    let seconds = millis / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Days are counted in eras of 400 years that begin in March, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// `word` as a shell reads it back; what moves the cursor or hides is spelled out, as bash, zsh and POSIX 2024 read it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.chars().any(|c| c.is_control() || is_invisible(c)) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut out = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            _ if c.is_control() || is_invisible(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Three octal digits end by themselves. Writing into a String cannot fail.
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_or_hides_gets_through() {
        assert_eq!(escaped("a\x1b[2Jb\r\n\u{202e}c\u{200b}"), r"a\u{1b}[2Jb\r\n\u{202e}c\u{200b}");
        assert_eq!(visible_lines("a\n\tb\x07"), "a\n\tb\\u{7}");
        assert_eq!(escaped("Grüße, 世界"), "Grüße, 世界");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(one_line(" ééé ", 3), "ééé");
        assert_eq!(one_line("éééé", 3), "ééé…");
    }

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(utc(0), "1970-01-01 00:00:00Z");
        assert_eq!(utc(951_782_399_000), "2000-02-28 23:59:59Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(utc(1_709_251_199_999), "2024-02-29 23:59:59Z");
        assert_eq!(utc(4_107_542_400_000), "2100-03-01 00:00:00Z");
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/srv/app"), "/srv/app");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a\x1b[2J\n'b\\1\u{202e}é"), r"$'a\033[2J\012\'b\\1\342\200\256é'");
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!((size(1), size(999), size(1500)), ("1 byte".into(), "999 bytes".into(), "1.5 KB".into()));
    }
}
