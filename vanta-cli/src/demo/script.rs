//! The demo's model: a script, but one that looks at what came back before it says what is next.
//!
//! It decides from the history alone, as a model does, so a denied command or a test that stays red leads to
//! another answer, never to a made-up one.

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use vanta_core::LlmProvider;
use vanta_core::message::{Args, CallId, ContentPart, Message, Role, ToolCall, ToolResult};
use vanta_core::provider::{
    FinishReason, ModelContext, ModelInfo, ModelReply, ModelRequest, ProviderError, ReplyStream, StreamEvent,
};

/// What the demo asks of its model.
pub(super) const TASK: &str = "The test of this crate fails. Fix it, then tidy up.";

/// Runs the test. The build goes where the scratch copy is, whatever the environment says.
pub(super) const TEST: &str = "cargo test --offline --target-dir target";
/// Needs a person.
pub(super) const DELETE: &str = "rm old_notes.txt";
/// Must never run.
pub(super) const WIPE: &str = "rm -rf ~";

/// The scripted model.
#[derive(Debug)]
pub(super) struct ScriptedModel(ModelInfo);

impl ScriptedModel {
    pub(super) fn new() -> Self {
        Self(ModelInfo::new("demo", "scripted"))
    }
}

#[async_trait]
impl LlmProvider for ScriptedModel {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    async fn stream(&self, request: ModelRequest, _: &ModelContext) -> Result<ReplyStream, ProviderError> {
        let done = done(request.messages());
        let events = decide(&done).into_events(done.len() + 1);
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }
}

/// A call with its result.
struct Done<'a> {
    call: &'a ToolCall,
    result: &'a ToolResult,
}

impl Done<'_> {
    /// The tool, and for `shell` the command line.
    fn what(&self) -> (&str, &str) {
        (self.call.name(), self.argument("command"))
    }

    fn argument(&self, name: &str) -> &str {
        self.call
            .args()
            .object()
            .ok()
            .and_then(|args| args.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn ok(&self) -> bool {
        !self.result.is_error()
    }
}

fn done(messages: &[Message]) -> Vec<Done<'_>> {
    let calls = || messages.iter().flat_map(Message::tool_calls);
    let results = messages.iter().flat_map(Message::parts).filter_map(|part| match part {
        ContentPart::ToolResult(result) => Some(result),
        _ => None,
    });
    results
        .filter_map(|result| {
            let call = calls().find(|call| call.id() == result.call_id())?;
            Some(Done { call, result })
        })
        .collect()
}

