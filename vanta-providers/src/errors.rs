//! One classifier for what services say when they refuse: status and the body's code first, its text last.
//!
//! Pure and free of any one protocol. The same body comes as an answer of its own, inside a stream, or as text
//! inside another service's error; all three are read here.

use std::time::Duration;

use serde_json::Value;
use vanta_core::provider::{ErrorClass, ProviderError};

use crate::hints;
use crate::http::{Answer, Target};

/// What is known about a refusal.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    /// The HTTP status, unless it came inside a successful answer.
    pub(crate) status: Option<u16>,
    pub(crate) body: &'a [u8],
    /// For removing secrets from the text.
    pub(crate) target: &'a Target,
}

/// The error an answer with a failing status stands for.
pub(crate) async fn from_answer(mut answer: Answer) -> ProviderError {
    let body = answer.error_body().await;
    let refusal = Refusal { status: Some(answer.status()), body: &body, target: answer.target() };
    let mut error = classify(&refusal);
    if let Some(wait) = answer.retry_after() {
        error = error.with_retry_after(wait);
    }
    if let Some(id) = answer.request_id() {
        error = error.with_request_id(answer.target().clean(id));
    }
    match answer.should_retry() {
        Some(retry) => error.with_retryable(retry),
        None => error,
    }
}

/// An answer that is a web page.
pub(crate) fn web_page(target: &Target) -> ProviderError {
    let text = format!("`{}` answered with a web page: the base URL is not that of an API", target.place());
    ProviderError::new(ErrorClass::MalformedResponse, text).with_retryable(false)
}

/// An answer that does not follow the protocol.
pub(crate) fn malformed(target: &Target, what: &str) -> ProviderError {
    ProviderError::new(ErrorClass::MalformedResponse, format!("the answer of `{}` {what}", target.place()))
}

/// Whether `body` begins like a web page.
pub(crate) fn is_web_page(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(byte)) == Some(&b'<')
}

/// Reads a refusal.
pub(crate) fn classify(refusal: &Refusal<'_>) -> ProviderError {
    let facts = Facts::read(refusal);
    let class = facts.class();
    let mut error = ProviderError::new(class, facts.sentence(refusal));
    if class == ErrorClass::ServerError && facts.is_lasting() {
        error = error.with_retryable(false);
    }
    if let Some(status) = refusal.status {
        error = error.with_status(status);
    }
    match facts.retry_after {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    }
}

/// A refusal, taken apart.
struct Facts {
    /// The HTTP status; inside a successful answer, the number that the body gives as its code.
    status: Option<u16>,
    /// Everything the body offers as a code, in lower case, the innermost last.
    codes: Vec<String>,
    /// The sentence meant for people.
    message: String,
    /// The whole body in lower case, nested bodies included.
    text: String,
    web_page: bool,
    retry_after: Option<Duration>,
}

impl Facts {
    fn read(refusal: &Refusal<'_>) -> Self {
        let raw = String::from_utf8_lossy(refusal.body);
        let body: Value = serde_json::from_str(&raw).unwrap_or(Value::Null);
        let mut facts = Self {
            status: refusal.status,
            codes: Vec::new(),
            message: String::new(),
            text: raw.to_lowercase(),
            web_page: is_web_page(refusal.body),
            retry_after: hints::from_body(&body, &raw),
        };
        facts.collect(&body, 0);
        if facts.message.is_empty() && !facts.web_page {
            raw.trim().clone_into(&mut facts.message);
        }
        if facts.status.is_none() {
            facts.status = facts
                .codes
                .iter()
                .rev()
                .find_map(|code| code.parse().ok().filter(|n| (400..600).contains(n)));
        }
        facts
    }

