//! Bytes to text and back.
//!
//! Strict where it counts: nothing is replaced on a path that writes. UTF-8 with and without byte order mark and
//! UTF-16 with one are decoded; other text that contains ASCII is kept as the bytes it is, and only its ASCII
//! parts can be edited.

use std::borrow::Cow;

/// A decoded text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    encoding: Encoding,
    /// Without byte order mark; UTF-8 unless the encoding is unknown.
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    /// Some superset of ASCII: Latin-1, a Windows code page, GBK, Shift JIS.
    Unknown,
}

/// Why bytes are not a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undecodable {
    /// A binary format, named as far as it is known.
    Binary(&'static str),
    /// Announces UTF-16 and is not.
    BadUtf16,
}

impl Undecodable {
    /// For messages: "is …".
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Binary(kind) => kind,
            Self::BadUtf16 => "damaged UTF-16 text",
        }
    }
}

/// Decodes a whole file.
pub(crate) fn decode(raw: Vec<u8>) -> Result<Text, Undecodable> {
    // UTF-32 begins with the same two bytes as UTF-16; no one edits it.
    if raw.starts_with(&[0xff, 0xfe]) && !raw.starts_with(&[0xff, 0xfe, 0, 0]) {
        return utf16(&raw, u16::from_le_bytes, Encoding::Utf16Le);
    }
    if raw.starts_with(&[0xfe, 0xff]) {
        return utf16(&raw, u16::from_be_bytes, Encoding::Utf16Be);
    }
    if raw.contains(&0) {
        return Err(Undecodable::Binary(kind_of_binary(&raw)));
    }
    match (std::str::from_utf8(&raw), raw.strip_prefix(UTF8_BOM)) {
        (Ok(_), Some(rest)) => Ok(Text { encoding: Encoding::Utf8Bom, bytes: rest.to_vec() }),
        (Ok(_), None) => Ok(Text { encoding: Encoding::Utf8, bytes: raw }),
        (Err(_), _) => Ok(Text { encoding: Encoding::Unknown, bytes: raw }),
    }
}

const UTF8_BOM: &[u8] = &[0xef, 0xbb, 0xbf];

fn utf16(raw: &[u8], unit: fn([u8; 2]) -> u16, encoding: Encoding) -> Result<Text, Undecodable> {
    let (units, rest) = raw.as_chunks::<2>();
    let decoded: Result<String, _> =
        char::decode_utf16(units.iter().skip(1).map(|pair| unit(*pair))).collect();
    match decoded {
        Ok(text) if rest.is_empty() && !text.contains('\0') => {
            Ok(Text { encoding, bytes: text.into_bytes() })
        }
        _ => Err(Undecodable::BadUtf16),
    }
}

impl Text {
    /// The text for matching: UTF-8, or the raw bytes of an unknown encoding.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text for showing; unknown bytes become `�`.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Whether every character is known. Of other text only ASCII may be edited.
    pub(crate) fn is_unicode(&self) -> bool {
        self.encoding != Encoding::Unknown
    }

    /// The same file with other text.
    pub(crate) fn with_bytes(&self, bytes: Vec<u8>) -> Self {
        Self { encoding: self.encoding, bytes }
    }

    /// The file's bytes.
    pub(crate) fn encode(self) -> Vec<u8> {
        let units = |bytes: &[u8]| -> Vec<u16> {
            std::iter::once(0xfeff).chain(String::from_utf8_lossy(bytes).encode_utf16()).collect()
        };
        match self.encoding {
            Encoding::Utf8 | Encoding::Unknown => self.bytes,
            Encoding::Utf8Bom => [UTF8_BOM, &self.bytes].concat(),
            Encoding::Utf16Le => units(&self.bytes).into_iter().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => units(&self.bytes).into_iter().flat_map(u16::to_be_bytes).collect(),
        }
    }
}

/// What a file that is no text seems to be, by its first bytes.
pub(crate) fn kind_of_binary(start: &[u8]) -> &'static str {
    BINARY.iter().find(|(magic, _)| start.starts_with(magic)).map_or("a binary file", |(_, name)| name)
}

const BINARY: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a PNG image (binary)"),
    (b"\xff\xd8\xff", "a JPEG image (binary)"),
    (b"GIF8", "a GIF image (binary)"),
    (b"RIFF", "a RIFF file such as WebP, WAV or AVI (binary)"),
    (b"%PDF", "a PDF document (binary)"),
    (b"PK\x03\x04", "a ZIP archive or an office document (binary)"),
    (b"\x1f\x8b", "gzip data (binary)"),
    (b"\x28\xb5\x2f\xfd", "zstd data (binary)"),
    (b"\xfd7zXZ", "xz data (binary)"),
    (b"BZh", "bzip2 data (binary)"),
    (b"\x7fELF", "an ELF executable or library (binary)"),
    (b"\0asm", "a WebAssembly module (binary)"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O file (binary)"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O executable (binary)"),
    (b"MZ", "a Windows executable (binary)"),
    (b"SQLite format 3", "an SQLite database (binary)"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_encoding_comes_back_byte_for_byte() {
        let utf16le: Vec<u8> =
            "\u{feff}gr\u{fc}\u{df} 🧪\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let utf16be: Vec<u8> = "\u{feff}x\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let samples: [&[u8]; 7] = [
            b"",
            b"plain\n",
            b"\xef\xbb\xbfmarked\r\n",
            &utf16le,
            &utf16be,
            b"caf\xe9",
            b"\xef\xbb\xbfcaf\xe9",
        ];
        for raw in samples {
            assert_eq!(decode(raw.to_vec()).unwrap().encode(), raw);
        }
    }

    #[test]
    fn marks_are_not_part_of_the_text() {
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()).unwrap().bytes(), b"a");
        assert_eq!(decode(b"\xff\xfea\0".to_vec()).unwrap().bytes(), b"a");
    }

    #[test]
    fn what_is_no_text_is_named() {
        assert_eq!(decode(b"\x89PNG\0".to_vec()).unwrap_err().name(), "a PNG image (binary)");
        assert_eq!(decode(b"\xff\xfe\x00\xd8".to_vec()), Err(Undecodable::BadUtf16));
        assert_eq!(decode(b"\xff\xfea".to_vec()), Err(Undecodable::BadUtf16));
    }

    proptest! {
        #[test]
        fn any_text_that_decodes_encodes_to_the_same_bytes(
            mark in proptest::sample::select(vec![b"".to_vec(), UTF8_BOM.to_vec(), b"\xff\xfe".to_vec(), b"\xfe\xff".to_vec()]),
            rest: Vec<u8>,
        ) {
            let raw = [mark, rest].concat();
            if let Ok(text) = decode(raw.clone()) {
                prop_assert_eq!(text.encode(), raw);
            }
        }
    }
}
