//! What only one place in this crate may do.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The files under `src` whose code outside tests holds one of `words`.
fn files_with(words: &[&str]) -> Vec<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let holds = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.into_iter().any(|line| words.iter().any(|word| line.contains(word)))
    };
    let found = sources(&src).into_iter().filter(|path| !path.ends_with("tests.rs")).filter(holds);
    let mut names: Vec<String> =
        found.map(|path| path.strip_prefix(&src).unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn one_place_starts_processes() {
    assert_eq!(files_with(&["Command::new", "process_wrap"]), ["shell/job.rs"]);
}

#[test]
fn one_place_opens_and_changes_files() {
    let changing = [
        "openat",
        "renameat",
        "unlinkat",
        "mkdirat",
        "linkat",
        "fs::write",
        "fs::rename",
        "fs::remove",
        "fs::create",
    ];
    assert_eq!(files_with(&changing), ["path/open.rs"]);
    let opening =
        ["File::open", "File::create", "OpenOptions", "fs::read(", "fs::read_to_string", "fs::read_dir"];
    // The exception looks at the environment of processes under /proc, not at files that a tool was asked for.
    assert_eq!(files_with(&opening), ["shell/escaped.rs"]);
}
