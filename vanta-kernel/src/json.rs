//! A small JSON reader and writer for the wire, the event log and bindings.
//!
//! The reader takes RFC 8259 strictly: duplicate keys, lone surrogates, leading zeros, raw control characters
//! and trailing text are errors, and values nest at most 128 deep. Numbers keep the digits they came with, so
//! what is hashed is what was sent. It is no serialisation framework: records convert by hand in `wire`.
//!
//! ```
//! use vanta_kernel::json::Json;
//!
//! let value = Json::parse(r#"{"b": 1.50, "a": [true, null]}"#)?;
//! assert_eq!(value.get("a").and_then(Json::as_array).map(|items| items.len()), Some(2));
//! assert_eq!(value.canonical(), r#"{"a":[true,null],"b":1.50}"#);
//! assert!(Json::parse(r#"{"a": 1, "a": 2}"#).is_err());
//! # Ok::<(), vanta_kernel::json::JsonError>(())
//! ```

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these six kinds of value")]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, in the digits it was received with. One that is no JSON number is written as `null`.
    Number(String),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// Members in order of appearance.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value and nothing else from `text`.
    ///
    /// # Errors
    /// [`JsonError`] says at which byte the text stops being JSON and what was expected there.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(MAX_DEPTH)?;
        parser.blanks();
        if parser.at < text.len() { Err(parser.fail("the end of the text")) } else { Ok(value) }
    }

    /// An object of `members`, in this order. Later members of a repeated name are dropped.
    pub fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Json)>) -> Self {
        let mut object: Vec<(String, Json)> =
            members.into_iter().map(|(key, value)| (key.into(), value)).collect();
        if has_repeats(&object) {
            let mut seen = BTreeSet::new();
            object.retain(|(key, _)| seen.insert(key.clone()));
        }
        Self::Object(object)
    }

    /// The text with the keys of every object sorted by their bytes, digits as received, and no blanks.
    ///
    /// Equal values have equal canonical texts, so a digest of it identifies the value.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, Order::Sorted);
        text
    }

    /// The member `key` of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The string, when it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The number, when it is a whole one from 0 to [`u64::MAX`] written without fraction and exponent.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// The number, when it is a whole one written without fraction and exponent.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// The number, rounded to the nearest [`f64`].
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// The truth value, when it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The items, when it is a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The members, when it is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    fn write(&self, out: &mut dyn Write, order: Order) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(true) => out.write_str("true"),
            Self::Bool(false) => out.write_str("false"),
            Self::Number(digits) if is_number(digits) => out.write_str(digits),
            Self::Number(_) => out.write_str("null"),
            Self::String(text) => write_string(out, text),
            Self::Array(items) => write_list(out, ['[', ']'], items, |out, item| item.write(out, order)),
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if matches!(order, Order::Sorted) {
                    members.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
                }
                write_list(out, ['{', '}'], members, |out, (key, value)| {
                    write_string(out, key)?;
                    out.write_char(':')?;
                    value.write(out, order)
                })
            }
        }
    }
}

/// Writes the value without blanks, members in their own order.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Order::Given)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Self::Array(items)
    }
}

/// `None` is `null`.
impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Where and why a text is not the JSON this reader accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    offset: usize,
    expected: &'static str,
}

impl JsonError {
    /// The byte at which reading stopped.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not valid JSON at byte {}: expected {}", self.offset, self.expected)
    }
}

impl core::error::Error for JsonError {}

#[derive(Clone, Copy)]
enum Order {
    Given,
    Sorted,
}

fn write_list<T>(
    out: &mut dyn Write,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut one: impl FnMut(&mut dyn Write, T) -> fmt::Result,
) -> fmt::Result {
    out.write_char(open)?;
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.write_char(',')?;
        }
        one(out, item)?;
    }
    out.write_char(close)
}

fn write_string(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            '\0'..='\u{1f}' => write!(out, "\\u{:04x}", u32::from(char))?,
            _ => out.write_char(char)?,
        }
    }
    out.write_char('"')
}

fn is_number(digits: &str) -> bool {
    let mut parser = Parser { text: digits, at: 0 };
    parser.number().is_ok() && parser.at == digits.len()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.blanks();
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b'[' | b'{') if depth == 0 => Err(self.fail("at most 128 nested lists and objects")),
            Some(b'[') => self.array(depth - 1),
            Some(b'{') => self.object(depth - 1),
            _ => Err(self.fail("a value")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        self.items(b']', |parser| {
            items.push(parser.value(depth)?);
            Ok(())
        })?;
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        let start = self.at;
        let mut members = Vec::new();
        self.items(b'}', |parser| {
            if parser.peek() != Some(b'"') {
                return Err(parser.fail("a member name in quotes"));
            }
            let key = parser.string()?;
            parser.blanks();
            if !parser.take(b':') {
                return Err(parser.fail("`:`"));
            }
            members.push((key, parser.value(depth)?));
            Ok(())
        })?;
        if has_repeats(&members) {
            return Err(JsonError { offset: start, expected: "member names that occur once" });
        }
        Ok(Json::Object(members))
    }

    /// Reads the bracketed, comma-separated list that begins here.
    fn items(
        &mut self,
        close: u8,
        mut one: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.at += 1;
        self.blanks();
        if self.take(close) {
            return Ok(());
        }
        loop {
            self.blanks();
            one(self)?;
            self.blanks();
            if self.take(close) {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.fail("`,` or the closing bracket"));
            }
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.fail("a value"))
        }
    }

    fn number(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default().into())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        if count == 0 { Err(self.fail("a digit")) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let plain =
                self.rest().bytes().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
            // The bytes that end a plain run are ASCII, so the run ends between characters.
            string.push_str(self.text.get(self.at..self.at + plain).unwrap_or_default());
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(_) => return Err(self.fail("an escape instead of a control character")),
                None => return Err(self.fail("the closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let char = match self.peek() {
            Some(b'u') => return self.unicode(),
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.fail("one of the escapes of JSON")),
        };
        self.at += 1;
        Ok(char)
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        let lone = JsonError { offset: start, expected: "both halves of a surrogate pair" };
        let unit = self.unit()?;
        if !(0xd800..0xe000).contains(&unit) {
            return char::from_u32(unit).ok_or(lone);
        }
        if unit >= 0xdc00 || !self.take(b'\\') || self.peek() != Some(b'u') {
            return Err(lone);
        }
        let second = self.unit()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(lone);
        }
        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00)).ok_or(lone)
    }

    /// Reads `uXXXX`.
    fn unit(&mut self) -> Result<u32, JsonError> {
        self.at += 1;
        let digits = self.rest().get(..4).filter(|four| four.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|four| u32::from_str_radix(four, 16).ok());
        let unit = unit.ok_or_else(|| self.fail("four hexadecimal digits"))?;
        self.at += 4;
        Ok(unit)
    }

    fn blanks(&mut self) {
        self.at +=
            self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail(&self, expected: &'static str) -> JsonError {
        JsonError { offset: self.at, expected }
    }
}

fn has_repeats(members: &[(String, Json)]) -> bool {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair.first() == pair.last())
}

/// How deep lists and objects may nest; deeper text could exhaust the stack.
const MAX_DEPTH: usize = 128;
