//! Samples of calls that are listed beforehand: other copies, cold data, cold code, calls that wait for each other. What is
//! measured hot never comes here.

use crate::clock::{Region, RegionStart};
use crate::cool::{self, CallPlace};
use crate::fresh;
use crate::inputs::MappedInput;
use crate::sample::{Sample, combine};
use crate::system;
use crate::usage::{CacheTemperature, RequestUsage};
use crate::variant::{Body, CallManner, RegisteredVariant};
use std::any::Any;

#[inline(never)]
fn nothing(_: &[u8]) -> u64 {
    0
}

#[inline(never)]
fn nothing_of_state<S>(_: &S) -> u64 {
    0
}

#[inline(never)]
fn time_calls(call: fn(&[u8]) -> u64, listed: &[&'static [u8]], combined: &mut u64) -> Region {
    let mut answers = *combined;
    let opened = RegionStart::now();
    for data in listed {
        answers = combine(answers, call(data));
    }
    let region = opened.close();
    *combined = answers;
    region
}

#[inline(never)]
fn time_chained(call: fn(&[u8]) -> u64, listed: &[&'static [u8]], zero: u64, combined: &mut u64) -> Region {
    let (mut answers, mut answer) = (*combined, 0);
    let opened = RegionStart::now();
    for data in listed {
        answer = call(system::waiting(data, answer & zero));
        answers = combine(answers, answer);
    }
    let region = opened.close();
    *combined = answers;
    region
}

#[inline(never)]
fn time_states<S>(run: fn(&S) -> u64, listed: &[&S], combined: &mut u64) -> Region {
    let mut answers = *combined;
    let opened = RegionStart::now();
    for state in listed {
        answers = combine(answers, run(state));
    }
    let region = opened.close();
    *combined = answers;
    region
}

#[inline(never)]
fn time_chained_states<S>(run: fn(&S) -> u64, listed: &[&S], zero: u64, combined: &mut u64) -> Region {
    let (mut answers, mut answer) = (*combined, 0);
    let opened = RegionStart::now();
    for state in listed {
        answer = run(system::waiting_for_state(state, answer & zero));
        answers = combine(answers, answer);
    }
    let region = opened.close();
    *combined = answers;
    region
}

fn of_calls(call: fn(&[u8]) -> u64, listed: &[&'static [u8]], how: CallManner, combined: &mut u64) -> Region {
    let call = if how.idle { nothing } else { call };
    if how.dependent {
        time_chained(call, listed, system::unknown_zero(), combined)
    } else {
        time_calls(call, listed, combined)
    }
}

/// Calls on prepared states, each of which `run`'s own `prepare` made.
pub(crate) fn of_states<S: 'static>(
    run: fn(&S) -> u64,
    listed: &[&dyn Any],
    how: CallManner,
    combined: &mut u64,
) -> Region {
    let own = |state: &&dyn Any| -> *const S {
        state.downcast_ref::<S>().expect("the state was made by this variant's prepare")
    };
    // SAFETY: pointers just made of references that outlive this function; through pointers, so that the list's lifetime
    // is this call's.
    let states: Vec<&S> = listed.iter().map(|state| unsafe { &*own(state) }).collect();
    let run = if how.idle { nothing_of_state } else { run };
    if how.dependent {
        time_chained_states(run, &states, system::unknown_zero(), combined)
    } else {
        time_states(run, &states, combined)
    }
}

/// The windows of one sample from `*at` on, as numbers.
fn windows(input: &MappedInput, usage: &RequestUsage, at: &mut usize, iterations: u64) -> Vec<usize> {
    let count = input.windows.len();
    let step = (usage.step % count as u64) as usize;
    let next = |_| std::mem::replace(at, (*at + step) % count);
    (0..iterations).map(next).collect()
}

/// One sample. `at` and `combined` go on from one sample to the next.
pub(crate) fn take(
    variant: &RegisteredVariant,
    index: usize,
    input: &mut MappedInput,
    usage: &RequestUsage,
    at: &mut usize,
    iterations: u64,
    combined: &mut u64,
) -> Result<Sample, String> {
    let how = CallManner { dependent: usage.dependent, idle: false };
    let idle = CallManner { idle: true, ..how };
    match &variant.body {
        Body::Call(call) => {
            let windows = windows(input, usage, at, iterations);
            let units = windows.iter().fold(0u64, |sum, &w| sum.wrapping_add(input.windows[w].units));
            let listed: Vec<&'static [u8]> = match usage.state {
                CacheTemperature::Rotating => {
                    windows.iter().map(|&window| input.copied_window(window)).collect()
                }
                _ => windows.iter().map(|&window| input.windows[window].data).collect(),
            };
            let mut warm = || _ = of_calls(*call, &listed, idle, &mut 0);
            match usage.state {
                CacheTemperature::ColdData => cool::data(&listed, usage.evict_bytes, &mut warm)?,
                CacheTemperature::ColdCode => {
                    let place = CallPlace {
                        entry: system::address(variant.entry),
                        around: Some(time_calls as *const u8),
                    };
                    cool::code(&listed, place, &mut warm)?;
                }
                CacheTemperature::Hot | CacheTemperature::Rotating => {}
            }
            Ok(Sample { region: of_calls(*call, &listed, how, combined), units })
        }
        Body::Prepared { prepare, time_listed, .. } => {
            let (units, bytes) = (iterations.wrapping_mul(input.units), input.data);
            if usage.state != CacheTemperature::Rotating {
                input.prepared(index, prepare);
            }
            let listed: Vec<&dyn Any> = match usage.state {
                CacheTemperature::Rotating => input.copied_states(iterations),
                _ => {
                    let state = input.prepared[index].as_deref().expect("made above");
                    (0..iterations).map(|_| state).collect()
                }
            };
            let mut warm = || _ = time_listed(&listed, idle, &mut 0);
            match usage.state {
                CacheTemperature::ColdData => cool::prepared_data(bytes, usage.evict_bytes, &mut warm)?,
                CacheTemperature::ColdCode => {
                    let place = CallPlace { entry: system::address(variant.entry), around: None };
                    cool::code(&[], place, &mut warm)?;
                }
                CacheTemperature::Hot | CacheTemperature::Rotating => {}
            }
            Ok(Sample { region: time_listed(&listed, how, combined), units })
        }
        Body::Fresh(calls) => {
            let windows = windows(input, usage, at, iterations);
            fresh::take(calls, variant, index, input, usage, &windows, combined)
        }
        Body::Loop { .. } => Err("a loop cannot be listed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{time_calls, time_chained, time_chained_states};
    use crate::sample::combine;

    /// Byte i is i, so an answer tells where its call began.
    static BYTES: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = i as u8;
            i += 1;
        }
        bytes
    };

    fn first(data: &[u8]) -> u64 {
        u64::from(data[0])
    }

    #[test]
    fn the_address_of_a_call_that_waits_is_made_of_the_last_answer() {
        let listed = [1, 20, 1, 20].map(|at| &BYTES[at..at + 4]);
        let combined = |answers: [u64; 4]| answers.into_iter().fold(0, combine);
        let mut check = 0;
        time_calls(first, &listed, &mut check);
        assert_eq!(check, combined([1, 20, 1, 20]));
        check = 0;
        time_chained(first, &listed, 0, &mut check);
        assert_eq!(check, combined([1, 20, 1, 20]));
        // With a "zero" of 1, the call after an odd answer is one byte further on.
        check = 0;
        time_chained(first, &listed, 1, &mut check);
        assert_eq!(check, combined([1, 21, 2, 20]));
    }

    #[test]
    fn so_is_that_of_a_state() {
        let states = [&BYTES[1], &BYTES[20], &BYTES[1], &BYTES[20]];
        let mut check = 0;
        time_chained_states(|state: &u8| u64::from(*state), &states, 1, &mut check);
        assert_eq!(check, [1, 21, 2, 20].into_iter().fold(0, combine));
    }
}
