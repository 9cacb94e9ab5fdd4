#![no_main]

mod walk;

use assay_pure::trace::champsim;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk::walk(champsim::ChampSimReader::new(bytes));
});
