//! Tests of vanta-providers through its public interface, against servers on loopback.
#![allow(missing_docs, reason = "tests")]

#[cfg(test)]
mod agent;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod real_model;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod runner;
#[cfg(test)]
mod splits;
