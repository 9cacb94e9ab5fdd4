//! Runs programs with and without records of their branches, for `everywhere.py`.
//!
//! Usage: log_ways cells TURNS PREDICTORS EXPERIMENT COMPILER; log_ways program TURNS PREDICTORS BUILD PROGRAM WORDS...
//!
//! The program as built, one whose records nobody reads, one whose records are counted and one for each predictor (their names with
//! commas) that judges them take turns. A line of standard error for each turn has the conditional branches, and of each of these ways
//! the processor time of the program and the time until the last record was read, nanoseconds. Programs of cells are bound to the
//! first processor, the lab to the second.

mod cells;
mod observers;
mod programs;

use assay_linux::pin;
use std::process::ExitCode;

fn main() -> ExitCode {
    // In the build of a program this one is called by the names of linkers and assemblers.
    assay_link::adopt::capture::stand_in().unwrap_or_else(measure)
}

fn measure() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, turns, predictors, rest @ ..] = &words[..] else { panic!("WHAT TURNS PREDICTORS ...") };
    let turns: u64 = turns.parse().expect("a number of turns");
    let predictors: Vec<String> =
        predictors.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match (what.as_str(), rest) {
        ("cells", [experiment, compiler]) => {
            pin::keep_to(&[1]).expect("a second processor");
            cells::measure(experiment, compiler, turns, &predictors);
        }
        ("program", [build, command @ ..]) => programs::measure(build, command, turns, &predictors),
        _ => panic!(
            "cells TURNS PREDICTORS EXPERIMENT COMPILER, or program TURNS PREDICTORS BUILD PROGRAM WORDS..."
        ),
    }
    ExitCode::SUCCESS
}
