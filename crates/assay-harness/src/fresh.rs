//! Variants whose calls change their state: each call gets one of its own, made ahead of the region and dropped behind it.
//!
//! All states of a sample exist at once, in a `Vec`, so the region holds nothing but calls. How much memory they take is
//! read from the kernel while they are made, whatever allocates them.

use crate::clock::{Region, RegionStart};
use crate::cool::{self, CallPlace};
use crate::inputs::MappedInput;
use crate::sample::{Sample, combine};
use crate::state::Pass;
use crate::system;
use crate::usage::{CacheTemperature, RequestUsage};
use crate::variant::{CallManner, RegisteredVariant};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of all fresh states that exist at once, unless the program or the lab says more.
static FRESH_BYTES: AtomicU64 = AtomicU64::new(67_108_864);
/// By how much the kernel's count of a program's own memory may be wrong.
const OWN_GRAIN: u64 = 262_144;
/// States that are tried to learn what one costs, together at most of so many bytes, for so long.
const TRIED: (usize, u64, u64) = (4096, 4_194_304, 5_000_000);
/// States of one stretch of a traced pass.
const TRACED_STATES: u64 = 65_536;
/// Added to the pass where it goes on after other marks.
const GOES_ON: u64 = 0x8000_0000;

type MakeStates = Box<dyn Fn() -> Box<dyn Any>>;

type MakeState = Box<dyn Fn(&mut dyn Any, &'static [u8])>;

type TimeStates = Box<dyn Fn(&mut dyn Any, CallManner, &mut u64) -> Region>;

type TraceStates = Box<dyn Fn(&mut dyn Any, &mut u64, Pass)>;

/// What a fresh variant does with its states, whose type only these functions know.
pub(crate) struct FreshCalls {
    /// No states yet.
    states: MakeStates,
    /// One more, of these bytes.
    make: MakeState,
    time: TimeStates,
    trace: TraceStates,
}

/// What the states of a variant take on one input.
#[derive(Clone, Copy)]
pub(crate) struct StateCosts {
    pub(crate) state_bytes: u64,
    /// The program's own memory before there was any state: what an allocator keeps of dropped ones counts as theirs.
    own_bytes: u64,
    /// What [`OTHERS`] was then.
    others: u64,
}

/// How often the program took memory that is not of fresh states: what it had before there were any is then another.
static OTHERS: AtomicU64 = AtomicU64::new(0);

/// The program's own memory but for what is held to empty caches.
fn unheld_bytes() -> u64 {
    system::own_bytes().saturating_sub(cool::held_bytes())
}

/// The program takes memory that is not of fresh states.
pub(crate) fn others_took_memory() {
    OTHERS.fetch_add(1, Ordering::Relaxed);
}

/// See [`crate::Bench::fresh_memory`].
pub(crate) fn set_memory(bytes: u64) {
    FRESH_BYTES.store(bytes, Ordering::Relaxed);
}

/// What states may take where the lab says nothing.
pub(crate) fn memory() -> u64 {
    FRESH_BYTES.load(Ordering::Relaxed)
}

#[inline(never)]
fn time_states<S>(run: fn(&mut S) -> u64, states: &mut [S], combined: &mut u64) -> Region {
    let mut answers = *combined;
    let opened = RegionStart::now();
    for state in states {
        answers = combine(answers, run(state));
    }
    let region = opened.close();
    *combined = answers;
    region
}

#[inline(never)]
fn time_chained<S>(run: fn(&mut S) -> u64, states: &mut [S], zero: u64, combined: &mut u64) -> Region {
    let (mut answers, mut answer) = (*combined, 0);
    let opened = RegionStart::now();
    for state in states {
        answer = run(system::waiting_for_fresh(state, answer & zero));
        answers = combine(answers, answer);
    }
    let region = opened.close();
    *combined = answers;
    region
}

#[inline(never)]
fn trace_states<S>(run: fn(&mut S) -> u64, states: &mut [S], combined: &mut u64, pass: Pass) {
    let mut answers = *combined;
    system::mark_begin(pass.variant, pass.input, pass.pass);
    for state in states {
        answers = combine(answers, run(state));
    }
    system::mark_end();
    *combined = answers;
}

#[inline(never)]
fn nothing<S>(_: &mut S) -> u64 {
    0
}

fn own<S: 'static>(states: &mut dyn Any) -> &mut Vec<S> {
    states.downcast_mut().expect("the states were made by this variant")
}

