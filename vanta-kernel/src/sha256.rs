//! SHA-256 and HMAC-SHA-256, written here so that the kernel depends on nothing.
//!
//! For checksums, bindings and record MACs of moderate size. It does not hash passwords and makes no claim of
//! speed. Checked against the vectors published by NIST and in RFC 4231.
//!
//! ```
//! use vanta_kernel::sha256::{hex, sha256};
//!
//! assert!(hex(&sha256(b"abc")).starts_with("ba7816bf8f01cfea"));
//! ```

use alloc::string::String;

/// The digest of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(bytes);
    hash.finish()
}

/// The HMAC-SHA-256 of `message` under `key`, a key of any length.
#[must_use]
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; BLOCK];
    if key.len() > BLOCK {
        fill(&mut block, &sha256(key));
    } else {
        fill(&mut block, key);
    }
    let mut inner = Sha256::new();
    inner.update(&block.map(|byte| byte ^ 0x36));
    inner.update(message);
    let mut outer = Sha256::new();
    outer.update(&block.map(|byte| byte ^ 0x5c));
    outer.update(&inner.finish());
    outer.finish()
}

/// `bytes` in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Whether `a` and `b` are equal, in a time that depends on their lengths only.
///
/// For comparing MACs and tokens, where an early return would tell how much of a guess was right.
#[must_use]
pub fn eq(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0_u8, |seen, (x, y)| seen | (x ^ y));
    a.len() == b.len() && core::hint::black_box(difference) == 0
}

/// A SHA-256 digest in the making.
///
/// ```
/// use vanta_kernel::sha256::{Sha256, sha256};
///
/// let mut hash = Sha256::new();
/// hash.update(b"a");
/// hash.update(b"bc");
/// assert_eq!(hash.finish(), sha256(b"abc"));
/// ```
#[derive(Debug, Clone)]
pub struct Sha256 {
    state: [u32; 8],
    pending: [u8; BLOCK],
    held: usize,
    length: u64,
}

impl Sha256 {
    /// A digest of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { state: START, pending: [0; BLOCK], held: 0, length: 0 }
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let mut rest = bytes;
        if self.held > 0 {
            rest = self.hold(rest);
        }
        if self.held == 0 {
            let (blocks, tail) = rest.as_chunks::<BLOCK>();
            for block in blocks {
                compress(&mut self.state, block);
            }
            self.hold(tail);
        }
    }

    /// The digest of all that was added.
    #[must_use]
    pub fn finish(mut self) -> [u8; 32] {
        let bits = self.length.wrapping_mul(8).to_be_bytes();
        self.update(&[0x80]);
        while self.held != BLOCK - bits.len() {
            self.update(&[0]);
        }
        self.update(&bits);
        let mut digest = [0; 32];
        for (four, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.state) {
            *four = word.to_be_bytes();
        }
        digest
    }

    /// Keeps what fits into the pending block, compresses it when full, and returns what did not fit.
    fn hold<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let room = BLOCK - self.held;
        let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        fill(self.pending.get_mut(self.held..).unwrap_or_default(), now);
        self.held += now.len();
        if self.held == BLOCK {
            compress(&mut self.state, &self.pending);
            self.held = 0;
        }
        later
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

/// Copies `from` over the beginning of `to`.
fn fill(to: &mut [u8], from: &[u8]) {
    for (slot, byte) in to.iter_mut().zip(from) {
        *slot = *byte;
    }
}

#[expect(clippy::indexing_slicing, reason = "every index is below 64 by the loop bounds")]
fn compress(state: &mut [u32; 8], block: &[u8; BLOCK]) {
    let mut w = [0_u32; 64];
    for (slot, four) in w.iter_mut().zip(block.as_chunks::<4>().0) {
        *slot = u32::from_be_bytes(*four);
    }
    for t in 16..64 {
        let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
        let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for t in 0..64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(K[t]).wrapping_add(w[t]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
        (d, c, b, a) = (c, b, a, t1.wrapping_add(s0).wrapping_add(majority));
    }
    for (word, added) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(added);
    }
}

const BLOCK: usize = 64;

const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];
