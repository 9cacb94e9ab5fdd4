//! A program asked by itself: its answers on pieces of the inputs, the pages that it reads, the times of its calls.

use super::facts::{Answers, Pages, Sizes, Times};
use super::pages;
use super::specimen::{Piece, Specimen};
use crate::run::lineup::environment;
use crate::run::worker::{VisitRequest, WalkRequest, Worker};
use crate::run::{Fault, Stage};
use assay_linux::process::Launch;
use assay_pure::protocol::{CallUsage, Kind, Request};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Samples of a call; the least of them counts.
const SAMPLES: u64 = 7;
/// A sample's aim, nanoseconds.
const AIM_NS: f64 = 100_000.0;
/// Bytes of a page, at least.
const PAGE: u64 = 4096;

/// The pieces of an input in files, where a measured program finds them.
#[derive(Clone, Debug)]
pub struct Laid {
    /// The pieces.
    pub specimen: Specimen,
    /// The files of whole, half, other and probe.
    pub files: [PathBuf; 4],
}

/// Which piece, by its number in requests: four per input.
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
}

impl Which {
    /// All.
    pub const ALL: [Which; 4] = [Which::Whole, Which::Half, Which::Other, Which::Probe];

    /// The id in requests.
    pub fn id(self, input: usize) -> u32 {
        input as u32 * 4 + self as u32
    }
}

impl Laid {
    /// Writes the pieces of an input.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(specimen: Specimen, folder: &Path, input: usize) -> std::io::Result<Laid> {
        let files = Which::ALL.map(|which| folder.join(which.id(input).to_string()));
        let laid = Laid { specimen, files };
        for which in Which::ALL {
            if let Some(piece) = laid.piece(which) {
                std::fs::write(&laid.files[which as usize], &piece.bytes)?;
            }
        }
        Ok(laid)
    }

    /// A piece, where there is one.
    pub fn piece(&self, which: Which) -> Option<&Piece> {
        match which {
            Which::Whole => Some(&self.specimen.whole),
            Which::Half => self.specimen.half.as_ref(),
            Which::Other => self.specimen.other.as_ref(),
            Which::Probe => Some(&self.specimen.probe),
        }
    }

    /// The request that loads a piece.
    pub fn load(&self, which: Which, input: usize) -> Option<Request> {
        let piece = self.piece(which)?;
        Some(Request::Load {
            id: which.id(input),
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
pub struct Asked {
    worker: Worker,
    variant: u32,
    /// How it is called.
    pub kind: Kind,
}

/// How programs are started.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The processor that they are bound to.
    pub cpu: usize,
    /// How long a reply may take.
    pub patience: Duration,
}

impl Asked {
    /// Starts a program, under `prefix` if that is not empty.
    ///
    /// # Errors
    /// It does not start, or the variant is not there or cannot run.
    pub fn start(
        program: &Path,
        prefix: &[OsString],
        variant: &str,
        surroundings: &Surroundings,
    ) -> Result<Asked, Fault> {
        let environment = environment(0);
        let launch = Launch { prefix, program, environment: &environment, cpu: Some(surroundings.cpu) };
        let worker = Worker::start(&launch, surroundings.patience)?;
        let refuse = |what: String| Fault::of_lab(Stage::Start, what);
        let announced = worker.variants.iter().find(|announced| announced.name == variant).cloned();
        let announced =
            announced.ok_or_else(|| refuse(format!("does not register a variant `{variant}`")))?;
        if let Some(reason) = announced.unavailable {
            return Err(refuse(format!("says that `{variant}` cannot run here: {reason}")));
        }
        Ok(Asked { worker, variant: announced.index, kind: announced.kind })
    }

    /// Makes all pieces of an input known to it.
    ///
    /// # Errors
    /// Any fault.
    pub fn load(&mut self, laid: &Laid, input: usize) -> Result<(), Fault> {
        for which in Which::ALL {
            if let Some(request) = laid.load(which, input) {
                self.worker.load(&request)?;
            }
        }
        Ok(())
    }

    /// Its answers on the pieces of an input.
    ///
    /// # Errors
    /// Any fault.
    pub fn answers(&mut self, laid: &Laid, input: usize) -> Result<Answers, Fault> {
        let mut answer = |which: Which| match laid.piece(which) {
            Some(_) => self.worker.answer(self.variant, which.id(input)).map(|(whole, _)| Some(whole)),
            None => Ok(None),
        };
        let whole = answer(Which::Whole)?.expect("there is always a beginning");
        Ok(Answers { whole, half: answer(Which::Half)?, other: answer(Which::Other)? })
    }

    /// The pages of the beginning that one call reads; none where the kernel does not tell.
    ///
    /// # Errors
    /// Any fault.
    pub fn pages(&mut self, laid: &Laid, input: usize) -> Result<Option<Pages>, Fault> {
        let first = self.pages_once(laid, input)?;
        // Nobody is accused of reading nothing without a second look.
        match first {
            Some(Pages { read: 0, .. }) => self.pages_once(laid, input),
            first => Ok(first),
        }
    }

    fn pages_once(&mut self, laid: &Laid, input: usize) -> Result<Option<Pages>, Fault> {
        let file = &laid.files[Which::Whole as usize];
        if !pages::forget(self.worker.id()) {
            return Ok(None);
        }
        // What nobody has called yet has been read by nobody, or the kernel's notes mean something else here.
        let before = pages::referenced(self.worker.id(), file);
        self.walk(Which::Whole.id(input), 0, 1, 1)?;
        let after = pages::referenced(self.worker.id(), file);
        Ok(before
            .zip(after)
            .filter(|((read, _), _)| *read == 0)
            .map(|(_, (read, all))| Pages { read: read / PAGE, of: all / PAGE }))
    }

    /// Walks between marks, untimed.
    ///
    /// # Errors
    /// Any fault.
    pub fn walk(&mut self, input: u32, window: u32, windows: u64, passes: u32) -> Result<u64, Fault> {
        let request = WalkRequest { input, window, windows, passes };
        self.worker.walk(self.variant, &request).map(|walked| walked.units)
    }

    /// The time of one call on a piece, the least of several samples, nanoseconds.
    ///
    /// # Errors
    /// Any fault.
    pub fn call_ns(&mut self, which: Which, input: usize) -> Result<f64, Fault> {
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
    pub fn times(&mut self, laid: &Laid, input: usize) -> Result<Option<Times>, Fault> {
        if laid.piece(Which::Half).is_none() {
            return Ok(None);
        }
        let half_ns = self.call_ns(Which::Half, input)?;
        let ns = self.call_ns(Which::Whole, input)?;
        Ok(Some(Times { sizes: laid.sizes(), ns, half_ns }))
    }

    /// What an empty region takes, nanoseconds: on the wall clock, on the thread's.
    pub fn region_ns(&self) -> (f64, f64) {
        (self.worker.region.wall_ns, self.worker.region.cpu_ns)
    }

    /// Ends it.
    ///
    /// # Errors
    /// It does not go properly.
    pub fn stop(self) -> Result<(), Fault> {
        self.worker.stop()
    }
}
