//! The columns of a block, and how they lie in its content.

use super::super::super::source::TraceFault;
use zstd::bulk::Decompressor;

/// Bytes of a block's columns, unpacked; a writer ends a block long before.
const MAX_PLAIN: u64 = 1 << 21;
/// How hard zstd tries.
const LEVEL: i32 = 12;

/// The columns, in the order in which they lie in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A byte for each run.
    Tokens,
    /// A byte for each event, and what a new site is.
    Events,
    /// Numbers without a sign.
    Numbers,
    /// Distances between addresses.
    Distances,
}

/// How many there are.
pub const COLUMNS: usize = 4;

/// Bytes of each column.
pub type Bytes = [Vec<u8>; COLUMNS];

/// Appends a number, seven bits a byte, the lowest first.
pub fn append(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes a number from the front; `None` where there is none, or one of more than 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The content of a block: the length of each column, unpacked and as it lies there, then the columns.
pub fn pack(columns: &Bytes) -> Vec<u8> {
    let (mut content, mut bodies) = (Vec::new(), Vec::new());
    for plain in columns {
        let packed = zstd::bulk::compress(plain, LEVEL).ok();
        // A column that does not get shorter lies there as it is.
        let body = packed.as_ref().filter(|packed| packed.len() < plain.len()).unwrap_or(plain);
        append(&mut content, plain.len() as u64);
        append(&mut content, body.len() as u64);
        bodies.extend_from_slice(body);
    }
    content.append(&mut bodies);
    content
}

/// The columns of a content, in place of those that are there.
pub fn unpack(
    mut content: &[u8],
    columns: &mut Bytes,
    unpacker: &mut Option<Decompressor>,
) -> Result<(), TraceFault> {
    let mut lengths = [(0, 0); COLUMNS];
    let mut sum = 0;
    for lengths in &mut lengths {
        let (plain, packed) = take(&mut content).zip(take(&mut content)).ok_or(wrong_length(0))?;
        sum = plain.saturating_add(sum);
        if sum > MAX_PLAIN || packed > plain {
            return Err(wrong_length(plain));
        }
        *lengths = (plain as usize, packed as usize);
    }
    for (column, (plain, packed)) in columns.iter_mut().zip(lengths) {
        let body = content.split_off(..packed).ok_or(wrong_length(packed as u64))?;
        column.clear();
        if packed == plain {
            column.extend_from_slice(body);
            continue;
        }
        column.resize(plain, 0);
        if unpacker.is_none() {
            *unpacker = Decompressor::new().ok();
        }
        let unpacked = unpacker.as_mut().and_then(|it| it.decompress_to_buffer(body, &mut column[..]).ok());
        if unpacked != Some(plain) {
            return Err(wrong_length(plain as u64));
        }
    }
    if content.is_empty() { Ok(()) } else { Err(wrong_length(content.len() as u64)) }
}

/// A column is shorter or longer than it should be.
pub fn wrong_length(value: u64) -> TraceFault {
    TraceFault::Field { name: "the length of a column", value }
}
