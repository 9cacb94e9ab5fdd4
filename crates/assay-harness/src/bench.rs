//! A program's variants.

use crate::state::{LoopRun, Pass, State};
use crate::variant::{Body, RegisteredVariant};
use crate::{alone, fresh, lab, listed, sample, system, trace};
use std::any::Any;
use std::process::ExitCode;

/// The variants of a program, in the order in which they are added.
///
/// Names are made of letters, digits and `_.:/+-`, and are unique; otherwise [`Bench::main`] says so and measures nothing.
#[derive(Default)]
#[must_use = "nothing is measured before `main` is called"]
pub struct Bench {
    variants: Vec<RegisteredVariant>,
}

impl Bench {
    /// No variants yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function from an input's bytes, or from one window of them, to an answer.
    pub fn variant(self, name: &str, call: fn(&[u8]) -> u64) -> Self {
        self.variant_if(name, call, true, "")
    }

    /// The same for a function that runs only where `available`; elsewhere it is skipped with `reason`.
    pub fn variant_if(self, name: &str, call: fn(&[u8]) -> u64, available: bool, reason: &str) -> Self {
        let unavailable = (!available).then(|| reason.to_owned());
        self.add(name, call as *const (), Body::Call(call), unavailable)
    }

    /// Adds a function of a state that `prepare` makes of the whole input outside the timed region, once per input.
    /// The bytes live as long as the program, so the state may borrow them.
    pub fn prepared<S: 'static>(
        self,
        name: &str,
        prepare: fn(&'static [u8]) -> S,
        run: fn(&S) -> u64,
    ) -> Self {
        let time = move |state: &dyn Any, iterations: u64, combined: &mut u64| {
            let state = state.downcast_ref::<S>().expect("the state was made by this variant's prepare");
            sample::time_prepared(run, state, iterations, combined)
        };
        let trace = move |state: &dyn Any, iterations: u64, combined: &mut u64, pass: Pass| {
            let state = state.downcast_ref::<S>().expect("the state was made by this variant's prepare");
            trace::prepared(run, state, iterations, combined, pass);
        };
        let body = Body::Prepared {
            prepare: Box::new(move |data| Box::new(prepare(data))),
            time: Box::new(time),
            time_listed: Box::new(move |states, how, combined| listed::of_states(run, states, how, combined)),
            trace: Box::new(trace),
        };
        self.add(name, run as *const (), body, None)
    }

    /// Adds a function that changes what it is called on: sorting in place, inserting, freeing. `make` makes a state of each
    /// call's bytes, `run` gets it, and its `Drop` comes afterwards; only `run` is timed.
    ///
    /// The states of one sample exist at once, in at most 64 MiB (see [`Bench::fresh_memory`]).
    pub fn fresh<S: 'static>(self, name: &str, make: fn(&'static [u8]) -> S, run: fn(&mut S) -> u64) -> Self {
        self.add(name, run as *const (), Body::Fresh(fresh::FreshCalls::new(make, run)), None)
    }

    /// Lets the states of fresh variants that exist at once take so many bytes, instead of 64 MiB. An experiment's
    /// `fresh_memory` comes before it.
    pub fn fresh_memory(self, bytes: u64) -> Self {
        fresh::set_memory(bytes);
        self
    }

    /// Adds the program's own loop over the whole input: setup, `while state.next() { ... }`, `state.answer(value)`.
    /// Only the loop is timed.
    pub fn looped<F: Fn(&mut State<'_>, &[u8]) + 'static>(self, name: &str, body: F) -> Self {
        let entry = own_state::<F> as fn(&F, &mut LoopRun, &[u8]);
        let run = move |run: &mut LoopRun, data: &[u8]| own_state(&body, run, data);
        self.add(name, entry as *const (), Body::Loop { run: Box::new(run) }, None)
    }

    fn add(mut self, name: &str, function: *const (), body: Body, unavailable: Option<String>) -> Self {
        self.variants.push(RegisteredVariant {
            name: name.to_owned(),
            body,
            entry: system::entry(function),
            unavailable,
        });
        self
    }

    /// Serves the lab where `ASSAY_CHANNEL` is set; otherwise reads the command line and prints a table.
    ///
    /// Call it from `main`, before starting threads, and return its exit code: 0; 1 where a variant could not be
    /// measured or the answers differ; 2 for what only the user can fix.
    #[must_use]
    pub fn main(self) -> ExitCode {
        match std::env::var_os(lab::CHANNEL_VARIABLE) {
            Some(descriptors) => lab::main(&descriptors, &self.variants),
            None => alone::main(&self.variants),
        }
    }
}

/// Owns the state of a loop by value, with the loop's body inlined: so the counter can stay in a register.
#[inline(never)]
fn own_state<F: Fn(&mut State<'_>, &[u8])>(body: &F, run: &mut LoopRun, data: &[u8]) {
    body(&mut State::new(run), data);
}

#[cfg(test)]
mod tests {
    use super::Bench;
    use crate::variant::objection;

    #[test]
    fn variants_that_cannot_be_told_apart_are_refused() {
        let named = |names: &[&str]| {
            let bench = names.iter().fold(Bench::new(), |bench, name| bench.variant(name, |_| 0));
            objection(&bench.variants)
        };
        assert_eq!(named(&["a_B.c:d/e+f-9", "b"]), None);
        assert!(named(&[]).is_some_and(|why| why.contains("no variant")));
        assert!(named(&["a", "b", "a"]).is_some_and(|why| why.contains("two variants are named \"a\"")));
        assert!(named(&["a b"]).is_some_and(|why| why.contains("\"a b\"")));
        assert!(named(&[""]).is_some());
    }
}
