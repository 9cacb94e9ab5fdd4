//! Whether a sequence repeats, and how soon: the failure function of Knuth, Morris and Pratt.
//!
//! The longest proper prefix that is also a suffix has length b exactly when n - b is the smallest period, so one pass
//! over the sequence finds it (Knuth, Morris, Pratt, "Fast pattern matching in strings", SIAM J. Comput. 6(2), 1977).
//! Checked: against the definition tried out on all short sequences.

/// The smallest p of at least 1 such that `sequence[i] == sequence[i + p]` wherever both exist.
///
/// Returns the length itself if nothing repeats, and nearly so if the end happens to begin like the start; 0 when empty.
/// Cost: at most two comparisons per element, eight bytes of memory per element.
pub(super) fn period<T: PartialEq>(sequence: &[T]) -> usize {
    let Some((first, rest)) = sequence.split_first() else { return 0 };
    // borders[i]: length of the longest proper prefix of sequence[..=i] that is also its suffix.
    let mut borders = Vec::with_capacity(sequence.len());
    borders.push(0);
    let mut border = 0;
    for element in rest {
        while border > 0 && sequence[border] != *element {
            border = borders[border - 1];
        }
        if border > 0 || first == element {
            border += 1;
        }
        borders.push(border);
    }
    sequence.len() - border
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_definition(sequence: &[u8]) -> usize {
        (1..=sequence.len()).find(|&p| sequence.iter().zip(&sequence[p..]).all(|(a, b)| a == b)).unwrap_or(0)
    }

    #[test]
    fn agrees_with_the_definition_on_all_sequences_of_three_symbols_up_to_eight_long() {
        for length in 0..=8u32 {
            for code in 0..3u32.pow(length) {
                let sequence: Vec<u8> = (0..length).map(|place| (code / 3u32.pow(place) % 3) as u8).collect();
                assert_eq!(period(&sequence), by_definition(&sequence), "{sequence:?}");
            }
        }
    }

    #[test]
    fn finds_a_stretch_repeated_with_a_remainder() {
        let stretch: Vec<u32> =
            (0..1000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 30).chain([9]).collect();
        let mut sequence = stretch.repeat(7);
        sequence.extend(&stretch[..500]);
        assert_eq!(period(&sequence), 1001);
        // One change near the end, and it is no longer a repetition.
        sequence[7200] = 8;
        assert!(period(&sequence) > 7000);
    }
}
