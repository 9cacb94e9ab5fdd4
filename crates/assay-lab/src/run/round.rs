//! One interleaved pass over the cells, in the order that the plan gives.

use super::fault::{ProgramFault, Stage};
use super::flag::RegionCost;
use super::retake::{self, Made, MeasuringCore, Next, Patience, STAYS, VisitPass};
use super::taken::TakenSample;
use super::worker::{VisitRequest, Visited};
use assay_pure::experiment::matrix::Cell;
use assay_pure::experiment::plan::{self, VisitBlock};
use assay_pure::ledger::Flag;
use assay_pure::protocol::{CallUsage, VariantKind};
use assay_pure::pulse::OwnCore;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What can be visited: the live programs, or a script in tests.
pub trait VisitBench {
    /// Takes the samples of one visit.
    ///
    /// # Errors
    /// Any fault of the program.
    fn visit(&mut self, subject: usize, request: &VisitRequest) -> Result<Visited, ProgramFault>;
    /// A subject's cost of an empty region.
    fn region(&self, subject: usize) -> RegionCost;
    /// How a subject is called: only the answers of one kind can be compared.
    fn kind(&self, subject: usize) -> VariantKind;
    /// Whether its calls read more than the bytes that they are given: a prepared state, memory of the program's own.
    fn reads_elsewhere(&self, subject: usize) -> bool;
    /// A subject's cell on an input: all placements of it fail together.
    fn cell(&self, subject: usize, input: usize) -> Cell;
    /// Lets a while pass, and says how long.
    fn pause(&mut self) -> Duration {
        std::thread::sleep(PAUSE);
        PAUSE
    }
}

/// How an input is visited; the same for all cells.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPlan {
    /// Number of windows.
    pub windows: u64,
    /// Calls per sample.
    pub iterations: u64,
    /// Samples ahead of each visit.
    pub warmup: u64,
    /// Samples per visit that count.
    pub samples: u64,
    /// How the calls are made.
    pub usage: CallUsage,
}

/// All variants of one artifact on one input; the baseline's subject first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundBlock {
    /// Its number in the plan: stable from round to round, whatever other blocks come or go.
    pub id: usize,
    /// Number of the input.
    pub input: usize,
    /// Programs visited one after the other.
    pub subjects: Vec<usize>,
    /// Which of several visits in one round this is, from 0.
    pub repeat: u32,
}

/// What a round's order and windows are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundDraw {
    /// The campaign's.
    pub seed: u64,
    /// The round's number.
    pub round: u32,
}

/// What a round brought.
#[derive(Debug, Default)]
pub struct RoundOutcome {
    /// In the order of execution.
    pub taken: Vec<TakenSample>,
    /// Cells that failed, with the first fault of each.
    pub faults: Vec<(Cell, ProgramFault)>,
    /// The whole pass was made; otherwise it was asked to stop.
    pub complete: bool,
    /// From the first visit to the last, without what was waited if that is not charged.
    pub elapsed: Duration,
    /// What of it was only waited for the core, beyond the time that all visits take once.
    pub waited: Duration,
}

/// What a round tells while it is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundProgress {
    /// Visits are done, of those known so far.
    Visited {
        /// So many.
        done: u64,
        /// Of so many.
        total: u64,
    },
    /// The core is shared, and it is waited for an unshared one.
    Waits {
        /// Visits that are to be made again.
        visits: u64,
        /// Since then.
        waited: Duration,
    },
}

/// Between two visits that see whether the core is shared still: bursts of somebody else last from a tenth of a millisecond to seconds.
const PAUSE: Duration = Duration::from_millis(2);

