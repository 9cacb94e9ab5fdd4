//! Records whose like was met before: walked once, then copied.
//!
//! Method: behind an indirect branch that went to one place, or a conditional one that went this way, the next eight outcomes lead
//! the same way each time. What was met on it, in each form that somebody may want, is kept by the place and the outcomes: a run.
//! It ends earlier where something else than an outcome is in the log, but goes on over returns without a record, if the call is in
//! it too. Each run knows how the next one begins: so the walk waits for a load or two a run, not for a chain of them at each branch.
//! Who wants conditional branches alone is told the runs' numbers. Loops, whose runs are all outcomes, are read a word after the
//! other ([`Replay::along_plain_runs`]); what repeats itself is compared ([`repeats`]). How often a run was met is counted, and what
//! it counts for added later ([`Met`]).
//! Checked: logs in pieces of any length give the same branches (`tests`), where pieces of one record are walked by steps.

use super::arrivals::AddressMap;
use super::batch::{BATCH, Batch};
use super::met::Met;
use super::repeats::{self, Trail, TrailStep};
use super::{ENDLESS_RETURNS, NONE, Replay, Walk, WalkPosition};
use crate::ClassCounts;
use assay_pure::outcomes::{
    END, NAMED_BYTES, SiteKind, TARGET_BYTES, TARGET_WORD, WORD_BYTES, outcome, word_at,
};
use assay_pure::predict::{IS_RUN, RUN, RunTable};
use assay_pure::trace::Branch;

/// Outcomes of a run at most: what a word of the log has.
const OUTCOMES: usize = RUN;
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
/// Runs that are kept; then all are forgotten. Tests forget all the time.
const KEPT: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };
/// Places where they begin, of 4 KB each.
const ORIGINS: usize = if cfg!(test) { 1 << 3 } else { 1 << 15 };
/// Ways of indirect branches that are found without a search; a power of two.
const RECENT: usize = 1 << 10;

/// A run.
pub(super) struct Run {
    pub(super) counts: ClassCounts,
    pub(super) branches: Box<[Branch]>,
    pub(super) all: Box<[u32]>,
    pub(super) targets: Box<[u64]>,
    /// Where calls return to that are not over at its end.
    calls: Box<[u64]>,
}

/// Where runs begin: behind an indirect branch that went to one place, or at a conditional one.
#[derive(Clone, Copy)]
struct Origin {
    stretch: u32,
    /// The stretch behind the branch, and its address.
    went: Option<(u32, u64)>,
}

/// What a record says that the walk has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadKind {
    /// An outcome.
    Outcome,
    /// An outcome and the site.
    Named,
    /// Where it went, and the site.
    Went,
    /// The same of a return.
    Returned,
    /// A return without a record.
    Quiet,
    /// What is walked by steps.
    Other,
}

/// Where the walk has come to.
#[derive(Clone, Copy)]
struct Head {
    stretch: u32,
    /// Its own origin, if its record is an outcome; else [`NONE`].
    origin: u32,
    kind: HeadKind,
}

/// What the walk must know of a run to go on: 16 bytes, as there are many.
#[derive(Clone, Copy)]
struct Way {
    /// Its number; [`NONE`]: not met yet.
    run: u32,
    /// Its end, as in [`Head`].
    stretch: u32,
    origin: u32,
    kind: HeadKind,
    /// Outcomes that it has.
    used: u8,
    /// Calls are open at its end.
    calls: bool,
    /// It has all outcomes, no call is open at its end, and what comes next is an outcome, too.
    plain: bool,
}

impl Way {
    #[inline(always)]
    fn head(self) -> Head {
        Head { stretch: self.stretch, origin: self.origin, kind: self.kind }
    }
}

const UNMET: Way = Way {
    run: NONE,
    stretch: NONE,
    origin: NONE,
    kind: HeadKind::Other,
    used: 0,
    calls: false,
    plain: false,
};

/// A run that begins at a record.
struct RunStart {
    origin: u32,
    /// Bytes of the record that are no outcomes.
    ahead: usize,
    outcomes: u64,
    /// What it leads behind, if it ends a call.
    returned: Option<u64>,
}

