//! One measured program, spoken to in the protocol: typed requests, typed replies, and a fault with its reason for
//! whatever else it does.

use super::fault::{ProgramFault, Stage};
use super::flag::{RawSample, RegionCost};
use assay_linux::process::{Incoming, Launch, WorkerProcess};
use assay_pure::protocol::{Abilities, Allocated, CallUsage, MAX_LINE, Problem, Reply, Request, VariantKind};
use std::time::{Duration, Instant};

/// A variant as the program announced it.
#[derive(Clone, Debug, PartialEq)]
pub struct Announced {
    /// Its number in requests.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// How it is called.
    pub kind: VariantKind,
    /// Address of its function minus that of the ELF header; 0 where unknown.
    pub entry: u64,
    /// Why it cannot run here.
    pub unavailable: Option<String>,
}

/// What a visit asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitRequest {
    /// The input's id.
    pub input: u32,
    /// First window.
    pub window: u64,
    /// Calls per sample.
    pub iterations: u64,
    /// Samples ahead.
    pub warmup: u64,
    /// Samples that count.
    pub samples: u64,
    /// How the calls are made.
    pub usage: CallUsage,
}

/// What a visit returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visited {
    /// Warm-up samples first.
    pub samples: Vec<RawSample>,
    /// All answers combined, equal for every variant that got the same request.
    pub check: u64,
    /// What one state of a fresh variant costs, bytes.
    pub state_bytes: Option<u64>,
}

/// A walk over windows that nobody times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkRequest {
    /// The input's id.
    pub input: u32,
    /// First window.
    pub window: u32,
    /// Calls per pass; 0 makes empty passes.
    pub windows: u64,
    /// Passes.
    pub passes: u32,
}

impl WalkRequest {
    /// How many passes the last third has, at least one: what was learned by then stays learned.
    pub fn last_third(&self) -> u32 {
        (self.passes / 3).max(1)
    }
}

/// What a walk returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walked {
    /// Units in one pass.
    pub units: u64,
    /// All answers combined, equal for every variant of a kind that got the same request.
    pub check: u64,
    /// What the passes allocated, where that is counted.
    pub allocated: Option<Allocated>,
}

/// A greeted program.
#[derive(Debug)]
pub struct Worker {
    process: WorkerProcess,
    patience: Duration,
    /// All variants of the program.
    pub variants: Vec<Announced>,
    /// What it can do beside hot and throughput.
    pub abilities: Abilities,
    /// Cost of an empty region.
    pub region: RegionCost,
    /// Cost of one read of the wall clock, nanoseconds.
    pub wall_read_ns: f64,
    /// Cost of one read of the thread CPU clock, nanoseconds.
    pub cpu_read_ns: f64,
}

impl Worker {
    /// Starts the program and hears its greeting; every later request is given `patience`.
    ///
    /// # Errors
    /// It cannot be started, ends, hangs, or speaks something else.
    pub fn start(launch: &Launch<'_>, patience: Duration) -> Result<Self, ProgramFault> {
        let process = WorkerProcess::start(launch).map_err(|error| ProgramFault {
            shows_alone: true,
            ..ProgramFault::of_lab(Stage::Start, format!("could not be started ({error})"))
        })?;
        let mut worker = Self {
            process,
            patience,
            variants: Vec::new(),
            abilities: Abilities::default(),
            region: RegionCost::default(),
            wall_read_ns: 0.0,
            cpu_read_ns: 0.0,
        };
        worker.hear_greeting()?;
        Ok(worker)
    }

    fn hear_greeting(&mut self) -> Result<(), ProgramFault> {
        let deadline = Instant::now() + self.patience;
        let Reply::Hello { variants: count, .. } = self.reply(Stage::Start, deadline)? else {
            return Err(self.fault(Stage::Start, "did not start with the protocol's hello".into()));
        };
        loop {
            match self.reply(Stage::Start, deadline)? {
                Reply::Variant { .. } if self.variants.len() >= count as usize => {
                    return Err(
                        self.fault(Stage::Start, format!("named more than the {count} variants announced"))
                    );
                }
                Reply::Variant { index, kind, entry, name, unavailable } => {
                    self.variants.push(Announced { index, name, kind, entry, unavailable });
                }
                Reply::Ready { wall_read_ns, cpu_read_ns, region_wall_ns, region_cpu_ns, abilities } => {
                    self.abilities = abilities;
                    self.region = RegionCost { wall_ns: region_wall_ns, cpu_ns: region_cpu_ns };
                    self.wall_read_ns = wall_read_ns;
                    self.cpu_read_ns = cpu_read_ns;
                    break;
                }
                other => return Err(self.unexpected(Stage::Start, &other)),
            }
        }
        if self.variants.len() != count as usize {
            let said = self.variants.len();
            return Err(self.fault(Stage::Start, format!("announced {count} variants and named {said}")));
        }
        Ok(())
    }

