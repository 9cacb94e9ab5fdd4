//! A started variant: its answers on pieces of the inputs, the pages of them that it reads, the times of its calls.
//!
//! Method, of pages: the kernel's notes on which pages were accessed are cleared (`clear_refs`), the variant is called, and the
//! notes of the input's mapping are read (`Referenced` in `smaps`). A processor that still has a page's translation makes no
//! note, so translations are dropped too: the kernel does that only where it is told to forget which pages were written.
//! Method, of walks: the harness fills the predictor with other work (`state=cold_code`) ahead of a call on one unit; that warms the
//! code again and leaves the predictor as it is. The next sample is a first walk, those behind it are later ones.
//! Method, of new pages: the kernel's count of page faults (`minflt`) before and after calls that have been made before.
//! Known limits: a page is 4 KiB or more, and a processor may note a page that it read ahead of what was executed. So none
//! read is proof that nothing was loaded; all read is not proof that everything was. Kernels without notes of written pages
//! (most of AArch64) report nothing.

use super::facts::{Answers, GrowthTimes, Pages, Sizes, WalkTimes};
use super::specimen::{InputPiece, Specimen};
use crate::run::lineup::environment;
use crate::run::worker::{VisitRequest, WalkRequest, Worker};
use crate::run::{ProgramFault, Stage};
use assay_linux::process::Launch;
use assay_pure::experiment::CacheState;
use assay_pure::protocol::{CallUsage, Request, VariantKind};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Samples of a call; the least of them counts.
const SAMPLES: u64 = 7;
/// A sample's aim, nanoseconds.
const AIM_NS: f64 = 100_000.0;
/// Bytes of a page, at least.
const PAGE: u64 = 4096;
/// Calls that are asked how many new pages they touch.
const TOUCHING: u64 = 8;
/// First walks; the least of them counts, as of the walks behind each.
const FIRST_WALKS: usize = 5;
/// Walks behind a first one: the first of them still learn.
const LATER_WALKS: u64 = 7;
/// Walks all together take no longer, nanoseconds.
const WALKING_NS: f64 = 200e6;

/// The pieces of an input in files, where a measured program finds them.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Number of the input in the experiment.
    pub input: usize,
    /// The pieces.
    pub specimen: Specimen,
    /// The files of whole, half, other, probe and one.
    pub files: [PathBuf; 5],
}

/// Which piece, by its number in requests: five per input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The beginning.
    Whole,
    /// Half of it.
    Half,
    /// Other bytes.
    Other,
    /// As the experiment has it.
    Probe,
    /// One unit.
    One,
}

impl Which {
    /// All.
    pub const ALL: [Which; 5] = [Which::Whole, Which::Half, Which::Other, Which::Probe, Which::One];

    /// The id in requests.
    pub fn id(self, input: usize) -> u32 {
        input as u32 * Which::ALL.len() as u32 + self as u32
    }
}

impl Laid {
    /// Writes the pieces of an input.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(
        specimen: Specimen,
        folder: &Path,
        input: usize,
        seconds: &[(String, Vec<u8>)],
    ) -> std::io::Result<Laid> {
        let files = Which::ALL.map(|which| folder.join(which.id(input).to_string()));
        let laid = Laid { input, specimen, files };
        for which in Which::ALL {
            if let Some(piece) = laid.piece(which) {
                let file = &laid.files[which as usize];
                std::fs::write(file, &piece.bytes)?;
                // Programs look for second inputs beside the first.
                for (name, bytes) in seconds {
                    std::fs::write(format!("{}.{name}", file.display()), bytes)?;
                }
            }
        }
        Ok(laid)
    }

    /// A piece, where there is one.
    pub fn piece(&self, which: Which) -> Option<&InputPiece> {
        match which {
            Which::Whole => Some(&self.specimen.whole),
            Which::Half => self.specimen.half.as_ref(),
            Which::Other => self.specimen.other.as_ref(),
            Which::Probe => Some(&self.specimen.probe),
            Which::One => self.specimen.one.as_ref(),
        }
    }

    /// The request that loads a piece.
    pub fn load(&self, which: Which) -> Option<Request> {
        let piece = self.piece(which)?;
        Some(Request::Load {
            id: which.id(self.input),
            size: piece.bytes.len() as u64,
            units: piece.units,
            windows: piece.windows.clone(),
            path: self.files[which as usize].to_string_lossy().into_owned(),
        })
    }

    /// The sizes of the beginning and of its half.
    pub fn sizes(&self) -> Sizes {
        let (whole, half) = (&self.specimen.whole, self.specimen.half.as_ref());
        Sizes {
            units: whole.units,
            half_units: half.map_or(0, |half| half.units),
            bytes: whole.bytes.len() as u64,
            half_bytes: half.map_or(0, |half| half.bytes.len() as u64),
        }
    }
}

