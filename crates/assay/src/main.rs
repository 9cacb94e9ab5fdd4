//! The command `assay`.

use std::process::ExitCode;

/// The emulator's plugin; empty where only the types are checked, for then nothing is linked.
static PLUGIN: &[u8] = include_bytes!(env!("ASSAY_PLUGIN_FILE"));

/// The commit, where whoever builds says so (the Makefile does). Here, so that another commit compiles only this file.
const COMMIT: Option<&str> = option_env!("ASSAY_COMMIT");

fn main() -> ExitCode {
    // In a captured build this program is called by the names of linkers.
    assay_link::adopt::capture::stand_in().unwrap_or_else(|| assay::cli::main(PLUGIN, COMMIT))
}
