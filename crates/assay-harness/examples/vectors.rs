//! The program that `harness/vectors.txt` speaks to; `harness/vectors.c` is the same in C.

use assay_harness::{Bench, use_value};
use std::process::ExitCode;

fn sum(data: &[u8]) -> u64 {
    data.iter().map(|&byte| u64::from(byte)).sum()
}

fn main() -> ExitCode {
    Bench::new()
        .variant("sum", sum)
        .prepared("sum/prepared", |data| data, |data: &&[u8]| sum(data))
        .looped("sum/looped", |state, data| {
            let mut total = 0;
            while state.next() {
                total = sum(data);
                use_value(total);
            }
            state.answer(total);
        })
        .variant_if("absent", sum, false, "no machine can run this")
        .fresh("sum/fresh", <[u8]>::to_vec, |copy: &mut Vec<u8>| {
            let total = sum(copy);
            copy.fill(0);
            total
        })
        .main()
}
