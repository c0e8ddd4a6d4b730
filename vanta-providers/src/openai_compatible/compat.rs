//! What one endpoint does differently from the next, as data.

/// The settings of an endpoint that speaks Chat Completions.
///
/// ```
/// use vanta_providers::openai_compatible::{Compat, IdFormat};
///
/// let compat = Compat::new().with_tool_id_format(IdFormat::Alnum9).with_assistant_after_tool();
/// assert_ne!(compat, Compat::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compat {
    pub(super) max_tokens_field: MaxTokensField,
    pub(super) supports_temperature: bool,
    pub(super) supports_parallel_flag: bool,
    pub(super) supports_stream_usage: bool,
    pub(super) replay_reasoning: ReplayReasoning,
    pub(super) tool_id_format: IdFormat,
    pub(super) assistant_after_tool: bool,
    pub(super) system_role: SystemRole,
    pub(super) auth: Auth,
}

impl Compat {
    /// What most servers accept.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_tokens_field: MaxTokensField::MaxTokens,
            supports_temperature: true,
            supports_parallel_flag: true,
            supports_stream_usage: true,
            replay_reasoning: ReplayReasoning::None,
            tool_id_format: IdFormat::AsReceived,
            assistant_after_tool: false,
            system_role: SystemRole::System,
            auth: Auth::Bearer,
        }
    }

    /// Sets the field that limits the length of a reply.
    #[must_use]
    pub const fn with_max_tokens_field(mut self, field: MaxTokensField) -> Self {
        self.max_tokens_field = field;
        self
    }

    /// Says that the model takes no temperature: one that a request asks for is left out. Without this setting an
    /// endpoint that refuses it answers with an error.
    #[must_use]
    pub const fn without_temperature(mut self) -> Self {
        self.supports_temperature = false;
        self
    }

    /// Says that `parallel_tool_calls` may not be sent; a request that sets it is refused.
    #[must_use]
    pub const fn without_parallel_flag(mut self) -> Self {
        self.supports_parallel_flag = false;
        self
    }

    /// Says that `stream_options` may not be sent, which asks for token counts at the end of a stream.
    #[must_use]
    pub const fn without_stream_usage(mut self) -> Self {
        self.supports_stream_usage = false;
        self
    }

    /// Sets in which form the model's reasoning is sent back.
    #[must_use]
    pub const fn with_replay_reasoning(mut self, form: ReplayReasoning) -> Self {
        self.replay_reasoning = form;
        self
    }

    /// Sets which ids of tool calls the endpoint accepts.
    #[must_use]
    pub const fn with_tool_id_format(mut self, format: IdFormat) -> Self {
        self.tool_id_format = format;
        self
    }

    /// Says that a user message may not follow tool results directly; a short assistant message goes between.
    #[must_use]
    pub const fn with_assistant_after_tool(mut self) -> Self {
        self.assistant_after_tool = true;
        self
    }

    /// Sets the role that carries the system prompt.
    #[must_use]
    pub const fn with_system_role(mut self, role: SystemRole) -> Self {
        self.system_role = role;
        self
    }

    /// Sets how the key is sent.
    #[must_use]
    pub const fn with_auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }
}

impl Default for Compat {
    fn default() -> Self {
        Self::new()
    }
}

/// The field that limits the length of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MaxTokensField {
    /// `max_tokens`, which most servers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which reasoning models of OpenAI ask for.
    MaxCompletionTokens,
}

/// How a model's reasoning goes back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ReplayReasoning {
    /// Not at all.
    #[default]
    None,
    /// As the text field `reasoning_content`.
    ReasoningContent,
    /// As the list `reasoning_details`, item by item as received.
    ReasoningDetails,
}

/// Which ids of tool calls an endpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IdFormat {
    /// Any.
    #[default]
    AsReceived,
    /// Exactly nine letters or digits; other ids are mapped to such, the same way each time.
    Alnum9,
}

/// The role that carries the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SystemRole {
    /// `system`.
    #[default]
    System,
    /// `developer`.
    Developer,
}

/// How the key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Auth {
    /// `authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// `api-key: KEY`.
    ApiKeyHeader,
    /// Not at all.
    None,
}
