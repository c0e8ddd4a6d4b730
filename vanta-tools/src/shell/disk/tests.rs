use std::os::unix::fs::symlink;

use super::*;

struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tree = Self { dir };
        for folder in ["root/sub", "root/.vanta", "beside/deep"] {
            fs::create_dir_all(tree.path(folder)).unwrap();
        }
        for file in
            ["root/full", "root/sub/full", "root/.vanta/approvals.tsv", "beside/key", "beside/deep/key"]
        {
            fs::write(tree.path(file), "content").unwrap();
        }
        fs::write(tree.path("root/empty"), "").unwrap();
        for (target, link) in [
            ("../beside/key", "root/notes.txt"),
            (".vanta/approvals.tsv", "root/ap.txt"),
            ("../beside/deep", "root/away"),
            ("full", "root/near"),
            ("nothing", "root/dangling"),
        ] {
            symlink(target, tree.path(link)).unwrap();
        }
        tree
    }

    fn path(&self, below: &str) -> String {
        fs::canonicalize(self.dir.path()).unwrap().join(below).to_str().unwrap().to_owned()
    }

    /// What is described beside `command`, in a scope without temp folders around it.
    fn facts(&self, command: &str) -> Vec<Action> {
        facts(&Action::shell(command), &Scope::new(self.path("root")))
    }
}

#[test]
fn paths_that_go_through_links_are_described_as_what_they_are() {
    let tree = Tree::new();
    let (key, deep) = (tree.path("beside/key"), tree.path("beside/deep/key"));
    let approvals = tree.path("root/.vanta/approvals.tsv");
    for (command, expected) in [
        ("cat notes.txt", Action::read(&key)),
        ("cat ./sub/../notes.txt", Action::read(&key)),
        ("f=notes; cat \"$f.txt\"", Action::read(&key)),
        ("bash -c 'cat < notes.txt'", Action::read(&key)),
        ("cat *.txt", Action::read(&key)),
        ("cat n?tes.[t]xt", Action::read(&key)),
        ("cat */key", Action::read(&deep)),
        ("for f in *; do cat \"$f\"; done", Action::read(&key)),
        ("echo more >> notes.txt", Action::edit(&key)),
        ("echo junk >> ap.txt", Action::edit(&approvals)),
        ("cp full notes.txt", Action::edit(&key)),
        ("rm away/key", Action::delete(&deep)),
        ("cd away && ls", Action::list(tree.path("beside/deep"))),
        ("cat away/../key", Action::edit(&key)),
        ("sh notes.txt", Action::read(&key)),
        ("echo x > dangling", Action::edit(tree.path("root/nothing"))),
    ] {
        assert!(tree.facts(command).contains(&expected), "{command}: {:?}", tree.facts(command));
    }
}

#[test]
fn links_named_to_programs_whose_paths_are_not_known_are_described() {
    let tree = Tree::new();
    let key = Action::read(tree.path("beside/key"));
    for command in [
        "base64 notes.txt",
        "git hash-object notes.txt",
        "patch full notes.txt",
        "mv notes.txt x && cat x",
        "ln -s notes.txt y; cat y",
        "cd sub && base64 ../notes.txt",
    ] {
        assert!(tree.facts(command).contains(&key), "{command}: {:?}", tree.facts(command));
    }
}

#[test]
fn what_goes_through_no_link_needs_no_more_words() {
    let tree = Tree::new();
    for command in [
        "cat full",
        "cat sub/*",
        "ls",
        "cargo test",
        "rm notes.txt",
        "mv notes.txt other",
        "cat sub/../full",
        "cat no",
    ] {
        assert_eq!(tree.facts(command), [], "{command}");
    }
}

#[test]
fn an_interpreter_of_a_virtual_environment_is_no_surprise() {
    let tree = Tree::new();
    fs::create_dir_all(tree.path("root/.venv/bin")).unwrap();
    symlink("/bin/sh", tree.path("root/.venv/bin/python")).unwrap();
    assert_eq!(tree.facts(".venv/bin/python -m pytest"), []);
}

#[test]
fn files_with_content_that_would_be_replaced_are_described() {
    let tree = Tree::new();
    let (full, below) = (tree.path("root/full"), tree.path("root/sub/full"));
    let cases = [
        ("echo x > full", &full),
        ("echo x >| full", &full),
        ("ls &> full", &full),
        ("ls 2>full", &full),
        ("o=full; echo x > \"$o\"", &full),
        ("bash -c 'echo x > full'", &full),
        ("(echo a; echo b) > ./full", &full),
        ("cat > full <<'E'\nx\nE", &full),
        ("echo x > near", &full),
        ("cp empty full", &full),
        ("mv empty full 2>> log", &full),
        ("cp full sub", &below),
        ("cp -t sub full", &below),
        ("cp f* sub/", &below),
        ("install -m 644 full sub/", &below),
        ("echo x | tee full", &full),
        ("echo x | sudo tee full", &full),
        // `dd of=` is not among them: the kernel asks about it whether the file is there or not.
        ("ln -f empty full", &full),
    ];
    for (command, path) in cases {
        assert!(
            tree.facts(command).contains(&Action::overwrite(path)),
            "{command}: {:?}",
            tree.facts(command)
        );
    }
    fs::create_dir_all(tree.path("root/other/sub")).unwrap();
    fs::write(tree.path("root/other/sub/full"), "kept").unwrap();
    let merged = [Action::overwrite(tree.path("root/other/sub"))];
    assert_eq!(tree.facts("cp -r sub other"), merged);
    assert_eq!(tree.facts("cp -r sub/. other/sub"), merged);
}

#[test]
fn what_keeps_content_is_not_called_replacing() {
    let tree = Tree::new();
    for command in [
        "echo x >> full",
        "echo x &>> full",
        "echo x | tee -a full",
        "echo x | tee --append full",
        "cp -n empty full",
        "echo x > empty",
        "echo x > new",
        "cp full new",
        "cp full new && echo x >> full",
        "mv full new",
        "ls > /dev/null 2>&1",
        "gcc -o full x.c",
        "touch full",
        "sed -i s/a/b/ full",
        "cp -r sub fresh",
    ] {
        let facts = tree.facts(command);
        assert!(
            !facts.iter().any(|fact| matches!(fact, Action::Write { replaces: true, .. })),
            "{command}: {facts:?}"
        );
    }
}

#[test]
fn more_files_than_can_be_looked_at_are_a_question() {
    let tree = Tree::new();
    let command = "cat a b c d e f g h; ".repeat(MAX_LOOKS / 8 + 1);
    assert!(matches!(tree.facts(&command).as_slice(), [Action::Tool { .. }]));
}