/// A started program and one variant of it.
pub struct StartedVariant {
    worker: Worker,
    variant: u32,
    /// How it is called.
    pub kind: VariantKind,
}

/// How programs are started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// The processor that they are bound to.
    pub cpu: usize,
    /// How long a reply may take.
    pub patience: Duration,
}

impl StartedVariant {
    /// Starts a program, under `prefix` if that is not empty.
    ///
    /// # Errors
    /// It does not start, or the variant is not there or cannot run.
    pub fn start(
        program: &Path,
        prefix: &[OsString],
        variant: &str,
        options: &StartOptions,
    ) -> Result<StartedVariant, ProgramFault> {
        let environment = environment(0);
        let launch = Launch { prefix, program, environment: &environment, cpu: Some(options.cpu) };
        let worker = Worker::start(&launch, options.patience)?;
        let refuse = |what: String| ProgramFault::of_lab(Stage::Start, what);
        let announced = worker.variants.iter().find(|announced| announced.name == variant).cloned();
        let announced = announced.ok_or_else(|| refuse(format!("registers no variant `{variant}`")))?;
        if let Some(reason) = announced.unavailable {
            return Err(refuse(format!("reports that `{variant}` cannot run here: {reason}")));
        }
        Ok(StartedVariant { worker, variant: announced.index, kind: announced.kind })
    }

    /// Makes all pieces of an input known to it.
    ///
    /// # Errors
    /// Any fault.
    pub fn load(&mut self, laid: &Laid) -> Result<(), ProgramFault> {
        for which in Which::ALL {
            if let Some(request) = laid.load(which) {
                self.worker.load(&request)?;
            }
        }
        Ok(())
    }

    /// Its answers on the pieces of an input.
    ///
    /// # Errors
    /// Any fault.
    pub fn answers(&mut self, laid: &Laid) -> Result<Answers, ProgramFault> {
        let mut answer = |which: Which| match laid.piece(which) {
            Some(_) => self.worker.answer(self.variant, which.id(laid.input)).map(|(whole, _)| Some(whole)),
            None => Ok(None),
        };
        let whole = answer(Which::Whole)?.expect("there is always a beginning");
        Ok(Answers { whole, half: answer(Which::Half)?, other: answer(Which::Other)? })
    }

    /// The pages of the beginning that one call reads; none where the kernel does not say.
    ///
    /// # Errors
    /// Any fault.
    pub fn pages(&mut self, laid: &Laid) -> Result<Option<Pages>, ProgramFault> {
        let first = self.pages_once(laid)?;
        // Reading nothing is a fault, so it is confirmed by a second look.
        match first {
            Some(Pages { read: 0, .. }) => self.pages_once(laid),
            first => Ok(first),
        }
    }

    fn pages_once(&mut self, laid: &Laid) -> Result<Option<Pages>, ProgramFault> {
        let file = &laid.files[Which::Whole as usize];
        if !forget_accesses(self.worker.id()) {
            return Ok(None);
        }
        // Before the first call nothing can have been read, or the kernel's notes mean something else here.
        let before = referenced(self.worker.id(), file);
        self.walk(Which::Whole.id(laid.input), 0, 1, 1)?;
        let after = referenced(self.worker.id(), file);
        Ok(before
            .zip(after)
            .filter(|((read, _), _)| *read == 0)
            .map(|(_, (read, all))| Pages { read: read / PAGE, of: all / PAGE }))
    }

    /// Walks between marks, untimed.
    ///
    /// # Errors
    /// Any fault.
    pub fn walk(&mut self, input: u32, window: u32, windows: u64, passes: u32) -> Result<u64, ProgramFault> {
        let request = WalkRequest { input, window, windows, passes };
        self.worker.walk(self.variant, &request).map(|walked| walked.units)
    }

