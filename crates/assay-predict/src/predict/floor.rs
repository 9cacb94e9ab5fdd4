//! How few mispredictions could a rule have made that knows only this branch's own last outcomes?
//!
//! Method: per site and per pattern of its last 8 outcomes, how often each outcome followed. Shorter patterns are sums
//! of longer ones. The best fixed rule says, for each pattern, the outcome that followed more often; what it gets wrong
//! is the sum of the rarer ones. For patterns of length 0 that is executions x min(p, 1 - p).
//!
//! That figure, [`LeastMisses::hindsight`], was found on the very outcomes on which it is judged, so no fixed rule of that kind
//! can do better on this stream, and even a coin looks a little predictable: 256 patterns of 25 outcomes each come to
//! 42 % instead of 50 %. Beside it stands [`LeastMisses::held_out`]: each outcome is judged by the rule that all *other*
//! outcomes make (leave one out; a tie counts half). If outcomes are independent given the pattern, the first is on
//! average at most, the second at least, what a rule that knew the true probabilities would miss. Of a coin the second
//! scatters by some per cent: patterns that happen to tie count whole.
//!
//! Known limits: only the branch's own history. A predictor that sees other branches can beat the floor where they tell
//! something (a second test of the same value), and a learner needs time that no floor counts. Outcomes before the first
//! count as not taken.
//!
//! Memory: the first 64 outcomes of a site are kept as they are, in 32 bytes; only the next one costs a table of 2 KB. Tables
//! are limited; a site that gets none keeps its executions and taken ones, and [`Floor::dropped`] says how much that is.
//! Checked: streams of known entropy; every order against a direct count.

use crate::trace::Branch;

/// The longest pattern, outcomes.
pub const LONGEST: usize = 8;
const PATTERNS: usize = 1 << LONGEST;

/// Outcomes kept before a site gets a table.
const KEPT: u64 = 64;

/// Per pattern: how often not taken and how often taken came next. Counts stop at the largest; that can only lower a floor.
type PatternTable = [[u32; 2]; PATTERNS];

/// Least mispredictions of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeastMisses {
    /// Of the best fixed rule chosen afterwards, on these very outcomes.
    pub hindsight: u64,
    /// Of rules each learned from all other outcomes; halves are ties.
    pub held_out: f64,
}

/// The floor of one site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteFloor {
    /// Times it was executed.
    pub executed: u64,
    /// Times it was taken.
    pub taken: u64,
    /// Least mispredictions by the length of the pattern, 0 to 8; `None` for a site that got no table.
    pub by_order: Option<[LeastMisses; LONGEST + 1]>,
}

impl SiteFloor {
    /// Least mispredictions of a rule that always says the same: executions x min(p, 1 - p).
    pub fn constant(&self) -> u64 {
        self.taken.min(self.executed - self.taken)
    }

    /// The length of pattern that does best on held-out outcomes, and what it misses.
    ///
    /// The shortest of equals. Chosen among nine, so slightly optimistic.
    pub fn best(&self) -> Option<(usize, LeastMisses)> {
        let by_order = self.by_order?.into_iter().enumerate();
        by_order.min_by(|(_, one), (_, other)| one.held_out.total_cmp(&other.held_out))
    }
}

/// What a site did so far.
#[derive(Clone, Copy, Debug, Default)]
struct SiteSeen {
    executed: u64,
    taken: u64,
    /// The last 64 outcomes, the newest lowest.
    outcomes: u64,
    table: TablePlace,
}

/// Where a site's table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TablePlace {
    /// Not needed yet.
    #[default]
    None,
    At(u32),
    /// There was no room.
    Dropped,
}

/// What was counted without patterns, because there was no room for their tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Sites.
    pub sites: u64,
    /// Executions of these.
    pub executed: u64,
}

/// The floors of all sites of a stream.
#[derive(Clone, Debug)]
pub struct Floor {
    sites: Vec<SiteSeen>,
    #[expect(
        clippy::vec_box,
        reason = "a list of tables that grows would move them all, with twice the memory"
    )]
    tables: Vec<Box<PatternTable>>,
    limit: usize,
}