impl FreshCalls {
    pub(crate) fn new<S: 'static>(make: fn(&'static [u8]) -> S, run: fn(&mut S) -> u64) -> Self {
        Self {
            states: Box::new(|| Box::new(Vec::<S>::new())),
            make: Box::new(move |states, data| own::<S>(states).push(make(data))),
            time: Box::new(move |states, how, combined| {
                let (states, run) = (own::<S>(states), if how.idle { nothing } else { run });
                if how.dependent {
                    time_chained(run, states, system::unknown_zero(), combined)
                } else {
                    time_states(run, states, combined)
                }
            }),
            trace: Box::new(move |states, combined, pass| {
                trace_states(run, own::<S>(states), combined, pass);
            }),
        }
    }

    /// The answer of one call.
    pub(crate) fn answer(&self, data: &'static [u8]) -> u64 {
        let mut states = (self.states)();
        (self.make)(&mut *states, data);
        let mut answer = 0; // combining with 0 leaves an answer as it is
        (self.time)(&mut *states, CallManner { dependent: false, idle: false }, &mut answer);
        answer
    }

    /// Makes states of these bytes, or of as many as memory allows, and returns them and how many they are. How much they
    /// take is looked at when they may have come half of the way to the limit, so hardly ever.
    fn states_of<'a>(
        &self,
        windows: impl Iterator<Item = &'a &'static [u8]>,
        own_bytes: u64,
        most: u64,
    ) -> (Box<dyn Any>, u64) {
        let mut states = (self.states)();
        let (mut made, mut look) = (0_u64, 1_u64);
        for data in windows {
            (self.make)(&mut *states, data);
            made += 1;
            if made < look {
                continue;
            }
            let taken = system::own_bytes().saturating_sub(own_bytes);
            if taken > most {
                break;
            }
            // At most as many again before it is looked once more: those to come may be larger.
            look += (1 + (most - taken) / 2 / ((taken + OWN_GRAIN) / made).max(1)).min(made);
        }
        (states, made)
    }

    /// What one state costs: tries some, until together they take four megabytes: what an allocator had left of others
    /// is then little of it.
    fn costs(&self, input: &MappedInput) -> StateCosts {
        let (own_bytes, begun) = (system::own_bytes(), system::wall_ns());
        let taken = || system::own_bytes().saturating_sub(own_bytes);
        let mut states = (self.states)();
        let mut count = 0;
        for window in input.windows.iter().cycle().take(TRIED.0) {
            (self.make)(&mut *states, window.data);
            count += 1;
            let looks = u64::is_power_of_two(count) || count % 64 == 0;
            if (looks && taken() >= TRIED.1) || system::wall_ns() - begun >= TRIED.2 {
                break;
            }
        }
        let state_bytes = taken() / count.max(1);
        let others = OTHERS.load(Ordering::Relaxed);
        StateCosts { state_bytes, own_bytes: own_bytes.saturating_sub(cool::held_bytes()), others }
    }
}

/// What the request asks for and cannot have.
pub(crate) fn objection(usage: &RequestUsage, iterations: u64, windows: u64) -> Option<&'static str> {
    match usage.state {
        CacheTemperature::Rotating => Some(
            "every call of a fresh variant has a state of its own, so there are no copies to rotate over (states: hot, \
             cold_data, cold_code)",
        ),
        CacheTemperature::ColdData if iterations > windows => {
            Some("state=cold_data would visit a window twice in a sample, the second time warm")
        }
        _ => None,
    }
}

/// One sample. `windows` are those of its calls.
pub(crate) fn take(
    calls: &FreshCalls,
    variant: &RegisteredVariant,
    index: usize,
    input: &mut MappedInput,
    usage: &RequestUsage,
    windows: &[usize],
    combined: &mut u64,
) -> Result<Sample, String> {
    let mut costs = input.states[index].unwrap_or_else(|| calls.costs(input));
    let others = OTHERS.load(Ordering::Relaxed);
    if costs.others != others {
        costs = StateCosts { own_bytes: unheld_bytes(), others, ..costs };
    }
    input.states[index] = Some(costs);
    let listed: Vec<&'static [u8]> = windows.iter().map(|&window| input.windows[window].data).collect();
    let (mut states, made) =
        calls.states_of(listed.iter(), costs.own_bytes + cool::held_bytes(), usage.fresh_bytes);
    if made < windows.len() as u64 {
        return Err("the states of one sample take more memory than fresh states may (64 MiB, unless the experiment's \
                    fresh_memory or the program's Bench::fresh_memory says otherwise)"
            .to_owned());
    }
    let how = CallManner { dependent: usage.dependent, idle: false };
    let mut warm = || _ = (calls.time)(&mut *states, CallManner { idle: true, ..how }, &mut 0);
    match usage.state {
        CacheTemperature::ColdData => cool::everything(usage.evict_bytes, &mut warm)?,
        CacheTemperature::ColdCode => {
            let place = CallPlace { entry: system::address(variant.entry), around: None };
            cool::code(&[], place, &mut warm)?;
        }
        CacheTemperature::Hot | CacheTemperature::Rotating => {}
    }
    let units = windows.iter().fold(0u64, |sum, &window| sum.wrapping_add(input.windows[window].units));
    Ok(Sample { region: (calls.time)(&mut *states, how, combined), units })
}

