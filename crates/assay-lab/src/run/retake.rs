//! Visits that shared the core with a busy sibling thread: which are made again, how often, and which of several
//! makings counts.

use super::taken::TakenSample;
use assay_pure::ledger::Flag;
use assay_pure::pulse::OwnCore;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::Duration;

/// All visits that found the core shared for half of their samples or more are made again at the round's end, so often at most: in
/// the gaps that somebody leaves some visits find room.
const RETAKES: usize = 50;
/// When so many in a row find it shared again, somebody stays for longer than visits take: the others are not tried.
pub const STAYS: usize = 3;
/// When of that many visits that were made again less than one succeeds, somebody is there for longer, and is waited for: as
/// long as the round's first pass took and what there is to spare, with one visit now and then to see.
const HOPELESS: usize = 10;

/// The core that is measured on, over rounds and campaigns.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeasuringCore {
    /// What one of its own shows: a campaign that is shorter than a neighbour's burst cannot find out by itself.
    pub own: OwnCore,
    /// Time that may still be waited for it beyond what rounds take.
    pub spare: Duration,
    /// What is waited is charged to the round that waits: the budget is for both.
    pub is_charged: bool,
}

/// One visit that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// The block's place, and the subject.
    pub visit: (usize, usize),
    /// Which of the round's samples are its.
    pub samples: Range<usize>,
}

/// The share of a campaign's budget that may be waited for an unshared core. A sibling thread slows code by up to 60 %, one placement
/// more than another: a second of samples alone says more than two beside it.
const WAITED_SHARE: f64 = 0.5;

impl MeasuringCore {
    /// That of a campaign by itself, of which nothing is known yet.
    pub fn of_campaign(budget_seconds: f64) -> MeasuringCore {
        let spare = Duration::try_from_secs_f64(WAITED_SHARE * budget_seconds).unwrap_or(Duration::MAX);
        MeasuringCore { own: OwnCore::default(), spare, is_charged: true }
    }
}

/// What a pass over visits brought.
#[derive(Clone, Copy, Debug)]
pub struct VisitPass {
    /// Visits that it made.
    pub made: usize,
    /// Those of them that had the core for themselves.
    pub mended: usize,
    /// Visits of the round that are still lost.
    pub lost: usize,
}

/// What comes after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The round is over.
    Go,
    /// All that is lost once more.
    All,
    /// A pause, and one of them.
    One,
}

/// How much a round has done for visits that were shared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience {
    retakes: usize,
    /// Time that was only waited, single visits that found it too early included.
    pub waited: Duration,
    /// What the first pass took.
    first: Option<Duration>,
}

impl Patience {
    /// After a pass; `elapsed` since the round began, and what there is to spare.
    pub fn next(&mut self, pass: VisitPass, elapsed: Duration, spare: Duration) -> Next {
        let VisitPass { made, mended, lost } = pass;
        let is_first = self.first.is_none();
        let most = *self.first.get_or_insert(elapsed) + spare;
        let helps = is_first || mended * HOPELESS >= made;
        if lost == 0 || self.retakes == RETAKES || (!helps && self.waited >= most) {
            return Next::Go;
        }
        if !helps {
            return Next::One;
        }
        self.retakes += 1;
        Next::All
    }

    /// What was waited beyond the time that the first pass took.
    pub fn spent(&self) -> Duration {
        self.waited.saturating_sub(self.first.unwrap_or_default())
    }
}

/// Samples of a visit that count, and those of them that had the core for themselves.
fn own(taken: &[TakenSample], own_core: &OwnCore) -> (usize, usize) {
    let counted = taken.iter().filter(|taken| !taken.raw.warmup);
    let own = counted.clone().filter(|taken| !own_core.is_shared(taken.raw.pulses));
    (counted.count(), own.count())
}

/// Whether a visit shared the core for half of its samples or more.
pub fn is_lost(samples: &[TakenSample], own_core: &OwnCore) -> bool {
    let (counted, own) = own(samples, own_core);
    own * 2 <= counted
}

/// Visits whose every making was shared for half of its samples or more.
pub fn lost(visits: &[Made], taken: &[TakenSample], own_core: &OwnCore) -> HashSet<(usize, usize)> {
    let mut good: HashMap<(usize, usize), bool> = HashMap::new();
    for made in visits {
        *good.entry(made.visit).or_default() |= !is_lost(&taken[made.samples.clone()], own_core);
    }
    good.into_iter().filter_map(|(visit, good)| (!good).then_some(visit)).collect()
}

/// Flags, of a visit that was made again, all but the best one's samples: a position in a round is one sample. What else was shared
/// is not flagged: its pulses say so to whoever reads it, by what later rounds know better.
pub fn leave_out(visits: &[Made], taken: &mut [TakenSample], own_core: &OwnCore) {
    let mut best: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    for (at, made) in visits.iter().enumerate() {
        let (_, own) = own(&taken[made.samples.clone()], own_core);
        let known = best.entry(made.visit).or_insert((at, own));
        if own > known.1 {
            *known = (at, own);
        }
    }
    for (at, made) in visits.iter().enumerate() {
        if best[&made.visit].0 != at {
            taken[made.samples.clone()].iter_mut().for_each(|taken| taken.flagged = Some(Flag::Retaken));
        }
    }
}
