//! The command `assay`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // In a captured build this program is called by the names of linkers.
    assay_link::adopt::capture::stand_in().unwrap_or_else(assay::cli::main)
}
