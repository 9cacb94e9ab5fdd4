//! What can be counted, by perf's own names, and in which mode of the processor.

use super::front_end;
use assay_pure::command::Scope;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// `PERF_TYPE_HARDWARE`, `_SOFTWARE`, `_HW_CACHE`, `_RAW`.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const RAW: u32 = 4;

/// Names as perf prints them and others that it takes, kind, number.
pub const KNOWN: &[(&str, &[&str], u32, u64)] = &[
    ("branches", &["branch-instructions"], HARDWARE, 4),
    ("branch-misses", &[], HARDWARE, 5),
    ("instructions", &[], HARDWARE, 1),
    ("cycles", &["cpu-cycles"], HARDWARE, 0),
    ("ref-cycles", &[], HARDWARE, 9),
    ("bus-cycles", &[], HARDWARE, 6),
    ("cache-references", &[], HARDWARE, 2),
    ("cache-misses", &[], HARDWARE, 3),
    ("stalled-cycles-frontend", &["idle-cycles-frontend"], HARDWARE, 7),
    ("stalled-cycles-backend", &["idle-cycles-backend"], HARDWARE, 8),
    ("task-clock", &[], SOFTWARE, 1),
    ("cpu-clock", &[], SOFTWARE, 0),
    ("context-switches", &["cs"], SOFTWARE, 3),
    ("cpu-migrations", &["migrations"], SOFTWARE, 4),
    ("page-faults", &["faults"], SOFTWARE, 2),
    ("minor-faults", &[], SOFTWARE, 5),
    ("major-faults", &[], SOFTWARE, 6),
    ("alignment-faults", &[], SOFTWARE, 7),
    ("emulation-faults", &[], SOFTWARE, 8),
];

/// Caches as the kernel numbers them (`PERF_COUNT_HW_CACHE_*`).
const CACHES: &[(&str, u64)] =
    &[("L1-dcache", 0), ("L1-icache", 1), ("LLC", 2), ("dTLB", 3), ("iTLB", 4), ("branch", 5), ("node", 6)];
/// What is done to a cache: operation, result.
const ACCESSES: &[(&str, u64, u64)] = &[
    ("-loads", 0, 0),
    ("-load-misses", 0, 1),
    ("-stores", 1, 0),
    ("-store-misses", 1, 1),
    ("-prefetches", 2, 0),
    ("-prefetch-misses", 2, 1),
];

/// One thing to count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterEvent {
    /// perf's name, without modifiers.
    pub name: String,
    /// In which mode.
    pub scope: Scope,
    /// The mode was said with a modifier (`:u`).
    pub scope_was_asked: bool,
    pub(super) kind: u32,
    pub(super) config: u64,
    /// Which cause of a front-end stall, for the events that are told so.
    pub(super) config1: u64,
}

/// Vendor, family and model of this machine's processor.
static HOST: LazyLock<String> = LazyLock::new(|| crate::machine::facts().cpu_id);

impl CounterEvent {
    /// Whether the kernel counts it itself, without performance counters.
    pub fn is_software(&self) -> bool {
        self.kind == SOFTWARE
    }

    /// Whether it only ever happens inside the kernel: counted in user mode it is 0 whatever the program does.
    pub fn happens_in_the_kernel(&self) -> bool {
        // context-switches, cpu-migrations
        self.kind == SOFTWARE && matches!(self.config, 3 | 4)
    }

    /// Whether its value is a time, in nanoseconds.
    pub fn is_time(&self) -> bool {
        self.kind == SOFTWARE && matches!(self.config, 0 | 1)
    }

    /// The same event in user mode alone.
    pub fn in_user_mode(&self) -> CounterEvent {
        CounterEvent { scope: Scope::User, ..self.clone() }
    }
}

/// As perf prints it: `branches:u`. A time says no mode: it is the thread's, whatever the thread does.
impl fmt::Display for CounterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.scope {
            Scope::User if !self.is_time() || self.scope_was_asked => f.write_str(":u"),
            Scope::Kernel => f.write_str(":k"),
            _ => Ok(()),
        }
    }
}

/// A name that no event has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    /// As it was written.
    pub name: String,
}

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = KNOWN.iter().map(|(name, ..)| *name).collect();
        write!(
            f,
            "there is no event `{}`; the events are {}, cache events such as L1-dcache-load-misses, and raw \
             ones such as r00c5, each with :u, :k or :uk",
            self.name,
            names.join(", ")
        )?;
        match front_end::names(&HOST) {
            own if own.is_empty() => Ok(()),
            own => write!(f, "; this CPU also has {}", own.join(", ")),
        }
    }
}

impl std::error::Error for UnknownEvent {}

