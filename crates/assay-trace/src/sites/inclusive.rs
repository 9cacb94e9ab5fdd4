//! How many branches were executed within each call, from the call to its return, callees of callees included.
//!
//! Method: a stack of open calls; a return closes the innermost open call that it returns behind, and all that were left
//! open above it (by longjmp, by exceptions). Of a call that is open several times, by recursion, only the outermost counts.
//! A jump into another function (a call in tail position, the stub of a dynamic link) stays part of the call before it.

use assay_pure::trace::{Branch, BranchKind, BranchSite};

/// Open calls that are remembered; deeper ones are forgotten together.
const DEEPEST: usize = 1 << 16;
/// Open calls that a return is looked for among.
const LOOKED_AT: usize = 64;

/// Branches within calls, by the number of the site that calls.
#[derive(Clone, Debug, Default)]
pub struct Inclusive {
    branches: u64,
    open: Vec<OpenCall>,
    calls: Vec<CallCount>,
}

#[derive(Clone, Copy, Debug)]
struct OpenCall {
    site: u32,
    back: u64,
    since: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CallCount {
    branches: u64,
    open: u32,
}

impl Inclusive {
    /// Counts a stretch of stream.
    pub fn observe(&mut self, sites: &[BranchSite], branches: &[Branch]) {
        for branch in branches {
            self.branches += 1;
            match branch.class().kind() {
                BranchKind::Jump => {}
                BranchKind::Call => {
                    let length = sites.get(branch.site as usize).map_or(0, |site| u64::from(site.length));
                    self.call(branch.site, branch.pc.wrapping_add(length));
                }
                BranchKind::Return => self.back(branch.target),
            }
        }
    }

    fn call(&mut self, site: u32, back: u64) {
        if self.open.len() == DEEPEST {
            self.open.clear();
            self.calls.iter_mut().for_each(|call| call.open = 0);
        }
        let at = site as usize;
        if at >= self.calls.len() {
            self.calls.resize(at + 1, CallCount::default());
        }
        self.calls[at].open += 1;
        self.open.push(OpenCall { site, back, since: self.branches });
    }

    fn back(&mut self, target: u64) {
        let found = self.open.iter().rev().take(LOOKED_AT).position(|open| open.back == target);
        for _ in 0..found.map_or(0, |above| above + 1) {
            let Some(open) = self.open.pop() else { return };
            let call = &mut self.calls[open.site as usize];
            call.open -= 1;
            if call.open == 0 {
                call.branches += self.branches - open.since;
            }
        }
    }

    /// Adds what another thread of the same process did.
    pub fn merge(&mut self, other: &Inclusive) {
        self.calls.resize(self.calls.len().max(other.calls.len()), CallCount::default());
        for (own, more) in self.calls.iter_mut().zip(&other.calls) {
            own.branches += more.branches;
        }
    }

    /// Branches executed within the calls of a site, the return included, the call itself not.
    pub fn of(&self, site: u32) -> u64 {
        self.calls.get(site as usize).map_or(0, |call| call.branches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::BranchClass;

    const LENGTH: u64 = 5;

    fn sites() -> Vec<BranchSite> {
        let site = |pc| BranchSite { pc, length: 5, class: BranchClass::CALL, target: None };
        (0..8).map(|number| site(0x100 * number)).collect()
    }

    fn call(site: u32) -> Branch {
        Branch::new(0x100 * u64::from(site), 0x9000, site, BranchClass::CALL, true, 1)
    }

    /// The return of a call made by `site`.
    fn back(site: u32) -> Branch {
        Branch::new(0x9999, 0x100 * u64::from(site) + LENGTH, 7, BranchClass::RETURN, true, 1)
    }

    fn step() -> Branch {
        Branch::new(0x5000, 0x5010, 6, BranchClass::CONDITIONAL, false, 1)
    }

    #[test]
    fn what_callees_call_is_within_the_call() {
        let mut inclusive = Inclusive::default();
        inclusive.observe(&sites(), &[step(), call(1), step(), call(2), step(), back(2), back(1), step()]);
        // Within the call of 1: a step, the call of 2, its step, two returns.
        assert_eq!([inclusive.of(1), inclusive.of(2), inclusive.of(3)], [5, 2, 0]);
        let mut twice = inclusive.clone();
        twice.merge(&inclusive);
        assert_eq!([twice.of(1), twice.of(2)], [10, 4]);
    }

    #[test]
    fn a_recursive_call_counts_once() {
        let mut inclusive = Inclusive::default();
        inclusive.observe(&sites(), &[call(1), call(1), step(), back(1), back(1)]);
        assert_eq!(inclusive.of(1), 4);
    }

    #[test]
    fn calls_that_were_left_open_end_with_the_one_below_and_a_stray_return_closes_none() {
        let mut inclusive = Inclusive::default();
        inclusive.observe(&sites(), &[call(1), call(2), call(3), back(4), back(1), back(2)]);
        assert_eq!([inclusive.of(1), inclusive.of(2), inclusive.of(3)], [4, 3, 2]);
    }
}
