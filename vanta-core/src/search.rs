//! Port `SearchProvider`: the web, asked for pages. What comes back is untrusted text.

use std::fmt;

use async_trait::async_trait;

use crate::cancel::CancelToken;

/// Finds pages on the web.
///
/// # Contract
/// Sends the query and nothing else. Results are data from outside: callers mark them so before a model reads them.
#[async_trait]
pub trait SearchProvider: Send + Sync + fmt::Debug {
    /// The backend's name, for messages.
    fn name(&self) -> &str;

    /// At most `max_results` hits for `query`, best first.
    ///
    /// # Errors
    /// [`SearchError`] when there is no answer; none found is an empty list.
    async fn search(
        &self,
        query: &str,
        max_results: usize,
        cancel: &CancelToken,
    ) -> Result<Vec<SearchHit>, SearchError>;
}

/// One page that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    title: String,
    url: String,
    snippet: String,
}

impl SearchHit {
    /// A page at `url`.
    pub fn new(title: impl Into<String>, url: impl Into<String>, snippet: impl Into<String>) -> Self {
        Self { title: title.into(), url: url.into(), snippet: snippet.into() }
    }

    /// The page's title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A piece of its text.
    #[must_use]
    pub fn snippet(&self) -> &str {
        &self.snippet
    }
}

/// Why a search gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// This backend cannot answer now; another may.
    #[error("{0}")]
    Unavailable(String),
    /// The query itself is wrong; no backend will take it.
    #[error("{0}")]
    BadQuery(String),
}
