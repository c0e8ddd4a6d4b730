//! Port `LlmProvider`: one request to a model, answered as a stream.
//!
//! Adapters live in other crates. The contract they keep, and everybody may rely on:
//!
//! - `stream` is the primitive; [`LlmProvider::complete`] folds it. Both give the same reply.
//! - [`StreamEvent::Finished`] comes exactly once and last, and only after the protocol's own end mark.
//!   A stream that ends before it yields one error of class [`ErrorClass::StreamTruncated`].
//! - A tool call whose arguments do not parse is handed over as invalid with its raw text, never as `{}`.
//! - An option the endpoint cannot honour is an error of class [`ErrorClass::Unsupported`].
//! - Adapters do not retry; the loop does. Dropping the stream ends the request.
//! - No error, in Display or Debug, holds a key.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cancel::CancelToken;
use crate::context::Prompt;
use crate::message::{CallId, Message};
use crate::slots::Slots;
use crate::tool::ToolSpec;

/// What a model sends while it answers.
pub type ReplyStream = Pin<Box<dyn Stream<Item = Result<StreamEvent, ProviderError>> + Send>>;

/// A model behind some wire. Annotate the implementation with `#[async_trait]`.
///
/// # Examples
/// ```
/// use vanta_core::message::Message;
/// use vanta_core::provider::*;
///
/// #[derive(Debug)]
/// struct Parrot(ModelInfo);
///
/// #[async_trait::async_trait]
/// impl LlmProvider for Parrot {
///     fn model(&self) -> &ModelInfo {
///         &self.0
///     }
///     async fn stream(&self, request: ModelRequest, _cx: &ModelContext) -> Result<ReplyStream, ProviderError> {
///         let text = request.messages().last().map(Message::text).unwrap_or_default();
///         let reply = ModelReply::new(Message::assistant(text.clone()), FinishReason::Stop);
///         Ok(stream_of([Ok(StreamEvent::TextDelta(text)), Ok(StreamEvent::Finished(reply))]))
///     }
/// }
/// ```
#[async_trait]
pub trait LlmProvider: Send + Sync + fmt::Debug {
    /// The model this provider talks to.
    fn model(&self) -> &ModelInfo;

    /// Sends `request` and answers with the stream of the reply.
    ///
    /// # Errors
    /// Anything that happens before the first event; later failures are items of the stream.
    async fn stream(&self, request: ModelRequest, cx: &ModelContext) -> Result<ReplyStream, ProviderError>;

    /// Sends `request` and waits for the whole reply.
    ///
    /// # Errors
    /// As [`LlmProvider::stream`], and any failure within it; what had arrived is in [`ProviderError::partial`].
    async fn complete(&self, request: ModelRequest, cx: &ModelContext) -> Result<ModelReply, ProviderError> {
        fold(self.stream(request, cx).await?, |_| {}).await
    }

    /// The model's id.
    fn model_id(&self) -> &str {
        self.model().id()
    }

    /// How many tokens fit the model's window, when known.
    fn context_window(&self) -> Option<u64> {
        self.model().context_window()
    }
}

/// A stream of prepared events: what a test double, a cache or a provider without streaming answers with.
pub fn stream_of<I>(events: I) -> ReplyStream
where
    I: IntoIterator<Item = Result<StreamEvent, ProviderError>>,
    I::IntoIter: Send + 'static,
{
    Box::pin(futures_util::stream::iter(events))
}

/// Reads a reply to its end, showing every event to `see` on the way.
///
/// # Errors
/// The stream's own error, or [`ErrorClass::StreamTruncated`] when it ends without [`StreamEvent::Finished`].
pub async fn fold(
    mut stream: ReplyStream,
    mut see: impl FnMut(&StreamEvent) + Send,
) -> Result<ModelReply, ProviderError> {
    while let Some(event) = stream.next().await {
        let event = event?;
        see(&event);
        if let StreamEvent::Finished(reply) = event {
            return Ok(reply);
        }
    }
    Err(ProviderError::new(ErrorClass::StreamTruncated, "the stream ended before the reply was finished"))
}

/// One piece of a reply.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The provider began to answer.
    Started {
        /// The provider's id of the reply.
        response_id: Option<String>,
    },
    /// More text.
    TextDelta(String),
    /// More readable reasoning.
    ThinkingDelta(String),
    /// More of a refusal.
    RefusalDelta(String),
    /// A tool call begins. It must not run before the reply is finished.
    ToolCallStarted {
        /// The call.
        id: CallId,
        /// The tool.
        name: String,
    },
    /// More argument text of a call.
    ToolCallDelta {
        /// The call.
        id: CallId,
        /// A piece of JSON text.
        json: String,
    },
    /// The whole reply. The last event, exactly once.
    Finished(ModelReply),
}

