//! Traced passes: the walks of `sample`, between marks that a tracer sees instead of between clocks.
//!
//! Without a tracer the marks do nothing. An empty pass shows the instructions that the marks themselves cost.

use crate::fresh;
use crate::inputs::{InputWindow, MappedInput};
use crate::sample::{UNFINISHED, combine};
use crate::state::{LoopRun, Pass};
use crate::system::{mark_begin, mark_end};
use crate::variant::{Body, RegisteredVariant};

/// Calls on consecutive windows from `at`, wrapping.
#[inline(never)]
fn calls(
    call: fn(&[u8]) -> u64,
    windows: &[InputWindow],
    at: usize,
    count: u64,
    combined: &mut u64,
    pass: Pass,
) {
    let (mut next, mut answers) = (at, *combined);
    mark_begin(pass.variant, pass.input, pass.pass);
    for _ in 0..count {
        answers = combine(answers, call(windows[next].data));
        next += 1;
        if next == windows.len() {
            next = 0;
        }
    }
    mark_end();
    *combined = answers;
}

/// Calls on a prepared state.
#[inline(never)]
pub(crate) fn prepared<S>(run: fn(&S) -> u64, state: &S, iterations: u64, combined: &mut u64, pass: Pass) {
    let mut answers = *combined;
    mark_begin(pass.variant, pass.input, pass.pass);
    for _ in 0..iterations {
        answers = combine(answers, run(state));
    }
    mark_end();
    *combined = answers;
}

/// One traced pass of a variant over `windows` windows from `at`; of a loop as many iterations, of a prepared state one call;
/// empty where `windows` is 0. Returns the units in it.
pub(crate) fn pass(
    variant: &RegisteredVariant,
    input: &mut MappedInput,
    at: usize,
    windows: u64,
    combined: &mut u64,
    pass: Pass,
) -> Result<u64, String> {
    if let Body::Fresh(calls) = &variant.body {
        return Ok(fresh::pass(calls, input, at, windows, combined, pass));
    }
    let whole = u64::from(windows != 0);
    match &variant.body {
        Body::Fresh(_) => unreachable!("served above"),
        Body::Call(call) => {
            calls(*call, &input.windows, at, windows, combined, pass);
            let walked = (0..windows).zip(input.windows.iter().cycle().skip(at));
            return Ok(walked.fold(0u64, |sum, (_, window)| sum.wrapping_add(window.units)));
        }
        Body::Prepared { prepare, trace, .. } => {
            let state = input.prepared(pass.variant as usize, prepare);
            trace(state, whole, combined, pass);
        }
        Body::Loop { .. } if windows == 0 => {
            mark_begin(pass.variant, pass.input, pass.pass);
            mark_end();
        }
        Body::Loop { run } => {
            let mut traced = LoopRun::traced(pass, windows);
            run(&mut traced, input.data);
            if !traced.is_traced() {
                return Err(UNFINISHED.to_owned());
            }
            *combined = combine(*combined, traced.answer);
            return Ok(windows.wrapping_mul(input.units));
        }
    }
    Ok(whole * input.units)
}
