//! Addresses: the host of a URL as a client would see it, and what kind of host it is.

use alloc::string::String;

/// What kind of machine a host names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    /// This machine.
    Loopback,
    /// A private or link-local network.
    Private,
    /// The metadata service of a cloud, which hands out credentials.
    Metadata,
    /// Looks like another name, or is no name at all.
    Odd,
    Public,
}

/// The parts of an address that matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: String,
    pub(crate) has_user: bool,
    pub(crate) host: String,
    pub(crate) port: String,
    pub(crate) path: String,
}

impl Address {
    /// Is it the sidecar of the boundary? Its port and its paths say so under any name of this machine.
    pub(crate) fn is_boundary(&self) -> bool {
        let api = self.path.starts_with("/api/approvals");
        is_loopback(&self.host) && (self.port == "7788" || api)
            || self.port == "7788" && self.path.starts_with("/api/")
    }
}

/// Splits a URL; a scheme is optional, as curl has it.
pub(crate) fn address(url: &str) -> Address {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let (has_user, place) = match authority.rsplit_once('@') {
        Some((_, place)) => (true, place),
        None => (false, authority),
    };
    let (host, port) = match place.strip_prefix('[').and_then(|p| p.split_once(']')) {
        Some((host, port)) => (host, port.trim_start_matches(':')),
        None => place.rsplit_once(':').unwrap_or((place, "")),
    };
    Address {
        scheme: scheme.to_ascii_lowercase(),
        has_user,
        host: host.trim_end_matches('.').to_ascii_lowercase(),
        port: String::from(port),
        path: String::from(path),
    }
}

/// The kind of `host`.
pub(crate) fn kind(host: &str) -> HostKind {
    if is_loopback(host) {
        return HostKind::Loopback;
    }
    if let Some(inner) = mapped(host) {
        return kind(&inner);
    }
    if matches!(host, "metadata.google.internal" | "metadata" | "100.100.100.200" | "fd00:ec2::254") {
        return HostKind::Metadata;
    }
    if let Some([a, b, c, d]) = ipv4(host) {
        return match (a, b, c, d) {
            (169, 254, 169, 254) | (169, 254, 170, 2) => HostKind::Metadata,
            (10, ..) | (192, 168, ..) | (169, 254, ..) | (0, ..) => HostKind::Private,
            (172, 16..=31, ..) | (100, 64..=127, ..) => HostKind::Private,
            _ => HostKind::Public,
        };
    }
    if host.starts_with("fe80:")
        || host.starts_with("fc") && host.contains(':')
        || host.starts_with("fd") && host.contains(':')
    {
        return HostKind::Private;
    }
    if host.is_empty() || !host.is_ascii() || host.contains([' ', '%', '\\']) {
        return HostKind::Odd;
    }
    if host.ends_with(".local") || host.ends_with(".internal") || host.ends_with(".lan") {
        return HostKind::Private;
    }
    HostKind::Public
}

/// Does `host` name this machine?
pub(crate) fn is_loopback(host: &str) -> bool {
    matches!(host, "localhost" | "::1" | "0:0:0:0:0:0:0:1" | "::" | "ip6-localhost")
        || host.ends_with(".localhost")
        || ipv4(host).is_some_and(|[a, b, c, d]| a == 127 || [a, b, c, d] == [0, 0, 0, 0])
        || mapped(host).is_some_and(|inner| is_loopback(&inner))
        || NAMES_OF_LOOPBACK.iter().any(|end| host.ends_with(end))
}

/// Public names that resolve to this machine.
const NAMES_OF_LOOPBACK: [&str; 6] =
    ["lvh.me", "localtest.me", "127.0.0.1.nip.io", "127.0.0.1.sslip.io", "vcap.me", "lacolhost.com"];

/// The IPv4 address inside an IPv6 one (`::ffff:127.0.0.1`, `::ffff:7f00:1`), or the short form of a longer one.
fn mapped(host: &str) -> Option<String> {
    if host.contains(':') && host.contains("::") || host.starts_with("0:0:") {
        let tail = host.trim_start_matches(['0', ':']);
        if tail == "1" {
            return Some(String::from("127.0.0.1"));
        }
        let inner = tail.strip_prefix("ffff:").or_else(|| host.strip_prefix("64:ff9b::"))?;
        if inner.contains('.') {
            return Some(String::from(inner));
        }
        let (high, low) = inner.split_once(':')?;
        let high = u32::from_str_radix(high, 16).ok()?;
        let low = u32::from_str_radix(low, 16).ok()?;
        return Some(alloc::format!("{}", (high.checked_shl(16)?).checked_add(low)?));
    }
    None
}

/// An IPv4 address in any spelling clients accept: dotted, one number, octal, hexadecimal.
fn ipv4(host: &str) -> Option<[u8; 4]> {
    let mut numbers = [0_u64; 4];
    let mut count = 0;
    for part in host.split('.') {
        let slot = numbers.get_mut(count)?;
        *slot = number(part)?;
        count += 1;
    }
    // The last number fills all bytes that are left.
    let last = *numbers.get(count.checked_sub(1)?)?;
    let mut value = last;
    for (index, part) in numbers.iter().take(count - 1).enumerate() {
        if *part > 255 {
            return None;
        }
        value = value.checked_add(part << (8 * (3 - index)))?;
    }
    u32::try_from(value).ok().map(u32::to_be_bytes)
}

fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok();
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if text.len() > 1 && text.starts_with('0') {
        return u64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_addresses() {
        for host in ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "localhost", "a.localhost", "::1"] {
            assert_eq!(kind(host), HostKind::Loopback, "{host}");
        }
        for host in ["169.254.169.254", "2852039166", "0xa9fea9fe", "metadata.google.internal"] {
            assert_eq!(kind(host), HostKind::Metadata, "{host}");
        }
        assert_eq!(kind("10.0.0.5"), HostKind::Private);
        assert_eq!(kind("example.com"), HostKind::Public);
    }

    #[test]
    fn user_names_are_no_hosts() {
        let parts = address("https://docs.rs@evil.example/x");
        assert!(parts.has_user);
        assert_eq!(parts.host, "evil.example");
    }
}
