//! Conditional branches in a row whose outcomes were the same before: walked once, then copied.
//!
//! Method: from one place the next eight outcomes lead the same way each time. What was met on it, in each form that somebody may want, is
//! kept by the place and the outcomes. A run ends earlier where something else than an outcome is in the log, but goes on over
//! returns without a record, if the call is in it too. Where one run ends the next one's ways are known: so the walk waits for one
//! load a run, not for a chain of them at each branch. How often a run was met is counted, and what it counts for added later.
//! Checked: logs in pieces of any length give the same branches (`tests`), where the end of each piece is walked by steps.

use super::batch::{BATCH, Batch};
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
    pub(super) counts: ClassCounts,
    pub(super) branches: Box<[Branch]>,
    pub(super) all: Box<[u32]>,
    pub(super) targets: Box<[u64]>,
    /// Where calls return to that are not over at its end.
    calls: Box<[u64]>,
}

/// Events of a run's conditional branches: eight are copied in any case, and those that it has are kept.
#[derive(Clone, Copy, Default)]
pub(super) struct RunEvents {
    conditionals: [u32; OUTCOMES],
    used: u32,
}

impl RunEvents {
    #[inline]
    pub(super) fn write(&self, into: &mut Vec<u32>) {
        into.extend_from_slice(&self.conditionals);
        into.truncate(into.len() - (OUTCOMES - self.used as usize));
    }
}

/// What the walk must know of a run to go on.
#[derive(Clone, Copy)]
struct Way {
    /// Its number; [`NONE`]: not met yet.
    run: u32,
    /// Where the ways of the stretch at its end are; [`NONE`]: that does not end at a conditional branch.
    ways: u32,
    /// The stretch at its end.
    next: u32,
    used: u8,
    /// Calls are open at its end.
    calls: bool,
}

const UNMET: Way = Way { run: NONE, ways: NONE, next: NONE, used: 0, calls: false };

/// Runs by where they begin and what the outcomes are.
#[derive(Default)]
pub(super) struct Runs {
    kept: Vec<Run>,
    events: Vec<RunEvents>,
    met: Met,
    /// Of each stretch where some begin the runs of all ways.
    by_way: Vec<[Way; WAYS]>,
}

/// How often each of some numbered things was met since it was last asked.
#[derive(Default)]
pub(super) struct Met {
    times: Vec<u64>,
    met: Vec<u32>,
}

impl Met {
    /// One more thing.
    pub(super) fn grow(&mut self) {
        self.times.push(0);
    }

    #[inline]
    pub(super) fn meet(&mut self, number: u32) {
        let times = &mut self.times[number as usize];
        if *times == 0 {
            self.met.push(number);
        }
        *times += 1;
    }

    /// Adds what each counts for, as often as it was met.
    pub(super) fn count<'a>(&mut self, into: &mut ClassCounts, of: impl Fn(u32) -> &'a ClassCounts) {
        for number in self.met.drain(..) {
            into.add(of(number), std::mem::take(&mut self.times[number as usize]));
        }
    }
}

impl Replay {
    /// Goes along the runs that begin at a stretch. Returns the stretch behind them and the outcomes that they have: none where one of
    /// these is no outcome, or the bytes are few.
    #[inline]
    pub(super) fn along_runs(&mut self, stretch: u32, bytes: &[u8]) -> Result<(u32, usize), String> {
        let mut ways = self.ways(stretch);
        let (mut at, mut done) = (stretch, 0);
        self.walk.batch.conditionals.reserve(BATCH + OUTCOMES);
        while let Some(next) = bytes[done..].first_chunk() {
            let word = u64::from_le_bytes(*next);
            let index = ((word & OUTCOME_BITS).wrapping_mul(TOGETHER) >> 56) as usize;
            let mut way = self.runs.by_way[ways as usize][index];
            if way.run == NONE {
                way = self.learn(at, index)?;
            }
            let wrong = (word & OTHER_BITS) | (word & (word >> END.trailing_zeros()) & OUTCOME_BITS);
            if wrong << (64 - 8 * u32::from(way.used)) != 0 {
                break;
            }
            self.runs.met.meet(way.run);
            let (run, events) = (&self.runs.kept[way.run as usize], &self.runs.events[way.run as usize]);
            self.walk.batch.extend(run, events);
            if way.calls {
                self.walk.calls.extend_from_slice(&run.calls);
            }
            (at, ways) = (way.next, way.ways);
            done += usize::from(way.used);
            if ways == NONE {
                break;
            }
        }
        Ok((at, done))
    }

    /// Where the ways of a stretch are that ends at a conditional branch.
    fn ways(&mut self, stretch: u32) -> u32 {
        let ways = &mut self.stretches[stretch as usize].runs;
        if *ways == NONE {
            *ways = self.runs.by_way.len() as u32;
            self.runs.by_way.push([UNMET; WAYS]);
        }
        *ways
    }

    /// Walks it for the first time.
    #[cold]
    fn learn(&mut self, stretch: u32, index: usize) -> Result<Way, String> {
        self.count_what_was_met();
        if self.runs.kept.len() >= KEPT {
            self.runs = Runs::default();
            self.stretches.iter_mut().for_each(|stretch| stretch.runs = NONE);
        }
        let own =
            std::mem::replace(&mut self.walk, Walk { batch: Batch::in_every_form(), ..Walk::default() });
        let walked = self.walk_by_steps(stretch, index);
        self.count_what_was_met();
        let Walk { batch, calls, .. } = std::mem::replace(&mut self.walk, own);
        let (next, used) = walked?;
        let mut conditionals = [0; OUTCOMES];
        conditionals[..used].copy_from_slice(&batch.conditionals);
        let run = self.runs.kept.len() as u32;
        self.runs.events.push(RunEvents { conditionals, used: used as u32 });
        self.runs.met.grow();
        let is_branch = self.stretches[next as usize].kind == SiteKind::Conditional;
        let ways = if is_branch { self.ways(next) } else { NONE };
        let way = Way { run, ways, next, used: used as u8, calls: !calls.is_empty() };
        self.runs.kept.push(Run {
            counts: batch.counts,
            branches: batch.branches.into(),
            all: batch.all.into(),
            targets: batch.targets.into(),
            calls: calls.into(),
        });
        let from = self.ways(stretch);
        // What follows its outcomes does not matter.
        let first = index & ((1 << used) - 1);
        let same = self.runs.by_way[from as usize].iter_mut().skip(first).step_by(1 << used);
        same.for_each(|known| *known = way);
        Ok(way)
    }

    /// Adds what was met since it was last asked to the counts of the walk.
    pub(super) fn count_what_was_met(&mut self) {
        let counts = &mut self.walk.batch.counts;
        let (kept, stretches) = (&self.runs.kept, &self.stretches);
        self.runs.met.count(counts, |run| &kept[run as usize].counts);
        self.passed.count(counts, |stretch| &stretches[stretch as usize].counts);
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
