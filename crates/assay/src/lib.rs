//! The lab: builds, measures, keeps and reports.
#![forbid(unsafe_code)]

pub mod adopt;
pub mod build;
pub mod calibrate;
pub mod campaign;
pub mod cli;
pub mod compare;
pub mod doctor;
pub mod event;
pub mod fit;
pub mod layout;
pub mod limits;
pub mod report;
pub mod run;
pub mod sites;
pub mod stages;
pub mod store;
pub mod sweep;
pub mod trace;
