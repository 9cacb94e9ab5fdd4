//! What the last few units tell about the next one: conditional entropy and misprediction floors by length of memory.
//!
//! For memory k, the units are sorted by the k classes before them (the context); within each context the classes that
//! followed are counted. From these counts:
//!
//! - the conditional entropy H(class | the last k classes), bits per unit, with the correction of Miller (1955) and
//!   Madow: counts make entropy look too small by about (cells - 1) / 2N nats, so here (joint cells - contexts) / 2N is
//!   added, and the sum is held at the most that so many classes can have;
//! - the floor of mispredictions per unit for a byte loop whose predictor knows the last k lengths and the bytes of the
//!   current one: `floor` within each context, weighted by how often the context comes.
//!
//! Known limits. The correction is the first term of a series and knows only the cells that were seen: on uniform classes
//! it leaves an entropy 2 % too small at 3 units per cell, 11 % at 1.6, half at 1 (a simulation in Python, 5 to 250
//! classes). So both figures are refused (`None`) with fewer than 3 units per cell or 10 per context. The floors are
//! those of the counts themselves, so they are too low rather than too high: a predictor would have to know them
//! beforehand. That is the safe side for refuting a claim. And a real predictor may remember more than three units: a
//! floor with memory bounds only predictors with that much of it.

/// Orders of memory that are described: 0 to 3 units.
pub(super) const ORDERS: std::ops::RangeInclusive<u32> = 0..=3;

/// With fewer units per context than this, figures are refused.
const UNITS_PER_CONTEXT: u64 = 10;

/// With fewer units per pair of context and class than this, too.
const UNITS_PER_CELL: u64 = 3;

/// Below this many cells the counts are kept in a table; above, the codes are sorted.
const TABLE_CELLS: u64 = 1 << 20;

/// Below this many contexts or cells (16 MiB of bits) the different ones are counted before anything is sorted.
const MARKED: u64 = 1 << 27;

/// What a predictor that knows the classes of the last `order` units can know of the next.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderFacts {
    /// How many units back the predictor sees.
    pub order: u32,
    /// How many different sequences of `order` classes were seen; 1 at order 0.
    pub contexts: u64,
    /// Bits per unit of the class sequence, given the last `order` classes, corrected for the small counts' bias
    /// (Miller-Madow); `None` with too few units: under 10 per context, or under 3 per pair of context and class seen.
    pub entropy_bits_per_unit: Option<f64>,
    /// Least mispredictions per unit of a varint's byte loop for a predictor with this memory; `None` for other formats
    /// and with too few units.
    pub floor_misses_per_unit: Option<f64>,
}

/// Sums over all contexts of one order.
struct ContextSums {
    units: u64,
    contexts: u64,
    /// Different pairs of context and class.
    cells: u64,
    /// Σ over contexts of n log2 n - Σ over classes of c log2 c, bits.
    bits: f64,
    misses: u64,
}

/// Describes one order of memory.
///
/// Input: `symbols` below `symbol_count`, numbered by rising class; `loops` when a class is a number of loop turns.
/// Cost: a pass per order; where the table of all contexts would be large, a pass more that tells whether the units are
/// enough, and only then a sort of eight bytes per unit.
pub(super) fn history(symbols: &[u32], symbol_count: usize, order: u32, loops: bool) -> OrderFacts {
    let codes = Codes { symbols, symbol_count: symbol_count as u64, order };
    if let Some(contexts) = codes.contexts_of_too_few_units() {
        return OrderFacts { order, contexts, entropy_bits_per_unit: None, floor_misses_per_unit: None };
    }
    let sums = sum(&codes.tally(), symbol_count as u64);
    let enough = sums.units > 0 && suffice(sums.units, sums.contexts, sums.cells);
    let units = sums.units as f64;
    let entropy = || {
        let correction = (sums.cells - sums.contexts) as f64 / (2.0 * units * std::f64::consts::LN_2);
        (sums.bits / units + correction).clamp(0.0, (symbol_count as f64).log2())
    };
    OrderFacts {
        order,
        contexts: sums.contexts,
        entropy_bits_per_unit: enough.then(entropy),
        floor_misses_per_unit: (enough && loops).then(|| sums.misses as f64 / units),
    }
}

/// Whether so many units tell of so many contexts and cells.
fn suffice(units: u64, contexts: u64, cells: u64) -> bool {
    units >= (UNITS_PER_CONTEXT * contexts).max(UNITS_PER_CELL * cells)
}

/// Each unit that has `order` others before it, as a code: context × symbols + symbol.
struct Codes<'a> {
    symbols: &'a [u32],
    symbol_count: u64,
    order: u32,
}

