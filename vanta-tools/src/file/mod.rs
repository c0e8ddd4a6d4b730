//! The file tools, one per file.
//!
//! Each describes the real path it would touch, and when it runs resolves the path again and opens exactly what was
//! cleared (see [`path`](crate::path)). File access blocks, so it happens on the runtime's blocking threads.

mod edit;
mod list;
mod read;
mod write;

use std::io::Read;

use vanta_core::tool::{DescribeContext, DescribeError, ToolContext, ToolOutput};
use vanta_core::{Action, CancelToken, ClearedCall, Scope, Slots};

use crate::error::FileError;
use crate::path::{FileId, Kind, Place};
use crate::text::MAX_TEXT;

pub use edit::{EditFile, EditFileArgs, MoreEdit};
pub use list::{ListDir, ListDirArgs};
pub use read::{ReadFile, ReadFileArgs};
pub use write::{WriteFile, WriteFileArgs};

/// What a file tool works with, owned so that it can move to a blocking thread.
struct Work {
    scope: Scope,
    slots: Slots,
    actions: Vec<Action>,
    cancel: CancelToken,
}

impl Work {
    fn new(call: &ClearedCall, cx: &ToolContext) -> Self {
        Self {
            scope: cx.scope().clone(),
            slots: cx.slots().clone(),
            actions: call.actions().to_vec(),
            cancel: cx.cancel().child(),
        }
    }

    /// The place that was judged, when `asked` still means it.
    fn place(&self, asked: &str) -> Result<Place, FileError> {
        Place::cleared(&self.scope, asked, &self.actions)
    }

    /// Refuses to go on once the call was cancelled; asked last before a file is put in place.
    fn go_on(&self) -> Result<(), FileError> {
        if self.cancel.is_cancelled() { Err(FileError::Cancelled) } else { Ok(()) }
    }

    /// Does `act` on a blocking thread. A write that has begun is finished, so that it is never half known.
    async fn run(self, act: impl FnOnce(&Self) -> Result<String, FileError> + Send + 'static) -> ToolOutput {
        // A call that nobody waits for any more is a cancelled one.
        let _dropped = CancelOnDrop(self.cancel.clone());
        let done = offload(move || self.go_on().and_then(|()| act(&self)));
        match done.await {
            Ok(text) => ToolOutput::ok(text),
            Err(error) => ToolOutput::fail(error.to_string()),
        }
    }
}

struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Describes on a blocking thread; `look` changes nothing.
async fn describe(
    cx: &DescribeContext,
    look: impl FnOnce(&Scope, &Slots) -> Result<Action, FileError> + Send + 'static,
) -> Result<Vec<Action>, DescribeError> {
    let (scope, slots) = (cx.scope().clone(), cx.slots().clone());
    let action = offload(move || look(&scope, &slots)).await?;
    Ok(vec![action])
}

/// Does what looks at the disk on a blocking thread.
pub(crate) async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(FileError::Interrupted))
}

/// Whether a file is at `place`, for tools that write one.
///
/// Outside the root nothing but that is told before a person agreed: no types and no "not found".
fn existing_file(place: &Place) -> Result<bool, FileError> {
    match place.kind() {
        Ok(Some(Kind::File)) => Ok(true),
        Ok(None) | Err(FileError::Missing { .. }) => Ok(false),
        Ok(Some(kind)) if place.is_inside() => Err(place.unsuitable(kind.name(), "name an ordinary file")),
        Ok(Some(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// The whole file, when it is not too large to be edited, and its state.
fn read_whole(place: &Place) -> Result<(Vec<u8>, FileId), FileError> {
    let (file, id) = place.open_file()?;
    let too_large = || FileError::TooLarge { path: place.shown().to_owned(), limit: MAX_TEXT };
    if id.size() > MAX_TEXT {
        return Err(too_large());
    }
    let mut content = Vec::new();
    file.take(MAX_TEXT + 1).read_to_end(&mut content).map_err(FileError::io("read", place.shown()))?;
    if u64::try_from(content.len()).is_ok_and(|length| length <= MAX_TEXT) {
        Ok((content, id))
    } else {
        Err(too_large())
    }
}
