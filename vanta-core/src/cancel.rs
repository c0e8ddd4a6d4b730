//! Stopping work: a token that is handed down and checked at every wait.

use tokio_util::sync::CancellationToken;

/// Tells everything that holds a clone to stop. Cannot be taken back.
///
/// ```
/// use vanta_core::CancelToken;
///
/// let token = CancelToken::new();
/// let child = token.child();
/// token.cancel();
/// assert!(child.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(CancellationToken);

impl CancelToken {
    /// A token nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }

    /// Cancels this token and its children.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it is cancelled. Dropping the future waits no longer and changes nothing.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}
