//! Messages and options as JSON bytes. Pure.

use std::borrow::Cow;

use serde_json::{Value, json};
use vanta_core::message::{ContentPart, Message, Origin, Thinking, ToolCall, ToolResult};
use vanta_core::provider::{
    ErrorClass, ModelInfo, ModelRequest, ProviderError, RequestOptions, ResponseSchema, ToolChoice,
};
use vanta_core::tool::ToolSpec;

use super::compat::{Compat, MaxTokensField, ReplayReasoning, SystemRole};
use super::ids;
use super::wire::{
    OutCall, OutContent, OutFunction, OutMessage, OutPart, OutRequest, OutStreamOptions, OutTool,
    OutToolFunction, OutUrl,
};

/// What stands in for a result that was never recorded.
const NO_RESULT: &str = "Error: no result was recorded for this call. Its effect is unknown: look at the present state \
                         before doing it again.";
/// What goes between tool results and a user message where the endpoint wants something there.
const BRIDGE: &str = "Understood.";

/// How messages are to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) compat: Compat,
    pub(super) model: &'a ModelInfo,
}

impl Style<'_> {
    /// Whether this model at this endpoint wrote the item, so that it takes it back.
    fn is_own(&self, origin: &Origin) -> bool {
        origin.provider() == self.model.provider() && origin.model() == self.model.id()
    }

    fn system_role(&self) -> &'static str {
        match self.compat.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        }
    }
}

/// Appends `item` behind a comma.
fn write(out: &mut Vec<u8>, item: &OutMessage<'_>) -> Result<(), ProviderError> {
    out.push(b',');
    serde_json::to_writer(out, item).map_err(|error| {
        ProviderError::new(
            ErrorClass::InvalidRequest,
            format!("a message cannot be written as JSON: {error}"),
        )
    })
}

pub(super) fn system(out: &mut Vec<u8>, text: &str, style: &Style<'_>) -> Result<(), ProviderError> {
    let content = OutContent::Text(text.into());
    write(out, &OutMessage { role: style.system_role(), content, ..OutMessage::default() })
}

/// A user's text and images.
pub(super) fn user(out: &mut Vec<u8>, message: &Message) -> Result<(), ProviderError> {
    let mut parts = Vec::new();
    for part in message.parts() {
        match part {
            ContentPart::Text(text) => parts.push(OutPart::Text { text }),
            ContentPart::Image(image) => {
                let url = format!("data:{};base64,{}", image.mime(), image.base64());
                parts.push(OutPart::ImageUrl { image_url: OutUrl { url } });
            }
            ContentPart::Document(document) => {
                let text = format!("documents (`{}`) cannot be sent to this endpoint", document.mime());
                return Err(ProviderError::new(ErrorClass::Unsupported, text));
            }
            _ => {}
        }
    }
    let content = match parts.as_slice() {
        [] => return Ok(()),
        [OutPart::Text { text }] => OutContent::Text((*text).into()),
        _ => OutContent::Parts(parts),
    };
    write(out, &OutMessage { role: "user", content, ..OutMessage::default() })
}

/// Text in a user's place.
pub(super) fn user_text(out: &mut Vec<u8>, text: &str) -> Result<(), ProviderError> {
    write(out, &OutMessage { role: "user", content: OutContent::Text(text.into()), ..OutMessage::default() })
}

pub(super) fn bridge(out: &mut Vec<u8>) -> Result<(), ProviderError> {
    write(
        out,
        &OutMessage { role: "assistant", content: OutContent::Text(BRIDGE.into()), ..OutMessage::default() },
    )
}

