//! Chat Completions, as OpenAI made it and many servers speak it, each with its own accent.
//!
//! [`OpenAiCompatible`] is the adapter, [`Compat`] says what an endpoint does differently, [`Preset`] lists known
//! ones. The rest is private: `wire` holds the protocol's JSON, `convert` and `history` write requests, `reply`
//! and `calls` build the reply, `stream` reads the answer.

mod calls;
mod compat;
mod convert;
mod details;
mod history;
mod ids;
mod presets;
mod reply;
mod stream;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use vanta_core::LlmProvider;
use vanta_core::provider::{ErrorClass, ModelContext, ModelInfo, ModelRequest, ProviderError, ReplyStream};

pub use compat::{Auth, Compat, IdFormat, MaxTokensField, ReplayReasoning, SystemRole};
pub use presets::Preset;

use self::convert::Style;
use self::reply::ReplyBuilder;
use crate::http::{FIRST_BYTE, HttpClient, Post, Target, TimeLimits, is_sensitive, secret_header};
use crate::{Secret, errors};

/// A model behind an endpoint that speaks Chat Completions. Clones share everything.
///
/// ```
/// use vanta_core::LlmProvider;
/// use vanta_providers::OpenAiCompatible;
/// use vanta_providers::openai_compatible::Preset;
///
/// # fn main() -> Result<(), vanta_core::provider::ProviderError> {
/// let local = OpenAiCompatible::builder("http://127.0.0.1:8080/v1", "qwen3").build()?;
/// assert_eq!(local.model_id(), "qwen3");
///
/// let preset = Preset::find("openrouter").unwrap();
/// let hosted = OpenAiCompatible::from_preset(preset, "some/model").api_key("sk-…").build()?;
/// assert_eq!(hosted.model().provider(), "openrouter");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAiCompatible(Arc<Inner>);

struct Inner {
    model: Arc<ModelInfo>,
    target: Arc<Target>,
    headers: HeaderMap,
    compat: Compat,
    delivery: Delivery,
    limits: TimeLimits,
    extra: Map<String, Value>,
    client: HttpClient,
    /// Tells transcripts of different settings apart.
    number: u64,
}

/// How a reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// As a stream.
    #[default]
    Stream,
    /// In one piece, for servers that do not stream well. Events come all at once, at the end.
    Whole,
}

impl OpenAiCompatible {
    /// Sets up `model` at `base_url`, such as `http://127.0.0.1:8080/v1`.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiCompatibleBuilder {
        OpenAiCompatibleBuilder {
            base_url: base_url.into(),
            model: model.into(),
            provider: "openai-compatible".into(),
            context_window: None,
            key: None,
            compat: Compat::new(),
            delivery: Delivery::Stream,
            limits: TimeLimits::new(),
            headers: Vec::new(),
            query: Vec::new(),
            azure: None,
            extra: Map::new(),
            client: None,
        }
    }

    /// Sets up `model` at a known endpoint. The key is still to be given.
    pub fn from_preset(preset: &Preset, model: impl Into<String>) -> OpenAiCompatibleBuilder {
        Self::builder(preset.base_url(), model).provider(preset.name()).compat(preset.compat())
    }

    fn encode(&self, request: &ModelRequest, cx: &ModelContext) -> Result<Vec<u8>, ProviderError> {
        let Inner { compat, model, delivery, extra, number, .. } = &*self.0;
        let style = Style { compat: *compat, model };
        let mut body = convert::options(request, &style, *delivery == Delivery::Stream, extra)?;
        // The object is opened again and gets its last fields.
        body.pop();
        if !request.tools().is_empty() {
            body.extend_from_slice(b",\"tools\":");
            history::append_tools(&mut body, cx.slots(), request.tools())?;
        }
        body.extend_from_slice(b",\"messages\":[");
        let start = body.len();
        let prompt = request.prompt().text();
        if !prompt.is_empty() {
            convert::system(&mut body, &prompt, &style)?;
        }
        history::append(&mut body, cx.slots(), *number, request.messages(), &style)?;
        // Every message was written behind a comma; the first needs none, and JSON does not mind a space.
        if let Some(comma) = body.get_mut(start) {
            *comma = b' ';
        }
        body.extend_from_slice(b"]}");
        Ok(body)
    }
}

#[async_trait]
impl LlmProvider for OpenAiCompatible {
    fn model(&self) -> &ModelInfo {
        &self.0.model
    }

    async fn stream(&self, request: ModelRequest, cx: &ModelContext) -> Result<ReplyStream, ProviderError> {
        let Inner { target, headers, limits, client, model, .. } = &*self.0;
        let post = Post {
            target,
            headers: headers.clone(),
            body: self.encode(&request, cx)?,
            first_byte: self.0.first_byte(),
            idle: limits.idle(),
            cancel: cx.cancel(),
        };
        let answer = client.post(post).await?;
        if !(200..300).contains(&answer.status()) {
            return Err(errors::from_answer(answer).await);
        }
        stream::read(answer, ReplyBuilder::new(Arc::clone(model), request, Arc::clone(target))).await
    }
}

