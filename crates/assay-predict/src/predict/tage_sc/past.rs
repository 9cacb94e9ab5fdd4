//! What the tagged tables see of all branches: five bits of each, folded over a length of past for each table, and a path.
//!
//! A fold turns by five bits with each branch. In a frame that turns along, a bit stays where it came in and leaves from
//! there, so one running exclusive or serves all lengths: that of now over that of a length ago is the fold. The three
//! widths (23, 13 and 14 bits) have a frame each, and nothing is done for each table until a branch asks.
//!
//! Source: P. Michaud, "A PPM-like, tag-based branch predictor" (JILP 7, 2005) for folding; the turning frame is ours.
//! Checked: against folds made anew from all bits.

use crate::trace::Branch;

/// Tagged tables.
pub const TABLES: usize = 28;
/// Tables are lanes, the last four of them empty: whole vectors.
pub const LANES: usize = 32;
/// The branches that each table sees: a fixed part of the 36 steps of a geometric series from 3 to 1000.
pub const LENGTHS: [usize; TABLES] = [
    3, 5, 7, 9, 11, 13, 16, 19, 22, 26, 31, 36, 43, 50, 60, 70, 83, 98, 116, 136, 161, 190, 225, 265, 369,
    515, 718, 1000,
];
/// Bits that a branch brings.
pub const BITS: u32 = 5;
/// Bits of the path register.
pub const PATH_BITS: u32 = 27;

/// Branches that are remembered.
const REMEMBERED: usize = 1024;
/// Widths of the folds: of the index, then of the two parts of the tag.
const WIDTHS: [u32; 3] = [23, 13, 14];

/// What a branch adds to the past.
#[derive(Clone, Copy)]
pub struct Step {
    bits: u32,
    path: u32,
}

impl Step {
    /// Of this branch.
    #[inline(always)]
    pub fn of(branch: &Branch) -> Step {
        let (word, next) = (branch.pc >> 2, next(branch));
        let mixed = word ^ word >> 2;
        let bits = mixed ^ word >> 4 ^ next >> 1 ^ u64::from(branch.taken());
        Step { bits: bits as u32 & 31, path: (mixed ^ next >> 3) as u32 }
    }
}

/// Where the program goes on: behind a branch that was not taken lies the next instruction, 4 bytes on as where all are of
/// one length. The published program is told this, not where the branch would have gone.
#[inline(always)]
pub fn next(branch: &Branch) -> u64 {
    if branch.taken() { branch.target } else { branch.pc.wrapping_add(4) }
}

/// The past of all branches.
pub struct Past {
    /// Running folds: in the low half of 23 bits, the lowest nine repeated above so that any ten in a row can be cut out; in
    /// the high half of 13 bits, and of 14 from bit 16 on.
    running: [u64; REMEMBERED],
    /// By how much each frame has turned.
    turned: [u32; 3],
    pushed: usize,
    path: u32,
}

/// `value` turned left by `by` within `width` bits.
#[inline(always)]
fn turn(value: u32, by: u32, width: u32) -> u32 {
    (value << by | value >> (width - by)) & ((1 << width) - 1)
}

impl Past {
    /// Of no branches.
    pub fn new() -> Past {
        Past { running: [0; REMEMBERED], turned: [0; 3], pushed: 0, path: 0 }
    }

    /// The path register.
    #[inline(always)]
    pub fn path(&self) -> u32 {
        self.path
    }

    /// What the path register will be after a step.
    #[inline(always)]
    pub fn path_after(&self, step: Step) -> u32 {
        (self.path << BITS ^ step.path) & ((1 << PATH_BITS) - 1)
    }

    /// How many branches have come.
    #[inline(always)]
    pub fn pushed(&self) -> usize {
        self.pushed
    }

    /// Takes in a branch.
    #[inline(always)]
    pub fn push(&mut self, step: Step) {
        self.path = self.path_after(step);
        // The newest of the five bits is the highest of the step and the lowest of the fold.
        let bits = step.bits.reverse_bits() >> (32 - BITS);
        let mut placed = [0; 3];
        for (nth, width) in WIDTHS.into_iter().enumerate() {
            let turned = self.turned[nth] + BITS;
            let turned = if turned >= width { turned - width } else { turned };
            self.turned[nth] = turned;
            placed[nth] = turn(bits, width - turned, width);
        }
        let last = self.pushed % REMEMBERED;
        self.pushed += 1;
        let now = self.pushed % REMEMBERED;
        let for_index = placed[0] ^ placed[0] << WIDTHS[0];
        let for_tag = placed[1] ^ placed[2] << 16;
        self.running[now] = self.running[last] ^ u64::from(for_index) ^ u64::from(for_tag) << 32;
    }