/// The origin behind an indirect branch, which went to an address of the logging program, or a return without a record.
#[derive(Clone, Copy)]
struct Went {
    stretch: u32,
    /// [`NONE`]: what follows is to be walked by steps.
    origin: u32,
    to: u64,
    /// What it leads behind, if it ends a call that was open where the run begins.
    returned: Option<u64>,
}

/// Runs by where they begin and what the outcomes are.
pub(super) struct Runs {
    kept: Vec<Run>,
    /// The conditional branches of each.
    table: RunTable,
    met: Met,
    origins: Vec<Origin>,
    /// Of each origin the runs of all ways.
    by_way: Vec<[Way; WAYS]>,
    went: AddressMap<(u32, u64), Went>,
    /// The last ones of them; two that want the same room take turns.
    recent: Box<[Went; RECENT]>,
    /// The last runs that were met.
    trail: Trail,
}

impl Default for Runs {
    fn default() -> Runs {
        let none = Went { stretch: NONE, origin: NONE, to: 0, returned: None };
        Runs {
            kept: Vec::new(),
            table: RunTable::new(),
            met: Met::default(),
            origins: Vec::new(),
            by_way: Vec::new(),
            went: AddressMap::default(),
            recent: Box::new([none; RECENT]),
            trail: Trail::default(),
        }
    }
}

impl Runs {
    /// The conditional branches of each run.
    pub(super) fn table(&self) -> &RunTable {
        &self.table
    }

    fn begin_at(&mut self, origin: Origin) -> u32 {
        self.origins.push(origin);
        self.by_way.push([UNMET; WAYS]);
        self.by_way.len() as u32 - 1
    }
}

impl Replay {
    /// Goes along the runs that begin at a stretch, up to some thousand bytes. Returns how many; nothing: what follows is to be
    /// walked by steps.
    #[inline]
    pub(super) fn along_runs(&mut self, stretch: u32, bytes: &[u8]) -> Result<Option<usize>, String> {
        // Once a return has led elsewhere, returns without a record end calls that are not known.
        if self.walk.jumped && !self.whole {
            return Ok(None);
        }
        let mut head = self.head(stretch);
        let of_conditionals = self.walk.batch.is_of_conditionals();
        // What is repeated takes no room.
        let most = if of_conditionals { OUTCOMES * BATCH } else { BATCH };
        let (mut done, mut last, bytes) = (0, None, &bytes[..bytes.len().min(most)]);
        self.runs.trail.clear();
        loop {
            if of_conditionals && head.kind == HeadKind::Outcome {
                let used = self.along_plain_runs(&mut head, bytes, done);
                if used > 0 {
                    last = Some(WalkPosition { stretch: head.stretch, carry: 0 });
                    self.walk.quiet = 0;
                    done += used;
                }
            }
            if self.runs.trail.is_due() {
                done += self.along_repeated(bytes, done);
                if self.walk.batch.is_full() {
                    break;
                }
                continue;
            }
            let Some(start) = self.run_start(head, &bytes[done..])? else { break };
            let RunStart { origin, ahead, outcomes, returned } = start;
            let index = index(outcomes);
            let mut way = self.runs.by_way[origin as usize][index];
            if way.run == NONE {
                way = self.learn(origin, index)?;
            }
            if no_outcomes(outcomes).unbounded_shl(64 - 8 * u32::from(way.used)) != 0 {
                break;
            }
            // Not behind the last call: the steps know what that means for returns without a record.
            if returned.is_some() && !self.whole && self.walk.calls.last().copied() != returned {
                break;
            }
            let used = ahead + usize::from(way.used);
            self.walk.quiet = if used > 0 { 0 } else { self.walk.quiet + 1 };
            if self.walk.quiet > ENDLESS_RETURNS {
                break;
            }
            self.runs.met.meet(way.run);
            let run = &self.runs.kept[way.run as usize];
            self.walk.batch.extend(way.run, run, way.used > 0);
            let depth = self.walk.calls.len() as u32;
            if let Some(address) = returned {
                self.walk.returned(address);
            }
            if of_conditionals {
                let least = self.walk.calls.len() as u32;
                self.runs.trail.push(TrailStep { run: way.run, at: done as u32, depth, least });
            }
            if way.calls {
                self.walk.calls.extend_from_slice(&run.calls);
            }
            head = way.head();
            last = Some(WalkPosition { stretch: head.stretch, carry: 0 });
            done += used;
        }
        if last.is_some() {
            self.walk.at = last;
        }
        Ok(last.map(|_| done))
    }

