//! Every key an experiment file may have, what it takes and what it looks like.
//!
//! Readers look their keys up here, so a key that is not listed cannot be read, and one that is listed is known to the
//! search for the nearest, to the messages, and to the test that the template explains it.

use crate::inputs::kinds::{Parameter, kinds};
use std::sync::LazyLock;

/// One key of a table.
#[derive(Debug)]
pub(crate) struct SchemaKey {
    /// As written in the file.
    pub(crate) name: &'static str,
    /// What its value must be: type and domain.
    pub(crate) expected: &'static str,
    /// A line that could stand in a file.
    pub(crate) example: &'static str,
}

pub(crate) const fn key(name: &'static str, expected: &'static str, example: &'static str) -> SchemaKey {
    SchemaKey { name, expected, example }
}

const NAME: &str = "a name made of A-Z a-z 0-9 _ . : / + -";
const UNITS: &str = "an integer from 1 to 1000000000, or 0 for the whole input in one call";
const SHARE: &str = "a number, or a string such as \"12 %\"";
const POSITIVE: &str = "a number above 0";

/// Keys that stand above all tables, for all inputs, or in one input's.
const STATES: SchemaKey = key(
    "states",
    "a list of \"hot\", \"rotating\", \"cold_data\", \"cold_code\"",
    "states = [\"hot\", \"rotating\", \"cold_data\"]",
);
const MEASURE: SchemaKey =
    key("measure", "a list of \"throughput\" and \"latency\"", "measure = [\"throughput\", \"latency\"]");
const COPIES: SchemaKey = key("copies", "an integer from 2 to 1000000, with \"rotating\"", "copies = 64");

/// The keys above the first `[table]`, and the tables.
pub(in crate::experiment) const TOP: &[SchemaKey] = &[
    key("question", "a string", "question = \"Is the table decoder faster than the branching one?\""),
    key("baseline", "the name of a variant, with which all others are compared", "baseline = \"branch\""),
    key("name", NAME, "name = \"varint\""),
    key("unit", "a string: the unit that figures are divided by, in the singular", "unit = \"varint\""),
    key("prediction", "a string", "prediction = \"The table wins on random lengths.\""),
    key(
        "minimum_effect",
        "a fraction from 0 to below 1, or a string such as \"1 %\"",
        "minimum_effect = \"1 %\"",
    ),
    key("confidence", "a fraction above 0 and below 1, or a string such as \"95 %\"", "confidence = 0.95"),
    key("budget", "seconds above 0, or a string with one of the units ms, s, min, h", "budget = \"60 s\""),
    key("clock", "\"wall\" or \"thread_cpu\"", "clock = \"wall\""),
    key(
        "events",
        "a list of \"instructions\", \"branches\", \"branch-misses\", \"cycles\", \"op-cache-ops\", \"decoded-ops\", \"l1i-misses\", \"itlb-misses\", \"allocations\", \"allocated-bytes\" and \"peak-bytes\"",
        "events = [\"instructions\", \"branches\", \"branch-misses\"]",
    ),
    key(
        "seed",
        "an integer from 0 to 18446744073709551615; as a string if above 9223372036854775807",
        "seed = 1",
    ),
    key(
        "compilers",
        "a list of names or globs of compilers, or [\"all\"]",
        "compilers = [\"gcc*\", \"clang-16\"]",
    ),
    key("allow_unoptimised", "true or false", "allow_unoptimised = true"),
    key(
        "fresh_memory",
        "bytes from 1 to 1 TB, or a string with one of the units B, KB, MB, GB, KiB, MiB, GiB",
        "fresh_memory = \"256 MiB\"",
    ),
    STATES,
    MEASURE,
    COPIES,
    key("program", "a table", "[program]\nsources = [\"decode.c\"]"),
    key("variants", "a list of names, or a table for each", "variants = [\"branch\", \"table\"]"),
    key("inputs", "a table for each input", "[inputs.mixed]\ngenerator = \"lengths\"\nweights = [80, 18, 2]"),
    key(
        "flags",
        "a list of flags, or a table with a list for each set",
        "[flags]\nO2 = [\"-O2\"]\nO3 = [\"-O3\"]",
    ),
    key("placement", "a table", "[placement]\nrotations = 8"),
    key("contrasts", "a table", "[contrasts]\nalong = [\"variant\", \"compiler\"]"),
    key(
        "sweeps",
        "a table for each sweep",
        "[sweeps.size]\nkey = \"inputs.mixed.units\"\nfrom = 1000\nto = 1_000_000\nscale = \"geometric\"",
    ),
    key(
        "claims",
        "a table for each claim",
        "[[claims]]\ntext = \"table is faster\"\ncandidate = \"table\"\nsays = \"faster\"",
    ),
    key(
        "accept",
        "a table for each intended finding of `assay doctor`",
        "[[accept]]\ncheck = \"memorised\"\nbecause = \"what a predictor can learn is the question\"",
    ),
];

