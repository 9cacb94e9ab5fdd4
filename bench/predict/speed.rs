//! What does each predictor cost per branch, with the trace in memory and statistics per site on?
//!
//! Method: each stream is handed to a zoo of one member in pieces of some 0.2 ms, each timed on the wall clock; a repeat
//! starts with a fresh zoo, members take turns within it. A figure is the sum over the pieces of their medians over the
//! repeats, by branches, and in brackets that of the least: a piece that other work interrupted is an outlier among its
//! repeats. Branches are those of the whole stream, whether the member judges them or not.
//! Usage: predict_speed [steps|runs] [REPEATS [NAME...]]; NAME may be several with commas, which then walk together. With `steps`
//! the streams are handed over as an emulator does it: sites and outcomes apart, just written, executions not counted. With `runs`
//! the conditional branches are handed over as a log's reader does it, eight in a run, which has a number; to members that judge
//! these alone.

#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../../crates/assay-predict/tests/golden/mod.rs"]
mod golden;

use assay_predict::predict::{Floor, KeptSteps, RUN, Steps, Tally, Zoo, zoo};
use assay_predict::trace::{Branch, BranchClass};
use std::collections::HashMap;
use std::time::Instant;

const PIECE: usize = 1 << 15;

/// Branches that an emulator hands on at once.
const STEPS: usize = 1 << 13;

/// The same, of a reader of logs: events and runs.
const RUNS: usize = 1 << 13;

/// The target of a name, ns per branch; none for what nobody promised.
fn target(name: &str) -> Option<f64> {
    match name {
        "perceptron" => Some(13.0),
        "ittage" => Some(20.0),
        "last-target" => Some(20.0),
        "tage-sc-192k" => Some(160.0),
        _ if name.starts_with("tage-sc-l") => Some(60.0),
        _ if name.starts_with("tage") => Some(35.0),
        "always-taken" | "backward-taken" | "bimodal" | "two-level" | "tournament" => Some(4.0),
        _ if name.starts_with("gshare") => Some(4.0),
        _ => None,
    }
}

/// 64 sites of conditional branches, three of four of them fair coins, in random order, a call and a return among 16.
fn random_stream(length: usize) -> Vec<Branch> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let site = (state >> 40) as u32 & 63;
        let pc = 0x40_1000 + u64::from(site) * 23;
        match state >> 52 & 15 {
            0 => Branch::new(pc, 0x40_8000, 64 + site, BranchClass::CALL, true, 4),
            1 => Branch::new(pc, pc + 5, 128 + site, BranchClass::RETURN, true, 4),
            _ => {
                let taken = state & if site & 3 == 0 { 15 } else { 1 } != 0;
                Branch::new(pc, pc + 64, site, BranchClass::CONDITIONAL, taken, 4)
            }
        }
    };
    (0..length).map(next).collect()
}

/// One loop of two branches: a pattern of 8 and the loop's own.
fn loop_stream(length: usize) -> Vec<Branch> {
    let branch = |nth: usize| match nth % 2 {
        0 => {
            Branch::new(0x40_1010, 0x40_1018, 0, BranchClass::CONDITIONAL, 0xd3 >> (nth / 2 % 8) & 1 != 0, 5)
        }
        _ => Branch::new(0x40_1020, 0x40_1000, 1, BranchClass::CONDITIONAL, nth % 20_000 != 19_999, 3),
    };
    (0..length).map(branch).collect()
}

fn streams() -> Vec<(&'static str, Vec<Branch>)> {
    let gcc = golden::stream(golden::STREAMS[0]).1;
    let repeated = gcc.iter().cycle().take(3 * gcc.len()).copied().collect();
    vec![
        ("gcc x 3", repeated),
        ("synthetic", golden::stream("synthetic_2M").1),
        ("random", random_stream(1_000_000)),
        ("loop", loop_stream(1_000_000)),
    ]
}

/// The stream with sites that have one address and one static target each.
fn numbered(mut stream: Vec<Branch>) -> Vec<Branch> {
    let mut numbers = HashMap::new();
    for branch in &mut stream {
        let target = if branch.class().is_indirect() { 0 } else { branch.target };
        let next = numbers.len() as u32;
        branch.site = *numbers.entry((branch.pc, target)).or_insert(next);
    }
    stream
}

/// A stream as branches and as steps, in pieces of so many events or runs; as steps only where they are asked for.
struct Stream {
    name: &'static str,
    branches: Vec<Branch>,
    steps: Vec<KeptSteps>,
    piece: usize,
}

/// Who walks.
enum Walker {
    Zoo(Vec<String>),
    Steps(Vec<String>),
    Floor,
}

impl Walker {
    fn name(&self) -> String {
        match self {
            Walker::Zoo(names) if names.is_empty() => "(none: executions alone)".into(),
            Walker::Zoo(names) | Walker::Steps(names) => names.join(","),
            Walker::Floor => "(entropy floor)".into(),
        }
    }

