//! Files a program is told to write by an option or a later operand, whatever else it does.
//!
//! Writing inside the scope is fine, so only other places are noted; programs with a model of their own add the rest.

use alloc::vec::Vec;

use super::generic::looks_like_path;
use super::{Call, Options};
use crate::shell::flow::Walker;
use crate::shell::value::Value;
use crate::{Effect, PathClass};

impl Walker<'_> {
    pub(super) fn outputs(&mut self, call: &mut Call) {
        if !call.args.iter().any(|a| a.text.contains(['/', '~', '.'])) {
            return;
        }
        let name = call.name.as_str();
        let own = lookup(name);
        let short_is_other = NO_OUTPUT.binary_search(&name).is_ok();
        let takes = |option: &str| {
            own.split(' ').any(|o| o == option) || option == "-o" && !short_is_other || long_output(option)
        };
        let mut targets: Vec<Value> = Vec::new();
        let mut next = false;
        for arg in call.args.iter().take_while(|a| a.text != "--") {
            let text = arg.text.as_str();
            let is_value = core::mem::take(&mut next);
            if let Some((option, value)) = text.split_once('=')
                && option.starts_with('-')
                && (takes(option) || option.ends_with("_out"))
            {
                targets.push(arg.with_text(value));
            } else if let Some(value) = attached(text).filter(|_| takes(text.get(..2).unwrap_or(""))) {
                targets.push(arg.with_text(value));
            } else if text.len() > 1 && text.starts_with('-') {
                next = takes(text);
            } else if is_value {
                targets.push(arg.clone());
            }
        }
        if let Some((_, values)) = SECOND_OPERAND.iter().find(|(program, _)| *program == name) {
            let options = Options::cluster(&call.args, values);
            targets.extend(options.operands.get(1).cloned());
        }
        for target in targets.iter().filter(|t| looks_like_path(&t.text)) {
            self.written_elsewhere(target, call);
        }
    }

    /// `CARGO_TARGET_DIR=~/t cargo build`: a variable that moves what a command writes.
    pub(crate) fn check_folder(&mut self, name: &str, values: &[Value], call: &mut Call) {
        let end = name.rsplit('_').next().unwrap_or(name);
        let output = OUTPUT_VARIABLES.binary_search(&name).is_ok()
            || ["_OUT", "_OUTPUT", "_OUT_DIR", "_OUTPUT_DIR", "_TARGET_DIR", "_CACHE_DIR", "_DEST"]
                .iter()
                .any(|tail| name.ends_with(tail));
        let place =
            matches!(end, "DIR" | "PATH" | "FILE" | "CACHE" | "DEST") && !name.ends_with("LIBRARY_PATH");
        let searched =
            matches!(name, "PATH" | "NODE_PATH" | "PKG_CONFIG_PATH" | "CMAKE_PREFIX_PATH" | "GEM_PATH");
        for value in values.iter().filter(|v| (output || place && !searched) && looks_like_path(&v.text)) {
            let (_, class) = self.place().locate(&value.text);
            // Toolchains lie in system folders, so only an output counts there.
            if output || !matches!(class, PathClass::System | PathClass::Facts) {
                self.written_elsewhere(value, call);
            }
        }
    }

    /// A write that counts only when it leaves the scope or meets something sensitive.
    pub(super) fn written_elsewhere(&mut self, target: &Value, call: &mut Call) {
        let (_, class) = self.place().locate(&target.text);
        if !matches!(class, PathClass::InScope | PathClass::Root | PathClass::Unknown) {
            self.use_path(target, Effect::Write, call);
        }
    }
}

/// `-o../x`: the path behind a single letter.
fn attached(text: &str) -> Option<&str> {
    let tail = text.get(2..).filter(|_| text.starts_with('-') && !text.starts_with("--"))?;
    tail.starts_with(['/', '~', '.']).then_some(tail)
}

fn long_output(option: &str) -> bool {
    let Some(name) = option.strip_prefix("--") else { return false };
    let describes = ["delim", "sep", "format", "color", "style"].iter().any(|w| name.contains(w));
    (name.starts_with("out") || name.starts_with("dest") || LONG.binary_search(&name).is_ok()) && !describes
}

