//! A person's standing answers: rules and modes. They may tighten, or answer an Ask. Nothing here touches a Block.
//!
//! Rules look at how the kernel read the actions (programs, sub-commands, paths), never at their text.

use serde::{Deserialize, Serialize};
use vanta_kernel::{Action, Effect, PathClass, Reading, Risk, Scope, Verdict, assess, read};

use crate::tool::{EffectClass, ToolSpec};

/// How much a run may do without asking. A mode never loosens a rule that says ask or deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mode {
    /// Allow runs, Ask asks.
    #[default]
    Default,
    /// Also yes to overwriting files inside the scope.
    AcceptEdits,
    /// Also yes to reads outside the scope and to plain downloads; never to deletes, system places,
    /// credentials, or what cannot be taken back.
    Auto,
    /// Only tools that read.
    Plan,
}

impl Mode {
    /// The mode's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept-edits",
            Self::Auto => "auto",
            Self::Plan => "plan",
        }
    }

    /// Every mode, from the most careful in reading order.
    pub const ALL: [Self; 4] = [Self::Default, Self::AcceptEdits, Self::Auto, Self::Plan];
}

/// A standing answer to calls of one tool, pinned to that tool as it is described now.
///
/// ```
/// use vanta_core::permission::{Rule, RuleEffect, RuleMatch};
/// use vanta_core::tool::ToolSpec;
///
/// let shell = ToolSpec::new("shell", "Runs a command");
/// let matching = RuleMatch::Program { program: "git".into(), subcommand: Some("push".into()) };
/// let rule = Rule::new(RuleEffect::Deny, &shell, matching);
/// assert_eq!(rule.to_string(), "deny `git push` in shell");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    effect: RuleEffect,
    tool: String,
    descriptor: String,
    matching: RuleMatch,
    /// The kernel's rule whose Ask a yes was given to; a yes without one answers every Ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
}

/// What a rule answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleEffect {
    /// Yes to an Ask.
    Allow,
    /// Ask, also where the kernel allows.
    Ask,
    /// No.
    Deny,
}

/// Which calls a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleMatch {
    /// Exactly this act: tool and arguments, by digest.
    Exact(String),
    /// Some simple command of the line is this program, and sub-command if named. Can only tighten: a yes to a program
    /// would be a yes to any option of it, and options run code and write files.
    Program {
        /// The program's base name.
        program: String,
        /// Its sub-command.
        subcommand: Option<String>,
    },
    /// Every call of the tool.
    Tool,
}

impl Rule {
    /// Answers `effect` to calls of `tool` that fit `matching`.
    #[must_use]
    pub fn new(effect: RuleEffect, tool: &ToolSpec, matching: RuleMatch) -> Self {
        Self { effect, tool: tool.name().to_owned(), descriptor: tool.digest(), matching, finding: None }
    }

    /// Limits a yes to Asks that the kernel's rule `finding` raised, such as `overwrite.scope`.
    #[must_use]
    pub fn only_for(mut self, finding: impl Into<String>) -> Self {
        self.finding = Some(finding.into());
        self
    }

    /// What it answers.
    #[must_use]
    pub fn effect(&self) -> RuleEffect {
        self.effect
    }

    /// Which calls it is about.
    #[must_use]
    pub fn matching(&self) -> &RuleMatch {
        &self.matching
    }

    /// The same rule with the opposite answer: a person who is offered "always" may say "never".
    #[must_use]
    pub fn with_effect(mut self, effect: RuleEffect) -> Self {
        self.effect = effect;
        self
    }

    fn fits(&self, act: &Act<'_>) -> bool {
        self.tool == act.spec.name()
            && self.descriptor == act.spec.digest()
            && match &self.matching {
                RuleMatch::Exact(digest) => digest == act.digest,
                RuleMatch::Tool => true,
                RuleMatch::Program { program, subcommand } => {
                    self.effect != RuleEffect::Allow && act.runs(program, subcommand.as_deref())
                }
            }
    }

    /// Whether a yes to this rule is a yes to each Ask the act raised.
    fn answers(&self, act: &Act<'_>, verdict: &Verdict) -> bool {
        let raised =
            |verdict: &Verdict| self.finding.as_deref().is_none_or(|rule| rule == verdict.finding().rule());
        raised(verdict)
            && act.actions.iter().map(|action| assess(action, act.scope)).all(|one| match one {
                Verdict::Allow(_) => true,
                Verdict::Ask(_) => raised(&one),
                Verdict::Block(_) => false,
            })
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let effect = match self.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Ask => "ask about",
            RuleEffect::Deny => "deny",
        };
        match &self.matching {
            RuleMatch::Exact(_) => write!(f, "{effect} exactly this call of {}", self.tool),
            RuleMatch::Program { program, subcommand: Some(sub) } => {
                write!(f, "{effect} `{program} {sub}` in {}", self.tool)
            }
            RuleMatch::Program { program, subcommand: None } => {
                write!(f, "{effect} `{program}` in {}", self.tool)
            }
            RuleMatch::Tool => write!(f, "{effect} every call of {}", self.tool),
        }
    }
}

