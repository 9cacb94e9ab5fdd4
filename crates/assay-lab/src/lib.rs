//! The lab that leads: campaigns, comparisons, diaries, sweeps, and the ledger they fill. It knows no command line.
#![forbid(unsafe_code)]

pub mod calibrate;
pub mod campaign;
pub mod compare;
pub mod doctor;
pub mod examine;
pub mod export;
pub mod fit;
pub mod history;
pub mod layout;
pub mod lead;
pub mod limits;
pub mod run;
pub mod shards;
pub mod stages;
pub mod store;
pub mod sweep;
pub mod view;