    /// Nanoseconds of each piece, and mispredictions of the first member.
    fn walk(&self, stream: &Stream) -> (Vec<f64>, Option<u64>) {
        let Stream { branches: stream, steps, piece, .. } = stream;
        match self {
            Walker::Steps(names) => {
                let mut zoo = Zoo::new(names).expect("checked at the start");
                let mut tally = Tally::new(names.len());
                let of_steps = |kept: &KeptSteps| timed_steps(kept.steps(), *piece, &mut zoo, &mut tally);
                let pieces = steps.iter().flat_map(of_steps).collect();
                (pieces, tally.missed().first().copied())
            }
            Walker::Zoo(names) => {
                let mut zoo = Zoo::new(names).expect("checked at the start");
                let mut tally = Tally::new(names.len());
                let pieces = timed(stream, |piece| zoo.observe(piece, &mut tally));
                (pieces, tally.missed().first().copied())
            }
            Walker::Floor => {
                let mut floor = Floor::default();
                let pieces = timed(stream, |piece| floor.observe(piece));
                (pieces, Some(floor.dropped().executed).filter(|dropped| *dropped > 0))
            }
        }
    }
}

fn timed(stream: &[Branch], mut walk: impl FnMut(&[Branch])) -> Vec<f64> {
    let piece = |piece| {
        let start = Instant::now();
        walk(piece);
        start.elapsed().as_nanos() as f64
    };
    stream.chunks(PIECE).map(piece).collect()
}

fn timed_steps(steps: Steps<'_>, piece: usize, zoo: &mut Zoo, tally: &mut Tally) -> Vec<f64> {
    let walk = |conditionals: &[u32]| {
        // Just written, as by a reader.
        let (conditionals, all) = (conditionals.to_vec(), steps.all.to_vec());
        let all = if zoo.sees_all() { &all[..] } else { &[] };
        let start = Instant::now();
        zoo.observe_steps(Steps { conditionals: &conditionals, all, ..steps }, tally);
        start.elapsed().as_nanos() as f64
    };
    steps.conditionals.chunks(piece).map(walk).collect()
}

/// Sum over the pieces of their medians over the repeats, and of the least.
fn typical_and_least(repeats: &[Vec<f64>]) -> (f64, f64) {
    let of_piece = |piece: usize| {
        let mut times: Vec<f64> = repeats.iter().map(|pieces| pieces[piece]).collect();
        times.sort_by(f64::total_cmp);
        (times[times.len() / 2], times[0])
    };
    let pieces = (0..repeats[0].len()).map(of_piece);
    pieces.fold((0.0, 0.0), |(typical, least), (median, first)| (typical + median, least + first))
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let form = arguments.next_if(|first| matches!(first.as_str(), "steps" | "runs"));
    let repeats: usize = arguments.next().map_or(9, |repeats| repeats.parse().expect("REPEATS is a number"));
    let mut asked: Vec<Vec<String>> =
        arguments.map(|names| names.split(',').map(str::to_owned).collect()).collect();
    for names in &asked {
        Zoo::new(names).unwrap_or_else(|unknown| panic!("{unknown}"));
    }
    if asked.is_empty() {
        asked = zoo::entries().map(|entry| vec![entry.name.to_owned()]).collect();
    }
    if form.as_deref() == Some("runs") {
        asked.retain(|names| !Zoo::new(names).expect("checked above").sees_all());
    }
    let mut walkers = Vec::new();
    if form.is_some() {
        walkers.extend(asked.into_iter().map(Walker::Steps));
    } else {
        walkers.extend([Walker::Zoo(Vec::new()), Walker::Floor]);
        walkers.extend(asked.into_iter().map(Walker::Zoo));
    }
    let stream = |(name, branches): (_, Vec<Branch>)| {
        let (piece, steps) = match form.as_deref() {
            None => (1, Vec::new()),
            Some("runs") => {
                let stream = numbered(branches.clone());
                (RUNS, vec![KeptSteps::of(&stream, &stream).in_runs(|_| RUN)])
            }
            Some(_) => {
                let stream = numbered(branches.clone());
                // All branches with the conditional ones of the same piece.
                (STEPS, stream.chunks(STEPS).map(|piece| KeptSteps::of(&stream, piece)).collect())
            }
        };
        Stream { name, branches, steps, piece }
    };
    let streams: Vec<Stream> = streams().into_iter().map(stream).collect();
    print!("| ns per branch |");
    streams.iter().for_each(|stream| print!(" {} |", stream.name));
    println!(" target | worst median |\n|---|{}---|---|", "---|".repeat(streams.len()));
    let mut times = vec![vec![Vec::new(); streams.len()]; walkers.len()];
    for _ in 0..repeats {
        for (at, stream) in streams.iter().enumerate() {
            for (walker, times) in walkers.iter().zip(&mut times) {
                times[at].push(walker.walk(stream).0);
            }
        }
    }
    for (walker, times) in walkers.iter().zip(&times) {
        let name = walker.name();
        let per_branch = |(times, stream): (&Vec<Vec<f64>>, &Stream)| {
            let (typical, least) = typical_and_least(times);
            (typical / stream.branches.len() as f64, least / stream.branches.len() as f64)
        };
        let figures: Vec<(f64, f64)> = times.iter().zip(&streams).map(per_branch).collect();
        let worst = figures.iter().map(|(typical, _)| *typical).fold(0.0, f64::max);
        print!("| {name} |");
        figures.iter().for_each(|(typical, least)| print!(" {typical:.2} ({least:.2}) |"));
        match target(&name) {
            Some(target) if worst <= target => println!(" {target} | within |"),
            Some(target) => println!(" {target} | {:.2} times |", worst / target),
            None => println!(" | |"),
        }
    }
}