/// A finished reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    message: Message,
    finish: FinishReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish_raw: Option<String>,
    #[serde(default)]
    usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_id: Option<String>,
}

impl ModelReply {
    /// A reply of `message`, ended for reason `finish`.
    #[must_use]
    pub fn new(message: Message, finish: FinishReason) -> Self {
        Self { message, finish, finish_raw: None, usage: Usage::default(), response_id: None }
    }

    /// Adds the provider's own word for the finish reason.
    #[must_use]
    pub fn with_finish_raw(mut self, word: impl Into<String>) -> Self {
        self.finish_raw = Some(word.into());
        self
    }

    /// Adds token counts.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Adds the provider's id of the reply.
    #[must_use]
    pub fn with_response_id(mut self, id: impl Into<String>) -> Self {
        self.response_id = Some(id.into());
        self
    }

    /// The same reply with another message.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.message = message;
        self
    }

    /// What the model said.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Why it stopped.
    #[must_use]
    pub fn finish(&self) -> FinishReason {
        self.finish
    }

    /// The provider's own word for it.
    #[must_use]
    pub fn finish_raw(&self) -> Option<&str> {
        self.finish_raw.as_deref()
    }

    /// Token counts.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The provider's id of the reply.
    #[must_use]
    pub fn response_id(&self) -> Option<&str> {
        self.response_id.as_deref()
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// The token limit cut it.
    Length,
    /// It waits for tools.
    ToolCalls,
    /// A content filter cut it.
    ContentFilter,
    /// It declined.
    Refusal,
    /// It paused and can be asked to go on.
    Pause,
    /// Something else; see [`ModelReply::finish_raw`].
    Other,
}

/// Token counts as reported; nothing is invented, absent means not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Written tokens, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The provider's own total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Prompt tokens read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<u64>,
    /// Prompt tokens written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Reasoning tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Counts of prompt tokens and written tokens.
    #[must_use]
    pub fn new(input: u64, output: u64) -> Self {
        Self { input: Some(input), output: Some(output), ..Self::default() }
    }

    /// Input and output tokens together; the provider's total where the parts are absent.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        match (self.input, self.output) {
            (None, None) => self.total.unwrap_or(0),
            (input, output) => input.unwrap_or(0).saturating_add(output.unwrap_or(0)),
        }
    }

    /// Adds the counts of another call; a count neither call reported stays absent.
    pub fn add(&mut self, other: Self) {
        fn sum(into: &mut Option<u64>, more: Option<u64>) {
            if let Some(more) = more {
                *into = Some(into.unwrap_or(0).saturating_add(more));
            }
        }
        sum(&mut self.input, other.input);
        sum(&mut self.output, other.output);
        sum(&mut self.total, other.total);
        sum(&mut self.cached_input, other.cached_input);
        sum(&mut self.cache_write, other.cache_write);
        sum(&mut self.reasoning, other.reasoning);
    }
}

/// What is known about a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    id: String,
    provider: String,
    context_window: Option<u64>,
}

impl ModelInfo {
    /// Model `id` at `provider`.
    pub fn new(provider: impl Into<String>, id: impl Into<String>) -> Self {
        Self { id: id.into(), provider: provider.into(), context_window: None }
    }

    /// Sets the window's size in tokens.
    #[must_use]
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// The model's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The adapter's name.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// How many tokens fit its window, when known.
    #[must_use]
    pub fn context_window(&self) -> Option<u64> {
        self.context_window
    }
}

/// What a provider may use besides the request.
#[derive(Debug, Clone, Default)]
pub struct ModelContext {
    cancel: CancelToken,
    slots: Slots,
}

impl ModelContext {
    /// A context that ends with `cancel` and keeps adapter state in `slots`.
    #[must_use]
    pub fn new(cancel: CancelToken, slots: Slots) -> Self {
        Self { cancel, slots }
    }

    /// Cancelled when the run is.
    #[must_use]
    pub fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    /// Adapter state that lives as long as the run, such as encoded messages.
    #[must_use]
    pub fn slots(&self) -> &Slots {
        &self.slots
    }
}

/// One request to a model. Cheap to clone: history and tools are shared.
///
/// ```
/// use vanta_core::message::Message;
/// use vanta_core::provider::ModelRequest;
///
/// let request = ModelRequest::new(vec![Message::user("Hello")]);
/// assert_eq!(request.messages().len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct ModelRequest {
    prompt: Prompt,
    messages: Arc<Vec<Message>>,
    tools: Arc<[ToolSpec]>,
    options: RequestOptions,
}

