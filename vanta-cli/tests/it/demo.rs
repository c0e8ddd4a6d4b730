//! `vanta demo` as a newcomer starts it, but without a terminal and with a home that is watched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::vanta::{Ended, Running, World, tree};

/// The demo's command. Its home and its temp folder are the world's; only the toolchain is the user's own.
fn command(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(args);
    command.env("TMPDIR", place(world, "root"));
    let home = std::env::home_dir().unwrap_or_default();
    for (variable, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        command.env(variable, std::env::var_os(variable).map_or_else(|| home.join(folder), PathBuf::from));
    }
    if let Some(toolchain) = std::env::var_os("RUSTUP_TOOLCHAIN") {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    command
}

fn demo(world: &World, args: &[&str]) -> Ended {
    Running::start(command(world, args)).end()
}

/// A world whose home holds something to lose.
fn world() -> World {
    let world = World::without_model();
    fs::write(place(&world, "home/diary.txt"), "dear diary").unwrap();
    world
}

fn place(world: &World, name: &str) -> PathBuf {
    world.root().parent().unwrap().join(name)
}

#[track_caller]
fn assert_home_untouched(world: &World) {
    let diary = (place(world, "home/diary.txt"), b"dear diary".to_vec());
    assert_eq!(tree(&place(world, "home")), [diary]);
}

#[test]
fn it_asks_blocks_and_ends_green_and_the_commands_it_names_work() {
    let world = world();
    let demo = demo(&world, &["demo"]);
    demo.is(0, &[]);
    let said = |text: &str| assert!(demo.stdout.contains(text), "`{text}` is missing: {demo:#?}");
    assert!(
        demo.stdout.lines().next().is_some_and(|line| line.contains("the model is scripted")),
        "{demo:#?}"
    );
    said("test tests::every_cent_is_paid ... FAILED");
    said("test tests::every_cent_is_paid ... ok");
    said("1 ask, 1 block");
    said("none      shell `rm -rf ~`");
    said("checked: the test is green");
    assert_home_untouched(&world);

    let root = demo.stdout.lines().find_map(|line| line.strip_prefix("scratch crate: ")).map(Path::new);
    let root = root.unwrap();
    assert!(root.starts_with(world.root()), "{root:?}");
    assert!(fs::read_to_string(root.join("src/lib.rs")).unwrap().contains("person < total % people"));
    assert!(!root.join("old_notes.txt").exists());

    for label in ["  vanta sessions show ", "  vanta resume "] {
        let line = demo.stdout.lines().find(|line| line.starts_with(label)).unwrap();
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let ended = world.vanta(&words);
        ended.is(0, &[]);
        assert!(ended.stdout.contains("Wiping the home folder was refused"), "{line}: {ended:#?}");
    }
    assert_home_untouched(&world);
}

#[test]
fn as_json_it_is_events_and_nothing_else() {
    let world = world();
    let scratch = place(&world, "scratch");
    let demo = demo(&world, &["demo", "--json", "--dir", scratch.to_str().unwrap()]);
    demo.is(0, &["the model is scripted"]);
    let lines = demo.lines();
    let count = |risk: &str| lines.iter().filter(|line| line["risk"] == risk).count();
    assert_eq!((count("ask"), count("block")), (1, 1), "{demo:#?}");
    assert!(scratch.join("Cargo.toml").exists());
    assert_home_untouched(&world);
}

#[test]
fn it_does_not_start_without_cargo_or_in_a_folder_that_is_in_use() {
    let world = world();
    let mut without = command(&world, &["demo"]);
    without.env("PATH", place(&world, "state"));
    Running::start(without).end().is(1, &["no `cargo`"]);
    let home = place(&world, "home");
    demo(&world, &["demo", "--dir", home.to_str().unwrap()]).is(2, &["is not empty"]);
    assert_home_untouched(&world);
}
