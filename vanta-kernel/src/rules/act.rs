//! What commands do besides touching paths, each with its stable rule code, its answer and its sentence.
//!
//! Paths have a table of their own in `assess.rs`. An act is what a program table or a command model names;
//! the answer to it stands here and nowhere else.

use crate::Risk;

/// An effect that is not a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Act {
    /// Nothing that matters.
    Harmless,
    Approve,
    Clipboard,
    CloudChange,
    CloudDestroy,
    ContainerDestroy,
    ContainerEscape,
    DatabaseChange,
    DatabaseDump,
    DestroyLive,
    Discard,
    Environment,
    Exfiltrate,
    ForkBomb,
    Fill,
    FormatDisk,
    Gui,
    HistoryRewrite,
    HookInstall,
    InstallGlobal,
    InstallRemote,
    Irreversible,
    KillAll,
    KillNamed,
    Login,
    Message,
    Migrate,
    Network,
    NetworkSend,
    PermissionTree,
    Power,
    Privilege,
    Publish,
    RemoteShell,
    ReverseShell,
    RunBuilt,
    RunFetched,
    RunUnknown,
    Scheduler,
    SecretShow,
    SelfStop,
    SelfServe,
    System,
    TamperEnvironment,
    Trace,
    Tunnel,
    UnknownProgram,
    UnknownArguments,
    UserSettings,
}

/// What is answered to an act.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) code: &'static str,
    pub(crate) risk: Risk,
    /// Completes "`word` …".
    pub(crate) why: &'static str,
}

impl Act {
    /// The rule of this act.
    pub(crate) fn rule(self) -> Rule {
        RULES
            .binary_search_by_key(&self, |(act, _)| *act)
            .ok()
            .and_then(|i| RULES.get(i))
            .map_or(UNREAD, |(_, rule)| *rule)
    }
}

/// Never reached while the table is complete, which a test checks; doubt asks.
const UNREAD: Rule = ask("unread", "has no rule");

const fn allow(code: &'static str, why: &'static str) -> Rule {
    Rule { code, risk: Risk::Allow, why }
}

const fn ask(code: &'static str, why: &'static str) -> Rule {
    Rule { code, risk: Risk::Ask, why }
}

const fn block(code: &'static str, why: &'static str) -> Rule {
    Rule { code, risk: Risk::Block, why }
}

/// Sorted by act.
pub(crate) const RULES: [(Act, Rule); 49] = [
    (Act::Harmless, allow("harmless", "changes nothing that matters")),
    (Act::Approve, block("self.approve", "would approve in the place of a person")),
    (Act::Clipboard, ask("clipboard", "uses the clipboard, which others can read")),
    (Act::CloudChange, ask("cloud.change", "changes something on a remote service")),
    (Act::CloudDestroy, ask("cloud.destroy", "destroys something on a remote service")),
    (Act::ContainerDestroy, ask("container.destroy", "removes containers or what they keep")),
    (Act::ContainerEscape, ask("container.escape", "gives a container control over this machine")),
    (Act::DatabaseChange, ask("database.change", "changes or removes data in a database")),
    (Act::DatabaseDump, ask("database.dump", "copies data out of a live database")),
    (Act::DestroyLive, block("live.destroy", "destroys data of something that is plainly live")),
    (Act::Discard, ask("git.discard", "discards work that git cannot bring back")),
    (Act::Environment, ask("secret.environment", "shows the whole environment, secrets included")),
    (Act::Exfiltrate, block("secret.exfiltrate", "sends a secret over the network")),
    (Act::ForkBomb, block("process.bomb", "starts processes without end")),
    (Act::Fill, ask("disk.fill", "writes without end")),
    (Act::FormatDisk, block("device.format", "formats or wipes a disk")),
    (Act::Gui, ask("gui", "controls other programs or reads the screen")),
    (Act::HistoryRewrite, ask("git.history", "rewrites or prunes history")),
    (Act::HookInstall, ask("startup.hook", "sets code that runs by itself later")),
    (Act::InstallGlobal, ask("install.global", "installs or removes software outside the project")),
    (Act::InstallRemote, ask("install.remote", "installs from an address instead of a registry")),
    (Act::Irreversible, ask("tool.irreversible", "names an effect that cannot be undone")),
    (Act::KillAll, block("process.kill_all", "ends every process")),
    (Act::KillNamed, ask("process.kill", "ends processes by name")),
    (Act::Login, ask("credentials.login", "signs in or changes stored credentials")),
    (Act::Message, ask("message.send", "sends something to people")),
    (Act::Migrate, ask("database.migrate", "changes the schema or data of a database")),
    (Act::Network, allow("network.read", "reads from the network")),
    (Act::NetworkSend, ask("network.send", "sends data to another machine")),
    (
        Act::PermissionTree,
        block("permission.tree", "changes rights of a whole tree that nobody can set back"),
    ),
    (Act::Power, ask("system.power", "changes the power or run state of the machine")),
    (Act::Privilege, ask("system.privilege", "runs with another user's rights")),
    (Act::Publish, ask("publish", "publishes or deploys, which cannot be taken back")),
    (Act::RemoteShell, ask("network.shell", "works on another machine")),
    (Act::ReverseShell, block("network.reverse_shell", "connects a shell to the network")),
    (Act::RunBuilt, ask("code.built", "runs code that is only known when it runs")),
    (Act::RunFetched, ask("code.fetched", "runs code that comes from the network")),
    (Act::RunUnknown, ask("code.unknown", "runs code whose effect cannot be told from the text")),
    (Act::Scheduler, ask("startup.scheduler", "changes what the system runs later")),
    (Act::SecretShow, ask("secret.show", "shows a secret")),
    (Act::SelfStop, block("self.stop", "would stop or change the safety boundary")),
    (Act::SelfServe, ask("self.serve", "starts, asks or redirects the safety boundary")),
    (Act::System, ask("system.change", "changes the system")),
    (Act::TamperEnvironment, ask("environment.code", "sets a variable that makes other programs run code")),
    (Act::Trace, ask("process.trace", "looks into another process or the network")),
    (Act::Tunnel, ask("network.tunnel", "opens this machine to the network")),
    (Act::UnknownProgram, ask("program.unknown", "is not a program the kernel knows")),
    (Act::UnknownArguments, ask("arguments.unknown", "has arguments that are only known when it runs")),
    (Act::UserSettings, ask("config.user", "changes settings outside the project")),
];

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn rules_are_sorted_and_complete() {
        assert!(RULES.windows(2).all(|w| w[0].0 < w[1].0));
        // Discriminants are consecutive, so a gap would show as a larger last one.
        assert_eq!(RULES.last().unwrap().0 as usize + 1, RULES.len());
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<&str> = RULES.iter().map(|(_, r)| r.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), RULES.len());
    }
}
