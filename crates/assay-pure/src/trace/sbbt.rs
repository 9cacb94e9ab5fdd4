//! SBBT 1.0.0, MBPlib's binary format of branches, uncompressed.
//!
//! A header of 24 bytes (`SBBT\n`, three version bytes, instructions and branches as u64), then 16 bytes per branch, little
//! endian: word 0 = class in bits 3:0, zeros in 10:4, outcome in bit 11, bits 51:0 of the address above; word 1 =
//! instructions since the previous branch, this one included, in bits 11:0, bits 51:0 of the target above. Addresses are
//! sign-extended. Source: the format's facts as MBPlib documents them.

use super::{Branch, Class, Site};
use std::collections::HashMap;

const HEADER_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;
const MAGIC: [u8; 8] = [b'S', b'B', b'B', b'T', b'\n', 1, 0, 0];

/// What is wrong with a file that should be SBBT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SbbtError {
    /// It does not begin as SBBT 1.0.0 does.
    NotSbbt,
    /// It ends in the middle of a record.
    Truncated {
        /// Whole records there are.
        have: u64,
        /// Records that the header promises.
        promised: u64,
    },
    /// A record's class or its zero bits are impossible.
    BadRecord {
        /// Which, from 0.
        record: u64,
    },
}

impl std::fmt::Display for SbbtError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SbbtError::NotSbbt => f.write_str("this is no SBBT 1.0.0 file: it does not begin with `SBBT`"),
            SbbtError::Truncated { have, promised } => {
                write!(f, "the file ends after {have} of {promised} branches")
            }
            SbbtError::BadRecord { record } => write!(f, "branch {record} has a class that does not exist"),
        }
    }
}

impl std::error::Error for SbbtError {}

/// The sites, in the order of their first appearance, and the branches of a whole uncompressed file.
///
/// # Errors
/// Another format, too few records, an impossible record.
pub fn decode(bytes: &[u8]) -> Result<(Vec<Site>, Vec<Branch>), SbbtError> {
    let (header, records) = bytes.split_at_checked(HEADER_BYTES).ok_or(SbbtError::NotSbbt)?;
    if header[..8] != MAGIC {
        return Err(SbbtError::NotSbbt);
    }
    let promised = word(&header[16..]);
    let have = (records.len() / RECORD_BYTES) as u64;
    if have < promised {
        return Err(SbbtError::Truncated { have, promised });
    }
    let mut sites = Vec::new();
    let mut numbers: HashMap<(u64, u8), u32> = HashMap::new();
    let mut branches = Vec::with_capacity(promised as usize);
    for (number, record) in records.chunks_exact(RECORD_BYTES).take(promised as usize).enumerate() {
        let (first, second) = (word(record), word(&record[8..]));
        let class = Class::from_bits(first as u8 & 15).filter(|_| first >> 4 & 0x7f == 0);
        let class = class.ok_or(SbbtError::BadRecord { record: number as u64 })?;
        let (pc, target) = (address(first), address(second));
        let site = *numbers.entry((pc, class.bits())).or_insert_with(|| {
            let target = (!class.is_indirect()).then_some(target);
            sites.push(Site { pc, length: 0, class, target });
            sites.len() as u32 - 1
        });
        branches.push(Branch::new(pc, target, site, class, first >> 11 & 1 != 0, second as u32 & 0xfff));
    }
    Ok((sites, branches))
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
}

fn address(word: u64) -> u64 {
    (word as i64 >> 12) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(records: &[[u64; 2]]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(100u64.to_le_bytes());
        bytes.extend((records.len() as u64).to_le_bytes());
        bytes.extend(records.iter().flatten().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    #[test]
    fn reads_a_record_field_by_field_and_extends_the_sign_of_addresses() {
        let kernel = 0xffff_8000_0000_1000u64;
        let bytes = file(&[[0x40_1000 << 12 | 1 << 11 | 1, 0x40_2000 << 12 | 17], [kernel << 12 | 6, 4095]]);
        let (sites, branches) = decode(&bytes).unwrap();
        assert_eq!(branches[0], Branch::new(0x40_1000, 0x40_2000, 0, Class::CONDITIONAL, true, 17));
        assert_eq!(branches[1], Branch::new(kernel, 0, 1, Class::RETURN, false, 4095));
        assert_eq!(sites[0].target, Some(0x40_2000));
        assert_eq!(sites[1].target, None);
    }

    #[test]
    fn refuses_another_format_a_truncated_file_and_an_impossible_record() {
        assert_eq!(decode(b"BT9_SPA_TRACE_FORMAT and more text"), Err(SbbtError::NotSbbt));
        let whole = file(&[[1, 0], [1, 0]]);
        let cut = decode(&whole[..whole.len() - 1]);
        assert_eq!(cut, Err(SbbtError::Truncated { have: 1, promised: 2 }));
        assert_eq!(decode(&file(&[[1, 0], [13, 0]])), Err(SbbtError::BadRecord { record: 1 }));
        assert_eq!(decode(&file(&[[1 << 5, 0]])), Err(SbbtError::BadRecord { record: 0 }));
    }
}
