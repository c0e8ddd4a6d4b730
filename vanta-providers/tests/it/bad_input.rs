//! Servers that are wrong, broken or hostile: each ends in a typed error, none in a hang, a leak or a tool call.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use vanta_core::message::{Args, CallId, ContentPart, Message, Role, ToolCall, ToolResult};
use vanta_core::provider::{
    ErrorClass, ModelContext, ModelReply, ModelRequest, ProviderError, StreamEvent, fold,
};
use vanta_core::retry::RetryPolicy;
use vanta_core::tool::ToolSpec;
use vanta_core::{CancelToken, LlmProvider, Slots};
use vanta_providers::openai_compatible::{Auth, Compat, Delivery};
use vanta_providers::{HttpClient, OpenAiCompatible, Retry, TimeLimits};

use crate::replay::{End, ReplayServer, Script};
use crate::runner::runtime;

const KEY: &str = "sk-live-0123456789abcdef-DONOTSHOW";

fn provider(base: &str) -> OpenAiCompatible {
    let limits =
        TimeLimits::new().with_idle(Duration::from_millis(300)).with_first_byte(Duration::from_secs(5));
    OpenAiCompatible::builder(base, "m").api_key(KEY).time_limits(limits).build().unwrap()
}

fn ask() -> ModelRequest {
    ModelRequest::new(vec![Message::user("hello")])
}

fn answer(scripts: Vec<Script>) -> Result<ModelReply, ProviderError> {
    let server = ReplayServer::start();
    let base = server.serve("x", scripts);
    runtime().block_on(provider(&base).complete(ask(), &ModelContext::default()))
}

fn failure(script: Script) -> ProviderError {
    let error = answer(vec![script]).unwrap_err();
    assert_masked(&error);
    error
}

fn assert_masked(error: &ProviderError) {
    let text = format!("{error} {error:?}");
    assert!(!text.contains("DONOTSHOW") && !text.contains("0123456789abcdef"), "{text}");
}

fn event(delta: serde_json::Value) -> Vec<u8> {
    format!("data: {}\n\n", json!({"id": "r", "choices": [{"index": 0, "delta": delta}]})).into_bytes()
}

fn finish(reason: &str) -> Vec<u8> {
    let chunk = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
    format!("data: {chunk}\n\ndata: [DONE]\n\n").into_bytes()
}

#[test]
fn nobody_listens() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let base = format!("http://user:{KEY}@{free}/v1");
    let error = runtime().block_on(provider(&base).complete(ask(), &ModelContext::default())).unwrap_err();
    assert_eq!((error.class(), error.is_retryable()), (ErrorClass::Transport, true));
    assert!(error.to_string().contains(&free.to_string()), "{error}");
    assert_masked(&error);
}

#[test]
fn a_server_that_speaks_no_tls() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 this is no TLS\r\n\r\n").unwrap();
    });
    let error = runtime().block_on(provider(&base).complete(ask(), &ModelContext::default())).unwrap_err();
    answering.join().unwrap();
    assert_eq!((error.class(), error.is_retryable()), (ErrorClass::Transport, true), "{error}");
    assert_masked(&error);
}

#[test]
fn web_pages_instead_of_an_api() {
    let page = b"<!doctype html><html><body>Welcome</body></html>".to_vec();
    let missing = failure(Script::new(404, "text/html", vec![page.clone()]));
    assert_eq!((missing.class(), missing.is_retryable()), (ErrorClass::NotFound, false));
    assert!(missing.to_string().contains("base URL"), "{missing}");
    for kind in ["text/html", "text/event-stream", "application/json"] {
        let error = failure(Script::new(200, kind, vec![page.clone()]));
        assert_eq!((error.class(), error.is_retryable()), (ErrorClass::MalformedResponse, false), "{kind}");
    }
    let mislabelled = Script::new(200, "text/html", vec![event(json!({"content": "Hi"})), finish("stop")]);
    assert_eq!(answer(vec![mislabelled]).unwrap().message().text(), "Hi");
    let mut elsewhere = Script::new(302, "text/plain", vec![b"moved".to_vec()]);
    elsewhere.headers.push(("location".into(), "http://127.0.0.1:1/".into()));
    assert_eq!(failure(elsewhere).class(), ErrorClass::NotFound);
}

#[test]
fn bodies_that_are_nothing() {
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage".to_vec();
    let mut declared = Script::stream(vec![gzip.clone()]);
    declared.headers.push(("content-encoding".into(), "gzip".into()));
    assert_eq!(failure(declared).class(), ErrorClass::MalformedResponse);
    assert_eq!(failure(Script::stream(vec![gzip])).class(), ErrorClass::MalformedResponse);
    assert_eq!(failure(Script::stream(vec![])).class(), ErrorClass::StreamTruncated);
    assert_eq!(
        failure(Script::stream(vec![b"data: [DONE]\n\n".to_vec()])).class(),
        ErrorClass::MalformedResponse
    );
    assert_eq!(
        failure(Script::new(200, "application/json", vec![b"{\"id\":".to_vec()])).class(),
        ErrorClass::MalformedResponse
    );
}

