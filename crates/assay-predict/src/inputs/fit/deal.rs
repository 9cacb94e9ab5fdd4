//! Windows of a recording in an order in which any stretch of them has something of every part.
//!
//! A visit is timed on some windows that follow each other. In a recording that changes as it goes it matters which, by
//! more than what is asked of the whole, and the intervals say so. Dealt out by a step near the golden section of their
//! number, any few windows lie evenly over the recording, so each visit is much the same sample of it. Within a window
//! nothing is moved; predictors meet a seam where one begins, as calls from elsewhere would give them.
//!
//! Checked: each byte comes once; every tenth of a recording has its share of any stretch.

use crate::inputs::{Format, FormatError};

/// The bytes with their windows of so many units dealt out; a last window that is not full stays last.
///
/// Input: bytes of the format, and units per window; 0 is one window, which stays as it is.
///
/// # Errors
/// The bytes are not of the format.
pub fn deal(bytes: &[u8], format: Format, window_units: u64) -> Result<Vec<u8>, FormatError> {
    let windows = format.windows(bytes, window_units)?;
    let full = windows.iter().take_while(|window| window.units == window_units).count();
    let order = (0..full).map(|turn| turn * step(full) % full).chain(full..windows.len());
    let range = |at: usize| windows[at].offset as usize..(windows[at].offset + windows[at].size) as usize;
    Ok(order.flat_map(|at| &bytes[range(at)]).copied().collect())
}

/// The number nearest to the golden section of `count` that has no divisor with it in common.
fn step(count: usize) -> usize {
    let middle = (count as f64 * 0.618_033_988_75).round() as usize;
    (0..=count)
        .flat_map(|off| [middle.saturating_sub(off), middle + off])
        .find(|&step| divisor(step, count) == 1)
        .unwrap_or(1)
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_comes_once_and_the_rest_last() {
        // Windows of two values: 1 and 128, 2 and 129, ...; and one value left over.
        let bytes: Vec<u8> = (0..7).flat_map(|at| [at + 1, 0x80 + at, 1]).chain([99]).collect();
        let dealt = deal(&bytes, Format::Varint, 2).expect("varints");
        assert_eq!(dealt.len(), bytes.len());
        assert_eq!(dealt.last(), Some(&99));
        // Of seven windows a step of four (0.618 × 7 = 4.3).
        let firsts: Vec<u8> = dealt[..21].chunks(3).map(|window| window[0]).collect();
        assert_eq!(firsts, [1, 5, 2, 6, 3, 7, 4]);
        assert!(dealt[..21].chunks(3).all(|window| window[1] == 0x7f + window[0] && window[2] == 1));
    }

    #[test]
    fn one_window_none_and_malformed_bytes_stay_what_they_are() {
        assert_eq!(deal(&[1, 2, 3], Format::Varint, 0), Ok(vec![1, 2, 3]));
        assert_eq!(deal(&[], Format::Varint, 4), Ok(vec![]));
        assert_eq!(deal(&[1, 2, 3], Format::Varint, 3), Ok(vec![1, 2, 3]));
        assert!(deal(&[0x80], Format::Varint, 4).is_err());
    }

    #[test]
    fn any_stretch_has_its_share_of_every_part() {
        for count in [20, 64, 100, 105, 144, 210, 256, 1000] {
            let order: Vec<usize> = (0..count).map(|turn| turn * step(count) % count).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count), "{count}");
            // Of each 20 that follow each other, each fifth of the whole has four, give or take two.
            for start in 0..count {
                let mut found = [0i32; 5];
                (start..start + 20).for_each(|turn| found[order[turn % count] * 5 / count] += 1);
                assert!(found.iter().all(|&found| (found - 4).abs() <= 2), "{count}: {found:?}");
            }
        }
    }
}
