//! Server-sent events, read from bytes as they arrive.
//!
//! Any split of the bytes gives the same events: lines are cut on bytes, so characters, line ends and the byte
//! order mark may be spread over reads. All three line ends count, comments are skipped, an event without its
//! closing blank line is delivered at the end. Time is linear in the input, memory bounded by [`MAX_EVENT_BYTES`].
//! Ids and retry times are read over: a completion is not resumable, so nothing here reconnects.

/// Most bytes one event may have; what a model can write in one reply fits many times.
pub const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event, borrowed from the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    name: &'a [u8],
    data: &'a [u8],
}

impl<'a> SseEvent<'a> {
    /// The event's name; empty when it has none.
    #[must_use]
    pub fn name(self) -> &'a [u8] {
        self.name
    }

    /// The data lines, joined by newlines.
    #[must_use]
    pub fn data(self) -> &'a [u8] {
        self.data
    }
}

/// Why a stream of events cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// An event exceeds the limit.
    #[error("an event is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

/// Turns reads into events.
///
/// ```
/// use vanta_providers::sse::{SseDecoder, SseError};
///
/// let mut decoder = SseDecoder::new();
/// let mut seen = Vec::new();
/// for read in [&b"data: one\r"[..], b"\n\r\ndata: t", b"wo"] {
///     decoder.feed(read, |event| Ok::<_, SseError>(seen.push(event.data().to_vec())))?;
/// }
/// decoder.finish(|event| Ok::<_, SseError>(seen.push(event.data().to_vec())))?;
/// assert_eq!(seen, [b"one".to_vec(), b"two".to_vec()]);
/// # Ok::<(), SseError>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    /// A line whose end has not arrived.
    line: Vec<u8>,
    /// The last byte was CR: an LF right after it ends no further line.
    after_cr: bool,
    at_start: bool,
    pending: Pending,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl SseDecoder {
    /// A decoder at the start of a stream, with the usual limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    /// A decoder that refuses events larger than `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let pending = Pending { limit, name: Vec::new(), data: Vec::new(), start: 0, has_data: false };
        Self { line: Vec::new(), after_cr: false, at_start: true, pending }
    }

    /// Reads `bytes` and shows every event that they complete.
    ///
    /// # Errors
    /// [`SseError::TooLarge`], or what `see` returned; the decoder is of no further use then.
    pub fn feed<E: From<SseError>>(
        &mut self,
        bytes: &[u8],
        mut see: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some((line, end, tail)) = split_line(rest) {
            self.complete_line(line, &mut see)?;
            rest = tail;
            if end == b'\r' {
                self.after_cr = tail.is_empty();
                rest = tail.strip_prefix(b"\n").unwrap_or(tail);
            }
        }
        self.pending.check(self.line.len().saturating_add(rest.len()))?;
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Ends the stream: an event that lacks its blank line is shown too.
    ///
    /// # Errors
    /// As [`SseDecoder::feed`].
    pub fn finish<E: From<SseError>>(
        mut self,
        mut see: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            self.complete_line(b"", &mut see)?;
        }
        self.pending.dispatch(&mut see)
    }

    fn complete_line<E: From<SseError>>(
        &mut self,
        tail: &[u8],
        see: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.line.is_empty() {
            let at_start = std::mem::take(&mut self.at_start);
            return self.pending.line(without_mark(tail, at_start), see);
        }
        self.pending.check(self.line.len().saturating_add(tail.len()))?;
        self.line.extend_from_slice(tail);
        let at_start = std::mem::take(&mut self.at_start);
        if !self.pending.take_over(&mut self.line) {
            self.pending.line(without_mark(&self.line, at_start), see)?;
        }
        self.line.clear();
        Ok(())
    }
}

/// The event whose lines are arriving.
#[derive(Debug)]
struct Pending {
    limit: usize,
    name: Vec<u8>,
    data: Vec<u8>,
    /// Where the data begin in `data`; a line that was taken over still has its field name before them.
    start: usize,
    has_data: bool,
}

impl Pending {
    /// Exchanges buffers with a first line of data instead of copying it: such a line may be large.
    fn take_over(&mut self, line: &mut Vec<u8>) -> bool {
        let value = line.strip_prefix(b"data:").map(|value| value.strip_prefix(b" ").unwrap_or(value).len());
        let (Some(value), false) = (value, self.has_data) else { return false };
        self.start = line.len().saturating_sub(value);
        self.has_data = true;
        std::mem::swap(&mut self.data, line);
        true
    }

