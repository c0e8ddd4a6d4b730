//! Who answers an Ask: the person at the terminal, or a standing answer from the command line.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use async_trait::async_trait;
use vanta_core::Action;
use vanta_core::approver::{Approver, Decision, InteractiveApprover, Question};
use vanta_core::ledger::{FileLedger, LedgerError, Operator};
use vanta_core::permission::{Rule, RuleEffect};
use vanta_kernel::{Answer, Approval, ApprovalId};

use crate::args::OnAsk;
use crate::keys::{self, Key};
use crate::out::{Paint, note};
use crate::stop::Stop;
use crate::text::{escaped, visible_lines};

/// The command line's approver.
#[derive(Debug)]
pub(crate) struct Answers {
    how: OnAsk,
    person: InteractiveApprover,
}

impl Answers {
    pub(crate) fn new(how: Option<OnAsk>, paint: Paint, stop: Arc<Stop>) -> Self {
        let person = || io::stdin().is_terminal() && io::stderr().is_terminal();
        let how = how.unwrap_or_else(|| if person() { OnAsk::Prompt } else { OnAsk::Defer });
        if how == OnAsk::Approve {
            let warning =
                "warning: --on-ask approve answers yes to every question, unseen (never to a Block)";
            note(&paint.careful(warning));
        }
        Self { how, person: InteractiveApprover::new(move |question| ask(question, paint, &stop)) }
    }

    /// Who gives the answers, when it is not a person at this moment.
    pub(crate) fn standing(&self) -> Option<&'static str> {
        match self.how {
            OnAsk::Approve => Some("--on-ask approve"),
            OnAsk::Deny => Some("--on-ask deny"),
            OnAsk::Prompt | OnAsk::Defer => None,
        }
    }
}

/// Records answers as those of a standing order, so that nobody takes them for a person's.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) ledger: FileLedger,
    pub(crate) by: &'static str,
}

#[async_trait]
impl Operator for Standing {
    async fn decide(&self, id: ApprovalId, answer: Answer, _: &str) -> Result<Approval, LedgerError> {
        self.ledger.decide(id, answer, self.by).await
    }

    async fn approvals(&self) -> Result<Vec<Approval>, LedgerError> {
        self.ledger.approvals().await
    }
}

#[async_trait]
impl Approver for Answers {
    async fn decide(&self, question: &Question) -> Decision {
        match self.how {
            OnAsk::Prompt => self.person.decide(question).await,
            OnAsk::Defer => Decision::Defer,
            OnAsk::Deny => Decision::Deny,
            OnAsk::Approve => Decision::Approve,
        }
    }
}

/// Shows the question and waits for one of the four answers. Whatever is not clearly a yes is a No.
fn ask(question: &Question, paint: Paint, stop: &Stop) -> Decision {
    let rule = offered(question.rules());
    note(&shown(question, rule, paint));
    loop {
        let key = match keys::next(stop) {
            Ok(Key::Stopped) => return Decision::Defer,
            Ok(key) => key,
            Err(error) => {
                note(&format!("cannot read the answer: {error}; taken as no"));
                Key::Leave
            }
        };
        if let Some((decision, word)) = answer(key, rule) {
            note(&format!("  {}", paint.dim(word)));
            return decision;
        }
    }
}

fn answer(key: Key, rule: Option<&Rule>) -> Option<(Decision, &'static str)> {
    match (key, rule) {
        (Key::Char('y' | 'Y' | '1'), _) => Some((Decision::Approve, "yes")),
        (Key::Char('a' | 'A' | '2'), Some(rule)) => {
            Some((Decision::Remember(rule.clone()), "yes, from now on in this session"))
        }
        (Key::Char('n' | 'N' | '3') | Key::Leave, _) => Some((Decision::Deny, "no")),
        (Key::Char('v' | 'V' | '4'), Some(rule)) => {
            Some((Decision::Never(rule.clone()), "never in this session"))
        }
        // A person types on; a pipe would have ended.
        _ => None,
    }
}

/// The rule that "don't ask again" and "never" would make: the narrowest, which is exactly this call.
fn offered(rules: &[Rule]) -> Option<&Rule> {
    rules.first()
}

