//! How a command line is understood: words and operators, a small tree, and what each simple command is.
//!
//! `lex.rs` and `parse.rs` read the text, `value.rs`, `brace.rs` and `expand.rs` say what a word can be, `flow.rs`
//! walks the tree, and `command/` models single programs with the tables of [`crate::rules`]. Nothing is evaluated.

pub(crate) mod action;
mod brace;
pub(crate) mod code;
pub(crate) mod command;
mod expand;
pub(crate) mod flow;
pub(crate) mod host;
mod lex;
mod parse;
pub(crate) mod prose;
pub(crate) mod state;
pub(crate) mod syntax;
pub(crate) mod text;
pub(crate) mod value;
mod windows;

/// How deep brackets, substitutions and compounds may nest before the reading gives up on structure.
pub(crate) const MAX_DEPTH: usize = 32;

/// How deep code may hold code (`sh -c`, `eval`, wrappers, functions).
pub(crate) const MAX_NESTING: usize = 24;
