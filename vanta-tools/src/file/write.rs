//! `write_file`: a whole file, new or replaced, all or nothing.

use std::io::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput};
use vanta_core::{Action, ClearedCall, Slots, TypedTool};

use super::{Work, describe, existing_file};
use crate::error::FileError;
use crate::path::Place;
use crate::seen::{Print, Printer, Seen};
use crate::text::{Basis, exclusive, save};

/// Creates a file or replaces its content.
///
/// A new file inside the root is described as such; a file that exists is described as replaced, which a person is
/// asked about. Content that changed since the session last saw it is refused. Links inside the root are followed
/// and kept.
///
/// ```
/// use vanta_core::Tool;
/// use vanta_tools::WriteFile;
///
/// assert_eq!(WriteFile.spec().name(), "write_file");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteFile;

/// Arguments of [`WriteFile`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileArgs {
    /// The file, relative to the working directory or absolute. Missing directories are created.
    path: String,
    /// The whole new content, written exactly as given.
    content: String,
}

#[async_trait::async_trait]
impl TypedTool for WriteFile {
    type Args = WriteFileArgs;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Creates a file, or replaces the whole content of one. Replacing needs \
        approval; to change part of a file use edit_file.";
    const EFFECT: EffectClass = EffectClass::Effect;

    async fn describe(
        &self,
        args: &WriteFileArgs,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        let path = args.path.clone();
        describe(cx, move |scope, slots| {
            let place = locate_file(&path, Place::locate(scope, &path)?)?;
            let replaces = existing_file(&place)?;
            if replaces {
                refuse_stale(&place, slots)?;
            }
            Ok(Action::Write { path: place.described().to_owned(), replaces })
        })
        .await
    }

    async fn run(&self, args: WriteFileArgs, call: &ClearedCall, cx: &ToolContext) -> ToolOutput {
        Work::new(call, cx).run(move |work| write(&args, work)).await
    }
}

fn write(args: &WriteFileArgs, work: &Work) -> Result<String, FileError> {
    let place = locate_file(&args.path, work.place(&args.path)?)?;
    let _alone = exclusive(place.real());
    let replaces = existing_file(&place)?;
    if replaces != was_cleared_to_replace(&work.actions) {
        let how = if replaces { "a file was created there" } else { "the file to replace was deleted" };
        return Err(place.changed(how));
    }
    let basis = if replaces {
        refuse_stale(&place, &work.slots)?;
        Basis::File(place.open_file()?.1)
    } else {
        Basis::Nothing
    };
    work.go_on()?;
    save(&place, basis, |file| file.write_all(args.content.as_bytes()))?;
    work.slots.get::<Seen>().record(place.real(), Print::of(args.content.as_bytes()));
    let verb = if replaces { "replaced" } else { "created" };
    let lines = args.content.lines().count();
    Ok(format!("{verb} `{}`: {} bytes, {lines} lines", place.shown(), args.content.len()))
}

/// A path that ends in a slash names a folder, whatever is there.
fn locate_file(asked: &str, place: Place) -> Result<Place, FileError> {
    let names_folder = asked.ends_with('/') || asked.ends_with("/.");
    if names_folder { Err(place.unsuitable("the name of a directory", "name a file")) } else { Ok(place) }
}

fn was_cleared_to_replace(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::Write { replaces: true, .. }))
}

/// Refuses content that this session knows in another form than it has now.
fn refuse_stale(place: &Place, slots: &Slots) -> Result<(), FileError> {
    let Some(known) = slots.get::<Seen>().last(place.real()) else { return Ok(()) };
    let (mut file, _) = place.open_file()?;
    let mut print = Printer::default();
    std::io::copy(&mut file, &mut print).map_err(FileError::io("read", place.shown()))?;
    if print.finish() == known { Ok(()) } else { Err(FileError::Stale { path: place.shown().to_owned() }) }
}
