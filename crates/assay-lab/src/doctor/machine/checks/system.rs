//! What do the system and its tools offer, allow and do by themselves?

use crate::doctor::machine::facts::MachineFacts;
use crate::examine::check::{Advice, CheckOutcome};
use assay_pure::words::{bytes, list, plural};

/// Processors' worth of time that is needed at most: one to measure on, some more to trace and link.
const PROCESSORS: f64 = 4.0;
/// Bytes that large inputs and their programs take.
const ROOM: u64 = 1 << 30;
/// Bytes swapped out from which on something has been pushed away.
const SWAPPED: u64 = 64 << 20;

const COUNTERS: &str = "Without them instructions and branches are counted exactly under the emulator, mispredictions are \
simulated, and cycles are unknown.";
const TRACING: Advice = Advice::new(
    "Exact counts, branch sites, simulated predictors and half of the checks of an experiment need traces.",
    "install the package qemu-user",
);
const BUILDING: &str = "Experiments are built from source, with every compiler that they name.";
const QUOTA: Advice = Advice::new(
    "A group that has used up its quota is stopped until the next period, up to 100 ms, in the middle of a sample.",
    "lift the limit (cpu.max, --cpus of a container), or assign whole processors instead (cpuset)",
);
const GROUP_MEMORY: Advice = Advice::new(
    "An input that does not fit is read from disk again, or the program is killed.",
    "lift the limit (memory.max, --memory of a container), or use small inputs",
);
const SWAP: &str = "Memory that is swapped out is read back while it is timed.";
const HUGE_PAGES: Advice = Advice::new(
    "Whether large arrays get huge pages then depends on how fragmented memory is: times of large working sets differ from run \
     to run.",
    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)",
);
const ASLR: Advice = Advice::new(
    "With the same addresses in every process, an accident of alignment is in all samples and looks like an effect.",
    "echo 2 > /proc/sys/kernel/randomize_va_space (as root)",
);
const VIRTUAL: Advice = Advice::new(
    "Other guests of the host share caches, memory and the clock frequency, and show only in what they take away.",
    "trust ratios, which are interleaved, more than nanoseconds; for nanoseconds use a machine without other guests",
);

/// Which hardware events can be counted?
pub fn counters(facts: &MachineFacts) -> CheckOutcome {
    let tried = &facts.measured.counters;
    if tried.is_empty() {
        return CheckOutcome::cannot_tell("no event was tried");
    }
    let open: Vec<&str> =
        tried.iter().filter(|tried| tried.refused.is_none()).map(|tried| tried.event.as_str()).collect();
    let Some((refused, reason)) = tried.iter().find_map(|tried| Some((tried, tried.refused.as_ref()?)))
    else {
        return CheckOutcome::clear(open.join(", "));
    };
    let level =
        facts.kernel.paranoid.map_or(String::new(), |level| format!(" (perf_event_paranoid is {level})"));
    let saw = if open.is_empty() {
        format!("no event can be counted: {reason}{level}")
    } else {
        format!("{} can be counted; {} cannot: {reason}{level}", list(&open), refused.event)
    };
    let otherwise = "use a machine that has them, or rely on the simulation";
    CheckOutcome::note(
        saw,
        Advice::with(COUNTERS, refused.remedy.clone().unwrap_or_else(|| otherwise.to_owned())),
    )
}

/// Can programs be traced?
pub fn tracing(facts: &MachineFacts) -> CheckOutcome {
    match &facts.measured.tracing {
        None => CheckOutcome::cannot_tell("it was not tried"),
        Some(Ok(version)) => CheckOutcome::clear(format!("QEMU {version} with the plugin")),
        Some(Err(reason)) => CheckOutcome::note(reason, TRACING),
    }
}

