//! Text files: decode, match and splice, write back. The one place that changes the content of files.
//!
//! - `decode.rs`: bytes to text and back, byte for byte the same where nothing was changed.
//! - `splice.rs`: exact replacement in LF space, line endings of the file kept.
//! - `save.rs`: atomic writing beside the target.
//!
//! Nothing here asks what may be changed; `path` opens and the gate decides.

mod decode;
mod save;
mod splice;

pub(crate) use decode::{Text, Undecodable, decode, kind_of_binary};
pub(crate) use save::{Basis, exclusive, save};
pub(crate) use splice::{Change, Mismatch, apply};

/// Whole files up to this size are decoded, edited and compared.
pub(crate) const MAX_TEXT: u64 = 32 * 1024 * 1024;
