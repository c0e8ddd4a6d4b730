//! Puts an agent together. Everything has a careful default but the scope.

#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vanta_kernel::Scope;

use super::{Agent, Parts};
use crate::approver::{Approver, Defer, Recorded};
use crate::clock::{Clock, IdSource, RandomIds, SystemClock};
use crate::context::Prompt;
#[cfg(unix)]
use crate::effect::FileReceipts;
use crate::error::AgentError;
use crate::event::Observer;
use crate::gate::{LocalGate, SafetyGate};
#[cfg(unix)]
use crate::ledger::FileLedger;
use crate::ledger::{Ledger, MemoryLedger, Operator};
use crate::limits::Limits;
use crate::permission::{Mode, Rule};
use crate::provider::{LlmProvider, RequestOptions};
use crate::retry::RetryPolicy;
use crate::run::RunSettings;
#[cfg(unix)]
use crate::session::{FileSessionStore, StoreError};
use crate::session::{MemorySessionStore, SessionId, SessionStore};
use crate::tool::ToolRegistry;

/// How long a session stays claimed by a process that does not renew it.
const LEASE: Duration = Duration::from_secs(30);

/// Builds an [`Agent`].
///
/// Without further words: no tools, the kernel asked in-process, every Ask deferred, sessions and approvals in memory.
#[derive(Debug, Default)]
pub struct AgentBuilder {
    provider: Option<Arc<dyn LlmProvider>>,
    tools: ToolRegistry,
    gate: Option<Arc<dyn SafetyGate>>,
    ledger: Option<Arc<dyn Ledger>>,
    operator: Option<Arc<dyn Operator>>,
    approver: Option<Arc<dyn Approver>>,
    store: Option<Arc<dyn SessionStore>>,
    observers: Vec<Arc<dyn Observer>>,
    clock: Option<Arc<dyn Clock>>,
    ids: Option<Arc<dyn IdSource>>,
    scope: Option<Scope>,
    prompt: Option<Prompt>,
    options: RequestOptions,
    limits: Limits,
    mode: Mode,
    rules: Vec<Rule>,
    retry: RetryPolicy,
    notes: serde_json::Value,
    lease: Option<Duration>,
}

impl AgentBuilder {
    /// The model.
    #[must_use]
    pub fn provider(self, provider: impl LlmProvider + 'static) -> Self {
        self.shared_provider(Arc::new(provider))
    }

