//! Does the lab keep its promises when everything else breaks them?
//!
//! Method: the real binary runs small experiments made in a folder of their own: programs of `fixtures/faults`, broken
//! compilers, full disks, signals, ledgers that are none. Each test holds the exit code, the words the user reads,
//! and what the ledger holds against what is promised (LEDGER.md, README.md).
//! Limits: what needs gcc, or a mount (root), is skipped with the reason where the machine refuses it.

#[path = "robust/arguments.rs"]
mod arguments;
#[path = "robust/builds.rs"]
mod builds;
#[path = "robust/disks.rs"]
mod disks;
#[path = "robust/hostile.rs"]
mod hostile;
#[path = "robust/kills.rs"]
mod kills;
#[path = "robust/lab.rs"]
pub mod lab;
#[path = "robust/ledgers.rs"]
mod ledgers;
#[path = "robust/programs.rs"]
mod programs;
#[path = "robust/stopping.rs"]
mod stopping;
