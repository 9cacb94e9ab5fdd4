//! The lab: builds, measures, keeps and reports.
#![forbid(unsafe_code)]

pub mod store;
