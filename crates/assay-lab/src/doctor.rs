//! What is wrong with a machine, an experiment or a program, why it matters, and what to change?
//!
//! All three go the same way: [`machine`], [`experiment`] and [`program`] each gather facts and have their checks, grouped by topic;
//! every check has one shape ([`crate::examine::check`]), and [`compose`] makes one kind of page of what they found.
//!
//! The rules and their limits: docs/methodology/doctor.md. Checked by planted faults and their passing twins (`fixtures/doctor`) and
//! by facts made up on both sides of every threshold.

pub mod compose;
pub mod experiment;
pub mod machine;
pub mod program;
