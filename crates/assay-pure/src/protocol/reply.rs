//! What a measured program says.

use super::error::{Problem, ProtocolError};
use super::fields::{Fields, digits};
use super::usage::Abilities;
use crate::pulse::Pulse;
use std::fmt;

/// How a variant is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariantKind {
    /// A function of the bytes, called once per window.
    Call,
    /// A function of a state prepared from the whole input outside the timed region.
    Prepared,
    /// A function of a state of its own that each call may change, made of one window's bytes outside the timed region.
    Fresh,
    /// A loop of the program's own over the whole input; one sample is one run of it.
    Loop,
}

impl VariantKind {
    /// Its word in the protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Prepared => "prepared",
            Self::Fresh => "fresh",
            Self::Loop => "loop",
        }
    }

    /// Whether one call gets one window; other kinds get the whole input.
    #[must_use]
    pub const fn is_windowed(self) -> bool {
        matches!(self, Self::Call | Self::Fresh)
    }
}

impl fmt::Display for VariantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What passes allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// Blocks; one that is resized counts again.
    pub allocations: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// The most bytes at once in a pass, beyond those that were allocated when it began.
    pub peak_bytes: u64,
}

impl fmt::Display for Allocated {
    /// The fields of `traced`, each with a space before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocations, bytes, peak_bytes } = self;
        write!(f, " allocations={allocations} allocated={bytes} peak={peak_bytes}")
    }
}

/// One line from a measured program.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The first line.
    Hello {
        /// Always [`super::VERSION`]: another one is an error.
        version: u32,
        /// Which harness speaks: `c`, `c++`, `rust`.
        harness: String,
        /// How many `Variant` lines follow.
        variants: u32,
    },
    /// One variant of the program.
    Variant {
        /// Its number in requests.
        index: u32,
        /// How it is called.
        kind: VariantKind,
        /// Its function's address minus that of `__ehdr_start`; 0 where unknown.
        entry: u64,
        /// Its name.
        name: String,
        /// Why it cannot run here, if it cannot.
        unavailable: Option<String>,
    },
    /// The last line of the greeting: what the program's clocks cost here.
    Ready {
        /// One read of CLOCK_MONOTONIC, nanoseconds.
        wall_read_ns: f64,
        /// One read of CLOCK_THREAD_CPUTIME_ID, nanoseconds.
        cpu_read_ns: f64,
        /// An empty region on the wall clock, mean of the middle half of many, nanoseconds, to be subtracted from every
        /// `wall_ns`.
        region_wall_ns: f64,
        /// The same on the thread's CPU clock, to be subtracted from every `cpu_ns`.
        region_cpu_ns: f64,
        /// What it can do beside hot and throughput.
        abilities: Abilities,
    },
    /// An input is mapped.
    Loaded {
        /// Its id.
        id: u32,
    },
    /// The answers of a variant on an input.
    Answer {
        /// Of one call over the whole input.
        whole: u64,
        /// Of all windows, combined by [`super::combine`]; repeats `whole` for kinds that get the whole input.
        windows: u64,
    },
    /// One sample, raw: nothing is subtracted.
    Sample {
        /// Its number in this request, warm-up samples included.
        index: u32,
        /// Taken to warm up, not for estimates.
        warmup: bool,
        /// Elapsed on CLOCK_MONOTONIC, nanoseconds.
        wall_ns: u64,
        /// Elapsed on CLOCK_THREAD_CPUTIME_ID, nanoseconds, read outside the wall clock.
        cpu_ns: u64,
        /// Units done in all its calls.
        units: u64,
        /// Involuntary context switches of the thread during it.
        switches: u64,
        /// Pulses directly before and after it, where the program can take them.
        pulses: Option<[Pulse; 2]>,
    },
    /// The end of the samples of one request.
    Measured {
        /// The answers of all calls combined in order, warm-up samples included.
        check: u64,
        /// Of a fresh variant, what one state costs, bytes.
        state_bytes: Option<u64>,
    },
    /// The end of a traced request.
    Traced {
        /// Units in one pass.
        units: u64,
        /// The answers of all calls of all passes combined in order.
        check: u64,
        /// What the passes allocated, where a library that counts it is loaded.
        allocated: Option<Allocated>,
    },
    /// A request that could not be served; the program goes on.
    Error {
        /// Why.
        reason: String,
    },
    /// The program is about to exit with code 0.
    Bye,
}

