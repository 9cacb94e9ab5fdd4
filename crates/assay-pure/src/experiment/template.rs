//! What `assay new` writes: an experiment file that explains every key, and the small program that it measures.
//!
//! In the file a line that starts with `# ` is prose; one that starts with `#` and a letter or bracket is a key that may
//! be switched on, with its default if it has one. The tests compare it with the reader: it parses as written and with
//! every key switched on, no key of the schema is left out, and the defaults that it shows are those that stand.

pub mod rust;
pub mod zig;

use super::read::to_name;

/// The file that [`commented_program`] belongs in, beside the experiment file.
pub const PROGRAM_FILE: &str = "program.c";
/// Its flags, which C needs none of.
const NO_FLAGS: &str = "#flags = []\n";

/// An experiment file that measures [`commented_program`], each key explained with its default.
///
/// Input: the experiment's name; letters that a name may not have become `-`, and an empty one `experiment`.
pub fn commented_experiment(name: &str) -> String {
    experiment_of(name, PROGRAM_FILE)
}

fn experiment_of(name: &str, program: &str) -> String {
    let name = if name.is_empty() { "experiment".into() } else { to_name(name) };
    EXPERIMENT.replace("NAME_HERE", &name).replace("PROGRAM_HERE", program)
}

/// The C11 program that [`commented_experiment`] measures, for [`PROGRAM_FILE`].
pub fn commented_program() -> String {
    PROGRAM.to_owned()
}

