//! How often a fit is refused though a table made the data, and taken though none could have: the slow lane.
//!
//! Each rate is over seeds, with the predictors that the verb takes by default on x86-64. With none refused of 60, a rate
//! above 5 % is excluded at 95 %.

use super::{closeness, dice, of, recorded};
use crate::inputs::Generator;
use crate::inputs::fit::{BranchCondition, FitRefusal, MOST_CONTEXTS, Recorded, compare, fit, structure};

/// What the verb decodes with if nothing else is asked for.
const ALL: [&str; 4] = ["skylake", "golden-cove", "zen4", "tage-sc-l-64k"];

/// What is said of one stream.
struct Found {
    refusals: Vec<FitRefusal>,
    /// By how much the fitted mean is off, in the worst of all figures, as a share of what is allowed.
    off: f64,
}

fn found(recorded: &Recorded) -> Found {
    let refusals = structure(recorded);
    if !refusals.is_empty() {
        return Found { refusals, off: f64::NAN };
    }
    let closeness = closeness(recorded, &fit(recorded, MOST_CONTEXTS), &ALL);
    let figures = closeness.misses.iter().chain([&closeness.branches]);
    let off = figures.map(|figure| (figure.fitted - figure.real).abs() / figure.allowed).fold(0.0, f64::max);
    Found { refusals: closeness.refusals(), off }
}

/// What is said of each seed's stream.
fn all(seeds: u64, make: impl Fn(u64) -> Recorded) -> Vec<Found> {
    (1..=seeds).map(|seed| found(&make(seed))).collect()
}

/// Prints a rate, and up to two of the reasons.
fn print(name: &str, found: &[Found]) -> usize {
    let refused: Vec<_> = found.iter().filter(|found| !found.refusals.is_empty()).collect();
    println!("{name}: {} of {} refused", refused.len(), found.len());
    for found in refused.iter().take(2) {
        println!("    {}", found.refusals[0]);
    }
    refused.len()
}

#[test]
#[ignore = "slow: ten minutes of simulated predictors; `make calibrate`"]
fn what_a_table_made_is_refused_at_most_one_time_in_twenty() {
    let bursts = |mean_length| Generator::Bursts { weights: vec![80.0, 18.0, 2.0], mean_length };
    // A table of its own, from posting lists with runs: deeper than any other generator.
    let deep = {
        let mut draw = dice(3);
        let runs = (0..40_000).flat_map(|_| {
            let ones = if draw(2) == 0 { 4 } else { 20 };
            [vec![1; ones], vec![2; 1 + draw(3) as usize]].concat()
        });
        Generator::Markov(fit(&of(runs.take(200_000).collect()), 512).markov)
    };
    for (generator, units, seeds) in [
        (Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }, 20_000, 60),
        (Generator::Lengths { weights: vec![50.0, 25.0, 12.5, 6.25, 6.25] }, 50_000, 60),
        (Generator::LogUniform { min_bits: 0, max_bits: 32 }, 50_000, 60),
        (Generator::UniformLength { min: 1, max: 5 }, 50_000, 60),
        (Generator::UniformValue { min: 0, max: u64::from(u32::MAX) }, 100_000, 60),
        (Generator::UniformValue { min: 0, max: u64::from(u32::MAX) }, 500_000, 20),
        (bursts(8.0), 400_000, 20),
        (bursts(32.0), 500_000, 20),
        (deep, 100_000, 60),
    ] {
        let name: String = format!("{generator:?}").chars().take(60).collect();
        let found = all(seeds, |seed| recorded(&generator, units, seed));
        let refused = print(&format!("{name}, {units} units"), &found);
        assert!(20 * refused <= seeds as usize, "{name}");
    }
}

/// Shares of one, two and three bytes out of ten, as what they are below.
const LOW: [u32; 3] = [8, 9, 10];
const HIGH: [u32; 3] = [3, 6, 10];

fn drawn(below: [u32; 3], draw: &mut impl FnMut(u32) -> u32) -> u8 {
    let die = draw(10);
    1 + below.iter().position(|&below| die < below).expect("the last is 10") as u8
}

/// A stretch of random lengths again and again, one length in so many replaced.
fn period(units: usize, period: usize, one_in: u32, seed: u32) -> Vec<u8> {
    let mut draw = dice(seed);
    let stretch: Vec<u8> = (0..period).map(|_| 1 + draw(3) as u8).collect();
    (0..units).map(|at| if draw(one_in) == 0 { 1 + draw(3) as u8 } else { stretch[at % period] }).collect()
}

/// Two kinds in turn, each for half to one and a half times `mean` units.
fn in_turn(units: usize, mean: u32, seed: u32) -> Vec<u8> {
    let mut draw = dice(seed);
    let mut lengths = Vec::with_capacity(units);
    for kind in [LOW, HIGH].into_iter().cycle() {
        let stretch = mean / 2 + draw(mean);
        lengths.extend((0..stretch).map(|_| drawn(kind, &mut draw)));
        if lengths.len() >= units {
            break;
        }
    }
    lengths.truncate(units);
    lengths
}

