//! `list_dir`: what is in one folder.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};

use schemars::JsonSchema;
use serde::Deserialize;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput};
use vanta_core::{Action, ClearedCall, TypedTool};

use super::{Work, describe};
use crate::clean;
use crate::error::FileError;
use crate::path::{Folder, Kind, Place};

/// Lists a folder: sorted by name, types marked, at most a thousand entries.
///
/// ```
/// use vanta_core::Tool;
/// use vanta_core::tool::EffectClass;
/// use vanta_tools::ListDir;
///
/// assert_eq!(ListDir.spec().effect(), EffectClass::Read);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ListDir;

/// Arguments of [`ListDir`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDirArgs {
    /// The directory, relative to the working directory or absolute; the working directory when left out.
    #[serde(default)]
    path: Option<String>,
}

impl ListDirArgs {
    fn path(&self) -> &str {
        self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".")
    }
}

#[async_trait::async_trait]
impl TypedTool for ListDir {
    type Args = ListDirArgs;
    const NAME: &'static str = "list_dir";
    const DESCRIPTION: &'static str =
        "Lists a directory, sorted by name. Directories end in /, links show their target.";
    const EFFECT: EffectClass = EffectClass::Read;

    async fn describe(&self, args: &ListDirArgs, cx: &DescribeContext) -> Result<Vec<Action>, DescribeError> {
        let path = args.path().to_owned();
        describe(cx, move |scope, _| Ok(Action::list(Place::locate(scope, &path)?.described()))).await
    }

    async fn run(&self, args: ListDirArgs, call: &ClearedCall, cx: &ToolContext) -> ToolOutput {
        Work::new(call, cx).run(move |work| list(args.path(), work)).await
    }
}

fn list(asked: &str, work: &Work) -> Result<String, FileError> {
    let place = work.place(asked)?;
    match place.kind()? {
        Some(Kind::Folder) => {}
        Some(kind) => {
            return Err(
                place.unsuitable(kind.name(), "list the directory it is in, or read it with read_file")
            );
        }
        None => return Err(FileError::Missing { path: place.shown().to_owned(), near: place.near_names() }),
    }
    let folder = place.open_folder()?;
    let (names, total) = first_names(&folder).map_err(place.failed("list"))?;
    if total == 0 {
        return Ok(format!("`{}` is an empty directory", place.shown()));
    }
    let mut room = MAX_BYTES;
    let entries = names.iter().map(|name| entry(&folder, name));
    let mut listing: Vec<String> = entries
        .take_while(|entry| {
            let fits = entry.len() < room;
            room = room.saturating_sub(entry.len() + 1);
            fits
        })
        .collect();
    let shown = listing.len();
    if shown < total {
        listing.push(format!(
            "[truncated: {shown} of {total} entries shown, {} more; list a directory further down]",
            total - shown
        ));
    }
    Ok(listing.join("\n"))
}

/// The first names in order and how many there are, holding no more than is shown.
fn first_names(folder: &Folder) -> Result<(Vec<OsString>, usize), rustix::io::Errno> {
    let mut first = BinaryHeap::new();
    let mut total = 0;
    for name in folder.names()? {
        first.push(name?);
        total += 1;
        if first.len() > MAX_ENTRIES {
            first.pop();
        }
    }
    Ok((first.into_sorted_vec(), total))
}

const MAX_ENTRIES: usize = 1000;

/// Names can be long and made of what is escaped.
const MAX_BYTES: usize = 64 * 1024;

fn entry(folder: &Folder, name: &OsStr) -> String {
    let shown = clean::name(name);
    match folder.kind(name) {
        Kind::File => shown,
        Kind::Folder => format!("{shown}/"),
        Kind::Link => {
            let target = folder.link_target(name).unwrap_or_default();
            format!("{shown} -> {}", clean::name(&target))
        }
        Kind::Fifo => format!("{shown} [named pipe]"),
        Kind::Socket => format!("{shown} [socket]"),
        Kind::Device => format!("{shown} [device]"),
    }
}
