//! The experiment file as meaning: what is compared, on which inputs, built how, measured how long.

use super::{Acceptance, ClaimSpec, ContrastSpec, CountedEvent, Usage};
use crate::inputs::keys::{DrawnKeysError, KeyShape, keys};
use crate::inputs::{self, Description, FormatError, Generator, Settings, Window};
use crate::stats::margin::Margin;
use std::path::Path;

/// One experiment, as read from its TOML file; every default is filled in.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Experiment {
    /// Short name; the file's folder name where the file gives none.
    pub name: String,
    /// The question in plain words, answered on the report's first line.
    pub question: String,
    /// The item of work every figure is divided by, singular: "varint", "call"; what the inputs consist of where the file
    /// does not say.
    pub unit: String,
    /// What the author expected before measuring; shown beside the finding.
    pub prediction: Option<String>,
    /// The measured program.
    pub program: Program,
    /// Name of the variant all others are compared with.
    pub baseline: String,
    /// Along which axes cells are compared, and with which level of each.
    #[serde(default)]
    pub contrasts: ContrastSpec,
    /// All variants, the baseline included, in file order.
    pub variants: Vec<Variant>,
    /// All inputs, in file order.
    pub inputs: Vec<InputSpec>,
    /// Names or globs of compilers on PATH ("gcc", "clang-16", "gcc*"); `["all"]` is every gcc and clang found.
    pub compilers: Vec<String>,
    /// Flag sets; each is one value of the flags axis.
    pub flags: Vec<FlagSet>,
    /// How placements are enumerated.
    pub placement: PlacementSpec,
    /// The equivalence margin (0.01 is 1 %).
    pub minimum_effect: Margin,
    /// Family-wise confidence of the intervals, e.g. 0.95.
    pub confidence: f64,
    /// Budget of measuring, seconds, compiling not included.
    pub budget_seconds: f64,
    /// Nothing is decided by proof, only by times: no key of files, for calibration alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measured_only: bool,
    /// The clock that decides.
    pub clock: Clock,
    /// What is counted per unit beside the time, by counters or by tracing; none where the file asks for nothing.
    #[serde(default)]
    pub events: Vec<CountedEvent>,
    /// Simulated predictors that judge its branches, the one that explains times first; none: the processor's own counters, or
    /// those that stand for it. No key of files, for the command line alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predictors: Vec<String>,
    /// Bytes that the states of fresh variants may take at once; the harness's own limit where the file says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_memory: Option<u64>,
    /// Seed of the plan (orders, shuffles, environment sizes).
    pub seed: u64,
    /// Keys of inputs to be varied, by `assay sweep`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<crate::sweep::spec::SweepSpec>,
    /// A claim, to be checked by the measurement.
    pub claims: Vec<ClaimSpec>,
    /// Findings of the doctor that are meant.
    #[serde(default)]
    pub accept: Vec<Acceptance>,
}

impl Experiment {
    /// Calls an experiment that has no name after its folder.
    pub fn name_after(&mut self, folder: &Path) {
        if self.name.is_empty() {
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            self.name = name.unwrap_or_else(|| "experiment".to_owned());
        }
    }

    /// Index of the baseline in `variants`, `None` only in an experiment not made by [`Experiment::from_toml`].
    pub fn baseline_index(&self) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name == self.baseline)
    }
}

impl Experiment {
    /// The inputs as the file has them: each once, whatever its uses, under its own name.
    #[must_use]
    pub fn file_inputs(&self) -> Vec<InputSpec> {
        let mut found: Vec<InputSpec> = Vec::new();
        for input in &self.inputs {
            if found.iter().all(|known| known.name != input.file_name()) {
                let name = input.file_name().to_owned();
                found.push(InputSpec { name, usage: Usage::default(), of: None, ..input.clone() });
            }
        }
        found
    }
}

/// What one artifact is built from.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Program {
    /// Source files relative to the experiment file; none where the program has a build of its own.
    pub sources: Vec<String>,
    /// The user's own build, whose link is captured and made again in every placement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<OwnBuild>,
    /// Include folders relative to the experiment file.
    pub include_dirs: Vec<String>,
    /// Flags for every compilation, before those of the flag set.
    pub flags: Vec<String>,
    /// Flags for the link only.
    pub link_flags: Vec<String>,
}

