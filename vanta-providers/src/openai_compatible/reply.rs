//! Builds a reply from chunks. One path for streamed chunks and for a completion in one piece.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use vanta_core::message::{ContentPart, Message, Origin, Role, Thinking};
use vanta_core::provider::{
    ErrorClass, FinishReason, ModelInfo, ModelReply, ModelRequest, ProviderError, StreamEvent, Usage,
};

use super::calls::{CallRouter, MAX_CALLS};
use super::details;
use super::ids;
use super::wire::{CallDelta, Choice, Chunk, Delta, Loose, WireUsage};
use crate::errors::{self, Refusal};
use crate::http::{MAX_BODY_BYTES, Target};

/// A reply under construction.
#[derive(Debug)]
pub(super) struct ReplyBuilder {
    model: Arc<ModelInfo>,
    /// For ids and names that are in use.
    request: ModelRequest,
    target: Arc<Target>,
    pieces: Vec<Piece>,
    calls: CallRouter,
    usage: Usage,
    finish_raw: Option<String>,
    response_id: Option<String>,
    started: bool,
    done: bool,
    /// Bytes of text, reasoning and arguments so far.
    size: usize,
    readable: u64,
    /// Events since the last readable one that are neither JSON nor the end mark.
    unreadable: u64,
}

/// A part under construction; neighbours of one kind are joined.
#[derive(Debug)]
enum Piece {
    Text(String),
    Refusal(String),
    Thinking { text: String, field: &'static str, details: Vec<Value> },
    Call(usize),
}

impl ReplyBuilder {
    pub(super) fn new(model: Arc<ModelInfo>, request: ModelRequest, target: Arc<Target>) -> Self {
        Self {
            model,
            request,
            target,
            pieces: Vec::new(),
            calls: CallRouter::default(),
            usage: Usage::default(),
            finish_raw: None,
            response_id: None,
            started: false,
            done: false,
            size: 0,
            readable: 0,
            unreadable: 0,
        }
    }

    /// Whether a finish reason or the end mark was seen: nothing that a call needs is missing.
    pub(super) fn is_complete(&self) -> bool {
        self.done || self.finish_raw.is_some()
    }

    /// Whether the end mark was seen.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Reads one event of a stream.
    pub(super) fn event(
        &mut self,
        name: &[u8],
        data: &[u8],
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ProviderError> {
        if self.done {
            return Ok(());
        }
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        if name == b"error" {
            return Err(self.refusal(data));
        }
        // Broken characters: text may show replacements, arguments may not be used.
        let (text, damaged) = match std::str::from_utf8(data) {
            Ok(text) => (Cow::Borrowed(text), false),
            Err(_) => (String::from_utf8_lossy(data), true),
        };
        match serde_json::from_str::<Chunk<'_>>(&text) {
            Ok(chunk) => self.chunk(chunk, data, damaged, events),
            Err(_) if has_error(&text) => Err(self.refusal(data)),
            // Proxies repeat keep-alives as data.
            Err(_) => {
                self.unreadable = self.unreadable.saturating_add(1);
                Ok(())
            }
        }
    }

    /// Reads a completion that came in one piece.
    pub(super) fn whole(
        &mut self,
        body: &[u8],
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ProviderError> {
        let text = String::from_utf8_lossy(body);
        let damaged = matches!(text, Cow::Owned(_));
        let text = text.trim_start_matches('\u{FEFF}');
        let chunk = match serde_json::from_str::<Chunk<'_>>(text) {
            Ok(chunk) => chunk,
            Err(_) if has_error(text) => return Err(self.refusal(body)),
            Err(_) => return Err(errors::malformed(&self.target, "is not a completion in JSON")),
        };
        let has_message =
            chunk.choices.as_ref().and_then(|list| list.first()).is_some_and(|c| c.message.is_some());
        if !chunk.is_error() && !has_message {
            return Err(errors::malformed(&self.target, "holds no choice"));
        }
        self.chunk(chunk, body, damaged, events)?;
        self.done = true;
        Ok(())
    }

