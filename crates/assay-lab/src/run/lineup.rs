//! All measured programs of a batch: started, greeted, given their inputs, then blocked on a pipe until visited.
//! At any moment at most one of them runs.

use super::fault::{ProgramFault, Stage};
use super::flag::RegionCost;
use super::round::VisitBench;
use super::worker::{Announced, VisitRequest, Visited, Worker};
use assay_linux::process::Launch;
use assay_pure::compare::VisitPlacement;
use assay_pure::experiment::matrix::Cell;
use assay_pure::protocol::{Request, VariantKind};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// One artifact for one variant: what a process is launched from.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The executable.
    pub program: PathBuf,
    /// The artifact's hash.
    pub artifact: String,
    /// Variant, by number on its axis and by name.
    pub variant: usize,
    /// Its name in the program.
    pub variant_name: String,
    /// Number on the compiler axis.
    pub compiler: usize,
    /// Number on the flags axis.
    pub flags: usize,
    /// Where its code lies.
    pub placement: VisitPlacement,
    /// Bytes of padding in its environment, which moves its stack.
    pub environment_bytes: u64,
}

/// What is compiled once: the links of one rotation differ in nothing but where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompiledProgram {
    /// Number on the compiler axis.
    pub compiler: usize,
    /// Number on the flags axis.
    pub flags: usize,
    /// Compiled for the link that the build made, not for placements.
    pub as_built: bool,
}

impl Subject {
    /// Its cell on an input.
    pub fn cell(&self, input: usize) -> Cell {
        Cell { variant: self.variant, input, compiler: self.compiler, flags: self.flags }
    }
}

/// An input as every program is given it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedInput {
    /// Name in the experiment.
    pub name: String,
    /// Content hash.
    pub digest: String,
    /// How many windows it has.
    pub windows: u64,
    /// Units in all.
    pub units: u64,
    /// The request that loads it; its id is the input's number.
    pub request: Request,
}

/// Where and how programs are launched.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The processor measured programs are bound to.
    pub cpu: Option<usize>,
    /// How long a reply may take.
    pub patience: Duration,
}

#[derive(Debug)]
struct Live {
    subject: Subject,
    worker: Option<Worker>,
    announced: Announced,
}

/// The live programs.
#[derive(Debug)]
pub struct Lineup {
    conditions: Conditions,
    inputs: Vec<LoadedInput>,
    live: Vec<Live>,
}

impl Lineup {
    /// An empty line-up.
    pub fn new(conditions: Conditions, inputs: Vec<LoadedInput>) -> Self {
        Self { conditions, inputs, live: Vec::new() }
    }

    /// Launches a program and returns its number.
    ///
    /// # Errors
    /// It does not start, does not register the variant, says that it cannot run here, or cannot load an input.
    pub fn add(&mut self, subject: Subject) -> Result<usize, ProgramFault> {
        let (worker, announced) = self.launch(&subject)?;
        self.live.push(Live { subject, worker: Some(worker), announced });
        Ok(self.live.len() - 1)
    }

    fn launch(&self, subject: &Subject) -> Result<(Worker, Announced), ProgramFault> {
        let environment = environment(subject.environment_bytes);
        let launch = Launch {
            prefix: &[],
            program: &subject.program,
            environment: &environment,
            cpu: self.conditions.cpu,
        };
        let mut worker = Worker::start(&launch, self.conditions.patience)?;
        let refuse = |what: String| ProgramFault::of_lab(Stage::Start, what);
        let Some(announced) = worker.variants.iter().find(|variant| variant.name == subject.variant_name)
        else {
            let names: Vec<&str> = worker.variants.iter().map(|variant| variant.name.as_str()).collect();
            return Err(ProgramFault::unregistered(&subject.variant_name, &names));
        };
        if let Some(reason) = &announced.unavailable {
            return Err(refuse(format!("says that `{}` cannot run here: {reason}", subject.variant_name)));
        }
        let announced = announced.clone();
        for input in &self.inputs {
            worker.load(&input.request)?;
        }
        Ok((worker, announced))
    }

    /// How many programs there are, the ended ones included.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// What a program was launched from.
    pub fn subject(&self, number: usize) -> &Subject {
        &self.live[number].subject
    }

    /// The variant as its program announced it.
    pub fn announced(&self, number: usize) -> &Announced {
        &self.live[number].announced
    }

