//! The protocol's JSON, as tolerant as its servers are varied. Private to the adapter.
//!
//! Text is borrowed from the bytes read. A field of an unexpected kind is kept as a [`Loose`] value and looks
//! absent to whoever wants another kind; it never fails the chunk. What most chunks lack is boxed, since a chunk is
//! moved several times while it is read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A streamed chunk, or a whole completion: they differ in `delta` and `message` only.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) object: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<Box<WireUsage<'a>>>,
    #[serde(borrow, default)]
    x_groq: Option<Box<Groq<'a>>>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

impl<'a> Chunk<'a> {
    /// The token counts, wherever they are.
    pub(super) fn usage(&self) -> Option<&WireUsage<'a>> {
        self.usage.as_deref().or_else(|| self.x_groq.as_ref().and_then(|groq| groq.usage.as_ref()))
    }

    /// Whether it reports a failure. Some servers send an `error` without content on every chunk.
    pub(super) fn is_error(&self) -> bool {
        let has_error = match &self.error {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Object(map)) => !map.is_empty(),
            Some(_) => true,
        };
        has_error || self.object.text() == Some("error")
    }
}

#[derive(Debug, Deserialize)]
struct Groq<'a> {
    #[serde(borrow, default)]
    usage: Option<WireUsage<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) message: Option<Box<Delta<'a>>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
}

/// What is new in a chunk, or the whole message.
#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<Box<FunctionDelta<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
    /// Opaque material that some services attach to a call and want back.
    #[serde(default)]
    pub(super) extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireUsage<'a> {
    #[serde(borrow, default)]
    pub(super) prompt_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) completion_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) total_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) prompt_tokens_details: Option<PromptDetails<'a>>,
    #[serde(borrow, default)]
    pub(super) completion_tokens_details: Option<CompletionDetails<'a>>,
    #[serde(borrow, default)]
    pub(super) prompt_cache_hit_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) cached_tokens: Loose<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PromptDetails<'a> {
    #[serde(borrow, default)]
    pub(super) cached_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) cache_write_tokens: Loose<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CompletionDetails<'a> {
    #[serde(borrow, default)]
    pub(super) reasoning_tokens: Loose<'a>,
}

/// Any JSON value; text and numbers cost no allocation.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Loose<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Count(u64),
    Other(Value),
}

impl Loose<'_> {
    /// The text, if it is one and not empty.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The number, also when it is written as text or as a float.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Count(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            // A token count above 2^53 is nonsense; the cast saturates.
            Self::Other(value) => value.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64),
            Self::Absent => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Absent)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Loose::Count(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Loose::Other(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Loose::Other(number.into()))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Loose::Other(flag.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(value::SeqAccessDeserializer::new(list)).map(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(value::MapAccessDeserializer::new(map)).map(Loose::Other)
    }
}

/// A message as it is sent.
#[derive(Debug, Default, Serialize)]
pub(super) struct OutMessage<'a> {
    pub(super) role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<Cow<'a, str>>,
    pub(super) content: OutContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasoning_details: Vec<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<OutCall<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(untagged)]
pub(super) enum OutContent<'a> {
    #[default]
    Null,
    Text(Cow<'a, str>),
    Parts(Vec<OutPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: OutUrl },
}

#[derive(Debug, Serialize)]
pub(super) struct OutUrl {
    pub(super) url: String,
}

#[derive(Debug, Serialize)]
pub(super) struct OutCall<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: OutFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutFunction<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, str>,
}

/// Everything of a request except its messages and tools, which are encoded apart.
#[derive(Debug, Serialize)]
pub(super) struct OutRequest<'a> {
    pub(super) model: &'a str,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<OutStreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(flatten)]
    pub(super) extra: &'a serde_json::Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutStreamOptions {
    pub(super) include_usage: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct OutTool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: OutToolFunction<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutToolFunction<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Value,
}
