//! An approver that answers from a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::approver::{Approver, Decision, Question};

/// Answers with prepared decisions, in order, then with a standing one. Clones share the list and what was asked.
///
/// ```
/// use vanta_core::approver::Decision;
/// use vanta_core::testing::ScriptedApprover;
///
/// let approver = ScriptedApprover::new([Decision::Approve, Decision::Deny]);
/// assert!(approver.questions().is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct ScriptedApprover(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    answers: VecDeque<Decision>,
    then: Decision,
    questions: Vec<Question>,
}

impl ScriptedApprover {
    /// Answers with `answers`, then defers.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = Decision>) -> Self {
        Self::with(answers.into_iter().collect(), Decision::Defer)
    }

    /// Approves everything it is asked.
    #[must_use]
    pub fn approve_all() -> Self {
        Self::with(VecDeque::new(), Decision::Approve)
    }

    /// Denies everything it is asked.
    #[must_use]
    pub fn deny_all() -> Self {
        Self::with(VecDeque::new(), Decision::Deny)
    }

    fn with(answers: VecDeque<Decision>, then: Decision) -> Self {
        Self(Arc::new(Mutex::new(State { answers, then, questions: Vec::new() })))
    }

    /// What was asked so far, in order.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).questions.clone()
    }
}

#[async_trait]
impl Approver for ScriptedApprover {
    async fn decide(&self, question: &Question) -> Decision {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.questions.push(question.clone());
        let standing = state.then.clone();
        state.answers.pop_front().unwrap_or(standing)
    }
}
