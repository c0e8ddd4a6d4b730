//! Legal changes, their rows, and what happens to a file that is not what was written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use vanta_kernel::store::{Approvals, StateDir, StoreError, VantaDir};
use vanta_kernel::{
    Action, Answer, Approval, ApprovalError, ApprovalId, ApprovalStatus, Proposal, RaisedBy, Risk,
};

use crate::support::{NOW, Place, damaged_line, golden, last_lines, proposal, refusal};

const WEEK: u64 = 7 * 24 * 60 * 60 * 1000;

/// Header, two proposals, one approved and used, one denied.
fn written() -> Place {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let first = approvals.propose(&proposal(), NOW).unwrap();
    let second = proposal().bind("AB12").raised_by(RaisedBy::Hook).expires_ms(NOW + 50);
    let second = approvals.propose(&second, NOW + 1).unwrap();
    approvals.decide(first.id(), Answer::Approve, "dana", NOW + 2).unwrap();
    approvals.decide(second.id(), Answer::Deny, "dana", NOW + 3).unwrap();
    approvals.consume(first.id(), first.binding(), "s-1 c-1 1", NOW + 4).unwrap();
    place
}

#[test]
fn the_file_has_the_known_bytes_and_they_load() {
    let place = written();
    golden("approvals.tsv", &fs::read(place.file("approvals.tsv")).unwrap());
    golden("approvals.head", &fs::read(place.state_path().join("approvals.head")).unwrap());

    let fresh = Place::new();
    let _ = fresh.vanta();
    fs::write(fresh.file("approvals.tsv"), include_bytes!("golden/approvals.tsv")).unwrap();
    let all = fresh.approvals().unwrap().list(NOW + 10).unwrap();
    let states: Vec<_> = all.iter().map(|item| (item.id().get(), item.status())).collect();
    assert_eq!(states, [(1, ApprovalStatus::Consumed), (2, ApprovalStatus::Denied)]);
    assert_eq!(all[0].actions(), [Action::delete("old\tnotes\\1.txt"), Action::shell("rm 'a\nb'")]);
    assert_eq!((all[0].decided_by(), all[0].holder()), (Some("dana"), Some("s-1 c-1 1")));
    assert_eq!((all[1].binding(), all[1].raised_by()), ("ab12", RaisedBy::Hook));
    golden("approval.json", (all[0].to_json().to_string() + "\n").as_bytes());
    for item in &all {
        assert_eq!(Approval::from_json(&item.to_json()).as_ref(), Ok(item));
    }
    let asked =
        Proposal::new(vec![Action::read("a")], Risk::Ask, "r", "why").bind("ab").expires_ms(9).call("c");
    golden("proposal.json", (asked.to_json().to_string() + "\n").as_bytes());
}

#[test]
fn files_and_folders_are_private() {
    let place = written();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.root().join(".vanta")), 0o700);
    assert_eq!(mode(&place.state_path()), 0o700);
    for name in ["approvals.tsv", "approvals.lock", ".gitignore"] {
        assert_eq!(mode(&place.file(name)), 0o600, "{name}");
    }
    for name in ["mac.key", "approvals.head"] {
        assert_eq!(mode(&place.state_path().join(name)), 0o600, "{name}");
    }
    assert_eq!(fs::read_to_string(place.file(".gitignore")).unwrap(), "*\n");
    fs::write(place.file(".gitignore"), "*\n!approvals.tsv").unwrap();
    let _ = (place.vanta(), place.vanta());
    assert_eq!(fs::read_to_string(place.file(".gitignore")).unwrap(), "*\n!approvals.tsv\n*\n");
}

