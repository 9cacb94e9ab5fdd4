//! Conditional branches that are executed in a row again and again: what predictors need of them, made once.
//!
//! A reader that meets the same branches with the same outcomes again says so by a number. So neither it nor who judges them
//! goes from branch to branch: eight are copied at once.

use super::block::{MISSED, key, outcome};
use crate::trace::Branch;

/// Branches of a run at most.
pub const RUN: usize = 8;

/// Set where [`super::Steps`] name a run instead of an event: the other bits are its number.
pub const IS_RUN: u32 = 1 << 31;

/// Set, too, where the elements behind it are repeated ([`Repeated`]).
const IS_REPEATED: u32 = IS_RUN | 1 << 30;

/// Elements of [`super::Steps`] that come several times in a row. As an element it stands ahead of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How many elements, events or runs, at most [`Repeated::ELEMENTS`].
    pub elements: usize,
    /// How often they come, at most [`Repeated::TIMES`].
    pub times: usize,
}

impl Repeated {
    /// Elements at most.
    pub const ELEMENTS: usize = 63;
    /// Times at most.
    pub const TIMES: usize = (1 << 24) - 1;

    /// As an element.
    pub fn element(self) -> u32 {
        debug_assert!(self.elements <= Self::ELEMENTS && self.times <= Self::TIMES);
        IS_REPEATED | (self.elements << 24) as u32 | self.times as u32
    }

    fn of(element: u32) -> Option<Repeated> {
        let (elements, times) = ((element >> 24) as usize & Self::ELEMENTS, element as usize & Self::TIMES);
        (element >= IS_REPEATED).then_some(Repeated { elements, times })
    }
}

/// Events and runs in a row, and how often they come.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConditionalPieces<'a> {
    pub(super) left: &'a [u32],
    /// There may be repeated ones: not where there are no runs.
    pub(super) may_repeat: bool,
}

impl<'a> Iterator for ConditionalPieces<'a> {
    type Item = (&'a [u32], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let (first, behind) = self.left.split_first()?;
        let (piece, times);
        if let Some(repeated) = Repeated::of(*first) {
            (piece, self.left) = behind.split_at(repeated.elements);
            times = repeated.times;
        } else {
            let all = self.left.len();
            let repeated = |of: &u32| *of >= IS_REPEATED;
            let end = if self.may_repeat { self.left.iter().position(repeated).unwrap_or(all) } else { all };
            (piece, self.left) = self.left.split_at(end);
            times = 1;
        }
        Some((piece, times))
    }
}

/// A run as a block takes it over.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Run {
    /// As in [`super::Block`], like the outcomes.
    pub(super) addresses: [u32; RUN],
    pub(super) outcomes: [u8; RUN],
    /// [`MISSED`] for each branch that it has.
    pub(super) own: [u8; RUN],
    /// The outcomes as bits, the first one's highest.
    pub(super) taken: u8,
    pub(super) number: u8,
}

/// Runs by their numbers, which count from 0.
#[derive(Clone, Debug, Default)]
pub struct RunTable {
    runs: Vec<Run>,
    events: Vec<[u32; RUN]>,
}

impl RunTable {
    /// One without any.
    pub const fn new() -> RunTable {
        RunTable { runs: Vec::new(), events: Vec::new() }
    }

    /// One more run, of these branches: conditional ones, at most [`RUN`]. Panics if there are more.
    pub fn add(&mut self, branches: impl IntoIterator<Item = Branch>) {
        let (mut run, mut events) = (Run::default(), [0; RUN]);
        for branch in branches {
            let nth = usize::from(run.number);
            let key = key(branch.pc, branch.taken());
            run.addresses[nth] = key >> 1;
            run.outcomes[nth] = outcome(key);
            run.taken |= u8::from(branch.taken()) << (RUN - 1 - nth);
            run.own[nth] = MISSED;
            run.number += 1;
            events[nth] = branch.site << 1 | u32::from(branch.taken());
        }
        self.runs.push(run);
        self.events.push(events);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many branches a run has.
    pub fn branches(&self, number: u32) -> usize {
        usize::from(self.runs[number as usize].number)
    }

    /// The events that an element of [`super::Steps`] stands for: itself, or those of a run. It isn't a [`Repeated`].
    pub fn events<'a>(&'a self, of: &'a u32) -> &'a [u32] {
        if of & IS_RUN == 0 {
            return std::slice::from_ref(of);
        }
        let number = (of & !IS_RUN) as usize;
        &self.events[number][..usize::from(self.runs[number].number)]
    }

    /// The run that an element with [`IS_RUN`] stands for.
    #[inline(always)]
    pub(super) fn run(&self, of: u32) -> &Run {
        &self.runs[(of & !IS_RUN) as usize]
    }
}
