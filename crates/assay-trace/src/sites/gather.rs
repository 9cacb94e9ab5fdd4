//! What each branch of a traced command did, over all its threads and processes.
//!
//! Sites are numbered per process; here they are told apart by the file they are in and their address in it, so that a
//! library's branch is one site, wherever it was mapped and whoever executed it.

use super::arrivals::Arrivals;
use super::image::ModuleImage;
use super::inclusive::Inclusive;
use crate::logged::OTHER_CODE;
use crate::{ExecutedBlock, MappedModule, Observer, ProcessTrace, Trace};
use assay_pure::predict::floor::{Floor, LONGEST, SiteFloor};
use assay_pure::predict::{Tally, Zoo};
use assay_pure::trace::{Branch, BranchClass, BranchSite};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// What watches one thread: the zoo with a tally per site, the floor, and where indirect branches went.
pub struct Watch {
    zoo: Zoo,
    /// What happened.
    pub tally: Tally,
    /// What no rule could have known.
    pub floor: Floor,
    arrivals: Arrivals,
    inclusive: Option<Inclusive>,
}

impl Watch {
    /// With a fresh zoo.
    pub fn new(zoo: Zoo) -> Watch {
        let tally = Tally::new(zoo.names().len());
        Watch { zoo, tally, floor: Floor::default(), arrivals: Arrivals::default(), inclusive: None }
    }

    /// Counts the branches within each call too.
    pub fn with_calls(self) -> Watch {
        Watch { inclusive: Some(Inclusive::default()), ..self }
    }
}

impl Observer for Watch {
    fn branches(&mut self, sites: &[BranchSite], branches: &[Branch]) {
        if let Some(inclusive) = &mut self.inclusive {
            inclusive.observe(sites, branches);
        }
        self.zoo.observe(branches, &mut self.tally);
        self.floor.observe(branches);
        self.arrivals.observe(branches);
    }
}

/// Where a site is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteAddress {
    /// The file, by its number in [`GatheredSites::images`]; none for code made at run time or a file that can't be read.
    pub image: Option<usize>,
    /// The address in the file; without a file, in the process.
    pub address: u64,
    /// The process, where processes are kept apart or the address means nothing elsewhere.
    pub process: Option<u32>,
}

/// The least mispredictions of rules that know only a branch's own history (`assay_pure::predict::floor`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Least {
    /// Of a rule that always says the same.
    pub constant: u64,
    /// Of the best rule by the last 8 outcomes, chosen afterwards; `None` where there was no room to count.
    pub history: Option<u64>,
    /// Of the best length of pattern up to 8, each outcome judged by the others.
    pub best: Option<f64>,
}

impl Least {
    fn of(floor: &SiteFloor) -> Least {
        let history = floor.by_order.map(|orders| orders[LONGEST].hindsight);
        Least { constant: floor.constant(), history, best: floor.best().map(|(_, misses)| misses.held_out) }
    }

    fn plus(self, other: Least) -> Least {
        Least {
            constant: self.constant + other.constant,
            history: self.history.zip(other.history).map(|(one, other)| one + other),
            best: self.best.zip(other.best).map(|(one, other)| one + other),
        }
    }
}

/// What happened at a site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteCounts {
    /// Where it is.
    pub place: SiteAddress,
    /// What kind of branch.
    pub class: BranchClass,
    /// Bytes of the instruction; 0 if not known.
    pub length: u8,
    /// Where it goes, as an address like the place's; `None` for indirect ones.
    pub target: Option<u64>,
    /// Times executed.
    pub executed: u64,
    /// Times taken.
    pub taken: u64,
    /// Mispredictions per member of the zoo.
    pub missed: Vec<u64>,
    /// Of a call the branches until its return, if these were counted.
    pub inclusive: u64,
    /// The floor, for conditional branches.
    pub least: Option<Least>,
}

impl SiteCounts {
    /// Adds what the same site did elsewhere.
    fn add(&mut self, other: SiteCounts) {
        self.executed += other.executed;
        self.taken += other.taken;
        self.inclusive += other.inclusive;
        for (missed, more) in self.missed.iter_mut().zip(other.missed) {
            *missed += more;
        }
        self.least = self.least.zip(other.least).map(|(one, other)| one.plus(other));
    }
}

/// A straight stretch of code that was executed: a block of the emulator's. Stretches may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeStretch {
    /// Where its first instruction is.
    pub place: SiteAddress,
    /// Bytes of code.
    pub bytes: u32,
    /// Instructions in it.
    pub instructions: u32,
    /// Times executed.
    pub executed: u64,
}

/// All sites of a command.
pub struct GatheredSites {
    /// The files they are in.
    pub images: Vec<ModuleImage>,
    /// The sites, in the order of their places.
    pub seen: Vec<SiteCounts>,
    /// Where indirect jumps and calls went: from, to, how often; in the order of the places.
    pub arrivals: Vec<(SiteAddress, SiteAddress, u64)>,
    /// The straight stretches of code that were executed, in the order of their places.
    pub stretches: Vec<CodeStretch>,
    /// Instructions executed, over all threads.
    pub instructions: u64,
    /// What could not be read; whole sentences.
    pub notes: Vec<String>,
}

