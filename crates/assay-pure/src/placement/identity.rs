//! Machine-code identity of two functions after relocation.

use super::layout::LayoutError;

/// Are two functions the same machine code?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// They are.
    Identical {
        /// On what condition.
        note: Option<String>,
    },
    /// They are not.
    Different {
        /// First differing byte.
        at: u64,
    },
    /// Nobody can tell.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// Compares the functions at two link-time addresses.
///
/// # Errors
/// The file cannot be read.
pub fn same_code_at(elf: &[u8], _first: u64, _second: u64) -> Result<Identity, LayoutError> {
    super::layout::parse(elf)?;
    Ok(Identity::Unknown { reason: "not compared".into() })
}
