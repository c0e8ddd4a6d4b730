use proptest::prelude::*;

use super::super::decode::decode;
use super::*;

fn edit(raw: &[u8], old: &str, new: &str) -> Result<Vec<u8>, Mismatch> {
    change(raw, old, new, false)
}

fn change(raw: &[u8], old: &str, new: &str, all: bool) -> Result<Vec<u8>, Mismatch> {
    apply(&decode(raw.to_vec()).unwrap(), &Change { old, new, all }).map(|(text, _)| text.encode())
}

#[test]
fn crlf_files_stay_crlf() {
    assert_eq!(edit(b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n").unwrap(), b"x\r\ny\r\nz\r\nc\r\n");
    assert_eq!(edit(b"a\r\nb", "b", "b\nc").unwrap(), b"a\r\nb\r\nc");
    assert_eq!(edit(b"one\ntwo\n", "one\r\ntwo", "one\r\n2").unwrap(), b"one\n2\n");
}

#[test]
fn mixed_endings_are_kept_outside_the_difference() {
    assert_eq!(edit(b"a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n").unwrap(), b"a\r\nB\nc\r\n");
    assert_eq!(edit(b"k\rfoo\nkeep\r\n", "keep", "kept").unwrap(), b"k\rfoo\nkept\r\n");
}

#[test]
fn a_line_break_of_two_bytes_is_replaced_whole() {
    assert_eq!(edit(b"a\r\nb\r\n", "a\nb", "ab").unwrap(), b"ab\r\n");
    assert_eq!(edit(b"a\r\n", "a\n", "").unwrap(), b"");
    assert_eq!(edit(b"a\r\nb\r\n", "\nb", "").unwrap(), b"a\r\n");
}

#[test]
fn overlaps_are_ambiguous() {
    let Err(Mismatch::Ambiguous { count, lines }) = edit(b"x\naaa\n", "aa", "b") else { panic!() };
    assert_eq!((count, lines), (2, vec![2]));
    assert_eq!(change(b"aaaa", "aa", "b", true).unwrap(), b"bb");
}

#[test]
fn replacements_are_literal() {
    assert_eq!(edit(b"x", "x", "$& $1 $$ \\1 \\n {0}").unwrap(), b"$& $1 $$ \\1 \\n {0}");
}

#[test]
fn refusals_say_why() {
    assert_eq!(edit(b"a", "", "b"), Err(Mismatch::Empty));
    assert_eq!(edit(b"a", "a", "a"), Err(Mismatch::Same));
    assert_eq!(
        edit(b"let a = f(x, y);\n", "let a = f(x,y);", ""),
        Err(Mismatch::Absent(Some((1, "let a = f(x, y);".into()))))
    );
}

#[test]
fn unknown_encodings_change_only_between_ascii() {
    assert_eq!(edit(b"x = 1\n# \xd6\xd0\n", "x = 1", "x = 2").unwrap(), b"x = 2\n# \xd6\xd0\n");
    // In Shift JIS the second byte of this character is a backslash.
    assert_eq!(edit(b"a\x83\\b", "\\b", "c"), Err(Mismatch::NotAscii));
    assert_eq!(edit(b"\xe9 a", "a", "é"), Err(Mismatch::NotAscii));
}

#[test]
fn marks_and_utf16_survive() {
    assert_eq!(edit(b"\xef\xbb\xbfa\r\nb", "a", "c").unwrap(), b"\xef\xbb\xbfc\r\nb");
    assert_eq!(edit(b"\xff\xfea\0\r\0\n\0", "a\n", "b\nc\n").unwrap(), b"\xff\xfeb\0\r\0\n\0c\0\r\0\n\0");
}

proptest! {
    #[test]
    fn an_edit_changes_nothing_else(
        before in "[a-c\r\n]{0,20}", after in "[a-c\r\n]{0,20}", new in "[x\n]{0,6}",
    ) {
        // The marker cannot form a CRLF pair with its neighbours.
        let raw = format!("{before}MARK{after}");
        let edited = String::from_utf8(edit(raw.as_bytes(), "MARK", &new).unwrap()).unwrap();
        let middle = edited.strip_prefix(&before).and_then(|rest| rest.strip_suffix(&after)).unwrap();
        prop_assert_eq!(middle.replace("\r\n", "\n"), new);
    }

    #[test]
    fn in_a_file_of_plain_lines_it_is_plain_replacement(text in "[ab\n]{0,30}", old in "[ab\n]{1,3}", new in "[abx\n]{0,3}") {
        let all = change(text.as_bytes(), &old, &new, true);
        match (text.contains(&old), old == new) {
            (_, true) => prop_assert_eq!(all, Err(Mismatch::Same)),
            (false, _) => prop_assert!(matches!(all, Err(Mismatch::Absent(_)))),
            (true, _) => prop_assert_eq!(String::from_utf8(all.unwrap()).unwrap(), text.replace(&old, &new)),
        }
        let once = edit(text.as_bytes(), &old, &new);
        let places = (0..text.len()).filter(|at| text.as_bytes().get(*at..).unwrap().starts_with(old.as_bytes())).count();
        prop_assert_eq!(once.is_ok(), places == 1 && old != new);
    }
}

#[test]
fn a_long_line_takes_time_in_proportion_to_its_length() {
    let raw = vec![b'a'; 2_000_000];
    let begun = std::time::Instant::now();
    assert_eq!(change(&raw, "a", "b", true).unwrap(), vec![b'b'; 2_000_000]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn without_a_line_break_behind_it_the_one_before_counts() {
    assert_eq!(change(b"x\r\nab ab", "b", "\n", true).unwrap(), b"x\r\na\r\n a\r\n");
    assert_eq!(change(b"b\nb\r\nb", "b", "1\n2", true).unwrap(), b"1\n2\n1\r\n2\r\n1\r\n2");
}

#[test]
fn a_result_beyond_all_bounds_is_refused_and_not_built() {
    let (raw, new) = (vec![b'a'; 1_000_000], "b".repeat(1_000_000));
    assert_eq!(change(&raw, "a", &new, true), Err(Mismatch::TooLarge));
    assert_eq!(change(&raw, "aa", "b", true).unwrap().len(), 500_000);
}