impl Reply {
    /// Reads one line, without its newline.
    ///
    /// Errors: another version of the protocol, an unknown message, a missing, repeated or malformed field. Unknown
    /// fields are ignored, so that a version can gain optional ones.
    pub fn parse(line: &str) -> Result<Self, ProtocolError> {
        if line.len() >= super::MAX_LINE {
            return Err(ProtocolError::new(line, Problem::TooLong { bytes: line.len() + 1 }));
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "assay" => hello(line, rest),
            "variant" => variant(line, rest),
            "ready" | "loaded" | "answer" | "sample" | "measured" | "traced" | "error" | "bye" => {
                plain(word, &Fields::split(line, rest)?)
            }
            _ => Err(ProtocolError::new(line, Problem::UnknownMessage)),
        }
    }

    /// The same for bytes as they came; what is not UTF-8 is shown in the error as `\u{fffd}`.
    pub fn parse_bytes(line: &[u8]) -> Result<Self, ProtocolError> {
        Self::parse(&String::from_utf8_lossy(line))
    }

    /// The line as a program sends it, ended by a newline; for scripted workers.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Hello { version, harness, variants } => {
                format!("assay {version} hello harness={harness} variants={variants}\n")
            }
            Self::Variant { index, kind, entry, name, unavailable } => {
                let reason =
                    unavailable.as_ref().map(|reason| format!(" unavailable={reason}")).unwrap_or_default();
                format!("variant {index} kind={kind} entry={entry} name={name}{reason}\n")
            }
            Self::Ready { wall_read_ns, cpu_read_ns, region_wall_ns, region_cpu_ns, abilities } => format!(
                "ready wall_read_ns={wall_read_ns:.2} cpu_read_ns={cpu_read_ns:.2} region_wall_ns={region_wall_ns:.2} region_cpu_ns={region_cpu_ns:.2}{}\n",
                abilities.to_text()
            ),
            Self::Loaded { id } => format!("loaded id={id}\n"),
            Self::Answer { whole, windows } => {
                format!("answer whole={whole:016x} windows={windows:016x}\n")
            }
            Self::Sample { index, warmup, wall_ns, cpu_ns, units, switches, pulses } => format!(
                "sample index={index} warmup={} wall={wall_ns} cpu={cpu_ns} units={units} switches={switches}{}\n",
                u8::from(*warmup),
                pulses.map(said).unwrap_or_default()
            ),
            Self::Measured { check, state_bytes } => {
                let cost = state_bytes.map(|bytes| format!(" state_bytes={bytes}")).unwrap_or_default();
                format!("measured check={check:016x}{cost}\n")
            }
            Self::Traced { units, check, allocated } => {
                let said = allocated.map(|all| all.to_string()).unwrap_or_default();
                format!("traced units={units} check={check:016x}{said}\n")
            }
            Self::Error { reason } => format!("error reason={reason}\n"),
            Self::Bye => "bye\n".to_owned(),
        }
    }
}