    /// A program's clock read costs, nanoseconds: wall, thread CPU.
    pub fn read_costs(&self, number: usize) -> (f64, f64) {
        self.live[number]
            .worker
            .as_ref()
            .map_or((0.0, 0.0), |worker| (worker.wall_read_ns, worker.cpu_read_ns))
    }

    /// The answers of a program's variant on an input, launching the program anew if an earlier fault ended it.
    ///
    /// # Errors
    /// Any fault; the program is then ended.
    pub fn answer(&mut self, number: usize, input: u32) -> Result<(u64, u64), ProgramFault> {
        let variant = self.live[number].announced.index;
        self.with_worker(number, |worker| worker.answer(variant, input))
    }

    /// What each variant's live programs have written to their own standard output and error so far, bytes.
    pub fn printed(&self) -> BTreeMap<&str, u64> {
        let mut printed = BTreeMap::new();
        for live in &self.live {
            let bytes = live.worker.as_ref().map_or(0, Worker::output_bytes);
            *printed.entry(live.subject.variant_name.as_str()).or_default() += bytes;
        }
        printed
    }

    /// Ends all programs and returns the faults of those that would not go properly.
    pub fn stop(&mut self) -> Vec<(Subject, ProgramFault)> {
        self.live
            .drain(..)
            .filter_map(|live| {
                let fault = live.worker?.stop().err()?;
                Some((live.subject, fault))
            })
            .collect()
    }

    fn with_worker<T>(
        &mut self,
        number: usize,
        work: impl FnOnce(&mut Worker) -> Result<T, ProgramFault>,
    ) -> Result<T, ProgramFault> {
        if self.live[number].worker.is_none() {
            let (worker, _) = self.launch(&self.live[number].subject)?;
            self.live[number].worker = Some(worker);
        }
        let worker = self.live[number].worker.as_mut().expect("launched above");
        let result = work(worker);
        if result.is_err() {
            self.live[number].worker = None;
        }
        result
    }

    /// The first artifact's programs of each object code, the baseline's first.
    pub fn one_of_each_code(&self, baseline: usize) -> BTreeMap<CompiledProgram, Vec<usize>> {
        let mut chosen: BTreeMap<CompiledProgram, Vec<usize>> = BTreeMap::new();
        for number in 0..self.len() {
            let subject = self.subject(number);
            let code = CompiledProgram {
                compiler: subject.compiler,
                flags: subject.flags,
                as_built: subject.placement.is_as_built(),
            };
            let group = chosen.entry(code).or_default();
            if group.first().is_none_or(|&first| self.subject(first).artifact == subject.artifact) {
                group.push(number);
            }
        }
        for group in chosen.values_mut() {
            group.sort_by_key(|&number| {
                let variant = self.subject(number).variant;
                (variant != baseline, variant)
            });
        }
        chosen
    }
}

impl VisitBench for Lineup {
    fn visit(&mut self, subject: usize, request: &VisitRequest) -> Result<Visited, ProgramFault> {
        let variant = self.live[subject].announced.index;
        self.with_worker(subject, |worker| {
            let visited = worker.measure(variant, request)?;
            if worker.has_children() {
                let what =
                    "started other processes, which run beside the measured function (it must not fork)";
                return Err(ProgramFault::of_lab(Stage::Measure, what.into()));
            }
            Ok(visited)
        })
    }

    fn region(&self, subject: usize) -> RegionCost {
        self.live[subject].worker.as_ref().map_or(RegionCost::default(), |worker| worker.region)
    }

    fn kind(&self, subject: usize) -> VariantKind {
        self.live[subject].announced.kind
    }

    fn reads_elsewhere(&self, subject: usize) -> bool {
        let live = &self.live[subject];
        let declared = live.worker.as_ref().is_some_and(|worker| worker.abilities.declared > 0);
        declared || live.announced.kind == VariantKind::Prepared
    }

    fn cell(&self, subject: usize, input: usize) -> Cell {
        self.live[subject].subject.cell(input)
    }
}

/// What a measured program may know of the user's environment, and padding that moves its stack.
///
/// The size of the environment shifts the stack and with it every local variable (Mytkowicz et al. 2009, "Producing
/// wrong data without doing anything obviously wrong"), so it is small, the same for all but for the padding, and
/// the padding is drawn per process.
pub fn environment(padding: u64) -> Vec<(String, String)> {
    const KEPT: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "TZ"];
    let mut kept: Vec<(String, String)> =
        KEPT.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect();
    kept.push(("ASSAY_PADDING".to_owned(), "x".repeat(padding as usize)));
    kept
}
