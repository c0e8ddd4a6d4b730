//! What the tests share: tools that count what they did.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use vanta_core::message::JsonObject;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput, ToolSpec};
use vanta_core::{Action, ClearedCall, Scope, Tool, ToolRegistry};

pub(crate) const ROOT: &str = "/home/dev/project";

pub(crate) fn scope() -> Scope {
    Scope::new(ROOT).home("/home/dev")
}

/// Describes itself as a chosen action, counts its executions and answers a chosen text.
#[derive(Clone)]
pub(crate) struct Probe {
    name: &'static str,
    class: EffectClass,
    action: Action,
    output: ToolOutput,
    pause: Duration,
    pub(crate) ran: Arc<AtomicUsize>,
}

impl Probe {
    pub(crate) fn new(name: &'static str, class: EffectClass, action: Action) -> Self {
        Self {
            name,
            class,
            action,
            output: ToolOutput::ok("done"),
            pause: Duration::ZERO,
            ran: Arc::default(),
        }
    }

    /// A read inside the scope: the kernel allows it.
    pub(crate) fn look() -> Self {
        Self::new("look", EffectClass::Read, Action::read("notes.txt"))
    }

    /// A new file inside the scope: the kernel allows it.
    pub(crate) fn make() -> Self {
        Self::new("make", EffectClass::Effect, Action::write("new.txt"))
    }

    /// A deletion inside the scope: the kernel asks.
    pub(crate) fn remove() -> Self {
        Self::new("remove", EffectClass::Effect, Action::delete("old.txt"))
    }

    /// The end of the home folder: the kernel blocks.
    pub(crate) fn wipe() -> Self {
        Self::new("wipe", EffectClass::Effect, Action::shell("rm -rf ~"))
    }

    pub(crate) fn answering(mut self, output: ToolOutput) -> Self {
        self.output = output;
        self
    }

    pub(crate) fn taking(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    pub(crate) fn count(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, "A probe")
            .with_schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}}))
            .with_effect(self.class)
    }

    async fn describe_for_safety(
        &self,
        _: &JsonObject,
        _: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        Ok(vec![self.action.clone()])
    }

    async fn execute(&self, _: ClearedCall, _: &ToolContext) -> ToolOutput {
        self.ran.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.pause).await;
        self.output.clone()
    }
}

pub(crate) fn registry<const N: usize>(tools: [&Probe; N]) -> ToolRegistry {
    tools.into_iter().fold(ToolRegistry::new(), |registry, tool| registry.with(tool.clone()))
}

/// A model that plays a fixed plan by what it has said so far, so that it answers alike after any restart.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    info: vanta_core::provider::ModelInfo,
    replies: Vec<vanta_core::provider::ModelReply>,
}

impl Planned {
    pub(crate) fn new(replies: Vec<vanta_core::provider::ModelReply>) -> Self {
        Self { info: vanta_core::provider::ModelInfo::new("planned", "planned"), replies }
    }
}

#[async_trait]
impl vanta_core::LlmProvider for Planned {
    fn model(&self) -> &vanta_core::provider::ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: vanta_core::provider::ModelRequest,
        _: &vanta_core::provider::ModelContext,
    ) -> Result<vanta_core::provider::ReplyStream, vanta_core::provider::ProviderError> {
        let said =
            request.messages().iter().filter(|m| m.role() == vanta_core::message::Role::Assistant).count();
        let reply = self.replies[said].clone();
        Ok(Box::pin(futures_util::stream::iter([Ok(vanta_core::provider::StreamEvent::Finished(reply))])))
    }
}

pub(crate) fn calls(calls: &[(&str, &str, serde_json::Value)]) -> vanta_core::provider::ModelReply {
    use vanta_core::message::{Args, CallId, ContentPart, Message, Role, ToolCall};
    let call = |(id, tool, args): &(&str, &str, serde_json::Value)| {
        ContentPart::ToolCall(ToolCall::new(CallId::new(*id), *tool, Args::parse(args.to_string())))
    };
    vanta_core::provider::ModelReply::new(
        Message::new(Role::Assistant, calls.iter().map(call).collect()),
        vanta_core::provider::FinishReason::ToolCalls,
    )
}

pub(crate) fn says(text: &str) -> vanta_core::provider::ModelReply {
    vanta_core::provider::ModelReply::new(
        vanta_core::Message::assistant(text),
        vanta_core::provider::FinishReason::Stop,
    )
}