    /// Makes an input known to the program.
    ///
    /// # Errors
    /// It cannot map the file, or any other fault.
    pub fn load(&mut self, request: &Request) -> Result<(), ProgramFault> {
        match self.ask(Stage::Load, request)? {
            Reply::Loaded { .. } => Ok(()),
            other => Err(self.unexpected(Stage::Load, &other)),
        }
    }

    /// The answers of a variant on a loaded input: over the whole of it, and by windows combined.
    ///
    /// # Errors
    /// Any fault.
    pub fn answer(&mut self, variant: u32, input: u32) -> Result<(u64, u64), ProgramFault> {
        match self.ask(Stage::Answer, &Request::Answer { variant, input })? {
            Reply::Answer { whole, windows } => Ok((whole, windows)),
            other => Err(self.unexpected(Stage::Answer, &other)),
        }
    }

    /// Takes the samples of one visit.
    ///
    /// # Errors
    /// Any fault, among them samples that claim more time than has passed.
    pub fn measure(&mut self, variant: u32, visit: &VisitRequest) -> Result<Visited, ProgramFault> {
        let stage = Stage::Measure;
        if !self.abilities.has(&visit.usage) {
            let CallUsage { state, measure, .. } = visit.usage;
            return Err(self.fault(
                stage,
                format!(
                    "has a harness that cannot measure {state}, {measure} and would ignore the request (build \
                     it again with this version's assay.h or assay-harness); detected"
                ),
            ));
        }
        let request = Request::Measure {
            variant,
            input: visit.input,
            window: visit.window as u32,
            iterations: visit.iterations,
            warmup: visit.warmup as u32,
            samples: visit.samples as u32,
            usage: visit.usage,
        };
        let begun = Instant::now();
        let deadline = begun + self.patience;
        self.send(stage, &request, deadline)?;
        let wanted = (visit.warmup + visit.samples) as usize;
        let mut samples = Vec::with_capacity(wanted);
        loop {
            let reply = self.reply(stage, deadline)?;
            match (RawSample::of(&reply), reply) {
                (Some(sample), _) if samples.len() < wanted => samples.push(sample),
                // Lines that come without end are never late, so they are counted.
                (Some(_), _) => {
                    return Err(
                        self.fault(stage, format!("gave more than the {wanted} samples it was asked for"))
                    );
                }
                (None, Reply::Measured { check, state_bytes }) => {
                    self.believe(&samples, visit, begun.elapsed())?;
                    return Ok(Visited { samples, check, state_bytes });
                }
                (None, other) => return Err(self.unexpected(stage, &other)),
            }
        }
    }

