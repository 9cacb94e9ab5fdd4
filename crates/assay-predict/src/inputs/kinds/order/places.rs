//! Free places of a row: taking the one that has so many free ones before it.
//!
//! A bit for each place, and above the words a tree whose nodes have sixteen running sums: the search in a node is a count of
//! sums that are not above what is to be skipped, without a branch that a predictor would miss. Ten million places are 1.25 MB
//! of bits and as much of sums, where a Fenwick tree over the places has 40 MB and jumps in it.

/// Children of a node: their sums are a cache line.
const CHILDREN: usize = 16;

/// The free places.
pub(super) struct Places {
    words: Vec<u64>,
    /// Of each level, from the one above the words to a single node: how many are free in each child and those before it.
    levels: Vec<Vec<[i32; CHILDREN]>>,
}

impl Places {
    /// So many places, all free; at most 2^31 - 1.
    pub(super) fn new(count: usize) -> Places {
        let mut words = vec![u64::MAX; count.div_ceil(64).max(1)];
        let last = words.len() - 1;
        words[last] = if count == 0 { 0 } else { u64::MAX >> (words.len() * 64 - count) };
        let mut levels: Vec<Vec<[i32; CHILDREN]>> = Vec::new();
        let mut below: Vec<i32> = words.iter().map(|word| word.count_ones() as i32).collect();
        while levels.last().is_none_or(|level| level.len() > 1) {
            let sums = |children: &[i32]| {
                let mut sum = 0;
                std::array::from_fn(|child| {
                    sum += children.get(child).unwrap_or(&0);
                    sum
                })
            };
            let level: Vec<[i32; CHILDREN]> = below.chunks(CHILDREN).map(sums).collect();
            below = level.iter().map(|sums| sums[CHILDREN - 1]).collect();
            levels.push(level);
        }
        Places { words, levels }
    }

    /// Takes the free place that has `before` free ones before it; there must be more than that.
    pub(super) fn take(&mut self, before: u32) -> usize {
        let (mut left, mut node) = (before as i32, 0);
        for level in self.levels.iter_mut().rev() {
            let sums = &mut level[node];
            let child = sums.iter().map(|&sum| i32::from(sum <= left)).sum::<i32>() as usize;
            left -= if child == 0 { 0 } else { sums[child - 1] };
            for (at, sum) in (0..).zip(sums) {
                *sum -= i32::from(at >= child as i32);
            }
            node = node * CHILDREN + child;
        }
        let bit = nth_one(self.words[node], left as u32);
        self.words[node] &= !(1 << bit);
        node * 64 + bit as usize
    }
}

/// Where the bit is that has `nth` ones below it: sums of ever wider fields, then down them (Anderson, "Bit Twiddling Hacks",
/// "Select the bit position with the given count").
fn nth_one(word: u64, mut nth: u32) -> u32 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let bytes = (fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    let shorts = (bytes + (bytes >> 8)) & 0x00ff_00ff_00ff_00ff;
    let halves = (shorts + (shorts >> 16)) & 0x0000_ffff_0000_ffff;
    let mut at = 0;
    for (sums, width) in [(halves, 32), (shorts, 16), (bytes, 8), (fours, 4), (pairs, 2), (word, 1)] {
        let low = (sums >> at & ((1 << width) - 1)) as u32;
        let is_beyond = u32::from(nth >= low);
        nth -= low * is_beyond;
        at += width * is_beyond;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_each_place_once_as_a_list_would() {
        for count in [1, 2, 63, 64, 65, 1024, 1025, 20_000] {
            let (mut places, mut list) = (Places::new(count), (0..count).collect::<Vec<_>>());
            let mut state = 1u64;
            while !list.is_empty() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let before = (state >> 33) as usize % list.len();
                assert_eq!(places.take(before as u32), list.remove(before), "{count}");
            }
        }
    }

    #[test]
    fn finds_each_bit_of_a_word() {
        for word in [1, u64::MAX, 1 << 63, 0x8000_0000_0001_0001, 0xdead_beef_0123_4567] {
            let bits = (0..64).filter(|bit| word >> bit & 1 == 1);
            assert!((0..).zip(bits).all(|(nth, bit)| nth_one(word, nth) == bit), "{word:x}");
        }
    }
}
