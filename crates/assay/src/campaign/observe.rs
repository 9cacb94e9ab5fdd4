//! From the ledger's samples to what the verdict sees: usable samples only, the region's own cost subtracted, divided
//! by units, grouped by placement.

use crate::store::{Failure, Ledger, ProcessRow, SampleRow};
use anyhow::Result;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::Clock;
use assay_pure::stats::quantile;
use assay_pure::verdict::{Build, Observation, ObservedContrast, PairAt, Rotation};
use std::collections::{BTreeMap, HashMap};

/// A cell's axes by name: variant, input, compiler, flags.
pub type CellName = (String, String, String, String);

/// One side at one placement.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The entry's offset in its 64-byte line.
    pub offset: u64,
    /// Usable samples.
    pub samples: Vec<Observation>,
}

impl Placed {
    /// The median of its samples, nanoseconds per unit; none of no sample.
    pub fn median(&self) -> Option<f64> {
        let samples: Vec<f64> = self.samples.iter().map(|sample| sample.ns_per_unit).collect();
        quantile::median(&samples)
    }
}

/// One cell at all its placements: (None, None) as built, else (rotation, phase).
pub type Placements = BTreeMap<(Option<u32>, Option<u32>), Placed>;

/// Everything usable that a campaign has measured.
#[derive(Debug, Default)]
pub struct Observed {
    /// By cell.
    pub cells: BTreeMap<CellName, Placements>,
    /// All samples, the unused ones too.
    pub samples: u64,
    /// Samples left out, warm-up not counted.
    pub flagged: u64,
    /// Samples that would have counted, those left out included; not those of visits that were made again.
    pub counted: u64,
    /// Samples per kind of flag.
    pub flags: BTreeMap<String, u64>,
    /// The core was shared all along, so that what was measured on a shared core is what there is.
    pub always_shared: bool,
}

/// With more of the samples shared than this, what is left would be too little, and an accident.
const ALWAYS_SHARED: f64 = 0.95;
/// Above this share of samples that are left out the reader must know.
const MUCH: f64 = 0.3;

/// Reads a campaign's samples.
///
/// # Errors
/// The ledger cannot be read.
pub fn observe(ledger: &Ledger, campaign: i64, clock: Clock) -> Result<Observed> {
    let processes: HashMap<i64, ProcessRow> =
        ledger.processes(campaign)?.into_iter().map(|process| (process.id, process)).collect();
    let samples = ledger.samples(campaign)?;
    let mut observed = Observed { always_shared: always_shared(&samples), ..Observed::default() };
    for sample in samples {
        let Some(process) = processes.get(&sample.process) else { continue };
        observed.take(process, &sample, clock);
    }
    Ok(observed)
}

/// Was the core shared beside nearly all samples that nothing else disturbed?
fn always_shared(samples: &[SampleRow]) -> bool {
    let count = |flag: Option<&str>| {
        samples.iter().filter(|sample| !sample.warmup && sample.flagged.as_deref() == flag).count() as f64
    };
    let (shared, own) = (count(Some("shared")), count(None));
    shared > ALWAYS_SHARED * (shared + own)
}

impl Observed {
    fn take(&mut self, process: &ProcessRow, sample: &SampleRow, clock: Clock) {
        self.samples += 1;
        if sample.warmup || sample.flagged.as_deref() == Some("retaken") {
            return;
        }
        self.counted += 1;
        let cell =
            (process.variant.clone(), sample.input.clone(), process.compiler.clone(), process.flags.clone());
        let placed = self
            .cells
            .entry(cell)
            .or_default()
            .entry((process.rotation, process.phase_bytes))
            .or_insert_with(|| Placed { offset: process.entry_address % 64, samples: Vec::new() });
        if let Some(flag) = &sample.flagged {
            *self.flags.entry(flag.clone()).or_default() += 1;
            if flag != "shared" || !self.always_shared {
                self.flagged += 1;
                return;
            }
        }
        placed.samples.push(Observation {
            round: sample.round,
            index: sample.position,
            ns_per_unit: net_ns(process, sample, clock) / sample.units as f64,
        });
    }

    /// What disturbed so many samples that the reader must know.
    pub fn disturbances(&self) -> Vec<String> {
        let share = |kinds: &[&str]| {
            let found: u64 = kinds.iter().filter_map(|&kind| self.flags.get(kind)).sum();
            found as f64 / self.counted.max(1) as f64
        };
        let (interrupted, shared) = (share(&["interrupted", "preempted"]), share(&["shared"]));
        let mut found = Vec::new();
        if interrupted > MUCH {
            found.push(format!(
                "{:.0} % of the samples were interrupted and left out: other work runs on the measuring processor \
                 (--cpu N chooses another)",
                interrupted * 100.0
            ));
        }
        if self.always_shared {
            found.push(
                "The core's other hardware thread was busy all along, so these are figures of a shared core; code that \
                 needs its whole width takes less time alone (--cpu N chooses another core)"
                    .to_owned(),
            );
        } else if shared > MUCH {
            found.push(format!(
                "{:.0} % of the samples were left out because the core's other hardware thread was busy: on a virtual \
                 machine with another guest, elsewhere with other work (--cpu N chooses another core)",
                shared * 100.0
            ));
        }
        found
    }