impl Inner {
    /// A head that comes only when the whole reply is ready takes longer; so does one from a small machine.
    fn first_byte(&self) -> std::time::Duration {
        let patient = self.delivery == Delivery::Whole || self.target.is_loopback();
        let usual = if patient { self.limits.idle().max(FIRST_BYTE) } else { FIRST_BYTE };
        self.limits.first_byte().unwrap_or(usual)
    }
}

impl fmt::Debug for OpenAiCompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiCompatible")
            .field("model", &self.0.model)
            .field("target", &self.0.target)
            .field("compat", &self.0.compat)
            .finish_non_exhaustive()
    }
}

/// Settings of an [`OpenAiCompatible`].
#[derive(Debug, Clone)]
pub struct OpenAiCompatibleBuilder {
    base_url: String,
    model: String,
    provider: String,
    context_window: Option<u64>,
    key: Option<Secret>,
    compat: Compat,
    delivery: Delivery,
    limits: TimeLimits,
    headers: Vec<(String, Secret)>,
    query: Vec<(String, Secret)>,
    azure: Option<(String, String)>,
    extra: Map<String, Value>,
    client: Option<HttpClient>,
}

impl OpenAiCompatibleBuilder {
    /// Sets the key.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets what the endpoint does differently.
    #[must_use]
    pub fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Names the endpoint. Opaque parts of a message go back only to a provider of the same name.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>) -> Self {
        self.provider = name.into();
        self
    }

    /// Sets how many tokens fit the model's window.
    #[must_use]
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets time limits.
    #[must_use]
    pub fn time_limits(mut self, limits: TimeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how replies are asked for.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Adds a header. Its value is never shown.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a field to the query.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds a field of the endpoint's own to every request body.
    #[must_use]
    pub fn extra_body(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.insert(name.into(), value);
        self
    }

    /// Speaks to a deployment at Azure, whose base URL is the resource's address. The key goes into the `api-key`
    /// header.
    #[must_use]
    pub fn azure(mut self, deployment: impl Into<String>, api_version: impl Into<String>) -> Self {
        self.azure = Some((deployment.into(), api_version.into()));
        self.compat = self.compat.with_auth(Auth::ApiKeyHeader);
        self
    }

    /// Shares connections with other adapters.
    #[must_use]
    pub fn client(mut self, client: HttpClient) -> Self {
        self.client = Some(client);
        self
    }

    /// Puts the adapter together. Sends nothing.
    ///
    /// # Errors
    /// [`ErrorClass::InvalidRequest`] for a URL, header or extra field that cannot be used.
    pub fn build(self) -> Result<OpenAiCompatible, ProviderError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        if let Some(name) = RESERVED.iter().find(|name| self.extra.contains_key(**name)) {
            let text = format!("the field `{name}` is set by the request itself");
            return Err(ProviderError::new(ErrorClass::InvalidRequest, text));
        }
        let headers = self.header_map()?;
        let target = self.target()?;
        let mut model = ModelInfo::new(self.provider, self.model);
        if let Some(tokens) = self.context_window {
            model = model.with_context_window(tokens);
        }
        Ok(OpenAiCompatible(Arc::new(Inner {
            model: Arc::new(model),
            target: Arc::new(target),
            headers,
            compat: self.compat,
            delivery: self.delivery,
            limits: self.limits,
            extra: self.extra,
            client: self.client.unwrap_or_default(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        })))
    }

    fn header_map(&self) -> Result<HeaderMap, ProviderError> {
        let mut map = HeaderMap::new();
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = match self.delivery {
            Delivery::Stream => "text/event-stream, application/json",
            Delivery::Whole => "application/json",
        };
        map.insert(ACCEPT, HeaderValue::from_static(accept));
        let auth = self.key.as_ref().and_then(|key| match self.compat.auth {
            Auth::Bearer => Some(("authorization", format!("Bearer {}", key.expose()))),
            Auth::ApiKeyHeader => Some(("api-key", key.expose().to_owned())),
            Auth::None => None,
        });
        let extra = self.headers.iter().map(|(name, value)| (name.as_str(), value.expose().to_owned()));
        for (name, value) in auth.into_iter().chain(extra) {
            let (name, value) = secret_header(name, &value)?;
            map.insert(name, value);
        }
        Ok(map)
    }

    fn target(&self) -> Result<Target, ProviderError> {
        let base = self.base_url.trim_end_matches('/');
        let url = match &self.azure {
            Some((deployment, _)) => {
                let base = base.strip_suffix("/openai").unwrap_or(base);
                format!("{base}/openai/deployments/{deployment}{ENDPOINT}")
            }
            None if base.ends_with(ENDPOINT) => base.to_owned(),
            None => format!("{base}{ENDPOINT}"),
        };
        let sensitive = self.headers.iter().filter(|(name, _)| is_sensitive(name)).map(|(_, value)| value);
        let mut target = Target::parse(&url, self.key.iter().chain(sensitive).cloned().collect())?;
        if let Some((_, version)) = &self.azure {
            target.add_query("api-version", &Secret::from(version.as_str()));
        }
        self.query.iter().for_each(|(name, value)| target.add_query(name, value));
        Ok(target)
    }
}

const ENDPOINT: &str = "/chat/completions";

/// Fields of a body that a request sets itself.
const RESERVED: &[&str] = &["messages", "model", "stream", "tools", "tool_choice"];
