//! The command `assay`.

use std::process::ExitCode;

fn main() -> ExitCode {
    assay::cli::main()
}
