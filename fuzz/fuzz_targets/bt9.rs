#![no_main]

mod walk;

use assay_pure::trace::bt9;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk::walk(bt9::Bt9Reader::new(bytes));
});
