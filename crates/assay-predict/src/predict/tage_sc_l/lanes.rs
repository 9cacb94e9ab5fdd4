//! Which lanes of two rows are equal to those of a third one, as bits.
//!
//! A table whose tag is the branch's is found for all tables at once: baseline x86-64 compares eight lanes in one
//! instruction and makes one number of the results. Compared one by one, as a compiler does it from plain Rust, the
//! TAGE of 64 KB took up to 24 % longer (Zen 5).
//! Checked: against lanes compared one by one, below.
#![allow(
    unsafe_code,
    reason = "instructions that every x86-64 CPU has are still called unsafe without a level"
)]

use super::folds::LANES;

/// One value for each lane. Written out, because a loop over constants is not always unrolled.
#[inline(always)]
pub fn lanes(of: impl Fn(usize) -> u16) -> [u16; LANES] {
    let four = |from: usize| [of(from), of(from + 1), of(from + 2), of(from + 3)];
    let [a, b, c, d] = [four(0), four(4), four(8), four(12)];
    [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3], d[0], d[1], d[2], d[3]]
}

/// Where two rows of lanes equal a third one: for each lane a bit of the first row, then one of the second.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn equal_lanes(rows: [[u16; LANES]; 2], to: [u16; LANES]) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set_epi16, _mm_unpackhi_epi8,
        _mm_unpacklo_epi8,
    };
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let half = |of: &[u16; LANES], from: usize| -> __m128i {
            let at = |nth: usize| of[from + nth] as i16;
            _mm_set_epi16(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0))
        };
        let equal = |row: &[u16; LANES], from: usize| _mm_cmpeq_epi16(half(row, from), half(&to, from));
        let [first, second] = rows.map(|row| _mm_packs_epi16(equal(&row, 0), equal(&row, LANES / 2)));
        let low = _mm_movemask_epi8(_mm_unpacklo_epi8(first, second)) as u32;
        let high = _mm_movemask_epi8(_mm_unpackhi_epi8(first, second)) as u32;
        low | high << LANES
    }
}

/// Where two rows of lanes equal a third one: for each lane a bit of the first row, then one of the second.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn equal_lanes(rows: [[u16; LANES]; 2], to: [u16; LANES]) -> u32 {
    equal_one_by_one(&rows, &to)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn equal_one_by_one(rows: &[[u16; LANES]; 2], to: &[u16; LANES]) -> u32 {
    let bit = |lane: usize, row: usize| u32::from(rows[row][lane] == to[lane]) << (2 * lane + row);
    (0..LANES).fold(0, |bits, lane| bits | bit(lane, 0) | bit(lane, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_numbered_from_0() {
        let numbers = lanes(|lane| lane as u16);
        assert_eq!(numbers.to_vec(), (0..LANES as u16).collect::<Vec<u16>>());
    }

    #[test]
    fn each_lane_has_its_bit_in_either_row() {
        let to = lanes(|lane| 0x8000 | (lane as u16 * 77));
        for lane in 0..LANES {
            for row in 0..2 {
                let mut rows = [lanes(|_| 0), lanes(|_| 0x7fff)];
                rows[row][lane] = to[lane];
                assert_eq!(equal_lanes(rows, to), 1 << (2 * lane + row));
                assert_eq!(equal_lanes(rows, to), equal_one_by_one(&rows, &to));
            }
        }
        assert_eq!(equal_lanes([to, to], to), !0);
        let nearly = lanes(|lane| to[lane] ^ (1 << lane));
        assert_eq!(equal_lanes([nearly, to], to), 0xaaaa_aaaa);
    }
}
