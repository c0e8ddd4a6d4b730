//! Which crate may use which, and what only one place may do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// `vanta-core` with everything it needs, the kernel and itself included.
const MOST_CRATES_OF_CORE: usize = 41;

/// Crates that only an HTTP stack brings.
const HTTP: [&str; 9] = ["reqwest", "hyper", "http", "h2", "ureq", "isahc", "curl", "rustls", "native-tls"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn cargo(args: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(args).arg("--offline").current_dir(workspace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every crate that `package` needs in a program, by name.
fn tree(package: &str, more: &[&str]) -> BTreeSet<String> {
    let text = cargo(&[&["tree", "-p", package, "-e", "normal", "--prefix", "none"], more].concat());
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// What `package` names in its manifest, with the kind of each: `null` for a program's, `dev`, `build`.
fn named(package: &str) -> Vec<(String, Option<String>)> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let found = packages.iter().find(|one| one["name"] == package).expect("a package of the workspace");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let dependencies = found["dependencies"].as_array().unwrap();
    dependencies.iter().map(|one| (text(&one["name"]).unwrap(), text(&one["kind"]))).collect()
}

/// The crates of this workspace that `package` may use in a program.
fn own(package: &str) -> BTreeSet<String> {
    let is_own = |name: &String| name.starts_with("vanta");
    let used = named(package).into_iter().filter(|(_, kind)| kind.as_deref() != Some("dev"));
    used.map(|(name, _)| name).filter(is_own).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_kernel_needs_nothing_in_any_feature() {
    for features in [&[][..], &["--all-features"]] {
        assert_eq!(tree("vanta-kernel", features), set(&["vanta-kernel"]));
    }
}

#[test]
fn the_core_is_light_and_has_no_http() {
    let crates = tree("vanta-core", &["--all-features"]);
    assert!(crates.len() <= MOST_CRATES_OF_CORE, "{}: {crates:?}", crates.len());
    assert!(HTTP.iter().all(|name| !crates.contains(*name)), "{crates:?}");
}

#[test]
fn crates_point_one_way() {
    assert_eq!(own("vanta-core"), set(&["vanta-kernel"]));
    assert_eq!(own("vanta-tools"), set(&["vanta-core"]));
    assert_eq!(own("vanta-providers"), set(&["vanta-core"]));
    assert!(!tree("vanta-tools", &["--all-features"]).contains("vanta-providers"));
    assert!(!tree("vanta-providers", &["--all-features"]).contains("vanta-tools"));
    for package in ["vanta-kernel", "vanta-core", "vanta-tools", "vanta-providers", "vanta-cli"] {
        let names: Vec<String> = named(package).into_iter().map(|(name, _)| name).collect();
        for leaf in ["vanta-examples", "vanta-benches", "vanta-cli"] {
            assert!(!names.contains(&leaf.to_owned()), "{package} uses {leaf}");
        }
    }
}

/// The lines of code that hold `word`, as `file: line`; comments and unit tests aside.
fn lines_with(package: &str, word: &str) -> Vec<String> {
    let src = workspace().join(package).join("src");
    let mut found = Vec::new();
    for path in sources(&src).into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//") && line.contains(word));
        let name = path.strip_prefix(&src).unwrap().display().to_string();
        found.extend(lines.map(|line| format!("{name}: {line}")));
    }
    found
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn one_place_starts_processes() {
    let [only] = <[String; 1]>::try_from(lines_with("vanta-tools", "Command::new(")).unwrap();
    assert!(only.starts_with("shell/"), "{only}");
    for package in ["vanta-core", "vanta-providers", "vanta-cli"] {
        assert_eq!(lines_with(package, "Command::new("), [""; 0], "{package}");
        assert_eq!(lines_with(package, "process::Command"), [""; 0], "{package}");
    }
}

#[test]
fn one_place_executes_tools() {
    let calls = lines_with("vanta-core", ".execute(");
    let calls: Vec<&String> = calls.iter().filter(|line| !line.contains("self.execute(")).collect();
    let [only] = calls.as_slice() else { panic!("{calls:?}") };
    assert!(only.starts_with("execute.rs: "), "{only}");
    for package in ["vanta-providers", "vanta-tools", "vanta-cli"] {
        assert_eq!(lines_with(package, ".execute("), [""; 0], "{package}");
    }
}
