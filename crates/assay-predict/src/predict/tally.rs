//! How often did each site branch, which way, and how often was each predictor wrong?
//!
//! Indexed by the site's dense number: an array look-up per branch, no hash.

use super::prefetch::prefetch;
use crate::trace::{Branch, BranchClass, BranchKind};

/// What a prediction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PredictionKind {
    /// Which way a conditional branch goes.
    Direction,
    /// Where an indirect jump or call goes.
    Target,
    /// Where a return goes.
    Return,
}

impl PredictionKind {
    /// What there is to predict about a branch of this class; nothing about direct jumps and calls.
    ///
    /// A conditional branch that is also indirect is judged for its direction alone.
    #[inline]
    pub const fn of(class: BranchClass) -> Option<PredictionKind> {
        if class.is_conditional() {
            Some(PredictionKind::Direction)
        } else if matches!(class.kind(), BranchKind::Return) {
            Some(PredictionKind::Return)
        } else if class.is_indirect() {
            Some(PredictionKind::Target)
        } else {
            None
        }
    }
}

/// What happened at one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTally {
    /// Times it was executed.
    pub executed: u64,
    /// Times it was taken.
    pub taken: u64,
    /// Mispredictions by each member of the zoo, in its order.
    pub missed: Vec<u64>,
}

/// How often one site was not taken and taken.
type SiteOutcomes = [u64; 2];

/// In place of a class, of a site never seen.
const NEVER_SEEN: u8 = u8::MAX;

/// How far ahead branches are asked for, 6 KB: they come from another core's cache or from memory, of which the CPU by itself asks
/// no further than to the end of a page. Behind the end of a batch the next one mostly lies.
const AHEAD: usize = 256;

/// How much of a batch is counted.
#[derive(Clone, Copy, Default)]
struct BatchProgress {
    branches: usize,
    conditionals: usize,
    instructions: u64,
}

/// What happened at all sites, over the stretch of stream that was counted into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    outcomes: Vec<SiteOutcomes>,
    /// Bits of each site's class, or [`NEVER_SEEN`].
    classes: Vec<u8>,
    /// Mispredictions per member, then per site.
    missed: Vec<Vec<u64>>,
    /// Instructions over the stretch.
    pub instructions: u64,
}

impl Tally {
    /// An empty one for a zoo with so many members.
    pub fn new(members: usize) -> Tally {
        Tally { missed: vec![Vec::new(); members], ..Tally::default() }
    }

    /// Members of the zoo that count into it.
    pub fn members(&self) -> usize {
        self.missed.len()
    }

    /// Sites it has room for: one more than the largest number seen.
    pub fn sites(&self) -> usize {
        self.outcomes.len()
    }

    /// What happened at a site; nothing at one never seen.
    pub fn site(&self, site: u32) -> SiteTally {
        let at = site as usize;
        let [not_taken, taken] = self.outcomes.get(at).copied().unwrap_or_default();
        let missed = self.missed.iter().map(|column| column.get(at).copied().unwrap_or(0)).collect();
        SiteTally { executed: not_taken + taken, taken, missed }
    }

    /// The class of a site; none of one never seen.
    pub fn class(&self, site: u32) -> Option<BranchClass> {
        BranchClass::from_bits(*self.classes.get(site as usize)?)
    }

    /// Mispredictions of one member by site, as long as [`Tally::sites`].
    ///
    /// Panics if there is no such member.
    pub fn missed_by_site(&self, member: usize) -> &[u64] {
        &self.missed[member]
    }

    /// Branches over the stretch.
    pub fn branches(&self) -> u64 {
        self.outcomes.iter().flatten().sum()
    }

    /// Branches over the stretch whose class says `wanted`, and how many of them were taken.
    pub fn executed_where(&self, wanted: impl Fn(BranchClass) -> bool) -> (u64, u64) {
        let wanted = |&(_, bits): &(&SiteOutcomes, &u8)| BranchClass::from_bits(*bits).is_some_and(&wanted);
        let counted = self.outcomes.iter().zip(&self.classes).filter(wanted);
        counted.fold((0, 0), |(all, of_these), ([not_taken, taken], _)| {
            (all + not_taken + taken, of_these + taken)
        })
    }

    /// Branches over the stretch about which this could be predicted: the denominator of a miss rate.
    pub fn judged(&self, what: PredictionKind) -> u64 {
        self.executed_where(|class| PredictionKind::of(class) == Some(what)).0
    }

    /// Mispredictions of each member over the stretch, of all kinds together.
    pub fn missed(&self) -> Vec<u64> {
        self.missed.iter().map(|column| column.iter().sum()).collect()
    }