#[test]
fn broken_characters_show_in_text_and_spoil_arguments() {
    let text = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"}}]}\n\n".to_vec();
    let reply = answer(vec![Script::stream(vec![text, finish("stop")])]).unwrap();
    assert_eq!(reply.message().text(), "a\u{FFFD}b");
    let call = b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"rm\",\
                 \"arguments\":\"{\\\"path\\\":\\\"a\xFFb\\\"}\"}}]}}]}\n\n";
    let reply = answer(vec![Script::stream(vec![call.to_vec(), finish("tool_calls")])]).unwrap();
    assert!(reply.message().tool_calls().all(|call| call.args().object().is_err()));
    assert_eq!(reply.message().tool_calls().count(), 1);
}

#[test]
fn silence_ends_in_a_timeout_that_keeps_the_text() {
    let mut silent = Script::stream(vec![event(json!({"content": "Hel"}))]);
    silent.end = End::Stall;
    let start = Instant::now();
    let error = failure(silent);
    assert_eq!((error.class(), error.is_retryable()), (ErrorClass::Timeout, true));
    assert_eq!(error.partial().map(Message::text).as_deref(), Some("Hel"));
    assert!(start.elapsed() < Duration::from_secs(5));
    let mut mute = Script::stream(vec![]);
    mute.end = End::Stall;
    assert_eq!(failure(mute).class(), ErrorClass::Timeout);
    let mut cut = Script::stream(vec![event(json!({"content": "Hel"}))]);
    cut.end = End::Reset;
    let error = failure(cut);
    assert_eq!(
        (error.class(), error.partial().map(Message::text)),
        (ErrorClass::Transport, Some("Hel".into()))
    );
}

#[test]
fn a_server_that_lingers_after_the_end_costs_nothing() {
    let mut lingering = Script::stream(vec![event(json!({"content": "Hi"})), finish("stop")]);
    lingering.end = End::Stall;
    let start = Instant::now();
    assert_eq!(answer(vec![lingering]).unwrap().message().text(), "Hi");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn keys_that_come_back_are_masked() {
    let echo =
        json!({"error": {"message": format!("Incorrect API key provided: {KEY}. Also sk-live-0123456****")}});
    let error = failure(Script::new(401, "application/json", vec![echo.to_string().into_bytes()]));
    assert_eq!(error.class(), ErrorClass::Auth);
    let inside = format!("data: {echo}\n\n").into_bytes();
    failure(Script::stream(vec![event(json!({"content": "x"})), inside]));
    let plain = format!("upstream refused authorization: Bearer {KEY}").into_bytes();
    failure(Script::new(500, "text/plain", vec![plain]));
    let shown = format!("{:?}", provider("http://127.0.0.1:1"));
    let builder = OpenAiCompatible::builder("http://127.0.0.1:1", "m").api_key(KEY).header("x-token", KEY);
    assert!(!format!("{shown} {builder:?} {:?}", builder.clone().build()).contains("DONOTSHOW"));
    let bad =
        OpenAiCompatible::builder("http://127.0.0.1:1", "m").api_key(format!("{KEY}\n")).build().unwrap_err();
    assert_masked(&bad);
}

#[test]
fn a_hundred_thousand_small_events() {
    let one = event(json!({"content": "x"}));
    let mut chunks: Vec<Vec<u8>> = (0..100).map(|_| one.repeat(1000)).collect();
    chunks.push(finish("stop"));
    assert_eq!(answer(vec![Script::stream(chunks)]).unwrap().message().text().len(), 100_000);
}

#[test]
fn hostile_shapes_are_refused() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let nested = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{}}}}}]}}\n\n", deep(100_000));
    assert!(answer(vec![Script::stream(vec![nested.into_bytes()])]).is_err());
    let args = event(
        json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": deep(100_000)}}]}),
    );
    let reply = answer(vec![Script::stream(vec![args, finish("tool_calls")])]).unwrap();
    assert!(reply.message().tool_calls().all(|call| call.args().object().is_err()));
    let mut many: Vec<Vec<u8>> = (0..1000)
        .map(|n| {
            event(json!({"tool_calls": [{"index": n, "id": format!("c{n}"), "function": {"name": "f"}}]}))
        })
        .collect();
    many.push(finish("tool_calls"));
    assert_eq!(failure(Script::stream(many)).class(), ErrorClass::MalformedResponse);
    let twice = event(
        json!({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{\"a\":1,\"a\":2}"}}]}),
    );
    let reply = answer(vec![Script::stream(vec![twice, finish("tool_calls")])]).unwrap();
    assert!(reply.message().tool_calls().all(|call| call.args().object().is_err()));
}

