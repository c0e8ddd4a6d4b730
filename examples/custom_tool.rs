//! Two tools of your own: a struct that looks before it says what it would touch, and a plain function.
//!
//! Run it with `cargo run -p vanta-examples --example custom_tool`. Copy `WordCount` when a call's actions depend on
//! what is there, `tool_fn` when they follow from the arguments. There is no model here: `tool_runner` takes single
//! calls through the same gate and the same records as any run.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput};
use vanta_core::{Action, Agent, ClearedCall, Scope, ToolRegistry, TypedTool, typed::tool_fn};

struct WordCount;

#[derive(Deserialize, JsonSchema)]
struct WordCountArgs {
    /// The file, relative to the working folder. The model reads this comment.
    path: String,
}

#[async_trait::async_trait]
impl TypedTool for WordCount {
    type Args = WordCountArgs;
    const NAME: &'static str = "word_count";
    const DESCRIPTION: &'static str = "Counts the words of a text file";
    // Changes nothing: may run beside other reads, and again after a crash.
    const EFFECT: EffectClass = EffectClass::Read;

    /// Looks and changes nothing. The gate must judge the real path, links resolved.
    async fn describe(
        &self,
        args: &WordCountArgs,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        let real = tokio::fs::canonicalize(Path::new(cx.scope().root()).join(&args.path)).await;
        let real = real.map_err(|error| DescribeError::new(format!("no file `{}`: {error}", args.path)))?;
        Ok(vec![Action::read(real.to_string_lossy())])
    }

    /// Does what was judged, which is in the call, and nothing else.
    async fn run(&self, _: WordCountArgs, call: &ClearedCall, _: &ToolContext) -> ToolOutput {
        let [Action::Read { path }] = call.actions() else { return ToolOutput::fail("nothing to read") };
        match tokio::fs::read_to_string(path).await {
            Ok(text) => ToolOutput::ok(format!("{} words", text.split_whitespace().count())),
            Err(error) => ToolOutput::fail(format!("cannot read `{path}`: {error}")),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Mail {
    to: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Says nothing of its effects, so it is taken to have some: it runs alone and is not repeated after a crash.
    let send = |mail: Mail| async move { ToolOutput::ok(format!("sent to {}", mail.to)) };
    let send_mail = tool_fn("send_mail", "Sends a mail", send)
        .describing(|mail: &Mail| vec![Action::Send { what: "mail".into(), to: mail.to.clone() }]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize()?;
    let tools = ToolRegistry::new().with(WordCount).with(send_mail);
    // Nobody is given who could answer an Ask, so it waits and nothing runs.
    let agent = Agent::builder().tools(tools).scope(Scope::new(root.to_string_lossy())).build()?;
    let runner = agent.tool_runner();
    for (tool, args) in [
        ("word_count", json!({"path": "custom_tool.rs"})),
        ("word_count", json!({"path": "/etc/passwd"})),
        ("send_mail", json!({"to": "ada@example.org"})),
    ] {
        println!("{tool} {args}");
        let call = runner.call(tool, serde_json::from_value(args)?).await?;
        println!("    {}", call.verdict().map_or("the call makes no sense".into(), ToString::to_string));
        println!("    {}", call.output().output());
    }
    Ok(())
}