/// Each length is that of 40 units before, but for one in ten.
fn echo(units: usize, seed: u32) -> Vec<u8> {
    let mut draw = dice(seed);
    let mut lengths: Vec<u8> = Vec::with_capacity(units);
    for at in 0..units {
        let anew = at < 40 || draw(10) == 0;
        lengths.push(if anew { 1 + draw(3) as u8 } else { lengths[at - 40] });
    }
    lengths
}

/// Messages of 5 to 60 lengths, drawn from a book of 200.
fn messages(units: usize, seed: u32) -> Vec<u8> {
    let mut draw = dice(seed);
    let mut message = || -> Vec<u8> { (0..5 + draw(56)).map(|_| 1 + draw(3) as u8).collect() };
    let book: Vec<Vec<u8>> = (0..200).map(|_| message()).collect();
    let mut lengths = Vec::with_capacity(units);
    while lengths.len() < units {
        lengths.extend(&book[draw(200) as usize]);
    }
    lengths.truncate(units);
    lengths
}

/// Records of 96 fields, of which about half have one length each.
fn records(units: usize, seed: u32) -> Vec<u8> {
    let mut draw = dice(seed);
    let kinds: Vec<u32> = (0..96).map(|_| draw(4)).collect();
    let field = |at: usize| match kinds[at % 96] {
        kind @ 0..=1 => 1 + kind as u8,
        _ => 1 + draw(2) as u8,
    };
    (0..units).map(field).collect()
}

/// The share of one byte goes from 20 to 80 %.
fn drift(units: usize, seed: u32) -> Vec<u8> {
    let mut draw = dice(seed);
    (0..units).map(|at| if draw(100) < 20 + (60 * at / units) as u32 { 1 } else { 2 }).collect()
}

/// Lengths from a seed.
type Planted<'a> = &'a dyn Fn(u32) -> Vec<u8>;

#[test]
#[ignore = "slow: ten minutes of simulated predictors; `make calibrate`"]
fn what_no_table_makes_is_taken_at_most_one_time_in_twenty() {
    let units = 100_000;
    let planted: [(&str, Planted); 9] = [
        ("period 400, noise 1 in 200", &|seed| period(units, 400, 200, seed)),
        ("period 2000, noise 1 in 100", &|seed| period(units, 2000, 100, seed)),
        ("period 1000, noise 1 in 20", &|seed| period(units, 1000, 20, seed)),
        ("each as 40 before, noise 1 in 10", &|seed| echo(units, seed)),
        ("messages from a book", &|seed| messages(units, seed)),
        ("records of 96 fields", &|seed| records(units, seed)),
        ("two kinds in turn, 10,000 units each", &|seed| in_turn(units, 10_000, seed)),
        ("two kinds, half and half", &|seed| {
            [in_turn(units / 2, 1_000_000, seed), drift(units / 2, seed)].concat()
        }),
        ("a drift from 20 to 80 %", &|seed| drift(units, seed)),
    ];
    for (name, make) in planted {
        let found = all(20, |seed| of(make(seed as u32)));
        let refused = print(name, &found);
        assert!(found.len() - refused <= 1, "{name}");
        // A table has 0.75 to 0.92 bits per unit of the records where knowing the field leaves 0.43 to 0.57, so it does not
        // hold them; but predictors hardly know the field either: of one draw in twenty all four miss at most 4.1 % less
        // than of the fit. That is within the margin, so it is close; and what is taken must be so by every figure.
        for taken in found.iter().filter(|found| found.refusals.is_empty()) {
            println!("    taken: off by {:.2} of what is allowed", taken.off);
            assert!(taken.off <= 1.0, "{name}");
        }
    }
}

#[test]
#[ignore = "slow: a minute of simulated predictors; `make calibrate`"]
fn tables_that_are_off_by_more_than_the_margin_are_told() {
    // The share of longer values is 20 %, and 10 or 7 % more or fewer in what a fit would make: so are the mispredictions.
    let of_share = |share: f64| Generator::Lengths { weights: vec![100.0 - share, share] };
    for (off, expected) in [(22.0, 0), (18.0, 0), (21.4, 0), (18.6, 0), (20.6, 10), (19.4, 10)] {
        let taken = (1..=10)
            .filter(|&seed| {
                let real = recorded(&of_share(20.0), 100_000, seed).lengths;
                let made = |at| Recorded::lengths_of(&of_share(off).generate(100_000, 1000 * seed + at));
                let found =
                    compare(BranchCondition::Length, &real, made, &ALL, 0.05).expect("known predictors");
                found.refusals().is_empty()
            })
            .count();
        println!("{off} % instead of 20 %: {taken} of 10 taken");
        assert_eq!(taken, expected, "{off}");
    }
}
