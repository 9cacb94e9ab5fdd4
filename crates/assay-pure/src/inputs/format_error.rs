//! Why bytes are not of the format that they should be of.

/// Why bytes are not what their format says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The input ends inside a varint.
    Truncated {
        /// First byte of that varint.
        offset: u64,
    },
    /// A varint has more than ten bytes or more than 64 bits.
    OverLong {
        /// First byte of that varint.
        offset: u64,
    },
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FormatError::Truncated { offset } => {
                write!(f, "the input ends inside the varint that begins at byte {offset}")
            }
            FormatError::OverLong { offset } => {
                write!(f, "the varint at byte {offset} has more than 10 bytes or more than 64 bits")
            }
        }
    }
}

impl std::error::Error for FormatError {}
