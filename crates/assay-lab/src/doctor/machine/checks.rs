//! The checks of a machine, by topic. The rules and their limits: docs/methodology/doctor.md.

mod core;
mod precision;
mod system;
#[cfg(test)]
mod tests;

use super::facts::MachineFacts;
use crate::examine::check::{Check, CheckOutcome, Needs};

const fn check(
    name: &'static str,
    title: &'static str,
    look: fn(&MachineFacts) -> CheckOutcome,
) -> Check<MachineFacts> {
    Check::new(name, title, Needs::Files, look)
}

/// All checks, in the order of the report.
pub const CHECKS: [Check<MachineFacts>; 18] = [
    check("smallest-effect", "Smallest detectable difference in 60 s", precision::smallest_effect),
    check("neighbours", "Other work on the measuring processor", core::neighbours),
    check("steal", "Time stolen by the hypervisor", core::steal),
    check("other-thread", "A busy sibling thread", core::other_thread),
    check("smt", "SMT on the measuring core", core::smt),
    check("isolation", "Isolation of the measuring processor", core::isolation),
    check("frequency", "Frequency governor", precision::frequency),
    check("turbo", "Turbo", precision::turbo),
    check("timer", "Timer", precision::timer),
    check("counters", "Hardware counters", system::counters),
    check("tracing", "Emulator for exact counts", system::tracing),
    check("compilers", "Compilers and linkers", system::compilers),
    check("container", "Limits of the container", system::container),
    check("memory", "Memory for inputs", system::memory),
    check("huge-pages", "Transparent huge pages", system::huge_pages),
    check("aslr", "Address randomisation", system::aslr),
    check("virtualisation", "Virtualisation", system::virtualisation),
    check("mitigations", "Kernel mitigations", system::mitigations),
];
