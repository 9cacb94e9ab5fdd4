//! Conditional branches in a row whose outcomes were the same before: walked once, then copied.
//!
//! Method: from one place the next eight outcomes lead the same way each time. What was met on it, in each form that somebody may want, is
//! kept by the place and the outcomes. A run ends earlier where something else than an outcome is in the log, but goes on over
//! returns without a record, if the call is in it too. Walking by steps costs a chain of loads for each branch, a run one for eight.
//! Checked: logs in pieces of any length give the same branches (`tests`), where the end of each piece is walked by steps.

use super::batch::Batch;
use super::{NONE, Replay, Walk, WalkPosition};
use crate::ClassCounts;
use assay_pure::outcomes::{END, SiteKind};
use assay_pure::trace::Branch;

/// Outcomes of a run at most.
const OUTCOMES: usize = 8;
/// Ways that so many outcomes can go.
const WAYS: usize = 1 << OUTCOMES;
/// Bits of eight bytes that are outcomes: whether branches were not taken.
const OUTCOME_BITS: u64 = 0x0101_0101_0101_0101;
/// Bits that are in no outcome.
const OTHER_BITS: u64 = !(OUTCOME_BITS | (OUTCOME_BITS * END as u64));
/// Multiplied by it, these bits come together in the highest byte, the first one lowest.
const TOGETHER: u64 = 0x0102_0408_1020_4080;
/// Returns without a record in one run, at most.
const QUIET: usize = 64;
/// Runs that are kept; then all are forgotten.
const KEPT: usize = 1 << 16;

/// A run.
pub(super) struct Run {
    /// The bits of the eight bytes that are its outcomes.
    own: u64,
    /// The stretch at its end.
    next: u32,
    used: u32,
    conditionals: [u32; OUTCOMES],
    pub(super) counts: ClassCounts,
    pub(super) branches: Box<[Branch]>,
    pub(super) all: Box<[u32]>,
    pub(super) targets: Box<[u64]>,
    /// Where calls return to that are not over at its end.
    calls: Box<[u64]>,
}

impl Run {
    /// Its conditional branches' events: eight are written in any case, and those that it has are kept.
    #[inline]
    pub(super) fn write_conditionals(&self, into: &mut Vec<u32>) {
        into.extend_from_slice(&self.conditionals);
        into.truncate(into.len() - (OUTCOMES - self.used as usize));
    }
}

/// Runs by where they begin and what the outcomes are.
#[derive(Default)]
pub(super) struct Runs {
    kept: Vec<Run>,
    /// Of each stretch where some begin the runs of all ways; [`NONE`]: not met yet.
    by_way: Vec<[u32; WAYS]>,
}

impl Replay {
    /// Goes along the run that begins at a stretch. Returns the stretch behind it and the outcomes that it has; nothing if one of these is
    /// none.
    #[inline]
    pub(super) fn run(
        &mut self,
        stretch: u32,
        bytes: [u8; OUTCOMES],
    ) -> Result<Option<(u32, usize)>, String> {
        let word = u64::from_le_bytes(bytes);
        let way = ((word & OUTCOME_BITS).wrapping_mul(TOGETHER) >> 56) as usize;
        let ways = self.stretches[stretch as usize].runs;
        let known = self.runs.by_way.get(ways as usize).map_or(NONE, |ways| ways[way]);
        let known = if known == NONE { self.learn(stretch, way)? } else { known };
        let run = &self.runs.kept[known as usize];
        if ((word & OTHER_BITS) | (word & (word >> END.trailing_zeros()) & OUTCOME_BITS)) & run.own != 0 {
            return Ok(None);
        }
        self.walk.batch.extend(run);
        if !run.calls.is_empty() {
            self.walk.calls.extend_from_slice(&run.calls);
        }
        Ok(Some((run.next, run.used as usize)))
    }

    /// Walks it for the first time.
    #[cold]
    fn learn(&mut self, stretch: u32, way: usize) -> Result<u32, String> {
        if self.runs.kept.len() >= KEPT {
            self.runs = Runs::default();
            self.stretches.iter_mut().for_each(|stretch| stretch.runs = NONE);
        }
        let own =
            std::mem::replace(&mut self.walk, Walk { batch: Batch::in_every_form(), ..Walk::default() });
        let walked = self.walk_by_steps(stretch, way);
        let Walk { batch, calls, .. } = std::mem::replace(&mut self.walk, own);
        let (next, used) = walked?;
        let mut conditionals = [0; OUTCOMES];
        conditionals[..used].copy_from_slice(&batch.conditionals);
        let number = self.runs.kept.len() as u32;
        self.runs.kept.push(Run {
            own: u64::MAX >> (64 - 8 * used),
            next,
            used: used as u32,
            conditionals,
            counts: batch.counts,
            branches: batch.branches.into(),
            all: batch.all.into(),
            targets: batch.targets.into(),
            calls: calls.into(),
        });
        if self.stretches[stretch as usize].runs == NONE {
            self.stretches[stretch as usize].runs = self.runs.by_way.len() as u32;
            self.runs.by_way.push([NONE; WAYS]);
        }
        let ways = &mut self.runs.by_way[self.stretches[stretch as usize].runs as usize];
        // What follows its outcomes does not matter.
        let first = way & ((1 << used) - 1);
        ways.iter_mut().skip(first).step_by(1 << used).for_each(|known| *known = number);
        Ok(number)
    }

    /// From a stretch that ends at a conditional branch. Returns the stretch at the end, and how many outcomes there were.
    fn walk_by_steps(&mut self, stretch: u32, way: usize) -> Result<(u32, usize), String> {
        let (mut at, mut used) = (WalkPosition { stretch, carry: 0 }, 0);
        loop {
            match self.stretches[at.stretch as usize].kind {
                SiteKind::Conditional if used < OUTCOMES => {
                    at = self.conditional(at, (way >> used & 1) as u8)?;
                    used += 1;
                }
                SiteKind::Quiet if self.returns_within(at) => {
                    self.quiet_return(at)?;
                    at = self.walk.at.unwrap_or(at);
                }
                _ => return Ok((at.stretch, used)),
            }
        }
    }

    /// Whether a function without records was called in the run.
    fn returns_within(&self, at: WalkPosition) -> bool {
        let called = self.stretches[at.stretch as usize].calls.len() + self.walk.calls.len();
        called > 0 && self.walk.quiet < QUIET
    }
}
