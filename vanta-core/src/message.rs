//! Messages and their parts: what a person, a model and tools said, in order, losing nothing.
//!
//! A [`Message`] is immutable and shared: cloning one copies a pointer. What a model sent beside its text
//! (signatures, encrypted reasoning, unknown items) stays in [`Origin`] as it was received, so that it can be
//! sent back to the provider it came from.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object: tool arguments.
pub type JsonObject = Map<String, Value>;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// A person, or the program that acts for one.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

/// One message: a role and ordered parts. Immutable; clones share the content.
///
/// ```
/// use vanta_core::message::{Message, Role};
///
/// let message = Message::user("What is in this folder?");
/// assert_eq!(message.role(), Role::User);
/// assert_eq!(message.text(), "What is in this folder?");
/// ```
#[derive(Clone)]
pub struct Message(Arc<Inner>);

struct Inner {
    key: u64,
    role: Role,
    parts: Vec<ContentPart>,
}

impl Message {
    /// A message of `role` with `parts` in order.
    #[must_use]
    pub fn new(role: Role, parts: Vec<ContentPart>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(Inner { key: NEXT.fetch_add(1, Ordering::Relaxed), role, parts }))
    }

    /// A user's text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![ContentPart::Text(text.into())])
    }

    /// A model's text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![ContentPart::Text(text.into())])
    }

    /// The results of one reply's tool calls, in call order.
    #[must_use]
    pub fn tool_results(results: Vec<ToolResult>) -> Self {
        Self::new(Role::Tool, results.into_iter().map(ContentPart::ToolResult).collect())
    }

    /// A number that no other message of this process has; equal for clones. Adapters key caches by it.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.0.key
    }

    /// Who speaks.
    #[must_use]
    pub fn role(&self) -> Role {
        self.0.role
    }

    /// The parts, in order.
    #[must_use]
    pub fn parts(&self) -> &[ContentPart] {
        &self.0.parts
    }

    /// The text parts, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts()
            .iter()
            .filter_map(|part| if let ContentPart::Text(t) = part { Some(t.as_str()) } else { None })
            .collect()
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts()
            .iter()
            .filter_map(|part| if let ContentPart::ToolCall(call) = part { Some(call) } else { None })
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.role() == other.role() && self.parts() == other.parts()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("role", &self.role()).field("parts", &self.parts()).finish()
    }
}

#[derive(Serialize, Deserialize)]
struct MessageForm<P> {
    role: Role,
    parts: P,
}

impl Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        MessageForm { role: self.role(), parts: self.parts() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        MessageForm::<Vec<ContentPart>>::deserialize(deserializer)
            .map(|form| Self::new(form.role, form.parts))
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentPart {
    /// Plain text.
    Text(String),
    /// An image, given by a person.
    Image(Media),
    /// A document, given by a person.
    Document(Media),
    /// The model's reasoning, as far as it is readable.
    Thinking(Thinking),
    /// The model declined, in its own words.
    Refusal(String),
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
    /// Something only its provider understands; kept to be sent back.
    Opaque(Origin),
}

/// Bytes with a media type.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    mime: String,
    base64: String,
}

impl Media {
    /// Media of type `mime` whose bytes are given in base64.
    pub fn from_base64(mime: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { mime: mime.into(), base64: base64.into() }
    }

    /// The media type, such as `image/png`.
    #[must_use]
    pub fn mime(&self) -> &str {
        &self.mime
    }

    /// The bytes in base64.
    #[must_use]
    pub fn base64(&self) -> &str {
        &self.base64
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({}, {} base64 characters)", self.mime, self.base64.len())
    }
}

/// Reasoning text with what its provider needs to take it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thinking {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
}

impl Thinking {
    /// Reasoning that reads `text`.
    pub fn new(text: impl Into<String>, origin: Option<Origin>) -> Self {
        Self { text: text.into(), origin }
    }

    /// The readable text; may be empty.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The provider's own item.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }
}

/// Where a part came from, with the provider's own item as it was received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    provider: String,
    model: String,
    wire: Value,
}

impl Origin {
    /// An item `wire` of `model` at `provider`.
    pub fn new(provider: impl Into<String>, model: impl Into<String>, wire: Value) -> Self {
        Self { provider: provider.into(), model: model.into(), wire }
    }

