//! A whole agent over this adapter: what a server cuts off does not run, what it says in full runs once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use vanta_core::retry::RetryPolicy;
use vanta_core::testing::ScriptedApprover;
use vanta_core::typed::tool_fn;
use vanta_core::{Agent, Scope, ToolOutput, ToolRegistry};
use vanta_providers::OpenAiCompatible;

use crate::replay::{ReplayServer, Script};
use crate::runner::runtime;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Note {
    text: String,
}

fn stream(events: &[Value], end: &str) -> Script {
    let mut body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    body.push_str(end);
    Script::stream(vec![body.into_bytes()])
}

fn call(args: &str) -> Value {
    let call = json!({"index": 0, "id": "call_1", "function": {"name": "note", "arguments": args}});
    json!({"id": "r", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
}

#[test]
fn an_agent_runs_a_call_once_and_only_when_it_is_whole() {
    let server = ReplayServer::start();
    let finish = |reason: &str| json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
    let text = json!({"choices": [{"index": 0, "delta": {"content": "Noted."}}]});
    let done = "data: [DONE]\n\n";
    let base = server.serve(
        "agent",
        vec![
            stream(&[call("{\"text\":\"cut\"}")], ""),
            stream(&[call("{\"text\":\"whole\"}"), finish("tool_calls")], done),
            stream(&[text, finish("stop")], done),
        ],
    );
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let note = tool_fn("note", "Takes a note", move |args: Note| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { ToolOutput::ok(format!("wrote {}", args.text)) }
    });
    let report = runtime().block_on(async {
        let agent = Agent::builder()
            .provider(OpenAiCompatible::builder(base, "m").build().unwrap())
            .tools(ToolRegistry::new().with(note))
            .scope(Scope::new("/srv/app"))
            .approver(ScriptedApprover::approve_all())
            .retry(RetryPolicy::new().with_base(Duration::from_millis(1)))
            .build()
            .unwrap();
        agent.run("Take a note").await.unwrap()
    });
    assert_eq!((report.text(), runs.load(Ordering::SeqCst)), (Some("Noted."), 1));
    let seen = server.seen("agent");
    let messages = seen.last().unwrap().body["messages"].as_array().unwrap();
    let last = &messages[messages.len() - 1];
    assert_eq!((seen.len(), &last["role"], &last["tool_call_id"]), (3, &json!("tool"), &json!("call_1")));
    assert!(last["content"].as_str().unwrap().contains("wrote whole"), "{last}");
}