/// One call as rules see it.
pub(crate) struct Act<'a> {
    spec: &'a ToolSpec,
    digest: &'a str,
    actions: &'a [Action],
    readings: Vec<Reading>,
    scope: &'a Scope,
}

impl<'a> Act<'a> {
    pub(crate) fn new(spec: &'a ToolSpec, digest: &'a str, actions: &'a [Action], scope: &'a Scope) -> Self {
        Self {
            spec,
            digest,
            actions,
            readings: actions.iter().map(|action| read(action, scope)).collect(),
            scope,
        }
    }

    /// Rules a prompt may offer for this call, narrowest first: this very call, and, where the tool is no shell, any
    /// call of it that raises the same question.
    pub(crate) fn offers(&self, verdict: &Verdict) -> Vec<Rule> {
        let allow = |matching| {
            Rule::new(RuleEffect::Allow, self.spec, matching).only_for(verdict.finding().rule().to_owned())
        };
        let mut offers = vec![allow(RuleMatch::Exact(self.digest.to_owned()))];
        let runs_code = |action: &Action| matches!(action, Action::Shell { .. } | Action::Text { .. });
        if !self.actions.iter().any(runs_code) {
            offers.push(allow(RuleMatch::Tool));
        }
        offers
    }

    fn runs(&self, program: &str, subcommand: Option<&str>) -> bool {
        self.readings.iter().flat_map(Reading::commands).any(|command| {
            command.program() == program && (subcommand.is_none() || command.subcommand() == subcommand)
        })
    }

    fn only_overwrites_in_scope(&self) -> bool {
        let overwrites = |action: &Action| matches!(action, Action::Write { .. } | Action::Edit { .. });
        self.actions.iter().all(overwrites) && self.every_path(|class, _| class == PathClass::InScope)
    }

    fn only_reads_elsewhere(&self) -> bool {
        let reads = |action: &Action| match action {
            Action::Read { .. } | Action::List { .. } | Action::Search { .. } => true,
            Action::Fetch { method, .. } => method == "GET" || method == "HEAD",
            _ => false,
        };
        let harmless = |class| {
            matches!(
                class,
                PathClass::InScope
                    | PathClass::Root
                    | PathClass::Temp
                    | PathClass::Outside
                    | PathClass::Harmless
            )
        };
        self.actions.iter().all(reads)
            && self.every_path(|class, effect| harmless(class) && effect == Effect::Read)
    }

    /// Whether there is something, none of it is opaque, and every path passes `test`.
    fn every_path(&self, test: impl Fn(PathClass, Effect) -> bool) -> bool {
        !self.actions.is_empty()
            && self.readings.iter().all(|reading| !reading.is_opaque())
            && self
                .readings
                .iter()
                .flat_map(Reading::commands)
                .flat_map(vanta_kernel::Command::paths)
                .all(|path| test(path.class(), path.effect()))
    }
}

/// What standing answers make of a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It may run.
    Run,
    /// A person decides; `by_rule` when the kernel alone would have allowed.
    Ask { by_rule: bool },
    /// No, with the reason for the model.
    Deny(String),
}

/// Applies rules, then the mode, to a verdict that is not a Block. The stricter of the rules wins.
pub(crate) fn rule_on(verdict: &Verdict, act: &Act<'_>, rules: &[Rule], mode: Mode) -> Ruling {
    let fitting = || rules.iter().filter(|rule| rule.fits(act));
    if let Some(rule) = fitting().find(|rule| rule.effect == RuleEffect::Deny) {
        return Ruling::Deny(format!("a rule of the user says: {rule}"));
    }
    if mode == Mode::Plan && act.spec.effect() != EffectClass::Read {
        return Ruling::Deny(format!("plan mode only reads, and `{}` may change something", act.spec.name()));
    }
    if fitting().any(|rule| rule.effect == RuleEffect::Ask) {
        return Ruling::Ask { by_rule: verdict.risk() == Risk::Allow };
    }
    match verdict.risk() {
        Risk::Allow => Ruling::Run,
        Risk::Block => Ruling::Deny(verdict.finding().reason().to_owned()),
        Risk::Ask if fitting().any(|rule| rule.effect == RuleEffect::Allow && rule.answers(act, verdict)) => {
            Ruling::Run
        }
        Risk::Ask if mode == Mode::AcceptEdits && act.only_overwrites_in_scope() => Ruling::Run,
        Risk::Ask if mode == Mode::Auto && (act.only_overwrites_in_scope() || act.only_reads_elsewhere()) => {
            Ruling::Run
        }
        Risk::Ask => Ruling::Ask { by_rule: false },
    }
}