impl ModelRequest {
    /// A request that sends `messages`.
    pub fn new(messages: impl Into<Arc<Vec<Message>>>) -> Self {
        Self {
            prompt: Prompt::default(),
            messages: messages.into(),
            tools: Arc::from([]),
            options: RequestOptions::default(),
        }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Offers `tools`.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<[ToolSpec]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets options.
    #[must_use]
    pub fn with_options(mut self, options: RequestOptions) -> Self {
        self.options = options;
        self
    }

    /// The system prompt in its tiers.
    #[must_use]
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// The history.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The tools on offer.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &RequestOptions {
        &self.options
    }
}

/// Options of a request. An adapter refuses what its endpoint cannot do.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RequestOptions {
    /// Most tokens to write; the endpoint's default when absent.
    pub max_tokens: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Texts that end the reply.
    pub stop: Vec<String>,
    /// Whether tools may, must or must not be called.
    pub tool_choice: ToolChoice,
    /// Whether several calls in one reply are wanted; the endpoint's default when absent.
    pub parallel_tool_calls: Option<bool>,
    /// The reply must be JSON of this schema.
    pub response_schema: Option<ResponseSchema>,
}

impl RequestOptions {
    /// Limits how many tokens are written.
    #[must_use]
    pub fn with_max_tokens(mut self, most: u64) -> Self {
        self.max_tokens = Some(most);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets texts that end the reply.
    #[must_use]
    pub fn with_stop(mut self, stop: impl IntoIterator<Item = String>) -> Self {
        self.stop = stop.into_iter().collect();
        self
    }

    /// Says whether tools may, must or must not be called.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Says whether several calls in one reply are wanted.
    #[must_use]
    pub fn with_parallel_tool_calls(mut self, wanted: bool) -> Self {
        self.parallel_tool_calls = Some(wanted);
        self
    }

    /// Asks for JSON of a schema.
    #[must_use]
    pub fn with_response_schema(mut self, schema: ResponseSchema) -> Self {
        self.response_schema = Some(schema);
        self
    }
}

/// Whether a model may call tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one.
    Required,
    /// It must call this one.
    Named(String),
}

/// The shape a reply must have.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSchema {
    name: String,
    schema: Value,
}

impl ResponseSchema {
    /// A JSON schema under `name`.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// The key is missing or wrong.
    Auth,
    /// The key may not do this.
    Permission,
    /// No such model or address.
    NotFound,
    /// The request is wrong.
    InvalidRequest,
    /// The request does not fit the model's window.
    ContextOverflow,
    /// Too many requests; wait.
    RateLimited,
    /// The account has no credit left.
    QuotaExhausted,
    /// The service is overloaded; wait.
    Overloaded,
    /// The service failed.
    ServerError,
    /// Something took too long.
    Timeout,
    /// The connection failed.
    Transport,
    /// The reply ended before its end mark.
    StreamTruncated,
    /// The answer is not what the protocol says.
    MalformedResponse,
    /// The service could not read the model's tool call.
    MalformedToolCall,
    /// A content filter refused.
    ContentFiltered,
    /// The endpoint cannot do what was asked.
    Unsupported,
}

impl ErrorClass {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::ServerError
                | Self::Timeout
                | Self::Transport
                | Self::StreamTruncated
                | Self::MalformedResponse
                | Self::MalformedToolCall
        )
    }

    /// The class's name in snake case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::ContextOverflow => "context_overflow",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::StreamTruncated => "stream_truncated",
            Self::MalformedResponse => "malformed_response",
            Self::MalformedToolCall => "malformed_tool_call",
            Self::ContentFiltered => "content_filtered",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Why a model did not answer. Holds no key and no request body.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    class: ErrorClass,
    message: String,
    status: Option<u16>,
    request_id: Option<String>,
    retryable: bool,
    retry_after: Option<Duration>,
    partial: Option<Message>,
}

impl ProviderError {
    /// A failure of `class`; `message` says what happened and what to do next.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            status: None,
            request_id: None,
            retryable: class.is_retryable(),
            retry_after: None,
            partial: None,
        }
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds the service's id of the request.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Overrides what the class says about retrying.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Adds the least wait the service asked for.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Adds what had arrived before the failure. Its calls must not run.
    #[must_use]
    pub fn with_partial(mut self, partial: Message) -> Self {
        self.partial = Some(partial);
        self
    }

    /// What kind of failure it was.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// The HTTP status, when there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// The service's id of the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// The least wait the service asked for.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What had arrived before the failure.
    #[must_use]
    pub fn partial(&self) -> Option<&Message> {
        self.partial.as_ref()
    }
}