pub(super) fn assistant(
    out: &mut Vec<u8>,
    message: &Message,
    style: &Style<'_>,
) -> Result<(), ProviderError> {
    let mut item = OutMessage { role: "assistant", ..OutMessage::default() };
    let mut text = String::new();
    let mut reasoning = String::new();
    for part in message.parts() {
        match part {
            ContentPart::Text(more) | ContentPart::Refusal(more) => text.push_str(more),
            ContentPart::Thinking(thinking) => replay(thinking, style, &mut reasoning, &mut item),
            ContentPart::ToolCall(call) => item.tool_calls.push(out_call(call, style)),
            // What is left has no place here: another provider's items, and media no model wrote.
            _ => {}
        }
    }
    // Endpoints that want it ask for it between calls; some refuse it elsewhere.
    if !reasoning.is_empty() && !item.tool_calls.is_empty() {
        item.reasoning_content = Some(reasoning);
    }
    if !text.is_empty() || item.tool_calls.is_empty() {
        item.content = OutContent::Text(text.into());
    }
    write(out, &item)
}

/// Puts reasoning back where the endpoint wants it; another provider's is left out.
fn replay<'a>(thinking: &'a Thinking, style: &Style<'_>, text: &mut String, item: &mut OutMessage<'a>) {
    let same_provider = |origin: &Origin| origin.provider() == style.model.provider();
    match (style.compat.replay_reasoning, thinking.origin()) {
        (ReplayReasoning::ReasoningContent, origin) if origin.is_none_or(same_provider) => {
            text.push_str(thinking.text());
        }
        (ReplayReasoning::ReasoningDetails, Some(origin)) if style.is_own(origin) => {
            let details = origin.wire().get("reasoning_details").and_then(Value::as_array);
            item.reasoning_details.extend(details.into_iter().flatten());
        }
        _ => {}
    }
}

fn out_call<'a>(call: &'a ToolCall, style: &Style<'_>) -> OutCall<'a> {
    let arguments = match call.args().object() {
        Ok(_) if call.args().raw().trim().is_empty() => Cow::Borrowed("{}"),
        Ok(_) => Cow::Borrowed(call.args().raw()),
        // Many servers parse the arguments again and refuse the whole history over text that is no JSON.
        Err(_) => Cow::Owned(json!({ "invalid_arguments": call.args().raw() }).to_string()),
    };
    OutCall {
        id: ids::wire_id(call.id().as_str(), style.compat.tool_id_format),
        kind: "function",
        function: OutFunction { name: ids::wire_name(call.name()), arguments },
        extra_content: call.origin().filter(|origin| style.is_own(origin)).map(Origin::wire),
    }
}

pub(super) fn result(out: &mut Vec<u8>, result: &ToolResult, style: &Style<'_>) -> Result<(), ProviderError> {
    let says_so = result.content().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    let content = match result.is_error() && !says_so {
        true => Cow::Owned(format!("Error: {}", result.content())),
        false => Cow::Borrowed(result.content()),
    };
    answer(out, result.call_id().as_str(), content, style)
}

/// The result of a call whose own was never recorded.
pub(super) fn missing_result(out: &mut Vec<u8>, id: &str, style: &Style<'_>) -> Result<(), ProviderError> {
    answer(out, id, Cow::Borrowed(NO_RESULT), style)
}

fn answer(
    out: &mut Vec<u8>,
    id: &str,
    content: Cow<'_, str>,
    style: &Style<'_>,
) -> Result<(), ProviderError> {
    let id = ids::wire_id(id, style.compat.tool_id_format);
    let content = OutContent::Text(content);
    write(out, &OutMessage { role: "tool", tool_call_id: Some(id), content, ..OutMessage::default() })
}

/// Everything but messages and tools, as a JSON object.
pub(super) fn options(
    request: &ModelRequest,
    style: &Style<'_>,
    stream: bool,
    extra: &serde_json::Map<String, Value>,
) -> Result<Vec<u8>, ProviderError> {
    let options = request.options();
    let Compat { max_tokens_field, supports_temperature, supports_stream_usage, .. } = style.compat;
    let has_tools = !request.tools().is_empty();
    let out = OutRequest {
        model: style.model.id(),
        stream,
        stream_options: (stream && supports_stream_usage).then_some(OutStreamOptions { include_usage: true }),
        max_tokens: options.max_tokens.filter(|_| max_tokens_field == MaxTokensField::MaxTokens),
        max_completion_tokens: options
            .max_tokens
            .filter(|_| max_tokens_field == MaxTokensField::MaxCompletionTokens),
        temperature: options.temperature.filter(|_| supports_temperature),
        stop: &options.stop,
        response_format: options.response_schema.as_ref().map(response_format),
        tool_choice: tool_choice(&options.tool_choice, has_tools)?,
        parallel_tool_calls: parallel(options, style.compat, has_tools)?,
        extra,
    };
    serde_json::to_vec(&out).map_err(|error| {
        ProviderError::new(
            ErrorClass::InvalidRequest,
            format!("the request cannot be written as JSON: {error}"),
        )
    })
}

