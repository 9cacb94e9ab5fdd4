//! What a prediction of TAGE was worth: by address, by who says what how surely, and by the loop iteration.

use super::histories::Iterations;
use super::tables::Found;
use crate::predict::tage_sc_l::component::nudge;

/// The largest counter.
const TOP: i8 = 31;
/// Entries of the large tables, as a binary logarithm.
pub const LARGE_LOG: u32 = 11;
const LARGE: usize = 1 << LARGE_LOG;

/// How many counters are found for a branch: six of biases, four by the iteration.
const COUNTERS: usize = 10;
/// The lengths of the tables.
const LENGTHS: [usize; COUNTERS] = [4, LARGE, LARGE, 128, 64, 512, LARGE, LARGE, LARGE, LARGE];
/// Where each begins in the memory of all.
const STARTS: [usize; COUNTERS + 1] = {
    let mut starts = [0; COUNTERS + 1];
    let mut at = 0;
    while at < COUNTERS {
        starts[at + 1] = starts[at] + LENGTHS[at];
        at += 1;
    }
    starts
};
/// A memory at least as large, so that a mask proves that an index is within it.
const MEMORY: usize = STARTS[COUNTERS].next_power_of_two();

/// The tables.
pub struct Biases {
    counters: Box<[i8; MEMORY]>,
    found: [u16; COUNTERS],
}

impl Biases {
    /// Undecided: the tables by what is said and address, and two by the iteration, begin between the directions.
    pub fn new() -> Biases {
        let mut counters = vec![0; MEMORY];
        for table in [2, 6, 7] {
            counters[STARTS[table]..STARTS[table + 1]]
                .iter_mut()
                .step_by(2)
                .for_each(|counter| *counter = -1);
        }
        Biases { counters: counters.try_into().expect("as many as were asked for"), found: [0; COUNTERS] }
    }

    /// What they say of the branch at this word: the biases, and those by the iteration.
    #[inline(always)]
    pub fn weigh(&mut self, word: u64, found: &Found, iterations: &Iterations) -> (i32, i32) {
        let places = Self::of_biases(word, found);
        let by_iteration = iterations.places(word);
        for at in 0..COUNTERS {
            let place = if at < 6 { places[at] } else { by_iteration[at - 6] };
            self.found[at] = (STARTS[at] + (place & (LENGTHS[at] - 1))) as u16;
        }
        let say = |at: usize| 2 * i32::from(self.counters[usize::from(self.found[at]) % MEMORY]) + 1;
        (say(0) + 2 * say(1) + say(2) + say(3) + say(4) + say(5), say(6) + say(7) + say(8) + say(9))
    }

    #[inline(always)]
    fn of_biases(word: u64, found: &Found) -> [usize; 6] {
        let Found { longest, alternate, confident, .. } = found;
        let flag = usize::from;
        let says = flag(longest.taken) | flag(confident.taken) << 1;
        let by_address = (word ^ word >> (LARGE_LOG - 5)) as usize;
        let [of_longest, of_alternate, of_confident] =
            [longest, alternate, confident].map(|voice| usize::from(voice.sureness));
        let over = |distance: u32, steps: [u32; 3]| steps.into_iter().filter(|step| distance > *step).count();
        let compared = flag(longest.taken == alternate.taken)
            | of_longest << 1
            | flag(of_alternate >= of_longest) << 3
            | flag(longest.taken) << 4
            | over(longest.table - alternate.table, [4, 9, 13]) << 5;
        // The published program compares with a base table's prediction that it never sets: not taken, surely so.
        let beside_base = flag(!longest.taken)
            | flag(of_longest == 0) << 1
            | over(longest.table, [0, 7, 13]) << 2
            | flag(alternate.table > 0) << 4
            | flag(longest.taken) << 5;
        let all = says | flag(alternate.taken) << 2 | of_longest << 3 | of_alternate << 5 | of_confident << 7;
        [says, by_address, by_address ^ says << (LARGE_LOG - 2), compared, beside_base, all]
    }

    /// Those that were found learn a direction.
    #[inline(always)]
    pub fn learn(&mut self, taken: bool) {
        for found in self.found {
            let counter = &mut self.counters[usize::from(found) % MEMORY];
            *counter = nudge(*counter, taken, TOP);
        }
    }

    /// Bits in hardware, as published: of the table by what is said two counters of four, and without those by the
    /// iteration.
    pub fn storage_bits() -> u64 {
        6 * (STARTS[6] as u64 - 2)
    }

    /// Bits in hardware of those by the iteration.
    pub fn storage_bits_by_iteration() -> u64 {
        6 * (STARTS[COUNTERS] - STARTS[6]) as u64
    }
}
