//! The event log: its bytes, its order, and what happens to a file that is not what was written.

use std::fs;

use vanta_kernel::json::Json;
use vanta_kernel::store::{Events, StoreError};

use crate::support::{NOW, Place, damaged_line, golden, last_lines};

fn written() -> Place {
    let place = Place::new();
    let events = place.events().unwrap();
    let fields = [("verdict", Json::from("ask")), ("rule", "delete.scope".into()), ("call", 7_u64.into())];
    assert_eq!(events.append("assessed", &fields, NOW).unwrap(), 1);
    let nested =
        Json::object([("line", "a\nb \u{1f980}"), ("quote", "\"\\")].map(|(k, v)| (k, Json::from(v))));
    assert_eq!(events.append("tool.ran", &[("detail", nested)], NOW + 1).unwrap(), 2);
    assert_eq!(events.append("stopped", &[], NOW + 2).unwrap(), 3);
    place
}

fn seqs(events: &Events, after: u64) -> Vec<u64> {
    events.read(after).unwrap().iter().map(|event| event.seq()).collect()
}

#[test]
fn the_file_has_the_known_bytes_and_they_load() {
    let place = written();
    golden("events.jsonl", &fs::read(place.file("events.jsonl")).unwrap());
    let fresh = Place::new();
    let _ = fresh.vanta();
    fs::write(fresh.file("events.jsonl"), include_bytes!("golden/events.jsonl")).unwrap();
    let all = fresh.events().unwrap().read(0).unwrap();
    assert_eq!((all[0].kind(), all[0].seq(), all[0].time_ms()), ("assessed", 1, NOW));
    assert_eq!(all[0].field("call").and_then(Json::as_u64), Some(7));
    assert_eq!(all[1].field("detail").unwrap().get("line").unwrap().as_str(), Some("a\nb \u{1f980}"));
    let text = fs::read_to_string(fresh.file("events.jsonl")).unwrap();
    for line in text.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
    }
}

#[test]
fn reading_goes_on_where_it_stopped() {
    let place = written();
    let events = place.events().unwrap();
    assert_eq!(seqs(&events, 0), [1, 2, 3]);
    assert_eq!(seqs(&events, 2), [3]);
    assert!(seqs(&events, 3).is_empty());
    for _ in 0..600 {
        events.append("tick", &[], NOW).unwrap();
    }
    for after in [0, 1, 126, 127, 128, 129, 255, 256, 400, 602, 603, 9_999] {
        let expected: Vec<u64> = (after + 1..=603).collect();
        assert_eq!(seqs(&events, after), expected, "after {after}");
        assert_eq!(seqs(&place.events().unwrap(), after), expected, "after {after}");
    }
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let place = written();
    let events = place.events().unwrap();
    let before = fs::read(place.file("events.jsonl")).unwrap();
    for kind in ["", "Big", "a b", "a\nb", &"x".repeat(65)] {
        assert!(matches!(events.append(kind, &[], NOW), Err(StoreError::BadEventKind)), "{kind}");
    }
    let twice = Json::Object(vec![("a".into(), Json::Null), ("a".into(), Json::Null)]);
    assert!(matches!(events.append("x", &[("f", twice)], NOW), Err(StoreError::Unwritable)));
    let deep = (0..200).fold(Json::Null, |inner, _| Json::Array(vec![inner]));
    assert!(matches!(events.append("x", &[("f", deep)], NOW), Err(StoreError::Unwritable)));
    assert_eq!(fs::read(place.file("events.jsonl")).unwrap(), before);
    let odd = Json::Number("1}\n{".into());
    events.append("x", &[("f", odd), ("f", 2_u64.into())], NOW).unwrap();
    assert_eq!(events.read(3).unwrap()[0].fields(), [("f".to_owned(), Json::Null)]);
}

#[test]
fn every_cut_of_the_last_two_lines_recovers() {
    let place = written();
    let path = place.file("events.jsonl");
    let whole = fs::read(&path).unwrap();
    for cut in last_lines(&whole, 2)..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let events = place.events().unwrap();
        let kept = whole[..cut].iter().filter(|byte| **byte == b'\n').count() as u64 - 1;
        // A reader sees the whole lines and leaves the file alone.
        assert_eq!(events.read(0).unwrap().len() as u64, kept);
        assert_eq!(fs::read(&path).unwrap(), &whole[..cut]);
        let line_is_whole = whole.get(cut) == Some(&b'\n') && whole[cut - 1] == b'}';
        let torn = whole[cut - 1] != b'\n';
        let seq = events.append("next", &[], NOW).unwrap();
        assert_eq!(seq, kept + 1 + u64::from(torn) + u64::from(line_is_whole), "cut {cut}");
        let all = place.events().unwrap().read(0).unwrap();
        assert_eq!(all.len() as u64, seq);
        assert_eq!(all.iter().filter(|event| event.kind() == "log.repaired").count(), usize::from(torn));
        assert_eq!(events.repairs().len(), usize::from(torn));
    }
}

