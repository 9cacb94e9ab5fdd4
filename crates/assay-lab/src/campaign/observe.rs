//! From the ledger's samples to what the verdict sees: usable samples only, the region's own cost subtracted, divided
//! by units, grouped by placement.

use super::known_code::{CodePair, KnownCode};
use super::shared;
use crate::store::{FailureRow, Ledger, ProcessRow, SampleRow};
use anyhow::Result;
use assay_pure::compare::VisitPlacement;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::matrix::{Cell, CellId};
use assay_pure::experiment::spec::Clock;
use assay_pure::ledger::{Flag, Stage};
use assay_pure::pulse::{self, OwnCore, narrowed};
use assay_pure::stats::quantile;
use assay_pure::stats::rotation::MIN_ROTATIONS;
use assay_pure::verdict::{Build, Observation, ObservedContrast, PairAt, Rotation, Visits};
use assay_pure::words;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// One side at one placement.
#[derive(Clone, Debug, Default)]
pub struct PlacementSamples {
    /// The entry's offset in its 64-byte line.
    pub offset: u64,
    /// Usable samples.
    pub samples: Vec<Observation>,
    /// Those that were left out.
    pub left_out: Vec<Observation>,
}

impl PlacementSamples {
    /// The median of its samples, nanoseconds per unit; none of no sample.
    pub fn median(&self) -> Option<f64> {
        let samples: Vec<f64> = self.samples.iter().map(|sample| sample.ns_per_unit).collect();
        quantile::median(&samples)
    }
}

/// One cell at all its placements.
pub type CellPlacements = BTreeMap<VisitPlacement, PlacementSamples>;

/// A variant in one build: a cell but for its input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariantBuild {
    /// Variant.
    pub variant: String,
    /// Compiler.
    pub compiler: String,
    /// Flag set.
    pub flags: String,
}

impl VariantBuild {
    /// What a process runs.
    pub fn of(process: &ProcessRow) -> VariantBuild {
        VariantBuild {
            variant: process.variant.clone(),
            compiler: process.compiler.clone(),
            flags: process.flags.clone(),
        }
    }
}

/// Everything usable that a campaign has measured.
#[derive(Debug, Default)]
pub struct Observed {
    /// By cell.
    pub cells: BTreeMap<CellId, CellPlacements>,
    /// All samples, the unused ones too.
    pub samples: u64,
    /// Samples left out, warm-up not counted.
    pub flagged: u64,
    /// Samples that would have counted, those left out included; not those of visits that were made again.
    pub counted: u64,
    /// Samples per kind of flag.
    pub flags: BTreeMap<Flag, u64>,
    /// The inputs on which the core was shared so much that what was measured on a shared core is used.
    pub uses_shared: BTreeSet<String>,
    /// Those of them on which nothing else is: what was measured alone is left out.
    pub only_shared: BTreeSet<String>,
    /// Independent additions per cycle that the core has made at best, as pulses tell.
    pub width: Option<f64>,
}

/// A cell that loses more than this share of its rotations says little.
const MOST_LOST: f64 = 1.0 / 3.0;
/// A cell that loses this share of its rounds, too: how much they differ is then known from too few.
const MOST_ROUNDS_LOST: f64 = 0.5;
/// Fewer rounds than these tell nothing of their spread, whether some are lost or none.
const FEWEST_ROUNDS: usize = 3;
/// Above this share of samples that are left out the reader must know.
const MUCH: f64 = 0.3;

/// Reads a campaign's samples.
///
/// # Errors
/// The ledger cannot be read.
pub fn observe(ledger: &Ledger, campaign: i64, clock: Clock) -> Result<Observed> {
    let samples = ledger.samples(campaign)?;
    let mut known = OwnCore::default();
    for step in ledger.with_its_sweep(campaign)? {
        // Its own pulses were just read.
        let is_this = step == campaign;
        known.join(if is_this { shared::learned_of(&samples) } else { shared::learned(ledger, step)? });
    }
    of_samples(ledger, campaign, samples, clock, &known)
}

/// [`observe`], where it is known what an unshared core shows.
///
/// # Errors
/// The ledger cannot be read.
pub fn observe_on(ledger: &Ledger, campaign: i64, clock: Clock, known: &OwnCore) -> Result<Observed> {
    of_samples(ledger, campaign, ledger.samples(campaign)?, clock, known)
}

