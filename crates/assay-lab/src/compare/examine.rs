//! The code that each benchmark executes: once per benchmark and side under the emulator, kept in the ledger.

use super::bench::SidePlayer;
use super::code::{self, BinaryPair, CodeFindings, KnownSource};
use super::executed::{CountedSides, Executed, ExecutedSides, executed, more};
use super::places::Binaries;
use super::select::{counted, traced};
use super::sources::changed_definitions;
use crate::store::Ledger;
use anyhow::Result;
use assay_link::adopt::bench::{Adapter, BenchCommand};
use assay_pure::event::Event;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What in Google Benchmark reads a number of iterations, where the library is linked in; of a shared one it is not known.
const READS_LONG: &str = "ParseBenchMinTime";

/// Share of the budget that looking at code may take; what is left then stays unknown.
const SHARE: f64 = 0.5;

/// What is examined.
pub struct ExamineAsked<'a> {
    /// Both sides.
    pub players: &'a [SidePlayer],
    /// Their binaries, or why they cannot be compared.
    pub pairs: &'a Result<Vec<BinaryPair>, String>,
    /// The commits of both sides.
    pub commits: Option<[&'a str; 2]>,
    /// What reads the figures.
    pub adapter: &'a Adapter,
    /// The benchmarks.
    pub names: &'a [String],
    /// Seconds of measuring.
    pub budget: f64,
    /// A folder for what is found out on the way.
    pub scratch: &'a Path,
}

/// Executes every benchmark on both sides under the emulator, and compares the functions that it executes.
///
/// # Errors
/// The ledger cannot be written.
pub fn examine(
    ledger: &Ledger,
    comparison: i64,
    asked: &ExamineAsked<'_>,
    on: &mut dyn FnMut(Event),
) -> Result<()> {
    let &ExamineAsked { players, pairs, adapter, names, .. } = asked;
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
    let sources = KnownSource::new(|| {
        let folders = [&*players.first()?.bench.folder, &*players.get(1)?.bench.folder];
        changed_definitions(asked.commits?, folders).ok().flatten()
    });
    let is_whole = matches!(adapter, Adapter::Wall | Adapter::Cpu);
    let is_asked_for = |name: &&String| counted(&players[0].bench, name).is_some();
    if !is_whole && !names.first().is_none_or(is_asked_for) {
        let why = format!(
            "{adapter} cannot run one benchmark alone here, so the code that each benchmark executes is unknown"
        );
        return names.iter().try_for_each(|name| keep(name, &unknown(&why)));
    }
    let total = names.len() as u64;
    let mut others = ExecutedOthers::new();
    let (begun, patience) = (Instant::now(), Duration::from_secs_f64(asked.budget * SHARE));
    for (name, done) in names.into_iter().zip(1..) {
        if assay_linux::interrupt::asked() {
            return Ok(());
        }
        if begun.elapsed() > patience {
            keep(
                name,
                &unknown(
                    "examining the benchmarks before it used up the time that --budget reserves for that",
                ),
            )?;
            continue;
        }
        let sides = executed_sides(asked, pairs, (!is_whole).then_some(name), &mut others);
        let found = match sides {
            Ok(sides) => code::found(pairs, &sides, &sources),
            Err(why) => unknown(&why),
        };
        keep(name, &found)?;
        on(Event::Counted { done, total });
    }
    Ok(())
}

/// What commands executed, by side: one that stands for several benchmarks is executed once.
type ExecutedOthers = BTreeMap<(usize, String), Executed>;

/// What both sides execute: a benchmark that can be asked for by name, a second time in another number of iterations where they can
/// be counted.
fn executed_sides(
    asked: &ExamineAsked<'_>,
    pairs: &[BinaryPair],
    name: Option<&String>,
    others: &mut ExecutedOthers,
) -> Result<ExecutedSides, String> {
    let of = |side: usize, command: &BenchCommand| {
        let images = pairs.iter().map(|pair| (pair.paths[side].as_slice(), pair.image(side)));
        executed(&traced(command, asked.scratch), &images.collect::<Vec<_>>())
    };
    let benches = [&asked.players[0].bench, &asked.players[1].bench];
    let Some(name) = name else {
        return Ok(ExecutedSides {
            all: [of(0, benches[0])?, of(1, benches[1])?],
            counted: CountedSides::Run,
        });
    };
    let alone = |side: usize| counted(benches[side], name).ok_or("it cannot be run alone");
    let alone = [alone(0)?, alone(1)?];
    let all = [of(0, &alone[0].whole)?, of(1, &alone[1].whole)?];
    let knows_numbers =
        *asked.adapter != Adapter::GoogleBenchmark || pairs.iter().any(|pair| pair.has_function(READS_LONG));
    let mut repeated = |side: usize| {
        let other = alone[side].other.as_ref().filter(|_| knows_numbers)?;
        // Google Benchmark and divan are asked by variables, and each benchmark in words of its own.
        let key = (side, format!("{} {:?}", other.command.command, other.command.environment));
        if !others.contains_key(&key) {
            others.insert(key.clone(), of(side, &other.command).ok()?);
        }
        let executed = &others[&key];
        if other.further > 0 { more(&all[side], executed) } else { more(executed, &all[side]) }
    };
    let counted = match (repeated(0), repeated(1), &alone[0].other) {
        (Some(old), Some(new), Some(other)) => CountedSides::Iterations {
            sides: [old, new],
            number: other.further.unsigned_abs(),
            alone: other.alone,
        },
        _ if *asked.adapter == Adapter::Libtest => CountedSides::Calls,
        _ => CountedSides::Run,
    };
    Ok(ExecutedSides { all, counted })
}

/// A binary of one side.
struct SideBinary {
    /// Where it lies below the side's folder.
    below: PathBuf,
    /// All places at which the build left it.
    paths: Vec<PathBuf>,
    /// The link as the build made it.
    file: PathBuf,
}

/// The binaries of both sides, paired by where they lie below their folders.
///
/// # Errors
/// One has no partner, cannot be read or has no symbols; a sentence.
pub fn pairs(players: &[SidePlayer]) -> Result<Vec<BinaryPair>, String> {
    let of = |side: usize| -> Vec<SideBinary> {
        let player = &players[side];
        let own = player.binaries.iter().flat_map(Binaries::own);
        own.map(|(paths, file)| {
            let below = paths[0].strip_prefix(&player.bench.folder).unwrap_or(&paths[0]).to_owned();
            SideBinary { below, paths, file: file.to_owned() }
        })
        .collect()
    };
    let (old, new) = (of(0), of(1));
    let mut pairs = Vec::new();
    for SideBinary { below, paths, file } in &old {
        let other = new.iter().find(|other| other.below == *below);
        let other = other.or_else(|| new.first().filter(|_| old.len() == 1 && new.len() == 1));
        let Some(other) = other else {
            return Err(format!("{} was linked on one side only", below.display()));
        };
        pairs.push(BinaryPair::new([paths.clone(), other.paths.clone()], [file, &other.file])?);
    }
    if let Some(alone) = new.iter().find(|alone| pairs.iter().all(|pair| pair.paths[1] != alone.paths)) {
        return Err(format!("{} was linked on one side only", alone.below.display()));
    }
    Ok(pairs)
}