    /// Walks the fields under which services put codes, sentences and bodies of services behind them.
    fn collect(&mut self, value: &Value, depth: usize) {
        const DEEPEST: usize = 8;
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    match (key.as_str(), inner) {
                        ("code" | "type" | "status" | "reason", Value::String(code)) => {
                            self.codes.push(code.to_lowercase());
                        }
                        ("code" | "status", Value::Number(code)) => self.codes.push(code.to_string()),
                        ("message" | "error" | "detail" | "msg", Value::String(text)) => {
                            self.sentence_or_body(text, depth)
                        }
                        ("failed_generation", _) => self.codes.push("tool_use_failed".into()),
                        ("raw", Value::String(text)) => self.sentence_or_body(text, depth),
                        (_, Value::Object(_) | Value::Array(_)) => self.collect(inner, depth + 1),
                        _ => {}
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|inner| self.collect(inner, depth + 1)),
            Value::String(text) if depth == 0 => self.sentence_or_body(text, depth),
            _ => {}
        }
    }

    fn sentence_or_body(&mut self, text: &str, depth: usize) {
        if text.trim_start().starts_with('{')
            && let Ok(inner) = serde_json::from_str::<Value>(text)
        {
            self.text.push('\n');
            self.text.push_str(&text.to_lowercase());
            return self.collect(&inner, depth + 1);
        }
        if !self.message.is_empty() {
            self.message.push_str(": ");
        }
        self.message.push_str(text);
    }

    fn class(&self) -> ErrorClass {
        let by_code = self.codes.iter().find_map(|code| look_up(code));
        match self.status {
            Some(401) => {
                by_code.filter(|class| *class == ErrorClass::QuotaExhausted).unwrap_or(ErrorClass::Auth)
            }
            Some(402) => ErrorClass::QuotaExhausted,
            Some(413) => ErrorClass::ContextOverflow,
            Some(404) => {
                by_code.unwrap_or_else(|| self.by_text(&[UNSUPPORTED]).unwrap_or(ErrorClass::NotFound))
            }
            Some(400 | 422) => by_code.unwrap_or_else(|| self.class_of_bad_request()),
            Some(403) => by_code.unwrap_or_else(|| self.by_text(&[QUOTA]).unwrap_or(ErrorClass::Permission)),
            Some(429) => by_code
                .filter(|class| *class != ErrorClass::Overloaded)
                .unwrap_or_else(|| self.by_text(&[QUOTA]).unwrap_or(ErrorClass::RateLimited)),
            Some(408 | 504 | 524) => ErrorClass::Timeout,
            Some(503 | 529) => {
                by_code.filter(|class| *class == ErrorClass::RateLimited).unwrap_or(ErrorClass::Overloaded)
            }
            Some(500..) => by_code.unwrap_or(ErrorClass::ServerError),
            Some(300..400) => ErrorClass::NotFound,
            Some(_) => by_code.unwrap_or(ErrorClass::InvalidRequest),
            None => by_code.unwrap_or_else(|| self.class_without_status()),
        }
    }

    /// A 400 says that something is wrong with the request, which may be its size, its words or its options.
    fn class_of_bad_request(&self) -> ErrorClass {
        if let Some(class) = self.by_text(&[THROTTLED, TOO_MANY_TO_WRITE]) {
            return class;
        }
        if self.is_overflow() {
            return ErrorClass::ContextOverflow;
        }
        self.by_text(&[UNSUPPORTED, FILTERED, QUOTA, BAD_CALL, BAD_KEY]).unwrap_or(ErrorClass::InvalidRequest)
    }

    /// An error inside a successful answer, with no code that is known.
    fn class_without_status(&self) -> ErrorClass {
        if let Some(class) = self.by_text(&[THROTTLED, TOO_MANY_TO_WRITE]) {
            return class;
        }
        if self.is_overflow() {
            return ErrorClass::ContextOverflow;
        }
        if self.codes.iter().any(|code| code == "invalid_request_error" || code == "bad_request") {
            return ErrorClass::InvalidRequest;
        }
        self.by_text(&[UNSUPPORTED, FILTERED, QUOTA, BAD_CALL, OVERLOADED]).unwrap_or(ErrorClass::ServerError)
    }

    fn is_overflow(&self) -> bool {
        OVERFLOW.iter().any(|words| words.iter().all(|word| self.text.contains(word)))
    }

    fn by_text(&self, vocabularies: &[Vocabulary]) -> Option<ErrorClass> {
        vocabularies
            .iter()
            .find(|(_, phrases)| {
                phrases.iter().any(|words| words.iter().all(|word| self.text.contains(word)))
            })
            .map(|(class, _)| *class)
    }

    /// A failure that waiting does not cure.
    fn is_lasting(&self) -> bool {
        self.text.contains("requires more system memory") || self.status == Some(501)
    }

    fn sentence(&self, refusal: &Refusal<'_>) -> String {
        let message = refusal.target.clean(&self.message);
        let place = refusal.target.place();
        match (refusal.status, self.web_page, message.is_empty()) {
            (Some(404), true, _) | (Some(300..400), ..) => {
                format!("`{place}` is not an API: check the base URL")
            }
            (Some(status), false, false) => format!("the service answered {status}: {message}"),
            (Some(status), ..) => format!("`{place}` answered {status}"),
            (None, _, false) => format!("the service reported an error: {message}"),
            (None, ..) => "the service reported an error without words".into(),
        }
    }
}