    /// One contrast, if both its cells have samples.
    pub fn contrast(
        &self,
        candidate: &CellName,
        baseline: &CellName,
        phases: &[u32],
    ) -> Option<ObservedContrast> {
        let (left, right) = (self.cells.get(candidate)?, self.cells.get(baseline)?);
        let pair = |at: &(Option<u32>, Option<u32>)| {
            let (left, right) = (left.get(at)?, right.get(at)?);
            let usable = !left.samples.is_empty() && !right.samples.is_empty();
            usable.then(|| PairAt {
                phase_bytes: at.1.unwrap_or(0),
                candidate_offset: left.offset,
                baseline_offset: right.offset,
                candidate: left.samples.clone(),
                baseline: right.samples.clone(),
            })
        };
        let mut numbers: Vec<u32> = left.keys().filter_map(|(rotation, _)| *rotation).collect();
        numbers.dedup();
        let rotations = numbers
            .into_iter()
            .map(|rotation| {
                let phases =
                    phases.iter().filter_map(|&phase| pair(&(Some(rotation), Some(phase)))).collect();
                Rotation { rotation, phases }
            })
            .filter(|rotation| rotation.phases.len() == phases.len())
            .collect();
        let same_build = (&candidate.2, &candidate.3) == (&baseline.2, &baseline.3);
        let against = Build { compiler: baseline.2.clone(), flags: baseline.3.clone() };
        Some(ObservedContrast {
            candidate: candidate.0.clone(),
            baseline: baseline.0.clone(),
            input: candidate.1.clone(),
            compiler: candidate.2.clone(),
            flags: candidate.3.clone(),
            against: (!same_build).then_some(against),
            as_built: pair(&(None, None)),
            rotations,
            identical_code: None,
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
    failures: &[Failure],
    identical: &HashMap<(String, String, String, String), bool>,
) -> Vec<ObservedContrast> {
    let mut found = Vec::new();
    let pairs = assay_pure::experiment::matrix::contrasts(experiment, compilers);
    for pair in pairs {
        let name = |cell: &assay_pure::experiment::matrix::Cell| -> CellName {
            (
                experiment.variants[cell.variant].name.clone(),
                experiment.inputs[cell.input].name.clone(),
                compilers[cell.compiler].clone(),
                experiment.flags[cell.flags].name.clone(),
            )
        };
        let (candidate, baseline) = (name(&pair.candidate), name(&pair.baseline));
        if failed(failures, &candidate).is_some() || failed(failures, &baseline).is_some() {
            continue;
        }
        let Some(mut contrast) = observed.contrast(&candidate, &baseline, &experiment.placement.phases)
        else {
            continue;
        };
        if contrast.against.is_none() {
            let key = (candidate.2.clone(), candidate.3.clone(), baseline.0.clone(), candidate.0.clone());
            contrast.identical_code = identical.get(&key).copied();
        }
        found.push(contrast);
    }
    found
}

/// Why a cell is out, if it is.
pub fn failed<'a>(failures: &'a [Failure], cell: &CellName) -> Option<&'a Failure> {
    let fits = |name: &Option<String>, this: &str| name.as_deref().is_none_or(|name| name == this);
    // A cell whose events could not be counted has its times all the same.
    failures.iter().filter(|failure| failure.stage != "count").find(|failure| {
        fits(&failure.variant, &cell.0)
            && fits(&failure.input, &cell.1)
            && fits(&failure.compiler, &cell.2)
            && fits(&failure.flags, &cell.3)
    })
}

/// Per (compiler, flags, baseline, candidate): are they the same machine code? Absent where nobody knows.
///
/// # Errors
/// The ledger cannot be read.
pub fn identical_code(
    ledger: &Ledger,
    campaign: i64,
    experiment: &Experiment,
) -> Result<HashMap<(String, String, String, String), bool>> {
    let mut found = HashMap::new();
    for process in ledger.processes(campaign)?.into_iter().filter(|process| process.rotation.is_some()) {
        for variant in &experiment.variants {
            let key = (
                process.compiler.clone(),
                process.flags.clone(),
                experiment.baseline.clone(),
                variant.name.clone(),
            );
            if variant.name == experiment.baseline || found.contains_key(&key) {
                continue;
            }
            let identity = ledger.identity(&process.artifact, &experiment.baseline, &variant.name)?;
            match identity.as_ref().map(|identity| identity.verdict.as_str()) {
                Some("identical") => found.insert(key, true),
                Some("different") => found.insert(key, false),
                _ => None,
            };
        }
    }
    Ok(found)
}
