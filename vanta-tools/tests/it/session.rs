//! One session of an agent with tools: calls go through the gate and a scripted person.

use std::path::{Path, PathBuf};

use serde_json::Value;
use vanta_core::agent::ToolRunner;
use vanta_core::testing::ScriptedApprover;
use vanta_core::tool::ToolOutput;
use vanta_core::{Agent, Approver, CancelToken, Scope, ToolRegistry};

/// Calls tools one by one, as the loop would.
pub(crate) struct Session {
    runner: ToolRunner,
}

impl Session {
    /// A session in `root` where every question is answered the same way.
    pub(crate) fn new(root: &Path, tools: ToolRegistry, approve: bool) -> Self {
        let approver = if approve { ScriptedApprover::approve_all() } else { ScriptedApprover::deny_all() };
        Self::with(root, tools, approver)
    }

    /// A session in `root` whose questions `person` answers.
    pub(crate) fn with(root: &Path, tools: ToolRegistry, person: impl Approver + 'static) -> Self {
        let scope = Scope::new(root.to_str().unwrap());
        let agent = Agent::builder().tools(tools).scope(scope).approver(person).build().unwrap();
        Self { runner: agent.tool_runner() }
    }

    /// One call and its answer.
    pub(crate) async fn call(&self, tool: &str, args: &Value) -> ToolOutput {
        self.call_until(tool, args, CancelToken::new()).await
    }

    /// One call that ends when `cancel` fires.
    pub(crate) async fn call_until(&self, tool: &str, args: &Value, cancel: CancelToken) -> ToolOutput {
        let args = args.as_object().cloned().unwrap_or_default();
        match self.runner.clone().cancel(cancel).call(tool, args).await {
            Ok(call) => call.output().clone(),
            Err(error) => ToolOutput::fail(format!("no answer: {error}")),
        }
    }
}

/// A fresh folder that is in no temp folder, so that beside the root means outside: temp folders are harmless to
/// the gate.
pub(crate) fn stage() -> tempfile::TempDir {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let known = ["/srv", "/opt", "/mnt"].map(PathBuf::from);
    let places = [PathBuf::from(env!("CARGO_TARGET_TMPDIR"))].into_iter().chain(home).chain(known);
    let usable = places.filter(|dir| std::fs::canonicalize(dir).is_ok_and(|real| !is_temp(&real)));
    let make = |dir: PathBuf| tempfile::Builder::new().prefix("vanta-tools-test-").tempdir_in(dir).ok();
    usable.filter_map(make).next().expect("a writable folder that is not a temp folder")
}

fn is_temp(dir: &Path) -> bool {
    ["/tmp", "/var/tmp", "/private", "/dev"].iter().any(|temp| dir.starts_with(temp))
}