/// One traced pass over `windows` windows from `at`: the states are made ahead of the marks, as many at a time as memory
/// allows. Returns the units in it.
pub(crate) fn pass(
    calls: &FreshCalls,
    input: &MappedInput,
    at: usize,
    windows: u64,
    combined: &mut u64,
    mut pass: Pass,
) -> u64 {
    let (mut done, mut units) = (0, 0_u64);
    let all = || input.windows.iter().cycle().skip(at);
    loop {
        let batch = (windows - done).min(TRACED_STATES);
        let count = input.windows.len() as u64;
        let next = || all().skip((done % count) as usize).take(batch as usize);
        // An emulator's memory grows meanwhile, so every batch begins anew.
        let (mut states, made) =
            calls.states_of(next().map(|window| &window.data), system::own_bytes(), memory());
        (calls.trace)(&mut *states, combined, pass);
        units = next().take(made as usize).fold(units, |sum, window| sum.wrapping_add(window.units));
        done += made;
        pass.pass |= GOES_ON;
        if done >= windows {
            return units;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FreshCalls, pass, time_chained};
    use crate::inputs::MappedInput;
    use crate::sample::combine;
    use crate::state::Pass;
    use std::cell::Cell;

    static BYTES: [u8; 64] = [7; 64];

    thread_local! {
        static MADE: Cell<u64> = const { Cell::new(0) };
        static DROPPED: Cell<u64> = const { Cell::new(0) };
    }

    struct Counted(u64);

    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
        }
    }

    fn make(data: &'static [u8]) -> Counted {
        MADE.set(MADE.get() + 1);
        Counted(data.len() as u64)
    }

    fn double(state: &mut Counted) -> u64 {
        state.0 *= 2;
        state.0
    }

    #[test]
    fn each_call_finds_its_state_as_it_was_made_and_all_are_dropped() {
        let calls = FreshCalls::new(make, double);
        assert_eq!([calls.answer(&BYTES), calls.answer(&BYTES)], [128, 128]);
        assert_eq!((MADE.get(), DROPPED.get()), (2, 2));
        let mut input = MappedInput::new(0, &BYTES, 3, 1);
        assert!(input.add_window(0, 4, 1) && input.add_window(4, 8, 2));
        let mut check = 0;
        let mark = Pass { variant: 0, input: 0, pass: 0 };
        assert_eq!(pass(&calls, &input, 1, 3, &mut check, mark), 5, "windows 1, 0, 1");
        assert_eq!(check, [16, 8, 16].into_iter().fold(0, combine));
        assert_eq!((MADE.get(), DROPPED.get()), (5, 5));
    }

    #[test]
    fn states_stop_being_made_where_memory_ends() {
        let calls = FreshCalls::new(|_| vec![1_u8; 1 << 20], |state| state.len() as u64);
        let windows = [&BYTES[..]; 64];
        let (_, all) = calls.states_of(windows.iter(), 0, u64::MAX / 2);
        let (_, some) = calls.states_of(windows.iter(), crate::system::own_bytes(), 8 << 20);
        assert_eq!(all, 64);
        assert!((4..20).contains(&some), "8 MiB of memory hold {some} states of 1 MiB");
        // The first says nothing of those to come.
        let growing = FreshCalls::new(
            |data| vec![1_u8; if data.len() == 1 { 1 } else { 1 << 20 }],
            |state| state.len() as u64,
        );
        let windows: Vec<&[u8]> = (0..64).map(|window| &BYTES[..if window == 0 { 1 } else { 2 }]).collect();
        let (_, some) = growing.states_of(windows.iter(), crate::system::own_bytes(), 8 << 20);
        assert!((4..24).contains(&some), "8 MiB of memory hold {some} states of 1 MiB");
    }

    #[test]
    fn the_address_of_a_state_that_waits_is_made_of_the_last_answer() {
        let mut states: [[u8; 4]; 5] =
            std::array::from_fn(|row| std::array::from_fn(|at| (4 * row + at + 1) as u8));
        let mut check = 0;
        // With a "zero" of 1, the call after an odd answer is one byte further on.
        let first = |state: &mut [u8; 4]| u64::from(state[0]);
        time_chained(first, &mut states, 1, &mut check);
        assert_eq!(check, [1, 6, 9, 14, 17].into_iter().fold(0, combine));
    }
}