    /// Goes along runs of outcomes that follow each other, known and with nothing to do at their ends: most that loops do. They begin at
    /// this place, and end where a look for repeated ones is due. Returns how many bytes they are.
    #[inline(always)]
    fn along_plain_runs(&mut self, head: &mut Head, bytes: &[u8], done: usize) -> usize {
        let depth = self.walk.calls.len() as u32;
        // Slices, whose places nothing that is written here can change.
        let (ways, mut met) = (&self.runs.by_way[..], self.runs.met.meeting());
        let room = &mut self.walk.batch.conditionals;
        let words = bytes[done..].as_chunks::<OUTCOMES>().0;
        let words = &words[..words.len().min(self.runs.trail.room())];
        let before = room.len();
        room.resize(before + words.len(), 0);
        let (mut used, mut last) = (0, None);
        let mut origin = head.origin as usize;
        for (word, place) in words.iter().zip(&mut room[before..]) {
            let outcomes = u64::from_le_bytes(*word);
            let way = &ways[origin][index(outcomes)];
            if !way.plain || no_outcomes(outcomes) != 0 {
                break;
            }
            met.meet(way.run);
            *place = IS_RUN | way.run;
            (origin, last) = (way.origin as usize, Some(way));
            used += 1;
        }
        if let Some(way) = last {
            *head = way.head();
        }
        room.truncate(before + used);
        for (nth, run) in room[before..].iter().enumerate() {
            let at = (done + OUTCOMES * nth) as u32;
            self.runs.trail.push(TrailStep { run: run & !IS_RUN, at, depth, least: depth });
        }
        used * OUTCOMES
    }

    /// Goes on along the last runs, as often as they come again at this place. Returns how many bytes these are.
    fn along_repeated(&mut self, bytes: &[u8], done: usize) -> usize {
        let Runs { trail, met, table, .. } = &mut self.runs;
        let period = trail.period(self.walk.calls.len()).filter(|_| !self.walk.jumped);
        let mut used = 0;
        if let Some(period) = period {
            let begun = period[0].at as usize;
            if let Some(turns) = repeats::turns(bytes, begun, done, period.len()) {
                period.iter().for_each(|step| met.meet_often(step.run, turns as u64));
                let runs = period.iter().map(|step| step.run).filter(|run| table.branches(*run) > 0);
                self.walk.batch.repeat(runs, turns);
                used = turns * (done - begun);
            }
        }
        trail.looked(used > 0);
        used
    }

