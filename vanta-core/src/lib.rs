//! Agents whose every action passes a safety boundary.
#![forbid(unsafe_code)]

mod cancel;
pub mod context;
pub mod message;
pub mod provider;
pub mod run;
mod slots;
pub mod tool;
pub mod typed;

pub use cancel::CancelToken;
pub use provider::LlmProvider;
pub use run::ClearedCall;
pub use slots::Slots;
pub use tool::{Tool, ToolRegistry};
pub use typed::TypedTool;
pub use vanta_kernel::{Action, Finding, Risk, Scope, Verdict};
