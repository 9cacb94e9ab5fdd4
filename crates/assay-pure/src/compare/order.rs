//! The order of one round: every placement once, all sides next to each other.
//!
//! Method: placements in random order; within one, two sides in the order AB or BA, balanced over the round and flipped
//! in the next, so that neither always runs after the other. More than two take the rows of a Williams design, in which
//! each runs after each other one equally often, dealt out over the placements and reversed in the next round. All sides
//! of a placement get the same surroundings, drawn anew for every placement and round: what they do to all cancels, what
//! they do to one is averaged.

use super::VisitPlacement;
use crate::experiment::Surroundings;
use crate::experiment::williams;
use assay_numbers::choices::SeededChoices;

/// Paddings of one rotation, bytes: every phase of a cache line at the usual alignment of functions.
pub const PHASES: [u32; 4] = [0, 16, 32, 48];

/// Purposes of random choices. Never renumber.
const PLACES: u64 = 101;
const FIRST: u64 = 102;
const VISIT: u64 = 103;

/// One run of the benchmark command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Whose binaries: the number of the side.
    pub side: usize,
    /// Which link of them.
    pub place: VisitPlacement,
    /// Drawn for this visit.
    pub surroundings: Surroundings,
}

/// The visits of round `round` over `rotations` shuffles, as many `phases` of each, and the link as built.
///
/// Input: the seed of the comparison; how many sides. Returns: (1 + rotations × phases) × sides visits. The same seed
/// gives the same order for ever.
pub fn round(seed: u64, round: u32, rotations: u32, phases: &[u32], sides: usize) -> Vec<Visit> {
    let mut places = vec![VisitPlacement::AsBuilt];
    for rotation in 0..rotations {
        places.extend(phases.iter().map(|phase| VisitPlacement::Placed { rotation, phase_bytes: *phase }));
    }
    SeededChoices::new(seed, &[PLACES, round.into()]).shuffle(&mut places);
    // The pair of rounds 2n and 2n + 1 shares its rows, so that a placement has seen each order both ways after a pair.
    let rows = williams::rows(sides).max(1);
    let mut dealt: Vec<usize> = (0..places.len()).map(|place| (place + 1) % rows).collect();
    SeededChoices::new(seed, &[FIRST, (round / 2).into()]).shuffle(&mut dealt);
    let mut ordered = places.clone();
    ordered.sort();
    let mut visits = Vec::with_capacity(places.len() * sides);
    for (number, place) in places.into_iter().enumerate() {
        let surroundings = Surroundings::draw(seed, &[VISIT, round.into(), number as u64]);
        let rank = ordered.binary_search(&place).expect("it is one of them");
        let mut order = williams::row(sides, dealt[rank]);
        if round % 2 == 1 {
            order.reverse();
        }
        visits.extend(order.into_iter().map(|side| Visit { side, place, surroundings }));
    }
    visits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn places(visits: &[Visit]) -> Vec<VisitPlacement> {
        visits.iter().map(|visit| visit.place).collect()
    }

    #[test]
    fn every_side_visits_every_place_once_and_next_to_the_other() {
        let visits = round(7, 0, 3, &PHASES, 2);
        assert_eq!(visits.len(), 2 * (1 + 3 * 4));
        let met: HashSet<(usize, VisitPlacement)> =
            visits.iter().map(|visit| (visit.side, visit.place)).collect();
        assert_eq!(met.len(), visits.len());
        for pair in visits.chunks(2) {
            assert_eq!(pair[0].place, pair[1].place);
            assert_eq!(pair[0].surroundings, pair[1].surroundings);
            assert_ne!(pair[0].side, pair[1].side);
        }
    }

    #[test]
    fn each_side_goes_first_as_often_and_in_turn() {
        let first = |number: u32| -> HashSet<(VisitPlacement, usize)> {
            let visits = round(7, number, 3, &PHASES, 2);
            visits.chunks(2).map(|pair| (pair[0].place, pair[0].side)).collect()
        };
        let (even, odd) = (first(4), first(5));
        let baseline = even.iter().filter(|(_, side)| *side == 0).count();
        assert!((6..=7).contains(&baseline), "{baseline} of 13");
        assert!(even.is_disjoint(&odd), "what came first comes second in the next round");
    }

    #[test]
    fn two_sides_keep_the_orders_that_ledgers_know() {
        // As before there were more than two: a coin per placement, turned over in the next round.
        for number in 0..4 {
            let mut first: Vec<bool> = (0..9).map(|place| place % 2 == 0).collect();
            SeededChoices::new(7, &[FIRST, (number / 2).into()]).shuffle(&mut first);
            let mut visits = round(7, number, 2, &PHASES, 2);
            visits.sort_by_key(|visit| visit.place);
            for (pair, first) in visits.chunks(2).zip(first) {
                let turned = first ^ (number % 2 == 1);
                assert_eq!(pair[0].side, usize::from(turned));
            }
        }
    }

    #[test]
    fn of_many_sides_each_follows_each_other_one_about_as_often() {
        let mut after = [[0_u32; 5]; 5];
        for number in 0..2 {
            // 21 placements, of 10 rows each is dealt at least twice.
            for of_place in round(3, number, 5, &PHASES, 5).chunks(5) {
                let sides: HashSet<usize> = of_place.iter().map(|visit| visit.side).collect();
                assert_eq!(sides.len(), 5, "each once");
                assert!(of_place.iter().all(|visit| visit.place == of_place[0].place));
                assert!(of_place.iter().all(|visit| visit.surroundings == of_place[0].surroundings));
                for pair in of_place.windows(2) {
                    after[pair[0].side][pair[1].side] += 1;
                }
            }
        }
        // 42 placements of 4 neighbours over 20 ordered pairs: 8.4 of each.
        for (one, row) in after.iter().enumerate() {
            for (other, found) in row.iter().enumerate().filter(|(other, _)| *other != one) {
                assert!((8..=10).contains(found), "{other} after {one}: {found}");
            }
        }
    }

    #[test]
    fn rounds_and_seeds_differ_and_repeat() {
        let of = |seed, number| round(seed, number, 3, &PHASES, 2);
        assert_eq!(of(7, 1), of(7, 1));
        assert_ne!(places(&of(7, 1)), places(&of(7, 2)));
        assert_ne!(places(&of(7, 1)), places(&of(8, 1)));
        assert_ne!(of(7, 1)[0].surroundings, of(7, 2)[0].surroundings);
    }

    #[test]
    fn every_placement_of_a_round_has_surroundings_of_its_own() {
        let visits: Vec<Visit> = (0..40).flat_map(|number| round(1, number, 8, &PHASES, 1)).collect();
        let met: HashSet<Surroundings> = visits.iter().map(|visit| visit.surroundings).collect();
        assert!(met.len() > visits.len() / 2, "{} of {}", met.len(), visits.len());
        let stacks: HashSet<usize> = visits.iter().map(|visit| visit.surroundings.stack_bytes % 64).collect();
        assert_eq!(stacks.len(), 4);
        let drawn = visits.iter().filter(|visit| visit.surroundings.aslr).count();
        assert!((visits.len() * 2 / 5..visits.len() * 3 / 5).contains(&drawn), "{drawn}");
    }
}