/// The class of a code that is clear by itself. General codes, such as `invalid_request_error`, are not here: the
/// status says as much, and the text says more.
fn look_up(code: &str) -> Option<ErrorClass> {
    if code.starts_with("throttl") {
        return Some(ErrorClass::RateLimited);
    }
    let at = CODES.binary_search_by(|(name, _)| (*name).cmp(code)).ok()?;
    CODES.get(at).map(|(_, class)| *class)
}

/// Sorted by code.
const CODES: &[(&str, ErrorClass)] = &[
    ("1113", ErrorClass::QuotaExhausted),
    ("1261", ErrorClass::ContextOverflow),
    ("1301", ErrorClass::ContentFiltered),
    ("1302", ErrorClass::RateLimited),
    ("api_key_invalid", ErrorClass::Auth),
    ("authentication_error", ErrorClass::Auth),
    ("billing_error", ErrorClass::QuotaExhausted),
    ("billing_hard_limit_reached", ErrorClass::QuotaExhausted),
    ("content_filter", ErrorClass::ContentFiltered),
    ("content_policy_violation", ErrorClass::ContentFiltered),
    ("context_length_exceeded", ErrorClass::ContextOverflow),
    ("context_window_exceeded", ErrorClass::ContextOverflow),
    ("data_inspection_failed", ErrorClass::ContentFiltered),
    ("deadline_exceeded", ErrorClass::Timeout),
    ("engine_overloaded", ErrorClass::Overloaded),
    ("engine_overloaded_error", ErrorClass::Overloaded),
    ("exceed_context_size_error", ErrorClass::ContextOverflow),
    ("exceeded_current_quota_error", ErrorClass::QuotaExhausted),
    ("incorrect_api_key", ErrorClass::Auth),
    ("insufficient_balance", ErrorClass::QuotaExhausted),
    ("insufficient_credits", ErrorClass::QuotaExhausted),
    ("insufficient_quota", ErrorClass::QuotaExhausted),
    ("invalid_api_key", ErrorClass::Auth),
    ("invalid_authentication_error", ErrorClass::Auth),
    ("malformed_function_call", ErrorClass::MalformedToolCall),
    ("model_not_found", ErrorClass::NotFound),
    ("not_found_error", ErrorClass::NotFound),
    ("overloaded", ErrorClass::Overloaded),
    ("overloaded_error", ErrorClass::Overloaded),
    ("payment_required", ErrorClass::QuotaExhausted),
    ("permission_denied", ErrorClass::Permission),
    ("permission_error", ErrorClass::Permission),
    ("rate_limit_error", ErrorClass::RateLimited),
    ("rate_limit_exceeded", ErrorClass::RateLimited),
    ("rate_limit_reached_error", ErrorClass::RateLimited),
    ("request_timeout", ErrorClass::Timeout),
    ("request_too_large", ErrorClass::ContextOverflow),
    ("resource_exhausted", ErrorClass::RateLimited),
    ("responsibleaipolicyviolation", ErrorClass::ContentFiltered),
    ("service_unavailable", ErrorClass::Overloaded),
    ("string_above_max_length", ErrorClass::ContextOverflow),
    ("timeout", ErrorClass::Timeout),
    ("timeout_error", ErrorClass::Timeout),
    ("too_many_requests", ErrorClass::RateLimited),
    ("tool_use_failed", ErrorClass::MalformedToolCall),
    ("unauthenticated", ErrorClass::Auth),
    ("unavailable", ErrorClass::Overloaded),
];