/// Walks one round.
///
/// `failed` holds the cells that are out; those that fail now are added, so that a program that hangs is waited for
/// once and not at each of its placements. `core` learns from the round, and says which samples were taken while
/// somebody else ran on it. `progress` is told how far it has come; when it returns false the round ends early.
pub fn walk(
    bench: &mut dyn VisitBench,
    blocks: &[RoundBlock],
    inputs: &[InputPlan],
    draw: RoundDraw,
    failed: &mut HashSet<Cell>,
    core: &mut MeasuringCore,
    progress: &mut dyn FnMut(RoundProgress) -> bool,
) -> RoundOutcome {
    let planned: Vec<VisitBlock> =
        blocks.iter().map(|block| VisitBlock { id: block.id, subjects: block.subjects.clone() }).collect();
    let at: HashMap<usize, usize> =
        blocks.iter().enumerate().map(|(index, block)| (block.id, index)).collect();
    let order = plan::round(&planned, draw.seed, draw.round);
    let all: Vec<(usize, usize)> = order.iter().map(|visit| (at[&visit.block], visit.subject)).collect();
    let mut outcome = RoundOutcome { complete: true, ..RoundOutcome::default() };
    let checks = vec![Vec::new(); blocks.len()];
    let (from, out) = (&mut *bench, &mut *failed);
    let mut walk = RoundWalk { bench: from, blocks, inputs, draw, failed: out, checks, visits: Vec::new() };
    let begun = Instant::now();
    let mut patience = Patience::default();
    let (mut done, mut left, mut paused, mut is_first) = (0, all.clone(), None, true);
    loop {
        let total = done + left.len() as u64;
        let pass = Instant::now();
        let mut visited = || {
            done += 1;
            progress(RoundProgress::Visited { done, total })
        };
        let made = walk.pass(&left, !is_first, &core.own, &mut outcome, &mut visited);
        is_first = false;
        // One visit after a pause is too little to learn from.
        if paused.is_none() {
            core.own.learn(outcome.taken.iter().filter_map(|taken| taken.raw.pulses));
        }
        if !outcome.complete {
            break;
        }
        let lost = walk.lost(&all, &outcome.taken, &core.own);
        let mended = left.iter().filter(|visit| !lost.contains(visit)).count();
        // The one visit that saw that it was too early was waiting, too.
        patience.waited += paused.take().map_or(Duration::ZERO, |paused| paused + pass.elapsed());
        match patience.next(VisitPass { made, mended, lost: lost.len() }, begun.elapsed(), core.spare) {
            Next::Go => break,
            Next::All => left = lost,
            Next::One => {
                if !progress(RoundProgress::Waits { visits: lost.len() as u64, waited: patience.waited }) {
                    outcome.complete = false;
                    break;
                }
                paused = Some(walk.bench.pause());
                left = vec![lost[0]];
            }
        }
    }
    retake::leave_out(&walk.visits, &mut outcome.taken, &core.own);
    let spent = patience.spent().min(core.spare);
    core.spare -= spent;
    let uncharged = if core.is_charged { Duration::ZERO } else { spent };
    (outcome.elapsed, outcome.waited) = (begun.elapsed().saturating_sub(uncharged), spent);
    let checks = std::mem::take(&mut walk.checks);
    compare_checks(&mut outcome, bench, blocks, &checks, failed);
    outcome
}

/// A round on its way.
struct RoundWalk<'a> {
    bench: &'a mut dyn VisitBench,
    blocks: &'a [RoundBlock],
    inputs: &'a [InputPlan],
    draw: RoundDraw,
    failed: &'a mut HashSet<Cell>,
    /// By block: who answered what.
    checks: Vec<Vec<(usize, u64)>>,
    visits: Vec<Made>,
}

