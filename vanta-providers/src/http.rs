//! The shared HTTP client: time limits by name, no redirects, no proxy for loopback, no key in any error.
//!
//! There is no limit on the whole time of a request, because healthy streams can be long; what counts is
//! silence. The types of the HTTP library stay inside this module.

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use vanta_core::CancelToken;
use vanta_core::provider::{ErrorClass, ProviderError};

use crate::secret::Secret;
use crate::{hints, tls};

/// Longest wait for a connection.
pub const CONNECT: Duration = Duration::from_secs(10);
/// Longest wait for the head of a streamed answer.
pub const FIRST_BYTE: Duration = Duration::from_secs(60);
/// Longest silence within an answer. Also the wait for the head where the whole reply is computed before it:
/// unstreamed requests, and servers on this machine.
pub const IDLE: Duration = Duration::from_secs(300);
/// Most bytes of an answer that is read whole.
pub const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// Most bytes of an error answer that are looked at.
pub const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Longest time spent on the body of an error answer.
const ERROR_BODY: Duration = Duration::from_secs(10);
/// Most characters of another's text in an error.
const MAX_TEXT: usize = 400;
/// Idle connections are closed before most servers close them.
const POOL_IDLE: Duration = Duration::from_secs(50);

/// How long to wait for what.
///
/// ```
/// use std::time::Duration;
/// use vanta_providers::TimeLimits;
///
/// let limits = TimeLimits::new().with_idle(Duration::from_secs(20));
/// assert_eq!(limits.idle(), Duration::from_secs(20));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    first_byte: Option<Duration>,
    idle: Duration,
}

impl TimeLimits {
    /// The defaults: [`FIRST_BYTE`] and [`IDLE`].
    #[must_use]
    pub fn new() -> Self {
        Self { first_byte: None, idle: IDLE }
    }

    /// Sets the longest wait for the head of an answer, of whatever kind.
    #[must_use]
    pub fn with_first_byte(mut self, limit: Duration) -> Self {
        self.first_byte = Some(limit);
        self
    }

    /// Sets the longest silence within an answer; comments of a stream end a silence too.
    #[must_use]
    pub fn with_idle(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// The longest wait for the head of an answer, where one was set.
    #[must_use]
    pub fn first_byte(&self) -> Option<Duration> {
        self.first_byte
    }

    /// The longest silence within an answer.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.idle
    }
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// Which proxy requests take. Loopback addresses never take one.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// What `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    #[default]
    Environment,
    /// None.
    Off,
    /// This one, given as a URL.
    Url(Secret),
}

/// Connections to services, shared by every adapter that holds a clone. Nothing is set up before it is needed.
#[derive(Clone)]
pub struct HttpClient(Arc<Shared>);

struct Shared {
    connect: Duration,
    proxy: Proxy,
    outward: OnceLock<reqwest::Client>,
    loopback: OnceLock<reqwest::Client>,
    /// For loopback without TLS, which most local servers are: spares reading the root certificates.
    plain: OnceLock<reqwest::Client>,
}

impl HttpClient {
    /// A client with the usual settings.
    #[must_use]
    pub fn new() -> Self {
        Self::with_settings(CONNECT, Proxy::Environment)
    }

    /// A client that waits `connect` for a connection and goes through `proxy`.
    #[must_use]
    pub fn with_settings(connect: Duration, proxy: Proxy) -> Self {
        let [outward, loopback, plain] = [const { OnceLock::new() }; 3];
        Self(Arc::new(Shared { connect, proxy, outward, loopback, plain }))
    }