/// Phrases that mean a class; a phrase is there when all of its words are.
type Vocabulary = (ErrorClass, &'static [&'static [&'static str]]);

/// Looked for before anything about size, because limits per minute are counted in tokens too.
const THROTTLED: Vocabulary = (
    ErrorClass::RateLimited,
    &[
        &["rate limit"],
        &["throttl"],
        &["too many requests"],
        &["too many tokens", "wait"],
        &["tokens per minute"],
        &["slow down"],
    ],
);

/// The answer was to be too long, not the question.
const TOO_MANY_TO_WRITE: Vocabulary = (
    ErrorClass::InvalidRequest,
    &[&["max_tokens", "too large"], &["max_completion_tokens", "too large"], &["max_tokens must be"]],
);

const UNSUPPORTED: Vocabulary = (
    ErrorClass::Unsupported,
    &[
        &["does not support tool"],
        &["does not support thinking"],
        &["does not support function"],
        &["does not support image"],
        &["does not support vision"],
        &["support tool use"],
        &["tool calling is not supported"],
        &["image input", "not support"],
    ],
);

const FILTERED: Vocabulary = (
    ErrorClass::ContentFiltered,
    &[
        &["content management policy"],
        &["content policy"],
        &["safety system"],
        &["content filter"],
        &["inappropriate content"],
    ],
);

const QUOTA: Vocabulary = (
    ErrorClass::QuotaExhausted,
    &[
        &["credit balance"],
        &["insufficient_quota"],
        &["insufficient credit"],
        &["insufficient balance"],
        &["insufficient funds"],
        &["exceeded your current quota"],
        &["billing", "limit"],
    ],
);

const BAD_CALL: Vocabulary =
    (ErrorClass::MalformedToolCall, &[&["failed to call a function"], &["failed_generation"]]);

const BAD_KEY: Vocabulary = (
    ErrorClass::Auth,
    &[&["api key not valid"], &["invalid api key"], &["incorrect api key"], &["api_key_invalid"]],
);

const OVERLOADED: Vocabulary =
    (ErrorClass::Overloaded, &[&["overloaded"], &["over capacity"], &["temporarily unavailable"]]);

/// What services say when a prompt does not fit; there is no common code for it.
const OVERFLOW: &[&[&str]] = &[
    &["context length"],
    &["context window"],
    &["context limit"],
    &["context size"],
    &["context_length"],
    &["maximum context"],
    &["prompt is too long"],
    &["prompt too long"],
    &["input is too long"],
    &["exceed_context_size"],
    &["model token limit"],
    &["maximum allowed input length"],
    &["maximum input length"],
    &["range of input length should be"],
    &["input token count", "exceeds"],
    &["maximum number of tokens allowed"],
    &["string_above_max_length"],
    &["maximum prompt length"],
    &["reduce the length of the messages"],
    &["reduce the length of the prompt"],
    &["token count", "exceeds"],
    &["inputs` tokens", "must be <="],
    &["too many tokens", "prompt"],
    &["上下文", "超"],
    &["输入", "超", "长度"],
    &["prompt 超长"],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn class(status: impl Into<Option<u16>>, body: &str) -> (ErrorClass, bool) {
        let target = Target::parse("https://example.com/v1", Vec::new()).unwrap();
        let error = classify(&Refusal { status: status.into(), body: body.as_bytes(), target: &target });
        (error.class(), error.is_retryable())
    }

    #[test]
    fn codes_are_sorted() {
        assert!(CODES.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn the_status_decides_where_the_body_is_general() {
        use ErrorClass::*;
        let general = r#"{"error":{"message":"no","type":"server_error","code":"invalid_request_error"}}"#;
        for (status, expected) in [
            (400, InvalidRequest),
            (401, Auth),
            (402, QuotaExhausted),
            (403, Permission),
            (404, NotFound),
            (408, Timeout),
            (413, ContextOverflow),
            (418, InvalidRequest),
            (422, InvalidRequest),
            (429, RateLimited),
            (500, ServerError),
            (502, ServerError),
            (503, Overloaded),
            (504, Timeout),
            (524, Timeout),
            (529, Overloaded),
            (302, NotFound),
        ] {
            assert_eq!(class(status, general).0, expected, "{status}");
        }
    }

    #[test]
    fn codes_say_more_than_the_status() {
        use ErrorClass::*;
        for (status, body, expected) in [
            (400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#, ContextOverflow),
            (429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, QuotaExhausted),
            (
                429,
                r#"{"error":{"status":"RESOURCE_EXHAUSTED","message":"exceeded your current quota"}}"#,
                RateLimited,
            ),
            (
                400,
                r#"{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
                Auth,
            ),
            (
                400,
                r#"{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
                ContentFiltered,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
                QuotaExhausted,
            ),
            (500, r#"{"error":{"type":"overloaded_error"}}"#, Overloaded),
            (400, r#"{"error":"registry/model does not support tools"}"#, Unsupported),
            (404, r#"{"error":{"message":"No endpoints found that support tool use"}}"#, Unsupported),
        ] {
            assert_eq!(class(status, body).0, expected, "{body}");
        }
    }

    #[test]
    fn size_is_told_from_speed_and_from_the_length_of_the_answer() {
        use ErrorClass::*;
        let message = |text: &str| serde_json::json!({"error": {"message": text}}).to_string();
        for (status, text, expected) in [
            (400, "This model's maximum context length is 8192 tokens", ContextOverflow),
            (400, "the request exceeds the available context size", ContextOverflow),
            (
                400,
                "The input token count (9) exceeds the maximum number of tokens allowed (8)",
                ContextOverflow,
            ),
            (400, "Prompt 超长", ContextOverflow),
            (429, "maximum context length per minute", RateLimited),
            (400, "Too many tokens, please wait before trying again", RateLimited),
            (400, "max_tokens is too large: 99999. This model supports at most 4096", InvalidRequest),
            (500, "context length", ServerError),
        ] {
            assert_eq!(class(status, &message(text)).0, expected, "{text}");
        }
        let nested = r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"code\":\"context_length_exceeded\"}}"}}}"#;
        assert_eq!(class(400, nested).0, ContextOverflow);
    }

    #[test]
    fn errors_inside_a_good_answer_are_read_by_code_number_or_text() {
        use ErrorClass::*;
        assert_eq!(class(None, r#"{"error":{"code":502,"message":"bad gateway"}}"#).0, ServerError);
        assert_eq!(class(None, r#"{"error":{"code":"429","message":"busy"}}"#).0, RateLimited);
        assert_eq!(class(None, r#"{"error":"model runner has stopped"}"#), (ServerError, true));
        assert_eq!(class(None, "not json at all").0, ServerError);
        assert_eq!(
            class(500, r#"{"error":"model requires more system memory (9 GiB)"}"#),
            (ServerError, false)
        );
    }

    #[test]
    fn hostile_bodies_are_survived() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(class(500, &deep).0, ErrorClass::ServerError);
        assert_eq!(class(404, "<!doctype html><title>x</title>").0, ErrorClass::NotFound);
    }
}
