#![no_main]

mod walk;

use assay_pure::trace::sbbt::{Layout, Reader};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk::walk(Reader::new(bytes, Layout::Documented));
    walk::walk(Reader::new(bytes, Layout::Stale));
});