    /// Mispredictions of this kind by each member over the stretch.
    pub fn missed_of(&self, what: PredictionKind) -> Vec<u64> {
        let of_member = |column: &Vec<u64>| {
            let of_site = |(missed, &bits): (&u64, &u8)| {
                if BranchClass::from_bits(bits).and_then(PredictionKind::of) == Some(what) {
                    *missed
                } else {
                    0
                }
            };
            column.iter().zip(&self.classes).map(of_site).sum()
        };
        self.missed.iter().map(of_member).collect()
    }

    /// Adds what another stretch of the same process did: another thread, or another visit to the same region.
    ///
    /// Both must number the same sites alike and count for the same members; panics if the members are not as many.
    pub fn merge(&mut self, other: &Tally) {
        assert_eq!(self.members(), other.members(), "tallies of different zoos");
        self.make_room(other.sites());
        self.instructions += other.instructions;
        for (ours, theirs) in self.outcomes.iter_mut().flatten().zip(other.outcomes.iter().flatten()) {
            *ours += theirs;
        }
        for (ours, theirs) in self.classes.iter_mut().zip(&other.classes) {
            if *theirs != NEVER_SEEN {
                *ours = *theirs;
            }
        }
        for (column, others) in self.missed.iter_mut().zip(&other.missed) {
            for (missed, more) in column.iter_mut().zip(others) {
                *missed += more;
            }
        }
    }

    /// Counts executions and writes down which of the branches are conditional, by their places, to the start of
    /// `conditionals`; how many they are. Afterwards there is room for mispredictions at each site of `branches`.
    ///
    /// Both in one pass, since for a bimodal predictor this costs as much as the predictor. Panics if `conditionals` is
    /// shorter than `branches`.
    pub(super) fn count(&mut self, branches: &[Branch], conditionals: &mut [u16]) -> usize {
        let conditionals = &mut conditionals[..branches.len()];
        let mut done = BatchProgress::default();
        while let Some(new) = self.count_known(branches, conditionals, &mut done) {
            self.meet(new);
        }
        self.instructions += done.instructions;
        done.conditionals
    }

