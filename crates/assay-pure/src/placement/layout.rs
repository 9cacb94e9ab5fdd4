//! Functions of an ELF file: address, size, alignment, offset in the 64-byte line.

/// One function of a linked binary.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FunctionPlace {
    /// Symbol name.
    pub name: String,
    /// Link-time virtual address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// `address % 64`.
    pub offset: u64,
}