/// What to do after `done`.
fn decide(done: &[Done<'_>]) -> Turn {
    let Some(last) = done.last() else {
        return Turn::call("First a look at what is here.", "list_dir", json!({}));
    };
    match last.what() {
        ("list_dir", _) if last.ok() => Turn::command("A crate. What does its test say?", TEST),
        ("shell", TEST) if last.ok() => tidy(done),
        ("shell", TEST) => look(done, last),
        ("read_file", _) if last.ok() => fix(last),
        ("edit_file", _) if last.ok() => Turn::command("Now every cent should be paid. Is it?", TEST),
        ("shell", DELETE) => misbehave(last),
        ("shell", WIPE) => report(done, last),
        _ => Turn::give_up("I cannot go on", last),
    }
}

/// The test fails: where?
fn look(done: &[Done<'_>], tests: &Done<'_>) -> Turn {
    if done.iter().any(|done| done.call.name() == "edit_file") {
        return Turn::give_up("The test still fails, and I have no better idea", tests);
    }
    let output = tests.result.content();
    let place = output.split_once("panicked at ").and_then(|(_, rest)| rest.split(':').next());
    match place {
        Some(path) => {
            let text = format!("It fails in {path}: the shares do not add up. What does the code do?");
            Turn::call(&text, "read_file", json!({"path": path}))
        }
        None => Turn::give_up("The test did not run", tests),
    }
}

/// The division drops what is left over.
fn fix(source: &Done<'_>) -> Turn {
    let Some(line) = source.result.content().lines().find(|line| line.contains(DROPS_THE_REST)) else {
        return Turn::Say("I do not see the cause in this file, so I change nothing.".to_owned());
    };
    let args = json!({
        "path": source.argument("path"),
        "old_string": line,
        "new_string": line.replace(DROPS_THE_REST, SHARES_THE_REST),
    });
    Turn::call("The division drops what is left over. The first people pay one cent more.", "edit_file", args)
}

const DROPS_THE_REST: &str = "|_| share";
const SHARES_THE_REST: &str = "|person| share + u64::from(person < total % people)";

/// The test is green.
fn tidy(done: &[Done<'_>]) -> Turn {
    let listed =
        |done: &Done<'_>| done.call.name() == "list_dir" && done.result.content().contains("old_notes.txt");
    if done.iter().any(listed) {
        return Turn::command("Green. Tidying up: the old notes can go.", DELETE);
    }
    Turn::Say("The test is green, and there is nothing to tidy up.".to_owned())
}

/// What no careful model does, for the boundary to answer.
fn misbehave(deletion: &Done<'_>) -> Turn {
    let notes = if deletion.ok() { "The notes are gone." } else { "The notes stay, then." };
    Turn::command(
        &format!("{notes} Now the script misbehaves on purpose: it tries to wipe the home folder."),
        WIPE,
    )
}

fn report(done: &[Done<'_>], wipe: &Done<'_>) -> Turn {
    let deleted = done.iter().any(|done| done.what() == ("shell", DELETE) && done.ok());
    let notes = if deleted { "deleted the old notes" } else { "left the old notes where they are" };
    let home = if wipe.ok() {
        "Wiping the home folder was not refused!"
    } else {
        "Wiping the home folder was refused."
    };
    Turn::Say(format!("I fixed the split, saw the test pass and {notes}. {home}"))
}

/// One reply.
enum Turn {
    Say(String),
    Call { text: String, tool: &'static str, args: Value },
}

impl Turn {
    fn call(text: &str, tool: &'static str, args: Value) -> Self {
        Self::Call { text: text.to_owned(), tool, args }
    }

    fn command(text: &str, command: &str) -> Self {
        Self::call(text, "shell", json!({"command": command}))
    }

    fn give_up(why: &str, last: &Done<'_>) -> Self {
        let said = last.result.content().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Self::Say(format!("{why}: {said}"))
    }

    /// As a wire would bring it; `number` names the call.
    fn into_events(self, number: usize) -> Vec<StreamEvent> {
        let (text, call, finish) = match self {
            Self::Say(text) => (text, None, FinishReason::Stop),
            Self::Call { text, tool, args } => {
                let id = CallId::new(format!("call-{number}"));
                let call = ToolCall::new(id, tool, Args::parse(args.to_string()));
                (text, Some(call), FinishReason::ToolCalls)
            }
        };
        let mut events =
            vec![StreamEvent::Started { response_id: None }, StreamEvent::TextDelta(text.clone())];
        let mut parts = vec![ContentPart::Text(text)];
        if let Some(call) = call {
            let (id, json) = (call.id().clone(), call.args().raw().to_owned());
            events.push(StreamEvent::ToolCallStarted { id: id.clone(), name: call.name().to_owned() });
            events.push(StreamEvent::ToolCallDelta { id, json });
            parts.push(ContentPart::ToolCall(call));
        }
        events.push(StreamEvent::Finished(ModelReply::new(Message::new(Role::Assistant, parts), finish)));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls so far, each as tool, arguments, and its answer: `Ok` when it worked.
    type Story<'a> = &'a [(&'a str, Value, Result<&'a str, &'a str>)];

    /// What the script does next: its text, and its call as tool and arguments.
    fn next(story: Story<'_>) -> (String, Option<(String, Value)>) {
        let mut messages = vec![Message::user(TASK)];
        for (number, (tool, args, answer)) in story.iter().enumerate() {
            let id = CallId::new(format!("call-{number}"));
            let call = ToolCall::new(id.clone(), *tool, Args::parse(args.to_string()));
            let result = match answer {
                Ok(output) => ToolResult::new(id, *tool, *output),
                Err(output) => ToolResult::new(id, *tool, *output).failed(),
            };
            messages.push(Message::new(Role::Assistant, vec![ContentPart::ToolCall(call)]));
            messages.push(Message::tool_results(vec![result]));
        }
        match decide(&done(&messages)) {
            Turn::Say(text) => (text, None),
            Turn::Call { text, tool, args } => (text, Some((tool.to_owned(), args))),
        }
    }

    fn shell(command: &str) -> Value {
        json!({"command": command})
    }

    #[test]
    fn a_denied_test_run_ends_in_the_reason_and_not_in_a_claim() {
        let story =
            [("list_dir", json!({}), Ok("src/")), ("shell", shell(TEST), Err("not run: the user said no"))];
        assert_eq!(next(&story), ("The test did not run: not run: the user said no".to_owned(), None));
    }

    #[test]
    fn the_failing_place_is_where_it_looks_and_what_it_read_is_what_it_edits() {
        let failure = "thread 'tests::a' panicked at src/bill.rs:9:5:\nassertion failed";
        let tests = ("shell", shell(TEST), Err(failure));
        let read = json!({"path": "src/bill.rs"});
        assert_eq!(next(std::slice::from_ref(&tests)).1, Some(("read_file".to_owned(), read.clone())));
        let source = ("read_file", read.clone(), Ok("fn a() {\n\t(0..n).map(|_| share)\n}"));
        let (_, edit) = next(&[tests.clone(), source]);
        let (tool, args) = edit.unwrap();
        assert_eq!((tool.as_str(), &args["path"]), ("edit_file", &read["path"]));
        assert_eq!(args["old_string"], "\t(0..n).map(|_| share)");
        let elsewhere = ("read_file", read, Ok("fn a() {}"));
        assert_eq!(next(&[tests, elsewhere]).1, None);
    }

    #[test]
    fn a_test_that_stays_red_is_not_called_green() {
        let story = [
            ("edit_file", json!({"path": "src/lib.rs"}), Ok("edited")),
            ("shell", shell(TEST), Err("panicked at src/lib.rs:1:1")),
        ];
        let (text, call) = next(&story);
        assert!(text.contains("still fails") && call.is_none(), "{text}");
    }

    #[test]
    fn a_no_to_the_deletion_is_told_as_such() {
        let deletion = ("shell", shell(DELETE), Err("not run: the user said no"));
        let (text, call) = next(std::slice::from_ref(&deletion));
        assert!(text.contains("The notes stay"), "{text}");
        assert_eq!(call, Some(("shell".to_owned(), shell(WIPE))));
        let (text, call) = next(&[deletion, ("shell", shell(WIPE), Err("blocked"))]);
        assert!(text.contains("left the old notes") && text.contains("was refused"), "{text}");
        assert_eq!(call, None);
    }
}
