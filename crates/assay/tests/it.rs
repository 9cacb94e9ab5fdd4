//! The integration tests of this crate, one program: each one more would be linked and started on its own, and what they
//! share would be compiled and prepared again.

mod adopt_bench;
mod builds_compared;
mod capture;
mod compare;
mod components;
mod counts;
mod doctor;
mod doctor_experiment;
mod fit;
mod folded;
mod followed;
mod history;
mod inputs;
mod instrument;
mod layout;
mod lies;
mod merge;
mod programs;
mod robust;
mod serve;
mod several;
mod shards;
mod shipped;
mod simulate;
mod sites;
mod slurm;
mod stages;
mod stat;
mod studies;
mod sweep;
mod tidy;
mod trace;
mod trace_fixtures;
mod trace_processes;
mod trace_verb;
