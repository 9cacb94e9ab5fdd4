//! What of two files is compared: a pair of functions or of data.

/// A pair to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// Functions by their addresses.
    Code(u64, u64),
    /// Data.
    Data(DataPair),
}

/// How much of the data there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataSize {
    /// So many bytes in each file.
    Sized(u64, u64),
    /// Up to where something else begins.
    Open,
}

/// Two stretches of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataPair {
    /// Address in the old file.
    pub a: u64,
    /// Address in the new file.
    pub b: u64,
    /// Size.
    pub shape: DataSize,
    /// Whoever refers to it reads offsets from tables.
    pub offsets: bool,
    /// Its end must be certain, since it may be a table of jumps that were not understood.
    pub whole: bool,
    /// An instruction reads exactly this, so it is no table of offsets: one is read through an index or its address.
    pub read: bool,
}
