//! The contexts that tell something of the next length, found by growing a tree and pruning it.
//!
//! The tree has a node for each sequence of last lengths that was seen often enough, with the counts of the lengths that
//! followed. From the leaves up, a node is split into its longer contexts where that shortens the description: the bits
//! that the followers take by their frequencies, plus for each row of the table half a logarithm of the number of units
//! per free parameter. That is the Bayesian information criterion (Schwarz, Ann. Stat. 6(2), 1978), for context trees due
//! to Csiszár and Talata (IEEE Trans. Inf. Theory 52(3), 2006), who prove that it finds the true tree as data grow.
//! Where the table would become too large, the penalty is raised until it fits.
//!
//! Known limits: memory ends at [`LONGEST_CONTEXT`] lengths; of a longer period only what shows within that is held.
//! Checked: against the criterion worked out by hand on small counts; trees of known chains are found again.

use crate::inputs::markov::LONGEST_CONTEXT;
use crate::inputs::varint::MAX_LENGTH;
use std::collections::BTreeMap;

/// How often a context must have been seen to have a row of its own: fewer tell little, and something of single places.
pub const LEAST_SEEN: u64 = 32;

/// The step by which the penalty is raised where the table is too large.
const STRICTER: f64 = 1.25;

/// Counts of followers by length, the first for one byte.
type FollowerCounts = [u64; MAX_LENGTH];

/// A pruned tree.
pub(super) struct Pruned {
    /// Counts of followers by context, the latest length last.
    pub contexts: BTreeMap<Vec<u8>, FollowerCounts>,
    /// Bits per unit that the lengths take.
    pub bits_per_unit: f64,
    /// The factor on the penalty.
    pub strictness: f64,
}

/// Grows and prunes the tree of a sequence of lengths, 1 to 10 each.
pub(super) fn fit(lengths: &[u8], most_contexts: usize) -> Pruned {
    let mut tree = FitTree { lengths, nodes: Vec::new() };
    let mut positions: Vec<u32> = (0..lengths.len() as u32).collect();
    tree.grow(&mut positions, 0);
    let mut strictness = 1.0;
    loop {
        let pruned = tree.prune(strictness);
        if pruned.contexts.len() <= most_contexts.max(1) {
            return pruned;
        }
        strictness *= STRICTER;
    }
}

struct FitTree<'a> {
    lengths: &'a [u8],
    nodes: Vec<FitNode>,
}

struct FitNode {
    /// Of what followed, over all places of this context.
    counts: FollowerCounts,
    /// Longer contexts: the length before, and the node.
    longer: Vec<(u8, usize)>,
}

/// A node's description length in bits when pruned at best: of the followers, and of the rows.
#[derive(Clone, Copy)]
struct DescriptionLength {
    followers: f64,
    rows: f64,
    split: bool,
}

impl DescriptionLength {
    fn total(self) -> f64 {
        self.followers + self.rows
    }
}