/// A build that is the user's own: all but its last link stays as it is.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OwnBuild {
    /// A target of a cargo package.
    Cargo {
        /// Its Cargo.toml, relative to the experiment file.
        manifest: String,
        /// What of it is built.
        target: CargoTarget,
        /// Features that are switched on, beside the default ones.
        features: Vec<String>,
        /// The profile that it is built with.
        profile: String,
    },
    /// A target of a CMake project.
    Cmake {
        /// The folder of its CMakeLists.txt, relative to the experiment file.
        folder: String,
        /// The target, an executable.
        target: String,
    },
    /// Zig's files, each compiled by itself.
    Zig {
        /// Sources relative to the experiment file: Zig, and C beside it.
        files: Vec<String>,
    },
    /// A program of a `build.zig`.
    ZigBuild {
        /// The `build.zig`, or its folder, relative to the experiment file.
        file: String,
        /// The program's name; none where it installs only one.
        bin: Option<String>,
    },
    /// Whatever a command builds.
    Command {
        /// The command, for `sh -c`, run in the experiment file's folder.
        command: String,
        /// The program that it makes, relative to the experiment file.
        binary: String,
    },
}

/// Which program of a cargo package.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CargoTarget {
    /// Its only binary.
    OnlyBin,
    /// The binary of this name.
    Bin(String),
    /// The benchmark of this name.
    Bench(String),
    /// The example of this name.
    Example(String),
}

/// One variant: a name the program registers.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Variant {
    /// The name given to `ASSAY_VARIANT`.
    pub name: String,
    /// One line for the report.
    pub description: Option<String>,
    /// CPU features (as in /proc/cpuinfo) without which the variant is skipped with a reason.
    pub needs: Vec<String>,
    /// Globs of the functions it runs beside its own, whose places the report shows; C++ names as a reader writes them.
    #[serde(default)]
    pub functions: Vec<String>,
}

/// One input: where its bytes come from, and how it is cut into windows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InputSpec {
    /// Name used in reports and claims.
    pub name: String,
    /// One line for the report.
    pub description: Option<String>,
    /// Where the bytes come from.
    pub source: InputSource,
    /// What variants get beside it, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<SecondInput>,
    /// How units are found in the bytes.
    pub format: crate::inputs::Format,
    /// Units per window handed to one call; 0 hands over the whole input in one call.
    pub window_units: u64,
    /// Units that production goes through before it meets the same data again, where the file says.
    #[serde(default)]
    pub production_units: Option<u64>,
    /// What is cold when a call begins, and whether calls wait for each other.
    #[serde(default, rename = "use")]
    pub usage: Usage,
    /// The input of the file that it was made from, where it is used in another way than the file's own name stands for.
    #[serde(default)]
    pub of: Option<String>,
}

impl InputSpec {
    /// The name in the experiment file.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.of.as_deref().unwrap_or(&self.name)
    }

    /// What one unit is called: the format's word, or a call where the bytes have no units of their own.
    #[must_use]
    pub fn unit_word(&self) -> &'static str {
        match self.source {
            // How many units a call of a program with settings does is the file's word, what they are is unknown.
            InputSource::Settings { units: 2.., .. } => "unit",
            _ if self.format == inputs::Format::Whole => "call",
            _ => self.format.unit_word(),
        }
    }
}

/// An input that variants get beside the one that they are called with.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SecondInput {
    /// As the program asks for it: `assay_input(data, "table")`.
    pub name: String,
    /// The input of the file.
    pub input: String,
    /// Where its bytes come from.
    pub source: InputSource,
    /// How its units are found.
    pub format: inputs::Format,
}

/// Where an input's bytes come from.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InputSource {
    /// Made by a seeded generator.
    Generated {
        /// Which generator, with its parameters.
        generator: Generator,
        /// How many units it makes.
        units: u64,
        /// Its seed.
        seed: u64,
        /// So many units are made and repeated, from the first again and again, until there are `units`; `None`: all
        /// of them are made. It is what a predictor can memorise, apart from the working set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        distinct_units: Option<u64>,
    },
    /// Numbers for a program that makes its own work: see [`Settings`].
    Settings {
        /// The numbers.
        settings: Settings,
        /// Units that one call does.
        units: u64,
    },
    /// A file, relative to the experiment file.
    Recorded {
        /// The path.
        path: String,
    },
    /// What a command prints, run in the experiment file's folder.
    Command {
        /// A program and its arguments.
        command: Vec<String>,
        /// `ASSAY_UNITS` in its environment, if the file says how many units are wanted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        units: Option<u64>,
        /// `ASSAY_SEED` in its environment.
        seed: u64,
    },
    /// Keys to be looked up in another input.
    Keys {
        /// The table's own source.
        table: Box<InputSource>,
        /// The format of both.
        format: inputs::Format,
        /// The share of keys that are in the table.
        hit_rate: f64,
        /// How much more often some of these come than others.
        exponent: f64,
        /// How many keys.
        units: u64,
        /// The seed.
        seed: u64,
    },
    /// No bytes: the one call of an experiment without inputs.
    Empty,
}

