//! Run alone: a small table of one placement, for a first look.

use crate::clock::{Costs, median};
use crate::fields::digits;
use crate::inputs::{MappedInput, map_file};
use crate::options::HarnessOptions;
use crate::table::{VariantFigures, VariantRow};
use crate::variant::{RegisteredVariant, objection};
use crate::{beside, sample, system, table};
use std::process::ExitCode;

const BUILT_IN_BYTES: usize = 1_000_000;
const TARGET_NS: u64 = 200_000;
const ROUNDS: usize = 4096;
/// From this length on a sample of fresh states is not made longer at the cost of states that leave the first cache.
const FRESH_NS: u64 = 10_000;
const FRESH_CACHED: u64 = 32_768;

/// Reads the command line and prints what it asks for.
pub(crate) fn main(variants: &[RegisteredVariant]) -> ExitCode {
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_else(|| "benchmark".to_owned());
    match read_options(arguments).and_then(|options| serve(&program, &options, variants)) {
        Ok(agreed) => ExitCode::from(u8::from(!agreed)),
        Err(why) => {
            eprintln!("{program}: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether every variant that can run here was measured and all answers agree.
fn serve(program: &str, options: &HarnessOptions, variants: &[RegisteredVariant]) -> Result<bool, String> {
    if options.help {
        print!("{}", usage(program));
        return Ok(true);
    }
    objection(variants).map_or(Ok(()), Err)?;
    let chosen: Vec<(usize, &RegisteredVariant)> = variants
        .iter()
        .enumerate()
        .filter(|(_, variant)| options.pattern.as_ref().is_none_or(|pattern| matches(pattern, &variant.name)))
        .collect();
    if chosen.is_empty() {
        let pattern = options.pattern.as_deref().unwrap_or("*");
        return Err(format!("no variant matches \"{pattern}\"; see --list"));
    }
    if options.list {
        for (_, variant) in chosen {
            let reason =
                variant.unavailable.as_ref().map(|why| format!(" unavailable: {why}")).unwrap_or_default();
            println!("{} ({}){reason}", variant.name, variant.kind());
        }
        return Ok(true);
    }
    let mut input = load(options, variants.len())?;
    let rows = measure(&chosen, &mut input, options.seconds);
    let print = if options.json { table::json } else { table::text };
    print!("{}", print(&rows, options, &input));
    let reference = table::reference(&rows);
    Ok(rows.iter().filter(|row| row.variant.unavailable.is_none()).all(|row| {
        row.outcome.as_ref().is_ok_and(|figure| reference.is_some_and(|(_, answer)| answer == figure.answer))
    }))
}

fn usage(program: &str) -> String {
    format!(
        "{program}: a benchmark built with assay-harness

usage: {program} [--list] [--variant GLOB] [--input FILE]
       [--units N] [--seconds S] [--json]

  --list          list the variants and stop
  --variant GLOB  only the variants whose name matches; * and ? are wildcards
  --input FILE    input bytes of every variant
                  (default: {BUILT_IN_BYTES} built-in pseudo-random bytes)
  --units N       units of work in the input (default: one per byte)
  --seconds S     time to measure each variant (default: 0.5)
  --json          print JSON instead of a table

Run alone, the program measures only the placement that the linker chose.
`assay run` measures many placements and gives verdicts.
"
    )
}

fn read_options(mut arguments: impl Iterator<Item = String>) -> Result<HarnessOptions, String> {
    let mut options = HarnessOptions {
        input: None,
        pattern: None,
        units: None,
        seconds: 0.5,
        list: false,
        json: false,
        help: false,
    };
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value; see --help"));
        match &*option {
            "--help" | "-h" => options.help = true,
            "--list" => options.list = true,
            "--json" => options.json = true,
            "--variant" => options.pattern = Some(value()?),
            "--input" => options.input = Some(value()?),
            "--units" => {
                let text = value()?;
                let units = digits(&text).filter(|units| *units > 0);
                options.units =
                    Some(units.ok_or_else(|| format!("--units {text} is not a whole number of at least 1"))?);
            }
            "--seconds" => {
                let text = value()?;
                let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 3600.0);
                options.seconds = seconds
                    .ok_or_else(|| format!("--seconds {text} is not a number above 0 and at most 3600"))?;
            }
            _ => return Err(format!("unknown option \"{option}\"; see --help")),
        }
    }
    Ok(options)
}

/// `*` is any text, `?` any one character.
fn matches(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return name.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    match (first, name.chars().next()) {
        ('*', Some(skipped)) => matches(rest, name) || matches(pattern, &name[skipped.len_utf8()..]),
        ('*', None) => matches(rest, name),
        (_, None) => false,
        (expected, Some(found)) => {
            (expected == '?' || expected == found) && matches(rest, &name[found.len_utf8()..])
        }
    }
}

/// Bytes of splitmix64 from a fixed seed: those of assay.h, the same on every machine.
fn built_in() -> Vec<u8> {
    let mut seed = 42_u64;
    let byte = |_| {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 56) as u8
    };
    (0..BUILT_IN_BYTES).map(byte).collect()
}

/// The one input, whole in one window, followed by readable zero bytes like any.
fn load(options: &HarnessOptions, variants: usize) -> Result<MappedInput, String> {
    let data = match &options.input {
        Some(path) => map_file(path, None)?,
        None => {
            let mut bytes = built_in();
            bytes.resize(BUILT_IN_BYTES + system::PADDING_BYTES, 0);
            &Vec::leak(bytes)[..BUILT_IN_BYTES]
        }
    };
    let bytes = data.len() as u64;
    let units = options.units.unwrap_or(bytes);
    let mut input = MappedInput::new(0, data, units, variants);
    input.path.clone_from(&options.input);
    beside::enter(options.input.as_deref());
    assert!(input.add_window(0, bytes, units), "the whole input lies within itself");
    Ok(input)
}

/// The answer, and how many calls fill a sample: long against the clocks, short against what interrupts.
fn size(
    variant: &RegisteredVariant,
    index: usize,
    input: &mut MappedInput,
) -> Result<VariantFigures, String> {
    if let Some(why) = &variant.unavailable {
        return Err(format!("unavailable: {why}"));
    }
    let answer = sample::answers(variant, index, input)?.whole;
    let mut iterations = 1;
    let state_bytes = |input: &MappedInput| input.states[index].map(|costs| costs.state_bytes);
    while iterations < 1 << 30 {
        let wall_ns = sample::take(variant, index, input, &mut 0, iterations, &mut 0)?.region.wall_ns;
        let leaves_cache = (iterations + 1) * state_bytes(input).unwrap_or(0) > FRESH_CACHED / 2;
        if wall_ns >= TARGET_NS / 2 || (wall_ns >= FRESH_NS && leaves_cache) {
            break;
        }
        iterations *= 2;
    }
    let state_bytes = state_bytes(input);
    Ok(VariantFigures { answer, iterations, state_bytes, ..VariantFigures::default() })
}

/// One more sample of a variant.
fn add_sample(
    variant: &RegisteredVariant,
    index: usize,
    input: &mut MappedInput,
    costs: &Costs,
    mut figure: VariantFigures,
) -> Result<VariantFigures, String> {
    let region = sample::take(variant, index, input, &mut 0, figure.iterations, &mut 0)?.region;
    let ns = (region.wall_ns as f64 - costs.region_wall_ns) / figure.iterations as f64;
    let samples = if region.switches == 0 { &mut figure.samples_ns } else { &mut figure.interrupted_ns };
    samples.push(ns.max(0.0));
    Ok(figure)
}

/// Interleaves the variants, so that a change of the machine's speed meets all of them.
fn measure<'a>(
    chosen: &[(usize, &'a RegisteredVariant)],
    input: &mut MappedInput,
    seconds: f64,
) -> Vec<VariantRow<'a>> {
    let costs = sample::calibrate();
    let mut outcomes: Vec<_> = chosen.iter().map(|&(index, variant)| size(variant, index, input)).collect();
    let running = outcomes.iter().filter(|outcome| outcome.is_ok()).count() as f64;
    let started = system::wall_ns();
    for round in 0..ROUNDS {
        if round >= 5 && (system::wall_ns() - started) as f64 > seconds * 1e9 * running {
            break;
        }
        let take =
            |(outcome, &(index, variant)): (Result<VariantFigures, String>, &(usize, &RegisteredVariant))| {
                outcome.and_then(|figure| add_sample(variant, index, input, &costs, figure))
            };
        outcomes = outcomes.into_iter().zip(chosen).map(take).collect();
    }
    let finish = |outcome: Result<VariantFigures, String>| {
        let mut figure = outcome?;
        let disturbed = figure.samples_ns.is_empty();
        let samples = if disturbed { &mut figure.interrupted_ns } else { &mut figure.samples_ns };
        figure.ns_per_call = median(samples);
        Ok(figure)
    };
    let row = |(&(_, variant), outcome)| VariantRow { variant, outcome: finish(outcome) };
    chosen.iter().zip(outcomes).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{built_in, matches, read_options};

    fn options(line: &str) -> Result<crate::options::HarnessOptions, String> {
        read_options(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read_and_wrong_ones_named() {
        let read = options("--variant a* --units 12 --seconds 0.25 --json").expect("all are known");
        assert_eq!(
            (read.pattern.as_deref(), read.units, read.seconds, read.json),
            (Some("a*"), Some(12), 0.25, true)
        );
        for (line, named) in [
            ("--colour", "--colour"),
            ("--units", "--units"),
            ("--units 0", "--units 0"),
            ("--units -3", "--units -3"),
            ("--seconds nan", "--seconds nan"),
            ("--seconds 0", "--seconds 0"),
            ("file", "file"),
        ] {
            assert!(options(line).expect_err(line).contains(named), "{line}");
        }
    }

    #[test]
    fn wildcards_match_any_text_and_any_one_character() {
        for (pattern, name) in
            [("*", ""), ("*", "a"), ("a*c", "abbc"), ("a?c", "abc"), ("*b*", "abc"), ("a**", "a")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("a", ""), ("a?c", "ac"), ("a*c", "abcd"), ("?", ""), ("abc", "abd")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_built_in_bytes_are_those_of_the_published_generator() {
        // splitmix64 from state 42 (Vigna's reference code): 13679457532755275413, 2949826092126892291, ...
        assert_eq!(
            built_in()[..2],
            [(13679457532755275413_u64 >> 56) as u8, (2949826092126892291_u64 >> 56) as u8]
        );
    }
}