    fn line<E: From<SseError>>(
        &mut self,
        line: &[u8],
        see: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if line.is_empty() {
            return self.dispatch(see);
        }
        let (field, value) = match memchr::memchr(b':', line).and_then(|at| line.split_at_checked(at)) {
            Some((field, value)) => (field, value.strip_prefix(b":").unwrap_or(value)),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.push(value)?,
            b"event" => value.clone_into(&mut self.name),
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, value: &[u8]) -> Result<(), SseError> {
        self.check(value.len().saturating_add(1))?;
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
        Ok(())
    }

    fn dispatch<E>(&mut self, see: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        let result = match self.has_data {
            true => see(SseEvent { name: &self.name, data: self.data.get(self.start..).unwrap_or_default() }),
            false => Ok(()),
        };
        self.name.clear();
        self.data.clear();
        self.start = 0;
        self.has_data = false;
        result
    }

    fn check(&self, more: usize) -> Result<(), SseError> {
        if self.data.len().saturating_add(more) > self.limit {
            return Err(SseError::TooLarge { limit: self.limit });
        }
        Ok(())
    }
}

/// The first line, the byte that ended it, and the rest; `None` while no line end has arrived.
fn split_line(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (line, rest) = bytes.split_at_checked(memchr::memchr2(b'\n', b'\r', bytes)?)?;
    let (&end, tail) = rest.split_first()?;
    Some((line, end, tail))
}

fn without_mark(line: &[u8], at_start: bool) -> &[u8] {
    match at_start {
        true => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const NASTY: &[u8] = "\u{FEFF}data: one\r\n\r\n: note\r\n:\r\ndata:two\ndata:  three\n\nevent: error\rdata: вы👩‍🚀\r\rid: 7\nretry: 1\ndata\n\nevent: lost\n\ndata: \u{FEFF}four\n\r\ndata: last".as_bytes();

    fn read(parts: &[&[u8]]) -> Vec<(String, String)> {
        let mut decoder = SseDecoder::new();
        let mut events = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut see = |event: SseEvent<'_>| {
            events.push((text(event.name()), text(event.data())));
            Ok::<_, SseError>(())
        };
        parts.iter().for_each(|part| decoder.feed(part, &mut see).unwrap());
        decoder.finish(&mut see).unwrap();
        events
    }

    #[test]
    fn a_nasty_sample_reads_as_the_specification_says() {
        let expected = [
            ("", "one"),
            ("", "two\n three"),
            ("error", "вы👩‍🚀"),
            ("", ""),
            ("", "\u{FEFF}four"),
            ("", "last"),
        ];
        let expected = expected.map(|(name, data)| (name.to_owned(), data.to_owned()));
        assert_eq!(read(&[NASTY]), expected);
    }

    #[test]
    fn every_split_gives_the_same_events() {
        let whole = read(&[NASTY]);
        for first in 0..=NASTY.len() {
            for second in first..=NASTY.len() {
                let parts = [&NASTY[..first], &NASTY[first..second], &NASTY[second..]];
                assert_eq!(read(&parts), whole, "split at {first} and {second}");
            }
        }
        assert_eq!(read(&NASTY.chunks(1).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn a_large_event_in_small_reads_takes_linear_time() {
        let time = |size: usize| {
            let mut bytes = b"data: ".to_vec();
            bytes.resize(size, b'x');
            let start = Instant::now();
            assert_eq!(read(&bytes.chunks(512).collect::<Vec<_>>())[0].1.len(), size - 6);
            start.elapsed()
        };
        // Ten times the bytes may take ten times as long, not a hundred times; the rest is slack for a busy machine.
        let small = time(1_000_000).max(Duration::from_millis(5));
        assert!(time(10_000_000) < small * 40);
    }

    #[test]
    fn an_event_above_the_limit_is_refused_however_it_comes() {
        let long = [b'x'; 40];
        let mut one_line = SseDecoder::with_limit(32);
        assert!(one_line.feed(&long, |_| Ok::<_, SseError>(())).is_err());
        let mut many_lines = SseDecoder::with_limit(32);
        let result = (0..10).try_for_each(|_| many_lines.feed(b"data: 12345\n", |_| Ok::<_, SseError>(())));
        assert_eq!(result, Err(SseError::TooLarge { limit: 32 }));
    }
}
