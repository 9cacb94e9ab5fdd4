//! What a Rust benchmark links to be measured by assay.
