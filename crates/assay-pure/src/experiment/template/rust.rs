//! What `assay new --rust` writes: a cargo package with an experiment of the keys that are used most.

use super::super::read::to_name;

/// The folder of the harness crate in the package.
pub const HARNESS_FOLDER: &str = "assay-harness";

/// The files of the package beside the harness crate, each with its path.
pub fn package(name: &str) -> [(&'static str, String); 3] {
    let named = if name.is_empty() { "experiment".into() } else { to_name(name) };
    // A crate's name begins with a letter and has no points or slashes.
    let letters = named.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
    let package = if letters.starts_with(|c: char| c.is_ascii_alphabetic()) {
        letters
    } else {
        format!("bench-{letters}")
    };
    [
        ("experiment.toml", EXPERIMENT.replace("NAME_HERE", &named)),
        (
            "Cargo.toml",
            MANIFEST
                .replace("NAME_HERE", package.trim_end_matches('-'))
                .replace("HARNESS_HERE", HARNESS_FOLDER),
        ),
        ("src/main.rs", PROGRAM.to_owned()),
    ]
}

const EXPERIMENT: &str = r##"# An experiment for assay. `assay plan` shows what it would measure and how long
# that takes, `assay run` measures it. Lines like `#budget = "60 s"` are keys
# that are off. `assay new FOLDER` writes an experiment with every key.

# The question, answered on the first line of the report.
question = "Is a sum with four accumulators faster than a plain loop?"
name = "NAME_HERE"
# What every figure is divided by: a call, a byte, a key.
unit = "byte"
# The variant that all others are compared with, and all of them, as main.rs
# names them.
baseline = "loop"
variants = ["loop", "four"]

# Differences smaller than this do not matter.
#minimum_effect = "1 %"
# Time for measuring, without compiling.
#budget = "60 s"
# Toolchains of rustup; the default is the one that cargo takes here.
#compilers = ["stable", "nightly"]

# The package. Only its last link is made again for each placement.
[program]
cargo = "Cargo.toml"
#features = []
#profile = "release"

# Sets of flags for rustc, each measured by itself.
#[flags]
#plain = []
#native = ["-C target-cpu=native"]
#lto = ["-C lto=fat", "-C codegen-units=1"]

# The inputs: made by seeded generators, or recorded with path = "FILE".
[inputs.random]
generator = "uniform_value"
max = "0xffff_ffff_ffff_ffff"
#units = 1_000_000
format = "bytes"
"##;

const MANIFEST: &str = r##"[package]
name = "NAME_HERE"
version = "0.1.0"
edition = "2021"
publish = false

[dependencies]
# What `assay run` speaks to. `assay harness rust FOLDER` writes a newer one.
assay-harness = { path = "HARNESS_HERE" }

# With a number of units that is set, branches are counted at native speed.
[profile.release]
codegen-units = 1

# A package of its own, also below another one's folder.
[workspace]
"##;

const PROGRAM: &str = r##"//! Two ways to sum bytes, measured by assay:
//!
//!     assay run experiment.toml
//!
//! or alone, for a first look: cargo run --release -- --help

use assay_harness::Bench;
use std::process::ExitCode;

/// A variant goes from bytes to an answer. All variants must give the same
/// answer: assay compares them before it measures.
fn sum_loop(data: &[u8]) -> u64 {
    let mut sum = 0;
    for &byte in data {
        sum += u64::from(byte);
    }
    sum
}

fn sum_four(data: &[u8]) -> u64 {
    let mut sums = [0; 4];
    let mut chunks = data.chunks_exact(4);
    for chunk in &mut chunks {
        for (sum, &byte) in sums.iter_mut().zip(chunk) {
            *sum += u64::from(byte);
        }
    }
    sums.iter().sum::<u64>() + sum_loop(chunks.remainder())
}

fn main() -> ExitCode {
    // The names under which the experiment file knows them.
    Bench::new().variant("loop", sum_loop).variant("four", sum_four).main()
}
"##;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::spec::{CargoTarget, OwnBuild};

    #[test]
    fn a_rust_package_is_read_also_with_every_key_switched_on() {
        let [(_, text), (_, manifest), (_, program)] = package("my sums");
        let on: String = text
            .lines()
            .map(|line| {
                line.strip_prefix('#')
                    .filter(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '['))
                    .unwrap_or(line)
            })
            .map(|line| format!("{line}\n"))
            .collect();
        for text in [&text, &on] {
            let experiment =
                Experiment::from_toml(text, "x/experiment.toml").expect("a good file").experiment;
            assert_eq!(experiment.name, "my-sums");
            assert!(matches!(
                experiment.program.build,
                Some(OwnBuild::Cargo { target: CargoTarget::OnlyBin, ref profile, .. }) if profile == "release"
            ));
            for variant in &experiment.variants {
                assert!(program.contains(&format!("variant(\"{}\"", variant.name)), "{}", variant.name);
            }
        }
        assert!(manifest.contains("name = \"my-sums\""), "{manifest}");
        let read = |name| package(name)[1].1.clone();
        assert!(read("7/up").contains("name = \"bench-7-up\"") && read("").contains("name = \"experiment\""));
    }

    #[test]
    fn stays_within_80_columns() {
        for (_, text) in package("sums") {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}
