//! The checks of a machine, a file each. The rules and their limits: docs/methodology/doctor.md.

mod aslr;
mod compilers;
mod container;
mod counters;
mod frequency;
mod huge_pages;
mod isolation;
mod memory;
mod mitigations;
mod neighbours;
mod other_thread;
mod smallest_effect;
mod smt;
mod steal;
#[cfg(test)]
mod tests;
mod timer;
mod tracing;
mod turbo;
mod virtualisation;

pub use smallest_effect::percent;

use super::facts::{Kernel, Measured};
use assay_report::doctor::examination::State;

/// Something to look for.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What is looked for, as a heading.
    pub title: &'static str,
    /// Looks.
    pub look: fn(&Kernel, &Measured) -> Looked,
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq)]
pub enum Looked {
    /// Nothing is wrong; what was seen.
    Well(String),
    /// The machine does not say.
    CannotTell(String),
    /// Something is there.
    Found(Found),
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// How bad it is.
    pub state: State,
    /// What is there.
    pub saw: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to change.
    pub remedy: String,
}

fn warning(saw: String, why: &'static str, remedy: impl Into<String>) -> Looked {
    Looked::Found(Found { state: State::Warning, saw, why, remedy: remedy.into() })
}

fn note(saw: String, why: &'static str, remedy: impl Into<String>) -> Looked {
    Looked::Found(Found { state: State::Note, saw, why, remedy: remedy.into() })
}

/// All checks, in the order of the report.
pub const CHECKS: [Check; 18] = [
    Check { name: "smallest-effect", title: "What can be told apart in 60 s", look: smallest_effect::look },
    Check { name: "neighbours", title: "Other work on the measuring processor", look: neighbours::look },
    Check { name: "steal", title: "Time that the hypervisor gives to others", look: steal::look },
    Check {
        name: "other-thread",
        title: "Somebody on the core's other hardware thread",
        look: other_thread::look,
    },
    Check { name: "smt", title: "Hardware threads of the measuring core", look: smt::look },
    Check { name: "isolation", title: "Isolation of the measuring processor", look: isolation::look },
    Check { name: "frequency", title: "The clock's governor", look: frequency::look },
    Check { name: "turbo", title: "Turbo", look: turbo::look },
    Check { name: "timer", title: "The timer", look: timer::look },
    Check { name: "counters", title: "Hardware counters", look: counters::look },
    Check { name: "tracing", title: "The emulator for exact counts", look: tracing::look },
    Check { name: "compilers", title: "Compilers and linkers", look: compilers::look },
    Check { name: "container", title: "Limits of the container", look: container::look },
    Check { name: "memory", title: "Memory for inputs", look: memory::look },
    Check { name: "huge-pages", title: "Transparent huge pages", look: huge_pages::look },
    Check { name: "aslr", title: "Randomised addresses", look: aslr::look },
    Check { name: "virtualisation", title: "Virtualisation", look: virtualisation::look },
    Check { name: "mitigations", title: "Mitigations in the kernel", look: mitigations::look },
];
