//! How each input is sampled: one number of calls per sample for all cells, so that samples last 0.05 to 1 ms, and as
//! much warm-up as the slowest cell is seen to need.

use super::fault::ProgramFault;
use super::round::{InputPlan, VisitBench};
use super::worker::{VisitRequest, Visited};
use assay_pure::experiment::CacheState;
use assay_pure::protocol::CallUsage;
use assay_pure::stats::quantile::{MAD_TO_SIGMA, mad, median};
use std::time::Instant;

/// A sample's aim, nanoseconds: short enough to fit between the bursts of others, long enough that the clock's own 25 ns are nothing.
/// Beside a sibling thread that was busy in bursts (Zen 3), 51 to 66 of 100 stretches of 0.08 ms were undisturbed, 22 to 30 of 1 ms.
const AIM_NS: f64 = 50_000.0;
/// No sample should be longer, nanoseconds.
const LONGEST_NS: f64 = 1_000_000.0;
/// A probe of calls must last as long, nanoseconds: a region of a few nanoseconds is as long as an empty one, give or take.
const PROBED_NS: u64 = 2_000;
/// Calls of one probe are multiplied by this until it lasts so long, up to this many.
const PROBE_GROWTH: u64 = 32;
const MOST_PROBED: u64 = PROBE_GROWTH.pow(4);
/// Samples watched after a disturbance, and how many where these do not suffice.
const WATCHED: [u64; 2] = [8, 64];
/// No visit is watched for longer, nanoseconds; calls so long that it holds fewer than four have no warm-up to see.
const WATCHED_NS: f64 = 20_000_000.0;
/// Visits watched per cell: their median is believed.
const WATCHED_VISITS: u64 = 3;
/// A sample has settled when it takes at most this much of the time of the same windows visited once more at once.
const SETTLED: f64 = 1.01;
/// On a noisy machine that cannot be seen; up to this much is then taken for noise, if the later samples scatter so.
const SETTLED_IN_NOISE: f64 = 1.03;
/// The third quarter of a visit may take this much longer than the last; up to [`MOST_STILL_FALLS`] if samples scatter that much.
const STILL_FALLS: f64 = 0.005;
const MOST_STILL_FALLS: f64 = 0.02;

/// Calls per sample for the times of one call that the cells of one input were seen to take, nanoseconds.
///
/// The geometric middle of the cells is aimed at [`AIM_NS`]; the slowest stays below [`LONGEST_NS`] where one call
/// allows it.
pub fn iterations(call_ns: &[f64]) -> u64 {
    let usable: Vec<f64> = call_ns.iter().copied().filter(|ns| ns.is_finite() && *ns > 0.0).collect();
    if usable.is_empty() {
        return 1;
    }
    let middle = (usable.iter().map(|ns| ns.ln()).sum::<f64>() / usable.len() as f64).exp();
    let slowest = usable.iter().copied().fold(0.0, f64::max);
    let wanted = (AIM_NS / middle).round().min((LONGEST_NS / slowest).floor());
    wanted.clamp(1.0, 1e9) as u64
}

