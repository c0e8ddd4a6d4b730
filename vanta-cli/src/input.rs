//! The prompt: an argument, or a pipe of bounded length.

use std::io::{self, IsTerminal, Read};

use crate::exit::Complaint;

/// The longest prompt; a longer text is better read by a tool.
const MOST_BYTES: u64 = 1024 * 1024;

/// The task of `run`: the argument, or what a pipe holds.
pub(crate) fn task(argument: Option<&str>) -> Result<String, Complaint> {
    match argument {
        Some("-") => piped(),
        Some(text) => checked(text.to_owned()),
        None if io::stdin().is_terminal() => {
            Err(Complaint::Usage("there is no prompt; write it behind `vanta run`, or pipe it in".into()))
        }
        None => piped(),
    }
}

/// What to say on `resume`, when there is something.
pub(crate) fn addition(argument: Option<&str>) -> Result<Option<String>, Complaint> {
    argument.map(|_| task(argument)).transpose()
}

fn piped() -> Result<String, Complaint> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Complaint::Usage(format!("cannot read the prompt from the pipe: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_long());
    }
    let text = String::from_utf8(bytes);
    checked(text.map_err(|_| Complaint::Usage("the prompt is not valid UTF-8 text".into()))?)
}

fn checked(text: String) -> Result<String, Complaint> {
    if text.len() as u64 > MOST_BYTES {
        return Err(too_long());
    }
    if text.trim().is_empty() {
        return Err(Complaint::Usage("the prompt is empty; say what is to be done".into()));
    }
    Ok(text)
}

fn too_long() -> Complaint {
    Complaint::Usage(format!(
        "the prompt is longer than {MOST_BYTES} bytes; put the text into a file and ask about the file"
    ))
}
