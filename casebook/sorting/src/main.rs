//! Sorting in place, so each call gets a copy of its own (`fresh`); copying is not timed.

mod sorts;

use assay_harness::Bench;
use std::process::ExitCode;

fn numbers(data: &'static [u8]) -> Vec<u32> {
    data.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
}

/// Nine values at even distances: enough to notice a sort that does not, too few to cost. The tests compare all of them.
fn answer(sorted: &[u32]) -> u64 {
    (0..=8).fold(0, |sum, part| {
        let at = sorted.len().saturating_sub(1) * part / 8;
        sum * 31 + sorted.get(at).map_or(0, |&value| u64::from(value))
    })
}

#[inline(never)]
fn unstable(values: &mut Vec<u32>) -> u64 {
    values.sort_unstable();
    answer(values)
}

#[inline(never)]
fn stable(values: &mut Vec<u32>) -> u64 {
    values.sort();
    answer(values)
}

#[inline(never)]
fn insertion(values: &mut Vec<u32>) -> u64 {
    sorts::insertion(values);
    answer(values)
}

#[inline(never)]
fn radix(values: &mut Vec<u32>) -> u64 {
    sorts::radix(values);
    answer(values)
}

fn main() -> ExitCode {
    Bench::new()
        .fresh("unstable", numbers, unstable)
        .fresh("stable", numbers, stable)
        .fresh("insertion", numbers, insertion)
        .fresh("radix", numbers, radix)
        .main()
}