/// After how many samples a cell has settled, from the ratios of cold to warm samples of several watched visits: the
/// first position at which the median ratio, and that of the next position, are within 1 % of where the visits end, or
/// within what neighbouring positions scatter by. None: the ratios still fall, or the end itself is no warm sample.
///
/// Cold and warm samples are of the same windows, so what differs between windows is not mistaken for warming up. Each
/// visit is compared with its own end: on a noisy machine whole visits differ by 10 %, and that is no warm-up.
pub fn settled(visits: &[Vec<f64>]) -> Option<usize> {
    let positions = visits.iter().map(Vec::len).min().unwrap_or(0);
    let end = positions - (positions / 4).max(1).min(positions);
    let last =
        |visit: &Vec<f64>| middle(&visit[end..positions]).or_else(|| middle(visit)).unwrap_or(f64::NAN);
    let ends: Vec<f64> = visits.iter().map(last).collect();
    if ends.iter().all(|ratio| ratio.is_nan() || *ratio > SETTLED_IN_NOISE) {
        return None;
    }
    let level = |position: usize| {
        let ratios: Vec<f64> = visits.iter().zip(&ends).map(|(visit, end)| visit[position] / end).collect();
        middle(&ratios).unwrap_or(f64::INFINITY)
    };
    let levels: Vec<f64> = (0..positions).map(level).collect();
    let later = &levels[positions / 2..];
    let steps = later.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| step.is_finite());
    let steps: Vec<f64> = steps.collect();
    // Of a step that is the difference of two positions.
    let scatter = mad(&steps).unwrap_or(0.0) * MAD_TO_SIGMA / std::f64::consts::SQRT_2;
    let before = middle(&levels[positions / 2..end]).unwrap_or(1.0);
    if before > 1.0 + (1.5 * scatter).clamp(STILL_FALLS, MOST_STILL_FALLS) {
        return None;
    }
    let most = (1.0 + 3.0 * scatter).clamp(SETTLED, SETTLED_IN_NOISE);
    (0..positions.saturating_sub(1)).find(|&start| levels[start] <= most && levels[start + 1] <= most)
}

/// The median of those that are known.
fn middle(ratios: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = ratios.iter().copied().filter(|ratio| ratio.is_finite()).collect();
    median(&finite)
}

/// How the calls on an input are to be made, and how many a sample may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// How they are made.
    pub usage: CallUsage,
    /// Calls per sample, at most.
    pub most_iterations: u64,
    /// Of fresh states that exist at once.
    pub fresh: FreshLimits,
}

/// How much the states of one sample may take where each call has its own, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshLimits {
    /// At most.
    pub memory: u64,
    /// As long as samples last long enough: what one call's state takes of a cache must be there still when it begins.
    pub cached: u64,
}

impl Default for FreshLimits {
    fn default() -> Self {
        Self { memory: 64 << 20, cached: 256 << 10 }
    }
}

impl FreshLimits {
    /// Calls per sample, at most, where a state costs so much and the fastest call takes so long.
    fn most_iterations(&self, state_bytes: u64, call_ns: f64) -> u64 {
        let fitting = |bytes: u64| bytes / state_bytes.max(1);
        let long_enough = (FRESH_LEAST_NS / call_ns.max(0.1)).ceil() as u64;
        fitting(self.cached).max(long_enough).min(fitting(self.room())).max(1)
    }

    /// What is planned for: states may differ in size, and a program refuses what exceeds the memory.
    fn room(&self) -> u64 {
        self.memory - self.memory / 8
    }
}

/// Samples of fresh states last as long, nanoseconds, even where their states then leave the cache.
const FRESH_LEAST_NS: f64 = 10_000.0;
/// By how much a program's own figure of what its states take may be wrong, bytes.
const STATES_GRAIN: u64 = 256 << 10;

/// Samples of few calls that a visit may have.
const MOST_SAMPLES: u64 = 32;
/// Samples of other calls than hot and independent ones are watched from this length on, nanoseconds.
const WATCHED_LEAST_NS: f64 = 10_000.0;
/// What making things cold may take per visit, nanoseconds.
const MOST_COOLING_NS: f64 = 20_000_000.0;

/// What tuning found of one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// How it is visited from now on.
    pub plan: InputPlan,
    /// Mean time of a visit over the cells, nanoseconds.
    pub visit_ns: f64,
    /// What a state of a fresh variant costs, the largest, bytes.
    pub state_bytes: Option<u64>,
    /// Some variant did not settle within the time watched: the input is being learned, or something drifts.
    pub unsettled: bool,
    /// Subjects that failed while they were tried; what is said here is of the others.
    pub faults: Vec<(usize, ProgramFault)>,
}

