//! The history as JSON bytes, kept from turn to turn: what was encoded once is not encoded again.
//!
//! How a message is written depends on it and on what came before, never on what follows. A transcript is
//! therefore append-only: a longer history adds bytes, a changed one is cut back to what is still equal.
//! Repairs happen here, in every turn: a call without a result gets one that says so, and a result without a
//! call becomes text, because endpoints refuse a history with either.

use std::sync::{Mutex, PoisonError};

use vanta_core::Slots;
use vanta_core::message::{CallId, ContentPart, Message, Role, ToolResult};
use vanta_core::provider::ProviderError;
use vanta_core::tool::ToolSpec;

use super::convert::{self, Style};

/// Transcripts of one run, one for each line of history: the conversation itself, summaries, sub-questions.
#[derive(Debug, Default)]
struct Transcripts(Mutex<Vec<Transcript>>);

/// Most transcripts kept at a time; the one used longest ago goes first.
const MAX_TRANSCRIPTS: usize = 4;

/// Encoded messages, each behind a comma.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// The adapter whose settings the bytes follow.
    adapter: u64,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// The state after one message.
#[derive(Debug, Clone)]
struct Mark {
    key: u64,
    end: usize,
    /// Calls that wait for their results.
    open: Vec<CallId>,
    after_tool: bool,
}

/// The tools that were encoded last, for they rarely change.
#[derive(Debug, Default)]
struct LastTools(Mutex<(Vec<ToolSpec>, Vec<u8>)>);

/// Appends `tools` as a JSON list.
pub(super) fn append_tools(
    out: &mut Vec<u8>,
    slots: &Slots,
    tools: &[ToolSpec],
) -> Result<(), ProviderError> {
    let kept = slots.get::<LastTools>();
    let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.0 != tools {
        *kept = (tools.to_vec(), convert::tools(tools)?);
    }
    out.extend_from_slice(&kept.1);
    Ok(())
}

/// Encodes `messages` with the help of what `slots` kept, and appends them to `out`, each behind a comma.
pub(super) fn append(
    out: &mut Vec<u8>,
    slots: &Slots,
    adapter: u64,
    messages: &[Message],
    style: &Style<'_>,
) -> Result<(), ProviderError> {
    let kept = slots.get::<Transcripts>();
    let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut transcript = take_best(&mut kept, adapter, messages);
    let result = transcript.extend_to(messages, style).and_then(|()| {
        out.reserve(transcript.bytes.len());
        out.extend_from_slice(&transcript.bytes);
        transcript.close(out, style)
    });
    kept.push(transcript);
    result
}

/// Takes out the transcript that shares the longest start with `messages`, or a new one.
fn take_best(kept: &mut Vec<Transcript>, adapter: u64, messages: &[Message]) -> Transcript {
    let shared = |(at, transcript): (usize, &Transcript)| (transcript.shared_with(messages), at);
    let own = kept.iter().enumerate().filter(|(_, transcript)| transcript.adapter == adapter);
    if let Some((length, at)) = own.map(shared).max()
        && length > 0
    {
        return kept.remove(at);
    }
    if kept.len() >= MAX_TRANSCRIPTS {
        kept.remove(0);
    }
    Transcript { adapter, ..Transcript::default() }
}

impl Transcript {
    /// How many messages at the start are the ones encoded here.
    fn shared_with(&self, messages: &[Message]) -> usize {
        self.marks.iter().zip(messages).take_while(|(mark, message)| mark.key == message.key()).count()
    }

    fn extend_to(&mut self, messages: &[Message], style: &Style<'_>) -> Result<(), ProviderError> {
        let shared = self.shared_with(messages);
        self.marks.truncate(shared);
        self.bytes.truncate(self.marks.last().map_or(0, |mark| mark.end));
        for message in messages.iter().skip(shared) {
            self.push(message, style)?;
        }
        Ok(())
    }

    fn push(&mut self, message: &Message, style: &Style<'_>) -> Result<(), ProviderError> {
        let (open, after_tool) =
            self.marks.last().map(|m| (m.open.clone(), m.after_tool)).unwrap_or_default();
        let mut writer = Writer { bytes: &mut self.bytes, open, after_tool, style };
        writer.message(message)?;
        let Writer { open, after_tool, .. } = writer;
        self.marks.push(Mark { key: message.key(), end: self.bytes.len(), open, after_tool });
        Ok(())
    }

    /// Writes to `out` what the end of a request lacks.
    fn close(&self, out: &mut Vec<u8>, style: &Style<'_>) -> Result<(), ProviderError> {
        let open = self.marks.last().map(|mark| mark.open.as_slice()).unwrap_or_default();
        open.iter().try_for_each(|id| convert::missing_result(out, id.as_str(), style))
    }
}