    /// The time of one call on a piece, the least of several samples, nanoseconds.
    ///
    /// # Errors
    /// Any fault.
    pub fn call_ns(&mut self, which: Which, input: usize) -> Result<f64, ProgramFault> {
        let mut iterations = 1;
        let mut least = f64::INFINITY;
        for samples in [3, SAMPLES] {
            let usage = CallUsage::default();
            let visit =
                VisitRequest { input: which.id(input), window: 0, iterations, warmup: 1, samples, usage };
            let visited = self.worker.measure(self.variant, &visit)?;
            let region = self.worker.region;
            let taken = visited.samples.iter().filter(|sample| !sample.warmup);
            let net = taken.map(|sample| sample.net_wall_ns(region).max(0.0) / iterations as f64);
            least = net.fold(f64::INFINITY, f64::min);
            iterations = (AIM_NS / least.max(0.1)).clamp(1.0, 1e6) as u64;
            if iterations == 1 {
                break;
            }
        }
        Ok(least)
    }

    /// How its time grows from the half to the beginning of an input.
    ///
    /// # Errors
    /// Any fault.
    pub fn times(&mut self, laid: &Laid) -> Result<Option<GrowthTimes>, ProgramFault> {
        if laid.piece(Which::Half).is_none() {
            return Ok(None);
        }
        let half_ns = self.call_ns(Which::Half, laid.input)?;
        let ns = self.call_ns(Which::Whole, laid.input)?;
        Ok(Some(GrowthTimes { sizes: laid.sizes(), ns, half_ns }))
    }

    /// The pages that a call on the experiment's input touches for the first time, once it has been made before; none where the
    /// kernel does not tell.
    ///
    /// # Errors
    /// Any fault.
    pub fn new_pages(&mut self, input: usize) -> Result<Option<f64>, ProgramFault> {
        if self.kind == VariantKind::Fresh {
            return Ok(None); // making a state touches new pages, outside of the region
        }
        let usage = CallUsage::default();
        let input = Which::Probe.id(input);
        let visit = VisitRequest { input, window: 0, iterations: 1, warmup: 0, samples: TOUCHING, usage };
        let mut faults = None;
        // The first request also touches what every program has new: its input's windows, the list of samples.
        for _ in 0..3 {
            let before = page_faults(self.worker.id());
            self.worker.measure(self.variant, &visit)?;
            let after = page_faults(self.worker.id());
            let Some((before, after)) = before.zip(after) else { return Ok(None) };
            let each = (after - before) as f64 / TOUCHING as f64;
            faults = Some(faults.map_or(each, |least: f64| least.min(each)));
        }
        Ok(faults)
    }

    /// The times of a first walk over the input after other work, and of later ones, where a call takes `call_ns`. None where the
    /// predictor cannot be filled with other work, or the walks would take too long.
    ///
    /// # Errors
    /// Any fault.
    pub fn walk_times(&mut self, laid: &Laid, call_ns: f64) -> Result<Option<WalkTimes>, ProgramFault> {
        let other_work = CallUsage { state: CacheState::ColdCode, ..CallUsage::default() };
        let calls = self.worker.variants.iter().find(|known| known.kind == VariantKind::Call);
        let scrambler = match self.kind {
            VariantKind::Loop => calls.filter(|known| known.unavailable.is_none()).map(|known| known.index),
            VariantKind::Call | VariantKind::Prepared | VariantKind::Fresh => Some(self.variant),
        };
        let Some(scrambler) = scrambler.filter(|_| self.worker.abilities.has(&other_work)) else {
            return Ok(None);
        };
        let probe = &laid.specimen.probe;
        let iterations = if self.kind.is_windowed() { probe.windows.len().max(1) as u64 } else { 1 };
        let all = call_ns * iterations as f64 * (FIRST_WALKS as u64 * (LATER_WALKS + 1)) as f64;
        if laid.piece(Which::One).is_none() || all > WALKING_NS {
            return Ok(None);
        }
        let hot = CallUsage::default();
        let one = |usage| VisitRequest {
            input: Which::One.id(laid.input),
            window: 0,
            iterations: 1,
            warmup: 0,
            samples: 1,
            usage,
        };
        let samples = LATER_WALKS + 1;
        let walk = VisitRequest {
            input: Which::Probe.id(laid.input),
            window: 0,
            iterations,
            warmup: 0,
            samples,
            usage: hot,
        };
        let mut times = WalkTimes { units: probe.units, first_ns: f64::INFINITY, later_ns: f64::INFINITY };
        for _ in 0..FIRST_WALKS {
            self.worker.measure(scrambler, &one(other_work))?;
            self.worker.measure(self.variant, &one(hot))?;
            let walked = match self.worker.measure(self.variant, &walk) {
                // The states of all windows may be too many.
                Err(_) if self.kind == VariantKind::Fresh => return Ok(None),
                walked => walked?,
            };
            let region = self.worker.region;
            let net = |sample: &crate::run::flag::RawSample| sample.net_wall_ns(region).max(0.0);
            let (first, later) = walked.samples.split_first().expect("samples were asked for");
            times.first_ns = times.first_ns.min(net(first));
            times.later_ns = later.iter().map(net).fold(times.later_ns, f64::min);
        }
        Ok(Some(times))
    }

