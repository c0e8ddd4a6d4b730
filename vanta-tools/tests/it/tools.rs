//! Behaviour beyond the cases: many calls at once, and worlds that change between the judgement and the act.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vanta_core::approver::{Approver, Decision, Question};
use vanta_core::tool::EffectClass;
use vanta_core::{Action, CancelToken};
use vanta_tools::builtin;

use crate::session::{Session, stage};

/// A root and a folder beside it.
struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    beside: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = stage();
        let real = fs::canonicalize(dir.path()).unwrap();
        let (root, beside) = (real.join("work"), real.join("beside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&beside).unwrap();
        Self { _dir: dir, root, beside }
    }
}

/// A person who says yes, but only after the world has changed.
struct Meanwhile<F>(F);

impl<F> std::fmt::Debug for Meanwhile<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

#[async_trait::async_trait]
impl<F: Fn() + Send + Sync> Approver for Meanwhile<F> {
    async fn decide(&self, _: &Question) -> Decision {
        (self.0)();
        Decision::Approve
    }
}

fn swap_for_link(path: &Path, target: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap()
    } else {
        fs::remove_file(path).unwrap()
    }
    symlink(target, path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_edits_of_one_file_are_all_there() {
    let place = Place::new();
    let lines: String = (0..64).map(|i| format!("line {i:02}\n")).collect();
    fs::write(place.root.join("f"), &lines).unwrap();
    let session = Session::new(&place.root, builtin(), true);
    let edit = |i: usize| {
        let args =
            json!({"path": "f", "old_string": format!("line {i:02}"), "new_string": format!("LINE {i:02}")});
        let session = &session;
        async move { session.call("edit_file", &args).await }
    };
    for answer in futures_util::future::join_all((0..64).map(edit)).await {
        assert!(answer.is_ok(), "{}", answer.output());
    }
    assert_eq!(fs::read_to_string(place.root.join("f")).unwrap(), lines.replace("line", "LINE"));
}

#[tokio::test]
async fn a_link_swapped_in_while_a_person_thinks_leads_nowhere() {
    let place = Place::new();
    fs::write(place.beside.join("f"), "secret").unwrap();
    let victim = place.beside.join("f");
    for (tool, args) in [
        ("write_file", json!({"path": "d/f", "content": "new"})),
        ("edit_file", json!({"path": "d/f", "old_string": "o", "new_string": "n"})),
    ] {
        for whole_folder in [false, true] {
            let _ = fs::remove_file(place.root.join("d"));
            let _ = fs::remove_dir_all(place.root.join("d"));
            fs::create_dir(place.root.join("d")).unwrap();
            fs::write(place.root.join("d/f"), "o").unwrap();
            let (root, beside) = (place.root.clone(), place.beside.clone());
            let person = Meanwhile(move || match whole_folder {
                true => swap_for_link(&root.join("d"), &beside),
                false => swap_for_link(&root.join("d/f"), &beside.join("f")),
            });
            let answer = Session::with(&place.root, builtin(), person).call(tool, &args).await;
            // An edit inside the root may need nobody; then there was no time to swap anything.
            let asked = place.root.join("d").is_symlink() || place.root.join("d/f").is_symlink();
            assert!(
                !asked || answer.output().contains("changed since it was cleared"),
                "{}",
                answer.output()
            );
            assert_eq!(fs::read_to_string(&victim).unwrap(), "secret");
        }
    }
}

#[tokio::test]
async fn an_approved_outside_path_is_opened_only_while_it_is_that_path() {
    let place = Place::new();
    fs::write(place.beside.join("note"), "harmless").unwrap();
    fs::write(place.beside.join("key"), "secret").unwrap();
    symlink(place.beside.join("note"), place.root.join("link")).unwrap();
    let read = json!({"path": "link"});
    let approved = Session::new(&place.root, builtin(), true).call("read_file", &read).await;
    assert!(approved.is_ok() && approved.output().contains("harmless"), "{}", approved.output());
    let (link, key) = (place.root.join("link"), place.beside.join("key"));
    let person = Meanwhile(move || swap_for_link(&link, &key));
    let swapped = Session::with(&place.root, builtin(), person).call("read_file", &read).await;
    assert!(!swapped.is_ok() && swapped.output().contains("changed"), "{}", swapped.output());
}

#[tokio::test]
async fn a_file_that_appears_or_goes_while_a_person_thinks_is_not_touched() {
    let place = Place::new();
    let (there, hook) = (place.root.join("there"), place.root.join(".git/hooks/post-commit"));
    fs::write(&there, "old").unwrap();
    fs::create_dir_all(place.root.join(".git/hooks")).unwrap();
    let (gone, new) = (there.clone(), hook.clone());
    let write = |path: &str| json!({"path": path, "content": "agent"});
    let deleting = Meanwhile(move || fs::remove_file(&gone).unwrap());
    let answer = Session::with(&place.root, builtin(), deleting).call("write_file", &write("there")).await;
    assert!(!answer.is_ok() && !there.exists(), "{}", answer.output());
    let creating = Meanwhile(move || fs::write(&new, "human").unwrap());
    let answer = Session::with(&place.root, builtin(), creating)
        .call("write_file", &write(".git/hooks/post-commit"))
        .await;
    assert!(!answer.is_ok() && fs::read_to_string(&hook).unwrap() == "human", "{}", answer.output());
}

#[tokio::test]
async fn a_cancelled_command_says_so_and_is_gone() {
    let place = Place::new();
    let session = Session::new(&place.root, builtin(), true);
    let cancel = CancelToken::new();
    let token = cancel.clone();
    let canceller = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel();
    });
    let begun = Instant::now();
    let file = place.root.join("still-there");
    let command = json!({"command": "echo begun; sleep 2; touch still-there"});
    let answer = session.call_until("shell", &command, cancel).await;
    canceller.await.unwrap();
    assert!(!answer.is_ok() && begun.elapsed() < Duration::from_secs(2), "{}", answer.output());
    tokio::time::sleep(Duration::from_millis(2200)).await;
    assert!(!file.exists());
}