impl RoundWalk<'_> {
    /// Makes visits one after the other, and returns how many. Where it `gives_up` it ends once somebody stays on the core.
    /// `visited` is called after each; when it returns false the round ends incomplete.
    fn pass(
        &mut self,
        visits: &[(usize, usize)],
        gives_up: bool,
        own_core: &OwnCore,
        outcome: &mut RoundOutcome,
        visited: &mut dyn FnMut() -> bool,
    ) -> usize {
        let (mut made, mut lost_in_a_row) = (0, 0);
        for &(number, subject) in visits {
            let from = outcome.taken.len();
            if !self.visit(number, subject, outcome) {
                continue;
            }
            made += 1;
            if !visited() {
                outcome.complete = false;
                break;
            }
            let is_lost = retake::is_lost(&outcome.taken[from..], own_core);
            lost_in_a_row = if is_lost { lost_in_a_row + 1 } else { 0 };
            if gives_up && lost_in_a_row == STAYS {
                break;
            }
        }
        made
    }

    /// False: its cell is out.
    fn visit(&mut self, number: usize, subject: usize, outcome: &mut RoundOutcome) -> bool {
        let block = &self.blocks[number];
        let cell = self.bench.cell(subject, block.input);
        if self.failed.contains(&cell) {
            return false;
        }
        let plan = &self.inputs[block.input];
        let input = block.input * 64 + block.repeat as usize;
        let start_window = plan::start_window(self.draw.seed, self.draw.round, input, plan.windows);
        let request = VisitRequest {
            input: block.input as u32,
            window: start_window,
            iterations: plan.iterations,
            warmup: plan.warmup,
            samples: plan.samples,
            usage: plan.usage,
        };
        match self.bench.visit(subject, &request) {
            Ok(visited) => {
                self.checks[number].push((subject, visited.check));
                let from = outcome.taken.len();
                keep(outcome, self.bench, block, subject, start_window, &visited);
                self.visits.push(Made { visit: (number, subject), samples: from..outcome.taken.len() });
            }
            Err(fault) => {
                self.failed.insert(cell);
                outcome.faults.push((cell, fault));
            }
        }
        true
    }

    /// Visits that must be made again and can be, in the order of `all`.
    fn lost(&self, all: &[(usize, usize)], taken: &[TakenSample], own_core: &OwnCore) -> Vec<(usize, usize)> {
        let is_out = |&(number, subject): &(usize, usize)| {
            self.failed.contains(&self.bench.cell(subject, self.blocks[number].input))
        };
        let lost = retake::lost(&self.visits, taken, own_core);
        all.iter().copied().filter(|visit| lost.contains(visit) && !is_out(visit)).collect()
    }
}

fn keep(
    outcome: &mut RoundOutcome,
    bench: &dyn VisitBench,
    block: &RoundBlock,
    subject: usize,
    start_window: u64,
    visited: &Visited,
) {
    let cost = bench.region(subject);
    let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |elapsed| elapsed.as_secs_f64());
    let first = block.repeat * visited.samples.len() as u32;
    outcome.taken.extend(visited.samples.iter().enumerate().map(|(index, &raw)| TakenSample {
        subject,
        input: block.input,
        start_window,
        position: first + index as u32,
        raw,
        flagged: raw.flag(cost),
        at,
    }));
}

/// Visits whose answers must be equal. Calls that get the same windows are of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AnswerGroup {
    input: usize,
    repeat: u32,
    kind: VariantKind,
    compiler: usize,
    flags: usize,
}

fn comparable(bench: &dyn VisitBench, block: &RoundBlock, subject: usize) -> AnswerGroup {
    let cell = bench.cell(subject, block.input);
    let kind = Some(bench.kind(subject)).filter(|kind| !kind.is_windowed()).unwrap_or(VariantKind::Call);
    AnswerGroup { input: block.input, repeat: block.repeat, kind, compiler: cell.compiler, flags: cell.flags }
}

fn in_table_order<'a>(
    block: &'a RoundBlock,
    checks: &'a [(usize, u64)],
) -> impl Iterator<Item = &'a (usize, u64)> {
    block.subjects.iter().flat_map(|subject| checks.iter().filter(move |(other, _)| other == subject))
}

/// What is right: the first answer of the variant that comes first of those that have not failed. There is none while
/// that one's turn is still to come: another's would blame the honest for the liar.
fn references(
    bench: &dyn VisitBench,
    blocks: &[RoundBlock],
    checks: &[Vec<(usize, u64)>],
    failed: &HashSet<Cell>,
) -> HashMap<AnswerGroup, (usize, u64)> {
    let mut leading: HashMap<AnswerGroup, usize> = HashMap::new();
    for block in blocks {
        let standing = block.subjects.iter().filter(|&&s| !failed.contains(&bench.cell(s, block.input)));
        for &subject in standing {
            let variant = bench.cell(subject, block.input).variant;
            leading.entry(comparable(bench, block, subject)).or_insert(variant);
        }
    }
    let mut first = HashMap::new();
    for (block, checks) in blocks.iter().zip(checks) {
        for &(subject, check) in in_table_order(block, checks) {
            let key = comparable(bench, block, subject);
            if leading.get(&key) == Some(&bench.cell(subject, block.input).variant) {
                first.entry(key).or_insert((subject, check));
            }
        }
    }
    first
}

