//! One fixture: the adapter and the request it describes, the answers it prescribes, and what it expects.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use vanta_core::LlmProvider;
use vanta_core::context::Prompt;
use vanta_core::message::{Args, CallId, ContentPart, Media, Message, Role, ToolCall, ToolResult};
use vanta_core::provider::{
    ModelReply, ModelRequest, ProviderError, RequestOptions, ResponseSchema, ToolChoice,
};
use vanta_core::retry::RetryPolicy;
use vanta_core::tool::ToolSpec;
use vanta_providers::openai_compatible::{Compat, Delivery, IdFormat, MaxTokensField, ReplayReasoning};
use vanta_providers::{HttpClient, OpenAiCompatible, Retry, TimeLimits};

use crate::replay::{End, Script};

#[derive(Debug, Clone)]
pub(crate) struct Fixture(pub(crate) Value);

/// Every fixture of a folder, or the one of a file.
pub(crate) fn load(path: &Path) -> Vec<Fixture> {
    let mut files: Vec<PathBuf> = match path.is_dir() {
        true => path.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect(),
        false => vec![path.to_owned()],
    };
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let read = |file: &PathBuf| Fixture(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap());
    files.iter().map(read).collect()
}

/// The fixtures to run: this crate's, or those that the environment names.
pub(crate) fn all() -> Vec<Fixture> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    load(&std::env::var_os("VANTA_PROVIDER_FIXTURES").map_or(own, PathBuf::from))
}

impl Fixture {
    pub(crate) fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    pub(crate) fn expect(&self) -> &Value {
        &self.0["expect"]
    }

    pub(crate) fn is_supported(&self) -> bool {
        self.0["protocol"] == "openai_chat"
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.0["mode"] == "stream"
    }

    pub(crate) fn retries(&self) -> Option<u64> {
        self.0["client"]["max_retries"].as_u64()
    }

    pub(crate) fn scripts(&self) -> Vec<Script> {
        match self.0["sequence"].as_array() {
            Some(list) => list.iter().map(script).collect(),
            None => vec![script(&self.0["http"])],
        }
    }

    /// The adapter against `address`, the server's place for this fixture.
    pub(crate) fn provider(&self, address: &str, client: &HttpClient) -> Box<dyn LlmProvider> {
        let given = &self.0["given"];
        let compat = &given["compat"];
        let azure = &compat["azure"];
        let base = if azure.is_object() { address.to_owned() } else { format!("{address}/v1") };
        let mut builder = OpenAiCompatible::builder(base, given["model"].as_str().unwrap())
            .api_key(given["api_key"].as_str().unwrap_or("sk-any-key-will-do"))
            .compat(read_compat(compat))
            .client(client.clone())
            .delivery(if self.is_stream() { Delivery::Stream } else { Delivery::Whole });
        if let Some(effort) = given["reasoning"].get("effort") {
            builder = builder.extra_body("reasoning_effort", effort.clone());
        }
        if let Some(tokens) = given["context_window"].as_u64() {
            builder = builder.context_window(tokens);
        }
        if let Some(limit) = self.0["client"]["idle_timeout_ms"].as_u64() {
            let limit = Duration::from_millis(limit);
            builder = builder.time_limits(TimeLimits::new().with_idle(limit));
        }
        if let (Some(deployment), Some(version)) =
            (azure["deployment"].as_str(), azure["api_version"].as_str())
        {
            builder = builder.azure(deployment, version);
        }
        let provider = builder.build().unwrap();
        match self.retries() {
            None => Box::new(provider),
            Some(times) => {
                let limit =
                    Duration::from_millis(self.0["client"]["max_backoff_ms"].as_u64().unwrap_or(1000));
                let policy = RetryPolicy::new().with_max_retries(times as u32).with_limit(limit);
                Box::new(Retry::new(provider, policy.with_base(Duration::from_millis(20))))
            }
        }
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.0["given"]["messages"].as_array().unwrap().iter().map(message).collect()
    }

    pub(crate) fn request(&self, messages: Vec<Message>) -> ModelRequest {
        let given = &self.0["given"];
        let mut options = RequestOptions::default();
        options.max_tokens = given["max_tokens"].as_u64();
        options.temperature = given["temperature"].as_f64();
        options.stop = strings(&given["stop"]);
        options.parallel_tool_calls = given["parallel_tool_calls"].as_bool();
        options.tool_choice = match &given["tool_choice"] {
            Value::String(word) if word == "required" => ToolChoice::Required,
            Value::String(word) if word == "none" => ToolChoice::None,
            Value::Object(map) => ToolChoice::Named(map["name"].as_str().unwrap().to_owned()),
            _ => ToolChoice::Auto,
        };
        if let Some(schema) = given["response_schema"].as_object() {
            options.response_schema =
                Some(ResponseSchema::new(schema["name"].as_str().unwrap(), schema["schema"].clone()));
        }
        let tools: Vec<_> =
            given["tools"].as_array().map(Vec::as_slice).unwrap_or_default().iter().map(tool).collect();
        let request = ModelRequest::new(messages).with_tools(tools).with_options(options);
        match given["system"].as_str() {
            Some(text) => request.with_prompt(Prompt::new(text)),
            None => request,
        }
    }

