//! Exactly so many of a number of places, each set of them equally likely, in one pass: algorithm S (Knuth, "The Art of
//! Computer Programming" 2, 3.4.2). Independent draws have the share that was asked for only on average: of a million, a
//! share of 1 % is off by 1 % of itself.
//!
//! Checked: counts are exact, and every set comes equally often.

use super::Draw;

/// Places that are still to be asked, and how many of them are still to be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::inputs) struct Selection {
    chosen: u64,
    places: u64,
}

impl Selection {
    /// So many of the places; all of them where more are wanted.
    pub(in crate::inputs) fn new(chosen: u64, places: u64) -> Selection {
        Selection { chosen: chosen.min(places), places }
    }

    /// The number of places nearest to a share of them, from 0 to 1.
    pub(in crate::inputs) fn share(share: f64, places: u64) -> Selection {
        Selection::new((share * places as f64).round() as u64, places)
    }

    /// Whether a stretch ends here: at a chosen place, and where there is none any more. Draws as [`Selection::next`].
    pub(in crate::inputs) fn ends(&mut self, draw: &mut Draw) -> bool {
        self.places == 0 || self.next(draw)
    }

    /// Whether the next place is chosen. Takes one draw, and one more for each rejected; none beyond the last place.
    pub(in crate::inputs) fn next(&mut self, draw: &mut Draw) -> bool {
        if self.places == 0 {
            return false;
        }
        let chosen = draw.below(self.places) < self.chosen;
        self.places -= 1;
        self.chosen -= u64::from(chosen);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_the_size_that_was_asked_for_comes_equally_often() {
        let mut draw = Draw::new(4);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let mut selection = Selection::new(3, 6);
            let set: Vec<bool> = (0..6).map(|_| selection.next(&mut draw)).collect();
            assert_eq!(set.iter().filter(|&&chosen| chosen).count(), 3);
            *counts.entry(set).or_insert(0u32) += 1;
        }
        // Chi-squared with 19 degrees of freedom: the 0.9999 quantile is 51.
        let statistic: f64 = counts.values().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
        assert!(counts.len() == 20 && statistic < 51.0, "{statistic} {counts:?}");
    }

    #[test]
    fn none_all_and_more_than_all() {
        let mut draw = Draw::new(4);
        let mut of = |mut selection: Selection| (0..5).filter(|_| selection.next(&mut draw)).count();
        assert_eq!((of(Selection::new(0, 5)), of(Selection::new(5, 5)), of(Selection::new(9, 5))), (0, 5, 5));
        assert_eq!((of(Selection::share(0.5, 4)), of(Selection::share(1.0, 3))), (2, 3));
    }
}
