//! What an input looks like to a decoder and its branch predictor.

/// What an input looks like; filled by `describe`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Description {
    /// Bytes.
    pub bytes: u64,
    /// Units.
    pub units: u64,
}
