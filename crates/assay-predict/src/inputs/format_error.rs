//! Why bytes are not of the format that they should be of.

use crate::words::plural;

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
    /// Units have one size, and the input ends within one.
    Remainder {
        /// Bytes of a unit.
        size: u64,
        /// Bytes behind the last whole one.
        over: u64,
    },
    /// The input ends inside a message.
    CutMessage {
        /// First byte of its length.
        offset: u64,
        /// What its length says; `None` if the length itself is cut off.
        bytes: Option<u64>,
    },
    /// A line is not one JSON value.
    NotJson {
        /// The line, from 1.
        line: u64,
        /// Its first byte.
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
            FormatError::Remainder { size, over } => {
                write!(f, "the input ends with {}, fewer than the {size} of a unit", plural(*over, "byte"))
            }
            FormatError::CutMessage { offset, bytes: Some(bytes) } => {
                write!(
                    f,
                    "the message at byte {offset} says that {} follow, which is beyond the end",
                    plural(*bytes, "byte")
                )
            }
            FormatError::CutMessage { offset, bytes: None } => {
                write!(f, "the input ends inside the length of the message at byte {offset}")
            }
            FormatError::NotJson { line, offset } => {
                write!(f, "line {line} (byte {offset}) is not one JSON value")
            }
        }
    }
}

impl std::error::Error for FormatError {}