/// Which compilers and linkers can experiments be built with?
pub fn compilers(facts: &MachineFacts) -> CheckOutcome {
    let measured = &facts.measured;
    if measured.compilers.is_empty() {
        let advice = Advice::new(BUILDING, "install the package gcc or clang");
        return CheckOutcome::warning("neither gcc nor clang is on PATH", advice);
    }
    if measured.linkers.is_empty() {
        let advice = Advice::new(BUILDING, "install the package binutils or lld");
        return CheckOutcome::warning("no linker is on PATH", advice);
    }
    CheckOutcome::clear(format!(
        "{}; linkers: {}",
        measured.compilers.join(", "),
        measured.linkers.join(", ")
    ))
}

/// Does a control group take time or memory away?
pub fn container(facts: &MachineFacts) -> CheckOutcome {
    let (limits, allowed) = (&facts.kernel.limits, facts.kernel.allowed.len());
    let needed = PROCESSORS.min(allowed.max(1) as f64);
    if let Some(cpus) = limits.cpus.filter(|cpus| *cpus < needed) {
        let throttled = limits
            .throttled
            .map_or(String::new(), |times| format!(", and was stopped {} so far", plural(times, "time")));
        return CheckOutcome::warning(
            format!(
                "the control group may use {cpus:.1} of {}{throttled}",
                plural(allowed as u64, "processor")
            ),
            QUOTA,
        );
    }
    match limits.memory_bytes.filter(|bytes| *bytes < ROOM) {
        Some(few) => {
            CheckOutcome::warning(format!("the control group may use {} of memory", bytes(few)), GROUP_MEMORY)
        }
        None => CheckOutcome::clear("no limit that measuring would reach"),
    }
}

/// Is there memory for inputs?
pub fn memory(facts: &MachineFacts) -> CheckOutcome {
    let Some(memory) = facts.kernel.memory else {
        return CheckOutcome::cannot_tell("the kernel does not report how much memory is free");
    };
    let saw = format!("{} of {} are free", bytes(memory.available), bytes(memory.total));
    if memory.available < ROOM {
        return CheckOutcome::warning(saw, Advice::new(SWAP, "stop other programs, or use small inputs"));
    }
    if memory.swapped > SWAPPED {
        let saw = format!("{saw}, {} are swapped out", bytes(memory.swapped));
        return CheckOutcome::note(saw, Advice::new(SWAP, "swapoff -a while measuring (as root)"));
    }
    CheckOutcome::clear(saw)
}

/// Does the kernel give memory in huge pages as it likes?
pub fn huge_pages(facts: &MachineFacts) -> CheckOutcome {
    match facts.kernel.huge_pages.as_deref() {
        None => CheckOutcome::cannot_tell("the kernel does not report it"),
        Some("always") => CheckOutcome::note("the setting is `always`", HUGE_PAGES),
        Some(other) => CheckOutcome::clear(other),
    }
}

/// Are addresses random in each process?
pub fn aslr(facts: &MachineFacts) -> CheckOutcome {
    match facts.kernel.aslr {
        None => CheckOutcome::cannot_tell("the kernel does not report it"),
        Some(0) => CheckOutcome::note("addresses are not randomised", ASLR),
        Some(level) => CheckOutcome::clear(format!("on (level {level})")),
    }
}

/// Is it a virtual machine?
pub fn virtualisation(facts: &MachineFacts) -> CheckOutcome {
    if facts.kernel.hypervisor {
        CheckOutcome::note("this is a virtual machine", VIRTUAL)
    } else {
        CheckOutcome::clear("no hypervisor is seen")
    }
}

/// What does the kernel do against weaknesses of the processor? Never a finding: production runs with these too.
pub fn mitigations(facts: &MachineFacts) -> CheckOutcome {
    let all = &facts.kernel.mitigations;
    if all.is_empty() {
        return CheckOutcome::clear("none reported");
    }
    let each: Vec<String> = all.iter().map(|(name, how)| format!("{name} ({how})")).collect();
    CheckOutcome::clear(format!("system calls and indirect branches may be slower: {}", each.join("; ")))
}
