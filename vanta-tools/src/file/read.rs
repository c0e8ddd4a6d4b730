//! `read_file`: a window of a text file, by lines.

use std::fs::File;
use std::io::Read;

use schemars::JsonSchema;
use serde::Deserialize;
use vanta_core::tool::{DescribeContext, DescribeError, EffectClass, ToolContext, ToolOutput};
use vanta_core::{Action, ClearedCall, TypedTool};

use super::{Work, describe};
use crate::error::FileError;
use crate::path::{FileId, Place};
use crate::seen::{Print, Printer, Seen};
use crate::text::{MAX_TEXT, Undecodable, decode, kind_of_binary};

/// Reads a text file, a window at a time.
///
/// The file is streamed; long lines are clipped, and the answer says where to continue. Only ordinary files are
/// opened. The session remembers what it saw, so that [`WriteFile`](crate::WriteFile) can tell a stale rewrite.
///
/// ```
/// use vanta_core::Tool;
/// use vanta_tools::ReadFile;
///
/// assert_eq!(ReadFile.spec().schema()["required"], serde_json::json!(["path"]));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadFile;

/// Arguments of [`ReadFile`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFileArgs {
    /// The file, relative to the working directory or absolute.
    path: String,
    /// The first line to read, counted from 1.
    #[serde(default, deserialize_with = "crate::args::whole")]
    offset: Option<u64>,
    /// How many lines to read; 2000 when left out.
    #[serde(default, deserialize_with = "crate::args::whole")]
    limit: Option<u64>,
}

#[async_trait::async_trait]
impl TypedTool for ReadFile {
    type Args = ReadFileArgs;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file, up to 2000 lines at a time. A note in brackets at the end \
        says when something is left out and which offset continues.";
    const EFFECT: EffectClass = EffectClass::Read;

    async fn describe(
        &self,
        args: &ReadFileArgs,
        cx: &DescribeContext,
    ) -> Result<Vec<Action>, DescribeError> {
        if args.limit == Some(0) {
            return Err(DescribeError::new("limit is 0; ask for at least one line"));
        }
        let path = args.path.clone();
        describe(cx, move |scope, _| Ok(Action::read(Place::locate(scope, &path)?.described()))).await
    }

    async fn run(&self, args: ReadFileArgs, call: &ClearedCall, cx: &ToolContext) -> ToolOutput {
        Work::new(call, cx).run(move |work| read(&args, work)).await
    }
}

fn read(args: &ReadFileArgs, work: &Work) -> Result<String, FileError> {
    let place = work.place(&args.path)?;
    let (file, id) = place.open_file().map_err(|error| match error {
        FileError::Missing { path, .. } => FileError::Missing { path, near: place.near_names() },
        other => other,
    })?;
    let window = Window::new(args.offset.unwrap_or(1).max(1), args.limit.unwrap_or(MAX_LINES));
    let (window, print) = scan(&place, file, id, window)?;
    if let Some(print) = print {
        work.slots.get::<Seen>().record(place.real(), print);
    }
    window.report(place.shown())
}

/// Lines shown when the call does not say.
const MAX_LINES: u64 = 2000;

/// Reads on to the end even past the window, to know the number of lines and the content's print; a file larger
/// than [`MAX_TEXT`] is left at the end of the window.
fn scan(
    place: &Place,
    mut file: File,
    id: FileId,
    mut window: Window,
) -> Result<(Window, Option<Print>), FileError> {
    let failed = || FileError::io("read", place.shown());
    let mut chunk = vec![0; CHUNK];
    let mut filled = fill(&mut file, &mut chunk).map_err(failed())?;
    let start = chunk.get(..filled).unwrap_or_default();
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return scan_utf16(place, id, window);
    }
    if start.contains(&0) {
        return Err(refuse(place, Undecodable::Binary(kind_of_binary(start)), id));
    }
    let mut print = Printer::default();
    let mut first = true;
    while filled > 0 {
        let part = chunk.get(..filled).unwrap_or_default();
        print.update(part);
        let text = if first { part.strip_prefix(b"\xef\xbb\xbf").unwrap_or(part) } else { part };
        window.feed(text);
        if id.size() > MAX_TEXT && window.is_full() {
            return Ok((window, None));
        }
        first = false;
        filled = fill(&mut file, &mut chunk).map_err(failed())?;
    }
    window.end();
    Ok((window, Some(print.finish())))
}

const CHUNK: usize = 64 * 1024;