    /// Walks over windows between marks, for a tracer or counters.
    ///
    /// # Errors
    /// Any fault, among them a harness that does not know how to.
    pub fn walk(&mut self, variant: u32, walk: &WalkRequest) -> Result<Walked, ProgramFault> {
        let WalkRequest { input, window, windows, passes } = *walk;
        match self.ask(Stage::Count, &Request::Trace { variant, input, window, windows, passes })? {
            Reply::Traced { units, check, allocated } => Ok(Walked { units, check, allocated }),
            other => Err(self.unexpected(Stage::Count, &other)),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Samples that cannot be true are worse than none.
    fn believe(
        &mut self,
        samples: &[RawSample],
        visit: &VisitRequest,
        passed: Duration,
    ) -> Result<(), ProgramFault> {
        let wanted = visit.warmup + visit.samples;
        if samples.len() as u64 != wanted {
            let got = samples.len();
            return Err(self.fault(Stage::Measure, format!("was asked for {wanted} samples and gave {got}")));
        }
        if samples.iter().any(|sample| sample.wall_ns == 0) {
            // Two reads of the clock take tens of nanoseconds, so whatever was timed, it was not with this clock.
            return Err(self.fault(Stage::Measure, "reported a sample of 0 ns, which is impossible,".into()));
        }
        let claimed: u128 = samples.iter().map(|sample| u128::from(sample.wall_ns)).sum();
        if claimed > passed.as_nanos() {
            let what =
                format!("claims to have measured {claimed} ns, but only {} ns had passed", passed.as_nanos());
            return Err(self.fault(Stage::Measure, what));
        }
        Ok(())
    }

    /// Does the program have child processes? A benchmark that forks measures something else than its function.
    pub fn has_children(&self) -> bool {
        self.process.children().is_some_and(|count| count > 0)
    }

    /// Bytes it has written to its own standard output and error.
    pub fn output_bytes(&self) -> u64 {
        self.process.output_bytes
    }

    /// Says goodbye.
    ///
    /// # Errors
    /// It does not leave, leaves with another code than 0, or leaves processes behind.
    pub fn stop(mut self) -> Result<(), ProgramFault> {
        let reply = self.ask(Stage::End, &Request::Bye)?;
        if reply != Reply::Bye {
            return Err(self.unexpected(Stage::End, &reply));
        }
        let ended = self.process.finish(self.patience.min(Duration::from_secs(2)));
        if ended.killed || ended.left_processes || ended.code != Some(0) {
            return Err(self.fault(Stage::End, ended.to_string()));
        }
        Ok(())
    }

    fn ask(&mut self, stage: Stage, request: &Request) -> Result<Reply, ProgramFault> {
        let deadline = Instant::now() + self.patience;
        self.send(stage, request, deadline)?;
        self.reply(stage, deadline)
    }

    fn send(&mut self, stage: Stage, request: &Request, deadline: Instant) -> Result<(), ProgramFault> {
        match self.process.send(&request.to_text(), deadline) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(self.ended(stage)),
            Err(_) => Err(self.hung(stage)),
        }
    }

    fn reply(&mut self, stage: Stage, deadline: Instant) -> Result<Reply, ProgramFault> {
        match self.process.receive(deadline) {
            Ok(Incoming::Line(line)) => match Reply::parse(&line) {
                Ok(Reply::Error { reason }) => Err(self.fault(stage, format!("refused: {reason}"))),
                Ok(reply) => Ok(reply),
                Err(error) => {
                    let what = match &error.problem {
                        Problem::Version { ours, theirs } => format!(
                            "speaks version {theirs} of the protocol, this assay speaks version {ours} \
                             (rebuild it with this version's harness); detected"
                        ),
                        _ => format!(
                            "wrote something that is not in the protocol ({error}; only the harness may write to the channel)"
                        ),
                    };
                    Err(self.fault(stage, what))
                }
            },
            Ok(Incoming::Closed) => Err(self.ended(stage)),
            Ok(Incoming::TimedOut) => Err(self.hung(stage)),
            Ok(Incoming::TooLong) => Err(self.fault(
                stage,
                format!("wrote a line longer than {MAX_LINE} bytes on its channel, and was killed,"),
            )),
            Err(error) => Err(self.fault(stage, format!("could not be read ({error})"))),
        }
    }

    fn ended(&mut self, stage: Stage) -> ProgramFault {
        let ended = self.process.finish(Duration::from_millis(500));
        // Whoever keeps the fault asks whether the lab was to stop.
        if let Some(signal) = ended.signal {
            assay_linux::interrupt::wait_behind(signal);
        }
        let mut what =
            if ended.killed { "closed its channel and was killed".to_owned() } else { ended.to_string() };
        if stage == Stage::Start && ended.code == Some(0) {
            what.push_str(
                " before it said hello (is it built with assay.h, and does main call assay_main?),",
            );
        }
        ProgramFault { shows_alone: true, ..self.fault(stage, what) }
    }

    fn hung(&mut self, stage: Stage) -> ProgramFault {
        let seconds = self.patience.as_secs_f64();
        self.process.finish(Duration::ZERO);
        let what = format!("gave no reply within {seconds} s and was killed (--timeout allows more)");
        ProgramFault { shows_alone: true, ..self.fault(stage, what) }
    }

    fn unexpected(&mut self, stage: Stage, reply: &Reply) -> ProgramFault {
        self.fault(stage, format!(
            "replied out of turn: `{}` (only the harness may write to the channel; was the program built with \
             this version's harness?)",
            reply.to_text().trim_end()
        ))
    }

    fn fault(&mut self, stage: Stage, what: String) -> ProgramFault {
        ProgramFault { output: self.process.output(), ..ProgramFault::of_lab(stage, what) }
    }
}
