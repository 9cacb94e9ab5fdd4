//! Messages between the lab and a measured program.
//!
//! Question: what may be said over the two descriptors of `ASSAY_CHANNEL`, and what does a line mean?
//! Method: one line per message, `word key=value key=value`, single spaces; see PROTOCOL.md, whose examples are
//! parsed by this module's tests. Both directions are here ([`Request`] and [`Reply`] each format and parse), because
//! a scripted worker in a test stands on the other side.
//! Limits: only text; who waits for whom and for how long is the lab's business.
//! Checked: `harness/vectors.txt` goes through this module, through `harness/assay.h` and through `assay-harness`.

mod error;
mod fields;
mod reply;
mod request;
mod usage;

pub use error::{Problem, ProtocolError};
pub use reply::{Allocated, Reply, VariantKind};
pub use request::Request;
pub use usage::{Abilities, CallUsage};

/// The version spoken here. Optional fields may be added within a version; anything else makes the next one.
pub const VERSION: u32 = 1;

/// The longest line, in bytes with its newline, that either side accepts.
pub const MAX_LINE: usize = 16_384;

/// The environment variable that names the two descriptors, `R,W`.
pub const CHANNEL_VARIABLE: &str = "ASSAY_CHANNEL";

/// Combines answers in order: `combined * 0x9e3779b97f4a7c15 + answer` modulo 2^64, starting from 0.
///
/// Input: what was combined so far and the next answer. Returns: the new combination. Not commutative, so answers in
/// another order are noticed, and answers that repeat do not cancel each other, as they do every 128 calls where the
/// combination is rotated instead. Every harness computes the same.
#[must_use]
pub const fn combine(combined: u64, answer: u64) -> u64 {
    combined.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(answer)
}

/// Whether `name` may name a variant: one or more of letters, digits and `_.:/+-`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:/+-".contains(&byte))
}
