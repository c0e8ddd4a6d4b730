use std::fs;
use std::os::unix::fs::symlink;

use vanta_core::{CancelToken, Scope, Slots};

use super::*;

struct Desk {
    root: tempfile::TempDir,
    slots: Slots,
}

impl Desk {
    fn new(text: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("f"), text).unwrap();
        Self { root, slots: Slots::default() }
    }

    fn work(&self) -> Work {
        let scope = Scope::new(self.root.path().to_str().unwrap());
        let actions = vec![Action::edit(Place::locate(&scope, "f").unwrap().described())];
        Work { scope, slots: self.slots.clone(), actions, cancel: CancelToken::new() }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.root.path().join("f")).unwrap()
    }
}

fn args(old: &str, new: &str) -> EditFileArgs {
    EditFileArgs {
        path: "f".into(),
        old_string: old.into(),
        new_string: new.into(),
        replace_all: false,
        more_edits: Vec::new(),
    }
}

#[test]
fn sixty_four_edits_at_once_are_all_there() {
    let lines: String = (0..64).map(|i| format!("line {i:02}\n")).collect();
    let desk = Desk::new(&lines);
    std::thread::scope(|scope| {
        for i in 0..64 {
            let work = desk.work();
            scope
                .spawn(move || edit(&args(&format!("line {i:02}"), &format!("LINE {i:02}")), &work).unwrap());
        }
    });
    assert_eq!(desk.text(), lines.replace("line", "LINE"));
    assert_eq!(fs::read_dir(desk.root.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn several_edits_are_all_made_or_none() {
    let desk = Desk::new("a\nb\n");
    let more = |old: &str, new: &str| MoreEdit {
        old_string: old.into(),
        new_string: new.into(),
        replace_all: false,
    };
    let mut both = args("a", "x");
    both.more_edits = vec![more("x", "y"), more("nowhere", "z")];
    let refused = edit(&both, &desk.work()).unwrap_err().to_string();
    assert!(refused.contains("edit 3 of 3") && desk.text() == "a\nb\n", "{refused}");
    both.more_edits.pop();
    assert_eq!(
        edit(&both, &desk.work()).unwrap(),
        "edited `f`: 1 replacement at line 1; 1 replacement at line 1"
    );
    assert_eq!(desk.text(), "y\nb\n");
}

#[test]
fn a_link_swapped_in_after_the_judgement_is_refused() {
    let desk = Desk::new("a\n");
    let beside = tempfile::tempdir().unwrap();
    fs::write(beside.path().join("victim"), "a\n").unwrap();
    let work = desk.work();
    fs::remove_file(desk.root.path().join("f")).unwrap();
    symlink(beside.path().join("victim"), desk.root.path().join("f")).unwrap();
    assert!(matches!(edit(&args("a", "b"), &work), Err(FileError::Changed { .. })));
    assert_eq!(fs::read_to_string(beside.path().join("victim")).unwrap(), "a\n");
}

#[test]
fn a_change_by_someone_else_is_kept_and_told() {
    let desk = Desk::new("a\nb\n");
    desk.slots
        .get::<Seen>()
        .record(&fs::canonicalize(desk.root.path().join("f")).unwrap(), Print::of(b"a\n"));
    assert!(edit(&args("a", "x"), &desk.work()).unwrap().contains("changed by someone else"));
    assert_eq!(desk.text(), "x\nb\n");
}

#[test]
fn an_edit_that_was_cancelled_meanwhile_saves_nothing() {
    let desk = Desk::new("old");
    let work = desk.work();
    work.cancel.cancel();
    assert!(matches!(edit(&args("old", "new"), &work), Err(FileError::Cancelled)));
    assert_eq!(desk.text(), "old");
}

#[tokio::test]
async fn a_call_that_was_dropped_saves_nothing() {
    let desk = Desk::new("old");
    let (begun, beginning) = tokio::sync::oneshot::channel();
    let (end, ending) = std::sync::mpsc::channel();
    let (done, result) = std::sync::mpsc::channel();
    let call = desk.work().run(move |work| {
        begun.send(()).unwrap();
        ending.recv().unwrap();
        done.send(matches!(edit(&args("old", "new"), work), Err(FileError::Cancelled))).unwrap();
        Ok(String::new())
    });
    let call = tokio::spawn(call);
    beginning.await.unwrap();
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    end.send(()).unwrap();
    let refused = tokio::task::spawn_blocking(move || result.recv().unwrap()).await.unwrap();
    assert!(refused && desk.text() == "old");
}
