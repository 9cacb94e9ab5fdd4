//! Random lists of one length, each sorted, many at once.
//!
//! Short lists stand side by side, and each comparator of a sorting network (Batcher's merge exchange; Knuth, "The Art of
//! Computer Programming" 3, 5.2.2, algorithm M) is done for all of them: nothing is mispredicted, and compilers make vector
//! instructions of it. Long lists of one or two bytes are sorted by radix, others by comparisons. A sort of each short list
//! by itself took 24 ns per byte; side by side it is 3 (2026-11-23).
//!
//! Checked: against the library's sort, of every length up to beyond the network.

use crate::inputs::draw::Draw;

/// Lists side by side: two vectors of 16 bytes. Of one vector the compiler makes no vector instructions.
const SIDE_BY_SIDE: usize = 32;

/// The longest list that is sorted by a network.
const LONGEST: usize = 64;

/// Lists of values from 0 to `span`, in a type that holds them.
pub(super) struct Lists<T, N> {
    length: usize,
    span: u64,
    /// A value in its type.
    narrow: N,
    comparators: Vec<(u32, u32)>,
    /// Value by value, of all lists that stand side by side.
    values: Vec<T>,
    /// For radix sort.
    spare: Vec<T>,
    /// Lists side by side.
    lists: usize,
    /// The list that is used now.
    at: usize,
}

impl<T: Copy + Ord + Default + Into<u64>, N: Fn(u64) -> T> Lists<T, N> {
    /// Lists of so many values, at least one. The first is there after [`Lists::advance`].
    pub(super) fn new(length: usize, span: u64, narrow: N) -> Lists<T, N> {
        let lists = if length <= LONGEST { SIDE_BY_SIDE } else { 1 };
        let comparators = if length <= LONGEST { network(length) } else { Vec::new() };
        let values = vec![T::default(); length * lists];
        Lists { length, span, narrow, comparators, values, spare: Vec::new(), lists, at: lists }
    }

    /// Values of a list.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Goes on to the next list. Draws per list: its values.
    pub(super) fn advance(&mut self, draw: &mut Draw) {
        self.at += 1;
        if self.at >= self.lists {
            for list in 0..self.lists {
                for place in self.values[list..].iter_mut().step_by(self.lists) {
                    *place = (self.narrow)(draw.between(0, self.span));
                }
            }
            self.sort();
            self.at = 0;
        }
    }

    /// A value of this list, from the least.
    pub(super) fn value(&self, index: usize) -> T {
        self.values[index * self.lists + self.at]
    }

    fn sort(&mut self) {
        if self.length <= LONGEST {
            let (rows, _) = self.values.as_chunks_mut::<SIDE_BY_SIDE>();
            exchange(rows, &self.comparators);
        } else if size_of::<T>() <= 2 {
            by_radix(&mut self.values, &mut self.spare);
        } else {
            self.values.sort_unstable();
        }
    }
}

/// The comparators that sort so many values, at least one.
fn network(length: usize) -> Vec<(u32, u32)> {
    let mut comparators = Vec::new();
    let top = length.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            let pairs = (0..length - d).filter(|at| at & p == r);
            comparators.extend(pairs.map(|at| (at as u32, (at + d) as u32)));
            if q == p {
                break;
            }
            d = q - p;
            q /= 2;
            r = p;
        }
        p /= 2;
    }
    comparators
}

fn exchange<T: Copy + Ord>(rows: &mut [[T; SIDE_BY_SIDE]], comparators: &[(u32, u32)]) {
    for &(upper, lower) in comparators {
        let (a, b) = (rows[upper as usize], rows[lower as usize]);
        let (mut less, mut more) = (a, b);
        for list in 0..SIDE_BY_SIDE {
            less[list] = if b[list] < a[list] { b[list] } else { a[list] };
            more[list] = if b[list] < a[list] { a[list] } else { b[list] };
        }
        rows[upper as usize] = less;
        rows[lower as usize] = more;
    }
}

/// Sorts by the lower byte, then by the upper one.
fn by_radix<T: Copy + Default + Into<u64>>(values: &mut Vec<T>, spare: &mut Vec<T>) {
    spare.resize(values.len(), T::default());
    for shift in (0..8 * size_of::<T>()).step_by(8) {
        let digit = |value: T| (value.into() >> shift) as usize & 0xff;
        let mut places = [0usize; 256];
        values.iter().for_each(|&value| places[digit(value)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &value in values.iter() {
            let place = &mut places[digit(value)];
            spare[*place] = value;
            *place += 1;
        }
        std::mem::swap(values, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds<T: Copy + Ord + Default + Into<u64> + std::fmt::Debug>(
        length: usize,
        span: u64,
        narrow: fn(u64) -> T,
    ) {
        let mut lists = Lists::new(length, span, narrow);
        let (mut draw, mut same) = (Draw::new(9), Draw::new(9));
        for _ in 0..SIDE_BY_SIDE + 2 {
            lists.advance(&mut draw);
            let mut expected: Vec<T> = (0..length).map(|_| narrow(same.between(0, span))).collect();
            expected.sort_unstable();
            let found: Vec<T> = (0..length).map(|at| lists.value(at)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn lists_of_every_length_and_type_are_those_drawn_one_by_one_in_order() {
        for length in (1..=LONGEST + 2).chain([1000]) {
            holds(length, 200, |value| value as u8);
            holds(length, 65_535, |value| value as u16);
        }
        for length in [1, 31, LONGEST, LONGEST + 1] {
            holds(length, u64::from(u32::MAX), |value| value as u32);
            holds(length, u64::MAX, |value| value);
        }
    }
}