/// Reads until `chunk` is full or the file ends.
fn fill(file: &mut File, chunk: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = chunk.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn scan_utf16(place: &Place, id: FileId, mut window: Window) -> Result<(Window, Option<Print>), FileError> {
    let (raw, _) = super::read_whole(place)?;
    let print = Print::of(&raw);
    let text = decode(raw).map_err(|what| refuse(place, what, id))?;
    window.feed(text.bytes());
    window.end();
    window.notes.push("the file is UTF-16; edit_file keeps that".into());
    Ok((window, Some(print)))
}

fn refuse(place: &Place, what: Undecodable, id: FileId) -> FileError {
    place.unsuitable(
        format!("{} of {} bytes", what.name(), id.size()),
        "it is not shown as text; use a program that understands it",
    )
}

/// The lines that were asked for, gathered from parts of the file.
struct Window {
    first: u64,
    limit: u64,
    /// The line being read, from 1, and what is kept of it.
    line: u64,
    kept: Vec<u8>,
    length: usize,
    shown: String,
    shown_lines: u64,
    /// The first line that did not fit any more.
    cut_at: Option<u64>,
    clipped: bool,
    lossy: bool,
    /// Total number of lines, known at the end.
    total: Option<u64>,
    notes: Vec<String>,
}

impl Window {
    fn new(first: u64, limit: u64) -> Self {
        Self {
            first,
            limit,
            line: 1,
            kept: Vec::new(),
            length: 0,
            shown: String::new(),
            shown_lines: 0,
            cut_at: None,
            clipped: false,
            lossy: false,
            total: None,
            notes: Vec::new(),
        }
    }

    fn wants(&self, line: u64) -> bool {
        line >= self.first && line - self.first < self.limit && self.cut_at.is_none()
    }

    /// Whether no later line will be shown.
    fn is_full(&self) -> bool {
        self.cut_at.is_some() || self.line.saturating_sub(self.first) >= self.limit && self.line >= self.first
    }

    fn feed(&mut self, part: &[u8]) {
        let mut lines = part.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = lines.next() {
            self.length += piece.len();
            if self.wants(self.line) {
                let room = MAX_LINE.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(piece.get(..room).unwrap_or(piece));
            }
            if lines.peek().is_some() {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        if self.wants(self.line) {
            self.show_line();
        }
        self.kept.clear();
        self.length = 0;
        self.line = self.line.saturating_add(1);
    }

    fn show_line(&mut self) {
        let clipped = self.length > self.kept.len();
        let mut bytes = self.kept.as_slice();
        if clipped {
            // The cut may be in the middle of a character; that is no fault of the file.
            bytes = whole_characters(bytes);
        } else {
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        if self.shown.len() + text.len() > MAX_BYTES {
            self.cut_at = Some(self.line);
            return;
        }
        self.lossy |= std::str::from_utf8(bytes).is_err();
        self.shown.extend(text.chars().map(|c| if c == '\0' { '\u{fffd}' } else { c }));
        if clipped {
            self.shown.push_str(&format!(" [line clipped: {} bytes in all]", self.length));
            self.clipped = true;
        }
        self.shown.push('\n');
        self.shown_lines += 1;
    }

    /// The file is over: a last line without line break counts.
    fn end(&mut self) {
        if self.length > 0 {
            self.end_line();
        }
        self.total = Some(self.line - 1);
    }

    fn report(mut self, path: &str) -> Result<String, FileError> {
        if self.total == Some(0) {
            return Ok(format!("[`{path}` is empty]"));
        }
        if let Some(total) = self.total.filter(|total| self.first > *total) {
            return Err(FileError::Argument(format!(
                "offset {} is past the end of `{path}`, which has {total} lines",
                self.first
            )));
        }
        let next = self.first.saturating_add(self.shown_lines);
        if self.total.is_none_or(|total| next <= total) {
            let of = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
            self.notes.push(format!(
                "lines {} to {}{of} shown; continue with offset {next}",
                self.first,
                next - 1
            ));
        }
        if self.clipped {
            self.notes.push(format!(
                "lines longer than {MAX_LINE} bytes are clipped; use grep or a shell command for the rest"
            ));
        }
        if self.lossy {
            self.notes.push(
                "not valid UTF-8: � stands for bytes of another encoding; only ASCII parts can be edited"
                    .into(),
            );
        }
        for note in &self.notes {
            self.shown.push_str(&format!("[{note}]\n"));
        }
        Ok(self.shown)
    }
}

/// Longest part of a line that is shown.
const MAX_LINE: usize = 2000;

/// Largest answer, notes aside. A line that does not fit is the first of the next window.
const MAX_BYTES: usize = 64 * 1024;

/// `bytes` without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or_default(),
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &[u8], first: u64, limit: u64, part: usize) -> Result<String, String> {
        let mut window = Window::new(first, limit);
        text.chunks(part).for_each(|part| window.feed(part));
        window.end();
        window.report("f").map_err(|error| error.to_string())
    }

    #[test]
    fn parts_make_no_difference() {
        let text = "eins\r\nzwei ü\n\ndrei".as_bytes();
        for part in 1..text.len() + 1 {
            assert_eq!(window(text, 1, 9, part).unwrap(), "eins\nzwei ü\n\ndrei\n");
        }
    }

    #[test]
    fn windows_say_where_to_continue() {
        assert_eq!(
            window(b"a\nb\nc\n", 2, 1, 9).unwrap(),
            "b\n[lines 2 to 2 of 3 shown; continue with offset 3]\n"
        );
        assert_eq!(window(b"a\nb\nc\n", 3, 1, 9).unwrap(), "c\n");
        assert!(window(b"a\nb\n", 9, 1, 9).unwrap_err().contains("2 lines"));
    }

    #[test]
    fn long_lines_are_clipped_at_a_character() {
        let text = format!("x{}\nnext\n", "ü".repeat(3000));
        let shown = window(text.as_bytes(), 1, 9, 100).unwrap();
        assert!(
            shown.contains("clipped: 6001 bytes")
                && shown.contains("\nnext\n")
                && !shown.contains('\u{fffd}')
        );
    }
}
