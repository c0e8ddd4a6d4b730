//! Trying again, for callers without a loop.

use std::collections::VecDeque;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use vanta_core::LlmProvider;
use vanta_core::provider::{
    ErrorClass, ModelContext, ModelInfo, ModelRequest, ProviderError, ReplyStream, StreamEvent,
};
use vanta_core::retry::RetryPolicy;

/// Sends a request again when a provider fails before it has shown anything.
///
/// Do not put it under an agent: the loop retries by the same policy, reports each retry, and counts them.
///
/// ```
/// use vanta_core::LlmProvider;
/// use vanta_core::retry::RetryPolicy;
/// use vanta_providers::Retry;
///
/// fn patient(provider: impl LlmProvider) -> impl LlmProvider {
///     Retry::new(provider, RetryPolicy::new().with_max_retries(4))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Retry<P> {
    inner: P,
    policy: RetryPolicy,
}

impl<P: LlmProvider> Retry<P> {
    /// Wraps `inner`; `policy` decides how often and after how long.
    pub fn new(inner: P, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

#[async_trait]
impl<P: LlmProvider> LlmProvider for Retry<P> {
    fn model(&self) -> &ModelInfo {
        self.inner.model()
    }

    async fn stream(&self, request: ModelRequest, cx: &ModelContext) -> Result<ReplyStream, ProviderError> {
        let mut retries = 0;
        loop {
            let error = match begin(&self.inner, request.clone(), cx).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let Some(wait) = self.policy.wait(retries, &error) else { return Err(error) };
            tokio::select! {
                biased;
                () = cx.cancel().cancelled() => return Err(error.with_retryable(false)),
                () = tokio::time::sleep(wait) => {}
            }
            retries = retries.saturating_add(1);
        }
    }
}

/// Reads up to the first event that somebody would see; a failure before it is a failure to begin.
async fn begin<P: LlmProvider>(
    provider: &P,
    request: ModelRequest,
    cx: &ModelContext,
) -> Result<ReplyStream, ProviderError> {
    let mut rest = provider.stream(request, cx).await?;
    let mut seen = VecDeque::new();
    loop {
        match rest.next().await {
            Some(Ok(event)) => {
                let visible = !matches!(event, StreamEvent::Started { .. });
                seen.push_back(Ok(event));
                if visible {
                    return Ok(stream::iter(seen).chain(rest).boxed());
                }
            }
            Some(Err(error)) => return Err(error),
            None => {
                let text = "the stream ended before the reply was finished";
                return Err(ProviderError::new(ErrorClass::StreamTruncated, text));
            }
        }
    }
}