impl Default for Floor {
    /// Up to 16,384 sites of more than 64 executions: 32 MB.
    fn default() -> Floor {
        Floor::with_tables(1 << 14)
    }
}

impl Floor {
    /// With at most so many tables of 2 KB.
    pub fn with_tables(limit: usize) -> Floor {
        Floor { sites: Vec::new(), tables: Vec::new(), limit }
    }

    /// Takes in a stretch of stream; only conditional branches count.
    pub fn observe(&mut self, branches: &[Branch]) {
        let conditional = |branch: &&Branch| branch.class().is_conditional();
        for branch in branches.iter().filter(conditional) {
            let at = branch.site as usize;
            if at >= self.sites.len() {
                self.sites.resize(at + 1, SiteSeen::default());
            }
            self.take(at, branch.taken());
        }
    }

    #[inline]
    fn take(&mut self, at: usize, taken: bool) {
        let seen = &mut self.sites[at];
        if let TablePlace::At(table) = seen.table {
            count(&mut self.tables[table as usize], seen.outcomes, taken);
        } else if seen.table == TablePlace::None && seen.executed == KEPT {
            self.give_table(at);
            return self.take(at, taken);
        }
        seen.executed += 1;
        seen.taken += u64::from(taken);
        seen.outcomes = seen.outcomes << 1 | u64::from(taken);
    }

    /// A table with the outcomes kept so far in it, if there is room for one.
    fn give_table(&mut self, at: usize) {
        let seen = &mut self.sites[at];
        if self.tables.len() >= self.limit {
            seen.table = TablePlace::Dropped;
            return;
        }
        seen.table = TablePlace::At(self.tables.len() as u32);
        self.tables.push(Box::new(table_of_kept(seen)));
    }

    /// The floor of a site; `None` for one that was never seen or is not conditional.
    pub fn site(&self, site: u32) -> Option<SiteFloor> {
        let seen = self.sites.get(site as usize).filter(|seen| seen.executed > 0)?;
        let by_order = match seen.table {
            TablePlace::None => Some(orders(&table_of_kept(seen))),
            TablePlace::At(table) => Some(orders(&self.tables[table as usize])),
            TablePlace::Dropped => None,
        };
        Some(SiteFloor { executed: seen.executed, taken: seen.taken, by_order })
    }

    /// What was counted without patterns.
    pub fn dropped(&self) -> Dropped {
        let dropped = self.sites.iter().filter(|seen| seen.table == TablePlace::Dropped);
        dropped.fold(Dropped::default(), |sum, seen| Dropped {
            sites: sum.sites + 1,
            executed: sum.executed + seen.executed,
        })
    }

    /// Adds what another thread did, or another stretch that begins anew. Sites must be numbered alike.
    ///
    /// Where both together are still few enough to be kept as they are, the other's outcomes follow ours; its first 8 then
    /// count with our last ones before them.
    pub fn merge(&mut self, other: &Floor) {
        if other.sites.len() > self.sites.len() {
            self.sites.resize(other.sites.len(), SiteSeen::default());
        }
        for (at, theirs) in other.sites.iter().enumerate().filter(|(_, theirs)| theirs.executed > 0) {
            self.merge_site(at, theirs, other);
        }
    }

    fn merge_site(&mut self, at: usize, theirs: &SiteSeen, other: &Floor) {
        let kept = |seen: &SiteSeen| seen.table == TablePlace::None;
        if kept(&self.sites[at]) && kept(theirs) && self.sites[at].executed + theirs.executed <= KEPT {
            let outcomes = (0..theirs.executed).rev().map(|age| theirs.outcomes >> age & 1 != 0);
            outcomes.for_each(|taken| self.take(at, taken));
            return;
        }
        if kept(&self.sites[at]) {
            self.give_table(at);
        }
        let seen = &mut self.sites[at];
        seen.executed += theirs.executed;
        seen.taken += theirs.taken;
        seen.outcomes = theirs.outcomes;
        match (seen.table, theirs.table) {
            (TablePlace::At(table), TablePlace::None) => {
                add(&mut self.tables[table as usize], &table_of_kept(theirs))
            }
            (TablePlace::At(table), TablePlace::At(from)) => {
                add(&mut self.tables[table as usize], &other.tables[from as usize]);
            }
            // Its table, if it has one, stays behind unused.
            (_, TablePlace::Dropped) => seen.table = TablePlace::Dropped,
            (TablePlace::Dropped | TablePlace::None, _) => {}
        }
    }
}

