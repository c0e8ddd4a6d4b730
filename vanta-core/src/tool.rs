//! Port `Tool`: something the model may ask for, and the registry of what is on offer.
//!
//! A tool says what it is ([`ToolSpec`]), what one call would touch ([`Tool::describe_for_safety`]), and does it
//! ([`Tool::execute`]). Describing may look at the world and changes nothing; the strictest verdict over the
//! described actions counts. `execute` takes a [`ClearedCall`], which only the loop can make: an Allow, or an Ask
//! that a person answered. Whatever may need a person is found while describing, never in `execute`.
//!
//! The defaults are the careful ones: a tool that declares nothing has effects, runs alone, and is one opaque
//! action, which can only be Ask.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vanta_kernel::json::Json;
use vanta_kernel::{Action, Scope, sha256};

use crate::cancel::CancelToken;
use crate::message::JsonObject;
use crate::run::ClearedCall;
use crate::slots::Slots;

/// Something a model may ask for. Annotate the implementation with `#[async_trait]`.
///
/// Most tools are easier to write as a function ([`tool_fn`](crate::typed::tool_fn)) or as a struct with typed
/// arguments ([`TypedTool`](crate::typed::TypedTool)).
///
/// # Contract
/// - `describe_for_safety` changes nothing and names every path, host and command the call would touch. Paths are
///   real paths, links resolved. A call that names nothing is judged as the tool itself: the kernel asks.
/// - `execute` does at most what was described. If the facts changed since then, it answers `ok: false`.
/// - Failures are values ([`ToolOutput::fail`]); a panic is caught, its effect counts as unknown.
/// - When [`ToolContext::cancel`] fires, stop and clean up; after a grace period nobody waits any longer.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Name, description, argument schema, effect class and time limit.
    fn spec(&self) -> ToolSpec;

    /// Which actions one call with `args` would be, for the gate to judge.
    ///
    /// # Errors
    /// [`DescribeError`] when the call makes no sense as it stands; the model is told, nobody is asked, nothing runs.
    async fn describe_for_safety(
        &self,
        args: &JsonObject,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        let _ = (args, cx);
        let spec = self.spec();
        Ok(vec![Action::tool(spec.name(), spec.description())])
    }

    /// Does it.
    async fn execute(&self, call: ClearedCall, cx: &ToolContext) -> ToolOutput;
}

/// Why a call cannot even be described; the text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DescribeError(String);

impl DescribeError {
    /// The model is told `complaint`.
    pub fn new(complaint: impl Into<String>) -> Self {
        Self(complaint.into())
    }
}

/// What a crash in the middle of a call means, and whether calls may run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffectClass {
    /// Changes nothing: may run again, and beside other reads.
    Read,
    /// The same key has the same effect: may run again with the same key.
    Idempotent,
    /// Has effects: after a crash the outcome is unknown and the call is not repeated.
    #[default]
    Effect,
}

/// What a tool says about itself.
///
/// ```
/// use vanta_core::tool::{EffectClass, ToolSpec};
///
/// let spec = ToolSpec::new("clock", "Tells the time").with_effect(EffectClass::Read);
/// assert_eq!(spec.name(), "clock");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    name: String,
    description: String,
    schema: Value,
    effect: EffectClass,
    timeout: Option<Duration>,
}

impl ToolSpec {
    /// A tool without arguments that has effects.
    ///
    /// Names of letters, digits, `_` and `-`, up to 64 of them, work with every provider.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            schema: serde_json::json!({"type": "object", "properties": {}}),
            effect: EffectClass::Effect,
            timeout: None,
        }
    }

    /// Sets the JSON schema of the arguments, an object at the top.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// Declares the effect class.
    #[must_use]
    pub fn with_effect(mut self, effect: EffectClass) -> Self {
        self.effect = effect;
        self
    }

    /// Sets the time limit of one attempt; the run's own default otherwise.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// The name the model calls it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model is told about it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// JSON schema of the arguments.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The effect class.
    #[must_use]
    pub fn effect(&self) -> EffectClass {
        self.effect
    }

    /// Time limit of one attempt.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// SHA-256 in hex over everything above except the time limit; approvals and rules are pinned to it.
    #[must_use]
    pub fn digest(&self) -> String {
        let form = serde_json::json!([self.name, self.description, self.schema, self.effect]).to_string();
        // In the kernel's canonical form, which no feature of a JSON library changes.
        let form = Json::parse(&form).map_or(form, |form| form.canonical());
        sha256::hex(&sha256::sha256(form.as_bytes()))
    }
}

/// What a tool may use while it describes a call.
#[derive(Debug, Clone)]
pub struct DescribeContext {
    scope: Arc<Scope>,
    slots: Slots,
}

impl DescribeContext {
    /// A context inside `scope`.
    #[must_use]
    pub fn new(scope: Arc<Scope>, slots: Slots) -> Self {
        Self { scope, slots }
    }

    /// Where the run works.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Session state of tools.
    #[must_use]
    pub fn slots(&self) -> &Slots {
        &self.slots
    }
}

/// What a tool may use while it runs.
#[derive(Debug, Clone)]
pub struct ToolContext {
    scope: Arc<Scope>,
    slots: Slots,
    cancel: CancelToken,
}

impl ToolContext {
    /// A context inside `scope` that ends with `cancel`.
    #[must_use]
    pub fn new(scope: Arc<Scope>, slots: Slots, cancel: CancelToken) -> Self {
        Self { scope, slots, cancel }
    }

    /// Where the run works.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Session state of tools.
    #[must_use]
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Fires when the call must stop.
    #[must_use]
    pub fn cancel(&self) -> &CancelToken {
        &self.cancel
    }
}

/// A tool's answer: whether it worked, and what the model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    ok: bool,
    output: String,
}

impl ToolOutput {
    /// It worked.
    pub fn ok(output: impl Into<String>) -> Self {
        Self { ok: true, output: output.into() }
    }

    /// It did not; `output` says why and what to try next.
    pub fn fail(output: impl Into<String>) -> Self {
        Self { ok: false, output: output.into() }
    }

    /// Whether it worked.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.ok
    }

    /// What the model reads.
    #[must_use]
    pub fn output(&self) -> &str {
        &self.output
    }
}

impl From<String> for ToolOutput {
    fn from(output: String) -> Self {
        Self::ok(output)
    }
}

impl From<&str> for ToolOutput {
    fn from(output: &str) -> Self {
        Self::ok(output)
    }
}

/// An error is an answer that is not ok, in the error's words.
impl<T: Into<String>, E: fmt::Display> From<Result<T, E>> for ToolOutput {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(output) => Self::ok(output),
            Err(error) => Self::fail(error.to_string()),
        }
    }
}

/// The tools on offer, by name.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl ToolRegistry {
    /// No tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.insert(Arc::new(tool));
        self
    }

    /// Adds a shared tool; one of the same name is replaced and returned.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        self.tools.insert(tool.spec().name().to_owned(), tool)
    }

    /// The tool called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// Every tool's spec, sorted by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec()).collect()
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
