//! How units are found in an input's bytes, and how the bytes are cut into windows at unit borders.

/// How units are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// LEB128: a unit ends at a byte without the high bit.
    Varint,
    /// A unit is a line, its newline included.
    Lines,
    /// A unit is one byte.
    Bytes,
    /// The whole input is one unit.
    Whole,
}

/// A stretch of an input handed to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Units within.
    pub units: u64,
}