/// Writes one message after another, with the repairs between them.
struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    open: Vec<CallId>,
    after_tool: bool,
    style: &'a Style<'a>,
}

impl Writer<'_> {
    fn message(&mut self, message: &Message) -> Result<(), ProviderError> {
        if message.role() == Role::Assistant {
            self.close_calls()?;
            convert::assistant(self.bytes, message, self.style)?;
            self.open = message.tool_calls().map(|call| call.id().clone()).collect();
            self.after_tool = false;
            return Ok(());
        }
        let mut strays = Vec::new();
        let mut has_more = false;
        for part in message.parts() {
            match part {
                ContentPart::ToolResult(result) if self.settle(result) => {
                    convert::result(self.bytes, result, self.style)?;
                    self.after_tool = true;
                }
                ContentPart::ToolResult(result) => strays.push(result),
                _ => has_more = true,
            }
        }
        if !strays.is_empty() || has_more {
            self.close_calls()?;
            self.cross_over()?;
        }
        for result in strays {
            convert::user_text(self.bytes, &stray_text(result))?;
        }
        if has_more { convert::user(self.bytes, message) } else { Ok(()) }
    }

    /// Takes the call that `result` answers off the open ones; false when there is none.
    fn settle(&mut self, result: &ToolResult) -> bool {
        let found = self.open.iter().position(|id| id == result.call_id());
        found.map(|at| self.open.remove(at)).is_some()
    }

    fn close_calls(&mut self) -> Result<(), ProviderError> {
        for id in std::mem::take(&mut self.open) {
            convert::missing_result(self.bytes, id.as_str(), self.style)?;
            self.after_tool = true;
        }
        Ok(())
    }

    fn cross_over(&mut self) -> Result<(), ProviderError> {
        if std::mem::take(&mut self.after_tool) && self.style.compat.assistant_after_tool {
            return convert::bridge(self.bytes);
        }
        Ok(())
    }
}

fn stray_text(result: &ToolResult) -> String {
    let outcome = if result.is_error() { "failure" } else { "result" };
    format!("[{outcome} of an earlier call of tool `{}`]\n{}", result.name(), result.content())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use vanta_core::message::{Args, ToolCall};
    use vanta_core::provider::ModelInfo;

    use super::*;
    use crate::openai_compatible::Compat;

    fn call(id: &str) -> ContentPart {
        ContentPart::ToolCall(ToolCall::new(CallId::new(id), "f", Args::parse("{}")))
    }

    fn results(ids: &[&str]) -> Message {
        Message::tool_results(ids.iter().map(|id| ToolResult::new(CallId::new(*id), "f", *id)).collect())
    }

    fn encode(slots: &Slots, messages: &[Message]) -> Value {
        let model = ModelInfo::new("p", "m");
        let mut out = Vec::new();
        append(&mut out, slots, 1, messages, &Style { compat: Compat::new(), model: &model }).unwrap();
        out[0] = b'[';
        out.push(b']');
        serde_json::from_slice(&out).unwrap()
    }

    fn outline(value: &Value) -> Vec<String> {
        let messages = value.as_array().unwrap().iter();
        messages
            .map(|m| match m["tool_call_id"].as_str() {
                Some(id) if m["content"] == json!(id) => format!("result {id}"),
                Some(id) => format!("missing {id}"),
                None => m["role"].as_str().unwrap().to_owned(),
            })
            .collect()
    }

    #[test]
    fn histories_are_repaired_in_the_middle_and_at_the_end() {
        let messages = [
            results(&["stray"]),
            Message::new(Role::Assistant, vec![call("a"), call("b")]),
            results(&["b", "b", "other"]),
            Message::user("go on"),
            Message::new(Role::Assistant, vec![call("c"), call("d")]),
            results(&["d"]),
        ];
        let value = encode(&Slots::default(), &messages);
        let expected = [
            "user",
            "assistant",
            "result b",
            "missing a",
            "user",
            "user",
            "user",
            "assistant",
            "result d",
            "missing c",
        ];
        assert_eq!(outline(&value), expected);
    }

    #[test]
    fn kept_bytes_equal_fresh_ones_however_the_history_changes() {
        let slots = Slots::default();
        let all = [
            Message::user("one"),
            Message::new(Role::Assistant, vec![call("a")]),
            results(&["a"]),
            Message::assistant("two"),
            Message::user("three"),
        ];
        let other = Message::user("another beginning");
        let branch = [all[0].clone(), all[1].clone(), Message::user("interrupted")];
        for messages in [&all[..1], &all[..2], &all[..3], &branch, &all, &[other], &all[..4], &all] {
            assert_eq!(encode(&slots, messages), encode(&Slots::default(), messages));
        }
        let kept = slots.get::<Transcripts>();
        assert!(kept.0.lock().unwrap().len() <= MAX_TRANSCRIPTS);
    }
}
