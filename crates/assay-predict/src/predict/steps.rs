//! A stretch of stream in four bytes per branch, for sources that know the code: sites and outcomes apart.
//!
//! A program's direct branches differ from one execution to the next in one bit; all else is a fact of the site. So an
//! event is the site's number and that bit, and where an indirect branch went stands in a list of its own. What walks over
//! it reads a sixth of the memory that [`Branch`]es take, and those who judge conditional branches alone see no others.

use super::run_table::{ConditionalPieces, IS_RUN, RunTable};
use crate::trace::{Branch, BranchClass};
use std::collections::HashMap;
use std::sync::Arc;

/// A stretch of stream and the sites that it names.
///
/// An event is the number of the site times 2, plus 1 for a branch that was taken. Instructions between branches are not
/// said.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// The branch of each site by number, not taken; of an indirect one the target is 0. From one stretch of a stream to the
    /// next there may be more of them, but what a number stands for stays.
    pub sites: &'a [Branch],
    /// The conditional branches in order: events, the numbers of `runs` with [`super::IS_RUN`], and [`super::Repeated`] ahead of
    /// such ones.
    pub conditionals: &'a [u32],
    /// What those stand for. There may be more of them in the next stretch, or others.
    pub runs: &'a RunTable,
    /// Events of all branches, in order; not to be relied on where [`super::Zoo::sees_all`] says no.
    pub all: &'a [u32],
    /// Where each indirect branch of `all` went, in order.
    pub targets: &'a [u64],
}

/// Branches that are written out at once: 6 KB.
const PIECE: usize = 256;

/// For steps without runs.
pub static NO_RUNS: RunTable = RunTable::new();

impl<'a> Steps<'a> {
    /// Events and runs in a row, and how often they come.
    pub(super) fn pieces(self) -> ConditionalPieces<'a> {
        ConditionalPieces { left: self.conditionals, may_repeat: !self.runs.is_empty() }
    }

    /// Events of the conditional branches, in order.
    pub fn conditional_events(self) -> impl Iterator<Item = u32> + 'a {
        let events = move |piece: &'a [u32]| piece.iter().flat_map(|of| self.runs.events(of)).copied();
        self.pieces().flat_map(move |(piece, times)| (0..times).flat_map(move |_| events(piece)))
    }

    /// How many branches these are, of the form that has more of them.
    pub fn branches(self) -> usize {
        if !self.all.is_empty() {
            return self.all.len();
        }
        let number = |piece: &[u32]| -> usize { piece.iter().map(|of| self.runs.events(of).len()).sum() };
        self.pieces().map(|(piece, times)| number(piece) * times).sum()
    }

    /// All branches, written out piece by piece. So who looks at all has one loop, whatever the stream is written in, and
    /// the compiler one place to put a predictor's code: with two it calls what it would else have inlined.
    pub(super) fn for_pieces(self, mut walk: impl FnMut(&[Branch])) {
        let mut piece = [Branch::new(0, 0, 0, BranchClass::JUMP, false, 0); PIECE];
        let mut targets = self.targets.iter();
        for events in self.all.chunks(PIECE) {
            for (place, event) in piece.iter_mut().zip(events) {
                let site = &self.sites[(event >> 1) as usize];
                let mut target = site.target;
                if site.class().is_indirect() {
                    target = targets.next().copied().unwrap_or(0);
                }
                *place = site.again(target, event & 1 != 0, 0);
            }
            walk(&piece[..events.len()]);
        }
    }
}

/// Steps that own what they hold, to be handed to another thread.
#[derive(Clone, Debug)]
pub struct KeptSteps {
    sites: Arc<[Branch]>,
    conditionals: Vec<u32>,
    runs: RunTable,
    all: Vec<u32>,
    targets: Vec<u64>,
}

impl KeptSteps {
    /// A copy, without runs. `sites` are those of the steps, which change seldom.
    pub fn copy(steps: Steps<'_>, sites: &Arc<[Branch]>) -> KeptSteps {
        KeptSteps {
            sites: Arc::clone(sites),
            conditionals: steps.conditional_events().collect(),
            runs: RunTable::new(),
            all: steps.all.to_vec(),
            targets: steps.targets.to_vec(),
        }
    }