fn lookup(name: &str) -> &'static str {
    OUTPUTS
        .binary_search_by(|(key, _)| (*key).cmp(name))
        .ok()
        .and_then(|i| OUTPUTS.get(i))
        .map_or("", |o| o.1)
}

/// Sorted. Long options that name something written, in any program.
const LONG: &[&str] = &[
    "artifact-dir",
    "basetemp",
    "build-dir",
    "cache-dir",
    "cache-location",
    "dist",
    "dist-dir",
    "export-json",
    "export-markdown",
    "html",
    "junit-xml",
    "junitxml",
    "log-file",
    "pack-destination",
    "report-file",
    "results-dir",
    "save",
    "save-to",
    "site-dir",
    "target-dir",
    "target-directory",
];

/// Sorted. Further options of a program whose value is written.
#[rustfmt::skip]
const OUTPUTS: &[(&str, &str)] = &[
    ("7z", "-o"), ("7za", "-o"), ("bison", "-o"), ("cargo", "--out-dir"), ("csplit", "-f --prefix"), ("dart", "-o"),
    ("fetch", "-o"), ("flamegraph", "-o"), ("go", "-o -coverprofile -cpuprofile -memprofile -trace"), ("gpg", "-o"),
    ("hugo", "-d --destination"), ("jar", "-f -C"), ("javac", "-d -s"), ("javadoc", "-d"), ("jekyll", "-d --destination"),
    ("kotlinc", "-d"), ("mdbook", "-d"), ("mkdocs", "-d"), ("mktemp", "-p --tmpdir"), ("nm", ""), ("npm", "--prefix"),
    ("pip", "-t --target -d --root --prefix"), ("pip3", "-t --target -d --root --prefix"), ("pnpm", "--dir -C"),
    ("psql", "-o -L --log-file"), ("pyinstaller", "--distpath --workpath"), ("scalac", "-d"), ("sphinx-build", "-d"),
    ("strace", "-o"), ("tcpdump", "-w"), ("tree", "-o"), ("tshark", "-w"), ("xcodebuild", "-derivedDataPath -archivePath"),
    ("yarn", "--modules-folder"), ("zola", "-o"),
];

/// Sorted. Programs whose `-o` is no output.
#[rustfmt::skip]
const NO_OUTPUT: &[&str] = &[
    "[", "ack", "ag", "ash", "awk", "bash", "chgrp", "chmod", "chown", "column", "cp", "dash", "df", "docker", "egrep",
    "fgrep", "find", "fish", "git", "grep", "id", "install", "join", "jq", "ksh", "kubectl", "less", "ln", "ls", "lsblk",
    "lsof", "mount", "mysql", "netstat", "od", "pg_restore", "ps", "rg", "ripgrep", "rsync", "scp", "sed", "set", "sftp",
    "sh", "ss", "ssh", "stat", "tar", "test", "tmux", "ugrep", "unzip", "useradd", "xargs", "zgrep", "zsh",
];

/// Sorted. Variables that name a place for output.
const OUTPUT_VARIABLES: &[&str] = &[
    "BUILD_DIR",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CCACHE_DIR",
    "COVERAGE_FILE",
    "DESTDIR",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GRADLE_USER_HOME",
    "HISTFILE",
    "INSTALL_ROOT",
    "LLVM_PROFILE_FILE",
    "NPM_CONFIG_PREFIX",
    "OUT",
    "OUTDIR",
    "OUTPUT_DIR",
    "OUT_DIR",
    "PIP_TARGET",
    "PYTHONPYCACHEPREFIX",
    "RUSTUP_HOME",
    "SCCACHE_DIR",
    "npm_config_prefix",
];

/// Programs whose second operand is written, and their options with a value.
const SECOND_OPERAND: [(&str, &str); 3] = [
    ("split", "-a -b -C -l -n --filter --bytes --lines --number --suffix-length --additional-suffix"),
    ("uniq", "-f -s -w --skip-fields --skip-chars --check-chars"),
    ("xxd", "-c -g -l -o -s -cols -groupsize -len -seek"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(LONG.windows(2).all(|w| w[0] < w[1]));
        assert!(OUTPUTS.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(OUTPUT_VARIABLES.windows(2).all(|w| w[0] < w[1]));
        assert!(NO_OUTPUT.windows(2).all(|w| w[0] < w[1]));
    }
}
