//! Ids and names as both sides accept them: local ids for calls, and what the endpoint's rules make of them.

use std::borrow::Cow;

use vanta_core::message::CallId;

use super::compat::IdFormat;

/// The id of a call: the server's own where it is usable, else one made from `seed` and the call's position, the
/// same for the same reply.
pub(super) fn local(wire: Option<&str>, at: usize, seed: &[&str], is_taken: impl Fn(&str) -> bool) -> CallId {
    if let Some(id) = wire.filter(|id| !is_taken(id)) {
        return CallId::new(id);
    }
    let position = at.to_string();
    let mut hash = hash(seed.iter().copied().chain([position.as_str(), wire.unwrap_or_default()]));
    loop {
        let id = format!("call_{hash:016x}");
        if !is_taken(&id) {
            return CallId::new(id);
        }
        hash = hash.wrapping_add(1);
    }
}

/// `id` as the endpoint accepts it.
pub(super) fn wire_id(id: &str, format: IdFormat) -> Cow<'_, str> {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const LENGTH: usize = 9;
    let fits = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if format == IdFormat::AsReceived || fits {
        return Cow::Borrowed(id);
    }
    let mut rest = hash([id]);
    let mut mapped = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        let digit = usize::try_from(rest % 62).ok().and_then(|at| DIGITS.get(at)).copied().unwrap_or(b'0');
        mapped.push(char::from(digit));
        rest /= 62;
    }
    Cow::Owned(mapped)
}

/// The name of a tool as every endpoint accepts it: letters, digits, `_` and `-`, at most 64 of them.
pub(super) fn wire_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    // The hash keeps apart what the mapping makes equal.
    let stem: String = name.chars().take(LONGEST - 9).map(|c| if is_plain(c) { c } else { '_' }).collect();
    Cow::Owned(format!("{stem}_{:08x}", hash([name]) & 0xffff_ffff))
}

/// FNV-1a with a final mix: stable over processes and versions, which a hasher of the standard library is not.
fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_letters_or_digits_distinct_and_stable() {
        assert_eq!(wire_id("aB3dE6gH9", IdFormat::Alnum9), "aB3dE6gH9");
        assert_eq!(wire_id("call_1", IdFormat::AsReceived), "call_1");
        let ids: std::collections::BTreeSet<_> =
            (0..10_000).map(|n| wire_id(&format!("call_{n}"), IdFormat::Alnum9).into_owned()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())));
    }

    #[test]
    fn names_are_kept_where_they_can_be() {
        assert_eq!(wire_name("read_file"), "read_file");
        let mapped = wire_name("server.read file");
        assert!(mapped.starts_with("server_read_file_"), "{mapped}");
        assert_ne!(mapped, wire_name("server_read.file"));
        assert!(wire_name(&"x".repeat(100)).len() <= 64);
        assert!(!wire_name("").is_empty());
    }
}