#[test]
fn only_what_a_person_may_answer_is_queued() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let of = |risk| Proposal::new(vec![Action::read("a")], risk, "r", "why");
    assert_eq!(refusal(approvals.propose(&of(Risk::Block), NOW)), ApprovalError::NotApprovable);
    let raised = of(Risk::Block).raised_by(RaisedBy::Rule);
    assert_eq!(refusal(approvals.propose(&raised, NOW)), ApprovalError::NotApprovable);
    assert_eq!(refusal(approvals.propose(&of(Risk::Allow), NOW)), ApprovalError::NotNeeded);
    assert!(approvals.propose(&of(Risk::Allow).raised_by(RaisedBy::Rule), NOW).is_ok());
    let empty = Proposal::new(vec![], Risk::Ask, "r", "why");
    assert_eq!(refusal(approvals.propose(&empty, NOW)), ApprovalError::NoActions);
    assert_eq!(refusal(approvals.propose(&proposal().bind(""), NOW)), ApprovalError::BadBinding);
    assert_eq!(refusal(approvals.propose(&proposal().bind("x y"), NOW)), ApprovalError::BadBinding);
    assert_eq!(refusal(approvals.propose(&proposal().expires_ms(NOW), NOW)), ApprovalError::Expired);
    assert_eq!(approvals.list(NOW).unwrap().len(), 1);
}

#[test]
fn an_item_is_decided_once() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let decide = |id, answer, now| approvals.decide(id, answer, "dana", now);
    let id = approvals.propose(&proposal(), NOW).unwrap().id();
    decide(id, Answer::Approve, NOW).unwrap();
    assert_eq!(refusal(decide(id, Answer::Approve, NOW)), ApprovalError::AlreadyDecided);
    assert_eq!(refusal(decide(id, Answer::Deny, NOW)), ApprovalError::AlreadyDecided);
    let binding = proposal().binding().to_owned();
    approvals.consume(id, &binding, "holder", NOW).unwrap();
    assert_eq!(refusal(decide(id, Answer::Deny, NOW)), ApprovalError::Consumed);

    let denied = approvals.propose(&proposal(), NOW).unwrap().id();
    decide(denied, Answer::Deny, NOW).unwrap();
    assert_eq!(refusal(decide(denied, Answer::Approve, NOW)), ApprovalError::AlreadyDecided);
    assert_eq!(refusal(approvals.consume(denied, &binding, "holder", NOW)), ApprovalError::Denied);

    let late = approvals.propose(&proposal(), NOW).unwrap().id();
    assert_eq!(refusal(decide(late, Answer::Approve, NOW + WEEK)), ApprovalError::Expired);
    let unknown = ApprovalId::new(99);
    assert!(
        matches!(decide(unknown, Answer::Deny, NOW), Err(StoreError::UnknownApproval(id)) if id == unknown)
    );
}

#[test]
fn an_answer_is_used_by_one_holder_for_one_act() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let id = approvals.propose(&proposal(), NOW).unwrap().id();
    let binding = proposal().binding().to_owned();
    let consume = |binding: &str, holder: &str, now| approvals.consume(id, binding, holder, now);
    assert_eq!(refusal(consume(&binding, "a", NOW)), ApprovalError::NotDecided);
    approvals.decide(id, Answer::Approve, "dana", NOW).unwrap();
    let other_act = Proposal::new(vec![Action::delete("new.txt")], Risk::Ask, "r", "why");
    assert_eq!(refusal(consume(other_act.binding(), "a", NOW)), ApprovalError::WrongBinding);
    assert_eq!(refusal(consume("", "a", NOW)), ApprovalError::WrongBinding);
    assert_eq!(refusal(consume(&binding, "a", NOW + WEEK)), ApprovalError::Expired);
    consume(&binding, "a", NOW + 1).unwrap();
    let rows = fs::read(place.file("approvals.tsv")).unwrap();
    assert_eq!(consume(&binding, "a", NOW + 2).unwrap().holder(), Some("a"));
    assert_eq!(fs::read(place.file("approvals.tsv")).unwrap(), rows, "asking again writes nothing");
    assert_eq!(refusal(consume(&binding, "b", NOW + 2)), ApprovalError::OtherHolder);
    assert_eq!(refusal(consume(&binding, "a", NOW + WEEK)), ApprovalError::Expired);
    assert_eq!(
        refusal(place.approvals().unwrap().consume(id, &binding, "b", NOW)),
        ApprovalError::OtherHolder
    );
}