    /// The run that begins at a record. Nothing: it is too near to the end, does not fit, or is none of those that runs are made of.
    #[inline(always)]
    fn run_start(&mut self, head: Head, bytes: &[u8]) -> Result<Option<RunStart>, String> {
        let word = |outcome: u32| self.stretches[head.stretch as usize].word(outcome);
        match head.kind {
            HeadKind::Outcome => Ok(bytes.first_chunk().map(|outcomes| RunStart {
                origin: head.origin,
                ahead: 0,
                outcomes: u64::from_le_bytes(*outcomes),
                returned: None,
            })),
            HeadKind::Named => {
                let Some(record) = bytes.first_chunk::<{ WORD_BYTES + OUTCOMES }>() else { return Ok(None) };
                // Its own outcome is ahead of its word, those of others behind it.
                let outcomes = eight_at(record, WORD_BYTES) & !0xff | u64::from(record[0]);
                let start = RunStart { origin: head.origin, ahead: WORD_BYTES, outcomes, returned: None };
                Ok((word_at(record, NAMED_BYTES - WORD_BYTES) == word(outcome::NAMED)).then_some(start))
            }
            HeadKind::Went | HeadKind::Returned => {
                let Some(record) = bytes.first_chunk::<{ TARGET_BYTES + OUTCOMES }>() else {
                    return Ok(None);
                };
                if word_at(record, TARGET_WORD) != word(outcome::WENT) {
                    return Ok(None);
                }
                let Some((origin, returned)) = self.went_to(head, eight_at(record, 0))? else {
                    return Ok(None);
                };
                let outcomes = eight_at(record, TARGET_BYTES);
                Ok(Some(RunStart { origin, ahead: TARGET_BYTES, outcomes, returned }))
            }
            HeadKind::Quiet => {
                let behind = self.walk.calls.last().copied().filter(|_| !self.walk.jumped);
                let (Some(behind), Some(outcomes)) = (behind, bytes.first_chunk()) else { return Ok(None) };
                let Some((origin, returned)) = self.went_to(head, behind)? else { return Ok(None) };
                Ok(Some(RunStart { origin, ahead: 0, outcomes: u64::from_le_bytes(*outcomes), returned }))
            }
            HeadKind::Other => Ok(None),
        }
    }

    /// The origin behind a branch that went there, and what it returns behind: to an address of the running program; a return without
    /// a record, of the measured one. Nothing: what follows is to be walked by steps.
    #[inline(always)]
    fn went_to(&mut self, head: Head, target: u64) -> Result<Option<(u32, Option<u64>)>, String> {
        let to = if head.kind == HeadKind::Quiet { target } else { target.wrapping_sub(self.walk.moved) };
        let room = (to ^ to >> 10 ^ u64::from(head.stretch) << 3) as usize % RECENT;
        let mut recent = self.runs.recent[room];
        if (recent.stretch, recent.to) != (head.stretch, to) {
            recent = self.look_for(head, target, to)?;
            self.runs.recent[room] = recent;
        }
        Ok((recent.origin != NONE).then_some((recent.origin, recent.returned)))
    }

    #[inline(never)]
    fn look_for(&mut self, head: Head, target: u64, to: u64) -> Result<Went, String> {
        if let Some(known) = self.runs.went.get(&(head.stretch, to)) {
            return Ok(*known);
        }
        let none = Went { stretch: head.stretch, origin: NONE, to, returned: None };
        Ok(self.learn_where(head, target, to)?.unwrap_or(none))
    }

    /// Nothing, too, where a return ends another call than the last: the walk by steps knows what that means.
    #[cold]
    fn learn_where(&mut self, head: Head, target: u64, to: u64) -> Result<Option<Went>, String> {
        let arrival = match head.kind {
            HeadKind::Quiet => Some((self.stretch(to)?, to)),
            _ => self.arrival(target)?,
        };
        let Some((next, address)) = arrival else { return Ok(None) };
        let own_call = self.stretches[head.stretch as usize].calls.last();
        let returned = match (head.kind, own_call) {
            (HeadKind::Went, _) => None,
            (_, Some(behind)) if *behind == address => None,
            (_, Some(_)) => return Ok(None),
            (_, None) => Some(address),
        };
        let origin = self.runs.begin_at(Origin { stretch: head.stretch, went: Some((next, address)) });
        let went = Went { stretch: head.stretch, origin, to, returned };
        self.runs.went.insert((head.stretch, to), went);
        Ok(Some(went))
    }

    /// What is to be done at a stretch's end.
    fn head(&mut self, stretch: u32) -> Head {
        let at = &mut self.stretches[stretch as usize];
        let kind = match at.kind {
            SiteKind::Conditional => HeadKind::Outcome,
            SiteKind::Named => HeadKind::Named,
            SiteKind::Indirect => HeadKind::Went,
            SiteKind::Return => HeadKind::Returned,
            // Else the call that it ends is its own.
            SiteKind::Quiet if at.calls.is_empty() => HeadKind::Quiet,
            _ => HeadKind::Other,
        };
        if at.runs == NONE && matches!(kind, HeadKind::Outcome | HeadKind::Named) {
            at.runs = self.runs.begin_at(Origin { stretch, went: None });
        }
        Head { stretch, origin: at.runs, kind }
    }