#[inline]
fn count(table: &mut PatternTable, outcomes: u64, taken: bool) {
    let next = &mut table[outcomes as usize % PATTERNS][usize::from(taken)];
    *next = next.saturating_add(1);
}

fn add(table: &mut PatternTable, more: &PatternTable) {
    for (counts, more) in table.iter_mut().flatten().zip(more.iter().flatten()) {
        *counts = counts.saturating_add(*more);
    }
}

/// The table of a site all of whose outcomes are still kept.
fn table_of_kept(seen: &SiteSeen) -> PatternTable {
    let mut table = [[0; 2]; PATTERNS];
    for age in (0..seen.executed).rev() {
        // What came before the oldest kept is all zeros, and shifting by 64 is not defined.
        let before = if age < 63 { seen.outcomes >> (age + 1) } else { 0 };
        count(&mut table, before, seen.outcomes >> age & 1 != 0);
    }
    table
}

/// Least mispredictions by the length of the pattern.
fn orders(table: &PatternTable) -> [LeastMisses; LONGEST + 1] {
    let mut counts = table.map(|pair| pair.map(u64::from));
    let mut orders = [LeastMisses::default(); LONGEST + 1];
    for order in (0..=LONGEST).rev() {
        orders[order] = counts[..1 << order].iter().map(|pair| misses(*pair)).fold(
            LeastMisses::default(),
            |sum, more| LeastMisses {
                hindsight: sum.hindsight + more.hindsight,
                held_out: sum.held_out + more.held_out,
            },
        );
        // Patterns that differ in the oldest outcome alone become one.
        let half = (1 << order) / 2;
        for pattern in 0..half {
            let older = counts[pattern + half];
            counts[pattern][0] += older[0];
            counts[pattern][1] += older[1];
        }
    }
    orders
}