#[test]
fn whoever_decides_or_uses_has_a_name() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let id = approvals.propose(&proposal(), NOW).unwrap().id();
    assert_eq!(refusal(approvals.decide(id, Answer::Approve, "", NOW)), ApprovalError::Unnamed);
    approvals.decide(id, Answer::Approve, "dana", NOW).unwrap();
    assert_eq!(refusal(approvals.consume(id, proposal().binding(), "", NOW)), ApprovalError::Unnamed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_text_survives(texts in prop::array::uniform6("[\\PC\t\n\r\\\\\0tn]{1,12}")) {
        let place = Place::new();
        let [path, rule, reason, session, by, holder] = texts;
        let proposal = Proposal::new(vec![Action::edit(path)], Risk::Ask, rule, reason).session(session);
        let approvals = place.approvals().unwrap();
        let id = approvals.propose(&proposal, NOW).unwrap().id();
        approvals.decide(id, Answer::Approve, &by, NOW).unwrap();
        let used = approvals.consume(id, proposal.binding(), &holder, NOW).unwrap();
        prop_assert_eq!(place.approvals().unwrap().get(id, NOW).unwrap(), Some(used));
    }
}

#[test]
fn expiry_shows_without_being_written() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let id = approvals.propose(&proposal().expires_ms(NOW + 5), NOW).unwrap().id();
    let status = |now| approvals.get(id, now).unwrap().unwrap().status();
    assert_eq!(status(NOW + 4), ApprovalStatus::Proposed);
    assert_eq!(status(NOW + 5), ApprovalStatus::Expired);
    assert_eq!(approvals.list(NOW + 5).unwrap()[0].status(), ApprovalStatus::Expired);
    assert!(approvals.get(ApprovalId::new(7), NOW).unwrap().is_none());
}

#[test]
fn handles_see_each_other() {
    let place = Place::new();
    let (asking, answering) = (place.approvals().unwrap(), place.approvals().unwrap());
    let id = asking.propose(&proposal(), NOW).unwrap().id();
    answering.decide(id, Answer::Approve, "dana", NOW).unwrap();
    assert_eq!(asking.get(id, NOW).unwrap().unwrap().status(), ApprovalStatus::Approved);
    assert_eq!(answering.propose(&proposal(), NOW).unwrap().id(), ApprovalId::new(2));
    assert_eq!(asking.propose(&proposal(), NOW).unwrap().id(), ApprovalId::new(3));
}

#[test]
fn every_cut_of_the_last_two_rows_recovers() {
    let place = written();
    let path = place.file("approvals.tsv");
    let (whole, head) = (fs::read(&path).unwrap(), place.state_path().join("approvals.head"));
    let noted = fs::read(&head).unwrap();
    for cut in last_lines(&whole, 2)..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        fs::write(&head, &noted).unwrap();
        let approvals = place.approvals().unwrap();
        // The row that used the answer is gone, so the answer must not be usable again.
        let lost = cut < whole.len() - 1;
        let first = ApprovalId::new(1);
        if lost {
            assert_eq!(approvals.get(first, NOW).unwrap().unwrap().status(), ApprovalStatus::Expired);
        }
        let used = approvals.consume(first, proposal().binding(), "thief", NOW + 5);
        assert_eq!(refusal(used), if lost { ApprovalError::Expired } else { ApprovalError::OtherHolder });
        assert_eq!(approvals.propose(&proposal(), NOW + 6).unwrap().id(), ApprovalId::new(3), "cut {cut}");
        let torn = cut - last_lines_or_end(&whole[..cut]);
        let repairs = approvals.repairs();
        assert_eq!(repairs.iter().map(|repair| repair.bytes()).sum::<u64>(), torn as u64);
        for repair in repairs {
            assert_eq!(fs::read(repair.kept()).unwrap(), &whole[cut - torn..cut]);
        }
        assert_eq!(place.approvals().unwrap().list(NOW).unwrap().len(), 3);
    }
}

