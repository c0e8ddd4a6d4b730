//! One case as it stands in the file.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::RawMode;
use serde_json::Value;

/// A case; placeholders are not filled in yet.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) stretch: bool,
    pub(crate) json: Value,
}

impl Case {
    pub(crate) fn new(json: Value) -> Self {
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        Self { id: text("id"), title: text("title"), stretch: json["stretch"] == Value::Bool(true), json }
    }

    /// Why the case cannot be run here, if so.
    pub(crate) fn why_skipped(&self, tools: &[String]) -> Option<String> {
        let tool = self.json["tool"].as_str().unwrap_or_default();
        if !tools.iter().any(|known| known == tool) {
            return Some(format!("no tool `{tool}` in this crate yet"));
        }
        super::stage::list(&self.json["requires"])
            .filter_map(Value::as_str)
            .find(|need| !is_met(need))
            .map(|need| format!("needs {need}"))
    }

    /// Variables added to the agent's environment.
    pub(crate) fn env(&self) -> impl Iterator<Item = (&str, &str)> {
        let env = self.json["env"].as_object().into_iter().flatten();
        env.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }

    /// The agent's file mode mask.
    pub(crate) fn umask(&self) -> RawMode {
        RawMode::from_str_radix(self.json["umask"].as_str().unwrap_or("0022"), 8).unwrap()
    }

    /// Whether the person says yes.
    pub(crate) fn approves(&self) -> bool {
        self.json["approvals"] == "allow"
    }

    pub(crate) fn stretch_mark(&self) -> &'static str {
        if self.stretch { " [stretch]" } else { "" }
    }
}

fn is_met(need: &str) -> bool {
    match need {
        "unix" | "sparse_files" => true,
        "linux" | "case_sensitive_fs" => cfg!(target_os = "linux"),
        "bash" | "git" => super::has_program(need),
        "non_root" => !rustix::process::geteuid().is_root(),
        "landlock" => {
            fs::read_to_string("/sys/kernel/security/lsm").is_ok_and(|list| list.contains("landlock"))
        }
        _ => false,
    }
}

/// The cases of `VANTA_TOOL_CASES`, a file or a folder of `.jsonl` files, or the ones in this repository.
pub(crate) fn load() -> Vec<Case> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let source = std::env::var_os("VANTA_TOOL_CASES").map_or_else(own, PathBuf::from);
    let mut files = vec![source.clone()];
    if source.is_dir() {
        files = fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
    }
    let lines = files.iter().flat_map(|file| {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>()
    });
    lines.map(|line| Case::new(serde_json::from_str(&line).unwrap())).collect()
}