    pub(super) fn keeps_too_many(&self) -> bool {
        self.runs.kept.len() >= KEPT || self.runs.origins.len() >= ORIGINS
    }

    /// Only while no branch waits to be handed on, which may be one of a run.
    pub(super) fn forget_too_many(&mut self) {
        if self.keeps_too_many() {
            self.count_what_was_met();
            self.runs = Runs::default();
            self.stretches.iter_mut().for_each(|stretch| stretch.runs = NONE);
        }
    }

    /// Walks it for the first time.
    #[cold]
    fn learn(&mut self, origin: u32, index: usize) -> Result<Way, String> {
        self.count_what_was_met();
        let fresh = Walk { batch: Batch::in_every_form(), ..Walk::default() };
        let own = std::mem::replace(&mut self.walk, fresh);
        let walked = self.walk_by_steps(self.runs.origins[origin as usize], index);
        self.count_what_was_met();
        let Walk { batch, calls, .. } = std::mem::replace(&mut self.walk, own);
        let (next, used) = walked?;
        let run = self.runs.kept.len() as u32;
        self.runs.table.add(batch.branches.iter().filter(|branch| branch.class().is_conditional()).copied());
        self.runs.met.grow();
        let Head { stretch, origin: behind, kind } = self.head(next);
        let plain = used == OUTCOMES && calls.is_empty() && kind == HeadKind::Outcome;
        let way =
            Way { run, stretch, origin: behind, kind, used: used as u8, calls: !calls.is_empty(), plain };
        self.runs.kept.push(Run {
            counts: batch.counts,
            branches: batch.branches.into(),
            all: batch.all.into(),
            targets: batch.targets.into(),
            calls: calls.into(),
        });
        // What follows its outcomes does not matter.
        let first = index & ((1 << used) - 1);
        let same = self.runs.by_way[origin as usize].iter_mut().skip(first).step_by(1 << used);
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

    /// From where runs begin. Returns the stretch at the end, and how many outcomes there were.
    fn walk_by_steps(&mut self, from: Origin, way: usize) -> Result<(u32, usize), String> {
        let (mut at, mut used) = (WalkPosition { stretch: from.stretch, carry: 0 }, 0);
        if let Some((next, address)) = from.went {
            at = self.go(at, next, address);
        }
        loop {
            match self.stretches[at.stretch as usize].kind {
                SiteKind::Conditional if used < OUTCOMES => {}
                // Its record is longer: a run may begin with it.
                SiteKind::Named if used == 0 && from.went.is_none() => {}
                SiteKind::Quiet if self.returns_within(at) => {
                    self.quiet_return(at)?;
                    at = self.walk.at.unwrap_or(at);
                    continue;
                }
                _ => return Ok((at.stretch, used)),
            }
            at = self.conditional(at, (way >> used & 1) as u8)?;
            used += 1;
        }
    }

    /// Whether a function without records was called in the run.
    fn returns_within(&self, at: WalkPosition) -> bool {
        let called = self.stretches[at.stretch as usize].calls.len() + self.walk.calls.len();
        called > 0 && self.walk.quiet < QUIET
    }
}

/// The way that these outcomes go.
#[inline(always)]
fn index(outcomes: u64) -> usize {
    ((outcomes & OUTCOME_BITS).wrapping_mul(TOGETHER) >> 56) as usize
}

/// 0 for bytes that are all outcomes.
#[inline(always)]
fn no_outcomes(bytes: u64) -> u64 {
    (bytes & OTHER_BITS) | (bytes & (bytes >> END.trailing_zeros()) & OUTCOME_BITS)
}

/// Eight bytes of a record.
#[inline(always)]
fn eight_at(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| record[at + byte]))
}