fn last_lines_or_end(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

#[test]
fn a_torn_row_that_was_never_acknowledged_costs_nothing() {
    let place = written();
    let path = place.file("approvals.tsv");
    let (whole, head) = (fs::read(&path).unwrap(), place.state_path().join("approvals.head"));
    let noted = fs::read(&head).unwrap();
    place.approvals().unwrap().propose(&proposal(), NOW).unwrap();
    let longer = fs::read(&path).unwrap();
    for cut in whole.len()..longer.len() {
        fs::write(&path, &longer[..cut]).unwrap();
        fs::write(&head, &noted).unwrap();
        let approvals = place.approvals().unwrap();
        let new = approvals.propose(&proposal(), NOW).unwrap().id().get();
        // All but the newline arrived: the row is whole and stays.
        assert_eq!(new, if cut == longer.len() - 1 { 4 } else { 3 });
        assert_eq!(
            approvals.get(ApprovalId::new(1), NOW).unwrap().unwrap().status(),
            ApprovalStatus::Consumed
        );
    }
}

#[test]
fn every_changed_byte_is_damage_and_nothing_is_written() {
    let place = written();
    let path = place.file("approvals.tsv");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bad = whole.clone();
        bad[at] ^= [0x01, 0x20, 0x80][at % 3];
        fs::write(&path, &bad).unwrap();
        let line = whole[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        assert_eq!(damaged_line(place.approvals()), line, "byte {at}");
        assert_eq!(fs::read(&path).unwrap(), bad);
    }
}

#[test]
fn damage_stops_an_open_handle_too() {
    let place = written();
    let approvals = place.approvals().unwrap();
    let path = place.file("approvals.tsv");
    let whole = fs::read_to_string(&path).unwrap();
    let last = whole.lines().last().unwrap();
    fs::write(&path, format!("{whole}{last}\n")).unwrap();
    assert_eq!(damaged_line(approvals.propose(&proposal(), NOW)), 7, "a row that was there before");
    assert_eq!(damaged_line(approvals.list(NOW)), 7);
    fs::write(&path, whole.lines().next().unwrap()).unwrap();
    assert!(matches!(approvals.propose(&proposal(), NOW), Err(StoreError::Damaged { .. })));
}

#[test]
fn rows_of_another_key_never_count() {
    let place = written();
    fs::write(place.state_path().join("mac.key"), [8; 32]).unwrap();
    assert_eq!(damaged_line(place.approvals()), 2);

    // A row of another user appended behind rows of one's own.
    let (mine, other) = (written(), written());
    fs::write(other.state_path().join("mac.key"), [9; 32]).unwrap();
    fs::remove_file(other.file("approvals.tsv")).unwrap();
    other.approvals().unwrap().propose(&proposal(), NOW).unwrap();
    let foreign = fs::read_to_string(other.file("approvals.tsv")).unwrap();
    let path = mine.file("approvals.tsv");
    let both = fs::read_to_string(&path).unwrap() + foreign.lines().last().unwrap() + "\n";
    fs::write(&path, &both).unwrap();
    assert_eq!(damaged_line(mine.approvals()), 7);
    assert_eq!(fs::read_to_string(&path).unwrap(), both);
}

#[test]
fn a_file_set_back_lets_no_answer_be_used_twice() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let id = approvals.propose(&proposal(), NOW).unwrap().id();
    approvals.decide(id, Answer::Approve, "dana", NOW).unwrap();
    let path = place.file("approvals.tsv");
    let unused = fs::read(&path).unwrap();
    approvals.consume(id, proposal().binding(), "a", NOW).unwrap();
    let used = fs::read(&path).unwrap();

    fs::write(&path, &unused).unwrap();
    let again = place.approvals().unwrap();
    assert_eq!(refusal(again.consume(id, proposal().binding(), "b", NOW)), ApprovalError::Expired);
    fs::write(&path, &used).unwrap();
    let again = place.approvals().unwrap();
    assert_eq!(refusal(again.consume(id, proposal().binding(), "b", NOW)), ApprovalError::OtherHolder);

    fs::remove_file(&path).unwrap();
    let again = place.approvals().unwrap();
    assert!(again.list(NOW).unwrap().is_empty());
    assert_eq!(again.propose(&proposal(), NOW).unwrap().id(), ApprovalId::new(2), "ids are never reused");
    fs::write(&path, &unused).unwrap();
    let again = place.approvals().unwrap();
    assert_eq!(refusal(again.consume(id, proposal().binding(), "b", NOW)), ApprovalError::Expired);
}

