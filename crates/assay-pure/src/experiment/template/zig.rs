//! What `assay new --zig` writes: one file in Zig with an experiment of the keys that are used most.

use super::super::read::to_name;

/// The files, each with its path.
pub fn files(name: &str) -> [(&'static str, String); 2] {
    let named = if name.is_empty() { "experiment".into() } else { to_name(name) };
    [("experiment.toml", EXPERIMENT.replace("NAME_HERE", &named)), ("bench.zig", PROGRAM.to_owned())]
}

const EXPERIMENT: &str = r##"# An experiment for assay. `assay plan` shows what it would measure and how long
# that takes, `assay run` measures it. Lines like `#budget = "60 s"` are keys
# that are off. `assay new FOLDER` writes an experiment with every key.

# The question, answered on the first line of the report.
question = "Is a sum with four accumulators faster than a plain loop?"
name = "NAME_HERE"
# What every figure is divided by: a call, a byte, a key.
unit = "byte"
# The variant that all others are compared with, and all of them, as bench.zig
# names them.
baseline = "loop"
variants = ["loop", "four"]

# Differences smaller than this do not matter.
#minimum_effect = "1 %"
# Time for measuring, without compiling.
#budget = "60 s"
# Which zig; the default is the one on PATH.
#compilers = ["zig"]

# Each file is compiled by `zig build-obj`; zig's linker is called for each
# placement. A program of a build.zig: zig = "build.zig", bin = "NAME".
[program]
zig = ["bench.zig"]

# Sets of flags for zig, each measured by itself. Default: -OReleaseFast for
# this machine's processor.
#[flags]
#fast = ["-OReleaseFast"]
#safe = ["-OReleaseSafe"]
#small = ["-OReleaseSmall"]
#any_cpu = ["-OReleaseFast", "-mcpu=baseline"]

# The inputs: made by seeded generators, or recorded with path = "FILE".
[inputs.random]
generator = "uniform_value"
max = "0xffff_ffff_ffff_ffff"
#units = 1_000_000
format = "bytes"
"##;

const PROGRAM: &str = r##"//! Two ways to sum bytes, measured by assay:
//!
//!     assay run experiment.toml

const assay = @import("assay"); // `assay run` provides it

/// A variant goes from bytes to an answer. All variants must give the same
/// answer: assay compares them before it measures.
fn sumLoop(data: []const u8) u64 {
    var sum: u64 = 0;
    for (data) |byte| sum += byte;
    return sum;
}

fn sumFour(data: []const u8) u64 {
    var sums = [4]u64{ 0, 0, 0, 0 };
    var at: usize = 0;
    while (at + 4 <= data.len) : (at += 4) {
        inline for (0..4) |lane| sums[lane] += data[at + lane];
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + sumLoop(data[at..]);
}

comptime {
    // The names under which the experiment file knows them.
    assay.variant("loop", sumLoop);
    assay.variant("four", sumFour);
}
"##;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::spec::OwnBuild;

    #[test]
    fn a_zig_experiment_is_read_also_with_every_key_switched_on() {
        let [(_, text), (file, program)] = files("my sums");
        let on: String = text
            .lines()
            .map(|line| {
                line.strip_prefix('#')
                    .filter(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '['))
                    .unwrap_or(line)
            })
            .map(|line| format!("{line}\n"))
            .collect();
        for (text, sets) in [(&text, 1), (&on, 4)] {
            let experiment =
                Experiment::from_toml(text, "x/experiment.toml").expect("a good file").experiment;
            assert_eq!((experiment.name.as_str(), experiment.flags.len()), ("my-sums", sets));
            assert_eq!(experiment.program.build, Some(OwnBuild::Zig { files: vec![file.into()] }));
            for variant in &experiment.variants {
                assert!(program.contains(&format!("variant(\"{}\"", variant.name)), "{}", variant.name);
            }
        }
    }

    #[test]
    fn stays_within_80_columns() {
        for (_, text) in files("sums") {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}
