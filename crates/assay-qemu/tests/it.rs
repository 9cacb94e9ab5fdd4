//! The plugin as QEMU finds it: a file that exports what QEMU looks up, and the version that the lab asks for.
//!
//! With this test `cargo test` builds the plugin, with the features of the whole workspace: the tests of other crates
//! load it and need not build its dependencies a second time.

use object::{Object as _, ObjectSymbol as _};
use std::collections::BTreeSet;

#[test]
fn the_plugin_exports_what_qemu_and_the_lab_look_up() {
    let own = std::env::current_exe().expect("a test has a file");
    let file = own.with_file_name("libassay_qemu.so");
    let bytes = std::fs::read(&file).expect("cargo builds the plugin before its tests");
    let plugin = object::File::parse(&*bytes).expect("a shared object");
    let exported: BTreeSet<&str> = plugin
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    for name in ["qemu_plugin_install", "qemu_plugin_version", "ASSAY_PLUGIN_VERSION"] {
        assert!(exported.contains(name), "{name} is not among {exported:?}");
    }
}