fn of_samples(
    ledger: &Ledger,
    campaign: i64,
    mut samples: Vec<SampleRow>,
    clock: Clock,
    known: &OwnCore,
) -> Result<Observed> {
    let processes: HashMap<i64, ProcessRow> =
        ledger.processes(campaign)?.into_iter().map(|process| (process.id, process)).collect();
    shared::flag(&mut samples, known);
    let (uses_shared, only_shared) = shared_inputs(&processes, &samples);
    let pulses = samples.iter().filter_map(|sample| sample.pulses).flatten();
    let width = pulse::own(pulses.filter_map(|pulse| pulse.quotient()).collect()).map(pulse::width);
    let mut observed = Observed { uses_shared, only_shared, width, ..Observed::default() };
    for visit in visits(&samples) {
        if let Some(process) = processes.get(&visit[0].process) {
            observed.take(process, visit, clock);
        }
    }
    Ok(observed)
}

/// Samples that follow each other and are of one process on one input: what is looked up by name is so only once for all of them.
fn visits(samples: &[SampleRow]) -> impl Iterator<Item = &[SampleRow]> {
    samples.chunk_by(|one, next| one.process == next.process && one.input == next.input)
}

/// The inputs on which what was shared must be used, as too little is left without; and those of them on which there is enough of it
/// to use nothing else. A sibling thread slows one placement more than another, so what is compared should be of one kind: medians
/// of a mixture are now those of one kind, now of the other.
fn shared_inputs(
    processes: &HashMap<i64, ProcessRow>,
    samples: &[SampleRow],
) -> (BTreeSet<String>, BTreeSet<String>) {
    let uses_shared = too_few(processes, samples, false);
    let mixed = if uses_shared.is_empty() { BTreeSet::new() } else { too_few(processes, samples, true) };
    let only_shared = uses_shared.difference(&mixed).cloned().collect();
    (uses_shared, only_shared)
}

/// The inputs on which using only what was shared, or only what was not, would cost some cell too many of its rotations, each of which
/// needs a sample at all its phases, or of its rounds. That holds for all cells of such an input: one side of a contrast on a
/// shared core and the other alone would be no comparison.
fn too_few(
    processes: &HashMap<i64, ProcessRow>,
    samples: &[SampleRow],
    wants_shared: bool,
) -> BTreeSet<String> {
    // Per cell and process: has it a sample that is wanted?
    let mut cells: HashMap<_, HashMap<i64, bool>> = HashMap::new();
    // Per cell and round, the same.
    let mut rounds: HashMap<_, HashMap<u32, bool>> = HashMap::new();
    for visit in visits(samples) {
        let Some(process) = processes.get(&visit[0].process) else { continue };
        let cell = (&process.variant, &visit[0].input, &process.compiler, &process.flags);
        // Looked up once for all samples of a visit in a round, of which there are a million.
        for of_round in visit.chunk_by(|one, next| one.round == next.round) {
            let mut said =
                of_round.iter().filter(|sample| !sample.warmup).filter_map(|sample| match sample.flagged {
                    None => Some(!wants_shared),
                    Some(Flag::Shared) => Some(wants_shared),
                    Some(_) => None,
                });
            let Some(first) = said.next() else { continue };
            let wanted = first || said.any(|wanted| wanted);
            *cells.entry(cell).or_default().entry(process.id).or_default() |= wanted;
            *rounds.entry(cell).or_default().entry(of_round[0].round).or_default() |= wanted;
        }
    }
    let mut inputs: BTreeMap<&Arc<str>, LostRotations> = BTreeMap::new();
    for (cell, rounds) in &rounds {
        let lost = rounds.values().filter(|wanted| !**wanted).count();
        inputs.entry(cell.1).or_default().too_many |=
            rounds.len() >= FEWEST_ROUNDS && lost as f64 >= MOST_ROUNDS_LOST * rounds.len() as f64;
    }
    for (cell, placements) in &cells {
        let mut rotations: HashMap<u32, bool> = HashMap::new();
        for (process, &wanted) in placements {
            if let Some(rotation) = processes[process].rotation {
                *rotations.entry(rotation).or_insert(true) &= wanted;
            }
        }
        let lost = rotations.iter().filter(|(_, wanted)| !**wanted).map(|(rotation, _)| *rotation);
        let lost: BTreeSet<u32> = lost.collect();
        let of_input = inputs.entry(cell.1).or_default();
        of_input.too_many |= lost.len() as f64 > MOST_LOST * rotations.len() as f64;
        of_input.rotations.extend(rotations.keys());
        of_input.lost.extend(lost);
    }
    inputs.into_iter().filter(|(_, lost)| lost.is_too_much()).map(|(input, _)| input.to_string()).collect()
}