/// Of one pattern after which not taken and taken came so often.
fn misses([one, other]: [u64; 2]) -> LeastMisses {
    let (rarer, commoner) = (one.min(other), one.max(other));
    // Without one of the rarer outcomes the rule stays: wrong. Without one of the commoner it stays too, unless that makes
    // a tie (half wrong) or the other outcome the commoner (wrong).
    let of_commoner = match commoner - rarer {
        0 => commoner as f64,
        1 => commoner as f64 / 2.0,
        _ => 0.0,
    };
    LeastMisses { hindsight: rarer, held_out: rarer as f64 + of_commoner }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BranchClass;

    fn branch(site: u32, taken: bool) -> Branch {
        Branch::new(0x1000 + u64::from(site), 0x2000, site, BranchClass::CONDITIONAL, taken, 1)
    }

    fn floor_of(outcomes: &[bool]) -> SiteFloor {
        let mut floor = Floor::default();
        let stream: Vec<Branch> = outcomes.iter().map(|taken| branch(0, *taken)).collect();
        floor.observe(&stream);
        floor.site(0).expect("it was executed")
    }

    /// Seeded outcomes, each taken with the probability that `chance` gives after the one before.
    fn chain(length: usize, chance: impl Fn(bool) -> f64) -> Vec<bool> {
        let mut state = 0x1234_5678_9abc_def1_u64;
        let mut last = false;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            last = ((state >> 11) as f64 / (1_u64 << 53) as f64) < chance(last);
            last
        };
        (0..length).map(next).collect()
    }

    /// The same figures from the definition: every outcome looked up among all others with the same pattern.
    fn counted_directly(outcomes: &[bool], order: usize) -> LeastMisses {
        let pattern = |at: usize| -> Vec<bool> {
            (1..=order).map(|back| at.checked_sub(back).is_some_and(|at| outcomes[at])).collect()
        };
        let mut misses = LeastMisses::default();
        let mut groups: Vec<(Vec<bool>, Vec<bool>)> = Vec::new();
        for (at, taken) in outcomes.iter().enumerate() {
            let pattern = pattern(at);
            match groups.iter_mut().find(|(of, _)| *of == pattern) {
                Some((_, members)) => members.push(*taken),
                None => groups.push((pattern, vec![*taken])),
            }
        }
        for (_, members) in groups {
            let taken = members.iter().filter(|taken| **taken).count();
            misses.hindsight += taken.min(members.len() - taken) as u64;
            for left_out in &members {
                let others = taken - usize::from(*left_out);
                misses.held_out += match (2 * others).cmp(&(members.len() - 1)) {
                    std::cmp::Ordering::Equal => 0.5,
                    more => f64::from(u8::from(more.is_gt() != *left_out)),
                };
            }
        }
        misses
    }

    #[test]
    fn every_order_is_that_of_the_definition_before_and_after_a_table_is_needed() {
        let outcomes = chain(700, |last| if last { 0.7 } else { 0.4 });
        for length in [1, 2, 7, 8, 9, 63, 64, 65, 66, 129, 700] {
            let by_order = floor_of(&outcomes[..length]).by_order.expect("there is room");
            for (order, found) in by_order.iter().enumerate() {
                assert_eq!(*found, counted_directly(&outcomes[..length], order), "{length} {order}");
            }
        }
    }

    #[test]
    fn brackets_the_entropy_of_independent_outcomes() {
        for probability in [0.5, 0.9, 0.2] {
            let floor = floor_of(&chain(100_000, |_| probability));
            let truth = 100_000.0 * f64::min(probability, 1.0 - probability);
            // Three standard deviations: of a binomial count, and of a coin's ties among 256 patterns of 390: one in 12
            // patterns is a tie or nearly one, and then half of it or all is counted.
            let noise = 3.0 * (100_000.0 * probability * (1.0 - probability)).sqrt();
            assert!((floor.constant() as f64 - truth).abs() < noise);
            let noise = if probability == 0.5 { 0.06 * truth } else { noise };
            for LeastMisses { hindsight, held_out } in floor.by_order.expect("there is room") {
                assert!(hindsight as f64 <= truth + noise && held_out >= truth - noise);
                assert!(hindsight as f64 <= held_out);
            }
        }
    }

    #[test]
    fn sees_a_markov_chain_from_order_one_on() {
        // Taken after taken 0.9, after not taken 0.2: in the long run a third is not taken, so at order 0 a third is
        // missed, and from order 1 on 2/3 x 0.1 + 1/3 x 0.2 = 2/15.
        let floor = floor_of(&chain(90_000, |last| if last { 0.9 } else { 0.2 }));
        let by_order = floor.by_order.expect("there is room");
        assert!((by_order[0].held_out / 90_000.0 - 1.0 / 3.0).abs() < 0.01);
        for (order, misses) in (1..).zip(&by_order[1..]) {
            assert!((misses.held_out / 90_000.0 - 2.0 / 15.0).abs() < 0.01, "{order}");
        }
        assert!(floor.best().expect("there is room").1.held_out < 12_400.0);
    }

    #[test]
    fn a_period_costs_nothing_from_the_order_that_tells_its_places_apart() {
        // 1 1 1 0: after three outcomes the place is known; two leave 1 1 both before the third 1 and before the 0.
        let floor = floor_of(&(0..4000).map(|nth| nth % 4 != 3).collect::<Vec<_>>());
        let hindsight: Vec<u64> = floor.by_order.unwrap().iter().map(|misses| misses.hindsight).collect();
        assert_eq!(hindsight[..3], [1000, 1000, 1000]);
        assert_eq!(hindsight[3..], [0; 6]);
        assert_eq!(floor.best().expect("there is room").0, 3);
    }

    #[test]
    fn hindsight_makes_a_coin_look_predictable_and_what_is_held_out_does_not() {
        let [.., longest] = floor_of(&chain(6400, |_| 0.5)).by_order.expect("there is room");
        // 256 patterns of about 25: 41.9 % each, by the mean deviation of a binomial of 25.
        assert!((longest.hindsight as f64 / 6400.0 - 0.419).abs() < 0.02);
        assert!((longest.held_out / 6400.0 - 0.5).abs() < 0.03);
    }

    #[test]
    fn a_constant_rule_misses_the_rarer_outcome() {
        let floor = SiteFloor { executed: 10, taken: 7, by_order: None };
        assert_eq!((floor.constant(), floor.best()), (3, None));
        assert_eq!(SiteFloor { executed: 10, taken: 2, by_order: None }.constant(), 2);
    }

    #[test]
    fn sites_are_apart_and_only_conditional_ones_count() {
        let mut floor = Floor::default();
        let other = Branch::new(1, 2, 7, BranchClass::RETURN, true, 1);
        let stream = (0..400).flat_map(|nth| [branch(2, nth % 2 == 0), branch(5, nth < 300), other]);
        floor.observe(&stream.collect::<Vec<_>>());
        assert_eq!(floor.site(2).unwrap().by_order.unwrap()[1].hindsight, 0);
        assert_eq!((floor.site(5).unwrap().executed, floor.site(5).unwrap().taken), (400, 300));
        assert_eq!((floor.site(7), floor.site(3), floor.site(99)), (None, None, None));
        assert_eq!(floor.dropped(), Dropped::default());
    }

    #[test]
    fn sites_past_the_limit_keep_their_counts_and_are_named_as_dropped() {
        let mut floor = Floor::with_tables(2);
        let stream: Vec<Branch> =
            (0..100).flat_map(|_| (0..4).map(|site| branch(site, site % 2 == 0))).collect();
        floor.observe(&stream);
        floor.observe(&[branch(9, true)]);
        assert!(floor.site(1).unwrap().by_order.is_some() && floor.site(9).unwrap().by_order.is_some());
        assert_eq!(floor.site(2), Some(SiteFloor { executed: 100, taken: 100, by_order: None }));
        assert_eq!(floor.dropped(), Dropped { sites: 2, executed: 200 });
    }

    #[test]
    fn merged_floors_have_the_counts_of_both() {
        let (one, other) = (chain(500, |_| 0.3), chain(900, |last| if last { 0.8 } else { 0.5 }));
        for (ours, theirs) in [(500, 900), (500, 40), (40, 900), (40, 40), (0, 40), (0, 900), (500, 0)] {
            let of = |outcomes: &[bool]| {
                let mut floor = Floor::default();
                floor.observe(&outcomes.iter().map(|taken| branch(3, *taken)).collect::<Vec<_>>());
                floor
            };
            let (mut sum, theirs) = (of(&one[..ours]), of(&other[..theirs]));
            let table = |floor: &Floor| match floor.sites.get(3) {
                None => [[0; 2]; PATTERNS],
                Some(SiteSeen { table: TablePlace::At(at), .. }) => *floor.tables[*at as usize],
                Some(seen) => table_of_kept(seen),
            };
            let mut expected = table(&sum);
            add(&mut expected, &table(&theirs));
            sum.merge(&theirs);
            assert_eq!(table(&sum), expected);
        }
    }

    #[test]
    fn what_is_few_enough_is_merged_one_after_the_other() {
        let outcomes = chain(64, |_| 0.5);
        let of = |outcomes: &[bool]| {
            let mut floor = Floor::with_tables(0);
            floor.observe(&outcomes.iter().map(|taken| branch(0, *taken)).collect::<Vec<_>>());
            floor
        };
        let mut sum = of(&outcomes[..25]);
        sum.merge(&of(&outcomes[25..]));
        assert_eq!(sum.site(0), of(&outcomes).site(0));
        sum.merge(&of(&outcomes));
        assert_eq!(sum.dropped(), Dropped { sites: 1, executed: 128 });
        let mut fresh = of(&[]);
        fresh.merge(&of(&chain(70, |_| 0.5)));
        assert_eq!(fresh.dropped(), Dropped { sites: 1, executed: 70 });
    }
}
