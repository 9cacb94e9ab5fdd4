//! Samples: one timed region of consecutive calls each.

use crate::clock::{Costs, Region, RegionStart};
use crate::inputs::{InputWindow, MappedInput};
use crate::listed;
use crate::state::LoopRun;
use crate::usage::RequestUsage;
use crate::variant::{Body, RegisteredVariant};

/// Why a loop gave no sample.
pub(crate) const UNFINISHED: &str =
    "the loop did not call State::next until it returned false, so nothing was timed";

/// One sample.
pub(crate) struct Sample {
    pub(crate) region: Region,
    pub(crate) units: u64,
}

/// The answers of a variant on an input.
pub(crate) struct CombinedAnswers {
    pub(crate) whole: u64,
    pub(crate) windows: u64,
}

/// Combines answers in order, so that another order is noticed. A rotation instead of the product would let the same
/// answer given 128 times cancel itself, whatever it is.
#[inline(always)]
pub(crate) fn combine(combined: u64, answer: u64) -> u64 {
    combined.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(answer)
}

/// Calls on consecutive windows from `*at`, wrapping. Out of line and through a function pointer, so that a variant is
/// one piece of code whoever calls it.
#[inline(never)]
fn time_calls(
    call: fn(&[u8]) -> u64,
    windows: &[InputWindow],
    at: &mut usize,
    iterations: u64,
    combined: &mut u64,
) -> Region {
    let (mut next, mut answers) = (*at, *combined);
    let opened = RegionStart::now();
    for _ in 0..iterations {
        answers = combine(answers, call(windows[next].data));
        next += 1;
        if next == windows.len() {
            next = 0;
        }
    }
    let region = opened.close();
    (*at, *combined) = (next, answers);
    region
}

/// Calls on a prepared state.
#[inline(never)]
pub(crate) fn time_prepared<S>(run: fn(&S) -> u64, state: &S, iterations: u64, combined: &mut u64) -> Region {
    let mut answers = *combined;
    let opened = RegionStart::now();
    for _ in 0..iterations {
        answers = combine(answers, run(state));
    }
    let region = opened.close();
    *combined = answers;
    region
}

/// One timed run of a loop: its answer and region.
fn timed(
    run_loop: &dyn Fn(&mut LoopRun, &[u8]),
    iterations: u64,
    data: &[u8],
) -> Result<(u64, Region), &'static str> {
    let mut run = LoopRun::new(iterations);
    run_loop(&mut run, data);
    run.region().map(|region| (run.answer, region)).ok_or(UNFINISHED)
}

/// One sample of variant `index`. `at` and `combined` go on from one sample to the next.
pub(crate) fn take(
    variant: &RegisteredVariant,
    index: usize,
    input: &mut MappedInput,
    at: &mut usize,
    iterations: u64,
    combined: &mut u64,
) -> Result<Sample, String> {
    let whole_units = iterations.wrapping_mul(input.units);
    match &variant.body {
        Body::Call(call) => {
            let from = *at;
            let region = time_calls(*call, &input.windows, at, iterations, combined);
            let windows = input.windows.iter().cycle().skip(from);
            let units =
                (0..iterations).zip(windows).fold(0u64, |sum, (_, window)| sum.wrapping_add(window.units));
            Ok(Sample { region, units })
        }
        Body::Prepared { prepare, time, .. } => {
            let state = input.prepared(index, prepare);
            Ok(Sample { region: time(state, iterations, combined), units: whole_units })
        }
        Body::Fresh(_) => {
            listed::take(variant, index, input, &RequestUsage::plain(), at, iterations, combined)
        }
        Body::Loop { run, .. } => {
            let (answer, region) = timed(run, iterations, input.data)?;
            *combined = combine(*combined, answer);
            Ok(Sample { region, units: whole_units })
        }
    }
}

/// The answers without timing: a prepared or looped variant knows no windows and repeats the whole.
pub(crate) fn answers(
    variant: &RegisteredVariant,
    index: usize,
    input: &mut MappedInput,
) -> Result<CombinedAnswers, String> {
    let whole = match &variant.body {
        Body::Call(call) => {
            let whole = call(input.data);
            let windows =
                input.windows.iter().fold(0, |combined, window| combine(combined, call(window.data)));
            return Ok(CombinedAnswers { whole, windows });
        }
        Body::Fresh(calls) => {
            let windows =
                input.windows.iter().fold(0, |combined, window| combine(combined, calls.answer(window.data)));
            return Ok(CombinedAnswers { whole: calls.answer(input.data), windows });
        }
        Body::Prepared { prepare, time, .. } => {
            let state = input.prepared(index, prepare);
            let mut whole = 0; // combining with 0 leaves an answer as it is
            time(state, 1, &mut whole);
            whole
        }
        Body::Loop { run, .. } => timed(run, 1, input.data)?.0,
    };
    Ok(CombinedAnswers { whole, windows: whole })
}

/// What the clocks cost, with the very function that takes samples.
pub(crate) fn calibrate() -> Costs {
    Costs::calibrate(|| time_calls(|_| 0, &[], &mut 0, 0, &mut 0))
}