/// `assay VERSION hello ...`: the version is judged before anything else of the line, since another version may have
/// another line.
fn hello(line: &str, rest: &str) -> Result<Reply, ProtocolError> {
    let (version, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    if digits(version) != Some(super::VERSION) {
        let theirs = super::error::printable(version);
        return Err(ProtocolError::new(line, Problem::Version { ours: super::VERSION, theirs }));
    }
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    if word != "hello" {
        return Err(ProtocolError::new(line, Problem::UnknownMessage));
    }
    let fields = Fields::split(line, rest)?;
    Ok(Reply::Hello {
        version: super::VERSION,
        harness: name(&fields, "harness")?,
        variants: fields.number("variants")?,
    })
}

/// `variant INDEX kind=... entry=... name=...`.
fn variant(line: &str, rest: &str) -> Result<Reply, ProtocolError> {
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let fields = Fields::split(line, rest)?;
    let index = digits(number).ok_or_else(|| fields.wrong("index", number, "a whole number in range"))?;
    let kind = match fields.text("kind")? {
        "call" => VariantKind::Call,
        "prepared" => VariantKind::Prepared,
        "fresh" => VariantKind::Fresh,
        "loop" => VariantKind::Loop,
        other => return Err(fields.wrong("kind", other, "call, prepared, fresh or loop")),
    };
    let unavailable = fields.optional("unavailable").map(str::to_owned);
    Ok(Reply::Variant {
        index,
        kind,
        entry: fields.number("entry")?,
        name: name(&fields, "name")?,
        unavailable,
    })
}

/// The messages whose line is one word and fields.
fn plain(word: &str, fields: &Fields<'_>) -> Result<Reply, ProtocolError> {
    Ok(match word {
        "ready" => Reply::Ready {
            wall_read_ns: fields.nanoseconds("wall_read_ns")?,
            cpu_read_ns: fields.nanoseconds("cpu_read_ns")?,
            region_wall_ns: fields.nanoseconds("region_wall_ns")?,
            region_cpu_ns: fields.nanoseconds("region_cpu_ns")?,
            abilities: Abilities::read(fields)?,
        },
        "loaded" => Reply::Loaded { id: fields.number("id")? },
        "answer" => Reply::Answer { whole: fields.answer("whole")?, windows: fields.answer("windows")? },
        "sample" => Reply::Sample {
            index: fields.number("index")?,
            warmup: fields.flag("warmup")?,
            wall_ns: fields.number("wall")?,
            cpu_ns: fields.number("cpu")?,
            units: fields.number("units")?,
            switches: fields.number("switches")?,
            pulses: pulses(fields)?,
        },
        "traced" => Reply::Traced {
            units: fields.number("units")?,
            check: fields.answer("check")?,
            allocated: fields
                .optional("allocations")
                .map(|_| {
                    Ok(Allocated {
                        allocations: fields.number("allocations")?,
                        bytes: fields.number("allocated")?,
                        peak_bytes: fields.number("peak")?,
                    })
                })
                .transpose()?,
        },
        "measured" => Reply::Measured {
            check: fields.answer("check")?,
            state_bytes: fields.optional("state_bytes").map(|_| fields.number("state_bytes")).transpose()?,
        },
        "error" => Reply::Error { reason: fields.text("reason")?.to_owned() },
        _ => Reply::Bye,
    })
}

/// The fields of both pulses of a sample.
fn said([before, after]: [Pulse; 2]) -> String {
    let jumps = before.jumps_ns.zip(after.jumps_ns);
    let front = jumps.map(|(before, after)| format!(" front={before},{after}")).unwrap_or_default();
    format!(" before={before} after={after}{front}")
}

/// Both pulses of a sample, or none.
fn pulses(fields: &Fields<'_>) -> Result<Option<[Pulse; 2]>, ProtocolError> {
    if fields.optional("before").is_none() && fields.optional("after").is_none() {
        return Ok(None);
    }
    let two = |field| {
        let value = fields.text(field)?;
        let both = value.split_once(',').and_then(|(one, other)| Some((digits(one)?, digits(other)?)));
        both.ok_or_else(|| fields.wrong(field, value, "two whole numbers"))
    };
    let jumps = fields.optional("front").map(|_| two("front")).transpose()?;
    let pulse = |field, jumps_ns| {
        let (chain_ns, wide_ns) = two(field)?;
        Ok(Pulse { chain_ns, wide_ns, jumps_ns })
    };
    Ok(Some([
        pulse("before", jumps.map(|(before, _)| before))?,
        pulse("after", jumps.map(|(_, after)| after))?,
    ]))
}

/// A field that must be a name.
fn name(fields: &Fields<'_>, field: &'static str) -> Result<String, ProtocolError> {
    let value = fields.text(field)?;
    if super::is_name(value) {
        Ok(value.to_owned())
    } else {
        Err(fields.wrong(field, value, "a name of letters, digits and _.:/+-"))
    }
}