/// Tunes one input by trying it on `subjects`, one of each cell.
pub fn input(
    bench: &mut dyn VisitBench,
    number: usize,
    windows: u64,
    wanted: &CallLimits,
    subjects: &[usize],
    samples: u64,
) -> Tuned {
    let usage = wanted.usage;
    let probe = VisitRequest {
        input: number as u32,
        window: windows / 2,
        iterations: 1,
        warmup: 2,
        samples: 5,
        usage,
    };
    let limits = CallLimits { most_iterations: most_iterations(bench, subjects, wanted), ..*wanted };
    let (probed, mut faults) = probe_all(bench, subjects, &probe, &limits);
    let iterations =
        iterations(&probed.call_ns).min(limits.most_iterations).min(probed.most_fresh(&limits.fresh));
    let mut samples = samples;
    let beside = usage != CallUsage::default() || probed.state_bytes.is_some();
    if beside {
        samples = cooled_samples(&probed.call_ns, iterations, probed.sample_costs_ns, samples);
    }
    let request = VisitRequest { iterations, warmup: 0, ..probe };
    let visit = WatchedVisit { request, windows, most_samples: probed.most_watched(&request) };
    let (warmup, unsettled) = warm_up(bench, &probed.usable, &visit, &mut faults);
    // Where much warm-up is paid, more is taken from the visit.
    let samples = samples.max(warmup / 2);
    let mut visit_ns = probed.mean_ns() * iterations as f64 * (warmup + samples) as f64;
    if beside {
        // Copying, making states and making cold take time that no sample shows.
        let request = VisitRequest { iterations, warmup, samples, ..probe };
        let begun = Instant::now();
        let visited = probed.usable.iter().filter(|&&subject| bench.visit(subject, &request).is_ok()).count();
        visit_ns = begun.elapsed().as_nanos() as f64 / visited.max(1) as f64;
    }
    let plan = InputPlan { windows, iterations, warmup, samples, usage };
    Tuned { visit_ns, plan, state_bytes: probed.state_bytes, unsettled, faults }
}

/// What one call of each subject takes.
#[derive(Default)]
struct ProbedSubjects {
    /// Those that could be called.
    usable: Vec<usize>,
    /// One call of each, nanoseconds.
    call_ns: Vec<f64>,
    /// The most that a sample costs beside its region, nanoseconds.
    sample_costs_ns: f64,
    /// What a state of a fresh variant costs, the largest, bytes.
    state_bytes: Option<u64>,
}

impl ProbedSubjects {
    /// Calls per sample that fresh states allow.
    fn most_fresh(&self, limits: &FreshLimits) -> u64 {
        let fastest = self.call_ns.iter().copied().filter(|ns| ns.is_finite()).fold(f64::INFINITY, f64::min);
        self.state_bytes.map_or(u64::MAX, |bytes| limits.most_iterations(bytes, fastest))
    }

    fn mean_ns(&self) -> f64 {
        let finite = self.call_ns.iter().filter(|ns| ns.is_finite());
        finite.sum::<f64>() / self.call_ns.len().max(1) as f64
    }

    /// Samples that may be watched in a visit.
    fn most_watched(&self, request: &VisitRequest) -> u64 {
        let slowest = self.call_ns.iter().copied().filter(|ns| ns.is_finite()).fold(1.0, f64::max);
        let sample_ns = slowest * request.iterations as f64;
        let most = (WATCHED_NS / sample_ns) as u64;
        if request.usage == CallUsage::default() && self.state_bytes.is_none() {
            return most;
        }
        // In regions of so few nanoseconds nothing can be seen to settle, and after other work nothing has.
        if sample_ns < WATCHED_LEAST_NS || request.usage.state == CacheState::ColdCode {
            return 0;
        }
        most.min((MOST_COOLING_NS / self.sample_costs_ns.max(1.0)) as u64)
    }
}

/// Calls each subject; beside what it takes, those that failed.
fn probe_all(
    bench: &mut dyn VisitBench,
    subjects: &[usize],
    probe: &VisitRequest,
    limits: &CallLimits,
) -> (ProbedSubjects, Vec<(usize, ProgramFault)>) {
    let mut found = ProbedSubjects::default();
    let mut faults = Vec::new();
    for &subject in subjects {
        match time_of_call(bench, subject, probe, limits) {
            Ok(probed) => {
                found.call_ns.push(probed.call_ns);
                found.state_bytes = found.state_bytes.max(probed.state_bytes);
                found.sample_costs_ns = found.sample_costs_ns.max(probed.sample_costs_ns);
                found.usable.push(subject);
            }
            Err(fault) => faults.push((subject, fault)),
        }
    }
    (found, faults)
}

