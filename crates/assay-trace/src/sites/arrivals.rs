//! Where indirect jumps and calls went, and how often.
//!
//! A direct branch says it itself; of an indirect one only the stream knows. Returns are left out: they go back.

use assay_pure::trace::Branch;
use std::collections::HashMap;

/// Targets of indirect jumps and calls, by the number of the site.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    sites: Vec<Targets>,
}

/// The targets of one site; the first met apart, because most sites have no other.
#[derive(Clone, Debug, Default)]
struct Targets {
    first: u64,
    times: u64,
    others: HashMap<u64, u64>,
}

impl Targets {
    fn add(&mut self, target: u64, times: u64) {
        if self.times == 0 {
            (self.first, self.times) = (target, times);
        } else if self.first == target {
            self.times += times;
        } else {
            *self.others.entry(target).or_default() += times;
        }
    }
}

impl Arrivals {
    /// Counts those of a stretch of stream.
    pub fn observe(&mut self, branches: &[Branch]) {
        for branch in branches {
            if branch.class().has_predicted_target() && branch.taken() {
                self.add(branch.site, branch.target, 1);
            }
        }
    }

    fn add(&mut self, site: u32, target: u64, times: u64) {
        let at = site as usize;
        if at >= self.sites.len() {
            self.sites.resize_with(at + 1, Targets::default);
        }
        self.sites[at].add(target, times);
    }

    /// Adds what another thread of the same process did.
    pub fn merge(&mut self, other: &Arrivals) {
        for (site, targets) in (0_u32..).zip(&other.sites) {
            for (target, times) in targets.iter() {
                self.add(site, target, times);
            }
        }
    }

    /// The targets of a site with how often each was reached.
    pub fn of(&self, site: u32) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.sites.get(site as usize).into_iter().flat_map(Targets::iter)
    }
}

impl Targets {
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = (self.times > 0).then_some((self.first, self.times));
        first.into_iter().chain(self.others.iter().map(|(target, times)| (*target, *times)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::BranchClass;

    fn branch(site: u32, class: BranchClass, target: u64) -> Branch {
        Branch::new(0x1000 + u64::from(site), target, site, class, true, 1)
    }

    fn of(arrivals: &Arrivals, site: u32) -> Vec<(u64, u64)> {
        let mut found: Vec<_> = arrivals.of(site).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn indirect_jumps_and_calls_are_counted_by_target_and_nothing_else_is() {
        let mut arrivals = Arrivals::default();
        arrivals.observe(&[
            branch(2, BranchClass::INDIRECT_CALL, 7),
            branch(2, BranchClass::INDIRECT_CALL, 9),
            branch(2, BranchClass::INDIRECT_CALL, 7),
            branch(0, BranchClass::INDIRECT_JUMP, 9),
            branch(1, BranchClass::RETURN, 7),
            branch(3, BranchClass::CALL, 7),
            branch(4, BranchClass::CONDITIONAL, 7),
        ]);
        assert_eq!(of(&arrivals, 2), [(7, 2), (9, 1)]);
        assert_eq!(of(&arrivals, 0), [(9, 1)]);
        assert_eq!([of(&arrivals, 1), of(&arrivals, 3), of(&arrivals, 4), of(&arrivals, 99)], [[]; 4]);
    }

    #[test]
    fn what_several_threads_did_adds_up() {
        let (mut one, mut other) = (Arrivals::default(), Arrivals::default());
        one.observe(&[branch(0, BranchClass::INDIRECT_CALL, 7)]);
        other.observe(&[branch(0, BranchClass::INDIRECT_CALL, 8), branch(0, BranchClass::INDIRECT_CALL, 7)]);
        other.observe(&[branch(5, BranchClass::INDIRECT_JUMP, 1)]);
        one.merge(&other);
        assert_eq!((of(&one, 0), of(&one, 5)), (vec![(7, 2), (8, 1)], vec![(1, 1)]));
    }
}