impl Codes<'_> {
    /// (context, code) of each unit.
    fn all(&self) -> impl Iterator<Item = (u64, u64)> {
        let (order, symbol_count, contexts) =
            (self.order as usize, self.symbol_count, self.possible(self.order));
        let mut context =
            self.symbols.iter().take(order).fold(0, |code, &symbol| code * symbol_count + u64::from(symbol));
        // The oldest symbol of each code is what the next context no longer has; a remainder would cost a division per
        // unit.
        self.symbols.iter().skip(order).zip(self.symbols).map(move |(&symbol, &oldest)| {
            let before = context;
            let code = before * symbol_count + u64::from(symbol);
            context = code - u64::from(oldest) * contexts;
            (before, code)
        })
    }

    /// Sequences of so many symbols. At most 256 classes (bytes) and order 3: 2^32 cells fit.
    fn possible(&self, length: u32) -> u64 {
        self.symbol_count.pow(length)
    }

    /// The number of contexts where the units are too few for it, or for that of cells, and a sort would have to find out:
    /// of millions of random bytes a sort takes longer than all else that is told of them.
    fn contexts_of_too_few_units(&self) -> Option<u64> {
        let (contexts, cells) = (self.possible(self.order), self.possible(self.order + 1));
        if cells <= TABLE_CELLS || contexts > MARKED {
            return None;
        }
        let units = self.symbols.len().saturating_sub(self.order as usize) as u64;
        let contexts = different(contexts, self.all().map(|(context, _)| context));
        let refused = !suffice(units, contexts, 0)
            || cells <= MARKED
                && !suffice(units, contexts, different(cells, self.all().map(|(_, code)| code)));
        refused.then_some(contexts)
    }

    /// How often each code occurs, as (code, count) by rising code.
    fn tally(&self) -> Vec<(u64, u64)> {
        let cells = self.possible(self.order + 1);
        let codes = self.all().map(|(_, code)| code);
        if cells <= TABLE_CELLS {
            let mut table = vec![0; cells as usize];
            codes.for_each(|code| table[code as usize] += 1);
            (0..).zip(table).filter(|&(_, count)| count > 0).collect()
        } else {
            let mut codes: Vec<u64> = codes.collect();
            codes.sort_unstable();
            codes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
        }
    }
}

/// How many different numbers below `possible` there are.
fn different(possible: u64, numbers: impl Iterator<Item = u64>) -> u64 {
    let mut marked = vec![0u64; possible.div_ceil(64) as usize];
    let mut found = 0;
    for number in numbers {
        let (word, bit) = (&mut marked[(number / 64) as usize], 1 << (number % 64));
        found += u64::from(*word & bit == 0);
        *word |= bit;
    }
    found
}