/// A visit whose samples are watched while they settle.
struct WatchedVisit {
    request: VisitRequest,
    /// Of the whole input.
    windows: u64,
    /// Of one visit.
    most_samples: u64,
}

/// Samples of warm-up that the slowest variant to settle needs, and whether some variant did not settle.
fn warm_up(
    bench: &mut dyn VisitBench,
    usable: &[usize],
    visit: &WatchedVisit,
    faults: &mut Vec<(usize, ProgramFault)>,
) -> (u64, bool) {
    let (mut warmup, mut unsettled) = (1, false);
    if visit.most_samples < 4 {
        return (warmup, unsettled);
    }
    for group in variants(bench, usable) {
        match watch(bench, usable, &group, visit, faults) {
            Watched::Settled(index) => warmup = warmup.max(index as u64),
            Watched::Unsettled => {
                unsettled = true;
                warmup = warmup.max(WATCHED[1].min(visit.most_samples) / 2);
            }
            Watched::Nothing => {}
        }
    }
    (warmup, unsettled)
}

/// Calls per sample, at most. What all calls read is cold for one of them only.
fn most_iterations(bench: &dyn VisitBench, subjects: &[usize], wanted: &CallLimits) -> u64 {
    let shared = || subjects.iter().any(|&subject| bench.reads_elsewhere(subject));
    if wanted.usage.state == CacheState::ColdData && shared() { 1 } else { wanted.most_iterations }
}

/// Samples of a visit where single ones are shorter than aimed at: so many that together they are as long, as far as what
/// each costs beside its region allows.
fn cooled_samples(call_ns: &[f64], iterations: u64, sample_costs_ns: f64, least: u64) -> u64 {
    let finite: Vec<f64> = call_ns.iter().copied().filter(|ns| ns.is_finite() && *ns > 0.0).collect();
    let mean_ns = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
    let wanted = AIM_NS * least as f64 / (mean_ns.max(1.0) * iterations as f64);
    let affordable = MOST_COOLING_NS / sample_costs_ns.max(1.0);
    (wanted.min(affordable) as u64).clamp(least, MOST_SAMPLES.max(least))
}