    /// A piece of a stream in which each site has one address, one class and one static target.
    pub fn of(stream: &[Branch], piece: &[Branch]) -> KeptSteps {
        let number = stream.iter().map(|branch| branch.site as usize + 1).max().unwrap_or(0);
        let mut sites = vec![Branch::new(0, 0, 0, BranchClass::JUMP, false, 0); number];
        for branch in stream {
            let target = if branch.class().is_indirect() { 0 } else { branch.target };
            sites[branch.site as usize] = branch.again(target, false, 0);
        }
        let event = |branch: &Branch| branch.site << 1 | u32::from(branch.taken());
        let those =
            |wanted: fn(BranchClass) -> bool| piece.iter().filter(move |branch| wanted(branch.class()));
        KeptSteps {
            sites: sites.into(),
            conditionals: those(BranchClass::is_conditional).map(event).collect(),
            runs: RunTable::new(),
            all: piece.iter().map(event).collect(),
            targets: those(BranchClass::is_indirect).map(|branch| branch.target).collect(),
        }
    }

    /// The same, its conditional branches in runs of so many, at most [`RUN`], by their number in the stretch; the same branches are
    /// the same run. 0: one branch stays an event.
    pub fn in_runs(self, length: impl Fn(usize) -> usize) -> KeptSteps {
        let (mut runs, mut known, mut conditionals) = (RunTable::new(), HashMap::new(), Vec::new());
        let mut left = &self.conditionals[..];
        for nth in 0.. {
            let (those, behind) = left.split_at(length(nth).max(1).min(left.len()));
            if those.is_empty() {
                break;
            }
            if length(nth) == 0 {
                conditionals.extend(those);
            } else {
                let number = *known.entry(those).or_insert_with(|| {
                    let branch = |event: &u32| {
                        let site = &self.sites[(event >> 1) as usize];
                        site.again(site.target, event & 1 != 0, 0)
                    };
                    runs.add(those.iter().map(branch));
                    runs.len() as u32 - 1
                });
                conditionals.push(IS_RUN | number);
            }
            left = behind;
        }
        KeptSteps { conditionals, runs, ..self }
    }

    /// To be walked over.
    pub fn steps(&self) -> Steps<'_> {
        let KeptSteps { sites, conditionals, runs, all, targets } = self;
        Steps { sites, conditionals, runs, all, targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_out(kept: &KeptSteps) -> Vec<Branch> {
        let mut branches = Vec::new();
        kept.steps().for_pieces(|piece| branches.extend_from_slice(piece));
        branches
    }

    #[test]
    fn pieces_follow_each_other_without_a_gap() {
        let of = |nth: u64| Branch::new(0x100, 0x900 + nth, 0, BranchClass::RETURN, true, 0);
        for length in [0, 1, 255, 256, 257, 1000] {
            let stream: Vec<Branch> = (0..length).map(of).collect();
            assert_eq!(written_out(&KeptSteps::of(&stream, &stream)), stream);
        }
    }

    #[test]
    fn what_is_written_as_steps_is_read_as_the_same_branches_without_instructions() {
        let stream = [
            Branch::new(0x100, 0x80, 2, BranchClass::CONDITIONAL, true, 4),
            Branch::new(0x110, 0x900, 0, BranchClass::INDIRECT_CALL, true, 5),
            Branch::new(0x908, 0x112, 1, BranchClass::RETURN, true, 6),
            Branch::new(0x100, 0x80, 2, BranchClass::CONDITIONAL, false, 7),
            Branch::new(0x110, 0x980, 0, BranchClass::INDIRECT_CALL, true, 8),
            Branch::new(0x120, 0x100, 3, BranchClass::JUMP, true, 9),
        ];
        let expected: Vec<Branch> =
            stream.iter().map(|branch| branch.again(branch.target, branch.taken(), 0)).collect();
        let kept = KeptSteps::of(&stream, &stream);
        assert_eq!(written_out(&kept), expected);
        assert_eq!(kept.steps().conditionals, [2 * 2 + 1, 2 * 2]);
        let copy = KeptSteps::copy(kept.steps(), &kept.sites);
        assert_eq!(written_out(&copy), expected);
        let piece = KeptSteps::of(&stream, &stream[3..5]);
        assert_eq!(written_out(&piece), expected[3..5]);
        assert_eq!(piece.steps().conditionals, [2 * 2]);
        assert_eq!(kept.in_runs(|_| 8).steps().conditional_events().collect::<Vec<_>>(), [2 * 2 + 1, 2 * 2]);
    }
}