    /// Sends `request` and waits for the head of the answer, whatever its status.
    pub(crate) async fn post(&self, request: Post<'_>) -> Result<Answer, ProviderError> {
        let Post { target, headers, body, first_byte, idle, cancel } = request;
        let sending = self.for_target(target)?.post(target.url.clone()).headers(headers).body(body).send();
        let sent = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(cancelled()),
            sent = tokio::time::timeout(first_byte, sending) => sent,
        };
        match sent {
            Err(_) => Err(ProviderError::new(
                ErrorClass::Timeout,
                format!("no answer from `{}` within {first_byte:?}", target.place()),
            )),
            Ok(Err(error)) => Err(target.failure(error)),
            Ok(Ok(response)) => {
                Ok(Answer { response, idle, cancel: cancel.clone(), target: Arc::clone(target) })
            }
        }
    }

    fn for_target(&self, target: &Target) -> Result<&reqwest::Client, ProviderError> {
        let shared = &*self.0;
        let is_plain = target.url.scheme() == "http";
        let (slot, proxy, tls): (_, _, fn() -> _) = match (target.is_loopback(), is_plain) {
            (true, true) => (&shared.plain, &Proxy::Off, tls::without_roots),
            (true, false) => (&shared.loopback, &Proxy::Off, tls::config),
            (false, _) => (&shared.outward, &shared.proxy, tls::config),
        };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let client = build(shared.connect, proxy, tls)?;
        Ok(slot.get_or_init(|| client))
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpClient")
    }
}

fn build(
    connect: Duration,
    proxy: &Proxy,
    tls: fn() -> Result<rustls::ClientConfig, rustls::Error>,
) -> Result<reqwest::Client, ProviderError> {
    let wrong = |what: String| ProviderError::new(ErrorClass::Transport, what).with_retryable(false);
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls().map_err(|error| wrong(format!("no TLS on this machine: {error}")))?)
        .user_agent(concat!("vanta/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        .pool_idle_timeout(POOL_IDLE)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never());
    let builder = match proxy {
        Proxy::Environment => builder,
        Proxy::Off => builder.no_proxy(),
        Proxy::Url(url) => {
            let proxy = reqwest::Proxy::all(url.expose());
            builder.proxy(proxy.map_err(|_| wrong("the proxy's URL cannot be read".into()))?)
        }
    };
    builder.build().map_err(|error| wrong(chain(&error.without_url())))
}

/// One request.
pub(crate) struct Post<'a> {
    pub(crate) target: &'a Arc<Target>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) first_byte: Duration,
    pub(crate) idle: Duration,
    pub(crate) cancel: &'a CancelToken,
}

/// An address and the secrets that may not show up in an error about it.
pub(crate) struct Target {
    url: Url,
    secrets: Vec<Secret>,
}

impl Target {
    /// Reads an address of the web.
    pub(crate) fn parse(url: &str, mut secrets: Vec<Secret>) -> Result<Self, ProviderError> {
        let wrong = |why: String| ProviderError::new(ErrorClass::InvalidRequest, why);
        let url = Url::parse(url).map_err(|error| wrong(format!("the base URL cannot be read: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("the base URL does not start with `http://` or `https://`".into()));
        }
        secrets.extend(url.password().map(Secret::from));
        Ok(Self { url, secrets })
    }

    /// Adds `name=value` to the query.
    pub(crate) fn add_query(&mut self, name: &str, value: &Secret) {
        self.url.query_pairs_mut().append_pair(name, value.expose());
        if is_sensitive(name) {
            self.secrets.push(value.clone());
        }
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        address.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
            || host == "localhost"
            || host.ends_with(".localhost")
    }

    /// Host and path: what an error may name.
    pub(crate) fn place(&self) -> String {
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        self.clean(&format!("{}{port}{}", self.url.host_str().unwrap_or_default(), self.url.path()))
    }

    /// Another's `text`, on one line, shortened, without secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let scrubbed = self.secrets.iter().fold(line, |text, secret| secret.scrub(&text));
        match scrubbed.char_indices().nth(MAX_TEXT) {
            Some((at, _)) => format!("{}…", scrubbed.split_at_checked(at).map_or("", |(start, _)| start)),
            None => scrubbed,
        }
    }

    fn failure(&self, error: reqwest::Error) -> ProviderError {
        let class = if error.is_timeout() { ErrorClass::Timeout } else { ErrorClass::Transport };
        let what = if error.is_connect() { "no connection to" } else { "the connection broke:" };
        let why = self.clean(&chain(&error.without_url()));
        ProviderError::new(class, format!("{what} `{}`: {why}", self.place()))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}

/// Whether a header or a query field of this name holds a secret.
pub(crate) fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "auth", "secret", "cookie", "password"].iter().any(|word| name.contains(word))
}

