//! Puts the agent together from its parts: files, tools, model, who answers.

use anyhow::Result;
use vanta_core::event::Observer;
use vanta_core::ledger::FileLedger;
use vanta_core::retry::RetryPolicy;
use vanta_core::{Agent, ToolRegistry};
use vanta_providers::OpenAiCompatible;
use vanta_providers::openai_compatible::Preset;

use crate::approve::{Answers, Standing};
use crate::config::{Choices, Endpoint, Env, retries};
use crate::exit::Complaint;
use crate::site::Site;

/// The agent of `run` and `resume`.
pub(crate) fn agent(
    site: &Site,
    choices: &Choices,
    env: Env<'_>,
    observer: impl Observer + 'static,
    answers: Answers,
) -> Result<Agent> {
    let tools = tools(choices.tools.as_deref())?;
    let endpoint = Endpoint::find(choices, env)?;
    let mut retry = RetryPolicy::default();
    if let Some(times) = retries(env)? {
        retry = retry.with_max_retries(times);
    }
    let standing = answers.standing();
    let mut builder = Agent::builder()
        .provider(provider(&endpoint)?)
        .tools(tools)
        .scope(site.scope()?)
        .on_disk(site.root())?
        .observer(observer)
        .approver(answers)
        .limits(choices.limits())
        .mode(choices.mode.unwrap_or_default())
        .retry(retry)
        .notes(notes(choices, &endpoint)?);
    if let Some(by) = standing {
        builder = builder.operator(Standing { ledger: FileLedger::open(site.root())?, by });
    }
    Ok(builder.build()?)
}

/// What `resume` finds again.
fn notes(choices: &Choices, endpoint: &Endpoint) -> Result<serde_json::Value> {
    let noted = Choices {
        provider: Some(endpoint.provider.clone()),
        model: Some(endpoint.model.clone()),
        ..choices.clone()
    };
    Ok(serde_json::to_value(noted)?)
}

fn provider(endpoint: &Endpoint) -> Result<OpenAiCompatible> {
    let mut builder =
        OpenAiCompatible::builder(&endpoint.base_url, &endpoint.model).provider(&endpoint.provider);
    if let Some(preset) = Preset::find(&endpoint.provider) {
        builder = builder.compat(preset.compat());
    }
    if let Some(key) = &endpoint.key {
        builder = builder.api_key(key.clone());
    }
    builder.build().map_err(|error| Complaint::Setup(format!("{error}; check --base-url and the key")).into())
}

fn tools(names: Option<&[String]>) -> Result<ToolRegistry> {
    let all = vanta_tools::builtin();
    let Some(names) = names else { return Ok(all) };
    let mut chosen = ToolRegistry::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let Some(tool) = all.get(name) else {
            let known: Vec<String> = all.specs().iter().map(|spec| spec.name().to_owned()).collect();
            let known = known.join(", ");
            return Err(Complaint::Usage(format!("`{name}` is no tool; choose from {known}")).into());
        };
        chosen.insert(std::sync::Arc::clone(tool));
    }
    Ok(chosen)
}
