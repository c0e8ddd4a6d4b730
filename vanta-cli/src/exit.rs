//! Every exit code, in one place.
//!
//! | Code | Meaning | | Code | Meaning |
//! |---|---|---|---|---|
//! | 0 | finished with an answer | | 6 | gate unreachable |
//! | 1 | failed | | 10 | waiting for an approval |
//! | 2 | usage | | 14 | session busy |
//! | 3 | configuration, key, no such session | | 15 | storage refused |
//! | 4 | stopped at a limit, stalled, by failures | | 16 | format newer than this build |
//! | 5 | denied or refused | | 17 | damaged |
//! | 130, 143 | interrupted, terminated | | | |

use vanta_core::provider::ErrorClass;
use vanta_core::session::StoreError;
use vanta_core::{AgentError, Outcome, ledger::LedgerError};

pub(crate) const DONE: u8 = 0;
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const SETUP: u8 = 3;
pub(crate) const LIMIT: u8 = 4;
pub(crate) const REFUSED: u8 = 5;
pub(crate) const GATE: u8 = 6;
pub(crate) const WAITING: u8 = 10;
pub(crate) const BUSY: u8 = 14;
pub(crate) const STORAGE: u8 = 15;
pub(crate) const TOO_NEW: u8 = 16;
pub(crate) const DAMAGED: u8 = 17;
pub(crate) const INTERRUPTED: u8 = 130;
pub(crate) const TERMINATED: u8 = 143;

/// What the command line itself finds wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Complaint {
    /// The arguments or the prompt make no sense.
    #[error("{0}")]
    Usage(String),
    /// Something that was named is not there or not set up.
    #[error("{0}")]
    Setup(String),
    /// It may not be done.
    #[error("{0}")]
    Refused(String),
    /// Something was written by a build that knows more.
    #[error("{0}")]
    TooNew(String),
}

/// The code of a run that ended with `outcome`; `stopped` is the code of whatever cancelled it.
pub(crate) fn of_outcome(outcome: &Outcome, stopped: u8) -> u8 {
    match outcome {
        Outcome::Done { .. } => DONE,
        Outcome::AwaitingApproval { .. } => WAITING,
        Outcome::LimitReached { .. } | Outcome::Stalled | Outcome::TooManyFailures => LIMIT,
        Outcome::Cancelled => stopped,
        Outcome::Refused { .. } => REFUSED,
        Outcome::ProviderFailed { class: ErrorClass::Auth | ErrorClass::Permission, .. } => SETUP,
        Outcome::GateUnavailable { .. } => GATE,
        _ => FAILED,
    }
}

