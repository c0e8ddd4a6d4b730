#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "openai-compatible"),
    allow(dead_code, reason = "what adapters share is used only where there is one")
)]

pub mod retry;
pub mod sse;

#[cfg(feature = "http")]
mod errors;
#[cfg(feature = "http")]
mod hints;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
mod secret;
#[cfg(feature = "http")]
mod tls;

#[cfg(feature = "openai-compatible")]
pub mod openai_compatible;

#[cfg(feature = "http")]
pub use http::{HttpClient, TimeLimits};
#[cfg(feature = "openai-compatible")]
pub use openai_compatible::OpenAiCompatible;
pub use retry::Retry;
#[cfg(feature = "http")]
pub use secret::Secret;
