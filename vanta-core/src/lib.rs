//! Agents whose every action passes a safety boundary that the model cannot argue with.
//!
//! Bring a model ([`LlmProvider`]) and tools ([`Tool`]); get a loop that is bounded, resumable and honest about what
//! it did. The boundary is [`vanta_kernel`]: a pure function that answers Allow, Ask or Block. Allow runs, Ask waits for
//! a person, Block never executes.
//!
//! ```
//! use vanta_core::testing::{ScriptedApprover, ScriptedProvider};
//! use vanta_core::{Agent, Scope, ToolRegistry, tool::ToolOutput, typed::tool_fn};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     name: String,
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let greet = tool_fn("greet", "Greets somebody", |args: Greet| async move {
//!     ToolOutput::ok(format!("Hello, {}!", args.name))
//! });
//! let model = ScriptedProvider::new().call("greet", serde_json::json!({"name": "Ada"})).text("Done.");
//! let agent = Agent::builder()
//!     .provider(model)
//!     .tools(ToolRegistry::new().with(greet))
//!     .scope(Scope::new("/srv/app"))
//!     // The kernel knows nothing of `greet`, so its best verdict is Ask. Somebody has to say yes.
//!     .approver(ScriptedApprover::approve_all())
//!     .build()?;
//! let report = agent.run("Greet Ada").await?;
//! assert_eq!(report.text(), Some("Done."));
//! # Ok::<(), vanta_core::AgentError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to read next
//!
//! | Module | Holds |
//! |---|---|
//! | [`agent`] | the agent, its builder, and the driver of the loop |
//! | [`run`] | every decision of the loop, as a machine without IO that your own driver can use |
//! | [`provider`], [`tool`], [`gate`], [`approver`], [`ledger`], [`session`], [`search`] | the ports |
//! | [`execute`] | the one caller of a tool, for drivers |
//! | [`permission`], [`limits`](Limits), [`retry`] | what bounds a run |
//! | [`event`], [`effect`] | what others see of it |
//!
//! A tool's time limit and the runtime: on a current-thread runtime limits work for tools that yield; a tool that blocks
//! its thread needs a multi-thread runtime. Panics are caught where panics unwind, which is the default.
#![forbid(unsafe_code)]

pub mod agent;
pub mod approver;
mod cancel;
pub mod clock;
pub mod context;
pub mod effect;
mod error;
pub mod event;
pub mod execute;
pub mod gate;
pub mod ledger;
mod limits;
pub mod message;
pub mod permission;
pub mod provider;
pub mod retry;
pub mod run;
mod schema;
pub mod search;
pub mod session;
mod slots;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tool;
pub mod typed;

pub use agent::{Agent, AgentBuilder, Task};
pub use approver::{Approver, Decision};
/// What implementations of the ports are annotated with.
pub use async_trait::async_trait;
pub use cancel::CancelToken;
pub use error::AgentError;
pub use gate::SafetyGate;
pub use limits::{Limit, Limits};
pub use message::Message;
pub use permission::Mode;
pub use provider::LlmProvider;
pub use run::{ClearedCall, Outcome, Report, Run, Step};
pub use slots::Slots;
pub use tool::{Tool, ToolOutput, ToolRegistry};
pub use typed::TypedTool;
pub use vanta_kernel::{
    Action, Command, Effect, Finding, PathClass, PathUse, Reading, Risk, Scope, Verdict, read,
};

#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../README.md")]
struct Readme;
