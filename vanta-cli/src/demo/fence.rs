//! A second gate for the demo alone: of all commands, only the two of its script that do no harm.
//!
//! The kernel blocks the script's third command, and the demo does not start unless it does. But a program that runs
//! `rm -rf ~` on purpose should not rest on one wall. This gate can only tighten, and it also covers a person who
//! edits a command at the prompt.

use async_trait::async_trait;
use vanta_core::gate::{GateError, SafetyGate};
use vanta_core::{Action, Finding, Scope, Verdict};

use super::script::{DELETE, TEST};

#[derive(Debug)]
pub(super) struct Fence;

#[async_trait]
impl SafetyGate for Fence {
    async fn assess(&self, actions: &[Action], _: &Scope) -> Result<Verdict, GateError> {
        let harmless = |action: &Action| match action {
            Action::Shell { command, .. } => [TEST, DELETE].contains(&command.as_str()),
            Action::Read { .. } | Action::List { .. } | Action::Edit { .. } => true,
            _ => false,
        };
        if actions.iter().all(harmless) {
            return Ok(Verdict::Allow(Finding::new("demo.script", "belongs to the demo", 0..0)));
        }
        Ok(Verdict::Block(Finding::new(
            "demo.fence",
            "the demo runs nothing but its own harmless commands",
            0..0,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::script::WIPE;
    use vanta_core::Risk;

    #[tokio::test]
    async fn only_the_scripts_own_harmless_acts_pass() {
        let scope = Scope::new("/srv/app");
        let sneaky = format!("{DELETE}; {WIPE}");
        for (action, risk) in [
            (Action::shell(TEST), Risk::Allow),
            (Action::shell(DELETE), Risk::Allow),
            (Action::read("src/lib.rs"), Risk::Allow),
            (Action::shell(WIPE), Risk::Block),
            (Action::shell(sneaky), Risk::Block),
            (Action::write("src/lib.rs"), Risk::Block),
            (Action::delete("old_notes.txt"), Risk::Block),
        ] {
            let verdict = Fence.assess(std::slice::from_ref(&action), &scope).await.unwrap();
            assert_eq!(verdict.risk(), risk, "{action:?}");
        }
        let both = [Action::shell(TEST), Action::shell(WIPE)];
        assert_eq!(Fence.assess(&both, &scope).await.unwrap().risk(), Risk::Block);
    }
}
