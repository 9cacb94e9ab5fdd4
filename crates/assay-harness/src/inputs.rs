//! Loaded inputs: mapped bytes, their windows, and what variants prepared from them.

use crate::cool;
use crate::fresh::{self, StateCosts};
use crate::system::{self, Reserved};
use std::any::Any;
use std::fs::File;

/// A stretch of an input for one call.
pub(crate) struct InputWindow {
    pub(crate) data: &'static [u8],
    pub(crate) units: u64,
}

/// One input.
pub(crate) struct MappedInput {
    pub(crate) id: u32,
    /// Its file, where it has one.
    pub(crate) path: Option<String>,
    pub(crate) data: &'static [u8],
    pub(crate) units: u64,
    pub(crate) windows: Vec<InputWindow>,
    /// What each variant prepared from it, made on the first request.
    pub(crate) prepared: Vec<Option<Box<dyn Any>>>,
    /// What the states of each fresh variant cost, found on the first request.
    pub(crate) states: Vec<Option<StateCosts>>,
    copies: Option<RotatedCopies>,
}

/// Copies of an input at other addresses, and what the variant prepared of each. Their memory is given back after each
/// request: many programs are alive at once, and the copies of each exceed all caches.
struct RotatedCopies {
    memory: Reserved,
    stride: usize,
    /// The places of the copies in the order in which they are taken.
    order: Vec<usize>,
    /// Of the order.
    next: usize,
    /// In that order; none unless prepared.
    states: Vec<Box<dyn Any>>,
}

impl RotatedCopies {
    fn take(&mut self) -> usize {
        let turn = self.next;
        self.next = (self.next + 1) % self.order.len();
        turn
    }
}

impl MappedInput {
    /// An input of `variants` variants without windows.
    pub(crate) fn new(id: u32, data: &'static [u8], units: u64, variants: usize) -> Self {
        // Touches every page, so that no sample pays for the first access.
        data.iter().step_by(system::page_bytes()).for_each(|&byte| crate::use_value(byte));
        Self {
            id,
            path: None,
            data,
            units,
            windows: Vec::new(),
            prepared: (0..variants).map(|_| None).collect(),
            states: vec![None; variants],
            copies: None,
        }
    }

    /// What a variant prepared from it, made when it is first asked for.
    pub(crate) fn prepared(
        &mut self,
        variant: usize,
        prepare: &dyn Fn(&'static [u8]) -> Box<dyn Any>,
    ) -> &dyn Any {
        let data = self.data;
        let state = self.prepared[variant].get_or_insert_with(|| {
            fresh::others_took_memory();
            prepare(data)
        });
        &**state
    }

    /// Makes `count` copies of the bytes, each followed by its padding and an odd number of lines from the next, so that
    /// they spread over the sets of every cache. They are made in the order in which they are then taken: so the caches
    /// hold what they would hold after one turn through all.
    pub(crate) fn make_copies(
        &mut self,
        count: usize,
        prepare: Option<&dyn Fn(&'static [u8]) -> Box<dyn Any>>,
    ) -> Result<(), String> {
        if count == 0 {
            return Err("state=rotating needs copies=".to_owned());
        }
        if self.data.is_empty() {
            return Err("the input is empty: there is nothing to copy".to_owned());
        }
        let none = || "no memory for the copies".to_owned();
        let stride = ((self.data.len() + system::PADDING_BYTES).div_ceil(64) | 1) * 64;
        if self.copies.as_ref().is_none_or(|copies| copies.order.len() != count) {
            let bytes = stride.checked_mul(count).ok_or_else(none)?;
            let memory = Reserved::new(bytes).map_err(|error| format!("{}: {error}", none()))?;
            let order = shuffled(count);
            self.copies = Some(RotatedCopies { memory, stride, order, next: 0, states: Vec::new() });
        }
        let copies = self.copies.as_mut().expect("made above");
        copies.next = 0;
        let declared = cool::declared();
        copies.memory.open();
        for &place in &copies.order {
            let copy = copies.memory.write(place * stride, self.data);
            copies.states.extend(prepare.map(|prepare| prepare(copy)));
        }
        fresh::others_took_memory();
        copies.memory.close();
        cool::declare_only(declared); // what `prepare` declared goes with the copies
        Ok(())
    }

    /// Gives back the memory of the copies.
    pub(crate) fn drop_copies(&mut self) {
        if let Some(copies) = &mut self.copies {
            copies.states.clear();
            copies.memory.release();
        }
    }

    /// A window in the copy whose turn it is.
    pub(crate) fn copied_window(&mut self, window: usize) -> &'static [u8] {
        let window = self.windows[window].data;
        let offset = window.as_ptr().addr() - self.data.as_ptr().addr();
        let copies = self.copies.as_mut().expect("the request has made copies");
        let turn = copies.take();
        copies.memory.bytes(copies.order[turn] * copies.stride + offset, window.len())
    }

    /// The states of the next copies.
    pub(crate) fn copied_states(&mut self, count: u64) -> Vec<&dyn Any> {
        let copies = self.copies.as_mut().expect("the request has made copies");
        let turns: Vec<usize> = (0..count).map(|_| copies.take()).collect();
        turns.into_iter().map(|turn| copies.states[turn].as_ref()).collect()
    }

    /// Adds a window; false where it reaches past the end.
    pub(crate) fn add_window(&mut self, offset: u64, size: u64, units: u64) -> bool {
        let stretch = || {
            let from = usize::try_from(offset).ok()?;
            let to = from.checked_add(usize::try_from(size).ok()?)?;
            self.data.get(from..to)
        };
        let Some(data) = stretch() else { return false };
        self.windows.push(InputWindow { data, units });
        true
    }
}

/// The numbers below `count` in an order that is the same in every program, by Fisher and Yates from the inside.
fn shuffled(count: usize) -> Vec<usize> {
    let mut seed = 42;
    let mut order = vec![0; count];
    for turn in 0..count {
        let other = (cool::mix(&mut seed) % (turn as u64 + 1)) as usize;
        order[turn] = order[other];
        order[other] = turn;
    }
    order
}

/// Maps a regular file of exactly `size` bytes, or of any size where `size` is `None`.
pub(crate) fn map_file(path: &str, size: Option<u64>) -> Result<&'static [u8], String> {
    let file = File::open(path).map_err(|error| format!("cannot open {path}: {error}"))?;
    let facts = file.metadata().map_err(|error| format!("cannot read the size of {path}: {error}"))?;
    if !facts.is_file() {
        return Err(format!("{path} is not a regular file"));
    }
    if let Some(size) = size.filter(|size| *size != facts.len()) {
        return Err(format!("{path} has {} bytes, not {size}", facts.len()));
    }
    let size = usize::try_from(facts.len()).map_err(|_| format!("{path} is too large"))?;
    system::map(Some(&file), size).map_err(|error| format!("cannot map {path}: {error}"))
}