    /// The history of the next turn, after `reply`.
    pub(crate) fn next_turn(&self, reply: &ModelReply) -> Vec<Message> {
        let calls: Vec<_> = reply.message().tool_calls().cloned().collect();
        let mut messages = self.messages();
        messages.push(reply.message().clone());
        let results = self.0["replay"]["tool_results"].as_array().map(Vec::as_slice).unwrap_or_default();
        let answer = |result: &Value| {
            let call = match result["call"].as_u64() {
                Some(at) => &calls[at as usize],
                None => {
                    calls.iter().find(|call| call.id().as_str() == result["id"]).expect("a call with this id")
                }
            };
            ToolResult::new(call.id().clone(), call.name(), result["content"].as_str().unwrap())
        };
        messages.push(Message::tool_results(results.iter().map(answer).collect()));
        messages.extend(self.0["replay"]["user"].as_str().map(Message::user));
        messages
    }

    /// What is wrong with `outcome`.
    pub(crate) fn failures(&self, outcome: &Result<ModelReply, ProviderError>) -> Vec<String> {
        let mut wrong = Wrong(Vec::new());
        match (outcome, &self.expect()["error"]) {
            (Ok(reply), Value::Null) => self.check_reply(reply, &mut wrong),
            (Err(error), expected @ Value::Object(_)) => self.check_error(error, expected, &mut wrong),
            (outcome, expected) => wrong.0.push(format!("expected error {expected}, got {outcome:?}")),
        }
        wrong.0
    }

    fn check_reply(&self, reply: &ModelReply, wrong: &mut Wrong) {
        let expect = self.expect();
        if let Some(parts) = expect["message"]["parts"].as_array() {
            wrong.unless_equal("parts", &visible(reply.message()), parts);
        }
        let valid: Vec<_> =
            reply.message().tool_calls().filter(|call| call.args().object().is_ok()).collect();
        let expected = expect["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        wrong.unless_equal("number of calls", &valid.len(), &expected.len());
        for (call, expected) in valid.iter().zip(expected) {
            let id = expected.get("id").map_or(Value::Null, |_| call.id().as_str().into());
            wrong.unless_equal("call id", &id, &expected["id"]);
            wrong.unless_equal("call name", &Value::from(call.name()), &expected["name"]);
            let args = Value::Object(call.args().object().unwrap().clone());
            wrong.unless_equal("arguments", &args, &expected["arguments"]);
        }
        let mut ids: Vec<_> =
            valid.iter().map(|call| call.id().as_str()).filter(|id| !id.is_empty()).collect();
        ids.sort_unstable();
        ids.dedup();
        wrong.unless_equal("distinct ids", &ids.len(), &valid.len());
        for name in strings(&expect["must_not_execute"]) {
            wrong.unless_equal("must not run", &valid.iter().any(|call| call.name() == name), &false);
        }
        let invalid: Vec<_> =
            reply.message().tool_calls().filter(|call| call.args().object().is_err()).collect();
        for (at, expected) in expect["invalid_tool_calls"].as_array().into_iter().flatten().enumerate() {
            let raw = invalid.get(at).map_or(Value::Null, |call| call.args().raw().into());
            wrong.unless_equal("raw arguments", &raw, &expected["raw"]);
        }
        let word = serde_json::to_value(reply.finish()).unwrap();
        wrong.unless_absent_or_equal("finish", word, &expect["finish"]);
        wrong.unless_absent_or_equal("finish_raw", reply.finish_raw().into(), &expect["finish_raw"]);
        wrong.unless_absent_or_equal("usage", serde_json::to_value(reply.usage()).unwrap(), &expect["usage"]);
        wrong.unless_absent_or_equal("response_id", reply.response_id().into(), &expect["response_id"]);
        let order: Vec<_> = reply.message().parts().iter().map(|part| Value::from(kind(part))).collect();
        wrong.unless_absent_or_equal("order", order.into(), &expect["order"]);
    }

    fn check_error(&self, error: &ProviderError, expected: &Value, wrong: &mut Wrong) {
        wrong.unless_equal("class", &Value::from(error.class().as_str()), &expected["class"]);
        wrong.unless_equal("retryable", &Value::from(error.is_retryable()), &expected["retryable"]);
        let wait = error.retry_after().map(|wait| wait.as_millis() as u64);
        wrong.unless_absent_or_equal("retry_after_ms", wait.into(), &expected["retry_after_ms"]);
        let partial = error.partial().map(Message::text).unwrap_or_default();
        wrong.unless_absent_or_equal("partial_text", partial.into(), &expected["partial_text"]);
        let calls = error.partial().map_or(0, |partial| partial.tool_calls().count());
        wrong.unless_equal("calls in a partial reply", &calls, &0);
        for secret in strings(&self.expect()["must_not_leak"]) {
            wrong.unless_equal("leak", &format!("{error} {error:?}").contains(&secret), &false);
        }
    }
}

struct Wrong(Vec<String>);

impl Wrong {
    fn unless_equal<T: PartialEq<U> + std::fmt::Debug + ?Sized, U: std::fmt::Debug + ?Sized>(
        &mut self,
        what: &str,
        found: &T,
        expected: &U,
    ) {
        if found != expected {
            self.0.push(format!("{what}: found {found:?}, expected {expected:?}"));
        }
    }