/// What an input's cells would lose.
#[derive(Default)]
struct LostRotations {
    /// Some cell loses too large a share of its rotations, or of its rounds.
    too_many: bool,
    /// All rotations.
    rotations: BTreeSet<u32>,
    /// Those that some cell loses: a contrast needs both of its sides.
    lost: BTreeSet<u32>,
}

impl LostRotations {
    fn is_too_much(&self) -> bool {
        let left = self.rotations.len() - self.lost.len();
        self.too_many || !self.lost.is_empty() && left < MIN_ROTATIONS
    }
}

impl Observed {
    /// Takes the samples of one process on one input.
    fn take(&mut self, process: &ProcessRow, visit: &[SampleRow], clock: Clock) {
        self.samples += visit.len() as u64;
        let counts = |sample: &&SampleRow| !sample.warmup && sample.flagged != Some(Flag::Retaken);
        let Some(input) = visit.iter().find(counts).map(|sample| &sample.input) else { return };
        let uses_shared = self.uses_shared.contains(&**input);
        let only_shared = self.only_shared.contains(&**input);
        let placed = self
            .cells
            .entry(process.cell(input))
            .or_default()
            .entry(VisitPlacement::of(process.rotation, process.phase_bytes))
            .or_insert_with(|| PlacementSamples {
                offset: process.entry_address % 64,
                ..PlacementSamples::default()
            });
        for sample in visit.iter().filter(counts) {
            self.counted += 1;
            let observation = Observation {
                round: sample.round,
                index: sample.position,
                ns_per_unit: net_ns(process, sample, clock) / sample.units as f64,
            };
            if let Some(flag) = sample.flagged {
                *self.flags.entry(flag).or_default() += 1;
            }
            let is_used = match sample.flagged {
                None => !only_shared,
                Some(flag) => flag == Flag::Shared && uses_shared,
            };
            if is_used {
                placed.samples.push(observation);
            } else {
                self.flagged += 1;
                placed.left_out.push(observation);
            }
        }
    }

    /// The part of the samples that were flagged so.
    fn share(&self, kinds: &[Flag]) -> f64 {
        let found: u64 = kinds.iter().filter_map(|kind| self.flags.get(kind)).sum();
        found as f64 / self.counted.max(1) as f64
    }

    /// A sibling thread was busy beside so many samples that they are used all the same.
    pub fn shared_kept(&self) -> Option<String> {
        (!self.uses_shared.is_empty()).then(|| {
            let inputs: BTreeSet<&String> = self.cells.keys().map(|cell| &cell.input).collect();
            let (of, all) = (self.uses_shared.len(), inputs.len());
            let on = if of < all { format!("on {of} of {all} inputs ") } else { String::new() };
            let alone = if self.only_shared.is_empty() { "" } else { " (the others are left out)" };
            format!(
                "A sibling thread was busy beside {} of the samples, {on}too many to leave them out{alone}: raise \
                 --budget, or measure on another core (--cpu N).",
                words::fraction(self.share(&[Flag::Shared]))
            )
        })
    }

    /// What so many samples were left out for that the reader must know.
    pub fn interruptions(&self) -> Vec<String> {
        let (interrupted, shared) =
            (self.share(&[Flag::Interrupted, Flag::Preempted]), self.share(&[Flag::Shared]));
        let mut found = Vec::new();
        if interrupted > MUCH {
            found.push(format!(
                "{} of the samples were interrupted and left out: another core (--cpu N) may decide sooner.",
                words::fraction(interrupted)
            ));
        }
        if self.uses_shared.is_empty() && shared > MUCH {
            found.push(format!(
                "{} of the samples were left out because a sibling thread was busy: another core (--cpu N) may decide \
                 sooner.",
                words::fraction(shared)
            ));
        }
        found
    }

    /// Was the core shared from the first sample to the last? Compared with the width that was known of it when the campaign began.
    pub fn shared_all_the_time(&self, known: Option<f64>) -> Option<String> {
        let (width, known) = (self.width?, known?);
        let part = narrowed(width, known)?;
        Some(format!(
            "The core was shared throughout (at best {width:.1} additions per cycle, {} of the {known:.1} of `assay limits`): \
             measure at another time or on another core (--cpu N).",
            words::fraction(part)
        ))
    }