/// The keys of `[program]`.
pub(in crate::experiment) const PROGRAM: &[SchemaKey] = &[
    key("sources", "a list of source files, at least one", "sources = [\"decode.c\"]"),
    key("zig", "a list of Zig files, or the path of a build.zig", "zig = [\"bench.zig\"]"),
    key("cargo", "the path of a Cargo.toml", "cargo = \"Cargo.toml\""),
    key("bin", "the name of a program of the cargo package or build.zig", "bin = \"decode\""),
    key("bench", "the name of a benchmark of the cargo package", "bench = \"decode\""),
    key("example", "the name of an example of the cargo package", "example = \"decode\""),
    key("features", "a list of features of the cargo package", "features = [\"simd\"]"),
    key("profile", "the name of a cargo profile", "profile = \"release\""),
    key("cmake", "the folder of a CMakeLists.txt", "cmake = \".\""),
    key("target", "the name of a CMake target that is a program", "target = \"decode\""),
    key("build", "a command that builds the program", "build = \"make bench\""),
    key("binary", "the path of the program that `build` makes", "binary = \"build/bench\""),
    key("include_dirs", "a list of folders", "include_dirs = [\"include\"]"),
    key("flags", "a list of compiler flags, each a separate string", "flags = [\"-std=c11\", \"-Wall\"]"),
    key("link_flags", "a list of linker flags, each a separate string", "link_flags = [\"-lm\"]"),
];

/// The keys of a variant.
pub(in crate::experiment) const VARIANT: &[SchemaKey] = &[
    key("name", NAME, "name = \"bmi2\""),
    key("description", "a string", "description = \"no branches, one PEXT\""),
    key("needs", "a list of CPU features as /proc/cpuinfo names them", "needs = [\"bmi2\"]"),
    key(
        "functions",
        "a list of names or globs of functions that it also runs",
        "functions = [\"decode_slow*\"]",
    ),
];

/// The keys of an input, whatever its source.
pub(in crate::experiment) const INPUT: &[SchemaKey] = &[
    key("name", NAME, "name = \"mixed\""),
    key("description", "a string", "description = \"80 % of one byte, 18 % of two\""),
    key("format", crate::inputs::FORMATS, "format = \"lines\""),
    key("window_units", UNITS, "window_units = 4096"),
    key(
        "production_units",
        "an integer from 1: units that production processes before it sees the same data again",
        "production_units = 5_000_000",
    ),
    STATES,
    MEASURE,
    COPIES,
];

/// The keys of a finding that is accepted.
pub(in crate::experiment) const ACCEPT: &[SchemaKey] = &[
    key("check", "the name of a check of `assay doctor`", "check = \"memorised\""),
    key("variants", "a list of names or globs of variants", "variants = [\"libc\"]"),
    key("inputs", "a list of names or globs of inputs", "inputs = [\"small*\"]"),
    key(
        "because",
        "a string: why it is intended",
        "because = \"what a predictor can learn is the question\"",
    ),
];

/// The further keys of a recorded input.
pub(in crate::experiment) const RECORDED: &[SchemaKey] =
    &[key("path", "the path of a file, from the experiment file's folder", "path = \"recorded.bin\"")];

/// The further keys of an input with others beside it.
pub(in crate::experiment) const BESIDE: &[SchemaKey] = &[key(
    "with",
    "a table of names and inputs: what the program gets by assay_input(data, NAME) beside this one",
    "with = { table = \"dictionary\" }",
)];

/// The generator of keys that are looked up in another input.
pub(in crate::experiment) const KEYS: (&str, &[SchemaKey]) = (
    "keys",
    &[
        key(
            "table",
            "the name of an input of numbers or records, which the program gets as \"table\"",
            "table = \"dictionary\"",
        ),
        key(
            "hit_rate",
            "the share of keys that are in the table: a fraction from 0 to 1, or a string such as \"90 %\"",
            "hit_rate = \"90 %\"",
        ),
        key(
            "exponent",
            "a number from 0 to 10: the k-th key comes 1 / k^exponent as often as the first",
            "exponent = 1.0",
        ),
    ],
);

/// The further keys of an input that a command makes.
pub(in crate::experiment) const COMMANDED: &[SchemaKey] = &[
    key(
        "command",
        "a list of strings: a program and its arguments, run in the folder of this file",
        "command = [\"python3\", \"make.py\"]",
    ),
    key("units", "an integer from 1 to 1000000000: ASSAY_UNITS in its environment", "units = 1_000_000"),
    key("seed", "an integer from 0: ASSAY_SEED in its environment", "seed = 1"),
];

