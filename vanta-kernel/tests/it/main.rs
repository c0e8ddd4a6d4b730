//! The kernel's pure part through its public API: the labelled corpus, hand-written cases, hostile input.

mod cases;
mod corpus;
mod hostile;