    /// The model, shared with others.
    #[must_use]
    pub fn shared_provider(mut self, provider: Arc<dyn LlmProvider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// The tools on offer.
    #[must_use]
    pub fn tools(mut self, tools: ToolRegistry) -> Self {
        self.tools = tools;
        self
    }

    /// Where actions may happen. Required.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Who judges actions; the kernel in this process by default. It can tighten the kernel's answer, never loosen it.
    #[must_use]
    pub fn gate(mut self, gate: impl SafetyGate + 'static) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// Who answers an Ask; deferred by default.
    ///
    /// An answer counts once it is in the ledger: give the ledger's deciding side with [`AgentBuilder::operator`]
    /// unless the ledger is the default one in memory.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Where questions and decisions are recorded; in memory by default.
    #[must_use]
    pub fn ledger(mut self, ledger: impl Ledger + 'static) -> Self {
        self.ledger = Some(Arc::new(ledger));
        self
    }

    /// The deciding side of the ledger, which lets the approver's answers count. Without it they do not.
    #[must_use]
    pub fn operator(mut self, operator: impl Operator + 'static) -> Self {
        self.operator = Some(Arc::new(operator));
        self
    }

    /// Where sessions are kept; in memory by default.
    #[must_use]
    pub fn store(mut self, store: impl SessionStore + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sessions, ledger and receipts in `.vanta/` below `root`, so that another process can resume and decide. The key
    /// of the ledger lies in the user's state folder.
    ///
    /// # Errors
    /// [`AgentError`] when a folder cannot be made or read.
    #[cfg(unix)]
    pub fn on_disk(self, root: impl AsRef<Path>) -> Result<Self, AgentError> {
        let ledger = FileLedger::open(root.as_ref())?;
        self.on_disk_with(root, ledger)
    }

    /// Sessions and receipts in `.vanta/` below `root`, decisions in `ledger`.
    ///
    /// # Errors
    /// As [`AgentBuilder::on_disk`].
    #[cfg(unix)]
    pub fn on_disk_with(self, root: impl AsRef<Path>, ledger: FileLedger) -> Result<Self, AgentError> {
        let vanta = root.as_ref().join(".vanta");
        let store = FileSessionStore::open(vanta.join("sessions"))?;
        let path = vanta.join("tool-effects.jsonl");
        let receipts = FileReceipts::open(&path).map_err(|source| StoreError::Io {
            doing: "open",
            path: path.display().to_string(),
            source,
        })?;
        Ok(self.ledger(ledger.clone()).operator(ledger).store(store).observer(receipts))
    }

    /// Adds somebody who sees every event.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// The system prompt; a short one that names the root by default.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = Some(prompt);
        self
    }

    /// Options of every model request.
    #[must_use]
    pub fn options(mut self, options: RequestOptions) -> Self {
        self.options = options;
        self
    }

    /// The budget.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How much runs without asking.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Standing answers that hold from the start. They may answer an Ask or tighten; nothing lifts a Block.
    ///
    /// A rule is pinned to its tool as described: a pure tool of your own, which the kernel can only ask about, runs
    /// without a question once you vouch for it.
    ///
    /// ```
    /// use vanta_core::permission::{Rule, RuleEffect, RuleMatch};
    /// use vanta_core::{Agent, Scope, Tool, ToolRegistry, typed::tool_fn};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Sum {
    ///     numbers: Vec<i64>,
    /// }
    ///
    /// let sum = tool_fn("sum", "Adds numbers", |args: Sum| async move {
    ///     args.numbers.iter().sum::<i64>().to_string()
    /// });
    /// let trusted = Rule::new(RuleEffect::Allow, &sum.spec(), RuleMatch::Tool);
    /// let agent = Agent::builder()
    ///     .scope(Scope::new("/srv/app").home("/home/dev"))
    ///     .tools(ToolRegistry::new().with(sum))
    ///     .rules([trusted])
    ///     .build()?;
    /// # let _ = agent;
    /// # Ok::<(), vanta_core::AgentError>(())
    /// ```
    #[must_use]
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// When a failed model call is tried again.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// What to find again in a session's first record. Never keys.
    #[must_use]
    pub fn notes(mut self, notes: serde_json::Value) -> Self {
        self.notes = notes;
        self
    }

    /// Tells the time; the machine's clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Names new sessions; at random by default.
    #[must_use]
    pub fn ids(mut self, ids: impl IdSource + 'static) -> Self {
        self.ids = Some(Arc::new(ids));
        self
    }

    /// How long a session stays claimed when its process falls silent; 30 seconds by default.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// [`AgentError::Setup`] without a scope, or with one whose root is not an absolute path.
    pub fn build(self) -> Result<Agent, AgentError> {
        let scope = self.scope.ok_or_else(|| {
            AgentError::Setup("the agent has no scope; name the folder it works in".to_owned())
        })?;
        if !scope.root().starts_with('/') {
            return Err(AgentError::Setup(format!("the root `{}` is not an absolute path", scope.root())));
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let mut operator = self.operator;
        let ledger = self.ledger.unwrap_or_else(|| {
            let memory = MemoryLedger::new(Arc::clone(&clock));
            operator = Some(Arc::new(memory.clone()));
            Arc::new(memory)
        });
        let approver = self.approver.unwrap_or_else(|| Arc::new(Defer));
        let approver = match operator {
            Some(operator) => Arc::new(Recorded::new(approver, operator)),
            None => approver,
        };
        let prompt = self.prompt.unwrap_or_else(|| default_prompt(&scope));
        let settings = RunSettings {
            prompt,
            tools: self.tools.specs().into(),
            options: self.options,
            limits: self.limits,
            mode: self.mode,
            rules: self.rules,
            retry: self.retry,
            notes: self.notes,
            ..RunSettings::new(SessionId::unnamed(), scope)
        };
        Ok(Agent(Arc::new(Parts {
            provider: self.provider,
            tools: self.tools,
            gate: self.gate.unwrap_or_else(|| Arc::new(LocalGate)),
            ledger,
            approver,
            store: self.store.unwrap_or_else(|| Arc::new(MemorySessionStore::new())),
            observers: self.observers,
            clock,
            ids: self.ids.unwrap_or_else(|| Arc::new(RandomIds)),
            settings,
            lease: self.lease.unwrap_or(LEASE),
        })))
    }
}

fn default_prompt(scope: &Scope) -> Prompt {
    Prompt::new(format!(
        "You are a careful software agent. You work in the folder {root}.\n\
         Use the tools to look before you change anything, and check your work.\n\
         Every action is judged before it runs: some wait for the user, some are refused. When one is refused, \
         do not try the same thing another way; explain, or choose a different approach.",
        root = scope.root()
    ))
}
