#![no_main]

mod walk;

use assay_pure::trace::sbbt::{SbbtLayout, SbbtReader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk::walk(SbbtReader::new(bytes, SbbtLayout::Documented));
    walk::walk(SbbtReader::new(bytes, SbbtLayout::Stale));
});