    /// The adapter's name; only the same adapter may replay [`Origin::wire`].
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// The model that wrote it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The item, verbatim.
    #[must_use]
    pub fn wire(&self) -> &Value {
        &self.wire
    }
}

/// Names one tool call; unique within a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// A call named `id`. Adapters mint one where the wire gave none, an empty one or one used before.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A model's request to run a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    id: CallId,
    name: String,
    args: Args,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
}

impl ToolCall {
    /// A call `id` of tool `name`.
    pub fn new(id: CallId, name: impl Into<String>, args: Args) -> Self {
        Self { id, name: name.into(), args, origin: None }
    }

    /// Adds the provider's own item.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// The same call under another id.
    #[must_use]
    pub fn with_id(mut self, id: CallId) -> Self {
        self.id = id;
        self
    }

    /// The call's id.
    #[must_use]
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// The tool's name as the model gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments, parsed or not.
    #[must_use]
    pub fn args(&self) -> &Args {
        &self.args
    }

    /// The provider's own item.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }
}

/// The arguments of a call: the text as received, and its reading.
///
/// Text that does not parse stays text. It never becomes `{}`.
///
/// ```
/// use vanta_core::message::Args;
///
/// assert!(Args::parse(r#"{"path":"a.txt"}"#).object().is_ok());
/// assert!(Args::parse("").object().is_ok_and(|args| args.is_empty()));
/// assert!(Args::parse(r#"{"path":"a.t"#).object().is_err());
/// assert!(Args::parse(r#"{"path":"a","path":"b"}"#).object().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Args {
    raw: String,
    value: Result<JsonObject, ArgsError>,
}

impl Args {
    /// Reads the arguments of a complete turn. Empty text means no arguments.
    ///
    /// Anything but one JSON object without repeated keys is kept as invalid.
    pub fn parse(raw: impl Into<String>) -> Self {
        let raw = raw.into();
        let value = parse_object(&raw);
        Self { raw, value }
    }

    /// Arguments that must not be used, with the reason: the text of a turn that was cut, for example.
    pub fn invalid(raw: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { raw: raw.into(), value: Err(ArgsError(reason.into())) }
    }

    /// Arguments made by a program.
    #[must_use]
    pub fn from_object(object: JsonObject) -> Self {
        Self { raw: Value::Object(object.clone()).to_string(), value: Ok(object) }
    }

    /// The text as received.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The arguments.
    ///
    /// # Errors
    /// [`ArgsError`] says why the text is not one JSON object; tell the model, run nothing.
    pub fn object(&self) -> Result<&JsonObject, &ArgsError> {
        self.value.as_ref()
    }
}

fn parse_object(raw: &str) -> Result<JsonObject, ArgsError> {
    if raw.trim().is_empty() {
        return Ok(JsonObject::new());
    }
    // The kernel's reader is the strict one: it refuses repeated keys, which serde_json resolves silently.
    vanta_kernel::json::Json::parse(raw).map_err(|error| ArgsError(error.to_string()))?;
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ArgsError("the arguments are not a JSON object".into())),
        Err(error) => Err(ArgsError(error.to_string())),
    }
}

#[derive(Serialize, Deserialize)]
struct ArgsForm {
    raw: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invalid: Option<String>,
}

impl Serialize for Args {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let invalid = self.value.as_ref().err().map(|error| error.0.clone());
        ArgsForm { raw: self.raw.clone(), invalid }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = ArgsForm::deserialize(deserializer)?;
        Ok(match form.invalid {
            Some(reason) => Self::invalid(form.raw, reason),
            None => Self::parse(form.raw),
        })
    }
}

/// Why arguments cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArgsError(String);

/// What a tool answered to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    call_id: CallId,
    name: String,
    content: String,
    is_error: bool,
}

impl ToolResult {
    /// The answer `content` of tool `name` to call `call_id`.
    pub fn new(call_id: CallId, name: impl Into<String>, content: impl Into<String>) -> Self {
        Self { call_id, name: name.into(), content: content.into(), is_error: false }
    }

    /// Marks the answer as a failure.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// The call that is answered.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The tool's name; some providers pair by it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The answer's text.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Whether the tool failed, or the call did not run.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}