    /// One contrast, if both its cells have samples.
    pub fn contrast(
        &self,
        candidate: &CellId,
        baseline: &CellId,
        phases: &[u32],
    ) -> Option<ObservedContrast> {
        let (left, right) = (self.cells.get(candidate)?, self.cells.get(baseline)?);
        let pair = |at: VisitPlacement| {
            let (left, right) = (left.get(&at)?, right.get(&at)?);
            let usable = !left.samples.is_empty() && !right.samples.is_empty();
            usable.then(|| PairAt {
                phase_bytes: at.phase_bytes().unwrap_or(0),
                candidate_offset: left.offset,
                baseline_offset: right.offset,
                candidate: left.samples.clone(),
                baseline: right.samples.clone(),
            })
        };
        let mut numbers: Vec<u32> = left.keys().filter_map(|at| at.rotation()).collect();
        numbers.dedup();
        // One whose samples were all left out at some placement is kept without any: it is to be known that it was lost.
        let was_measured = |rotation: &u32| {
            phases.iter().all(|&phase_bytes| {
                let at = VisitPlacement::Placed { rotation: *rotation, phase_bytes };
                left.contains_key(&at) && right.contains_key(&at)
            })
        };
        let rotations = numbers
            .into_iter()
            .filter(was_measured)
            .map(|rotation| {
                let found: Option<Vec<PairAt>> = phases
                    .iter()
                    .map(|&phase_bytes| pair(VisitPlacement::Placed { rotation, phase_bytes }))
                    .collect();
                Rotation { rotation, phases: found.unwrap_or_default() }
            })
            .collect();
        let same_build = (&candidate.compiler, &candidate.flags) == (&baseline.compiler, &baseline.flags);
        let against = Build { compiler: baseline.compiler.clone(), flags: baseline.flags.clone() };
        Some(ObservedContrast {
            candidate: candidate.variant.clone(),
            baseline: baseline.variant.clone(),
            input: candidate.input.clone(),
            compiler: candidate.compiler.clone(),
            flags: candidate.flags.clone(),
            against: (!same_build).then_some(against),
            as_built: pair(VisitPlacement::AsBuilt),
            rotations,
            visits: Visits::Process,
            identity: None,
        })
    }
}

fn net_ns(process: &ProcessRow, sample: &SampleRow, clock: Clock) -> f64 {
    match clock {
        Clock::Wall => sample.wall_ns as f64 - process.region_wall_ns,
        Clock::ThreadCpu => sample.cpu_ns as f64 - process.region_cpu_ns,
    }
}

/// All contrasts of an experiment that have samples and have not failed, in the order of tables.
///
/// # Errors
/// The ledger cannot be read.
pub fn contrasts(
    experiment: &Experiment,
    compilers: &[String],
    observed: &Observed,
    failures: &[FailureRow],
    identical: &HashMap<CodePair, KnownCode>,
) -> Vec<ObservedContrast> {
    let mut found = Vec::new();
    let pairs = assay_pure::experiment::matrix::contrasts(experiment, compilers);
    for pair in pairs {
        let name = |cell: &Cell| cell.id(experiment, &compilers[cell.compiler]);
        let (candidate, baseline) = (name(&pair.candidate), name(&pair.baseline));
        if failed(failures, &candidate).is_some() || failed(failures, &baseline).is_some() {
            continue;
        }
        let Some(mut contrast) = observed.contrast(&candidate, &baseline, &experiment.placement.phases)
        else {
            continue;
        };
        if contrast.against.is_none() {
            let CellId { variant, compiler, flags, .. } = candidate;
            let candidate = VariantBuild { variant, compiler, flags };
            let pair = CodePair { candidate, baseline: baseline.variant };
            contrast.identity = identical.get(&pair).map(|known| known.on(&contrast.input));
        }
        found.push(contrast);
    }
    found
}