/// The tools on offer, as a JSON list.
pub(super) fn tools(tools: &[ToolSpec]) -> Result<Vec<u8>, ProviderError> {
    serde_json::to_vec(&tools.iter().map(out_tool).collect::<Vec<_>>()).map_err(|error| {
        ProviderError::new(
            ErrorClass::InvalidRequest,
            format!("the tools cannot be written as JSON: {error}"),
        )
    })
}

fn out_tool(tool: &ToolSpec) -> OutTool<'_> {
    let function = OutToolFunction {
        name: ids::wire_name(tool.name()),
        description: tool.description(),
        parameters: tool.schema(),
    };
    OutTool { kind: "function", function }
}

/// Endpoints refuse words about tools where there are none.
fn tool_choice(choice: &ToolChoice, has_tools: bool) -> Result<Option<Value>, ProviderError> {
    match (choice, has_tools) {
        (ToolChoice::Auto, _) | (ToolChoice::None, false) => Ok(None),
        (ToolChoice::None, true) => Ok(Some(json!("none"))),
        (ToolChoice::Required, true) => Ok(Some(json!("required"))),
        (ToolChoice::Named(name), true) => {
            Ok(Some(json!({"type": "function", "function": {"name": ids::wire_name(name)}})))
        }
        (ToolChoice::Required | ToolChoice::Named(_), false) => {
            let text = "a tool call is required, but the request offers no tool";
            Err(ProviderError::new(ErrorClass::InvalidRequest, text))
        }
        _ => Err(ProviderError::new(ErrorClass::Unsupported, "this kind of tool choice cannot be sent")),
    }
}

fn parallel(
    options: &RequestOptions,
    compat: Compat,
    has_tools: bool,
) -> Result<Option<bool>, ProviderError> {
    match options.parallel_tool_calls.filter(|_| has_tools) {
        Some(_) if !compat.supports_parallel_flag => {
            let text = "this endpoint cannot be told whether to call tools in parallel";
            Err(ProviderError::new(ErrorClass::Unsupported, text))
        }
        flag => Ok(flag),
    }
}

fn response_format(schema: &ResponseSchema) -> Value {
    json!({
        "type": "json_schema",
        "json_schema": {
            "name": ids::wire_name(schema.name()),
            "schema": schema.schema(),
            "strict": is_strict(schema.schema()),
        },
    })
}

/// Whether every object in `schema` lists all its properties as required and allows no others, which strict
/// endpoints insist on.
fn is_strict(schema: &Value) -> bool {
    let Value::Object(map) = schema else {
        return schema.as_array().is_none_or(|list| list.iter().all(is_strict));
    };
    let closed = match map.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let required = map.get("required").and_then(Value::as_array);
            let is_required =
                |name: &String| required.is_some_and(|list| list.iter().any(|item| item == name));
            map.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.keys().all(is_required)
                && properties.values().all(is_strict)
        }
        None => map.get("type") != Some(&json!("object")),
    };
    closed && map.iter().filter(|(key, _)| *key != "properties").all(|(_, inner)| is_strict(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_is_said_only_of_strict_schemas() {
        let strict = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
            "required": ["a", "b"],
            "additionalProperties": false,
        });
        assert!(is_strict(&strict));
        let mut optional = strict.clone();
        optional["required"] = json!(["a"]);
        assert!(!is_strict(&optional));
        let mut open_inside = strict;
        open_inside["properties"]["b"]["items"] = json!({"type": "object"});
        assert!(!is_strict(&open_inside));
    }
}
