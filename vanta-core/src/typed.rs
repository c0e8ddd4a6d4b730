//! Tools with typed arguments: a struct or a function, with the JSON schema derived from the argument type.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use vanta_kernel::Action;

use crate::message::JsonObject;
use crate::run::ClearedCall;
use crate::tool::{DescribeContext, DescribeError, EffectClass, Tool, ToolContext, ToolOutput, ToolSpec};

/// A tool written against its own argument type. Every `TypedTool` is a [`Tool`]. Annotate the implementation with
/// `#[async_trait]`.
///
/// # Examples
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput};
/// use vanta_core::{Action, ClearedCall, Tool, TypedTool};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct CountArgs {
///     /// The text to count in.
///     text: String,
/// }
///
/// struct CountWords;
///
/// #[async_trait::async_trait]
/// impl TypedTool for CountWords {
///     type Args = CountArgs;
///     const NAME: &'static str = "count_words";
///     const DESCRIPTION: &'static str = "Counts the words of a text";
///     const EFFECT: EffectClass = EffectClass::Read;
///
///     // Touches nothing outside the program: no action to judge beyond the tool itself.
///     async fn describe(&self, _: &CountArgs, _: &DescribeContext) -> Result<Vec<Action>, DescribeError> {
///         Ok(vec![Action::tool(Self::NAME, "counts words")])
///     }
///     async fn run(&self, args: CountArgs, _: &ClearedCall, _: &ToolContext) -> ToolOutput {
///         ToolOutput::ok(args.text.split_whitespace().count().to_string())
///     }
/// }
///
/// assert_eq!(CountWords.spec().schema()["properties"]["text"]["type"], "string");
/// ```
#[async_trait]
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments. Doc comments on fields reach the model as descriptions.
    type Args: DeserializeOwned + JsonSchema + Send + Sync;

    /// The name the model calls it by.
    const NAME: &'static str;

    /// What the model is told about it.
    const DESCRIPTION: &'static str;

    /// The effect class; the careful one by default.
    const EFFECT: EffectClass = EffectClass::Effect;

    /// Time limit of one attempt; the run's own by default.
    const TIMEOUT: Option<Duration> = None;

    /// Which actions the call would be. See [`Tool::describe_for_safety`] for the contract.
    ///
    /// # Errors
    /// [`DescribeError`] when the call makes no sense as it stands.
    async fn describe(&self, args: &Self::Args, cx: &DescribeContext) -> Result<Vec<Action>, DescribeError> {
        let _ = (args, cx);
        Ok(vec![Action::tool(Self::NAME, Self::DESCRIPTION)])
    }

    /// Does it. `call` holds the actions as judged and the idempotency key.
    async fn run(&self, args: Self::Args, call: &ClearedCall, cx: &ToolContext) -> ToolOutput;
}

#[async_trait]
impl<T: TypedTool> Tool for T {
    fn spec(&self) -> ToolSpec {
        let spec =
            ToolSpec::new(T::NAME, T::DESCRIPTION).with_schema(schema_of::<T::Args>()).with_effect(T::EFFECT);
        match T::TIMEOUT {
            Some(limit) => spec.with_timeout(limit),
            None => spec,
        }
    }

    async fn describe_for_safety(
        &self,
        args: &JsonObject,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        self.describe(&parse_args(args).map_err(DescribeError::new)?, cx).await
    }

    async fn execute(&self, call: ClearedCall, cx: &ToolContext) -> ToolOutput {
        match parse_args(call.arguments()) {
            Ok(args) => self.run(args, &call, cx).await,
            Err(complaint) => ToolOutput::fail(complaint),
        }
    }
}

fn parse_args<A: DeserializeOwned>(args: &JsonObject) -> Result<A, String> {
    serde_json::from_value(Value::Object(args.clone()))
        .map_err(|error| format!("the arguments do not fit: {error}"))
}

/// JSON schema of `A`, without the keywords that only name the schema itself.
#[must_use]
pub fn schema_of<A: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(A).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
        object.remove("description");
        // Providers want an object at the top, also for a type without fields.
        object.entry("type").or_insert_with(|| "object".into());
        object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    schema
}

/// A tool from an async function over typed arguments.
///
/// The function answers a [`ToolOutput`], or anything that becomes one: a `String`, or a `Result` of it with any error
/// that can be displayed. A tool that needs the scope, a cancel token or the idempotency key is a [`TypedTool`].
///
/// It declares effects and is one opaque action until [`FnTool::with_effect`] and [`FnTool::describing`] say more.
///
/// # Examples
/// ```
/// use vanta_core::tool::{EffectClass, ToolOutput};
/// use vanta_core::typed::tool_fn;
/// use vanta_core::{Action, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Lookup {
///     word: String,
/// }
///
/// let tool = tool_fn("lookup", "Explains a word", |args: Lookup| async move {
///     ToolOutput::ok(format!("{} is a word", args.word))
/// })
/// .with_effect(EffectClass::Read)
/// .describing(|args: &Lookup| vec![Action::read(format!("dictionary/{}.txt", args.word))]);
/// assert_eq!(tool.spec().name(), "lookup");
/// ```
pub fn tool_fn<A, F, Fut>(name: impl Into<String>, description: impl Into<String>, run: F) -> FnTool<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> Fut + Send + Sync + 'static,
    Fut: Future + Send,
    Fut::Output: Into<ToolOutput>,
{
    let spec = ToolSpec::new(name, description).with_schema(schema_of::<A>());
    FnTool { spec, describe: None, run, args: PhantomData }
}

type Describe<A> = Arc<dyn Fn(&A) -> Vec<Action> + Send + Sync>;

/// A tool made by [`tool_fn`].
pub struct FnTool<A, F> {
    spec: ToolSpec,
    describe: Option<Describe<A>>,
    run: F,
    args: PhantomData<fn(A)>,
}

impl<A, F> FnTool<A, F> {
    /// Declares the effect class.
    #[must_use]
    pub fn with_effect(mut self, effect: EffectClass) -> Self {
        self.spec = self.spec.with_effect(effect);
        self
    }

    /// Sets the time limit of one attempt.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.spec = self.spec.with_timeout(limit);
        self
    }

    /// Says which actions a call would be, in place of one opaque action.
    #[must_use]
    pub fn describing(mut self, describe: impl Fn(&A) -> Vec<Action> + Send + Sync + 'static) -> Self {
        self.describe = Some(Arc::new(describe));
        self
    }
}

#[async_trait]
impl<A, F, Fut> Tool for FnTool<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> Fut + Send + Sync + 'static,
    Fut: Future + Send,
    Fut::Output: Into<ToolOutput>,
{
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn describe_for_safety(
        &self,
        args: &JsonObject,
        _: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        let args = parse_args(args).map_err(DescribeError::new)?;
        match &self.describe {
            Some(describe) => Ok(describe(&args)),
            None => Ok(vec![Action::tool(self.spec.name(), self.spec.description())]),
        }
    }

    async fn execute(&self, call: ClearedCall, _: &ToolContext) -> ToolOutput {
        match parse_args(call.arguments()) {
            Ok(args) => (self.run)(args).await.into(),
            Err(complaint) => ToolOutput::fail(complaint),
        }
    }
}

impl<A, F> fmt::Debug for FnTool<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
