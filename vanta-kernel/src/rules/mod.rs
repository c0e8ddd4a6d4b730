//! The policy as data: programs, their sub-commands and options, paths, names, acts.
//!
//! Adding a program is adding a row. Every table is sorted, searched by binary search, and has a test for its order.

pub(crate) mod act;
pub(crate) mod carriers;
pub(crate) mod launchers;
pub(crate) mod names;
pub(crate) mod own_state;
pub(crate) mod path;
pub(crate) mod programs;
pub(crate) mod sinks;
pub(crate) mod subcommands;
pub(crate) mod table;
pub(crate) mod verbs;

#[cfg(test)]
mod tests;
