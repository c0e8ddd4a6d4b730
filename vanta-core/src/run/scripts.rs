//! The script files an act would run, by content: an approval holds for what they say now.

use vanta_kernel::{Action, Reading, Scope, read, sha256};

use crate::tool::DescribeError;

/// Largest script file whose content an approval is bound to; a larger one cannot be vouched for.
const SCRIPT_BYTES: u64 = 4 * 1024 * 1024;

/// Digests of the script files the actions would run.
pub(super) async fn digests(
    actions: &[Action],
    scope: &Scope,
) -> Result<Vec<(String, String)>, DescribeError> {
    let readings: Vec<Reading> = actions.iter().map(|action| read(action, scope)).collect();
    let paths: Vec<String> = readings
        .iter()
        .flat_map(Reading::commands)
        .flat_map(|command| command.scripts().map(str::to_owned))
        .collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let digests = move || paths.into_iter().map(|path| digest(&path).map(|digest| (path, digest))).collect();
    tokio::task::spawn_blocking(digests)
        .await
        .unwrap_or_else(|_| Err(DescribeError::new("the runtime is shutting down")))
}

fn digest(path: &str) -> Result<String, DescribeError> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() > SCRIPT_BYTES => {
            Err(DescribeError::new(format!("`{path}` is too large to be vouched for as a script")))
        }
        Ok(meta) if meta.is_file() => match std::fs::read(path) {
            Ok(bytes) => Ok(sha256::hex(&sha256::sha256(&bytes))),
            Err(error) => Err(DescribeError::new(format!("cannot read the script `{path}`: {error}"))),
        },
        // Not there, or no file: that, too, is a state an approval is bound to.
        _ => Ok("absent".to_owned()),
    }
}
