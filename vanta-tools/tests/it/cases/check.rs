//! Whether what a case expects holds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Map, Value};
use vanta_core::tool::ToolOutput;

use super::stage::{Snapshot, Stage, content, list};

/// What did not hold; empty when the case passes.
pub(crate) async fn failures(
    json: &Value,
    stage: &Stage,
    before: &Snapshot,
    output: &ToolOutput,
    took: Duration,
) -> Vec<String> {
    let expect = json["expect"].as_object().unwrap();
    let after = stage.snapshot();
    let view = View { stage, before, after: &after, output, took };
    let mut wrong = view.failures(expect).await;
    let tool = json["tool"].as_str().unwrap();
    if tool != "shell" && !output.is_ok() && before != &after {
        wrong.push("it failed and yet a file changed".into());
    }
    if tool != "read_file" && tool != "grep" && output.output().contains(['\u{1b}', '\0']) {
        wrong.push("an escape character or NUL in the output".into());
    }
    let alternatives: Vec<_> = list(&json["expect"]["any_of"]).map(|one| one.as_object().unwrap()).collect();
    let mut reasons = Vec::new();
    for one in &alternatives {
        let failures = view.failures(one).await;
        reasons.push(failures.join(", "));
    }
    if !alternatives.is_empty() && reasons.iter().all(|reason| !reason.is_empty()) {
        wrong.push(format!("no alternative holds: {reasons:?}"));
    }
    if !wrong.is_empty() {
        wrong.push(format!("answer ok={} {:?}", output.is_ok(), shortened(output.output())));
    }
    wrong
}

fn shortened(text: &str) -> String {
    text.chars().take(600).collect()
}

struct View<'a> {
    stage: &'a Stage,
    before: &'a Snapshot,
    after: &'a Snapshot,
    output: &'a ToolOutput,
    took: Duration,
}

impl View<'_> {
    async fn failures(&self, expect: &Map<String, Value>) -> Vec<String> {
        let mut wrong = Vec::new();
        for (key, wanted) in expect {
            if let Some(failure) = self.failure(key, wanted, expect).await {
                wrong.push(format!("{key}: {failure}"));
            }
        }
        let bound = u128::from(expect.get("max_ms").and_then(Value::as_u64).unwrap_or(10_000));
        if self.took.as_millis() > bound {
            wrong.push(format!("took {} ms, more than {bound}", self.took.as_millis()));
        }
        let bound = expect.get("output_max_bytes").and_then(Value::as_u64).unwrap_or(131_072);
        if self.output.output().len() as u64 > bound {
            wrong.push(format!("{} bytes of output, more than {bound}", self.output.output().len()));
        }
        wrong
    }

    /// Why one expectation does not hold.
    async fn failure(&self, key: &str, wanted: &Value, all: &Map<String, Value>) -> Option<String> {
        let text = self.output.output();
        let missing = |one: &Value| !text.contains(one.as_str().unwrap());
        match key {
            "ok" => (wanted != "any" && *wanted != self.output.is_ok())
                .then(|| format!("is {}", self.output.is_ok())),
            "output_contains" => list(wanted).find(|one| missing(one)).map(|one| format!("no {one}")),
            "output_not_contains" => list(wanted).find(|one| !missing(one)).map(|one| format!("has {one}")),
            "output_contains_any" => {
                list(wanted).find(|any| list(any).all(missing)).map(|any| format!("none of {any}"))
            }
            "output_order" => ordered(text, wanted),
            "output_count" => counted(text, wanted, |count, wanted| count == wanted),
            "output_count_max" => counted(text, wanted, |count, wanted| count <= wanted),
            "output_regex" => {
                let matches =
                    |one: &&Value| regex_lite::Regex::new(one.as_str().unwrap()).unwrap().is_match(text);
                list(wanted).find(|one| !matches(one)).map(|one| format!("{one} does not match"))
            }
            "files_after" => list(wanted).find_map(|entry| self.file(entry)),
            "tree_clean" => self.litter(all).map(|path| format!("{path} is left")),
            "no_process" => process(wanted.as_str().unwrap()).await,
            "any_of" | "max_ms" | "output_max_bytes" | "agent_alive" => None,
            unknown => Some(format!("the runner does not know `{unknown}`")),
        }
    }

    fn file(&self, entry: &Value) -> Option<String> {
        let path = self.stage.path(entry);
        let meta = fs::symlink_metadata(&path);
        let shown = path.display();
        if entry["absent"] == true {
            return meta.is_ok().then(|| format!("{shown} is there"));
        }
        let Ok(meta) = meta else { return Some(format!("{shown} is not there")) };
        if let Some(target) = entry["symlink"].as_str() {
            let is = fs::read_link(&path).is_ok_and(|is| is.to_str() == Some(target));
            return (!is).then(|| format!("{shown} is no link to {target}"));
        }
        if entry["unchanged"] == true && self.before.get(&path) != self.after.get(&path) {
            return Some(format!("{shown} changed"));
        }
        if entry["size"].as_u64().is_some_and(|size| size != meta.len()) {
            return Some(format!("{shown} has {} bytes", meta.len()));
        }
        let mode = format!("{:04o}", meta.permissions().mode() & 0o7777);
        if entry["mode"].as_str().is_some_and(|wanted| wanted != mode) {
            return Some(format!("{shown} has mode {mode}"));
        }
        let wanted = content(entry)?;
        let is = fs::read(&path).unwrap();
        (is != wanted).then(|| format!("{shown} holds {:?}", shortened(&String::from_utf8_lossy(&is))))
    }

    /// A file that is neither from the setup nor expected.
    fn litter(&self, all: &Map<String, Value>) -> Option<String> {
        let expected: Vec<_> =
            all.get("files_after").into_iter().flat_map(list).map(|entry| self.stage.path(entry)).collect();
        let extra =
            self.after.keys().find(|path| !self.before.contains_key(*path) && !expected.contains(path));
        extra.map(|path| path.display().to_string())
    }
}

fn ordered(text: &str, wanted: &Value) -> Option<String> {
    let mut rest = text;
    for one in list(wanted) {
        let Some((_, after)) = rest.split_once(one.as_str().unwrap()) else {
            return Some(format!("no {one} in order"));
        };
        rest = after;
    }
    None
}

fn counted(text: &str, wanted: &Value, fits: fn(u64, u64) -> bool) -> Option<String> {
    wanted.as_object().unwrap().iter().find_map(|(one, wanted)| {
        let count = text.matches(one.as_str()).count() as u64;
        (!fits(count, wanted.as_u64().unwrap())).then(|| format!("{one:?} occurs {count} times"))
    })
}

/// A process that should be gone by now.
async fn process(mark: &str) -> Option<String> {
    tokio::time::sleep(Duration::from_millis(300)).await;
    command_lines().into_iter().find(|line| line.contains(mark)).map(|line| format!("still running: {line}"))
}

fn command_lines() -> Vec<String> {
    if cfg!(target_os = "linux") {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        return lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect();
    }
    let listed = std::process::Command::new("ps").args(["-A", "-o", "args="]).output().unwrap();
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}
