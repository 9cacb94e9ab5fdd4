//! How often did each site branch, which way, and how often was each predictor wrong?
//!
//! Indexed by the site's dense number: an array look-up per branch, no hash.

use crate::trace::{Branch, Class, Kind};

/// What a prediction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Judged {
    /// Which way a conditional branch goes.
    Direction,
    /// Where an indirect jump or call goes.
    Target,
    /// Where a return goes.
    Return,
}

impl Judged {
    /// What there is to predict about a branch of this class; nothing about direct jumps and calls.
    ///
    /// A conditional branch that is also indirect is judged for its direction alone.
    #[inline]
    pub const fn of(class: Class) -> Option<Judged> {
        if class.is_conditional() {
            Some(Judged::Direction)
        } else if matches!(class.kind(), Kind::Return) {
            Some(Judged::Return)
        } else if class.is_indirect() {
            Some(Judged::Target)
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

/// Executions of one site: executed, of these taken.
type Executions = [u64; 2];

/// What happened at all sites, over the stretch of stream that was counted into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    executions: Vec<Executions>,
    /// Bits of each site's class; of a site never seen, 0.
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
        self.executions.len()
    }

    /// What happened at a site; nothing at one never seen.
    pub fn site(&self, site: u32) -> SiteTally {
        let at = site as usize;
        let [executed, taken] = self.executions.get(at).copied().unwrap_or_default();
        let missed = self.missed.iter().map(|column| column.get(at).copied().unwrap_or(0)).collect();
        SiteTally { executed, taken, missed }
    }

    /// The class of a site; none of one never seen.
    pub fn class(&self, site: u32) -> Option<Class> {
        let at = site as usize;
        if self.executions.get(at)?[0] == 0 { None } else { Class::from_bits(self.classes[at]) }
    }

    /// Mispredictions of one member by site, as long as [`Tally::sites`].
    ///
    /// Panics if there is no such member.
    pub fn missed_by_site(&self, member: usize) -> &[u64] {
        &self.missed[member]
    }

    /// Branches over the stretch.
    pub fn branches(&self) -> u64 {
        self.executions.iter().map(|[executed, _]| executed).sum()
    }

    /// Branches over the stretch whose class says `wanted`, and how many of them were taken.
    pub fn executed_where(&self, wanted: impl Fn(Class) -> bool) -> (u64, u64) {
        let wanted = |&(_, bits): &(&Executions, &u8)| Class::from_bits(*bits).is_some_and(&wanted);
        let counted = self.executions.iter().zip(&self.classes).filter(wanted);
        counted.fold((0, 0), |(all, of_these), ([executed, taken], _)| (all + executed, of_these + taken))
    }

    /// Branches over the stretch about which this could be predicted: the denominator of a miss rate.
    pub fn judged(&self, what: Judged) -> u64 {
        self.executed_where(|class| Judged::of(class) == Some(what)).0
    }

    /// Mispredictions of each member over the stretch, of all kinds together.
    pub fn missed(&self) -> Vec<u64> {
        self.missed.iter().map(|column| column.iter().sum()).collect()
    }

    /// Mispredictions of this kind by each member over the stretch.
    pub fn missed_of(&self, what: Judged) -> Vec<u64> {
        let of_member = |column: &Vec<u64>| {
            let of_site = |(missed, &bits): (&u64, &u8)| {
                if Class::from_bits(bits).and_then(Judged::of) == Some(what) { *missed } else { 0 }
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
        for (at, [executed, taken]) in other.executions.iter().enumerate() {
            if *executed > 0 {
                self.executions[at][0] += executed;
                self.executions[at][1] += taken;
                self.classes[at] = other.classes[at];
            }
        }
        for (column, others) in self.missed.iter_mut().zip(&other.missed) {
            for (missed, more) in column.iter_mut().zip(others) {
                *missed += more;
            }
        }
    }

    /// Counts executions; afterwards there is room for mispredictions at each site of `branches`.
    pub(super) fn count(&mut self, branches: &[Branch]) {
        let sites = branches.iter().map(|branch| branch.site as usize + 1).max().unwrap_or(0);
        self.make_room(sites);
        let (executions, classes) = (&mut self.executions[..], &mut self.classes[..]);
        for branch in branches {
            let at = branch.site as usize;
            executions[at][0] += 1;
            executions[at][1] += u64::from(branch.taken());
            classes[at] = branch.class().bits();
            self.instructions += u64::from(branch.instructions());
        }
    }

    /// Where a member counts its mispredictions, by site.
    pub(super) fn column(&mut self, member: usize) -> &mut [u64] {
        &mut self.missed[member]
    }

    fn make_room(&mut self, sites: usize) {
        if sites > self.sites() {
            self.executions.resize(sites, [0; 2]);
            self.classes.resize(sites, 0);
            self.missed.iter_mut().for_each(|column| column.resize(sites, 0));
        }
    }
}
