//! The two streams: stdout for the answer or for JSON lines, stderr for everything else. Every write is flushed.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::Color;
use crate::exit::{FAILED, INTERRUPTED};
use crate::stop::Stop;

/// Stdout. When nobody reads it any more the run is stopped, without a word.
#[derive(Debug)]
pub(crate) struct Stdout {
    stop: Arc<Stop>,
    closed: AtomicBool,
    is_terminal: bool,
}

impl Stdout {
    pub(crate) fn new(stop: Arc<Stop>) -> Self {
        Self { stop, closed: AtomicBool::new(false), is_terminal: io::stdout().is_terminal() }
    }

    /// Text that others wrote: on a terminal it can do nothing but be read.
    pub(crate) fn text(&self, text: &str) {
        if self.is_terminal { self.write(&crate::text::visible_lines(text)) } else { self.write(text) }
    }

    pub(crate) fn line(&self, line: &str) {
        self.write(&format!("{line}\n"));
    }

    fn write(&self, text: &str) {
        if self.closed.load(Ordering::SeqCst) {
            return;
        }
        let Err(error) = print(text) else { return };
        self.closed.store(true, Ordering::SeqCst);
        match error.kind() {
            ErrorKind::BrokenPipe => self.stop.stop(INTERRUPTED),
            _ => {
                note(&format!("error: cannot write to stdout: {error}"));
                self.stop.stop(FAILED);
            }
        }
    }
}

/// Writes `text` to stdout and flushes it.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints what a list or a question gave; a reader that has gone away is no error.
pub(crate) fn print_all(text: &str) -> anyhow::Result<()> {
    match print(text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed?),
    }
}

/// A line on stderr. When it cannot be written there is nobody to tell.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Colour on stderr.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    pub(crate) fn new(color: Color) -> Self {
        Self(match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && allowed_by(|name| std::env::var(name).ok()),
        })
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn careful(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn allowed_by(env: impl Fn(&str) -> Option<String>) -> bool {
    env("NO_COLOR").is_none_or(|value| value.is_empty()) && env("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_can_be_refused() {
        let with = |name: &'static str, value: &'static str| {
            allowed_by(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert!(!with("NO_COLOR", "1") && !with("TERM", "dumb"));
        assert!(with("NO_COLOR", "") && with("TERM", "xterm"));
    }
}