/// All cells of an input were given the same windows, so within one compiler and flag set their answers must be equal,
/// across variants and placements; one that differs from the baseline's, or where that has failed from the first that
/// has not, is out. Other flags may round differently, so nothing is compared across them. Its samples are kept, with a
/// flag. Of a round that ended before the baseline's turn nothing is kept, and nothing is said.
fn compare_checks(
    outcome: &mut RoundOutcome,
    bench: &dyn VisitBench,
    blocks: &[RoundBlock],
    checks: &[Vec<(usize, u64)>],
    failed: &mut HashSet<Cell>,
) {
    let references = references(bench, blocks, checks, failed);
    for (block, checks) in blocks.iter().zip(checks) {
        for &(subject, check) in in_table_order(block, checks) {
            let Some(&(reference, expected)) = references.get(&comparable(bench, block, subject)) else {
                continue;
            };
            if check == expected {
                continue;
            }
            let cell = bench.cell(subject, block.input);
            if !failed.insert(cell) {
                continue;
            }
            let what = if cell == bench.cell(reference, block.input) {
                format!(
                    "answered {check:016x} at one placement and {expected:016x} at another (its result \
                     depends on its address, or it reads uninitialised memory: build it with \
                     -fsanitize=address,undefined, or run it under valgrind)"
                )
            } else {
                format!(
                    "answered {check:016x} where the first variant answered {expected:016x}, though both \
                     agreed before timing (it keeps state between calls, or reads beyond its window)"
                )
            };
            outcome.faults.push((cell, ProgramFault::of_lab(Stage::Measure, what)));
        }
    }
    let out: HashSet<Cell> = outcome.faults.iter().map(|(cell, _)| *cell).collect();
    for taken in &mut outcome.taken {
        if out.contains(&bench.cell(taken.subject, taken.input)) {
            taken.flagged = Some(Flag::FailedCell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flag::RawSample;
    use super::*;
    use assay_pure::pulse::Pulse;

    const DRAW: RoundDraw = RoundDraw { seed: 7, round: 3 };

    /// A bench that replays a script and notes who was visited.
    struct Scripted {
        visits: Vec<(usize, VisitRequest)>,
        fails: Option<usize>,
        /// Visits that nobody fails.
        fails_from: usize,
        wrong: Option<usize>,
        /// Visits, counted from 0, during which somebody else is on the core.
        shared: HashSet<usize>,
        /// Visits made before each pause, and how long a pause is said to be.
        pauses: Vec<usize>,
        paused: Duration,
    }

    impl VisitBench for Scripted {
        fn visit(&mut self, subject: usize, request: &VisitRequest) -> Result<Visited, ProgramFault> {
            self.visits.push((subject, *request));
            if self.fails == Some(subject) && self.visits.len() > self.fails_from {
                return Err(ProgramFault::of_lab(Stage::Measure, "hung".into()));
            }
            let shared = self.shared.contains(&(self.visits.len() - 1));
            let pulse = Pulse::of_additions(1000, if shared { 2500 } else { 1600 });
            let sample = |warmup| {
                let pulses = Some([pulse; 2]);
                RawSample { warmup, wall_ns: 200_000, cpu_ns: 200_000, units: 10, switches: 0, pulses }
            };
            let samples =
                (0..request.warmup + request.samples).map(|index| sample(index < request.warmup)).collect();
            let check = if self.wrong == Some(subject) { 1 } else { request.window };
            Ok(Visited { samples, check, state_bytes: None })
        }
        fn region(&self, _: usize) -> RegionCost {
            RegionCost::default()
        }
        fn kind(&self, _: usize) -> VariantKind {
            VariantKind::Call
        }
        fn reads_elsewhere(&self, _: usize) -> bool {
            false
        }
        fn cell(&self, subject: usize, input: usize) -> Cell {
            Cell { variant: subject % 2, input, compiler: 0, flags: 0 }
        }
        fn pause(&mut self) -> Duration {
            self.pauses.push(self.visits.len());
            self.paused
        }
    }

    /// Two artifacts (subjects 0, 1 and 2, 3) on two inputs.
    fn blocks() -> Vec<RoundBlock> {
        let block = |id, input, first| RoundBlock { id, input, subjects: vec![first, first + 1], repeat: 0 };
        vec![block(0, 0, 0), block(1, 0, 2), block(10, 1, 0), block(11, 1, 2)]
    }

    fn plans() -> Vec<InputPlan> {
        let usage = CallUsage::default();
        vec![InputPlan { windows: 100, iterations: 5, warmup: 1, samples: 3, usage }; 2]
    }

    fn scripted() -> Scripted {
        Scripted {
            visits: Vec::new(),
            fails: None,
            fails_from: 0,
            wrong: None,
            shared: HashSet::new(),
            pauses: Vec::new(),
            paused: Duration::from_secs(3600),
        }
    }

    /// What an unshared core shows, known from a round before.
    fn knowing() -> MeasuringCore {
        let mut own = OwnCore::default();
        own.learn([[Pulse::of_additions(1000, 1600); 2]; 20].into_iter());
        MeasuringCore { own, ..MeasuringCore::default() }
    }

    fn round(bench: &mut Scripted, failed: &mut HashSet<Cell>) -> RoundOutcome {
        walk(bench, &blocks(), &plans(), DRAW, failed, &mut knowing(), &mut |_| true)
    }

    #[test]
    fn visits_every_cell_once_and_keeps_every_sample() {
        let mut bench = scripted();
        let outcome = round(&mut bench, &mut HashSet::new());
        assert!(outcome.complete);
        assert_eq!(bench.visits.len(), 8);
        assert_eq!(outcome.taken.len(), 8 * 4);
        assert_eq!(outcome.taken.iter().filter(|taken| taken.raw.warmup).count(), 8);
    }

    #[test]
    fn gives_all_cells_of_an_input_the_same_windows_and_iterations() {
        let mut bench = scripted();
        round(&mut bench, &mut HashSet::new());
        for input in 0..2 {
            let mut requests: Vec<_> = bench
                .visits
                .iter()
                .map(|(_, request)| *request)
                .filter(|request| request.input == input)
                .collect();
            requests.dedup();
            assert_eq!(requests.len(), 1, "{requests:?}");
        }
    }

    #[test]
    fn waits_for_a_program_that_hangs_only_once() {
        let mut bench = Scripted { fails: Some(1), ..scripted() };
        let mut failed = HashSet::new();
        let outcome = round(&mut bench, &mut failed);
        let cells: HashSet<usize> = outcome.faults.iter().map(|(cell, _)| cell.input).collect();
        // Subject 1 fails on whichever input comes first at it; its sibling 3 is of the same group.
        assert!(!cells.is_empty());
        let tries = bench.visits.iter().filter(|(subject, _)| *subject == 1).count();
        assert!(tries <= 2);
        let before = bench.visits.len();
        round(&mut bench, &mut failed);
        let again = bench.visits[before..].iter().filter(|(subject, _)| *subject == 1).count();
        assert_eq!(again + tries, 2, "each input's fault is met once");
    }

    #[test]
    fn leaves_out_a_variant_that_answers_differently_while_measuring() {
        let mut bench = Scripted { wrong: Some(3), ..scripted() };
        let mut failed = HashSet::new();
        let outcome = round(&mut bench, &mut failed);
        assert_eq!(outcome.faults.len(), 2);
        assert!(outcome.faults[0].1.to_string().contains("answered 0000000000000001"));
        let kept = |odd: bool| outcome.taken.iter().filter(move |taken| (taken.subject % 2 == 1) == odd);
        assert!(kept(false).all(|taken| taken.flagged.is_none()));
        assert!(kept(true).count() > 0 && kept(true).all(|taken| taken.flagged == Some(Flag::FailedCell)));
    }

    #[test]
    fn never_blames_the_honest_for_a_liar_that_came_first_in_a_round_cut_short() {
        // Subject 1 lies, whenever it comes; the baseline is subject 0 (and 2).
        for (seed, visits) in (0..20).flat_map(|seed| (1..=8).map(move |visits| (seed, visits))) {
            let mut bench = Scripted { wrong: Some(1), ..scripted() };
            let mut failed = HashSet::new();
            let mut core = MeasuringCore::default();
            walk(
                &mut bench,
                &blocks(),
                &plans(),
                RoundDraw { seed, round: 3 },
                &mut failed,
                &mut core,
                &mut |step| !matches!(step, RoundProgress::Visited { done, .. } if done >= visits),
            );
            assert!(failed.iter().all(|cell| cell.variant == 1), "{seed}, {visits}: {failed:?}");
        }
    }

    #[test]
    fn holds_the_others_against_the_first_that_has_not_failed() {
        let mut bench = Scripted { wrong: Some(3), ..scripted() };
        let mut failed: HashSet<Cell> =
            [0, 1].map(|input| Cell { variant: 0, input, compiler: 0, flags: 0 }).into();
        let outcome = round(&mut bench, &mut failed);
        assert_eq!(outcome.faults.len(), 2);
        let told = outcome.faults[0].1.to_string();
        assert!(told.contains("at one placement and"), "{told}");
    }

    fn is_shared(taken: &&TakenSample) -> bool {
        knowing().own.is_shared(taken.raw.pulses)
    }

    /// What is used of a round, as (subject, input, position).
    fn used(outcome: &RoundOutcome) -> Vec<(usize, usize, u32)> {
        let counted = outcome.taken.iter().filter(|taken| taken.flagged.is_none() && !taken.raw.warmup);
        let counted = counted.filter(|taken| !is_shared(taken));
        let mut found: Vec<_> = counted.map(|taken| (taken.subject, taken.input, taken.position)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_visit_that_shared_the_core_is_made_again_and_its_samples_take_the_first_ones_place() {
        let undisturbed = used(&round(&mut scripted(), &mut HashSet::new()));
        for shared in 0..8 {
            let mut bench = Scripted { shared: [shared].into(), ..scripted() };
            let outcome = round(&mut bench, &mut HashSet::new());
            assert_eq!(bench.visits.len(), 9);
            assert_eq!(bench.visits[8], bench.visits[shared], "the same windows");
            assert_eq!(used(&outcome), undisturbed);
            let left_out = outcome.taken.iter().filter(|taken| taken.flagged == Some(Flag::Retaken)).count();
            assert_eq!(left_out, 4);
            assert!(outcome.faults.is_empty());
        }
    }

    #[test]
    fn a_core_that_stays_shared_is_tried_once_more_and_then_no_sample_counts() {
        let mut bench = Scripted { shared: (0..100).collect(), ..scripted() };
        let outcome = round(&mut bench, &mut HashSet::new());
        assert!(outcome.complete);
        assert_eq!(bench.visits.len(), 8 + STAYS + 1);
        assert_eq!(bench.pauses, [8 + STAYS]);
        assert_eq!(used(&outcome), []);
        let kept = outcome.taken.iter().filter(|taken| taken.flagged.is_none());
        assert_eq!(kept.filter(is_shared).count(), 8 * 4, "of each visit its first making");
    }

    #[test]
    fn a_core_that_is_shared_on_and_off_is_waited_for_until_every_visit_had_it_alone() {
        // Of 8 visits 6 are lost. Then 2 find a gap and 3 don't, then 4 find one.
        let shared = (2..8).chain(10..13).collect();
        let mut bench = Scripted { shared, ..scripted() };
        let outcome = round(&mut bench, &mut HashSet::new());
        assert_eq!(bench.visits.len(), 8 + 5 + 4);
        assert_eq!(bench.pauses, [0; 0]);
        assert_eq!(used(&outcome), used(&round(&mut scripted(), &mut HashSet::new())));
    }

    #[test]
    fn somebody_who_stays_is_waited_for_with_one_visit_now_and_then() {
        // All 8, 3 of them again, two single ones; then the core is free for the one that is tried, and the other 7.
        let shared = (0..13).collect();
        let mut bench = Scripted { shared, paused: Duration::ZERO, ..scripted() };
        // An hour: however long these visits take, it is not over.
        let mut core = MeasuringCore { spare: Duration::from_secs(3600), ..knowing() };
        let outcome =
            walk(&mut bench, &blocks(), &plans(), DRAW, &mut HashSet::new(), &mut core, &mut |_| true);
        assert_eq!(bench.pauses, [11, 12, 13]);
        assert_eq!(bench.visits.len(), 8 + 3 + 3 + 7);
        assert_eq!(used(&outcome), used(&round(&mut scripted(), &mut HashSet::new())));
    }

    #[test]
    fn time_to_spare_is_waited_besides_and_is_not_charged_to_the_round() {
        let mut bench =
            Scripted { shared: (0..1000).collect(), paused: Duration::from_millis(1500), ..scripted() };
        let mut core = MeasuringCore { spare: Duration::from_secs(2), ..knowing() };
        let outcome =
            walk(&mut bench, &blocks(), &plans(), DRAW, &mut HashSet::new(), &mut core, &mut |_| true);
        assert_eq!((bench.pauses.len(), core.spare, outcome.elapsed), (2, Duration::ZERO, Duration::ZERO));
        assert_eq!(outcome.waited, Duration::from_secs(2));
        let mut charged = MeasuringCore { spare: Duration::from_secs(2), is_charged: true, ..knowing() };
        let begun = Instant::now();
        let outcome =
            walk(&mut bench, &blocks(), &plans(), DRAW, &mut HashSet::new(), &mut charged, &mut |_| true);
        assert!(outcome.elapsed > Duration::ZERO && outcome.elapsed <= begun.elapsed());
        assert_eq!(outcome.waited, Duration::from_secs(2));
        // Nothing is left for the next round.
        bench.pauses.truncate(2);
        bench.visits.clear();
        walk(
            &mut bench,
            &blocks(),
            &plans(),
            RoundDraw { round: 4, ..DRAW },
            &mut HashSet::new(),
            &mut core,
            &mut |_| true,
        );
        assert_eq!(bench.pauses.len(), 3);
    }

    #[test]
    fn a_cell_that_fails_when_its_visit_is_made_again_is_not_waited_for() {
        // The first pass is shared throughout; then subject 1 fails on both inputs, and all others have the core alone.
        let mut bench = Scripted { shared: (0..8).collect(), fails_from: 8, fails: Some(1), ..scripted() };
        let outcome = round(&mut bench, &mut HashSet::new());
        assert_eq!(outcome.faults.len(), 2);
        assert_eq!(bench.pauses, [0; 0]);
        assert!(used(&outcome).iter().all(|(subject, ..)| subject % 2 == 0));
    }

    #[test]
    fn a_round_that_knows_no_other_learns_what_a_core_of_its_own_shows() {
        let mut bench = Scripted { shared: [0, 1].into(), ..scripted() };
        let mut core = MeasuringCore::default();
        let mut failed = HashSet::new();
        let outcome = walk(&mut bench, &blocks(), &plans(), DRAW, &mut failed, &mut core, &mut |_| true);
        assert_eq!(core.own, knowing().own);
        assert_eq!(bench.visits.len(), 10);
        assert_eq!(used(&outcome).len(), 8 * 3);
    }

    #[test]
    fn a_variant_that_lies_when_its_visit_is_made_again_is_found_out() {
        let mut bench = Scripted { shared: (0..8).collect(), wrong: Some(3), ..scripted() };
        let outcome = round(&mut bench, &mut HashSet::new());
        assert_eq!(outcome.faults.len(), 2);
    }

    #[test]
    fn ends_early_when_it_is_asked_to() {
        let (mut bench, mut core) = (scripted(), MeasuringCore::default());
        let outcome =
            walk(&mut bench, &blocks(), &plans(), DRAW, &mut HashSet::new(), &mut core, &mut |step| {
                !matches!(step, RoundProgress::Visited { done: 3.., .. })
            });
        assert!(!outcome.complete);
        assert_eq!(bench.visits.len(), 3);
    }
}
