//! Can each branch be reached from the one before?
//!
//! A trace that can be decoded is not yet a valid one: fields may lie elsewhere than the reader thinks. But control goes
//! from a branch to its target or behind it, and then forward: the next branch lies as many instructions further as the
//! stream says, each of 1 to 15 bytes. A wrong reading fails that nearly everywhere, a right one nearly nowhere; what
//! remains are signals, other threads and what a tracer did not see.

use super::{Branch, BranchSite};

/// Bytes of the longest instruction (x86-64).
const LONGEST: u64 = 15;

/// What the check found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuity {
    /// Branches that could be checked.
    pub checked: u64,
    /// Those of them that cannot be reached from the branch before.
    pub broken: u64,
    /// The first of these, counted over all branches of the stream from 0.
    pub first_broken: Option<u64>,
    seen: u64,
    last: Option<Last>,
    /// Of the sites' instructions. In a list of their own, for those of a large program do not fit into a first-level cache
    /// with all else that is known of them.
    lengths: Vec<u8>,
}

/// Where the last branch led: the first and the last address possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    from: u64,
    slack: u64,
}

impl Last {
    const NOWHERE: Last = Last { from: 0, slack: 0 };

    /// Behind a branch of this length, 0 where that is not known, or at its target. By masks: a jump of ours that depends on
    /// the outcome would be mispredicted as often as the program's branches are.
    #[inline]
    fn after(branch: &Branch, length: u8) -> Last {
        let taken = u64::from(branch.taken()).wrapping_neg();
        let unknown = u64::from(length == 0).wrapping_neg();
        let behind = branch.pc.wrapping_add(u64::from(length) | 1 & unknown);
        Last { from: behind & !taken | branch.target & taken, slack: (LONGEST - 1) & unknown & !taken }
    }

    /// Whether so many instructions, and no jump, lie between it and an address.
    #[inline]
    fn leads_to(self, pc: u64, between: u32) -> bool {
        let between = u64::from(between);
        let beyond_the_nearest = pc.wrapping_sub(self.from).wrapping_sub(between);
        beyond_the_nearest <= (LONGEST - 1) * between + self.slack
    }
}

impl Continuity {
    /// Takes the next branches of a stream. `sites` only grows from call to call. A gap of `longest_gap` or more may be any
    /// longer one; of 0, it is not known.
    pub fn observe(&mut self, sites: &[BranchSite], branches: &[Branch], longest_gap: u32) {
        let new = sites.get(self.lengths.len()..).unwrap_or_default();
        self.lengths.extend(new.iter().map(|site| site.length));
        let longest = longest_gap.saturating_sub(1);
        let (mut last, mut is_known) = (self.last.unwrap_or(Last::NOWHERE), self.last.is_some());
        let (mut checked, mut broken) = (0, 0);
        for (at, branch) in branches.iter().enumerate() {
            let between = branch.instructions().wrapping_sub(1);
            let is_checked = is_known & (between < longest);
            let is_broken = is_checked & !last.leads_to(branch.pc, between);
            checked += u64::from(is_checked);
            broken += u64::from(is_broken);
            if is_broken && self.first_broken.is_none() {
                self.first_broken = Some(self.seen + at as u64);
            }
            let length = self.lengths.get(branch.site as usize).copied().unwrap_or(0);
            last = Last::after(branch, length);
            is_known = true;
        }
        self.checked += checked;
        self.broken += broken;
        self.seen += branches.len() as u64;
        self.last = is_known.then_some(last);
    }

    /// Goes over branches of the stream that are not looked at.
    pub fn pass_over(&mut self, branches: usize) {
        self.seen += branches as u64;
        self.last = None;
    }

    /// The share of what was checked that holds; `None` where nothing could be.
    pub fn holds(&self) -> Option<f64> {
        (self.checked > 0).then(|| 1.0 - self.broken as f64 / self.checked as f64)
    }

    /// Whether this is so far off that the fields must lie elsewhere.
    pub fn is_nonsense(&self) -> bool {
        self.checked >= 16 && self.holds().is_some_and(|holds| holds < 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::super::BranchClass;
    use super::*;

    fn after(taken: bool, length: u8, pc: u64, gap: u32) -> Continuity {
        let site = |length| BranchSite { pc: 0, length, class: BranchClass::CONDITIONAL, target: None };
        let branches = [
            Branch::new(0x100, 0x200, 0, BranchClass::CONDITIONAL, taken, 1),
            Branch::new(pc, 0, 0, BranchClass::CONDITIONAL, true, gap),
        ];
        let mut continuity = Continuity::default();
        continuity.observe(&[site(length)], &branches[..1], 4095);
        continuity.observe(&[site(length)], &branches[1..], 4095);
        continuity
    }

    fn holds(taken: bool, length: u8, pc: u64, gap: u32) -> bool {
        let found = after(taken, length, pc, gap);
        assert_eq!((found.checked, found.first_broken), (1, (found.broken == 1).then_some(1)));
        found.broken == 0
    }

    #[test]
    fn after_a_taken_branch_control_goes_on_from_its_target() {
        assert!(holds(true, 2, 0x200, 1) && !holds(true, 2, 0x201, 1) && !holds(true, 2, 0x1ff, 1));
        assert!(holds(true, 2, 0x202, 3) && holds(true, 2, 0x200 + 30, 3));
        assert!(!holds(true, 2, 0x201, 3) && !holds(true, 2, 0x200 + 31, 3));
    }

    #[test]
    fn after_one_that_is_not_taken_it_goes_on_behind() {
        assert!(holds(false, 2, 0x102, 1) && !holds(false, 2, 0x101, 1) && !holds(false, 2, 0x103, 1));
        assert!(holds(false, 0, 0x101, 1) && holds(false, 0, 0x10f, 1));
        assert!(!holds(false, 0, 0x100, 1) && !holds(false, 0, 0x110, 1));
        assert!(holds(false, 2, 0x102 + 15, 2) && !holds(false, 2, 0x102 + 16, 2));
    }

    #[test]
    fn gaps_that_are_not_known_are_not_checked() {
        for gap in [0, 4095, 5000] {
            assert_eq!(after(true, 2, 0, gap).checked, 0);
        }
        assert_eq!(after(true, 2, 0, 1).holds(), Some(0.0));
        assert_eq!(Continuity::default().holds(), None);
    }

    #[test]
    fn what_is_passed_over_is_counted_and_nothing_is_checked_across_it() {
        let branch = |pc| Branch::new(pc, 0x200, 0, BranchClass::CONDITIONAL, true, 1);
        let mut continuity = Continuity::default();
        continuity.observe(&[], &[branch(0x100), branch(0x200)], 4095);
        continuity.pass_over(10);
        continuity.observe(&[], &[branch(0x900), branch(0x300)], 4095);
        assert_eq!((continuity.checked, continuity.broken, continuity.first_broken), (2, 1, Some(13)));
    }

    #[test]
    fn half_of_it_broken_is_nonsense() {
        let found = |broken| Continuity { checked: 100, broken, ..Continuity::default() };
        assert!(found(51).is_nonsense() && !found(50).is_nonsense());
        assert!(!Continuity { checked: 15, broken: 15, ..Continuity::default() }.is_nonsense());
    }
}
