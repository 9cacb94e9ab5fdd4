//! A list from what was inserted where: the values 0, 1, ... one after another, each so many places before the end.
//!
//! A block of values is kept as their places in the list that there is after its last one, in order. Two neighbouring blocks
//! become one by a merge: each of the later values that comes to stand before an earlier one moves it back by one place. So all
//! is read and written in order, where looking for the free places of a list, from its last value back, jumps through memory:
//! 25 million values took 7 times as long. A merge of two equal blocks runs from both ends at once and has no jump that values
//! decide.
//!
//! Checked: against inserting into a list.

/// Values of the smallest blocks, which are put in order by comparing all with all.
const SMALLEST: usize = 16;

/// Values that are merged while they are in the cache; as many merges make it of the smallest as leave them where they began.
const RESIDENT: usize = SMALLEST << 10;

/// Places that a value moves back on average, up to which memory moves are faster.
const FEW_MOVES: u64 = 256;

/// A place in the upper half, the value that stands there in the lower: they are compared and moved as one.
type Placed = u64;

const ONE_PLACE: Placed = 1 << 32;

/// The list, by how many places before the end each value was inserted: at most as many as there were values; fewer than 2^31.
pub(super) fn inserted(before_end: &[u32]) -> impl ExactSizeIterator<Item = u32> + use<> {
    let moves: u64 = before_end.iter().map(|&count| u64::from(count)).sum();
    let blocks =
        if moves <= FEW_MOVES * before_end.len() as u64 { shifted(before_end) } else { merged(before_end) };
    blocks.into_iter().map(|placed| placed as u32)
}

/// By memory moves, which is fastest while values move little.
fn shifted(before_end: &[u32]) -> Vec<Placed> {
    let mut list = Vec::with_capacity(before_end.len());
    for (value, &count) in (0..).zip(before_end) {
        list.insert(list.len() - count as usize, value);
    }
    list
}

fn merged(before_end: &[u32]) -> Vec<Placed> {
    let mut blocks: Vec<Placed> = Vec::with_capacity(before_end.len());
    let mut spare = vec![0; RESIDENT.min(before_end.len())];
    for counts in before_end.chunks(RESIDENT) {
        let from = blocks.len();
        for counts in counts.chunks(SMALLEST) {
            smallest(counts, &mut blocks);
        }
        let (mut these, mut merged) = (&mut blocks[from..], &mut spare[..counts.len()]);
        let mut width = SMALLEST;
        while width < RESIDENT {
            merge_pairs(these, merged, width);
            std::mem::swap(&mut these, &mut merged);
            width *= 2;
        }
    }
    let mut merged = if blocks.len() > RESIDENT { vec![0; blocks.len()] } else { Vec::new() };
    let mut width = RESIDENT;
    while width < blocks.len() {
        merge_pairs(&blocks, &mut merged, width);
        std::mem::swap(&mut blocks, &mut merged);
        width *= 2;
    }
    blocks
}

/// Appends the block of the next values, of which as many are there as `blocks` has.
fn smallest(counts: &[u32], blocks: &mut Vec<Placed>) {
    const ABSENT: i32 = i32::MAX;
    let from = blocks.len();
    let mut places = [ABSENT; SMALLEST];
    for (nth, &count) in counts.iter().enumerate() {
        let place = (from + nth) as i32 - count as i32;
        for other in &mut places {
            *other += i32::from(*other >= place) & i32::from(*other != ABSENT);
        }
        places[nth] = place;
    }
    let mut block = [0; SMALLEST];
    for (nth, &place) in places[..counts.len()].iter().enumerate() {
        let before: i32 = places.iter().map(|&other| i32::from(other < place)).sum();
        block[before as usize] = (place as Placed) << 32 | (from + nth) as Placed;
    }
    blocks.extend_from_slice(&block[..counts.len()]);
}

/// Merges each pair of blocks of this width; the last may be shorter or alone.
fn merge_pairs(blocks: &[Placed], merged: &mut [Placed], width: usize) {
    for (pair, merged) in blocks.chunks(2 * width).zip(merged.chunks_mut(2 * width)) {
        let (earlier, later) = pair.split_at(width.min(pair.len()));
        if earlier.len() == later.len() {
            merge_equal(earlier, later, merged);
        } else {
            merge(earlier, later, merged);
        }
    }
}

/// An earlier value stands as many places further back as later ones are before it.
fn merge(earlier: &[Placed], later: &[Placed], merged: &mut [Placed]) {
    let (mut left, mut right) = (0, 0);
    for placed in merged {
        let moved = earlier.get(left).map(|one| one + right as Placed * ONE_PLACE);
        *placed = match (moved, later.get(right)) {
            (Some(moved), Some(&next)) if next >> 32 > moved >> 32 => moved,
            (Some(moved), None) => moved,
            (_, next) => {
                right += 1;
                *next.expect("one for each place")
            }
        };
        left += usize::from(moved == Some(*placed));
    }
}

/// The first half of the result from the beginning of both, the second from their ends: neither can run out.
fn merge_equal(earlier: &[Placed], later: &[Placed], merged: &mut [Placed]) {
    let half = earlier.len();
    let later = &later[..half];
    let (first, second) = merged.split_at_mut(half);
    let (mut left, mut right) = (0, 0);
    let (mut last_left, mut last_right) = (half - 1, half - 1);
    for at in 0..half {
        let (moved, next) = (earlier[left] + right as Placed * ONE_PLACE, later[right]);
        let of_later = next >> 32 <= moved >> 32;
        first[at] = if of_later { next } else { moved };
        right += usize::from(of_later);
        left = at + 1 - right;

        let (one, next) = (earlier[last_left], later[last_right]);
        // With all later ones but the last before it, does it still stand behind that?
        let of_earlier = next >> 32 <= (one >> 32) + last_right as Placed;
        let moved = one + (last_right as Placed + 1) * ONE_PLACE;
        second[half - 1 - at] = if of_earlier { moved } else { next };
        last_left = last_left.wrapping_sub(usize::from(of_earlier));
        last_right = last_right.wrapping_sub(usize::from(!of_earlier));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::draw::Draw;

    fn values(blocks: Vec<Placed>) -> impl Iterator<Item = u32> {
        blocks.into_iter().map(|placed| placed as u32)
    }

    #[test]
    fn values_stand_where_inserting_them_one_by_one_puts_them() {
        let mut draw = Draw::new(9);
        let lengths =
            (0..=70).chain([255, 256, 257, 1000, RESIDENT, RESIDENT + 1, 2 * RESIDENT + 37, 50_000]);
        for units in lengths {
            for bound in [1, 7, units as u64] {
                let counts: Vec<u32> =
                    (0..units as u64).map(|at| draw.below(at.min(bound) + 1) as u32).collect();
                assert!(values(merged(&counts)).eq(values(shifted(&counts))), "{units} values, {bound}");
            }
        }
    }

    #[test]
    fn the_ends_of_what_can_be_asked_for_are_in_and_against_order() {
        for units in [1, 16, 33, 40_000_u32] {
            let (none, all) = (vec![0; units as usize], (0..units).collect::<Vec<u32>>());
            for way in [merged, shifted] {
                assert!(values(way(&none)).eq(0..units) && values(way(&all)).eq((0..units).rev()));
            }
            assert!(inserted(&all).eq((0..units).rev()));
        }
    }
}
