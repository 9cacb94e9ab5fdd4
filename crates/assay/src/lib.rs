//! The lab: builds, measures, keeps and reports.
#![forbid(unsafe_code)]

pub mod event;
pub mod report;
pub mod store;
