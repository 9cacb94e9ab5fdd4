//! Why a file is no ledger to work with.

use std::fmt;

/// A file that cannot serve as a ledger: of another format, damaged, not to be written. Shown as it is.
#[derive(Debug)]
pub struct Unusable(pub String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}
