//! Runs one attempt of one cleared call. The only caller of [`Tool::execute`]; drivers of their own use it too.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::cancel::CancelToken;
use crate::run::{ClearedCall, Execution};
use crate::tool::{Tool, ToolContext, ToolOutput};

/// How long a tool that was told to stop may take to do so.
const GRACE: Duration = Duration::from_secs(5);

/// Runs `cleared` until it answers, its `limit` is over, or the run is cancelled and the grace period too.
///
/// The tool runs in a task of its own, so whatever it does, this returns: on a current-thread runtime for tools that
/// yield, on a multi-thread runtime also for tools that block. A panic is caught. After the limit, or a cancellation
/// through `cx`, the tool has five seconds to stop; then its task is dropped.
///
/// Needs a tokio runtime with time. Dropping the future drops the tool's task.
pub async fn execute(
    tool: Arc<dyn Tool>,
    cleared: ClearedCall,
    cx: ToolContext,
    limit: Duration,
) -> Execution {
    let stop = cx.cancel().clone();
    let mut task = Task(tokio::spawn(async move { tool.execute(cleared, &cx).await }));
    tokio::select! {
        ended = &mut task.0 => return execution(ended),
        () = tokio::time::sleep(limit) => {}
        () = stop.cancelled() => {
            // What it still answers in time is the truth about its effect.
            return match tokio::time::timeout(GRACE, &mut task.0).await {
                Ok(ended) => execution(ended),
                Err(_) => Execution::Abandoned,
            };
        }
    }
    wind_down(&stop, &mut task).await;
    Execution::TimedOut
}

/// Tells the tool to stop and gives it time to clean up; its answer comes too late to count.
async fn wind_down(stop: &CancelToken, task: &mut Task) {
    stop.cancel();
    let _ = tokio::time::timeout(GRACE, &mut task.0).await;
}

fn execution(ended: Result<ToolOutput, tokio::task::JoinError>) -> Execution {
    match ended {
        Ok(output) => Execution::Returned(output),
        Err(error) if error.is_panic() => Execution::Panicked,
        Err(_) => Execution::Abandoned,
    }
}

/// A tool's task, which ends with the attempt that waits for it.
struct Task(JoinHandle<ToolOutput>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