impl FitTree<'_> {
    /// Adds the node of the context that ends before each of `positions` and is `depth` long, and those below.
    fn grow(&mut self, positions: &mut [u32], depth: usize) -> usize {
        let mut counts = [0; MAX_LENGTH];
        for &position in positions.iter() {
            counts[usize::from(self.lengths[position as usize]) - 1] += 1;
        }
        let node = self.nodes.len();
        self.nodes.push(FitNode { counts, longer: Vec::new() });
        // What follows for certain is not made surer by a longer memory.
        let certain = counts.iter().filter(|&&count| count > 0).count() <= 1;
        if depth == LONGEST_CONTEXT || certain || (positions.len() as u64) < 2 * LEAST_SEEN {
            return node;
        }
        for (length, range) in self.part(positions, depth) {
            if range.len() as u64 >= LEAST_SEEN {
                let longer = self.grow(&mut positions[range], depth + 1);
                self.nodes[node].longer.push((length, longer));
            }
        }
        node
    }

    /// Sorts positions by the length that lies `depth` before the one before them; those too near the start come first
    /// and belong to none.
    fn part(&self, positions: &mut [u32], depth: usize) -> Vec<(u8, std::ops::Range<usize>)> {
        let before = |position: u32| match (position as usize).checked_sub(depth + 1) {
            Some(at) => usize::from(self.lengths[at]),
            None => 0,
        };
        let mut ends = [0; MAX_LENGTH + 2];
        positions.iter().for_each(|&position| ends[before(position) + 1] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut next = ends;
        let old = positions.to_vec();
        for position in old {
            let slot = &mut next[before(position)];
            positions[*slot] = position;
            *slot += 1;
        }
        (1..=MAX_LENGTH).map(|length| (length as u8, ends[length]..ends[length + 1])).collect()
    }

    fn prune(&self, strictness: f64) -> Pruned {
        let symbols = self.nodes[0].counts.iter().filter(|&&count| count > 0).count();
        let units = self.lengths.len() as f64;
        let row = strictness * (symbols.saturating_sub(1)) as f64 / 2.0 * units.max(1.0).log2();
        let mut costs = vec![DescriptionLength { followers: 0.0, rows: 0.0, split: false }; self.nodes.len()];
        // A node's longer contexts have greater numbers.
        for at in (0..self.nodes.len()).rev() {
            costs[at] = self.cost(at, row, &costs);
        }
        let mut contexts = BTreeMap::new();
        self.collect(0, &mut Vec::new(), symbols, &costs, &mut contexts);
        Pruned { contexts, bits_per_unit: costs[0].followers / units.max(1.0), strictness }
    }

    fn cost(&self, at: usize, row: f64, costs: &[DescriptionLength]) -> DescriptionLength {
        let node = &self.nodes[at];
        let whole =
            DescriptionLength { followers: bits(&node.counts, &node.counts), rows: row, split: false };
        if node.longer.is_empty() {
            return whole;
        }
        let rest = self.rest(node);
        let mut split = DescriptionLength { followers: bits(&rest, &node.counts), rows: 0.0, split: true };
        if rest.iter().any(|&count| count > 0) {
            split.rows += row;
        }
        for &(_, longer) in &node.longer {
            split.followers += costs[longer].followers;
            split.rows += costs[longer].rows;
        }
        if split.total() < whole.total() { split } else { whole }
    }

    /// What followed where no longer context has a node.
    fn rest(&self, node: &FitNode) -> FollowerCounts {
        let mut rest = node.counts;
        for &(_, longer) in &node.longer {
            rest.iter_mut().zip(self.nodes[longer].counts).for_each(|(rest, count)| *rest -= count);
        }
        rest
    }

    /// The rows: of what is not split, of what has a rest, and of what a made stream may come to though the data did not.
    fn collect(
        &self,
        at: usize,
        context: &mut Vec<u8>,
        symbols: usize,
        costs: &[DescriptionLength],
        contexts: &mut BTreeMap<Vec<u8>, FollowerCounts>,
    ) {
        let node = &self.nodes[at];
        if !costs[at].split || context.is_empty() || node.longer.len() < symbols {
            // Found from the latest length backwards.
            contexts.insert(context.iter().rev().copied().collect(), node.counts);
        }
        if costs[at].split {
            for &(length, longer) in &node.longer {
                context.push(length);
                self.collect(longer, context, symbols, costs, contexts);
                context.pop();
            }
        }
    }
}

