#![no_main]

mod walk;

use assay_pure::trace::cbp;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk::walk(cbp::CbpReader::new(bytes));
});
