//! Orders in which every treatment follows every other equally often.
//!
//! Source: E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments",
//! Australian Journal of Scientific Research A 2 (1949). For an even count n the n cyclic shifts of
//! 0, 1, n-1, 2, n-2, ... are a Latin square in which each ordered pair of neighbours occurs once. For an odd count
//! no such construction exists; the square and its mirror image together have each ordered pair twice.
//!
//! Checked: exhaustively for 1 to 16 treatments.

/// Rows of the design for `count` treatments: 1 for one, `count` if even, `2 * count` if odd; 0 for none.
pub(crate) fn rows(count: usize) -> usize {
    match count {
        0 | 1 => count,
        even if even % 2 == 0 => even,
        odd => 2 * odd,
    }
}

/// Row `row` (below [`rows`]) of the design: the numbers `0..count`, each once.
pub(crate) fn row(count: usize, row: usize) -> Vec<usize> {
    let shift = row % count.max(1);
    let mut order: Vec<usize> = (0..count)
        .map(|place| {
            // 0, 1, -1, 2, -2, ...: the differences of neighbours are all different modulo an even count.
            let zigzag = if place % 2 == 1 { place.div_ceil(2) } else { count - place / 2 };
            (zigzag + shift) % count
        })
        .collect();
    if row >= count {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often `after` follows `before`, over all rows.
    fn neighbours(count: usize) -> Vec<Vec<usize>> {
        let mut found = vec![vec![0; count]; count];
        for index in 0..rows(count) {
            for pair in row(count, index).windows(2) {
                found[pair[0]][pair[1]] += 1;
            }
        }
        found
    }

    #[test]
    fn has_each_ordered_pair_of_neighbours_equally_often() {
        for count in 2..=16 {
            let times = rows(count) / count;
            for (before, row) in neighbours(count).iter().enumerate() {
                for (after, &found) in row.iter().enumerate() {
                    let expected = if before == after { 0 } else { times };
                    assert_eq!(found, expected, "{after} after {before} of {count}");
                }
            }
        }
    }

    #[test]
    fn has_each_treatment_at_each_place_equally_often() {
        for count in 1..=16 {
            for place in 0..count {
                let mut found = vec![0; count];
                for index in 0..rows(count) {
                    found[row(count, index)[place]] += 1;
                }
                assert_eq!(found, vec![rows(count) / count; count], "place {place} of {count}");
            }
        }
    }

    #[test]
    fn gives_the_published_rows_for_four_treatments() {
        let found: Vec<_> = (0..rows(4)).map(|index| row(4, index)).collect();
        assert_eq!(found, [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]);
    }

    #[test]
    fn mirrors_the_square_for_three_treatments() {
        let found: Vec<_> = (0..rows(3)).map(|index| row(3, index)).collect();
        assert_eq!(found, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [1, 0, 2]]);
    }

    #[test]
    fn has_one_row_for_one_treatment_and_none_for_none() {
        assert_eq!((rows(1), row(1, 0)), (1, vec![0]));
        assert_eq!(rows(0), 0);
        assert!(row(0, 0).is_empty());
    }
}