/// Adds up what the threads of a trace saw; processes are kept apart on request.
pub fn gather(trace: &Trace<Watch>, per_process: bool) -> GatheredSites {
    let mut files = Files::default();
    let mut seen: HashMap<SiteAddress, SiteCounts> = HashMap::new();
    let mut arrivals: HashMap<(SiteAddress, SiteAddress), u64> = HashMap::new();
    let mut stretches: HashMap<(SiteAddress, u32), CodeStretch> = HashMap::new();
    let mut instructions = 0;
    for process in &trace.processes {
        instructions += process.threads.iter().map(|thread| thread.counts.instructions).sum::<u64>();
        for (from, to, times) in arrivals_of(process, &mut files, per_process) {
            *arrivals.entry((from, to)).or_default() += times;
        }
        for stretch in stretches_of(process, &mut files, per_process) {
            let known = stretches.entry((stretch.place, stretch.bytes));
            known.and_modify(|known| known.executed += stretch.executed).or_insert(stretch);
        }
        for site in of_process(process, &mut files, per_process) {
            match seen.get_mut(&site.place) {
                Some(known) => known.add(site),
                None => drop(seen.insert(site.place, site)),
            }
        }
    }
    let mut seen: Vec<SiteCounts> = seen.into_values().collect();
    seen.sort_by_key(|site| site.place);
    let mut arrivals: Vec<_> = arrivals.into_iter().map(|((from, to), times)| (from, to, times)).collect();
    arrivals.sort_unstable();
    let mut stretches: Vec<CodeStretch> = stretches.into_values().collect();
    stretches.sort_unstable_by_key(|stretch| (stretch.place, stretch.bytes));
    GatheredSites { images: files.images, seen, arrivals, stretches, instructions, notes: files.notes }
}

/// Where the indirect branches of a process went.
fn arrivals_of(
    process: &ProcessTrace<Watch>,
    files: &mut Files,
    per_process: bool,
) -> Vec<(SiteAddress, SiteAddress, u64)> {
    let mut all = Arrivals::default();
    for thread in &process.threads {
        all.merge(&thread.observer.arrivals);
    }
    let mut found = Vec::new();
    for (number, site) in (0_u32..).zip(&process.sites) {
        let mut from = None;
        for (target, times) in all.of(number).filter(|(target, _)| *target != OTHER_CODE) {
            let from = *from.get_or_insert_with(|| files.of(process, site.pc, per_process));
            found.push((from, files.of(process, target, per_process), times));
        }
    }
    found
}

fn stretches_of(process: &ProcessTrace<Watch>, files: &mut Files, per_process: bool) -> Vec<CodeStretch> {
    let mut found = Vec::new();
    for block in &process.blocks {
        let ExecutedBlock { pc, bytes, instructions, executed } = *block;
        found.push(CodeStretch { place: files.of(process, pc, per_process), bytes, instructions, executed });
    }
    found
}

fn of_process(process: &ProcessTrace<Watch>, files: &mut Files, per_process: bool) -> Vec<SiteCounts> {
    let Some((first, others)) = process.threads.split_first() else { return Vec::new() };
    let (mut tally, mut floor) = (first.observer.tally.clone(), first.observer.floor.clone());
    for thread in others {
        tally.merge(&thread.observer.tally);
        floor.merge(&thread.observer.floor);
    }
    let mut inclusive = Inclusive::default();
    process
        .threads
        .iter()
        .filter_map(|thread| thread.observer.inclusive.as_ref())
        .for_each(|more| inclusive.merge(more));
    let mut found = Vec::new();
    for (number, site) in (0_u32..).zip(&process.sites) {
        let counted = tally.site(number);
        if counted.executed == 0 || site.pc == OTHER_CODE {
            continue;
        }
        let place = files.of(process, site.pc, per_process);
        let moved = place.address.wrapping_sub(site.pc);
        found.push(SiteCounts {
            place,
            class: site.class,
            length: site.length,
            target: site.target.map(|target| target.wrapping_add(moved)),
            executed: counted.executed,
            taken: counted.taken,
            missed: counted.missed,
            inclusive: inclusive.of(number),
            least: floor.site(number).map(|floor| Least::of(&floor)),
        });
    }
    found
}

/// The files met so far, each read once.
#[derive(Default)]
struct Files {
    images: Vec<ModuleImage>,
    by_path: BTreeMap<PathBuf, Option<usize>>,
    notes: Vec<String>,
}

impl Files {
    /// The place of an address of a process.
    fn of(&mut self, process: &ProcessTrace<Watch>, pc: u64, per_process: bool) -> SiteAddress {
        let (image, address) = self.place(&process.modules, pc).unwrap_or((None, pc));
        let keeps_process = per_process || image.is_none();
        SiteAddress { image, address, process: keeps_process.then_some(process.pid) }
    }

    /// The file that holds an address of a process, and the address in it.
    fn place(&mut self, modules: &[MappedModule], pc: u64) -> Option<(Option<usize>, u64)> {
        // The latest of several mappings is what was there last.
        let module = modules.iter().rev().find(|module| (module.start..module.end).contains(&pc))?;
        let image = self.open(module)?;
        let offset = (pc - module.start).checked_add(module.file_offset)?;
        Some((Some(image), self.images[image].address_of_offset(offset)?))
    }

    fn open(&mut self, module: &MappedModule) -> Option<usize> {
        // Such a path is none: code made at run time, or the kernel's own.
        if module.path.as_os_str().is_empty() || module.path.to_string_lossy().starts_with('[') {
            return None;
        }
        if let Some(known) = self.by_path.get(&module.path) {
            return *known;
        }
        let found = match ModuleImage::open(&module.path) {
            Ok(image) => {
                // One build at two places is one file.
                let same = |other: &ModuleImage| other.build_id.is_some() && other.build_id == image.build_id;
                Some(self.images.iter().position(same).unwrap_or_else(|| {
                    self.images.push(image);
                    self.images.len() - 1
                }))
            }
            Err(sentence) => {
                self.notes.push(sentence);
                None
            }
        };
        self.by_path.insert(module.path.clone(), found);
        found
    }
}