    fn chunk(
        &mut self,
        chunk: Chunk<'_>,
        raw: &[u8],
        damaged: bool,
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ProviderError> {
        if chunk.is_error() {
            return Err(self.refusal(raw));
        }
        self.readable = self.readable.saturating_add(1);
        self.unreadable = 0;
        self.note_start(&chunk, events);
        if let Some(usage) = chunk.usage() {
            self.note_usage(usage);
        }
        // Only one choice is ever asked for.
        let first = |choice: &Choice<'_>| choice.index.count().unwrap_or(0) == 0;
        for choice in chunk.choices.into_iter().flatten().filter(first) {
            let finish = choice.finish_reason.text().map(str::to_owned);
            match (choice.delta, choice.message) {
                (Some(delta), _) => self.delta(delta, false, damaged, events)?,
                // Beside deltas, some servers repeat the whole message so far.
                (None, Some(message)) if self.pieces.is_empty() => {
                    self.delta(*message, true, damaged, events)?
                }
                _ => {}
            }
            if finish.as_deref() == Some("error") {
                return Err(self.refusal(raw));
            }
            self.finish_raw = finish.or(self.finish_raw.take());
        }
        Ok(())
    }

    fn note_start(&mut self, chunk: &Chunk<'_>, events: &mut VecDeque<StreamEvent>) {
        if self.response_id.is_none() {
            self.response_id = chunk.id.text().map(str::to_owned);
        }
        let has_choices = chunk.choices.as_ref().is_some_and(|choices| !choices.is_empty());
        if !self.started && (self.response_id.is_some() || has_choices) {
            self.started = true;
            events.push_back(StreamEvent::Started { response_id: self.response_id.clone() });
        }
    }

    /// Counts are running totals: the last report counts, an empty one is none.
    fn note_usage(&mut self, wire: &WireUsage<'_>) {
        let usage = read_usage(wire);
        if usage != Usage::default() {
            self.usage = usage;
        }
    }

    fn delta(
        &mut self,
        mut delta: Delta<'_>,
        whole: bool,
        damaged: bool,
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ProviderError> {
        let more = match std::mem::take(&mut delta.reasoning_details) {
            Loose::Other(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let (thought, field) = details::thought(&delta, &more);
        self.think(&thought, field, more, events)?;
        match delta.content {
            Loose::Text(text) => self.say(text, events)?,
            Loose::Other(Value::Array(parts)) => self.parts(&parts, events)?,
            _ => {}
        }
        if let Some(text) = delta.refusal.text() {
            self.refuse(text, events)?;
        }
        let old_style = delta.function_call.map(|function| CallDelta {
            index: Loose::Absent,
            id: Loose::Absent,
            function: Some(*function),
            extra_content: None,
        });
        for call in delta.tool_calls.into_iter().flatten().chain(old_style) {
            self.call(call, whole, damaged, events)?;
        }
        Ok(())
    }

    /// Content as a list: text and reasoning in the order given.
    fn parts(&mut self, parts: &[Value], events: &mut VecDeque<StreamEvent>) -> Result<(), ProviderError> {
        for part in parts {
            match part.get("type").and_then(Value::as_str) {
                Some("thinking" | "reasoning") => {
                    self.think(&details::nested_text(part), "content", Vec::new(), events)?;
                }
                Some("refusal") => {
                    self.refuse(part.get("refusal").and_then(Value::as_str).unwrap_or_default(), events)?;
                }
                _ => self.say(part.get("text").and_then(Value::as_str).unwrap_or_default().into(), events)?,
            }
        }
        Ok(())
    }

    fn say(&mut self, text: Cow<'_, str>, events: &mut VecDeque<StreamEvent>) -> Result<(), ProviderError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        match self.pieces.last_mut() {
            Some(Piece::Text(so_far)) => so_far.push_str(&text),
            _ => self.pieces.push(Piece::Text(text.clone().into_owned())),
        }
        events.push_back(StreamEvent::TextDelta(text.into_owned()));
        Ok(())
    }

    fn refuse(&mut self, text: &str, events: &mut VecDeque<StreamEvent>) -> Result<(), ProviderError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        match self.pieces.last_mut() {
            Some(Piece::Refusal(so_far)) => so_far.push_str(text),
            _ => self.pieces.push(Piece::Refusal(text.to_owned())),
        }
        events.push_back(StreamEvent::RefusalDelta(text.to_owned()));
        Ok(())
    }

    fn think(
        &mut self,
        text: &str,
        field: &'static str,
        more: Vec<Value>,
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ProviderError> {
        if text.is_empty() && more.is_empty() {
            return Ok(());
        }
        self.grow(text.len().saturating_add(more.iter().map(details::size).sum()))?;
        if !matches!(self.pieces.last(), Some(Piece::Thinking { .. })) {
            self.pieces.push(Piece::Thinking { text: String::new(), field, details: Vec::new() });
        }
        if let Some(Piece::Thinking { text: so_far, details, .. }) = self.pieces.last_mut() {
            so_far.push_str(text);
            more.into_iter().for_each(|detail| details::join(details, detail));
        }
        if !text.is_empty() {
            events.push_back(StreamEvent::ThinkingDelta(text.to_owned()));
        }
        Ok(())
    }

    fn call(
        &mut self,
        mut delta: CallDelta<'_>,
        whole: bool,
        damaged: bool,
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ProviderError> {
        self.grow(delta.function.as_ref().and_then(|f| f.arguments.text()).map_or(0, str::len))?;
        if let Some(function) = &mut delta.function
            && let Some(own) = function.name.text().and_then(|name| self.own_name(name))
        {
            function.name = Loose::Text(own.to_owned().into());
        }
        let before = self.calls.len();
        let at = match whole {
            true => self.calls.take_whole(delta, damaged),
            false => self.calls.take(delta, damaged),
        };
        if self.calls.len() > before {
            self.pieces.push(Piece::Call(at));
        }
        if self.calls.len() > MAX_CALLS {
            return Err(errors::malformed(&self.target, "holds more tool calls than anybody could want"));
        }
        let messages = self.request.messages();
        let is_used =
            |id: &str| messages.iter().flat_map(Message::tool_calls).any(|call| call.id().as_str() == id);
        let turn = messages.len().to_string();
        let seed = [self.response_id.as_deref().unwrap_or_default(), &turn];
        self.calls.announce(at, is_used, &seed, events);
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), ProviderError> {
        self.size = self.size.saturating_add(by);
        if self.size > MAX_BODY_BYTES {
            return Err(errors::malformed(&self.target, "is larger than any reply"));
        }
        Ok(())
    }

    fn refusal(&self, body: &[u8]) -> ProviderError {
        errors::classify(&Refusal { status: None, body, target: &self.target })
    }

    /// What to report when the bytes end without an end mark.
    pub(super) fn cut_off(&self, any_bytes: bool) -> ProviderError {
        if self.readable == 0 && any_bytes {
            return errors::malformed(&self.target, "is neither a stream of chunks nor a completion");
        }
        let text = format!("`{}` ended the stream before the reply was finished", self.target.place());
        ProviderError::new(ErrorClass::StreamTruncated, text)
    }

    /// The reply. Call once, and only when [`ReplyBuilder::is_complete`].
    pub(super) fn finish(&mut self) -> Result<ModelReply, ProviderError> {
        if self.finish_raw.is_none() && self.unreadable > 0 {
            return Err(errors::malformed(&self.target, "could not be read to its end"));
        }
        if self.finish_raw.is_none() && self.readable == 0 {
            return Err(errors::malformed(&self.target, "holds nothing but an end mark"));
        }
        if self.calls.has_nameless() {
            let text = "the model called a tool without naming it";
            return Err(ProviderError::new(ErrorClass::MalformedToolCall, text));
        }
        let said = self.finish_raw.as_deref().map(finish_reason);
        let whole = matches!(said, None | Some(FinishReason::Stop | FinishReason::ToolCalls));
        let pieces = std::mem::take(&mut self.pieces);
        let parts = pieces.into_iter().filter_map(|piece| self.part(piece, whole)).collect();
        let message = Message::new(Role::Assistant, parts);
        let refused = message.parts().iter().any(|part| matches!(part, ContentPart::Refusal(_)));
        let finish = match said.unwrap_or(FinishReason::Stop) {
            FinishReason::Stop if message.tool_calls().next().is_some() => FinishReason::ToolCalls,
            FinishReason::Stop if refused => FinishReason::Refusal,
            other => other,
        };
        let mut reply = ModelReply::new(message, finish).with_usage(self.usage);
        if let Some(word) = &self.finish_raw {
            reply = reply.with_finish_raw(word);
        }
        Ok(match &self.response_id {
            Some(id) => reply.with_response_id(id),
            None => reply,
        })
    }

    /// What has arrived, without calls; `None` when that is nothing.
    pub(super) fn partial(&mut self) -> Option<Message> {
        let pieces = std::mem::take(&mut self.pieces);
        let kept = pieces.into_iter().filter(|piece| !matches!(piece, Piece::Call(_)));
        let parts: Vec<_> = kept.filter_map(|piece| self.part(piece, false)).collect();
        (!parts.is_empty()).then(|| Message::new(Role::Assistant, parts))
    }

    fn part(&self, piece: Piece, whole: bool) -> Option<ContentPart> {
        Some(match piece {
            Piece::Text(text) => ContentPart::Text(text),
            Piece::Refusal(text) => ContentPart::Refusal(text),
            Piece::Thinking { text, field, details } => {
                let wire = if details.is_empty() {
                    json!({ field: null })
                } else {
                    json!({ "reasoning_details": details })
                };
                ContentPart::Thinking(Thinking::new(
                    text,
                    Some(Origin::new(self.model.provider(), self.model.id(), wire)),
                ))
            }
            Piece::Call(at) => ContentPart::ToolCall(self.calls.finish(at, whole, &self.model)?),
        })
    }

    /// The tool's own name, where another was sent because the endpoint takes only some characters.
    fn own_name(&self, name: &str) -> Option<&str> {
        let sent_as =
            |tool: &&vanta_core::tool::ToolSpec| tool.name() != name && ids::wire_name(tool.name()) == name;
        let known = self.request.tools().iter().any(|tool| tool.name() == name);
        if known { None } else { self.request.tools().iter().find(sent_as).map(|tool| tool.name()) }
    }
}

/// Whether `text` is JSON with an error in it, be it in a list.
fn has_error(text: &str) -> bool {
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => list.first().is_some_and(|first| first.get("error").is_some()),
        Ok(value) => value.get("error").is_some_and(|error| !error.is_null()),
        Err(_) => false,
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "tool_call" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "sensitive" | "safety" => FinishReason::ContentFilter,
        "refusal" => FinishReason::Refusal,
        _ => FinishReason::Other,
    }
}

fn read_usage(wire: &WireUsage<'_>) -> Usage {
    let prompt = wire.prompt_tokens_details.as_ref();
    let mut usage = Usage::default();
    usage.input = wire.prompt_tokens.count();
    usage.output = wire.completion_tokens.count();
    usage.total = wire.total_tokens.count();
    usage.cached_input = prompt
        .and_then(|details| details.cached_tokens.count())
        .or_else(|| wire.prompt_cache_hit_tokens.count())
        .or_else(|| wire.cached_tokens.count());
    usage.cache_write = prompt.and_then(|details| details.cache_write_tokens.count());
    usage.reasoning =
        wire.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens.count());
    usage
}