#[test]
fn a_torn_header_recovers() {
    let place = written();
    let path = place.file("events.jsonl");
    let whole = fs::read(&path).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in 0..=header {
        fs::write(&path, &whole[..cut]).unwrap();
        let seq = place.events().unwrap().append("next", &[], NOW).unwrap();
        assert_eq!(seq, if cut == 0 { 1 } else { 2 }, "cut {cut}");
        assert_eq!(place.events().unwrap().read(0).unwrap().len() as u64, seq);
    }
}

#[test]
fn every_changed_byte_is_damage_and_nothing_is_written() {
    let place = written();
    let path = place.file("events.jsonl");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        for mask in [0x01, 0x20, 0x80] {
            let mut bad = whole.clone();
            bad[at] ^= mask;
            fs::write(&path, &bad).unwrap();
            let line = whole[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            assert_eq!(damaged_line(place.events()), line, "byte {at}");
            assert_eq!(fs::read(&path).unwrap(), bad);
        }
    }
}

#[test]
fn missing_moved_and_repeated_lines_are_damage() {
    let place = written();
    let path = place.file("events.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (order, line) in
        [(vec![0, 2, 3], 2), (vec![0, 2, 1, 3], 2), (vec![0, 1, 1, 2], 3), (vec![1, 2, 3], 1)]
    {
        let changed: String = order.iter().map(|index| format!("{}\n", lines[*index])).collect();
        fs::write(&path, changed).unwrap();
        assert_eq!(damaged_line(place.events()), line, "{order:?}");
    }
    let empty_line = format!("{text}\n");
    fs::write(&path, empty_line).unwrap();
    assert_eq!(damaged_line(place.events()), 5);
}

#[test]
fn an_open_handle_notices_what_happens_to_its_file() {
    let place = written();
    let events = place.events().unwrap();
    let path = place.file("events.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"garbage\n"].concat()).unwrap();
    assert_eq!(damaged_line(events.append("x", &[], NOW)), 5);
    assert_eq!(damaged_line(events.read(0)), 5);
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(events.append("x", &[], NOW), Err(StoreError::Damaged { .. })));
    // Another file in its place is read from its beginning.
    fs::remove_file(&path).unwrap();
    fs::write(&path, &whole).unwrap();
    assert_eq!(events.append("x", &[], NOW).unwrap(), 4);
}

#[test]
fn planted_zero_bytes_are_cut_off_and_noted() {
    let place = written();
    let path = place.file("events.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &[0; 512]].concat()).unwrap();
    let events = place.events().unwrap();
    assert_eq!(events.append("next", &[], NOW).unwrap(), 5);
    let note = &events.read(3).unwrap()[0];
    assert_eq!(note.kind(), "log.repaired");
    assert_eq!(note.field("bytes").and_then(Json::as_u64), Some(512));
    let kept = note.field("kept").and_then(Json::as_str).unwrap();
    assert_eq!(fs::read(place.file("quarantine").join(kept)).unwrap(), [0; 512]);
    // A line whose newline became zeros is whole.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..whole.len() - 1], &[0; 9]].concat()).unwrap();
    assert_eq!(place.events().unwrap().append("next", &[], NOW).unwrap(), 7);
}

#[test]
fn no_line_is_longer_than_the_bound() {
    let place = written();
    let events = place.events().unwrap();
    let long = Json::from("x".repeat(16 * 1024 * 1024));
    assert!(matches!(events.append("x", &[("f", long)], NOW), Err(StoreError::Unwritable)));
    events.append("x", &[("f", "x".repeat(1024 * 1024).into())], NOW).unwrap();
    let path = place.file("events.jsonl");
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length + (1 << 40)).unwrap();
    assert_eq!(damaged_line(place.events()), 6);
}

#[test]
fn a_newer_file_is_left_alone() {
    use vanta_kernel::sha256::{hex, sha256};
    let place = Place::new();
    let _ = place.vanta();
    let body = r#"{"seq":0,"time":1,"kind":"log.header","fields":{"format":"vanta-events","version":2}"#;
    let line = format!("{body},\"chain\":\"{}\"}}\n", hex(&sha256(body.as_bytes())));
    fs::write(place.file("events.jsonl"), &line).unwrap();
    assert!(matches!(place.events(), Err(StoreError::TooNew { .. })));
    assert_eq!(fs::read_to_string(place.file("events.jsonl")).unwrap(), line);
}