/// Adds up entropy and misses over the contexts of a tally.
fn sum(tally: &[(u64, u64)], symbol_count: u64) -> ContextSums {
    let mut sums = ContextSums { units: 0, contexts: 0, cells: tally.len() as u64, bits: 0.0, misses: 0 };
    for context in tally.chunk_by(|a, b| a.0 / symbol_count == b.0 / symbol_count) {
        let units: u64 = context.iter().map(|&(_, count)| count).sum();
        let mut reach = units;
        for &(_, count) in context {
            sums.bits -= count as f64 * (count as f64 / units as f64).log2();
            // Symbols rise with length. Lengths that never come cost nothing: the loop is known to go on there.
            sums.misses += count.min(reach - count);
            reach -= count;
        }
        sums.units += units;
        sums.contexts += 1;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("enough units");
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    /// A stream of symbols below `count` that no short memory predicts.
    fn scrambled(units: u32, count: u32) -> Vec<u32> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % count
        };
        (0..units).map(|_| next()).collect()
    }

    #[test]
    fn an_alternation_is_a_bit_without_memory_and_nothing_with_one() {
        let symbols: Vec<u32> = (0..1000).map(|i| i % 2).collect();
        let without = history(&symbols, 2, 0, true);
        // Two classes at 500 each: 1 bit plus the correction (2 - 1) / (2 × 1000 ln 2), held at log2(2).
        near(without.entropy_bits_per_unit, 1.0);
        near(without.floor_misses_per_unit, 0.5);
        assert_eq!(without.contexts, 1);
        for order in 1..=3 {
            let with = history(&symbols, 2, order, true);
            near(with.entropy_bits_per_unit, 0.0);
            near(with.floor_misses_per_unit, 0.0);
            assert_eq!(with.contexts, 2);
        }
    }

    #[test]
    fn a_pattern_of_four_needs_two_units_of_memory() {
        // 0 0 1 1: after one symbol both are equally likely, after two the next is certain.
        let symbols: Vec<u32> = (0..1001).map(|i| i / 2 % 2).collect();
        let one = history(&symbols, 2, 1, true);
        // 1000 pairs, 250 each of 00, 01, 11, 10: one bit, floor one half.
        near(one.entropy_bits_per_unit, 1.0);
        near(one.floor_misses_per_unit, 0.5);
        near(history(&symbols, 2, 2, true).entropy_bits_per_unit, 0.0);
        near(history(&symbols, 2, 2, true).floor_misses_per_unit, 0.0);
    }

    #[test]
    fn corrects_the_entropy_by_half_a_nat_per_free_cell() {
        // Counts 90, 6, 4 (Python): -Σ p log2 p = 0.5660906530 bits, and 2 / (200 ln 2) = 0.0144269504.
        let symbols: Vec<u32> = [vec![0; 90], vec![1; 6], vec![2; 4]].concat();
        near(history(&symbols, 3, 0, true).entropy_bits_per_unit, 0.566_090_653_0 + 0.014_426_950_4);
        // Floor: 10 of 100 are not the first, 4 of those 10 not the second.
        near(history(&symbols, 3, 0, true).floor_misses_per_unit, 0.14);
    }

    #[test]
    fn a_stream_without_memory_keeps_its_entropy_at_every_order() {
        let symbols = scrambled(200_000, 5);
        for order in ORDERS {
            let found = history(&symbols, 5, order, true);
            // 5^(order+1) cells on 200000 units: what is left of the bias is far below 0.002 bits.
            let entropy = found.entropy_bits_per_unit.expect("enough units");
            assert!((entropy - 5f64.log2()).abs() < 2e-3, "order {order}: {entropy}");
            assert_eq!(found.contexts, 5u64.pow(order));
        }
    }

    #[test]
    fn more_memory_never_raises_the_floor_of_the_same_units() {
        // A context refined can only be better guessed; the three units lost at the start shift it by 3 / N at most.
        let symbols: Vec<u32> = scrambled(5000, 3).windows(2).map(|pair| pair[0].max(pair[1])).collect();
        let floors: Vec<f64> = ORDERS
            .map(|order| history(&symbols, 3, order, true).floor_misses_per_unit.expect("enough units"))
            .collect();
        assert!(floors.windows(2).all(|pair| pair[1] <= pair[0] + 2e-3), "{floors:?}");
        assert!(floors[1] < floors[0] - 0.05, "{floors:?}");
    }

    #[test]
    fn an_entropy_that_is_not_refused_is_within_two_percent() {
        let mut refused = 0;
        for (count, units) in (2..=12).flat_map(|count| [200, 1000, 5000, 25_000].map(|units| (count, units)))
        {
            for found in ORDERS.map(|order| history(&scrambled(units, count), count as usize, order, true)) {
                let Some(entropy) = found.entropy_bits_per_unit else {
                    refused += 1;
                    continue;
                };
                let expected = f64::from(count).log2();
                // Two percent of bias, and of chance what a sample of so many units has.
                let slack = 0.02 * expected + 2.0 / f64::from(units).sqrt();
                assert!((entropy - expected).abs() < slack, "{count} classes, {units} units: {found:?}");
            }
        }
        assert!((20..150).contains(&refused), "{refused} of 176");
    }

    #[test]
    fn refuses_an_order_with_fewer_than_ten_units_per_context() {
        let symbols = scrambled(100, 5);
        let found = history(&symbols, 5, 2, true);
        assert!(found.contexts > 9);
        assert_eq!((found.entropy_bits_per_unit, found.floor_misses_per_unit), (None, None));
        assert_eq!(history(&[], 0, 0, true).entropy_bits_per_unit, None);
        assert_eq!(history(&[0, 0], 1, 3, true).contexts, 0);
    }

    #[test]
    fn units_that_are_too_few_are_refused_alike_whether_contexts_are_marked_or_sorted() {
        // 3 of 3 symbols are counted in a table, 3 of 200 marked at first: contexts, cells or neither are too many.
        for units in [20, 80, 200, 230, 250, 300, 2000] {
            let symbols = scrambled(units, 3);
            let (few, many) = (history(&symbols, 3, 3, true), history(&symbols, 200, 3, true));
            assert_eq!(few.contexts, many.contexts, "{units} units");
            assert_eq!(few.floor_misses_per_unit, many.floor_misses_per_unit, "{units} units");
            // 81 cells want 243 units, 27 contexts 270.
            assert_eq!(few.entropy_bits_per_unit.is_some(), units > 280, "{units} units");
            assert_eq!(many.entropy_bits_per_unit.is_some(), units > 280, "{units} units");
        }
        assert_eq!(different(130, [129, 0, 129, 64, 0].into_iter()), 3);
    }

    #[test]
    fn tells_no_floor_where_no_loop_is_known() {
        let found = history(&scrambled(1000, 2), 2, 0, false);
        assert_eq!(found.floor_misses_per_unit, None);
        assert!(found.entropy_bits_per_unit.is_some());
    }

    #[test]
    fn the_table_and_the_sort_count_the_same() {
        // The same stream, its symbols numbered as 3 of 3 (table) and as 3 of 200 (sort at order 3).
        let symbols = scrambled(20_000, 3);
        let (few, many) = (history(&symbols, 3, 3, true), history(&symbols, 200, 3, true));
        assert_eq!(few.contexts, many.contexts);
        assert_eq!(few.floor_misses_per_unit, many.floor_misses_per_unit);
        near(few.entropy_bits_per_unit, many.entropy_bits_per_unit.expect("enough units").min(3f64.log2()));
    }
}
