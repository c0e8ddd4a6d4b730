//! `vanta run` and `vanta resume`: from arguments to an exit code, whatever happens in between.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::Result;
use vanta_core::clock::{Clock, IdSource, RandomIds, SystemClock};
use vanta_core::ledger::Operator;
use vanta_core::permission::RuleEffect;
use vanta_core::provider::ErrorClass;
use vanta_core::session::{Entry, Record, SessionId, SessionStore, StoreError};
use vanta_core::{Limit, Outcome, Task};

use crate::approve::{Answers, action_text};
use crate::args::{ResumeArgs, RunArgs, RunOptions};
use crate::config::Choices;
use crate::exit::{self, Complaint};
use crate::jsonl::Jsonl;
use crate::out::{Paint, Stdout, note};
use crate::render::Live;
use crate::site::Site;
use crate::stop::Stop;
use crate::text::{escaped, one_line};
use crate::view::{Ending, View, Watching};
use crate::{assemble, input, keys, sessions};

/// A new session.
pub(crate) async fn run(args: &RunArgs, paint: Paint) -> u8 {
    // Read before signals are caught, so that Ctrl-C ends the reading.
    let prompt = match input::task(args.prompt.as_deref()) {
        Ok(prompt) => prompt,
        Err(complaint) => return crate::complain(&complaint.into()),
    };
    let desk = Desk::new(&args.options, paint);
    let ended = desk.start(prompt).await;
    desk.close(ended)
}

/// A session that is there already.
pub(crate) async fn resume(args: &ResumeArgs, paint: Paint) -> u8 {
    let asked = args.target().map_err(|complaint| Complaint::Usage(complaint.to_owned()));
    let asked = asked.and_then(|(id, prompt)| Ok((id, input::addition(prompt)?)));
    let (id, prompt) = match asked {
        Ok(asked) => asked,
        Err(complaint) => return crate::complain(&complaint.into()),
    };
    let desk = Desk::new(&args.options, paint);
    let ended = desk.take_up(id, prompt).await;
    desk.close(ended)
}

/// What one run of either command needs to hand.
struct Desk<'a> {
    options: &'a RunOptions,
    paint: Paint,
    stop: Arc<Stop>,
    view: Arc<View>,
}

/// How a run ended, and what to do next.
struct Ended {
    ending: Ending,
    next: Vec<String>,
}

impl<'a> Desk<'a> {
    fn new(options: &'a RunOptions, paint: Paint) -> Self {
        let stop = Arc::new(Stop::default());
        let out = Stdout::new(Arc::clone(&stop));
        let view = if options.json {
            View::Json(Jsonl::new(out, Arc::clone(&stop)))
        } else {
            View::Text(Live::new(out, paint))
        };
        Self { options, paint, stop, view: Arc::new(view) }
    }

    async fn start(&self, prompt: String) -> Result<Ended> {
        self.watch_signals()?;
        let site = Site::open(&self.options.root)?;
        let id = RandomIds.session_id(SystemClock.now());
        let choices = Choices::of_flags(self.options).over(Choices::of_env(&env)?);
        let task = Task::new(prompt).session_id(id.clone());
        self.perform(&site, &choices, &id, task, true).await
    }

    async fn take_up(&self, id: Option<&str>, prompt: Option<String>) -> Result<Ended> {
        self.watch_signals()?;
        let site = Site::open(&self.options.root)?;
        let id = match id {
            Some(id) => id.parse::<SessionId>()?,
            None => sessions::last(&site).await?,
        };
        let store = site.sessions()?.ok_or_else(|| StoreError::NotFound(id.clone()))?;
        let log = store.read(&id).await;
        if !matches!(log, Err(StoreError::NotFound(_))) {
            self.view.name(&id, log.as_ref().ok().and_then(|log| log.records().last()));
        }
        let log = log?;
        let is_own = site.is_own(&id);
        if !is_own {
            note(&format!(
                "warning: session {id} was not started here by you; others may have written what it holds"
            ));
        }
        if let Some(damage) = log.damage() {
            return Err(StoreError::Damaged { session: id, damage: damage.clone() }.into());
        }
        // Nothing to go on with: no model, no key and no owner is needed to say so again.
        if let (None, Some(ending)) = (&prompt, Ending::of_finished(log.records())) {
            return Ok(Ended { ending, next: Vec::new() });
        }
        let noted = noted(&id, log.records(), is_own)?;
        let choices = Choices::of_flags(self.options).over(Choices::of_env(&env)?).over(noted);
        let task = Task::resume(id.clone());
        let task = match prompt {
            Some(prompt) => task.say(prompt),
            None => task,
        };
        self.perform(&site, &choices, &id, task, false).await
    }

    async fn perform(
        &self,
        site: &Site,
        choices: &Choices,
        id: &SessionId,
        task: Task,
        is_new: bool,
    ) -> Result<Ended> {
        let answers = Answers::new(self.options.on_ask, self.paint, Arc::clone(&self.stop));
        let watching = Watching { view: Arc::clone(&self.view), stop: Arc::clone(&self.stop) };
        let agent = assemble::agent(site, choices, &env, watching, answers)?;
        if is_new {
            site.note_own(id)?;
        }
        let report = agent.run(task.cancel(self.stop.token().clone())).await?;
        let next = next_steps(site, choices, report.session(), report.outcome()).await;
        Ok(Ended { ending: Ending::of_report(&report), next })
    }

