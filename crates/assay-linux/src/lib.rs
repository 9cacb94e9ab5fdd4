//! The only part of assay that speaks to the kernel directly.