#[test]
fn odd_chunks_are_read_over() {
    let odd =
        b"data: ping\n\ndata: null\n\ndata: {}\n\ndata: 7\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n"
            .to_vec();
    let old = event(json!({"function_call": {"name": "f", "arguments": "{}"}}));
    let reply = answer(vec![Script::stream(vec![odd, old, finish("function_call")])]).unwrap();
    assert_eq!(reply.message().tool_calls().map(ToolCall::name).collect::<Vec<_>>(), ["f"]);
    let lost = b"data: {\"choices\":[{\"delta\":{\"content\"\n\ndata: [DONE]\n\n".to_vec();
    let error = answer(vec![Script::stream(vec![event(json!({"content": "x"})), lost])]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::MalformedResponse);
}

#[test]
fn a_call_without_a_name_is_an_error_that_keeps_the_text() {
    let call = event(
        json!({"content": "Hm", "tool_calls": [{"index": 0, "id": "c", "function": {"arguments": "{}"}}]}),
    );
    let error = failure(Script::stream(vec![call, finish("tool_calls")]));
    assert_eq!((error.class(), error.is_retryable()), (ErrorClass::MalformedToolCall, true));
    assert_eq!(error.partial().map(Message::text).as_deref(), Some("Hm"));
}

#[test]
fn whole_messages_beside_deltas_are_not_said_twice() {
    let chunk = |delta: &str, so_far: &str| {
        let choice = json!({"index": 0, "delta": {"content": delta}, "message": {"content": so_far}});
        format!("data: {}\n\n", json!({"choices": [choice]})).into_bytes()
    };
    let reply =
        answer(vec![Script::stream(vec![chunk("a", "a"), chunk("b", "ab"), finish("stop")])]).unwrap();
    assert_eq!(reply.message().text(), "ab");
    let whole = json!({"choices": [{"index": 0, "message": {"content": "all"}, "finish_reason": "stop"}]});
    let reply = answer(vec![Script::stream(vec![format!("data: {whole}\n\n").into_bytes()])]).unwrap();
    assert_eq!(reply.message().text(), "all");
}

#[test]
fn cancelling_ends_the_request() {
    let server = ReplayServer::start();
    let mut silent = Script::stream(vec![event(json!({"content": "Hel"}))]);
    silent.end = End::Stall;
    let base = server.serve("x", vec![silent]);
    let cancel = CancelToken::new();
    let cx = ModelContext::new(cancel.clone(), Slots::default());
    let adapter = OpenAiCompatible::builder(base, "m").build().unwrap();
    let error = runtime().block_on(async {
        let stream = adapter.stream(ask(), &cx).await.unwrap();
        fold(stream, |event| {
            if matches!(event, StreamEvent::TextDelta(_)) {
                cancel.cancel()
            }
        })
        .await
        .unwrap_err()
    });
    assert!(!error.is_retryable(), "{error}");
    assert_eq!(error.partial().map(Message::text).as_deref(), Some("Hel"));
}

#[test]
fn retries_end_with_the_first_visible_event() {
    let server = ReplayServer::start();
    let runtime = runtime();
    let policy = RetryPolicy::new().with_base(Duration::from_millis(5));
    let run = |name: &str, scripts| {
        let retry = Retry::new(provider(&server.serve(name, scripts)), policy);
        let outcome = runtime.block_on(retry.complete(ask(), &ModelContext::default()));
        (outcome, server.seen(name).len())
    };
    let good = || Script::stream(vec![event(json!({"content": "Hi"})), finish("stop")]);
    let hidden = Script::stream(vec![event(json!({"role": "assistant"}))]);
    let (outcome, requests) = run("hidden", vec![hidden.clone(), good()]);
    assert_eq!((outcome.unwrap().message().text().as_str(), requests), ("Hi", 2));
    let shown = Script::stream(vec![event(json!({"content": "Hi"}))]);
    let (outcome, requests) = run("shown", vec![shown, good()]);
    assert_eq!((outcome.unwrap_err().class(), requests), (ErrorClass::StreamTruncated, 1));
    let (outcome, requests) = run("always", vec![hidden]);
    assert_eq!((outcome.unwrap_err().class(), requests), (ErrorClass::StreamTruncated, 3));
    let mut later = Script::new(429, "application/json", vec![b"{}".to_vec()]);
    later.headers.push(("retry-after".into(), "3600".into()));
    let (outcome, requests) = run("later", vec![later, good()]);
    assert_eq!((outcome.unwrap_err().retry_after(), requests), (Some(Duration::from_secs(3600)), 1));
}

