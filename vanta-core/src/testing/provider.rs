//! A provider that answers from a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::message::{Args, CallId, ContentPart, Message, Role, ToolCall};
use crate::provider::{
    ErrorClass, FinishReason, LlmProvider, ModelContext, ModelInfo, ModelReply, ModelRequest, ProviderError,
    ReplyStream, StreamEvent, Usage, stream_of,
};

/// Answers with prepared replies, in order, streaming text word by word. Clones share the script and what was asked.
///
/// ```
/// use vanta_core::testing::ScriptedProvider;
///
/// let provider = ScriptedProvider::new()
///     .call("read_file", serde_json::json!({"path": "a.txt"}))
///     .text("It says hello.");
/// assert_eq!(provider.remaining(), 2);
/// ```
#[derive(Debug, Clone)]
pub struct ScriptedProvider {
    info: ModelInfo,
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Result<ModelReply, ProviderError>>,
    requests: Vec<ModelRequest>,
    calls: usize,
}

impl Default for ScriptedProvider {
    fn default() -> Self {
        Self { info: ModelInfo::new("scripted", "scripted"), script: Arc::default() }
    }
}

impl ScriptedProvider {
    /// An empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Then says `text`.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply(ModelReply::new(Message::assistant(text), FinishReason::Stop))
    }

    /// Then calls `tool`.
    #[must_use]
    pub fn call(self, tool: &str, args: serde_json::Value) -> Self {
        self.calls([(tool, args)])
    }

    /// Then calls several tools in one reply.
    #[must_use]
    pub fn calls<'a>(self, calls: impl IntoIterator<Item = (&'a str, serde_json::Value)>) -> Self {
        self.say_and_call(None, calls)
    }

    /// Then says `text`, if any, and calls several tools in one reply.
    #[must_use]
    pub fn say_and_call<'a>(
        self,
        text: Option<&str>,
        calls: impl IntoIterator<Item = (&'a str, serde_json::Value)>,
    ) -> Self {
        let mut parts: Vec<ContentPart> =
            text.map(|text| ContentPart::Text(text.to_owned())).into_iter().collect();
        {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            for (tool, args) in calls {
                script.calls += 1;
                let id = CallId::new(format!("call-{}", script.calls));
                parts.push(ContentPart::ToolCall(ToolCall::new(id, tool, Args::parse(args.to_string()))));
            }
        }
        self.reply(ModelReply::new(Message::new(Role::Assistant, parts), FinishReason::ToolCalls))
    }

    /// Then gives `reply`.
    #[must_use]
    pub fn reply(self, reply: ModelReply) -> Self {
        self.then(Ok(reply))
    }

    /// Then fails.
    #[must_use]
    pub fn fail(self, error: ProviderError) -> Self {
        self.then(Err(error))
    }

    fn then(self, reply: Result<ModelReply, ProviderError>) -> Self {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).replies.push_back(reply);
        self
    }

    /// How many replies were not asked for yet. A test asserts that it is zero.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).replies.len()
    }

    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }
}

#[async_trait]
impl LlmProvider for ScriptedProvider {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, request: ModelRequest, _: &ModelContext) -> Result<ReplyStream, ProviderError> {
        let next = {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            script.requests.push(request);
            script.replies.pop_front()
        };
        let used_up =
            || Err(ProviderError::new(ErrorClass::InvalidRequest, "the script has no further reply"));
        let reply = next.unwrap_or_else(used_up)?;
        Ok(stream_of(events_of(reply).into_iter().map(Ok)))
    }
}

/// The events a wire would bring for `reply`.
fn events_of(mut reply: ModelReply) -> Vec<StreamEvent> {
    if reply.usage() == Usage::default() {
        reply = reply.with_usage(Usage::new(10, 5));
    }
    let mut events = vec![StreamEvent::Started { response_id: None }];
    for part in reply.message().parts() {
        match part {
            ContentPart::Text(text) => {
                events.extend(text.split_inclusive(' ').map(|word| StreamEvent::TextDelta(word.to_owned())));
            }
            ContentPart::Refusal(text) => events.push(StreamEvent::RefusalDelta(text.clone())),
            ContentPart::Thinking(thinking) => {
                events.push(StreamEvent::ThinkingDelta(thinking.text().to_owned()))
            }
            ContentPart::ToolCall(call) => {
                events.push(StreamEvent::ToolCallStarted {
                    id: call.id().clone(),
                    name: call.name().to_owned(),
                });
                events.push(StreamEvent::ToolCallDelta {
                    id: call.id().clone(),
                    json: call.args().raw().to_owned(),
                });
            }
            _ => {}
        }
    }
    events.push(StreamEvent::Finished(reply));
    events
}
