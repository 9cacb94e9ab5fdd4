//! What a state loop costs per iteration, for `bench/harness/run.sh`; the bodies are those of `bench/harness/loops.c`.

use assay_harness::{Bench, use_value};
use std::process::ExitCode;

fn main() -> ExitCode {
    Bench::new()
        .looped("empty", |state, _| while state.next() {})
        .looped("use", |state, data| {
            let x = data.len();
            while state.next() {
                use_value(x);
            }
        })
        .main()
}
