//! Digests that name one exact act.

use vanta_kernel::json::Json;
use vanta_kernel::sha256::{hex, sha256};

use super::state::Call;
use crate::session::SessionId;
use crate::tool::ToolSpec;

/// SHA-256 over the tool as described and the arguments: the same act has the same digest in any call.
pub(super) fn act_digest(spec: &ToolSpec, raw_args: &str) -> String {
    digest(vec![Json::String(spec.digest()), canonical(raw_args)])
}

/// The same for a call with the script files it runs, as they are now: what "exactly this" means in a rule.
pub(super) fn exact_digest(call: &Call) -> String {
    digest(vec![Json::String(call.digest.clone()), scripts(call)])
}

/// What an approval is bound to: this act, in this call of this session and root, until `expires_ms`, with the
/// script files it runs as they are now.
pub(super) fn binding(session: &SessionId, root: &str, call: &Call, expires_ms: u64) -> String {
    let text = |text: &str| Json::String(text.to_owned());
    digest(vec![
        text(session.as_str()),
        text(call.call.id().as_str()),
        text(&call.digest),
        text(root),
        Json::Number(expires_ms.to_string()),
        scripts(call),
    ])
}

fn scripts(call: &Call) -> Json {
    let script = |(path, digest): &(String, String)| {
        Json::Array(vec![Json::String(path.clone()), Json::String(digest.clone())])
    };
    Json::Array(call.scripts.iter().map(script).collect())
}

fn digest(parts: Vec<Json>) -> String {
    hex(&sha256(Json::Array(parts).canonical().as_bytes()))
}

/// The arguments with keys sorted and digits as received; no text means no arguments.
fn canonical(raw: &str) -> Json {
    Json::parse(raw).unwrap_or_else(|_| Json::Object(Vec::new()))
}
