//! The files under `.vanta/`, the wire and the command, through the public API.

mod approvals;
mod cli;
mod digest;
mod events;
mod json;
mod processes;
mod support;
mod wire;