#[tokio::test]
async fn descriptions_name_paths_and_commands_and_never_content() {
    let place = Place::new();
    fs::write(place.root.join("f"), "x").unwrap();
    let scope = std::sync::Arc::new(vanta_core::Scope::new(place.root.to_str().unwrap()));
    let cx = vanta_core::tool::DescribeContext::new(scope, vanta_core::Slots::default());
    let path = place.root.join("f").to_str().unwrap().to_owned();
    let describe = async |tool: &str, args: Value| {
        let tools = builtin();
        tools.get(tool).unwrap().describe_for_safety(args.as_object().unwrap(), &cx).await.unwrap()
    };
    assert_eq!(describe("read_file", json!({"path": "./f"})).await, [Action::read(&path)]);
    assert_eq!(
        describe("write_file", json!({"path": "f", "content": "SECRET"})).await,
        [Action::overwrite(&path)]
    );
    let edit = json!({"path": "f", "old_string": "SECRET", "new_string": "SECRET"});
    assert_eq!(describe("edit_file", edit).await, [Action::edit(&path)]);
    assert_eq!(describe("list_dir", json!({})).await, [Action::list(place.root.to_str().unwrap())]);
    assert_eq!(describe("shell", json!({"command": "ls -l"})).await, [Action::shell("ls -l")]);
}

#[test]
fn effects_are_declared() {
    let effects: Vec<_> =
        builtin().specs().iter().map(|spec| (spec.name().to_owned(), spec.effect())).collect();
    let expected = [
        ("edit_file", EffectClass::Effect),
        ("list_dir", EffectClass::Read),
        ("read_file", EffectClass::Read),
        ("shell", EffectClass::Effect),
        ("write_file", EffectClass::Effect),
    ];
    assert_eq!(effects, expected.map(|(name, effect)| (name.to_owned(), effect)));
}

#[tokio::test]
async fn commands_do_not_go_through_links_unasked() {
    let place = Place::new();
    let (root, key) = (&place.root, place.beside.join("key"));
    fs::create_dir(root.join(".vanta")).unwrap();
    fs::write(&key, "secret").unwrap();
    fs::write(root.join(".vanta/approvals.tsv"), "kept").unwrap();
    fs::write(root.join("full"), "kept").unwrap();
    symlink(&key, root.join("notes.txt")).unwrap();
    symlink(".vanta/approvals.tsv", root.join("ap.txt")).unwrap();
    let (denied, approved) = (Session::new(root, builtin(), false), Session::new(root, builtin(), true));
    for command in
        ["cat notes.txt", "cat *.txt", "echo more >> notes.txt", "echo new > full", "cp notes.txt full"]
    {
        let answer = denied.call("shell", &json!({"command": command})).await;
        assert!(!answer.is_ok() && !answer.output().contains("secret"), "{command}: {}", answer.output());
    }
    // Not even a person lets the boundary's own state be changed.
    let blocked = approved.call("shell", &json!({"command": "echo junk >> ap.txt"})).await;
    assert!(!blocked.is_ok(), "{}", blocked.output());
    assert_eq!(fs::read_to_string(&key).unwrap(), "secret");
    assert_eq!(fs::read_to_string(root.join("full")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(root.join(".vanta/approvals.tsv")).unwrap(), "kept");
    let read = approved.call("shell", &json!({"command": "cat notes.txt"})).await;
    assert!(read.is_ok() && read.output().contains("secret"), "{}", read.output());
}

#[tokio::test]
async fn a_command_whose_paths_changed_while_a_person_thinks_does_not_run() {
    let place = Place::new();
    let (root, note, key) = (&place.root, place.beside.join("note"), place.beside.join("key"));
    fs::write(&note, "harmless").unwrap();
    fs::write(&key, "secret").unwrap();
    symlink(&note, root.join("link")).unwrap();
    let (link, hidden) = (root.join("link"), key.clone());
    let person = Meanwhile(move || swap_for_link(&link, &hidden));
    let answer = Session::with(root, builtin(), person).call("shell", &json!({"command": "cat link"})).await;
    assert!(
        !answer.is_ok() && answer.output().contains("changed since it was cleared"),
        "{}",
        answer.output()
    );
    let new = root.join("out");
    let appearing = new.clone();
    let person = Meanwhile(move || fs::write(&appearing, "human").unwrap());
    let command = json!({"command": format!("cat {} > out", note.display())});
    let answer = Session::with(root, builtin(), person).call("shell", &command).await;
    assert!(!answer.is_ok() && fs::read_to_string(&new).unwrap() == "human", "{}", answer.output());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_this_process_holds_open_do_not_reach_commands() {
    use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

    let place = Place::new();
    let low = fs::File::create(place.root.join("held-open")).unwrap();
    let high = fcntl_dupfd_cloexec(&low, 200).unwrap();
    fcntl_setfd(&low, FdFlags::empty()).unwrap();
    fcntl_setfd(&high, FdFlags::empty()).unwrap();
    let command = json!({"command": "ls -l /proc/self/fd; echo \"$0 $# $SHLVL\""});
    let answer = Session::new(&place.root, builtin(), true).call("shell", &command).await;
    assert!(answer.is_ok() && !answer.output().contains("held-open"), "{}", answer.output());
    assert!(answer.output().contains("sh 0 "), "{}", answer.output());
}