    fn unless_absent_or_equal(&mut self, what: &str, found: Value, expected: &Value) {
        if !expected.is_null() {
            self.unless_equal(what, &found, expected);
        }
    }
}

/// The parts without calls, neighbours joined, as fixtures write them.
fn visible(message: &Message) -> Vec<Value> {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for part in message.parts() {
        let (kind, text) = match part {
            ContentPart::Text(text) => ("text", text.as_str()),
            ContentPart::Refusal(text) => ("refusal", text.as_str()),
            ContentPart::Thinking(thinking) => ("thinking", thinking.text()),
            _ => continue,
        };
        match parts.last_mut() {
            Some((last, so_far)) if *last == kind => so_far.push_str(text),
            _ => parts.push((kind, text.to_owned())),
        }
    }
    parts.into_iter().map(|(kind, text)| serde_json::json!({ kind: text })).collect()
}

fn kind(part: &ContentPart) -> &'static str {
    match part {
        ContentPart::Text(_) => "text",
        ContentPart::Refusal(_) => "refusal",
        ContentPart::Thinking(_) => "thinking",
        ContentPart::ToolCall(_) => "tool_call",
        _ => "other",
    }
}

fn script(http: &Value) -> Script {
    let chunk = |chunk: &Value| match chunk {
        Value::String(text) => text.clone().into_bytes(),
        other => base64(other["b64"].as_str().unwrap()),
    };
    let headers = http["headers"].as_object().unwrap().iter();
    Script {
        status: http["status"].as_u64().unwrap() as u16,
        headers: headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect(),
        chunks: http["chunks"].as_array().unwrap().iter().map(chunk).collect(),
        delay: Duration::from_millis(http["chunk_delay_ms"].as_u64().unwrap_or(0)),
        end: match http["end"].as_str() {
            Some("reset") => End::Reset,
            Some("stall") => End::Stall,
            _ => End::Normal,
        },
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.chars().filter_map(|c| DIGITS.find(c)) {
        bits = (bits << 6) | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn read_compat(given: &Value) -> Compat {
    let mut compat = Compat::new();
    if given["max_tokens_field"] == "max_completion_tokens" {
        compat = compat.with_max_tokens_field(MaxTokensField::MaxCompletionTokens);
    }
    if given["supports_temperature"] == false {
        compat = compat.without_temperature();
    }
    if given["tool_id_format"] == "alnum9" {
        compat = compat.with_tool_id_format(IdFormat::Alnum9);
    }
    match given["replay_reasoning"].as_str() {
        Some("reasoning_content") => compat = compat.with_replay_reasoning(ReplayReasoning::ReasoningContent),
        Some("reasoning_details") => compat = compat.with_replay_reasoning(ReplayReasoning::ReasoningDetails),
        _ => {}
    }
    if given["assistant_after_tool"] == true { compat.with_assistant_after_tool() } else { compat }
}

fn message(given: &Value) -> Message {
    let role = match given["role"].as_str().unwrap() {
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::User,
    };
    Message::new(role, given["parts"].as_array().unwrap().iter().map(part).collect())
}

fn part(given: &Value) -> ContentPart {
    let (kind, inner) = given.as_object().unwrap().iter().next().unwrap();
    let text = |key: &str| inner[key].as_str().unwrap().to_owned();
    match kind.as_str() {
        "text" => ContentPart::Text(inner.as_str().unwrap().to_owned()),
        "image" => ContentPart::Image(Media::from_base64(text("mime"), text("b64"))),
        "tool_call" => {
            let args = Args::parse(inner["arguments"].to_string());
            ContentPart::ToolCall(ToolCall::new(CallId::new(text("id")), text("name"), args))
        }
        "tool_result" => {
            let result = ToolResult::new(CallId::new(text("id")), text("name"), text("content"));
            ContentPart::ToolResult(if inner["is_error"] == true { result.failed() } else { result })
        }
        other => panic!("unknown part {other}"),
    }
}

fn tool(given: &Value) -> ToolSpec {
    let text = |key: &str| given[key].as_str().unwrap_or_default().to_owned();
    ToolSpec::new(text("name"), text("description")).with_schema(given["schema"].clone())
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