/// Why a cell is out, if it is.
pub fn failed<'a>(failures: &'a [FailureRow], cell: &CellId) -> Option<&'a FailureRow> {
    // A cell whose events could not be counted has its times all the same.
    failures.iter().find(|failure| failure.stage != Stage::Count && failure.covers(cell))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sample as row;

    /// Two variants at two phases of so many rotations.
    fn processes(rotations: u32) -> HashMap<i64, ProcessRow> {
        let mut found = HashMap::new();
        for rotation in 0..rotations {
            for (place, (variant, phase)) in
                [("a", 0), ("a", 32), ("b", 0), ("b", 32)].into_iter().enumerate()
            {
                let id = i64::from(rotation) * 4 + place as i64;
                let process = ProcessRow { id, ..row::process(variant, Some((rotation, phase))) };
                found.insert(id, process);
            }
        }
        found
    }

    /// One sample of each process, shared for those named.
    fn samples(processes: &HashMap<i64, ProcessRow>, shared: &[i64]) -> Vec<SampleRow> {
        processes.keys().map(|id| row::of(*id, shared.contains(id).then_some(Flag::Shared))).collect()
    }

    #[test]
    fn what_was_shared_is_left_out_while_every_cell_keeps_two_rotations_of_three() {
        let processes = processes(6);
        for (shared, uses) in [
            (&[][..], false),
            // Both phases of one rotation of `a`: that is one rotation.
            (&[0, 1], false),
            // Two of `a`, one of them of `b` too.
            (&[0, 4, 6], false),
            // A phase each of three of six rotations of `b`.
            (&[2, 7, 10], true),
            // Two each, four in all: two are left with both sides.
            (&[0, 4, 10, 14], true),
        ] {
            assert_eq!(
                !too_few(&processes, &samples(&processes, shared), false).is_empty(),
                uses,
                "{shared:?}"
            );
        }
    }

    #[test]
    fn an_input_of_three_rotations_can_lose_none() {
        let processes = processes(3);
        assert!(too_few(&processes, &samples(&processes, &[]), false).is_empty());
        assert!(!too_few(&processes, &samples(&processes, &[5]), false).is_empty());
    }

    #[test]
    fn one_sample_alone_is_enough_for_a_placement_and_others_flags_say_nothing() {
        let processes = processes(1);
        let mut found = samples(&processes, &[0]);
        assert!(!too_few(&processes, &found, false).is_empty());
        found.push(row::of(0, None));
        assert!(too_few(&processes, &found, false).is_empty());
        found.push(row::of(1, Some(Flag::Interrupted)));
        assert!(too_few(&processes, &found, false).is_empty());
    }

    #[test]
    fn what_was_shared_is_used_where_half_of_a_cells_rounds_would_be_lost() {
        let processes = processes(6);
        // In each round one sample of each process; of `a`, the core is shared throughout the rounds named.
        let measured = |rounds: u32, shared: &[u32]| {
            let all = (0..rounds).flat_map(|round| processes.values().map(move |process| (round, process)));
            let of = |(round, process): (u32, &ProcessRow)| {
                let flag = (process.variant == "a" && shared.contains(&round)).then_some(Flag::Shared);
                SampleRow { round, ..row::of(process.id, flag) }
            };
            all.map(of).collect::<Vec<_>>()
        };
        for (rounds, shared, uses) in [
            (8, &[][..], false),
            (8, &[0, 1, 2], false),
            (8, &[0, 1, 2, 3], true),
            (3, &[1], false),
            (3, &[1, 2], true),
            (2, &[1], false),
        ] {
            let found = too_few(&processes, &measured(rounds, shared), false);
            assert_eq!(!found.is_empty(), uses, "{rounds} rounds, {shared:?} shared");
        }
    }

    #[test]
    fn what_was_measured_alone_is_left_out_where_there_is_enough_of_what_was_shared_and_too_little_else() {
        let processes = processes(6);
        // Of each process a sample alone and one shared; those named lack one of them.
        let both = |no_alone: &[i64], no_shared: &[i64]| -> Vec<SampleRow> {
            let all = processes.keys().flat_map(|&id| {
                let alone = (!no_alone.contains(&id)).then(|| row::of(id, None));
                let shared = (!no_shared.contains(&id)).then(|| row::of(id, Some(Flag::Shared)));
                alone.into_iter().chain(shared)
            });
            all.collect()
        };
        for (no_alone, no_shared, uses, only) in [
            (&[][..], &[][..], false, false),
            (&[2, 7, 10], &[], true, true),
            (&[2, 7, 10], &[0], true, true),
            (&[2, 7, 10], &[1, 5, 9], true, false),
        ] {
            let samples = both(no_alone, no_shared);
            let (uses_shared, only_shared) = shared_inputs(&processes, &samples);
            assert_eq!((uses_shared.len(), only_shared.len()), (usize::from(uses), usize::from(only)));
            let mut observed = Observed { uses_shared, only_shared, ..Observed::default() };
            samples.iter().for_each(|sample| {
                observed.take(&processes[&sample.process], std::slice::from_ref(sample), Clock::Wall)
            });
            let used: usize = observed.cells.values().flatten().map(|(_, placed)| placed.samples.len()).sum();
            let shared = samples.iter().filter(|sample| sample.flagged.is_some()).count();
            let expected = match (uses, only) {
                (false, _) => samples.len() - shared,
                (true, true) => shared,
                (true, false) => samples.len(),
            };
            assert_eq!(used, expected, "without {no_alone:?} alone, {no_shared:?} shared");
            assert_eq!(observed.flagged as usize, samples.len() - used);
            assert_eq!(observed.shared_kept().is_some_and(|told| told.contains("others are left out")), only);
        }
    }

    #[test]
    fn an_input_on_which_the_core_was_shared_spoils_no_other() {
        let processes = processes(6);
        let of = |input: &str, shared: &[i64]| -> Vec<SampleRow> {
            let renamed = |sample| SampleRow { input: input.into(), ..sample };
            samples(&processes, shared).into_iter().map(renamed).collect()
        };
        let both = [of("lines", &[2, 7, 10]), of("bytes", &[0])].concat();
        let uses_shared = too_few(&processes, &both, false);
        assert_eq!(uses_shared, BTreeSet::from(["lines".to_owned()]));
        let mut observed = Observed { uses_shared, ..Observed::default() };
        both.iter().for_each(|sample| {
            observed.take(&processes[&sample.process], std::slice::from_ref(sample), Clock::Wall)
        });
        assert_eq!((observed.counted, observed.flagged), (48, 1), "one of bytes is left out");
        let told = observed.shared_kept().expect("a warning");
        assert!(told.contains("on 1 of 2 inputs too many to leave them out"), "{told}");
    }

    #[test]
    fn a_core_that_never_showed_its_known_width_was_shared_all_the_time() {
        let observed = |width| Observed { width, ..Observed::default() };
        let told = observed(Some(2.6)).shared_all_the_time(Some(4.0)).expect("two thirds of the width");
        assert!(told.contains("at best 2.6 additions per cycle, 65 % of the 4.0"), "{told}");
        for (width, known) in [(Some(3.8), Some(4.0)), (Some(2.6), None), (None, Some(4.0))] {
            assert_eq!(observed(width).shared_all_the_time(known), None);
        }
    }

    #[test]
    fn a_rotation_that_lost_a_placement_is_known_and_one_that_was_not_measured_is_none() {
        let processes = processes(3);
        let mut observed = Observed::default();
        for sample in samples(&processes, &[0]) {
            let process = &processes[&sample.process];
            let measured = process.rotation != Some(2) || process.variant == "b";
            if measured {
                observed.take(process, std::slice::from_ref(&sample), Clock::Wall);
            }
        }
        let [a, b] = ["a", "b"].map(|variant| {
            let process =
                processes.values().find(|process| process.variant == variant).expect("two variants");
            process.cell(&samples(&processes, &[])[0].input)
        });
        let phases: BTreeSet<u32> = processes.values().filter_map(|process| process.phase_bytes).collect();
        let phases: Vec<u32> = phases.into_iter().collect();
        let found = observed.contrast(&a, &b, &phases).expect("both have samples");
        let lengths: Vec<usize> = found.rotations.iter().map(|rotation| rotation.phases.len()).collect();
        assert_eq!(lengths, [0, phases.len()], "the first lost a placement, the third has one side only");
        assert_eq!(found.complete().count(), 1);
    }

    #[test]
    fn shared_samples_are_used_or_left_out_and_it_is_said_either_way() {
        let processes = processes(6);
        let observe = |shared: &[i64]| {
            let samples = samples(&processes, shared);
            let uses_shared = too_few(&processes, &samples, false);
            let mut observed = Observed { uses_shared, ..Observed::default() };
            samples.iter().for_each(|sample| {
                observed.take(&processes[&sample.process], std::slice::from_ref(sample), Clock::Wall)
            });
            observed
        };
        let few = observe(&[0, 1]);
        assert_eq!((few.counted, few.flagged, few.interruptions().len()), (24, 2, 0));
        let some = observe(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((some.counted, some.flagged), (24, 8));
        assert!(
            some.interruptions()[0].starts_with("33 % of the samples were left out"),
            "{:?}",
            some.interruptions()
        );
        let shared: Vec<i64> = (0..16).collect();
        let many = observe(&shared);
        assert_eq!((many.counted, many.flagged), (24, 0));
        let told = many.shared_kept().expect("a warning");
        assert!(told.contains("busy beside 67 % of the samples"), "{told}");
    }
}
