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

/// A fresh folder that is outside every temp folder the gate knows, so that "outside the root" means outside.
pub(crate) fn stage() -> tempfile::TempDir {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let dir = if target.starts_with("/tmp") { PathBuf::from("/var/tmp") } else { target };
    tempfile::Builder::new().prefix("vanta-tools-").tempdir_in(dir).unwrap()
}
