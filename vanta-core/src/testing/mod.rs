//! Test doubles for the ports. Feature `testing`; not covered by semantic versioning.

mod approver;
mod gate;
mod provider;

pub use approver::ScriptedApprover;
pub use gate::RecordingGate;
pub use provider::ScriptedProvider;
