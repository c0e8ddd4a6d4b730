//! Against a real server, where one is running: `VANTA_REAL_MODEL` holds its base URL, such as the one that
//! `scripts/real-model.sh start` prints. Without it, this test does nothing.

use serde_json::json;
use vanta_core::message::{Message, ToolResult};
use vanta_core::provider::{
    ErrorClass, FinishReason, ModelContext, ModelRequest, RequestOptions, ResponseSchema, ToolChoice,
};
use vanta_core::tool::ToolSpec;
use vanta_core::{LlmProvider, provider::fold};
use vanta_providers::OpenAiCompatible;
use vanta_providers::openai_compatible::Delivery;

use crate::runner::runtime;

#[test]
fn a_real_server_streams_calls_tools_and_refuses_what_does_not_fit() {
    let Some(base) = std::env::var("VANTA_REAL_MODEL").ok().filter(|base| !base.is_empty()) else { return };
    runtime().block_on(async {
        for delivery in [Delivery::Stream, Delivery::Whole] {
            let builder = OpenAiCompatible::builder(&*base, "smollm2-135m").delivery(delivery);
            talk(&builder.build().unwrap()).await;
        }
    });
}

fn options() -> RequestOptions {
    let mut options = RequestOptions::default();
    options.max_tokens = Some(48);
    options.temperature = Some(0.0);
    options
}

async fn talk(model: &OpenAiCompatible) {
    let cx = ModelContext::default();
    let mut deltas = 0;
    let request = ModelRequest::new(vec![Message::user("Say hello.")]).with_options(options());
    let reply = fold(model.stream(request, &cx).await.unwrap(), |_| deltas += 1).await.unwrap();
    assert!(!reply.message().text().is_empty() && deltas > 1);
    assert!(reply.usage().input.is_some() && reply.usage().output.is_some(), "{:?}", reply.usage());

    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = vec![ToolSpec::new("get_weather", "Current weather for one city").with_schema(schema)];
    let mut forced = options();
    forced.tool_choice = ToolChoice::Required;
    forced.parallel_tool_calls = Some(false);
    let mut history = vec![Message::user("What is the weather in Oslo?")];
    let request = ModelRequest::new(history.clone()).with_tools(tools.clone()).with_options(forced);
    let reply = model.complete(request, &cx).await.unwrap();
    let call = reply.message().tool_calls().next().expect("a call").clone();
    assert_eq!((call.name(), reply.finish()), ("get_weather", FinishReason::ToolCalls));
    assert!(call.args().object().unwrap()["city"].is_string());

    history.push(reply.message().clone());
    history.push(Message::tool_results(vec![ToolResult::new(
        call.id().clone(),
        call.name(),
        "4 degrees, rain",
    )]));
    let request = ModelRequest::new(history).with_tools(tools).with_options(options());
    let reply = model.complete(request, &cx).await.unwrap();
    assert!(!reply.message().text().is_empty());

    let schema = json!({
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": false,
    });
    let mut shaped = options();
    shaped.response_schema = Some(ResponseSchema::new("answer", schema));
    let request = ModelRequest::new(vec![Message::user("Are you there?")]).with_options(shaped);
    let text = model.complete(request, &cx).await.unwrap().message().text();
    assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["ok"].is_boolean(), "{text}");

    let long = ModelRequest::new(vec![Message::user("word ".repeat(20_000))]).with_options(options());
    assert_eq!(model.complete(long, &cx).await.unwrap_err().class(), ErrorClass::ContextOverflow);
}