#[test]
fn requests_carry_what_the_settings_say() {
    let server = ReplayServer::start();
    let base = server.serve("azure", vec![Script::stream(vec![finish("stop")])]);
    let azure = OpenAiCompatible::builder(base, "m")
        .api_key("0123456789")
        .azure("my-deployment", "2024-10-21")
        .header("x-team", "blue")
        .extra_body("service_tier", json!("flex"))
        .build()
        .unwrap();
    runtime().block_on(azure.complete(ask(), &ModelContext::default())).unwrap();
    let seen = server.seen("azure").remove(0);
    assert_eq!(seen.path, "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21");
    assert_eq!(seen.headers["api-key"], "0123456789");
    assert_eq!(seen.headers["x-team"], "blue");
    assert!(!seen.headers.contains_key("authorization") && !seen.headers.contains_key("transfer-encoding"));
    assert_eq!(seen.body["service_tier"], "flex");
    for builder in [
        OpenAiCompatible::builder("http://127.0.0.1:1", "m").extra_body("messages", json!([])),
        OpenAiCompatible::builder("nonsense", "m"),
        OpenAiCompatible::builder("http://127.0.0.1:1", "m").header("bad name", "x"),
    ] {
        assert_eq!(builder.build().unwrap_err().class(), ErrorClass::InvalidRequest);
    }
}

#[test]
fn later_turns_send_the_same_bytes_for_what_was_sent_before() {
    let server = ReplayServer::start();
    let base = server.serve("turns", vec![Script::stream(vec![finish("stop")])]);
    let adapter = OpenAiCompatible::builder(base, "m").build().unwrap();
    let call = ToolCall::new(CallId::new("c1"), "mail.send", Args::parse("{\"to\":\"a\"}"));
    let cut = ToolCall::new(CallId::new("c2"), "mail.send", Args::parse("{\"to"));
    let mut history = vec![Message::user("hello")];
    let cx = ModelContext::default();
    runtime().block_on(async {
        for more in [
            Message::new(Role::Assistant, vec![ContentPart::ToolCall(call), ContentPart::ToolCall(cut)]),
            Message::tool_results(vec![ToolResult::new(CallId::new("c1"), "mail.send", "sent")]),
            Message::user("thanks"),
        ] {
            adapter.complete(ModelRequest::new(history.clone()), &cx).await.unwrap();
            history.push(more);
        }
        adapter.complete(ModelRequest::new(history.clone()), &cx).await.unwrap();
        adapter.complete(ModelRequest::new(history.clone()), &ModelContext::default()).await.unwrap();
    });
    let bodies: Vec<_> = server.seen("turns").into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies[3], bodies[4], "kept and fresh encodings differ");
    let messages = bodies[3]["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    for call in messages[1]["tool_calls"].as_array().unwrap() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(arguments).is_ok(), "{arguments}");
        assert!(!call["function"]["name"].as_str().unwrap().contains('.'));
    }
}

#[test]
fn names_that_endpoints_refuse_are_mapped_and_mapped_back() {
    let server = ReplayServer::start();
    let spec = ToolSpec::new("mail.send", "Sends mail");
    let adapter = |base| {
        OpenAiCompatible::builder(base, "m").compat(Compat::new().with_auth(Auth::None)).build().unwrap()
    };
    let ask = || ask().with_tools(vec![spec.clone()]);
    let base = server.serve("names", vec![Script::stream(vec![finish("stop")])]);
    runtime().block_on(adapter(base).complete(ask(), &ModelContext::default())).unwrap();
    let sent = server.seen("names")[0].body["tools"][0]["function"]["name"].as_str().unwrap().to_owned();
    let call =
        json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": sent, "arguments": "{}"}}]});
    let base = server.serve("names", vec![Script::stream(vec![event(call), finish("tool_calls")])]);
    let reply = runtime().block_on(adapter(base).complete(ask(), &ModelContext::default())).unwrap();
    assert_eq!(reply.message().tool_calls().map(ToolCall::name).collect::<Vec<_>>(), ["mail.send"]);
}

#[test]
fn connections_are_used_again() {
    let server = ReplayServer::start();
    let base =
        server.serve("again", vec![Script::stream(vec![event(json!({"content": "Hi"})), finish("stop")])]);
    let client = HttpClient::new();
    runtime().block_on(async {
        for delivery in [Delivery::Stream, Delivery::Whole, Delivery::Stream] {
            let builder = OpenAiCompatible::builder(&*base, "m").client(client.clone()).delivery(delivery);
            let adapter = builder.build().unwrap();
            adapter.complete(ask(), &ModelContext::default()).await.unwrap();
        }
    });
    assert_eq!(server.seen("again").len(), 3);
    assert_eq!(server.connections(), 1);
}
