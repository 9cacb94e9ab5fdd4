#![no_main]

mod walk;

use assay_pure::trace::jiegec;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk::walk(jiegec::JiegecReader::new(std::io::Cursor::new(bytes)));
});