/// The subjects by variant: builds of one variant are watched together.
fn variants(bench: &dyn VisitBench, subjects: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for &subject in subjects {
        let variant = bench.cell(subject, 0).variant;
        match groups.iter_mut().find(|(known, _)| *known == variant) {
            Some((_, group)) => group.push(subject),
            None => groups.push((variant, vec![subject])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What watching one variant showed.
enum Watched {
    /// After how many samples it has settled.
    Settled(usize),
    /// Not within the time watched.
    Unsettled,
    /// Every one of its programs failed.
    Nothing,
}

/// Watches the builds of one variant warm up; a longer look where the first does not suffice.
fn watch(
    bench: &mut dyn VisitBench,
    all: &[usize],
    group: &[usize],
    visit: &WatchedVisit,
    faults: &mut Vec<(usize, ProgramFault)>,
) -> Watched {
    let visits_each = WATCHED_VISITS.div_ceil(group.len() as u64);
    let mut watched = Watched::Nothing;
    for samples in WATCHED.map(|samples| samples.min(visit.most_samples)) {
        let mut visits: Vec<Vec<f64>> = Vec::new();
        for &subject in group {
            for number in 0..visits_each {
                if faults.iter().any(|(failed, _)| *failed == subject) {
                    break;
                }
                let window = visit.windows * (number + 1) / (visits_each + 2);
                let request = VisitRequest { samples, window, ..visit.request };
                disturb(bench, all, subject, &request);
                let series = net_series(bench, subject, &request)
                    .and_then(|cold| Ok((cold, net_series(bench, subject, &request)?)));
                match series {
                    Ok((cold, warm)) => visits.push(cold.iter().zip(&warm).map(|(c, w)| c / w).collect()),
                    Err(fault) => faults.push((subject, fault)),
                }
            }
        }
        match settled(&visits) {
            Some(index) => return Watched::Settled(index),
            None if visits.is_empty() => return Watched::Nothing,
            None => watched = Watched::Unsettled,
        }
    }
    watched
}

/// What probing found of a program's calls.
struct Probed {
    /// What one call takes, nanoseconds, the fastest of a few; infinite where all were interrupted.
    call_ns: f64,
    /// What one sample takes with all that is done beside its region, nanoseconds.
    sample_costs_ns: f64,
    /// What a state of a fresh variant costs, bytes.
    state_bytes: Option<u64>,
}

/// Probes with ever more calls, up to the limit, until they last.
fn time_of_call(
    bench: &mut dyn VisitBench,
    subject: usize,
    probe: &VisitRequest,
    limits: &CallLimits,
) -> Result<Probed, ProgramFault> {
    let mut most = limits.most_iterations;
    let mut request = VisitRequest { ..*probe };
    loop {
        let begun = Instant::now();
        let visited = bench.visit(subject, &request)?;
        if let Some(bytes) = visited.state_bytes {
            // States that the program has too few of to tell may be as large as its figure is uncertain.
            most = most.min(limits.fresh.room() / (bytes + STATES_GRAIN / 1024)).max(1);
        }
        let sample_costs_ns = begun.elapsed().as_nanos() as f64 / visited.samples.len().max(1) as f64;
        // Interrupted ones too: what is interrupted is long enough.
        let longest = visited.samples.iter().map(|sample| sample.wall_ns).max().unwrap_or(0);
        if longest < PROBED_NS && request.iterations < MOST_PROBED.min(most) {
            request.iterations = (request.iterations * PROBE_GROWTH).min(most);
            continue;
        }
        let series = net_of(bench, subject, &visited);
        let fastest = series.into_iter().filter(|ns| ns.is_finite()).fold(f64::INFINITY, f64::min);
        let call_ns = fastest / request.iterations as f64;
        return Ok(Probed { call_ns, sample_costs_ns, state_bytes: visited.state_bytes });
    }
}

/// Lets another program run, so that what is watched then starts as it will in a round.
fn disturb(bench: &mut dyn VisitBench, subjects: &[usize], not: usize, request: &VisitRequest) {
    if let Some(&other) = subjects.iter().find(|&&subject| subject != not) {
        let _ = bench.visit(other, &VisitRequest { samples: 4, ..*request });
    }
}

/// Net wall times per unit of a visit's counted samples, scaled to a full sample, nanoseconds; NaN where one was
/// interrupted.
fn net_series(
    bench: &mut dyn VisitBench,
    subject: usize,
    request: &VisitRequest,
) -> Result<Vec<f64>, ProgramFault> {
    let visited = bench.visit(subject, request)?;
    Ok(net_of(bench, subject, &visited))
}

fn net_of(bench: &dyn VisitBench, subject: usize, visited: &Visited) -> Vec<f64> {
    let cost = bench.region(subject);
    let counted: Vec<_> = visited.samples.iter().filter(|sample| !sample.warmup).collect();
    // Windows differ in units (the last one is short): scaled to the fullest.
    let units = counted.iter().map(|sample| sample.units).max().unwrap_or(1) as f64;
    let net = |sample: &&super::flag::RawSample| match sample.flag(cost) {
        None => sample.net_wall_ns(cost) * units / sample.units as f64,
        Some(_) => f64::NAN,
    };
    counted.iter().map(net).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::flag::{RawSample, RegionCost};
    use assay_pure::experiment::matrix::Cell;
    use assay_pure::protocol::VariantKind;

    /// One program whose calls take as long as said, behind a region of 22 ns and a clock that counts in tens.
    struct Steady {
        call_ns: f64,
        asked: Vec<u64>,
        reads_elsewhere: bool,
        state_bytes: Option<u64>,
    }

    impl VisitBench for Steady {
        fn visit(&mut self, _: usize, request: &VisitRequest) -> Result<Visited, ProgramFault> {
            self.asked.push(request.iterations);
            let ns = 22.0 + self.call_ns * request.iterations as f64;
            let wall_ns = (ns / 10.0).round() as u64 * 10;
            let units = request.iterations;
            let sample =
                RawSample { warmup: false, wall_ns, cpu_ns: wall_ns, units, switches: 0, pulses: None };
            let samples = vec![sample; (request.warmup + request.samples) as usize];
            Ok(Visited { samples, check: 0, state_bytes: self.state_bytes })
        }
        fn region(&self, _: usize) -> RegionCost {
            RegionCost { wall_ns: 22.0, cpu_ns: 22.0 }
        }
        fn kind(&self, _: usize) -> VariantKind {
            VariantKind::Loop
        }
        fn reads_elsewhere(&self, _: usize) -> bool {
            self.reads_elsewhere
        }
        fn cell(&self, _: usize, input: usize) -> Cell {
            Cell { variant: 0, input, compiler: 0, flags: 0 }
        }
    }

    #[test]
    fn calls_shorter_than_the_clock_can_tell_are_probed_in_bulk() {
        for call_ns in [0.3, 2.0, 500.0, 3e6] {
            let mut bench = Steady { call_ns, asked: Vec::new(), reads_elsewhere: false, state_bytes: None };
            let fresh = FreshLimits::default();
            let wanted = CallLimits { usage: CallUsage::default(), most_iterations: u64::MAX, fresh };
            let tuned = input(&mut bench, 0, 1, &wanted, &[0], 20);
            let sample_ns = call_ns * tuned.plan.iterations as f64;
            let single = call_ns > LONGEST_NS && tuned.plan.iterations == 1;
            assert!(single || (25_000.0..100_000.0).contains(&sample_ns), "{call_ns}: {:?}", tuned.plan);
            assert!(bench.asked.iter().all(|&calls| calls as f64 * call_ns <= 3e6), "{:?}", bench.asked);
        }
    }

    #[test]
    fn states_of_their_own_fit_the_cache_as_far_as_samples_last_and_always_the_memory() {
        let states = |call_ns, bytes: u64, memory| {
            let state_bytes = Some(bytes);
            let mut bench = Steady { call_ns, asked: Vec::new(), reads_elsewhere: false, state_bytes };
            let fresh = FreshLimits { memory, cached: 256 << 10 };
            let wanted = CallLimits { usage: CallUsage::default(), most_iterations: u64::MAX, fresh };
            let tuned = input(&mut bench, 0, 1000, &wanted, &[0], 4);
            let most = *bench.asked.iter().max().expect("it was asked");
            assert!(most == 1 || most * bytes <= memory, "{:?}", bench.asked);
            assert_eq!(tuned.state_bytes, state_bytes);
            tuned.plan.iterations
        };
        // 1,000 numbers sorted: a sample as long as ever, and its copies fit.
        assert_eq!(states(5_000.0, 4144, 64 << 20), 10);
        assert_eq!(states(500.0, 4144, 64 << 20), 63, "half of the cache is full");
        assert_eq!(states(100.0, 1 << 20, 64 << 20), 56, "the memory is full, but for an eighth");
        assert_eq!(states(1_000.0, 1 << 20, 64 << 20), 11, "a sample must last");
        assert_eq!(states(1_000.0, 40 << 20, 64 << 20), 1);
    }

    #[test]
    fn calls_that_are_made_cold_are_never_more_than_stay_cold() {
        let cold = |most_iterations, reads_elsewhere| {
            let mut bench = Steady { call_ns: 3.0, asked: Vec::new(), reads_elsewhere, state_bytes: None };
            let usage = CallUsage { state: CacheState::ColdData, ..CallUsage::default() };
            let tuned = input(
                &mut bench,
                0,
                1000,
                &CallLimits { usage, most_iterations, fresh: FreshLimits::default() },
                &[0],
                4,
            );
            assert_eq!(tuned.plan.usage, usage);
            assert_eq!(bench.asked.iter().max(), Some(&tuned.plan.iterations), "{:?}", bench.asked);
            tuned.plan.iterations
        };
        assert_eq!(cold(400, false), 400);
        assert_eq!(cold(1, false), 1);
        assert_eq!(cold(400, true), 1, "what all calls read is cold for the first");
    }

    #[test]
    fn aims_the_middle_cell_at_a_twentieth_of_a_millisecond() {
        assert_eq!(iterations(&[10_000.0]), 5);
        assert_eq!(iterations(&[5_000.0, 20_000.0]), 5);
    }

    #[test]
    fn keeps_the_slowest_cell_below_a_millisecond() {
        assert_eq!(iterations(&[100.0, 100_000.0]), 10);
    }

    #[test]
    fn calls_once_where_one_call_is_long_or_unknown() {
        assert_eq!(iterations(&[8_000_000.0]), 1);
        assert_eq!(iterations(&[]), 1);
        assert_eq!(iterations(&[f64::NAN]), 1);
    }

    #[test]
    fn takes_more_samples_of_single_calls_as_far_as_that_is_affordable() {
        assert_eq!(cooled_samples(&[300.0], 1, 200_000.0, 4), 32);
        assert_eq!(cooled_samples(&[300.0], 1, 2_000_000.0, 4), 10);
        assert_eq!(cooled_samples(&[300.0], 1, 20_000_000.0, 4), 4);
        assert_eq!(cooled_samples(&[100.0], 256, 200_000.0, 4), 7);
        assert_eq!(cooled_samples(&[300_000.0], 1, 400_000.0, 4), 4);
        assert_eq!(cooled_samples(&[f64::INFINITY], 1, 100.0, 4), 32);
    }

    #[test]
    fn sees_when_a_cell_has_settled() {
        let visits = vec![vec![1.5, 1.2, 1.001, 1.0, 1.0]; 3];
        assert_eq!(settled(&visits), Some(2));
        assert_eq!(settled(&[vec![1.0; 8]]), Some(0));
    }

    #[test]
    fn is_not_fooled_by_an_outlier_or_an_interrupted_sample() {
        let visits = vec![vec![1.0, 9.0, 1.0], vec![1.0, 1.0, f64::NAN], vec![1.0, 1.0, 1.0]];
        assert_eq!(settled(&visits), Some(0));
    }

    #[test]
    fn takes_a_noisy_machine_for_what_it_is() {
        let noisy = vec![vec![1.5, 1.02, 0.99, 1.015, 1.0, 1.02, 0.98, 1.01]];
        assert_eq!(settled(&noisy), Some(1));
    }

    #[test]
    fn visits_of_another_speed_as_a_whole_say_nothing_of_warming_up() {
        let shape = [1.004, 0.998, 1.003, 0.999, 1.002, 0.997, 1.0, 1.001];
        let flat = [0.91, 1.06, 1.08].map(|speed| shape.map(|ratio| ratio * speed).to_vec());
        assert_eq!(settled(&flat), Some(0));
        let warming = [1.2, 1.05, 1.004, 0.998, 1.002, 0.997, 1.0, 1.001];
        let warming = [0.91, 1.06, 1.08].map(|speed| warming.map(|ratio| ratio * speed).to_vec());
        assert_eq!(settled(&warming), Some(2));
    }

    #[test]
    fn what_still_falls_where_the_visits_end_has_not_settled_however_fast_they_are() {
        let falling = [1.10, 1.09, 1.08, 1.07, 1.06, 1.05, 1.03, 1.02];
        let falling = [0.9, 0.95, 1.0].map(|speed| falling.map(|ratio| ratio * speed).to_vec());
        assert_eq!(settled(&falling), None);
        // Slower than the same windows once more, from first to last, and in every visit.
        assert_eq!(settled(&vec![vec![1.05; 8]; 3]), None);
    }

    #[test]
    fn says_that_a_cell_goes_on_getting_faster() {
        assert_eq!(settled(&[vec![1.3, 1.2, 1.1, 1.05]]), None);
        assert_eq!(settled(&[]), None);
    }
}