/// The further keys of every generated input.
pub(in crate::experiment) const GENERATED: &[SchemaKey] = &[
    key("generator", "the name of a generator", "generator = \"log_uniform\""),
    key("units", "an integer from 1 to 1000000000", "units = 1_000_000"),
];

/// The further keys of every input that is made of random draws.
pub(in crate::experiment) const DRAWN: &[SchemaKey] = &[
    key(
        "seed",
        "an integer from 0 to 18446744073709551615; as a string if above 9223372036854775807",
        "seed = 1",
    ),
    key(
        "distinct_units",
        "an integer from 1 to units: this many are generated, then repeated",
        "distinct_units = 1000",
    ),
];

const WEIGHTS: SchemaKey = key(
    "weights",
    "a list of 1 to 10 numbers, for values of 1, 2, ... 10 bytes; none negative, not all 0",
    "weights = [80, 18, 2]",
);

const MULTI_BYTE: SchemaKey = key(
    "multi_byte",
    "the share of values longer than one byte: a fraction from 0 to 1, or a string such as \"31 %\"",
    "multi_byte = \"31 %\"",
);

/// The generator of inputs that are not drawn but said.
pub(in crate::experiment) const SETTINGS: &str = "settings";

/// The parameters of each generator of varints, and settings.
pub(in crate::experiment) const GENERATORS: &[(&str, &[SchemaKey])] = &[
    ("lengths", &[WEIGHTS, MULTI_BYTE]),
    (
        "log_uniform",
        &[
            key("min_bits", "an integer from 0 to 64, at most max_bits", "min_bits = 0"),
            key("max_bits", "an integer from 0 to 64, at least min_bits", "max_bits = 32"),
        ],
    ),
    (
        "uniform_value",
        &[
            key("min", "an integer from 0 to max", "min = 0"),
            key(
                "max",
                "an integer of 64 bits, at least min; large ones as a string",
                "max = \"0xffff_ffff_ffff_ffff\"",
            ),
        ],
    ),
    (
        "uniform_length",
        &[
            key("min", "a number of bytes from 1 to 10, at most max", "min = 1"),
            key("max", "a number of bytes from 1 to 10, at least min", "max = 5"),
        ],
    ),
    ("constant", &[key("length", "a number of bytes from 1 to 10", "length = 1")]),
    (
        "bursts",
        &[
            WEIGHTS,
            MULTI_BYTE,
            key("mean_length", "the mean length of a burst in values, a number from 1", "mean_length = 32"),
        ],
    ),
    (
        "markov",
        &[
            key(
                "contexts",
                "a table: after these lengths, the latest last, weights of 1, 2, ... 10 bytes; \"\" is the start",
                "contexts = { \"\" = [3, 1], \"1 2\" = [1, 3] }",
            ),
            key(
                "bits",
                "a list of at most 65 numbers: weights of the bit lengths 0, 1, 2, ...",
                "bits = [1, 1, 2, 4, 4, 4, 4, 4, 9]",
            ),
        ],
    ),
    (SETTINGS, &[key("settings", "a table of names and numbers", "settings = { loss = 0.05, window = 64 }")]),
];

/// The parameters of all generators: those above, and the kinds of all else as their table has them.
pub(in crate::experiment) fn generators() -> impl Iterator<Item = (&'static str, &'static [SchemaKey])> {
    static KINDS: LazyLock<Vec<(&str, Vec<SchemaKey>)>> = LazyLock::new(|| {
        kinds().map(|kind| (kind.name, kind.parameters.iter().map(of_parameter).collect())).collect()
    });
    GENERATORS.iter().copied().chain([KEYS]).chain(KINDS.iter().map(|(name, keys)| (*name, keys.as_slice())))
}

/// A parameter of the table as a key. Its words live as long as the table, which is made once.
fn of_parameter(parameter: &Parameter) -> SchemaKey {
    let expected = format!("{}: {}", parameter.domain.words(), parameter.says);
    SchemaKey { name: parameter.name, expected: expected.leak(), example: parameter.example }
}

/// The keys of a flag set in its long form.
pub(in crate::experiment) const FLAG_SET: &[SchemaKey] = &[
    key("name", NAME, "name = \"O2\""),
    key("flags", "a list of compiler flags, each a separate string", "flags = [\"-O2\", \"-march=native\"]"),
    key("allow_unoptimised", "true or false", "allow_unoptimised = true"),
];