    /// Counts up to the first branch whose site was not met before, and returns that.
    fn count_known<'a>(
        &mut self,
        branches: &'a [Branch],
        conditionals: &mut [u16],
        done: &mut BatchProgress,
    ) -> Option<&'a Branch> {
        let classes = &self.classes[..];
        let outcomes = &mut self.outcomes[..classes.len()];
        let BatchProgress { branches: from, conditionals: mut found, mut instructions } = *done;
        let mut new = None;
        let mut at = from;
        while let Some(branch) = branches.get(at) {
            prefetch(branches, at + AHEAD);
            let site = branch.site as usize;
            if classes.get(site) != Some(&branch.class().bits()) {
                new = Some(branch);
                break;
            }
            outcomes[site][usize::from(branch.taken())] += 1;
            instructions += u64::from(branch.instructions());
            // Written always and kept only by moving on: no branch of ours that depends on the stream.
            conditionals[found] = at as u16;
            found += usize::from(branch.class().is_conditional());
            at += 1;
        }
        *done = BatchProgress { branches: at, conditionals: found, instructions };
        new
    }

    /// Makes room for a site and writes down its class.
    #[cold]
    fn meet(&mut self, branch: &Branch) {
        let site = branch.site as usize;
        self.make_room(site + 1);
        self.classes[site] = branch.class().bits();
    }

    /// Makes room for all of these sites, which stand in the order of their numbers, and writes down their classes.
    pub(super) fn meet_all(&mut self, sites: &[Branch]) {
        let known = self.sites();
        if sites.len() > known {
            self.make_room(sites.len());
            for (class, site) in self.classes[known..].iter_mut().zip(&sites[known..]) {
                *class = site.class().bits();
            }
        }
    }

    /// Where a member counts its mispredictions, by site.
    pub(super) fn column(&mut self, member: usize) -> &mut [u64] {
        &mut self.missed[member]
    }

    fn make_room(&mut self, sites: usize) {
        if sites > self.sites() {
            self.outcomes.resize(sites, [0; 2]);
            self.classes.resize(sites, NEVER_SEEN);
            self.missed.iter_mut().for_each(|column| column.resize(sites, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Zoo;

    const SWITCH: BranchClass = BranchClass::INDIRECT_JUMP;

    fn branch(site: u32, class: BranchClass, taken: bool, instructions: u32) -> Branch {
        Branch::new(0x1000 + u64::from(site) * 8, 0x9000, site, class, taken, instructions)
    }

    /// Site 0 conditional, 1 a direct call, 2 a switch, 5 a return; sites 3 and 4 never.
    fn stretch() -> Vec<Branch> {
        vec![
            branch(5, BranchClass::RETURN, true, 9),
            branch(0, BranchClass::CONDITIONAL, false, 3),
            branch(2, SWITCH, true, 4),
            branch(0, BranchClass::CONDITIONAL, true, 5),
            branch(1, BranchClass::CALL, true, 1),
            branch(0, BranchClass::CONDITIONAL, false, 2),
        ]
    }

    fn tally(branches: &[Branch]) -> Tally {
        let mut tally = Tally::new(2);
        let mut zoo = Zoo::new(&["always-taken", "last-target"]).expect("known names");
        zoo.observe(branches, &mut tally);
        tally
    }

    #[test]
    fn what_is_judged_follows_from_the_class() {
        let conditional_return = BranchClass::new(BranchKind::Return, true, true);
        for (class, expected) in [
            (BranchClass::CONDITIONAL, Some(PredictionKind::Direction)),
            (conditional_return, Some(PredictionKind::Direction)),
            (BranchClass::new(BranchKind::Call, true, false), Some(PredictionKind::Direction)),
            (BranchClass::RETURN, Some(PredictionKind::Return)),
            (BranchClass::INDIRECT_CALL, Some(PredictionKind::Target)),
            (SWITCH, Some(PredictionKind::Target)),
            (BranchClass::JUMP, None),
            (BranchClass::CALL, None),
        ] {
            assert_eq!(PredictionKind::of(class), expected, "{class}");
        }
    }

    #[test]
    fn sites_members_and_kinds_are_counted_apart() {
        let tally = tally(&stretch());
        let at_0 = SiteTally { executed: 3, taken: 1, missed: vec![2, 0] };
        assert_eq!(
            (tally.site(0), tally.site(1)),
            (at_0, SiteTally { executed: 1, taken: 1, missed: vec![0, 0] })
        );
        assert_eq!(tally.site(2).missed, [0, 1]);
        assert_eq!((tally.sites(), tally.members(), tally.branches(), tally.instructions), (6, 2, 6, 24));
        assert_eq!(tally.missed(), [2, 1]);
        assert_eq!(tally.missed_by_site(0), [2, 0, 0, 0, 0, 0]);
        assert_eq!(tally.missed_of(PredictionKind::Direction), [2, 0]);
        assert_eq!(tally.missed_of(PredictionKind::Target), [0, 1]);
        assert_eq!(tally.missed_of(PredictionKind::Return), [0, 0]);
        let judged = [PredictionKind::Direction, PredictionKind::Target, PredictionKind::Return]
            .map(|what| tally.judged(what));
        assert_eq!(judged, [3, 1, 1]);
        assert_eq!(tally.executed_where(BranchClass::is_conditional), (3, 1));
        assert_eq!(tally.executed_where(|class| class.kind() == BranchKind::Call), (1, 1));
        assert_eq!(tally.executed_where(|_| true), (6, 4));
    }

    #[test]
    fn a_site_never_seen_has_counts_of_nothing_and_no_class() {
        let tally = tally(&stretch());
        let nothing = SiteTally { executed: 0, taken: 0, missed: vec![0, 0] };
        assert_eq!([tally.site(3), tally.site(6), tally.site(u32::MAX)], [(); 3].map(|()| nothing.clone()));
        assert_eq!([3, 6, u32::MAX].map(|site| tally.class(site)), [None; 3]);
        assert_eq!(
            [0, 1, 2, 5].map(|site| tally.class(site)),
            [BranchClass::CONDITIONAL, BranchClass::CALL, SWITCH, BranchClass::RETURN].map(Some)
        );
    }

    #[test]
    fn merging_is_as_counting_one_after_the_other_with_what_was_learned_kept() {
        let (one, other) = (
            stretch(),
            [branch(7, BranchClass::JUMP, true, 8), branch(0, BranchClass::CONDITIONAL, false, 1)],
        );
        for (first, second) in [(&one[..], &other[..]), (&other[..], &one[..])] {
            let mut zoo = Zoo::new(&["always-taken", "last-target"]).expect("known names");
            let (mut merged, mut next) = (Tally::new(2), Tally::new(2));
            zoo.observe(first, &mut merged);
            zoo.observe(second, &mut next);
            merged.merge(&next);
            let both: Vec<Branch> = first.iter().chain(second).copied().collect();
            assert_eq!(merged, tally(&both));
        }
    }

    #[test]
    #[should_panic(expected = "different zoos")]
    fn tallies_of_other_zoos_are_not_merged() {
        Tally::new(1).merge(&Tally::new(2));
    }

    #[test]
    fn the_places_of_conditional_branches_are_right_wherever_new_sites_come() {
        // Every 7th branch of a batch is at a site not met before.
        let of = |nth: u32| {
            let class = if nth.is_multiple_of(3) { BranchClass::CONDITIONAL } else { BranchClass::CALL };
            branch(if nth.is_multiple_of(7) { 1000 + nth } else { nth % 3 }, class, true, 1)
        };
        let branches: Vec<Branch> = (0..500).map(of).collect();
        let mut places = [u16::MAX; 500];
        let found = Tally::new(0).count(&branches, &mut places);
        let expected: Vec<u16> = (0..500).filter(|nth| nth % 3 == 0).collect();
        assert_eq!(places[..found], expected);
    }
}
