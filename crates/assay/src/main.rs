//! The command `assay`.

use std::process::ExitCode;

/// The emulator's plugin; empty where only the types are checked, for then nothing is linked.
const PLUGIN: &[u8] = include_bytes!(env!("ASSAY_PLUGIN_FILE"));

/// The plugin. A build without it stops here; `cargo check` does not, for it makes nothing of what is generic.
#[allow(clippy::extra_unused_type_parameters, reason = "a program is made of it, a check is not")]
fn plugin<Built>() -> &'static [u8] {
    const {
        assert!(
            !PLUGIN.is_empty() || option_env!("ASSAY_WITHOUT_PLUGIN").is_some(),
            "cargo did not put the emulator's plugin where assay's build.rs looks for it. Build from a clone: \
             cargo install --locked --path crates/assay. Or set ASSAY_WITHOUT_PLUGIN=1: then assay does not count by emulation"
        );
    }
    PLUGIN
}

/// The commit, where whoever builds says so (the Makefile does). Here, so that another commit compiles only this file.
const COMMIT: Option<&str> = option_env!("ASSAY_COMMIT");

fn main() -> ExitCode {
    // In a captured build this program is called by the names of linkers.
    assay_link::adopt::capture::stand_in().unwrap_or_else(|| assay::cli::main(plugin::<()>(), COMMIT))
}
