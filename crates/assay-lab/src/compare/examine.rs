//! The code that each benchmark executes: once per benchmark and side under the emulator, kept in the ledger.

use super::bench::SidePlayer;
use super::code::{self, BinaryPair, CodeFindings};
use super::executed::{Executed, ExecutedCommand, ExecutedSides, executed, more, only};
use super::places::Binaries;
use crate::store::Ledger;
use anyhow::Result;
use assay_link::adopt::bench::Adapter;
use assay_pure::event::Event;
use assay_trace::sites::source::SourceFiles;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// As short as can be: one iteration.
const SHORT: &str = "0.000000001";
/// A few iterations more, as Google Benchmark takes them since 1.8. Before, it would run as long as it likes.
const LONG: &str = "4x";
/// What reads that, where the library is linked in; of a shared one it is not known.
const READS_LONG: &str = "ParseBenchMinTime";

/// Share of the budget that looking at code may take; what is left then stays unknown.
const SHARE: f64 = 0.5;

/// Executes every benchmark once on both sides under the emulator, and compares the functions that it executes.
///
/// Input: `budget` seconds of measuring.
///
/// # Errors
/// The ledger cannot be written.
pub fn examine(
    ledger: &Ledger,
    comparison: i64,
    (players, pairs): (&[SidePlayer], &Result<Vec<BinaryPair>, String>),
    adapter: &Adapter,
    (names, budget): (&[String], f64),
    on: &mut dyn FnMut(Event),
) -> Result<()> {
    // Those that are proven to be the same, and those of a comparison that goes on.
    let known = ledger.comparison_code(comparison)?;
    let names: Vec<&String> =
        names.iter().filter(|name| known.iter().all(|(kept, _)| kept != *name)).collect();
    let unknown = |why: &str| CodeFindings { unknown: Some(why.to_owned()), ..CodeFindings::default() };
    let keep = |name: &str, found: &CodeFindings| {
        ledger.put_comparison_code(comparison, name, &serde_json::to_value(found)?)
    };
    let pairs = match pairs {
        Ok(pairs) => pairs,
        Err(why) => {
            on(Event::Warning(format!("machine code cannot be compared: {why}")));
            return names.iter().try_for_each(|name| keep(name, &unknown(why)));
        }
    };
    let sources = SourceFiles::default();
    let by_name = matches!(adapter, Adapter::GoogleBenchmark);
    if !by_name && !matches!(adapter, Adapter::Wall | Adapter::Cpu) {
        let why = format!(
            "{adapter} has no option to run a single benchmark, so the code that each one executes is unknown"
        );
        return names.iter().try_for_each(|name| keep(name, &unknown(&why)));
    }
    let counts_iterations = by_name && pairs.iter().any(|pair| pair.has_function(READS_LONG));
    let total = names.len() as u64;
    let (begun, patience) = (Instant::now(), Duration::from_secs_f64(budget * SHARE));
    for (name, done) in names.into_iter().zip(1..) {
        if assay_linux::interrupt::asked() {
            return Ok(());
        }
        if begun.elapsed() > patience {
            keep(
                name,
                &unknown(
                    "the code of the benchmarks before it took all the time that --budget gives to that",
                ),
            )?;
            continue;
        }
        let iterations = by_name.then_some((name.as_str(), counts_iterations));
        let sides = executed_sides(players, pairs, iterations);
        let found = match sides {
            Ok(sides) => code::found(pairs, &sides, &sources),
            Err(why) => unknown(&why),
        };
        keep(name, &found)?;
        on(Event::Counted { done, total });
    }
    Ok(())
}

/// What both sides execute. A benchmark that is asked for by name is executed as short as can be, and a second time for a few
/// iterations where they can be counted.
fn executed_sides(
    players: &[SidePlayer],
    pairs: &[BinaryPair],
    by_name: Option<(&str, bool)>,
) -> Result<ExecutedSides, String> {
    let once = |side: usize, time: &str| -> Result<Executed, String> {
        let bench = &players[side].bench;
        // As it is measured: cargo would build anew under another environment.
        let mut environment = bench.environment.clone();
        if let Some((name, _)) = by_name {
            let words = [("FILTER", only(name)), ("MIN_TIME", time.into()), ("REPETITIONS", "1".into())];
            environment.extend(words.map(|(word, value)| (format!("BENCHMARK_{word}"), value)));
        }
        let looked =
            ExecutedCommand { command: &bench.command, folder: &bench.folder, environment: &environment };
        let images = pairs.iter().map(|pair| (pair.paths[side].as_slice(), pair.image(side)));
        executed(&looked, &images.collect::<Vec<_>>())
    };
    let all = [once(0, SHORT)?, once(1, SHORT)?];
    let longer = |side: usize| more(&all[side], &once(side, LONG).ok()?);
    let repeated = match by_name {
        Some((_, true)) => longer(0).zip(longer(1)).map(|(old, new)| [old, new]),
        _ => None,
    };
    Ok(ExecutedSides { all, repeated })
}

/// The binaries of both sides, paired by where they lie below their folders.
///
/// # Errors
/// One has no partner, cannot be read or has no symbols; a sentence.
pub fn pairs(players: &[SidePlayer]) -> Result<Vec<BinaryPair>, String> {
    let of = |side: usize| -> Vec<(PathBuf, Vec<PathBuf>, PathBuf)> {
        let player = &players[side];
        let own = player.binaries.iter().flat_map(Binaries::own);
        own.map(|(paths, file)| {
            let below = paths[0].strip_prefix(&player.bench.folder).unwrap_or(&paths[0]).to_owned();
            (below, paths, file.to_owned())
        })
        .collect()
    };
    let (old, new) = (of(0), of(1));
    let mut pairs = Vec::new();
    for (below, paths, file) in &old {
        let other = new.iter().find(|(other, ..)| other == below);
        let other = other.or_else(|| new.first().filter(|_| old.len() == 1 && new.len() == 1));
        let Some((_, candidate, new_file)) = other else {
            return Err(format!("{} was linked on one side only", below.display()));
        };
        pairs.push(BinaryPair::new([paths.clone(), candidate.clone()], [file, new_file])?);
    }
    if let Some((alone, ..)) =
        new.iter().find(|(_, paths, _)| pairs.iter().all(|pair| pair.paths[1] != *paths))
    {
        return Err(format!("{} was linked on one side only", alone.display()));
    }
    Ok(pairs)
}