impl InputSource {
    /// The bytes of an input that its recipe determines; `None` of a recorded one and of one that a command makes.
    ///
    /// Panics if a generator's parameters were not checked; those of an experiment file are.
    /// Cost: about 10 ns per value of a generated stream.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            InputSource::Generated { generator, units, seed, distinct_units: None } => {
                Some(generator.generate(*units, *seed))
            }
            InputSource::Generated { generator, units, seed, distinct_units: Some(distinct) } => {
                Some(inputs::repeated(
                    &generator.generate(*distinct, *seed),
                    generator.format(),
                    *distinct,
                    *units,
                ))
            }
            InputSource::Settings { settings, .. } => Some(settings.bytes()),
            InputSource::Empty => Some(Vec::new()),
            InputSource::Keys { table, .. } => self.keys_of(&table.bytes()?)?.ok(),
            InputSource::Recorded { .. } | InputSource::Command { .. } => None,
        }
    }

    /// The bytes of keys, given their table's; `None` of any other source.
    pub fn keys_of(&self, table: &[u8]) -> Option<Result<Vec<u8>, DrawnKeysError>> {
        let InputSource::Keys { format, hit_rate, exponent, units, seed, .. } = self else { return None };
        let shape = KeyShape { hit_rate: *hit_rate, exponent: *exponent };
        Some(keys(table, *format, shape, *units, *seed))
    }

    /// The units of an input whose bytes do not show them.
    fn declared_units(&self) -> Option<u64> {
        match self {
            InputSource::Settings { units, .. } => Some(*units),
            InputSource::Generated { .. }
            | InputSource::Recorded { .. }
            | InputSource::Command { .. }
            | InputSource::Keys { .. }
            | InputSource::Empty => None,
        }
    }
}

impl InputSpec {
    /// Cuts the input's bytes into what one call gets; see [`Format::windows`](crate::inputs::Format::windows).
    ///
    /// # Errors
    /// The bytes are not of the input's format.
    pub fn windows(&self, bytes: &[u8]) -> Result<Vec<Window>, FormatError> {
        match self.source.declared_units() {
            Some(units) => Ok(vec![Window { offset: 0, size: bytes.len() as u64, units }]),
            None => self.format.windows(bytes, self.window_units),
        }
    }

    /// Describes the input's bytes; see [`describe`](crate::inputs::describe()).
    ///
    /// # Errors
    /// The bytes are not of the input's format.
    pub fn describe(&self, bytes: &[u8]) -> Result<Description, FormatError> {
        let description = inputs::describe(bytes, self.format)?;
        Ok(match self.source.declared_units() {
            Some(units) => {
                Description { units, bytes_per_unit: bytes.len() as f64 / units as f64, ..description }
            }
            None => description,
        })
    }

    /// Units in the input's bytes.
    ///
    /// # Errors
    /// The bytes are not of the input's format.
    pub fn units(&self, bytes: &[u8]) -> Result<u64, FormatError> {
        self.source.declared_units().map_or_else(|| self.format.count(bytes), Ok)
    }
}

/// One value of the flags axis.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FlagSet {
    /// Name in reports, e.g. "O2".
    pub name: String,
    /// The flags, e.g. ["-O2", "-march=native"].
    pub flags: Vec<String>,
    /// True: unoptimised code is wanted and not warned about.
    pub allow_unoptimised: bool,
}

/// How placements are enumerated.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PlacementSpec {
    /// Rotations measured before the first look at the verdicts.
    pub rotations: u32,
    /// Rotations after which a contrast stays undecided.
    pub max_rotations: u32,
    /// Paddings ahead of all code, bytes; each a distinct phase of the 64-byte line.
    pub phases: Vec<u32>,
}

/// The clock that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Monotonic wall clock, interrupted samples left out.
    Wall,
    /// CPU time of the measuring thread.
    ThreadCpu,
}
