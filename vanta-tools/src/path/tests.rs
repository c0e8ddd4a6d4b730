use std::io::Read;
use std::os::unix::fs::symlink;

use super::*;

struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("root/sub")).unwrap();
        fs::create_dir_all(dir.path().join("root-evil")).unwrap();
        fs::write(dir.path().join("root/in.txt"), "inside").unwrap();
        fs::write(dir.path().join("root-evil/out.txt"), "outside").unwrap();
        Self { dir }
    }

    fn path(&self, below: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(below)
    }

    fn scope(&self) -> Scope {
        Scope::new(self.path("root").to_str().unwrap()).home(self.path("root/sub").to_str().unwrap())
    }

    fn locate(&self, asked: &str) -> Result<Place, FileError> {
        Place::locate(&self.scope(), asked)
    }
}

fn content(place: &Place) -> Result<String, FileError> {
    let mut text = String::new();
    place.open_file()?.0.read_to_string(&mut text).unwrap();
    Ok(text)
}

#[test]
fn spellings_of_one_place_are_one_place() {
    let tree = Tree::new();
    symlink("in.txt", tree.path("root/link")).unwrap();
    symlink(tree.path("root"), tree.path("root/sub/up")).unwrap();
    let absolute = tree.path("root/in.txt");
    for asked in
        ["in.txt", "./sub/../in.txt", "link", "sub/up/sub/up/link", "~/../in.txt", absolute.to_str().unwrap()]
    {
        let place = tree.locate(asked).unwrap();
        assert_eq!((place.shown(), place.described()), ("in.txt", absolute.to_str().unwrap()), "{asked}");
        assert_eq!(content(&place).unwrap(), "inside");
    }
}

#[test]
fn what_leads_out_is_described_as_outside() {
    let tree = Tree::new();
    symlink("../root-evil/out.txt", tree.path("root/b")).unwrap();
    symlink("b", tree.path("root/a")).unwrap();
    symlink("../../root-evil/new.txt", tree.path("root/sub/dangling")).unwrap();
    for (asked, real) in [
        ("a", "root-evil/out.txt"),
        ("../root-evil/out.txt", "root-evil/out.txt"),
        ("sub/dangling", "root-evil/new.txt"),
        ("sub/../../root-evil/deep/x", "root-evil/deep/x"),
    ] {
        let place = tree.locate(asked).unwrap();
        assert!(!place.is_inside(), "{asked}");
        assert_eq!(place.described(), tree.path(real).to_str().unwrap());
    }
    assert_eq!(content(&tree.locate("a").unwrap()).unwrap(), "outside");
}

#[test]
fn a_root_reached_through_a_link_keeps_its_spelling() {
    let tree = Tree::new();
    symlink("root", tree.path("alias")).unwrap();
    let alias = tree.path("alias");
    let place = Place::locate(&Scope::new(alias.to_str().unwrap()), "in.txt").unwrap();
    assert_eq!(place.described(), alias.join("in.txt").to_str().unwrap());
    assert_eq!(content(&place).unwrap(), "inside");
}

#[test]
fn paths_that_mean_nothing_are_refused() {
    let tree = Tree::new();
    symlink("loop2", tree.path("root/loop1")).unwrap();
    symlink("loop1", tree.path("root/loop2")).unwrap();
    assert!(matches!(tree.locate(""), Err(FileError::Argument(_))));
    assert!(matches!(tree.locate("a\0b"), Err(FileError::Argument(_))));
    assert!(matches!(Place::locate(&Scope::new("."), "in.txt"), Err(FileError::Argument(_))));
    assert!(matches!(tree.locate("loop1"), Err(FileError::TooManyLinks { .. })));
    assert!(matches!(tree.locate("in.txt/child"), Err(FileError::NotAFolder { .. })));
    assert!(matches!(tree.locate("new/../../root-evil/x"), Err(FileError::Missing { .. })));
    assert!(matches!(tree.locate(&"d/".repeat(2000)), Ok(_) | Err(FileError::Io { .. })));
    assert!(matches!(tree.locate(&"d".repeat(4000)), Err(FileError::Io { .. })));
}

#[test]
fn a_path_longer_than_any_is_refused_at_once_in_few_words() {
    let tree = Tree::new();
    for asked in ["a".repeat(200_000), "d/".repeat(100_000), format!("in.txt{}", "/.".repeat(2100))] {
        let begun = std::time::Instant::now();
        let refusal = tree.locate(&asked).unwrap_err().to_string();
        assert!(refusal.len() < 100 && begun.elapsed() < std::time::Duration::from_secs(1), "{refusal}");
    }
}

#[test]
fn only_the_cleared_place_is_opened() {
    let tree = Tree::new();
    fs::create_dir(tree.path("root/other")).unwrap();
    let judged = [Action::read(tree.locate("in.txt").unwrap().described())];
    assert!(Place::cleared(&tree.scope(), "in.txt", &judged).is_ok());
    fs::remove_file(tree.path("root/in.txt")).unwrap();
    symlink("../root-evil/out.txt", tree.path("root/in.txt")).unwrap();
    assert!(matches!(Place::cleared(&tree.scope(), "in.txt", &judged), Err(FileError::Changed { .. })));
}

#[test]
fn a_link_swapped_in_after_the_check_is_not_followed() {
    let tree = Tree::new();
    fs::write(tree.path("root/sub/out.txt"), "inside").unwrap();
    let place = tree.locate("sub/out.txt").unwrap();
    let last = tree.locate("in.txt").unwrap();
    fs::remove_dir_all(tree.path("root/sub")).unwrap();
    symlink("../root-evil", tree.path("root/sub")).unwrap();
    fs::remove_file(tree.path("root/in.txt")).unwrap();
    symlink("../root-evil/out.txt", tree.path("root/in.txt")).unwrap();
    for place in [place, last] {
        assert!(matches!(content(&place), Err(FileError::Changed { .. })), "{place:?}");
        assert!(place.kind().is_err() || place.kind().unwrap() == Some(Kind::Link));
    }
    assert!(tree.locate("sub/x").unwrap().make_parent().is_ok(), "a judged outside place may be made");
}

#[test]
fn other_than_files_are_refused_by_type() {
    let tree = Tree::new();
    let made = std::process::Command::new("mkfifo").arg(tree.path("root/pipe")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(tree.path("root/sock")).unwrap();
    for asked in ["pipe", "sock", "sub", ".", "/dev/zero", "/"] {
        assert!(
            matches!(tree.locate(asked).unwrap().open_file(), Err(FileError::Unsuitable { .. })),
            "{asked}"
        );
    }
    #[cfg(target_os = "linux")]
    assert!(matches!(
        tree.locate("/proc/self/environ").unwrap().open_file(),
        Err(FileError::Unsuitable { .. })
    ));
}

#[test]
fn near_names_are_found() {
    let tree = Tree::new();
    assert_eq!(tree.locate("inn.txt").unwrap().near_names(), ["in.txt"]);
    assert!(tree.locate("zzz").unwrap().near_names().is_empty());
}