fn shown(question: &Question, rule: Option<&Rule>, paint: Paint) -> String {
    let mut text = format!("\n{}\n", paint.careful(&format!("May {} do this?", escaped(question.tool()))));
    for action in question.actions() {
        // What was judged is shown whole: its end counts as much as its beginning.
        push_block(&mut text, &action_text(action), usize::MAX);
    }
    push_arguments(&mut text, question);
    let finding = question.verdict().finding();
    // Writing into a String cannot fail.
    let _ = writeln!(text, "  why: {} ({})", escaped(finding.reason()), escaped(finding.rule()));
    let _ = writeln!(text, "  [y] yes, once");
    if let Some(rule) = rule {
        let allow = escaped(&rule.clone().with_effect(RuleEffect::Allow).to_string());
        let deny = escaped(&rule.clone().with_effect(RuleEffect::Deny).to_string());
        let _ = writeln!(text, "  [a] yes, don't ask again: {allow}, for the rest of this session");
        let _ = writeln!(text, "  [n] no");
        let _ = writeln!(text, "  [v] never: {deny}, for the rest of this session");
    } else {
        let _ = writeln!(text, "  [n] no");
    }
    text.push_str("  Enter, Esc and Ctrl-C mean no. ");
    text
}

/// What the tool would get beyond what was judged, such as the new content of a file.
fn push_arguments(text: &mut String, question: &Question) {
    let judged: String = question.actions().iter().map(action_text).collect();
    for (name, value) in question.arguments() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if !judged.contains(&value) {
            let _ = writeln!(text, "  {}:", escaped(name));
            push_block(text, &value, MOST_LINES);
        }
    }
}

/// `body` behind a bar, so that nothing in it can pose as a part of the prompt; the first `most` lines of it.
fn push_block(text: &mut String, body: &str, most: usize) {
    let body = visible_lines(body);
    let mut lines = body.lines();
    for line in lines.by_ref().take(most) {
        let _ = writeln!(text, "  | {line}");
    }
    let left = lines.count();
    if left > 0 {
        let _ = writeln!(text, "  | [{left} more lines]");
    }
}

/// The action in words: verb and object, as it was judged.
pub(crate) fn action_text(action: &Action) -> String {
    match action {
        Action::Shell { command, cwd: Some(cwd), .. } => format!("$ {command}\n(in {cwd})"),
        Action::Shell { command, cwd: None, .. } => format!("$ {command}"),
        Action::Read { path } => format!("read {path}"),
        Action::Write { path, replaces: true } => format!("overwrite {path}"),
        Action::Write { path, replaces: false } => format!("write {path}"),
        Action::Edit { path } => format!("edit {path}"),
        Action::Delete { path } => format!("delete {path}"),
        Action::Move { from, to } => format!("move {from} to {to}"),
        Action::Copy { from, to } => format!("copy {from} to {to}"),
        Action::List { path } => format!("list {path}"),
        Action::Search { query, path } => format!("search {path} for {query}"),
        Action::Fetch { method, url } => format!("{method} {url}"),
        Action::Send { what, to } => format!("send {what} to {to}"),
        Action::Tool { name, summary } => format!("{name}: {summary}"),
        Action::Text { line } => line.clone(),
        _ => "an action this version cannot show".to_owned(),
    }
}

/// Of an argument that was not judged itself, such as the content of a file.
const MOST_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use vanta_core::permission::RuleMatch;
    use vanta_core::tool::ToolSpec;

    fn rules() -> Vec<Rule> {
        let write = ToolSpec::new("write_file", "Writes a file");
        let rule = |matching| Rule::new(RuleEffect::Allow, &write, matching);
        vec![rule(RuleMatch::Exact("d".into())), rule(RuleMatch::Tool)]
    }

    #[test]
    fn the_offer_is_exactly_this() {
        assert_eq!(offered(&rules()).unwrap().to_string(), "allow exactly this call of write_file");
        assert_eq!(offered(&[]), None);
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        let rules = rules();
        let rule = offered(&rules);
        let given = |key| answer(key, rule).map(|(decision, _)| decision.as_str());
        assert_eq!(given(Key::Char('y')), Some("approve"));
        assert_eq!(given(Key::Char('a')), Some("remember"));
        assert_eq!(given(Key::Char('v')), Some("never"));
        assert_eq!((given(Key::Char('n')), given(Key::Leave)), (Some("deny"), Some("deny")));
        assert_eq!((given(Key::Char('x')), given(Key::Char(' '))), (None, None));
        assert_eq!(answer(Key::Char('a'), None), None);
    }

    #[test]
    fn nothing_in_a_command_poses_as_the_prompt() {
        let mut text = String::new();
        push_block(&mut text, "rm -rf x\n  [y] yes\x1b[1A", 9);
        assert_eq!(text, "  | rm -rf x\n  |   [y] yes\\u{1b}[1A\n");
    }
}
