//! What a command printed, in bounded memory: the beginning and the end, and how much is missing between.

use crate::clean;

/// Head and tail of a stream of any length.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    /// The latest bytes after the head; at most twice [`TAIL`].
    tail: Vec<u8>,
    total: usize,
}

const HEAD: usize = 16 * 1024;
const TAIL: usize = 32 * 1024;

impl Capture {
    /// Adds what was printed next.
    pub(super) fn push(&mut self, part: &[u8]) {
        self.total = self.total.saturating_add(part.len());
        let room = HEAD - self.head.len();
        let (head, rest) = part.split_at_checked(room).unwrap_or((part, &[]));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }

    /// As text for the model: decoded as a whole, then cleaned, with a note where something is left out.
    pub(super) fn text(&self) -> String {
        let missing = self.total.saturating_sub(HEAD + TAIL);
        if missing == 0 {
            return shown(&[self.head.as_slice(), &self.tail].concat(), 0);
        }
        let tail = self.tail.get(self.tail.len().saturating_sub(TAIL)..).unwrap_or_default();
        let (head, tail) = (first(shown(&self.head, 0), HEAD), last(shown(tail, 3), TAIL));
        format!("{head}\n[output truncated: {missing} of {} bytes omitted here]\n{tail}", self.total)
    }
}

/// `skip`: up to that many bytes at the start may be the rest of a character that was cut.
fn shown(bytes: &[u8], skip: usize) -> String {
    let cut = bytes.iter().take(skip).take_while(|byte| **byte & 0xc0 == 0x80).count();
    clean::printable(&String::from_utf8_lossy(bytes.get(cut..).unwrap_or_default()))
}

/// The beginning; bytes that are no text became longer when they were decoded.
fn first(mut text: String, limit: usize) -> String {
    let cut = (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(cut.unwrap_or(0));
    text
}

fn last(text: String, limit: usize) -> String {
    let from = text.len().saturating_sub(limit);
    let cut = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(cut..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_output_is_whole_whatever_the_parts() {
        let text = "grüß 日本\n".repeat(400);
        let mut capture = Capture::default();
        text.as_bytes().chunks(7).for_each(|part| capture.push(part));
        assert_eq!(capture.text(), text);
    }

    #[test]
    fn a_large_output_keeps_both_ends_and_counts_the_rest() {
        let mut capture = Capture::default();
        capture.push(b"START");
        (0..800).for_each(|_| capture.push(&[b'q'; 65_536]));
        capture.push(b"STOP");
        let text = capture.text();
        assert!(text.starts_with("STARTqq") && text.ends_with("qqSTOP"));
        assert!(text.contains(&format!("{} of", 800 * 65_536 + 9 - HEAD - TAIL)));
        assert!(text.len() < HEAD + TAIL + 200 && capture.tail.capacity() < 64 * TAIL);
    }

    #[test]
    fn bytes_that_are_no_text_stay_bounded() {
        let mut capture = Capture::default();
        capture.push(&[0xff; 400_000]);
        assert!(capture.text().len() < HEAD + TAIL + 200);
    }
}