    /// The first signal stops the run, the second the process, as does the first while there is no run yet; either
    /// way the last line is written.
    fn watch_signals(&self) -> Result<()> {
        let view = Arc::clone(&self.view);
        self.stop.watch(move |code, why| {
            let (done, is_done) = mpsc::channel();
            std::thread::spawn(move || {
                view.fail("cancelled", why, code);
                done.send(())
            });
            // A reader that does not read must not keep the process.
            let _ = is_done.recv_timeout(LAST_LINE);
            keys::restore();
            std::process::exit(i32::from(code));
        })?;
        Ok(())
    }

    fn close(&self, ended: Result<Ended>) -> u8 {
        match ended {
            Ok(Ended { ending, next }) => {
                let code = match exit::of_outcome(&ending.outcome, self.stop.code()) {
                    // An answer that could not be written is none.
                    exit::DONE if self.stop.has_failed() => exit::FAILED,
                    code => code,
                };
                self.view.finish(&ending, code);
                next.iter().for_each(|line| note(line));
                code
            }
            Err(error) => {
                let code = exit::of_error(&error);
                // A command line that makes no sense began nothing, so there is nothing to end.
                if code != exit::USAGE {
                    self.view.fail("failed", &crate::message(&error), code);
                }
                crate::complain(&error)
            }
        }
    }
}

/// The session's own settings, as far as they may count.
fn noted(id: &SessionId, records: &[Record], is_own: bool) -> Result<Choices> {
    let settings = records.iter().find_map(|record| match record.entry() {
        Entry::SessionCreated { settings, .. } => Some(settings),
        _ => None,
    });
    let (noted, remarks) = settings.map(Choices::of_notes).transpose()?.unwrap_or_default();
    for remark in remarks {
        note(&format!("warning: session {id}: {remark}"));
    }
    if is_own {
        return Ok(noted);
    }
    // Its files may have come with a clone, and what comes with a clone cannot loosen anything.
    let allows = |record: &Record| matches!(record.entry(), Entry::RuleAdded { rule } if rule.effect() == RuleEffect::Allow);
    if records.iter().any(allows) {
        let complaint = format!(
            "session `{id}` was not started here by you and brings rules of its own; start a new one instead"
        );
        return Err(Complaint::Refused(complaint).into());
    }
    let kept = noted.clone().only_tightening();
    if kept != noted {
        note("note: its address, its limits and any mode but plan are not used");
    }
    Ok(kept)
}

/// What to do next, where it is not plain from the outcome's own words.
async fn next_steps(site: &Site, choices: &Choices, session: &SessionId, outcome: &Outcome) -> Vec<String> {
    let resume = format!("vanta resume {session} {}", site.root_flag());
    match outcome {
        Outcome::AwaitingApproval { approvals } => {
            let mut lines = waiting(site, approvals).await;
            lines.extend(["then go on:".to_owned(), format!("  {resume}")]);
            lines
        }
        Outcome::ProviderFailed { class, .. } => {
            let hint = advice(*class, choices).map(|advice| format!("hint: {advice}"));
            hint.into_iter().chain([format!("to go on: {resume}")]).collect()
        }
        Outcome::LimitReached { limit } => vec![format!("to go on: {resume} {}", larger(*limit))],
        Outcome::Done { .. } | Outcome::Refused { .. } => Vec::new(),
        _ => vec![format!("to go on: {resume}")],
    }
}

/// The flag that a larger limit is given with.
fn larger(limit: Limit) -> &'static str {
    match limit {
        Limit::Turns => "--max-turns N",
        Limit::ToolCalls => "--max-tool-calls N",
        Limit::Tokens => "--max-tokens N",
        Limit::WallClock => "--timeout DUR",
        _ => "",
    }
}

/// What waits, and the commands that answer.
async fn waiting(site: &Site, ids: &[u64]) -> Vec<String> {
    let items = match site.ledger() {
        Ok(Some(ledger)) => ledger.approvals().await.unwrap_or_default(),
        _ => Vec::new(),
    };
    let (mut lines, root) = (Vec::new(), site.root_flag());
    for id in ids {
        let item = items.iter().find(|item| item.id().get() == *id);
        let about = item.map(|item| {
            let acts: Vec<String> = item.actions().iter().map(action_text).collect();
            format!(": {}: {} ({})", one_line(&acts.join("; "), 200), escaped(item.reason()), item.rule())
        });
        lines.push(format!("approval {id} is needed{}", about.unwrap_or_default()));
        lines.push(format!("  vanta approvals approve {id} {root}"));
        lines.push(format!("  vanta approvals deny {id} {root}"));
    }
    lines
}

fn advice(class: ErrorClass, choices: &Choices) -> Option<String> {
    let advice = match class {
        ErrorClass::Auth | ErrorClass::Permission => {
            let variable = choices.key_variable().unwrap_or("the provider's variable");
            return Some(format!("check the key in {variable}"));
        }
        ErrorClass::NotFound => "check --base-url (it usually ends in /v1) and --model",
        ErrorClass::Transport | ErrorClass::Timeout => "check that the server runs, and --base-url",
        ErrorClass::MalformedResponse => "check that --base-url is that of a Chat Completions endpoint",
        ErrorClass::StreamTruncated => "resume asks the model again",
        ErrorClass::QuotaExhausted => "add credit, or choose another --provider",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// How long the last line may take when the process ends at once.
const LAST_LINE: Duration = Duration::from_millis(500);