#[test]
fn planted_zero_bytes_are_cut_off_and_kept() {
    let place = written();
    let path = place.file("approvals.tsv");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &[0; 4096]].concat()).unwrap();
    let approvals = place.approvals().unwrap();
    approvals.propose(&proposal(), NOW).unwrap();
    let repairs = approvals.repairs();
    assert_eq!(repairs[0].bytes(), 4096);
    assert_eq!(fs::read(repairs[0].kept()).unwrap(), [0; 4096]);
    assert!(fs::read(&path).unwrap().starts_with(&whole));
    let mut holed = whole.clone();
    holed[200..300].fill(0);
    fs::write(&path, holed).unwrap();
    damaged_line(place.approvals());
}

#[test]
fn a_newer_file_is_left_alone() {
    let place = written();
    let path = place.file("approvals.tsv");
    let newer = fs::read_to_string(&path).unwrap().replace("vanta-approvals/1", "vanta-approvals/2");
    fs::write(&path, &newer).unwrap();
    assert!(matches!(place.approvals(), Err(StoreError::TooNew { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn links_and_other_files_in_the_way_are_refused() {
    let place = Place::new();
    let elsewhere = place.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, place.root().join(".vanta")).unwrap();
    assert!(matches!(VantaDir::open(&place.root()), Err(StoreError::NotAFolder { .. })));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(place.root().join(".vanta")).unwrap();
    fs::write(place.root().join(".vanta"), "").unwrap();
    assert!(matches!(VantaDir::open(&place.root()), Err(StoreError::NotAFolder { .. })));

    fs::remove_file(place.root().join(".vanta")).unwrap();
    let _ = place.vanta();
    let target = place.dir.path().join("target");
    fs::write(&target, "").unwrap();
    symlink(&target, place.file("approvals.tsv")).unwrap();
    assert!(matches!(place.approvals(), Err(StoreError::NotAFile { .. })));
    assert_eq!(fs::read(&target).unwrap(), b"");
}

#[test]
fn a_key_is_made_once_however_many_ask() {
    let place = Place::new();
    let (key, state) = (place.state_path().join("mac.key"), StateDir::at(place.state_path()).unwrap());
    let vanta = place.vanta();
    fs::remove_file(&key).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Approvals::open(&vanta, &state).unwrap().propose(&proposal(), NOW).unwrap());
        }
    });
    assert_eq!(fs::read(&key).unwrap().len(), 32);
    assert_ne!(fs::read(&key).unwrap(), [7; 32]);
    assert_eq!(place.approvals().unwrap().list(NOW).unwrap().len(), 8);
    let left: Vec<_> =
        fs::read_dir(place.state_path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    fs::write(&key, "short").unwrap();
    assert!(matches!(place.approvals(), Err(StoreError::BadKey { .. })));
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_its_path() {
    let place = Place::new();
    let missing = place.root().join("missing");
    match VantaDir::open(&missing) {
        Err(StoreError::Io { path, .. }) => assert_eq!(path, missing.join(".vanta")),
        other => panic!("{other:?}"),
    }
    fs::set_permissions(place.root(), fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser may write anywhere.
    if fs::write(place.root().join("probe"), "").is_err() {
        assert!(matches!(VantaDir::open(&place.root()), Err(StoreError::Io { .. })));
    }
}