    /// For indices the ten lowest bits of each table's fold of 23; for tags its fold of 13 bits, under that of 14 shifted left
    /// by one. The other bits of 23 are not needed: the published index lays them over each other twice, so that they vanish.
    #[inline(always)]
    pub fn folds(&self) -> [[u16; LANES]; 2] {
        let now = self.running[self.pushed % REMEMBERED];
        let mut parts = [[0; LANES]; 2];
        for (lane, length) in LENGTHS.into_iter().enumerate() {
            let since = self.running[self.pushed.wrapping_sub(length) % REMEMBERED] ^ now;
            parts[0][lane] = since as u32;
            parts[1][lane] = (since >> 32) as u32;
        }
        [self.for_indices(&parts[0]), self.for_tags(&parts[1])]
    }

    #[inline(always)]
    fn for_indices(&self, since: &[u32; LANES]) -> [u16; LANES] {
        let down = (WIDTHS[0] - self.turned[0]) % WIDTHS[0];
        let mut cut = [0; LANES];
        for lane in 0..LANES {
            cut[lane] = (since[lane] >> down & 1023) as u16;
        }
        cut
    }

    #[inline(always)]
    fn for_tags(&self, since: &[u32; LANES]) -> [u16; LANES] {
        let (mut low, mut high) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            low[lane] = (since[lane] & 0x1fff) as u16;
            high[lane] = (since[lane] >> 16 & 0x3fff) as u16;
        }
        let turn =
            |value: u16, by: u32, width: u32| (value << by | value >> (width - by)) & ((1 << width) - 1);
        let mut both = [0; LANES];
        for lane in 0..LANES {
            both[lane] =
                turn(low[lane], self.turned[1], WIDTHS[1]) ^ turn(high[lane], self.turned[2], WIDTHS[2]) << 1;
        }
        both
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exclusive or of the chunks of `width` bits of the newest `length` steps, newest bit lowest.
    fn folded(bits: &[u32], length: usize, width: u32) -> u32 {
        let newest_first = bits.iter().rev().take(length * BITS as usize);
        newest_first.enumerate().fold(0, |fold, (at, bit)| fold ^ bit << (at as u32 % width))
    }

    #[test]
    fn folds_of_all_tables_equal_their_definition() {
        let (mut past, mut bits) = (Past::new(), Vec::new());
        let mut state = 88_172_645_463_325_252_u64;
        for at in 0..3000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let step = Step { bits: (state >> 30) as u32 & 31, path: 0 };
            past.push(step);
            bits.extend((0..BITS).map(|bit| step.bits >> bit & 1));
            if at > 40 && at % 97 != 0 {
                continue;
            }
            let [indices, tags] = past.folds();
            for (table, length) in LENGTHS.into_iter().enumerate() {
                assert_eq!(
                    u32::from(indices[table]),
                    folded(&bits, length, 23) & 1023,
                    "table {table} after {at}"
                );
                let tag = folded(&bits, length, 13) ^ folded(&bits, length, 14) << 1;
                assert_eq!(u32::from(tags[table]), tag, "table {table} after {at}");
            }
        }
    }

    /// The series of 36 steps: every second one of the shortest 7 and of the longest, all between.
    #[test]
    fn the_lengths_are_those_steps_of_a_geometric_series() {
        let mut series = vec![3];
        for nth in 1..36 {
            let ideal = 3.0 * (1000.0_f64 / 3.0).powf(f64::from(nth) / 35.0);
            let last: usize = series[series.len() - 1];
            series.push(((ideal + 0.5) as usize).max(last + 1));
        }
        let kept: Vec<usize> = [0, 2, 4, 6].into_iter().chain(8..28).chain([29, 31, 33, 35]).collect();
        assert_eq!(LENGTHS.to_vec(), kept.into_iter().map(|nth| series[nth]).collect::<Vec<_>>());
    }
}