/// A header that is masked in everything that is printed.
pub(crate) fn secret_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ProviderError> {
    let wrong = |what| {
        ProviderError::new(ErrorClass::InvalidRequest, format!("header `{name}` has an invalid {what}"))
    };
    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name"))?;
    let mut value = HeaderValue::from_str(value).map_err(|_| wrong("value"))?;
    value.set_sensitive(true);
    Ok((key, value))
}

/// The head of an answer, and its body as it arrives.
pub(crate) struct Answer {
    response: reqwest::Response,
    idle: Duration,
    cancel: CancelToken,
    target: Arc<Target>,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn content_type(&self) -> &str {
        self.header(CONTENT_TYPE.as_str()).unwrap_or_default()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The service's id of the request.
    pub(crate) fn request_id(&self) -> Option<&str> {
        const NAMES: [&str; 5] =
            ["x-request-id", "request-id", "apim-request-id", "x-amzn-requestid", "cf-ray"];
        NAMES.iter().find_map(|name| self.header(name))
    }

    /// The least wait the headers ask for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        hints::from_headers(|name| self.header(name), SystemTime::now())
    }

    /// What the service says itself about trying again.
    pub(crate) fn should_retry(&self) -> Option<bool> {
        match self.header("x-should-retry")? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The longest silence allowed.
    pub(crate) fn idle(&self) -> Duration {
        self.idle
    }

    /// The next bytes of the body, within `limit`; `None` at its end.
    pub(crate) async fn chunk(
        &mut self,
        limit: Duration,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, ProviderError> {
        let read = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(cancelled()),
            read = tokio::time::timeout(limit, self.response.chunk()) => read,
        };
        match read {
            Ok(result) => result.map_err(|error| self.target.failure(error)),
            Err(_) => Err(ProviderError::new(
                ErrorClass::Timeout,
                format!("`{}` has sent nothing for {limit:?}", self.target.place()),
            )),
        }
    }

    /// The start of an error's body, as far as it arrives: its failures matter less than the error itself.
    pub(crate) async fn error_body(&mut self) -> Vec<u8> {
        let deadline = Instant::now() + ERROR_BODY;
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.chunk(deadline.saturating_duration_since(Instant::now())).await {
            body.extend_from_slice(&chunk);
            if body.len() >= MAX_ERROR_BYTES {
                body.truncate(MAX_ERROR_BYTES);
                break;
            }
        }
        body
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status()).field("target", &self.target).finish()
    }
}

fn cancelled() -> ProviderError {
    ProviderError::new(ErrorClass::Transport, "the request was cancelled").with_retryable(false)
}

/// An error and its causes as one text.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_recognised_in_all_its_forms() {
        let loopback = |url| Target::parse(url, Vec::new()).unwrap().is_loopback();
        assert!(
            [
                "http://127.0.0.1:1/v1",
                "http://[::1]:1",
                "http://localhost",
                "http://0.0.0.0:1",
                "http://a.localhost"
            ]
            .into_iter()
            .all(loopback)
        );
        assert!(
            !["http://127.0.0.1.example.com", "https://example.com", "http://10.0.0.1"]
                .into_iter()
                .any(loopback)
        );
    }

    #[test]
    fn a_target_names_neither_query_nor_user() {
        let mut target = Target::parse("https://me:hunter22hunter@example.com/v1", Vec::new()).unwrap();
        target.add_query("api_key", &Secret::new("0123456789abcdef"));
        assert_eq!(format!("{target:?}"), "example.com/v1");
        assert_eq!(target.clean("got 0123456789abcdef\n and hunter22hunter"), "got [secret] and [secret]");
        assert!(Target::parse("ftp://example.com", Vec::new()).is_err());
        assert!(Target::parse("no url", Vec::new()).is_err());
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let target = Target::parse("https://example.com", Vec::new()).unwrap();
        assert_eq!(target.clean(&"é".repeat(1000)).chars().count(), MAX_TEXT + 1);
    }
}
