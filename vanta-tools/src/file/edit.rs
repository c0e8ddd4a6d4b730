//! `edit_file`: exact replacements in one file, all or none of them.

use std::io::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput};
use vanta_core::{Action, ClearedCall, TypedTool};

use super::{Work, describe, existing_file, read_whole};
use crate::error::FileError;
use crate::path::Place;
use crate::seen::{Print, Seen};
use crate::text::{Basis, Change, Text, apply, decode, exclusive, save};

/// Replaces text in a file.
///
/// The match is exact and must be unique; line endings, byte order mark and encoding stay as they are. Because
/// the present content is what is matched, a change that somebody else made elsewhere in the file is kept.
///
/// ```
/// use vanta_core::Tool;
/// use vanta_tools::EditFile;
///
/// let schema = EditFile.spec().schema().clone();
/// assert_eq!(schema["required"], serde_json::json!(["path", "old_string", "new_string"]));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct EditFile;

/// Arguments of [`EditFile`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFileArgs {
    /// The file, relative to the working directory or absolute.
    path: String,
    /// The text to replace, exactly as it is in the file. It must occur once, unless replace_all is set.
    old_string: String,
    /// The text to put there, taken literally.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
    /// Further edits of the same file, made in order after the first. Either all edits are made or none.
    #[serde(default)]
    more_edits: Vec<MoreEdit>,
}

/// A further edit in the same call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Not every provider follows references inside a schema.
#[schemars(inline)]
pub struct MoreEdit {
    /// The text to replace.
    old_string: String,
    /// The text to put there.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

impl EditFileArgs {
    fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        let first = Change { old: &self.old_string, new: &self.new_string, all: self.replace_all };
        let more = self.more_edits.iter();
        std::iter::once(first).chain(more.map(|edit| Change {
            old: &edit.old_string,
            new: &edit.new_string,
            all: edit.replace_all,
        }))
    }
}

#[async_trait::async_trait]
impl TypedTool for EditFile {
    type Args = EditFileArgs;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replaces text in an existing file. old_string must match exactly, spaces and \
        tabs included, and occur once; add surrounding lines to make it unique.";
    const EFFECT: EffectClass = EffectClass::Effect;

    async fn describe(
        &self,
        args: &EditFileArgs,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        let path = args.path.clone();
        describe(cx, move |scope, _| {
            let place = Place::locate(scope, &path)?;
            // Nobody is asked about a file that is not there; outside the root that is told only afterwards.
            if place.is_inside() && !existing_file(&place)? {
                return Err(FileError::Missing { path: place.shown().to_owned(), near: place.near_names() });
            }
            Ok(Action::edit(place.described()))
        })
        .await
    }

    async fn run(&self, args: EditFileArgs, call: &ClearedCall, cx: &ToolContext) -> ToolOutput {
        Work::new(call, cx).run(move |work| edit(&args, work)).await
    }
}

fn edit(args: &EditFileArgs, work: &Work) -> Result<String, FileError> {
    let place = work.place(&args.path)?;
    let _alone = exclusive(place.real());
    let (raw, id) = read_whole(&place)?;
    let before = Print::of(&raw);
    let text = decode(raw).map_err(|what| place.unsuitable(what.name(), "only text can be edited"))?;
    let (text, report) = apply_all(&place, text, args, work)?;
    let content = text.encode();
    work.go_on()?;
    save(&place, Basis::File(id), |file| file.write_all(&content))?;

    let seen = work.slots.get::<Seen>();
    if seen.last(place.real()).is_some_and(|known| known != before) {
        // The rest of the file is still unknown to the session, so the old record stays.
        return Ok(format!(
            "{report}\nthe file had been changed by someone else; read it again before relying on the rest"
        ));
    }
    seen.record(place.real(), Print::of(&content));
    Ok(report)
}

fn apply_all(
    place: &Place,
    mut text: Text,
    args: &EditFileArgs,
    work: &Work,
) -> Result<(Text, String), FileError> {
    let several = !args.more_edits.is_empty();
    let mut made = Vec::new();
    for (i, change) in args.changes().enumerate() {
        work.go_on()?;
        let (changed, lines) = apply(&text, &change).map_err(|mismatch| {
            let which = if several {
                format!(" (edit {} of {})", i + 1, args.more_edits.len() + 1)
            } else {
                String::new()
            };
            FileError::Mismatch { path: format!("{}{which}", place.shown()), mismatch }
        })?;
        text = changed;
        made.push(counted(&lines));
    }
    Ok((text, format!("edited `{}`: {}", place.shown(), made.join("; "))))
}

fn counted(lines: &[usize]) -> String {
    let listed: Vec<String> = lines.iter().take(20).map(usize::to_string).collect();
    let more = if lines.len() > listed.len() { ", …" } else { "" };
    match lines {
        [line] => format!("1 replacement at line {line}"),
        lines => format!("{} replacements at lines {}{more}", lines.len(), listed.join(", ")),
    }
}

#[cfg(test)]
mod tests;