/// From perf's way of writing: a name, perhaps a colon and modes. Hardware events count in user mode unless told
/// otherwise; software events everywhere, as context switches happen in the kernel.
impl FromStr for CounterEvent {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<CounterEvent, UnknownEvent> {
        let unknown = || UnknownEvent { name: text.to_owned() };
        let (name, modifiers) = match text.split_once(':') {
            Some((name, modifiers)) => (name, Some(modifiers)),
            None => (text, None),
        };
        let (name, kind, config, config1) = lookup(name).ok_or_else(unknown)?;
        let scope = match modifiers {
            None if kind == SOFTWARE => Scope::All,
            None => Scope::User,
            Some("u") => Scope::User,
            Some("k") => Scope::Kernel,
            Some("uk" | "ku") => Scope::All,
            Some(_) => return Err(unknown()),
        };
        Ok(CounterEvent { name, scope, scope_was_asked: modifiers.is_some(), kind, config, config1 })
    }
}

fn lookup(name: &str) -> Option<(String, u32, u64, u64)> {
    let known = KNOWN.iter().find(|(known, others, ..)| *known == name || others.contains(&name));
    if let Some((known, _, kind, config)) = known {
        return Some(((*known).to_owned(), *kind, *config, 0));
    }
    for (cache, number) in CACHES {
        let access =
            name.strip_prefix(cache).and_then(|rest| ACCESSES.iter().find(|access| access.0 == rest));
        if let Some((_, operation, result)) = access {
            return Some((name.to_owned(), CACHE, number | operation << 8 | result << 16, 0));
        }
    }
    if let Some((config, config1)) = front_end::encoding(name, &HOST) {
        return Some((name.to_owned(), RAW, config, config1));
    }
    let digits =
        name.strip_prefix('r').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((name.to_owned(), RAW, u64::from_str_radix(digits, 16).ok()?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> CounterEvent {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_perfs_and_numbers_the_kernels() {
        let cases = [
            ("cycles", HARDWARE, 0),
            ("cpu-cycles", HARDWARE, 0),
            ("instructions", HARDWARE, 1),
            ("branches", HARDWARE, 4),
            ("branch-instructions", HARDWARE, 4),
            ("branch-misses", HARDWARE, 5),
            ("task-clock", SOFTWARE, 1),
            ("page-faults", SOFTWARE, 2),
            ("faults", SOFTWARE, 2),
            ("cs", SOFTWARE, 3),
            ("migrations", SOFTWARE, 4),
            // L1D, read, miss; LLC, write, access; the branch unit, read, miss.
            ("L1-dcache-load-misses", CACHE, 0x1_0000),
            ("LLC-stores", CACHE, 0x102),
            ("branch-load-misses", CACHE, 0x1_0005),
            ("r1c4", RAW, 0x1c4),
        ];
        for (name, kind, config) in cases {
            assert_eq!((event(name).kind, event(name).config), (kind, config), "{name}");
        }
    }

    #[test]
    fn hardware_counts_the_program_and_software_everything_unless_told() {
        assert_eq!(event("branches").scope, Scope::User);
        assert_eq!(event("branches:k").scope, Scope::Kernel);
        assert_eq!(event("branches:uk").scope, Scope::All);
        assert_eq!(event("context-switches").scope, Scope::All);
        assert_eq!(event("page-faults:u").scope, Scope::User);
    }

    #[test]
    fn prints_as_perf_does() {
        for (text, printed) in [
            ("branches", "branches:u"),
            ("branch-instructions:u", "branches:u"),
            ("cycles:uk", "cycles"),
            ("cycles:k", "cycles:k"),
            ("task-clock", "task-clock"),
            ("page-faults", "page-faults"),
        ] {
            assert_eq!(event(text).to_string(), printed);
        }
        assert_eq!(event("task-clock").in_user_mode().to_string(), "task-clock");
        assert_eq!(event("page-faults").in_user_mode().to_string(), "page-faults:u");
    }

    #[test]
    fn what_happens_in_the_kernel_is_known_to() {
        assert!(event("context-switches").happens_in_the_kernel() && event("cs").happens_in_the_kernel());
        assert!(event("cpu-migrations").happens_in_the_kernel());
        assert!(!event("page-faults").happens_in_the_kernel() && !event("branches").happens_in_the_kernel());
        assert!(event("task-clock").is_time() && event("cpu-clock").is_time() && !event("cs").is_time());
        // Hardware events share their numbers with software ones.
        assert!(!event("cycles").is_time() && !event("cache-misses").happens_in_the_kernel());
        assert!(event("cs").is_software() && !event("cycles").is_software());
    }

    #[test]
    fn what_no_event_is_named_is_refused_with_what_there_is() {
        for text in [
            "",
            "r",
            "rxyz",
            "branch",
            "branches:",
            "branches:p",
            "L1-dcache",
            "LLC-loadsx",
            "r12345678901234567",
        ] {
            let error = text.parse::<CounterEvent>().unwrap_err();
            assert_eq!(error.name, text);
            assert!(error.to_string().contains("branch-misses"), "{error}");
        }
    }
}