/// Bits that `counts` take when each comes with the frequency it has in `model`.
fn bits(counts: &FollowerCounts, model: &FollowerCounts) -> f64 {
    let all: u64 = model.iter().sum();
    let term = |(&count, &of): (&u64, &u64)| match count {
        0 => 0.0,
        _ => -(count as f64) * (of as f64 / all as f64).log2(),
    };
    counts.iter().zip(model).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts(lengths: &[u8]) -> Vec<Vec<u8>> {
        fit(lengths, 1000).contexts.into_keys().collect()
    }

    #[test]
    fn counts_bits_by_the_frequencies_of_the_model() {
        // 3 of 4 and 1 of 4: 3 × 0.41504 + 2 = 3.24511 bits.
        assert!((bits(&counts(&[3, 1]), &counts(&[3, 1])) - 3.245_112_498).abs() < 1e-9);
        assert!((bits(&counts(&[0, 2]), &counts(&[3, 1])) - 4.0).abs() < 1e-12);
        assert_eq!(bits(&counts(&[7]), &counts(&[7])), 0.0);
    }

    #[test]
    fn one_length_needs_no_memory() {
        let pruned = fit(&[3; 1000], 1000);
        assert_eq!(pruned.contexts.into_iter().collect::<Vec<_>>().len(), 1);
        assert_eq!(pruned.bits_per_unit, 0.0);
    }

    #[test]
    fn an_alternation_is_found_and_nothing_longer() {
        let lengths = [1, 2].repeat(500);
        let pruned = fit(&lengths, 1000);
        let found: Vec<(Vec<u8>, FollowerCounts)> = pruned.contexts.into_iter().collect();
        assert_eq!(
            found.iter().map(|(context, _)| context.clone()).collect::<Vec<_>>(),
            [vec![], vec![1], vec![2]]
        );
        assert_eq!((found[1].1[..2].to_vec(), found[2].1[..2].to_vec()), (vec![0, 500], vec![499, 0]));
        // The first unit alone has no context, and comes by the frequency of all: one bit.
        assert!((pruned.bits_per_unit - 0.001).abs() < 1e-12, "{}", pruned.bits_per_unit);
    }

    #[test]
    fn splits_where_the_criterion_says_so_and_not_a_unit_before() {
        // Two symbols, after 1 always 2; the marginals are even, so a split saves about one bit per unit and costs two
        // rows instead of one, of log2(n) / 2 bits: with enough units it is worth it.
        let alternation = |n: usize| -> Vec<u8> { (0..n).map(|at| 1 + (at % 2) as u8).collect() };
        assert_eq!(contexts(&alternation(2 * LEAST_SEEN as usize + 2)).len(), 3);
        // Below the least number of places nothing is split, whatever it would save.
        assert_eq!(contexts(&alternation(2 * LEAST_SEEN as usize - 2)).len(), 1);
    }

    #[test]
    fn a_context_is_written_with_the_latest_length_last() {
        // 1 1 2 again and again: after "1 1" comes 2, after "2 1" comes 1.
        let lengths: Vec<u8> = (0..3000).map(|at| if at % 3 == 2 { 2 } else { 1 }).collect();
        let found = fit(&lengths, 1000).contexts;
        assert_eq!(found[&vec![1, 1]][..2], [0, 1000]);
        assert_eq!(found[&vec![2, 1]][..2], [999, 0]);
        assert_eq!(found[&vec![2]][..2], [999, 0]);
    }

    fn counts(values: &[u64]) -> FollowerCounts {
        std::array::from_fn(|at| values.get(at).copied().unwrap_or(0))
    }

    fn node(values: &[u64], longer: &[(u8, usize)]) -> FitNode {
        FitNode { counts: counts(values), longer: longer.to_vec() }
    }

    #[test]
    fn a_split_must_save_the_bits_of_its_rows_and_of_the_rest() {
        // 1024 units, of which the first has no length before it. Two symbols: a row is log2(1024) / 2 = 5 bits, and a split
        // has three where the whole has one. By Python it saves 9.346 bits with 29 more of a kind than 256, 10.009 with 30.
        let rows = |more: u64| {
            let nodes = vec![
                node(&[512, 512], &[(1, 1), (2, 2)]),
                node(&[256 + more, 256 - more], &[]),
                node(&[256 - more, 255 + more], &[]),
            ];
            FitTree { lengths: &[1; 1024], nodes }.prune(1.0).contexts.len()
        };
        assert_eq!((rows(29), rows(30)), (1, 3));
    }

    #[test]
    fn a_row_is_kept_for_what_a_made_stream_may_come_to() {
        // After 1, what comes depends on the one before; but 3 and then 1 was seen too rarely for a row.
        let nodes = vec![
            node(&[500, 200, 304], &[(1, 1), (2, 4), (3, 5)]),
            node(&[200, 200, 4], &[(1, 2), (2, 3)]),
            node(&[200, 0, 2], &[]),
            node(&[0, 200, 2], &[]),
            node(&[300, 0, 0], &[]),
            node(&[0, 0, 300], &[]),
        ];
        let found = FitTree { lengths: &[1; 1004], nodes }.prune(1.0).contexts;
        let expected = [vec![], vec![1], vec![1, 1], vec![2], vec![2, 1], vec![3]];
        assert!(found.keys().eq(expected.iter()), "{found:?}");
        assert_eq!(found[&vec![1]], counts(&[200, 200, 4]));
    }

    #[test]
    fn memory_reaches_as_far_as_the_longest_context_and_no_farther() {
        // That a run of ones ends is told by all of it.
        let row = |ones: usize| {
            let lengths = [&[2][..], &vec![1; ones]].concat().repeat(200);
            fit(&lengths, 1000).contexts.remove(&vec![1; LONGEST_CONTEXT])
        };
        assert_eq!(row(LONGEST_CONTEXT).expect("a row")[..2], [0, 199]);
        assert!(row(LONGEST_CONTEXT + 1).is_none_or(|row| row[0] > 0));
    }

    #[test]
    fn the_penalty_is_raised_until_the_table_is_small_enough() {
        // A period of 64 random lengths, whose every place is told by some lengths before.
        let mut state = 1u32;
        let stretch: Vec<u8> = (0..64)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                1 + (state >> 30) as u8
            })
            .collect();
        let lengths = stretch.repeat(200);
        let free = fit(&lengths, 1000);
        let held = fit(&lengths, 20);
        assert!(free.contexts.len() > 20 && free.strictness == 1.0);
        assert!(held.contexts.len() <= 20 && held.strictness > 1.0);
        assert!(held.bits_per_unit > free.bits_per_unit);
        assert_eq!(fit(&lengths, free.contexts.len()).strictness, 1.0);
    }
}
