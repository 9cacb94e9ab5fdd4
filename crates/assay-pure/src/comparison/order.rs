//! The order of one round: every placement once, both sides next to each other.
//!
//! Method: placements in random order; within one, the sides in the order AB or BA, balanced over the round and flipped
//! in the next, so that neither always runs after the other. Both sides of a placement get the same surroundings, drawn
//! anew for every placement and round: what they do to both cancels, what they do to one is averaged.

use super::{Place, Side};
use crate::experiment::Surroundings;
use crate::experiment::order::Order;

/// Paddings of one rotation, bytes: every phase of a cache line at the usual alignment of functions.
pub const PHASES: [u32; 4] = [0, 16, 32, 48];

/// Purposes of random choices. Never renumber.
const PLACES: u64 = 101;
const FIRST: u64 = 102;
const VISIT: u64 = 103;

/// One run of the benchmark command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Whose binaries.
    pub side: Side,
    /// Which link of them.
    pub place: Place,
    /// Drawn for this visit.
    pub surroundings: Surroundings,
}

/// The visits of round `round` over `rotations` shuffles, as many `phases` of each, and the link as built.
///
/// Input: the seed of the comparison; the sides, one or both. Returns: (1 + rotations × phases) × sides visits. The same
/// seed gives the same order for ever.
pub fn round(seed: u64, round: u32, rotations: u32, phases: &[u32], sides: &[Side]) -> Vec<Visit> {
    let mut places = vec![Place::AsBuilt];
    for rotation in 0..rotations {
        places.extend(phases.iter().map(|phase| Place::Placed { rotation, phase_bytes: *phase }));
    }
    Order::new(seed, &[PLACES, round.into()]).shuffle(&mut places);
    // The pair of rounds 2n and 2n + 1 shares its coin, so that a placement has seen both orders after each pair.
    let mut first: Vec<bool> = (0..places.len()).map(|place| place % 2 == 0).collect();
    Order::new(seed, &[FIRST, (round / 2).into()]).shuffle(&mut first);
    let mut ordered = places.clone();
    ordered.sort();
    let mut visits = Vec::with_capacity(places.len() * sides.len());
    for (number, place) in places.into_iter().enumerate() {
        let surroundings = Surroundings::draw(seed, &[VISIT, round.into(), number as u64]);
        let rank = ordered.binary_search(&place).expect("it is one of them");
        let turned = first[rank] ^ (round % 2 == 1);
        let mut of_place: Vec<Visit> =
            sides.iter().map(|side| Visit { side: *side, place, surroundings }).collect();
        if turned {
            of_place.reverse();
        }
        visits.extend(of_place);
    }
    visits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn places(visits: &[Visit]) -> Vec<Place> {
        visits.iter().map(|visit| visit.place).collect()
    }

    #[test]
    fn every_side_visits_every_place_once_and_next_to_the_other() {
        let visits = round(7, 0, 3, &PHASES, &Side::BOTH);
        assert_eq!(visits.len(), 2 * (1 + 3 * 4));
        let met: HashSet<(Side, Place)> = visits.iter().map(|visit| (visit.side, visit.place)).collect();
        assert_eq!(met.len(), visits.len());
        for pair in visits.chunks(2) {
            assert_eq!(pair[0].place, pair[1].place);
            assert_eq!(pair[0].surroundings, pair[1].surroundings);
            assert_ne!(pair[0].side, pair[1].side);
        }
    }

    #[test]
    fn each_side_goes_first_as_often_and_in_turn() {
        let first = |number: u32| -> HashSet<(Place, Side)> {
            let visits = round(7, number, 3, &PHASES, &Side::BOTH);
            visits.chunks(2).map(|pair| (pair[0].place, pair[0].side)).collect()
        };
        let (even, odd) = (first(4), first(5));
        let baseline = even.iter().filter(|(_, side)| *side == Side::Baseline).count();
        assert!((6..=7).contains(&baseline), "{baseline} of 13");
        assert!(even.is_disjoint(&odd), "what came first comes second in the next round");
    }

    #[test]
    fn rounds_and_seeds_differ_and_repeat() {
        let of = |seed, number| round(seed, number, 3, &PHASES, &Side::BOTH);
        assert_eq!(of(7, 1), of(7, 1));
        assert_ne!(places(&of(7, 1)), places(&of(7, 2)));
        assert_ne!(places(&of(7, 1)), places(&of(8, 1)));
        assert_ne!(of(7, 1)[0].surroundings, of(7, 2)[0].surroundings);
    }

    #[test]
    fn every_placement_of_a_round_has_surroundings_of_its_own() {
        let visits: Vec<Visit> =
            (0..40).flat_map(|number| round(1, number, 8, &PHASES, &[Side::Baseline])).collect();
        let met: HashSet<Surroundings> = visits.iter().map(|visit| visit.surroundings).collect();
        assert!(met.len() > visits.len() / 2, "{} of {}", met.len(), visits.len());
        let stacks: HashSet<usize> = visits.iter().map(|visit| visit.surroundings.stack_bytes % 64).collect();
        assert_eq!(stacks.len(), 4);
        let drawn = visits.iter().filter(|visit| visit.surroundings.aslr).count();
        assert!((visits.len() * 2 / 5..visits.len() * 3 / 5).contains(&drawn), "{drawn}");
    }
}