    /// Bytes of memory that are the program's own.
    pub fn own_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.worker.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
    }

    /// What an empty region takes, nanoseconds: on the wall clock, on the thread's.
    pub fn region_ns(&self) -> (f64, f64) {
        (self.worker.region.wall_ns, self.worker.region.cpu_ns)
    }

    /// Ends it.
    ///
    /// # Errors
    /// It does not go properly.
    pub fn stop(self) -> Result<(), ProgramFault> {
        self.worker.stop()
    }
}

/// Pages that the system has provided to a process; none where the kernel does not tell.
fn page_faults(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    faults_in(&stat)
}

/// The tenth field; the second is a name in brackets, which may hold anything.
fn faults_in(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(7)?.parse().ok()
}

/// Forgets which pages were accessed. False where the kernel refuses.
fn forget_accesses(pid: u32) -> bool {
    let file = format!("/proc/{pid}/clear_refs");
    // Notes of accesses; then notes of writes, with which all translations go.
    ["1", "4"].iter().all(|what| std::fs::write(&file, what).is_ok())
}

/// Bytes of a file's mappings that were accessed since, and bytes in all; none where the kernel does not say.
fn referenced(pid: u32, file: &Path) -> Option<(u64, u64)> {
    let smaps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?;
    referenced_in(&smaps, &file.display().to_string())
}

fn referenced_in(smaps: &str, file: &str) -> Option<(u64, u64)> {
    let mut found: Option<(u64, u64)> = None;
    let mut is_it = false;
    for line in smaps.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        // A mapping's own line has blanks ahead of its first colon, or none at all in its address.
        if key.contains(' ') || key.contains('-') {
            is_it = line.ends_with(file) && line.contains(&format!(" {file}"));
            continue;
        }
        let kib = || value.trim().strip_suffix(" kB").and_then(|kib| kib.trim().parse::<u64>().ok());
        let sum = found.get_or_insert((0, 0));
        match key {
            "Referenced" if is_it => sum.0 += kib()? * 1024,
            "Size" if is_it => sum.1 += kib()? * 1024,
            _ => {}
        }
    }
    found.filter(|(_, all)| *all > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55d0-55d1 r-xp 00000000 fe:00 12 /opt/program
Size:                  8 kB
Referenced:            8 kB
7f00-7f40 r--p 00000000 fe:00 99                         /store/inputs/ab
Size:                 40 kB
KernelPageSize:        4 kB
Referenced:            8 kB
VmFlags: rd mr mw me
7f40-7f41 rw-p 00000000 00:00 0
Size:                  4 kB
Referenced:            4 kB
";

    #[test]
    fn only_the_mapping_of_the_file_counts() {
        assert_eq!(referenced_in(SMAPS, "/store/inputs/ab"), Some((8192, 40_960)));
        assert_eq!(referenced_in(SMAPS, "/store/inputs/abc"), None);
        assert_eq!(referenced_in(SMAPS, "inputs/ab"), None);
        assert_eq!(referenced_in("", "/x"), None);
    }

    #[test]
    fn the_tenth_field_counts_page_faults_whatever_the_program_is_called() {
        let stat = "12 (a) b c) S 1 12 12 0 -1 4194560 345 7 1 0 0 0";
        assert_eq!(faults_in(stat), Some(345));
        assert_eq!(faults_in("12 (a"), None);
        assert!(page_faults(std::process::id()).is_some());
    }

    #[test]
    fn a_process_that_is_gone_tells_nothing() {
        assert_eq!((forget_accesses(0), referenced(0, Path::new("/x"))), (false, None));
    }
}