/// The code of a command that ended with `error`.
pub(crate) fn of_error(error: &anyhow::Error) -> u8 {
    if let Some(complaint) = error.downcast_ref() {
        return of_complaint(complaint);
    }
    if let Some(error) = error.downcast_ref() {
        return of_agent(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_store(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_ledger(error);
    }
    error.downcast_ref().map_or(FAILED, of_kernel_store)
}

/// What to type next, where the error does not say so: libraries do not know the commands.
///
/// The command, and what it does.
pub(crate) fn hint(error: &anyhow::Error) -> Option<(String, &'static str)> {
    let store = error.downcast_ref().or_else(|| match error.downcast_ref()? {
        AgentError::Store(error) => Some(error),
        _ => None,
    });
    let ledger = error.downcast_ref().or_else(|| match error.downcast_ref()? {
        AgentError::Ledger(error) => Some(error),
        _ => None,
    });
    match (store, ledger) {
        (Some(StoreError::Damaged { session, .. }), _) => {
            Some((format!("vanta sessions show {session}"), "shows what can be read of it"))
        }
        (Some(StoreError::NotFound(_) | StoreError::BadId(_)), _) => {
            Some(("vanta sessions list".to_owned(), "shows the sessions there are"))
        }
        (_, Some(LedgerError::Unknown(_))) => {
            Some(("vanta approvals list --all".to_owned(), "shows the approvals there are"))
        }
        _ => None,
    }
}

fn of_complaint(complaint: &Complaint) -> u8 {
    match complaint {
        Complaint::Usage(_) => USAGE,
        Complaint::Setup(_) => SETUP,
        Complaint::Refused(_) => REFUSED,
        Complaint::TooNew(_) => TOO_NEW,
    }
}

fn of_agent(error: &AgentError) -> u8 {
    match error {
        AgentError::Store(error) => of_store(error),
        AgentError::Ledger(error) => of_ledger(error),
        AgentError::Setup(_) => SETUP,
        _ => FAILED,
    }
}

fn of_store(error: &StoreError) -> u8 {
    match error {
        StoreError::BadId(_) | StoreError::NotFound(_) | StoreError::Exists(_) => SETUP,
        // All three mean that another owner is, or was, at work.
        StoreError::Busy { .. } | StoreError::Fenced(_) | StoreError::OutOfOrder { .. } => BUSY,
        StoreError::Damaged { .. } => DAMAGED,
        StoreError::TooNew { .. } => TOO_NEW,
        // Whatever else there is to say about files.
        _ => STORAGE,
    }
}

fn of_ledger(error: &LedgerError) -> u8 {
    match error {
        LedgerError::Refused { .. } => REFUSED,
        LedgerError::Unknown(_) => SETUP,
        LedgerError::Storage(_) => STORAGE,
        LedgerError::Damaged(_) => DAMAGED,
        LedgerError::TooNew(_) => TOO_NEW,
        _ => FAILED,
    }
}

/// The state folder is the kernel's.
fn of_kernel_store(error: &vanta_kernel::store::StoreError) -> u8 {
    use vanta_kernel::store::StoreError;
    match error {
        StoreError::NoStateHome => SETUP,
        StoreError::Damaged { .. } | StoreError::BadKey { .. } => DAMAGED,
        StoreError::TooNew { .. } => TOO_NEW,
        _ => STORAGE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vanta_core::Limit;
    use vanta_core::session::SessionId;
    use vanta_kernel::{ApprovalError, ApprovalId};

    #[test]
    fn every_outcome_has_its_code() {
        let failed = |class| Outcome::ProviderFailed { class, message: "no".into() };
        let table = [
            (Outcome::Done { text: "yes".into() }, DONE),
            (Outcome::AwaitingApproval { approvals: vec![1] }, WAITING),
            (Outcome::LimitReached { limit: Limit::Turns }, LIMIT),
            (Outcome::LimitReached { limit: Limit::ToolCalls }, LIMIT),
            (Outcome::LimitReached { limit: Limit::Tokens }, LIMIT),
            (Outcome::LimitReached { limit: Limit::WallClock }, LIMIT),
            (Outcome::Stalled, LIMIT),
            (Outcome::TooManyFailures, LIMIT),
            (Outcome::Cancelled, INTERRUPTED),
            (Outcome::Refused { text: "no".into() }, REFUSED),
            (failed(ErrorClass::Auth), SETUP),
            (failed(ErrorClass::Permission), SETUP),
            (failed(ErrorClass::NotFound), FAILED),
            (failed(ErrorClass::RateLimited), FAILED),
            (failed(ErrorClass::Transport), FAILED),
            (failed(ErrorClass::StreamTruncated), FAILED),
            (Outcome::GateUnavailable { message: "gone".into() }, GATE),
        ];
        for (outcome, code) in table {
            assert_eq!(of_outcome(&outcome, INTERRUPTED), code, "{outcome:?}");
        }
        assert_eq!(of_outcome(&Outcome::Cancelled, TERMINATED), 143);
    }

    #[test]
    fn errors_of_libraries_get_the_command_that_helps() {
        let (id, unknown): (SessionId, _) =
            ("s-1".parse().unwrap(), || LedgerError::Unknown(ApprovalId::new(1)));
        for (error, command) in [
            (anyhow::Error::new(StoreError::NotFound(id.clone())), "vanta sessions list"),
            (anyhow::Error::new(AgentError::from(StoreError::NotFound(id))), "vanta sessions list"),
            (anyhow::Error::new(StoreError::BadId("/".into())), "vanta sessions list"),
            (anyhow::Error::new(unknown()), "vanta approvals list --all"),
            (anyhow::Error::new(AgentError::from(unknown())), "vanta approvals list --all"),
        ] {
            assert!(hint(&error).is_some_and(|(hint, _)| hint == command), "{error}");
        }
        assert_eq!(hint(&anyhow::Error::msg("anything else")), None);
    }

    /// But `StoreError::Damaged`, which only a damaged log makes: `tests/it/bad_input.rs` has it.
    #[test]
    fn every_error_has_its_code() {
        let id: SessionId = "s-1".parse().unwrap();
        let io = || std::io::Error::other("no");
        let store = |error: StoreError| anyhow::Error::new(AgentError::from(error));
        let ledger = |error: LedgerError| anyhow::Error::new(AgentError::from(error));
        let refused = |reason| LedgerError::Refused { id: ApprovalId::new(1), reason };
        let table = [
            (store(StoreError::BadId("/".into())), SETUP),
            (store(StoreError::NotFound(id.clone())), SETUP),
            (store(StoreError::Exists(id.clone())), SETUP),
            (store(StoreError::Busy { session: id.clone(), pid: 7 }), BUSY),
            (store(StoreError::Fenced(id.clone())), BUSY),
            (store(StoreError::OutOfOrder { session: id.clone(), at: 2, expected: 1 }), BUSY),
            (store(StoreError::TooNew { session: id, what: "v9".into() }), TOO_NEW),
            (store(StoreError::Io { doing: "read", path: "x".into(), source: io() }), STORAGE),
            (ledger(LedgerError::Unknown(ApprovalId::new(1))), SETUP),
            (ledger(refused(ApprovalError::AlreadyDecided)), REFUSED),
            (ledger(refused(ApprovalError::Expired)), REFUSED),
            (ledger(LedgerError::Storage("full".into())), STORAGE),
            (ledger(LedgerError::Damaged("row 1".into())), DAMAGED),
            (ledger(LedgerError::TooNew("v9".into())), TOO_NEW),
            (anyhow::Error::new(LedgerError::Storage("full".into())), STORAGE),
            (anyhow::Error::new(StoreError::BadId("/".into())), SETUP),
            (anyhow::Error::new(AgentError::Setup("no scope".into())), SETUP),
            (anyhow::Error::new(Complaint::Usage("what?".into())), USAGE),
            (anyhow::Error::new(Complaint::Setup("where?".into())), SETUP),
            (anyhow::Error::new(Complaint::Refused("no".into())), REFUSED),
            (anyhow::Error::new(Complaint::TooNew("v9".into())), TOO_NEW),
            (anyhow::Error::new(vanta_kernel::store::StoreError::NoStateHome), SETUP),
            (anyhow::Error::msg("anything else"), FAILED),
        ];
        for (error, code) in table {
            assert_eq!(of_error(&error), code, "{error:?}");
        }
    }
}
