//! One linked binary, and how it was placed.

use assay_pure::placement::layout::FunctionPlace;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How the code is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Link {
    /// As the user would have made it: the user's own flags, a plain link.
    AsBuilt,
    /// One link of a rotation.
    Placed {
        /// The order of the program's functions; 0 is that of the sources.
        shuffle: u64,
        /// Padding ahead of all code, bytes modulo 64.
        phase_bytes: u32,
    },
}

/// A linked binary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// SHA-256 of the file.
    pub hash: String,
    /// The file.
    pub path: PathBuf,
    /// How it was placed.
    pub link: Link,
    /// The program's own functions where they really lie, by address; after link-time optimisation all functions.
    pub functions: Vec<FunctionPlace>,
    /// Address of the file's first byte, from which the program counts its entries.
    pub image_base: u64,
    /// Size of all executable sections, bytes.
    pub text_bytes: u64,
    /// The link command; its output is named `a.out` here.
    pub command: Vec<String>,
    /// Whether it was found instead of made.
    pub from_cache: bool,
    /// What is not as asked, as read back from the file.
    pub warnings: Vec<String>,
}
