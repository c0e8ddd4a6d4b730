//! Single key presses: the terminal without lines and echo for as long as a question is open.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use crate::stop::Stop;

/// What a person pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// Enter, Esc, Ctrl-C, Ctrl-D, or the end of the input.
    Leave,
    /// Nothing: the run was stopped meanwhile.
    Stopped,
}

/// Waits for a key, or for a line where the input is no terminal.
pub(crate) fn next(stop: &Stop) -> io::Result<Key> {
    if io::stdin().is_terminal() { pressed(stop) } else { line() }
}

fn pressed(stop: &Stop) -> io::Result<Key> {
    let _raw = Raw::enter()?;
    let stdin = io::stdin();
    loop {
        if stop.token().is_cancelled() {
            return Ok(Key::Stopped);
        }
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut waiting, Some(&LOOK_AROUND)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0_u8; 64];
        let count = rustix::io::read(&stdin, &mut bytes)?;
        // What a longer key sequence holds beyond its first byte is dropped: an arrow key is an Esc, and no answer.
        return Ok(bytes.first().filter(|_| count > 0).map_or(Key::Leave, |byte| key(*byte)));
    }
}

fn line() -> io::Result<Key> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim().chars().next().map_or(Key::Leave, Key::Char))
}

fn key(byte: u8) -> Key {
    match byte {
        b'\r' | b'\n' | ESC | CTRL_C | CTRL_D => Key::Leave,
        byte => Key::Char(char::from(byte)),
    }
}

/// The terminal's settings from before, while a question is open.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

struct Raw;

impl Raw {
    /// Drops what was typed before the question was there: it cannot be an answer to it.
    fn enter() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut raw = before.clone();
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(&stdin, OptionalActions::Flush, &raw)?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back as it was. Also called before the process ends at once.
pub(crate) fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    }
}

const LOOK_AROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
const ESC: u8 = 0x1b;
const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_leaves_is_a_no() {
        for byte in [b'\r', b'\n', ESC, CTRL_C, CTRL_D] {
            assert_eq!(key(byte), Key::Leave);
        }
        assert_eq!(key(b'y'), Key::Char('y'));
    }
}