/// The same experiment with a program in C++20: two files, each with its path.
pub fn cpp_files(name: &str) -> [(&'static str, String); 2] {
    let experiment = experiment_of(name, "program.cpp").replace(NO_FLAGS, "flags = [\"-std=c++20\"]\n");
    [("experiment.toml", experiment), ("program.cpp", CPP_PROGRAM.to_owned())]
}

const CPP_PROGRAM: &str = r##"// Two ways to sum bytes, measured by assay:
//
//     assay run experiment.toml
//
// By hand: c++ -std=c++20 -O2 -I. program.cpp -o program && ./program --help
// where `assay harness c .` writes assay.h.
#include <assay.h>

#include <cstddef>
#include <cstdint>
#include <span>

// A variant is any callable from bytes, or other elements, to an answer. All
// variants must give the same answer: assay compares them before it measures.
ASSAY_VARIANT("loop", [](std::span<const std::uint8_t> data) {
    std::uint64_t sum = 0;
    for (std::uint8_t byte : data) sum += byte;
    return sum;
})

ASSAY_VARIANT("four", [](std::span<const std::uint8_t> data) {
    std::uint64_t sums[4] = {};
    std::size_t at = 0;
    for (; at + 4 <= data.size(); at += 4)
        for (int lane = 0; lane < 4; lane++) sums[lane] += data[at + lane];
    for (; at < data.size(); at++) sums[0] += data[at];
    return sums[0] + sums[1] + sums[2] + sums[3];
})

ASSAY_MAIN()
"##;

const EXPERIMENT: &str = r##"# An experiment for assay. `assay plan` shows what it would measure and how long
# that takes, `assay run` measures it. Lines like `#budget = "60 s"` are keys
# that are off; most show their default.

# The question, answered on the first line of the report. Required.
question = "Is a sum with four accumulators faster than a plain loop?"

# The variant that all others are compared with. Required.
baseline = "loop"

# The name in reports and in the ledger. Default: the name of the folder.
name = "NAME_HERE"

# What every figure is divided by, in the singular: a byte, a packet, a call.
# Default: what the inputs' format counts, a "call" where there is no input.
unit = "byte"

# What you expect before measuring; the report shows it beside the finding.
#prediction = "Four accumulators win by a factor of 2."

# Differences smaller than this do not matter: within it, variants are
# equivalent. A fraction, or a string such as "1 %".
#minimum_effect = "1 %"

# The confidence that all verdicts of the experiment hold together.
#confidence = 0.95

# Time for measuring, without compiling: seconds, or "500 ms", "2 min", "1 h".
#budget = "60 s"

# The clock that decides: "wall", with interrupted samples left out, or
# "thread_cpu", the CPU time of the measuring thread.
#clock = "wall"

# What is counted per unit beside the time, from "instructions", "branches",
# "branch-misses" and "cycles": by hardware counters where the machine has them,
# else (but for cycles) in a build that logs each branch, or under an emulator,
# with simulated branch predictors. Then the report says how much of a
# difference is work and how much is prediction. And "allocations",
# "allocated-bytes" and "peak-bytes": counted exactly in a separate run, in C,
# C++ and Rust alike. And of the front end, only where the CPU counts them:
# "op-cache-ops", "decoded-ops", "l1i-misses" and "itlb-misses".
# Default: nothing, because counting takes extra time.
#events = []

# The seed of every random order. The same seed gives the same plan.
#seed = 1

# Compilers on PATH, by name or pattern: ["gcc", "clang-1*"]. "all" is every gcc
# and clang that is found.
#compilers = ["all"]

# Unoptimised code is refused unless this is true.
#allow_unoptimised = false

# The variants that the program registers with ASSAY_VARIANT, the baseline too.
# Where there is more to say, give each a table instead:
#     [[variants]]
#     name = "bmi2"
#     description = "no branches, one PEXT"
#     needs = ["bmi2"]                     # skipped on a CPU without it
#     functions = ["decode_slow*"]         # also run; the report shows where
variants = ["loop", "four"]

# What is cold when a call begins: "hot" (one input again and again), "rotating"
# (each call takes another copy of its bytes), "cold_data" (its bytes are in no
# cache), "cold_code" (the program's code is in no cache, the branch predictor
# is trained on other code). Each becomes a separate input: random@cold-data.
#states = ["hot"]
# "throughput": calls are independent. "latency": each waits for the last one's
# answer, as in a chain of lookups.
#measure = ["throughput"]
# An input may set both keys itself, and say how many copies to rotate over
# (default: so many that they exceed twice the last-level cache):
#     states = ["hot", "rotating"]
#     copies = 64

# What the states of fresh variants may take in memory at once.
#fresh_memory = "64 MiB"

# The program: one link of all sources holds all variants. Paths start at the
# folder of this file.
[program]
sources = ["PROGRAM_HERE"]
# Folders of headers. The default is none; assay.h is looked for here, too.
include_dirs = ["."]
# For every compilation, before the flags of the flag set.
#flags = []
#link_flags = []
# Or a program in Zig, in place of `sources` (`assay new --zig` writes one):
# files, or a program of a build.zig. Flags are zig's, as in -OReleaseSafe.
#     zig = ["bench.zig"]
#     zig = "build.zig"
#     bin = "sums"
# Or a program with its own build. It stays as it is; only its last link is
# made again for each placement.
# A cargo package (`assay new --rust` writes one). Without bin, bench or
# example, it is the package's only binary.
#     cargo = "Cargo.toml"
#     bin = "sums"
#     bench = "sums"
#     example = "sums"
#     features = ["simd"]
#     profile = "release"
# A CMake project, built as Release:
#     cmake = "."
#     target = "sums"
# Any command, and the program that it makes:
#     build = "make sums"
#     binary = "sums"
# Such builds choose their compiler. `compilers` then names toolchains for cargo
# ("stable", "1.85"), or what CC and CXX are set to. `flags` are given to rustc,
# or in CFLAGS and CXXFLAGS; the default is none.

# The inputs: files made by seeded generators, or recorded ones. Without any,
# variants are called with an empty input.
[inputs.random]
generator = "uniform_value"
#min = 0
max = "0xffff_ffff_ffff_ffff"
# How many values the generator makes. The branch predictor memorises a short
# input (up to 30,000 values on Zen 4), which makes the code look too fast.
#units = 1_000_000
#seed = 1
# What is a unit: "varint", "lines", "json-lines", "bytes", a number ("u8",
# "u16", "u32", "u64", "i32", "i64", "f32", "f64"), "records:24" (of 24 bytes),
# "messages" (behind their length), "whole". Default: what the generator makes,
# "bytes" if recorded.
format = "bytes"
# Only this many values are generated, then repeated up to `units`: a short
# sequence that the predictor memorises, in a large working set. Default: all.
#     distinct_units = 1000
# Units per call; calls go through the whole input in order. 0: all in one call.
#window_units = 4096
#description = "every byte alike"
# Units that production processes before it sees the same data again:
# `assay doctor FILE` reports inputs that are too small for that.
#production_units = 5_000_000

# Numbers, sorted and unsorted, floats, booleans, bytes, text and messages:
# `assay inputs generators` lists all of their generators.
#[inputs.keys]
#generator = "nearly_sorted"
#inversions = 1000

# The other generators of LEB128 varints:
#[inputs.mixed]
#generator = "lengths"             # by weight for 1, 2, 3, ... bytes
#weights = [80, 18, 2]
#multi_byte = "31 %"               # share above 1 byte, others in proportion
#[inputs.log_uniform]
#generator = "log_uniform"         # all bit lengths alike
#min_bits = 0
#max_bits = 32
#[inputs.by_length]
#generator = "uniform_length"      # all byte lengths alike
#min = 1
#max = 5
#[inputs.worst]
#generator = "constant"            # every value this long
#length = 10
#[inputs.bursts]
#generator = "bursts"              # as "lengths", but one length for a while
#weights = [80, 18, 2]
#mean_length = 32
#multi_byte = 0.31

# After these lengths, weights of the next. `assay inputs fit` writes them:
#[inputs.fitted]
#generator = "markov"
#contexts = { "" = [3, 1], "1 2" = [1, 3] }
#bits = [1, 1, 2, 4, 4, 4, 4, 4, 9] # weights of bit lengths 0, 1, ...

# Numbers for a program that makes its own work; it gets the lines `loss=0.05`,
# `units=1000` and `window=64`, and each call does so many units (default: 1):
#[inputs.link]
#generator = "settings"
#settings = { loss = 0.05, window = 64 }
#units = 1000

# Keys that are looked up in another input: `assay_input(data, "table")` gives
# the table. Any input may stand beside another: with = { table = "NAME" }.
#[inputs.dictionary]
#generator = "permutation"
#[inputs.probes]
#generator = "keys"
#table = "dictionary"
#hit_rate = "90 %"
#exponent = 0.0

# A recorded input:
#[inputs.recorded]
#path = "recorded.bin"

# What a command prints. ASSAY_SEED and ASSAY_UNITS are in its environment. It
# runs again only if a file named here, the seed or the units change.
#[inputs.made]
#command = ["python3", "make.py"]

# A number of an input, varied by `assay sweep`: who wins where, where it flips,
# where a time steps. More than one sweep may be here.
#[sweeps.size]
# The key by its path; numbers in a list count from 0 (inputs.mixed.weights.1).
#key = "inputs.random.units"
#description = "from a cache line to beyond the caches"
# The range: numbers, or strings such as "64k", "1 Mi", "31 %".
#from = 64
#to = "64 Mi"
#scale = "geometric"
# Points of the first step, and how many more at most where two variants cross
# or a time bends.
#points = 9
#refine = 12
# How narrow a crossover must be: a number in the key's unit, or a share of
# its value. Default: 10 % on a geometric scale, else 1/50 of the range.
#tolerance = "10 %"
# Only these beside the baseline. Default: all variants.
#variants = ["four"]
# Single values instead of from, to and points:
#     values = [64, "32k", "1M"]

# Sets of compiler flags, each measured by itself; `flags = ["-O2"]` above the
# first table is the short form for one. A set may also be a separate table, for
# example O0 = { flags = ["-O0"], allow_unoptimised = true }
#[flags]
#O2 = ["-O2"]

# The program is linked again with padding before all code, so that no variant
# wins by its placement alone. A rotation is one order of the
# functions at all phases.
#[placement]
# Rotations before the first look at the verdicts, and at most.
#rotations = 8
#max_rotations = 32
# Paddings in bytes. Together they should reach every place in a line of 64.
#phases = [0, 16, 32, 48]

# What is compared. Along "variant" it is every variant with the baseline, in
# each build; along "compiler" and "flags" it is each variant with itself in
# another build: the effect of the compiler or flag, apart from placement.
#[contrasts]
#along = ["variant"]
# The baselines on the other axes: a compiler (default: the first that is
# found), a flag set (default: the first); "each" compares every pair. As with
# along = ["variant", "compiler", "flags"]:
#     compiler = "gcc-12"
#     flags = "each"

# Statements to be confirmed or refuted. Besides a text a claim has at
# least one of: says, ratio, ns_per_unit, gigabytes_per_second,
# million_units_per_second, miss_rate, misses_per_unit,
# instructions_per_unit, branches_per_unit, cycles_per_unit,
# allocations_per_unit, allocated_bytes_per_unit, peak_bytes_per_unit, share,
# change.
#[[claims]]
#text = "four accumulators are twice as fast"
#source = "a blog"
#candidate = "four"
# Default: the experiment's baseline, every input, compiler and flag set.
#baseline = "loop"
#inputs = ["random"]
#compilers = ["gcc*"]
#flags = ["O2"]
# A claim about builds: the candidate against itself, built by or with these.
#     baseline_compiler = "gcc-11"
#     baseline_flags = "O2"
# "faster", "slower" or "equivalent".
#says = "faster"
# Time of candidate / time of baseline, and how far off it may be.
#ratio = 0.5
#ratio_tolerance = "5 %"
#ns_per_unit = 0.1
# The same as rates: bytes of the input, and units.
#gigabytes_per_second = 10
#million_units_per_second = 10000

#[[claims]]
#text = "2 % of branches are mispredicted, 0.01 per byte, a third of the time"
#candidate = "four"
#miss_rate = "2 %"
#misses_per_unit = 0.01
#instructions_per_unit = 3.1
#branches_per_unit = 0.5
#cycles_per_unit = 1.2
#allocations_per_unit = 0
#allocated_bytes_per_unit = 0
#peak_bytes_per_unit = 0
#share = "33 %"

# Plain arithmetic can be checked too: before, after and what follows from them.
#[[claims]]
#text = "17 M branches become 9 M, 47 % fewer"
#before = 17098340
#after = 9000000
#change = "-47 %"

# Intended findings of `assay doctor FILE`, each with its reason; they are shown
# as accepted.
#[[accept]]
#check = "unpaired-sizes"
#variants = ["four"]
#inputs = ["random"]
#because = "production has this size and no other"
"##;

const PROGRAM: &str = r##"/* Two ways to sum bytes, measured by assay.
 *
 *     assay run experiment.toml
 *
 * or alone, for a first look:
 *
 *     cc -std=c11 -O2 -I "$(assay harness c)" program.c -o program
 *     ./program --help
 */
#include <assay.h>

/* A variant goes from bytes to an answer. All variants must give the same
 * answer for the same bytes: assay checks that before it measures, and the
 * answer keeps the compiler from dropping the work. */
static uint64_t sum_loop(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += data[i];
    return sum;
}

static uint64_t sum_four(const uint8_t *data, size_t size)
{
    uint64_t sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        sum[0] += data[i];
        sum[1] += data[i + 1];
        sum[2] += data[i + 2];
        sum[3] += data[i + 3];
    }
    for (; i < size; i++)
        sum[0] += data[i];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* The names under which the experiment file knows them. */
ASSAY_VARIANT("loop", sum_loop)
ASSAY_VARIANT("four", sum_four)

ASSAY_MAIN()
"##;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::read::schema;
    use crate::experiment::{Experiment, ParsedExperiment};

    fn read(text: &str) -> ParsedExperiment {
        Experiment::from_toml(text, "new/experiment.toml").unwrap_or_else(|problems| {
            panic!("{}", problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())
        })
    }

    /// Whether a line is a key or table that is off.
    fn is_off(line: &str) -> bool {
        line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '['))
    }

    /// The file with keys switched on.
    fn switched_on(text: &str, which: impl Fn(&str) -> bool) -> String {
        let lines = text.lines().map(|line| if is_off(line) && which(line) { &line[1..] } else { line });
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn writes_an_experiment_that_is_read() {
        let experiment = read(&commented_experiment("sums")).experiment;
        assert_eq!(experiment.name, "sums");
        assert_eq!(experiment.program.sources, [PROGRAM_FILE]);
        let names: Vec<_> = experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["loop", "four"]);
    }

    #[test]
    fn in_cpp_it_is_the_same_experiment_of_the_same_variants() {
        let [(_, text), (file, program)] = cpp_files("sums");
        let mut experiment = read(&text).experiment;
        assert_eq!(
            (&experiment.program.sources[..], &experiment.program.flags[..]),
            (&[file.into()][..], &["-std=c++20".into()][..])
        );
        for variant in &experiment.variants {
            assert!(program.contains(&format!("ASSAY_VARIANT(\"{}\"", variant.name)), "{}", variant.name);
        }
        assert!(program.lines().all(|line| line.chars().count() <= 80));
        let in_c = read(&commented_experiment("sums")).experiment;
        experiment.program = in_c.program.clone();
        assert_eq!(experiment, in_c);
    }

    #[test]
    fn writes_an_experiment_that_is_read_with_every_key_switched_on() {
        let experiment = read(&switched_on(&commented_experiment("sums"), |_| true)).experiment;
        assert_eq!(experiment.inputs.len(), 12);
        assert_eq!(experiment.claims.len(), 3);
        assert_eq!(experiment.sweeps.len(), 1);
        assert_eq!(experiment.sweeps[0].grid().len(), 9);
        assert_eq!(experiment.accept.len(), 1);
    }

    #[test]
    fn shows_the_defaults_that_stand_without_it() {
        let text = commented_experiment("sums");
        // Up to the other generators every key that is off shows its default, but for these; so do flags and placement.
        let no_default = [
            "#prediction",
            "#description",
            "#production_units",
            "#path",
            "#generator",
            "#text",
            // Its default is the harness's, so the file says nothing of it.
            "#fresh_memory",
        ];
        let mut table = String::new();
        let mut on = String::new();
        for line in text.lines() {
            if is_off(line) && line.starts_with("#[") {
                table = line.to_owned();
            }
            let default = ["", "#[flags]", "#[placement]", "#[contrasts]"].contains(&table.as_str());
            let wanted = is_off(line) && default && !no_default.iter().any(|key| line.starts_with(key));
            on.push_str(if wanted { &line[1..] } else { line });
            on.push('\n');
        }
        assert!(on.contains("\nmax_rotations = 32\n") && on.contains("\nbudget = "));
        assert_eq!(read(&on).experiment, read(&text).experiment);
    }

    #[test]
    fn explains_every_key_of_the_schema() {
        let text = commented_experiment("sums");
        let on = switched_on(&text, |_| true);
        let has = |name: &str| {
            on.lines().any(|line| {
                let line = line.trim_start_matches(['#', ' ', '[']);
                line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '.', ']']))
            })
        };
        let mut tables = vec![schema::TOP, schema::PROGRAM, schema::VARIANT, schema::INPUT, schema::RECORDED];
        tables.extend([
            schema::COMMANDED,
            schema::GENERATED,
            schema::DRAWN,
            schema::FLAG_SET,
            schema::PLACEMENT,
            schema::CONTRASTS,
            schema::CLAIM,
            schema::SWEEP,
            schema::ACCEPT,
        ]);
        tables.extend(schema::GENERATORS.iter().map(|&(_, keys)| keys));
        for key in tables.into_iter().flatten() {
            assert!(has(key.name), "{} is not explained", key.name);
        }
        for (generator, _) in schema::GENERATORS {
            assert!(on.contains(&format!("generator = \"{generator}\"")), "{generator} is not shown");
        }
    }

    #[test]
    fn stays_within_80_columns() {
        for line in commented_experiment("sums").lines().chain(commented_program().lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn makes_any_name_one_that_the_file_may_have() {
        assert_eq!(read(&commented_experiment("my \"sums\" äö")).experiment.name, "my--sums----");
        assert_eq!(read(&commented_experiment("")).experiment.name, "experiment");
    }

    #[test]
    fn writes_a_program_that_registers_the_variants_of_the_experiment() {
        let program = commented_program();
        for variant in read(&commented_experiment("sums")).experiment.variants {
            assert_eq!(program.matches(&format!("ASSAY_VARIANT(\"{}\", ", variant.name)).count(), 1);
        }
        assert!(program.contains("#include <assay.h>") && program.ends_with("ASSAY_MAIN()\n"));
    }
}
