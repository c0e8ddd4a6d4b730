//! Reads an answer: events as they come, or a completion in one piece, whichever the server sends.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use vanta_core::provider::{ProviderError, ReplyStream, StreamEvent};

use super::reply::ReplyBuilder;
use crate::errors;
use crate::http::{Answer, MAX_BODY_BYTES};
use crate::sse::{SseDecoder, SseError};

/// How long to wait for token counts, or for a proper end, after the reply itself is complete.
const AFTER_FINISH: Duration = Duration::from_secs(5);
/// How long to wait for the end of the body after the end mark, so that the connection can be used again.
const AFTER_END_MARK: Duration = Duration::from_millis(25);

/// Starts reading. An answer that is no stream is read to its end before the first event.
pub(super) async fn read(answer: Answer, reply: ReplyBuilder) -> Result<ReplyStream, ProviderError> {
    let request_id = answer.request_id().map(|id| answer.target().clean(id));
    begin(answer, reply).await.map_err(|error| match request_id {
        Some(id) => error.with_request_id(id),
        None => error,
    })
}

async fn begin(mut answer: Answer, reply: ReplyBuilder) -> Result<ReplyStream, ProviderError> {
    if let Some(coding) = answer.header("content-encoding").filter(|coding| *coding != "identity") {
        let what = format!("is compressed (`{}`), which was not asked for", answer.target().clean(coding));
        return Err(errors::malformed(answer.target(), &what));
    }
    let start = first_bytes(&mut answer).await?;
    match start.iter().find(|byte| is_significant(**byte)) {
        Some(b'<') => Err(errors::web_page(answer.target())),
        Some(b'{' | b'[') => read_whole(answer, start, reply).await,
        // Some gateways label streams as pages; what does not even begin like a field is one.
        Some(byte) if answer.content_type().starts_with("text/html") && !b"dier:".contains(byte) => {
            Err(errors::web_page(answer.target()))
        }
        _ => {
            let mut reading = Reading::new(answer, reply);
            reading.feed(&start);
            Ok(reading.into_stream())
        }
    }
}

/// The body up to the first byte that tells what it is.
async fn first_bytes(answer: &mut Answer) -> Result<Vec<u8>, ProviderError> {
    let mut start = Vec::new();
    while let Some(chunk) = answer.chunk(answer.idle()).await? {
        start.extend_from_slice(&chunk);
        if chunk.iter().any(|byte| is_significant(*byte)) || start.len() > MAX_BODY_BYTES {
            break;
        }
    }
    Ok(start)
}

/// Neither white space nor a byte order mark.
fn is_significant(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"\xEF\xBB\xBF".contains(&byte)
}

async fn read_whole(
    mut answer: Answer,
    mut body: Vec<u8>,
    mut reply: ReplyBuilder,
) -> Result<ReplyStream, ProviderError> {
    while let Some(chunk) = answer.chunk(answer.idle()).await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY_BYTES {
            return Err(errors::malformed(answer.target(), "is larger than any reply"));
        }
    }
    let mut events = VecDeque::new();
    reply.whole(&body, &mut events)?;
    events.push_back(StreamEvent::Finished(reply.finish()?));
    Ok(futures_util::stream::iter(events.into_iter().map(Ok)).boxed())
}

/// A stream being read.
struct Reading {
    answer: Answer,
    /// Gone once the body has ended.
    decoder: Option<SseDecoder>,
    reply: ReplyBuilder,
    events: VecDeque<StreamEvent>,
    any_bytes: bool,
    /// When the reply was complete.
    complete_since: Option<Instant>,
    end: End,
}

/// How the stream ends, once that is known.
enum End {
    Open,
    Failed(Box<ProviderError>),
    Told,
}

impl Reading {
    fn new(answer: Answer, reply: ReplyBuilder) -> Self {
        let decoder = Some(SseDecoder::new());
        Self {
            answer,
            decoder,
            reply,
            events: VecDeque::new(),
            any_bytes: false,
            complete_since: None,
            end: End::Open,
        }
    }

    fn into_stream(self) -> ReplyStream {
        // Boxed, because the state is moved with every event.
        futures_util::stream::unfold(Box::new(self), |mut reading| async move {
            reading.next().await.map(|event| (event, reading))
        })
        .boxed()
    }

    /// Events first, then the one failure, then nothing.
    async fn next(&mut self) -> Option<Result<StreamEvent, ProviderError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            match std::mem::replace(&mut self.end, End::Told) {
                End::Told => return None,
                End::Failed(error) => return Some(Err(*error)),
                End::Open => {
                    self.end = End::Open;
                    self.advance().await;
                }
            }
        }
    }

    /// Reads once, or concludes.
    async fn advance(&mut self) {
        if self.reply.is_done() {
            let _ = self.answer.chunk(AFTER_END_MARK).await;
            return self.conclude();
        }
        let patience = match self.reply.is_complete() {
            true => {
                AFTER_FINISH.saturating_sub(self.complete_since.get_or_insert_with(Instant::now).elapsed())
            }
            false => self.answer.idle(),
        };
        match self.answer.chunk(patience).await {
            Ok(Some(bytes)) => self.feed(&bytes),
            Ok(None) => self.end_of_body(),
            // The reply is complete; only token counts may be missing.
            Err(error) if self.reply.is_complete() && !self.answer.is_cancelled() => {
                drop(error);
                self.conclude();
            }
            Err(error) => self.fail(error),
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.any_bytes |= bytes.iter().any(|byte| is_significant(*byte));
        let Self { decoder: Some(decoder), reply, events, .. } = self else { return };
        let result =
            decoder.feed(bytes, |event| reply.event(event.name(), event.data(), events).map_err(Fault::from));
        self.note(result);
    }

    fn end_of_body(&mut self) {
        let Self { decoder, reply, events, .. } = self;
        if let Some(decoder) = decoder.take() {
            let result =
                decoder.finish(|event| reply.event(event.name(), event.data(), events).map_err(Fault::from));
            self.note(result);
        }
        match (&self.end, self.reply.is_complete()) {
            (End::Open, true) => self.conclude(),
            (End::Open, false) => self.fail(self.reply.cut_off(self.any_bytes)),
            _ => {}
        }
    }

    fn note(&mut self, result: Result<(), Fault>) {
        match result {
            Ok(()) => {}
            Err(Fault::Reply(error)) => self.fail(*error),
            Err(Fault::Sse(error)) => {
                let error = errors::malformed(self.answer.target(), &format!("cannot be read: {error}"));
                self.fail(error);
            }
        }
    }

    fn conclude(&mut self) {
        match self.reply.finish() {
            Ok(reply) => {
                self.events.push_back(StreamEvent::Finished(reply));
                self.end = End::Told;
            }
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, mut error: ProviderError) {
        if let Some(id) = self.answer.request_id() {
            error = error.with_request_id(self.answer.target().clean(id));
        }
        if let Some(partial) = self.reply.partial() {
            error = error.with_partial(partial);
        }
        self.end = End::Failed(Box::new(error));
    }
}

/// Why an event could not be used.
enum Fault {
    Sse(SseError),
    Reply(Box<ProviderError>),
}

impl From<SseError> for Fault {
    fn from(error: SseError) -> Self {
        Self::Sse(error)
    }
}

impl From<ProviderError> for Fault {
    fn from(error: ProviderError) -> Self {
        Self::Reply(Box::new(error))
    }
}
