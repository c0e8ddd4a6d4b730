//! Runs the fixtures: recorded exchanges, the requests they call for and the replies they must give.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use vanta_core::LlmProvider;
use vanta_core::provider::{ModelContext, ModelReply, ProviderError, StreamEvent, fold};
use vanta_providers::HttpClient;

use crate::checks;
use crate::fixture::{self, Fixture};
use crate::replay::ReplayServer;

#[test]
fn fixtures() {
    let runtime = runtime();
    let server = ReplayServer::start();
    let client = HttpClient::new();
    let (run, skipped): (Vec<_>, Vec<_>) = fixture::all().into_iter().partition(Fixture::is_supported);
    let mut failed = Vec::new();
    for fixture in &run {
        let checking = AssertUnwindSafe(|| runtime.block_on(check(fixture, &server, &client)));
        let wrong = catch_unwind(checking).unwrap_or_else(|_| vec!["the check panicked".into()]);
        if !wrong.is_empty() {
            println!("FAILED {}\n  {}", fixture.name(), wrong.join("\n  "));
            failed.push(fixture.name());
        }
    }
    if !skipped.is_empty() {
        let names: Vec<_> = skipped.iter().map(Fixture::name).collect();
        println!("{} skipped, no adapter for their protocol yet: {}", skipped.len(), names.join(" "));
    }
    println!("{} passed, {} failed", run.len() - failed.len(), failed.len());
    assert!(failed.is_empty(), "failed: {}", failed.join(" "));
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn check(fixture: &Fixture, server: &ReplayServer, client: &HttpClient) -> Vec<String> {
    let name = fixture.name();
    let address = server.serve(name, fixture.scripts());
    let provider = fixture.provider(&address, client);
    let (outcome, first_text) = observe(&*provider, fixture).await;
    let mut wrong = fixture.failures(&outcome);
    let seen = server.seen(name);
    match seen.first() {
        Some(first) => wrong.extend(checks::failures(&fixture.0["request_expect"], first)),
        None => wrong.push("no request was made".into()),
    }
    if let Some(attempts) = fixture.expect()["attempts"].as_u64()
        && seen.len() as u64 != attempts
    {
        wrong.push(format!("{} requests instead of {attempts}", seen.len()));
    }
    if let (Some(least), [first, second, ..]) = (fixture.expect()["min_wait_ms"].as_u64(), seen.as_slice()) {
        let waited = second.at.duration_since(first.at);
        if waited < Duration::from_millis(least) {
            wrong.push(format!("waited {waited:?} only"));
        }
    }
    if fixture.expect()["incremental"] == true {
        let ended = last_answer(server, name).await;
        if first_text.is_none_or(|at| at >= ended) {
            wrong.push("the first text came only after the end of the body".into());
        }
    }
    if let (Ok(reply), true) = (&outcome, fixture.0["replay"].is_object()) {
        let request = fixture.request(fixture.next_turn(reply));
        // Its outcome is of no interest: what counts is what was sent.
        drop(provider.complete(request, &ModelContext::default()).await);
        match server.seen(name).get(1) {
            Some(second) => wrong.extend(checks::failures(&fixture.0["replay"]["request_expect"], second)),
            None => wrong.push("no second request was made".into()),
        }
    }
    server.serve(name, fixture.scripts());
    let complete = provider.complete(fixture.request(fixture.messages()), &ModelContext::default()).await;
    if summary(&complete) != summary(&outcome) {
        wrong.push(format!("complete differs from the folded stream: {complete:?}"));
    }
    wrong
}

/// The folded stream, and when its first text came. Checks the order of events on the way.
async fn observe(
    provider: &dyn LlmProvider,
    fixture: &Fixture,
) -> (Result<ModelReply, ProviderError>, Option<Instant>) {
    let mut first_text = None;
    let mut shown = String::new();
    let request = fixture.request(fixture.messages());
    let outcome = match provider.stream(request, &ModelContext::default()).await {
        Err(error) => Err(error),
        Ok(stream) => {
            fold(stream, |event| {
                if let StreamEvent::TextDelta(text) = event {
                    first_text.get_or_insert_with(Instant::now);
                    shown.push_str(text);
                }
            })
            .await
        }
    };
    if let Ok(reply) = &outcome {
        assert_eq!(reply.message().text(), shown, "{}: the deltas are not the text", fixture.name());
    }
    (outcome, first_text)
}

async fn last_answer(server: &ReplayServer, name: &str) -> Instant {
    for _ in 0..100 {
        if let Some(at) = server.seen(name).last().and_then(|seen| seen.answered) {
            return at;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the answer never ended");
}

/// What two outcomes must have in common to be equal.
pub(crate) fn summary(
    outcome: &Result<ModelReply, ProviderError>,
) -> Result<&ModelReply, (&str, bool, String)> {
    let partial =
        |error: &ProviderError| error.partial().map(|partial| format!("{partial:?}")).unwrap_or_default();
    outcome.as_ref().map_err(|error| (error.class().as_str(), error.is_retryable(), partial(error)))
}