/// The keys of `[placement]`.
pub(in crate::experiment) const PLACEMENT: &[SchemaKey] = &[
    key("rotations", "an integer from 1 to 1000", "rotations = 8"),
    key("max_rotations", "an integer from rotations to 1000", "max_rotations = 32"),
    key(
        "phases",
        "a list of different whole numbers from 0 to 63 (bytes of padding)",
        "phases = [0, 16, 32, 48]",
    ),
];

/// The keys of `[contrasts]`.
pub(in crate::experiment) const CONTRASTS: &[SchemaKey] = &[
    key(
        "along",
        "a list of \"variant\", \"compiler\" and \"flags\", at least one",
        "along = [\"variant\", \"compiler\"]",
    ),
    key("compiler", "the name of a compiler, or \"each\" for every pair", "compiler = \"gcc-12\""),
    key("flags", "the name of a flag set, or \"each\" for every pair", "flags = \"O2\""),
];

const AMOUNT: &str = "a number, or a string such as \"64k\", \"1 Mi\" or \"31 %\"";

/// The keys of a sweep.
pub(in crate::experiment) const SWEEP: &[SchemaKey] = &[
    key("name", NAME, "name = \"size\""),
    key("description", "a string", "description = \"up to four times the last-level cache\""),
    key("key", crate::sweep::key::SWEEPABLE, "key = \"inputs.mixed.units\""),
    key("from", AMOUNT, "from = \"1k\""),
    key("to", AMOUNT, "to = \"1M\""),
    key("points", "an integer from 2 to 1000", "points = 9"),
    key(
        "values",
        "a list of numbers, or of strings such as \"64k\" or \"31 %\"",
        "values = [\"1k\", \"32k\", \"1M\"]",
    ),
    key("scale", "\"linear\" or \"geometric\"", "scale = \"geometric\""),
    key("refine", "an integer from 0 to 1000", "refine = 12"),
    key(
        "tolerance",
        "the width of a crossover, above 0: a number in the key's unit, or a string such as \"5 %\" of its value",
        "tolerance = \"5 %\"",
    ),
    key("variants", "a list of names or globs of variants", "variants = [\"table\", \"bmi*\"]"),
];

/// The keys of a claim.
pub(in crate::experiment) const CLAIM: &[SchemaKey] = &[
    key(
        "text",
        "a string: the claim in its own words",
        "text = \"table is 1.3 times faster on random data\"",
    ),
    key("source", "a string", "source = \"README, section 2\""),
    key("candidate", "the name of a variant", "candidate = \"table\""),
    key("baseline", "the name of a variant", "baseline = \"branch\""),
    key("inputs", "a list of names of inputs", "inputs = [\"mixed\"]"),
    key("compilers", "a list of names or globs of compilers", "compilers = [\"gcc*\"]"),
    key("flags", "a list of names or globs of flag sets", "flags = [\"O2\"]"),
    key("baseline_compiler", "the name or glob of a compiler", "baseline_compiler = \"gcc-11\""),
    key("baseline_flags", "the name of a flag set", "baseline_flags = \"O2\""),
    key("says", "\"faster\", \"slower\" or \"equivalent\"", "says = \"faster\""),
    key("ratio", "time of candidate / time of baseline, a number above 0", "ratio = 0.77"),
    key("ratio_tolerance", "a fraction from 0, or a string such as \"5 %\"", "ratio_tolerance = \"5 %\""),
    key("ns_per_unit", POSITIVE, "ns_per_unit = 0.7"),
    key("gigabytes_per_second", POSITIVE, "gigabytes_per_second = 2.1"),
    key("million_units_per_second", POSITIVE, "million_units_per_second = 850"),
    key(
        "miss_rate",
        "mispredictions per branch: a fraction from 0, or a string such as \"3 %\"",
        "miss_rate = \"3 %\"",
    ),
    key("misses_per_unit", "a number from 0", "misses_per_unit = 0.23"),
    key("instructions_per_unit", POSITIVE, "instructions_per_unit = 30.8"),
    key("branches_per_unit", "a number from 0", "branches_per_unit = 3.5"),
    key("cycles_per_unit", POSITIVE, "cycles_per_unit = 26.1"),
    key("allocations_per_unit", "a number from 0", "allocations_per_unit = 0"),
    key("allocated_bytes_per_unit", "a number from 0", "allocated_bytes_per_unit = 24"),
    key("peak_bytes_per_unit", "a number from 0", "peak_bytes_per_unit = 8.5"),
    key("share", "a share of a whole: a fraction from 0, or a string such as \"40 %\"", "share = \"40 %\""),
    key("before", POSITIVE, "before = 17098340"),
    key("after", "a number from 0", "after = 9000000"),
    key("change", SHARE, "change = \"-47 %\""),
];
