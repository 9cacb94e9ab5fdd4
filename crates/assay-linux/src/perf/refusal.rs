//! Why the kernel does not count an event, in words, and what would allow it.

use super::event::CounterEvent;
use assay_pure::command::Scope;
use std::fmt;

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalCause {
    /// No counter for it on this machine.
    NoCounter,
    /// The setting `kernel.perf_event_paranoid` forbids it to this user.
    Paranoid,
    /// A filter of system calls, as containers have, forbids the call.
    Filtered,
    /// Forbidden by something else.
    Forbidden,
    /// The kernel has no such call.
    NoCall,
    /// The kernel does not understand the event.
    NotUnderstood,
    /// Somebody else holds the counters.
    Busy,
    /// No more open files.
    TooManyFiles,
    /// Anything else.
    Other,
}

/// What of the machine explains a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RefusalContext {
    /// `kernel.perf_event_paranoid`, if it can be read.
    pub paranoid: Option<i32>,
    /// A filter of system calls is on this process.
    pub filtered: bool,
    /// The machine says that it is virtual.
    pub virtual_machine: bool,
    /// The kernel drives performance counters of a processor.
    pub has_counters: bool,
}

impl RefusalContext {
    /// Those of this machine and process.
    pub fn here() -> RefusalContext {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let status = read("/proc/self/status");
        let seccomp = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
        let devices = std::fs::read_dir("/sys/bus/event_source/devices");
        let names = devices.into_iter().flatten().flatten().map(|entry| entry.file_name());
        RefusalContext {
            paranoid: read("/proc/sys/kernel/perf_event_paranoid").trim().parse().ok(),
            filtered: seccomp.is_some_and(|mode| mode.trim() == "2"),
            virtual_machine: crate::machine::facts().virtual_machine,
            // `cpu`, `cpu_core`, `cpu_atom`, `armv8_pmuv3_0`, ...
            has_counters: names
                .map(|name| name.to_string_lossy().into_owned())
                .any(|name| is_core_unit(&name)),
        }
    }
}

/// Whether an event source of that name is the counters of a processor's cores.
fn is_core_unit(name: &str) -> bool {
    let apple = name.starts_with("apple_") && name.ends_with("_pmu");
    name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv") || apple
}

/// An event that the kernel did not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRefusal {
    /// The event, as perf prints it.
    pub event: String,
    /// The kernel's error number.
    pub errno: i32,
    software: bool,
    scope: Scope,
}

impl CounterRefusal {
    /// Of an event with an error number.
    pub fn new(event: &CounterEvent, errno: i32) -> CounterRefusal {
        CounterRefusal { event: event.to_string(), errno, software: event.is_software(), scope: event.scope }
    }

    /// What kind it is under these conditions.
    pub fn cause(&self, conditions: &RefusalContext) -> RefusalCause {
        // Docker's filter answers EPERM, the kernel's own setting EACCES; some kernels say EPERM for that too.
        let paranoid = conditions.paranoid.is_some_and(|level| match self.scope {
            Scope::User => level > 2,
            Scope::Kernel | Scope::All => level > 1,
        });
        match self.errno {
            libc::EPERM if conditions.filtered => RefusalCause::Filtered,
            libc::EACCES | libc::EPERM if paranoid => RefusalCause::Paranoid,
            libc::EACCES if conditions.filtered => RefusalCause::Filtered,
            libc::EACCES | libc::EPERM => RefusalCause::Forbidden,
            libc::ENOSYS if conditions.filtered => RefusalCause::Filtered,
            libc::ENOSYS => RefusalCause::NoCall,
            libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO => RefusalCause::NoCounter,
            libc::EINVAL if !self.software && !conditions.has_counters => RefusalCause::NoCounter,
            libc::EINVAL => RefusalCause::NotUnderstood,
            libc::EBUSY => RefusalCause::Busy,
            libc::EMFILE | libc::ENFILE => RefusalCause::TooManyFiles,
            _ => RefusalCause::Other,
        }
    }

    /// Why, in words that follow "because".
    pub fn reason(&self, conditions: &RefusalContext) -> String {
        let error = errno_name(self.errno);
        match self.cause(conditions) {
            RefusalCause::NoCounter if conditions.has_counters => {
                format!("this CPU has no such counter ({error})")
            }
            RefusalCause::NoCounter if conditions.virtual_machine => {
                format!("this virtual machine has no performance counters, like most ({error})")
            }
            RefusalCause::NoCounter => format!(
                "the kernel has no performance counters here ({error}); typical of virtual machines, and of \
                 CPUs newer than the kernel"
            ),
            RefusalCause::Paranoid => {
                let level = conditions.paranoid.unwrap_or_default();
                let forbids = match self.scope {
                    Scope::User => "allows no counting without CAP_PERFMON",
                    Scope::Kernel | Scope::All => "allows counting only in user mode without CAP_PERFMON",
                };
                format!("kernel.perf_event_paranoid is {level}, which {forbids} ({error})")
            }
            RefusalCause::Filtered => format!(
                "a filter of system calls (seccomp), as containers have, forbids perf_event_open ({error})"
            ),
            RefusalCause::Forbidden => format!(
                "something other than kernel.perf_event_paranoid ({}) forbids it, such as a security module ({error})",
                conditions.paranoid.map_or("unreadable".to_owned(), |level| level.to_string())
            ),
            RefusalCause::NoCall => {
                format!("this kernel has no perf_event_open ({error}), like sandboxes such as gVisor")
            }
            RefusalCause::NotUnderstood => {
                format!("this kernel or processor does not know the event ({error})")
            }
            RefusalCause::Busy => format!("another program uses the counters exclusively ({error})"),
            RefusalCause::TooManyFiles => format!("no more files can be opened ({error})"),
            RefusalCause::Other => format!("perf_event_open failed: {error}"),
        }
    }

    /// What would allow it, as an order; None where nothing on this machine would.
    pub fn remedy(&self, conditions: &RefusalContext) -> Option<String> {
        let level = if self.scope == Scope::User { 2 } else { 1 };
        let text = match self.cause(conditions) {
            RefusalCause::Paranoid => format!(
                "run `sudo sysctl kernel.perf_event_paranoid={level}`, or give assay CAP_PERFMON: `sudo setcap \
                 cap_perfmon+ep $(command -v assay)`"
            ),
            RefusalCause::Filtered => "start the container with --cap-add=PERFMON, or with a seccomp profile that allows \
                                perf_event_open"
                .to_owned(),
            RefusalCause::NoCounter if !conditions.has_counters && !self.software => {
                "use a machine with performance counters: bare metal, or a virtual machine whose host passes them on \
                 (KVM: a `pmu` feature of the guest's CPU)"
                    .to_owned()
            }
            RefusalCause::Busy => "end other profilers".to_owned(),
            RefusalCause::TooManyFiles => "raise `ulimit -n`".to_owned(),
            _ => return None,
        };
        Some(text)
    }
}

/// With the conditions of this machine.
impl fmt::Display for CounterRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = RefusalContext::here();
        write!(f, "{} cannot be counted: {}", self.event, self.reason(&conditions))?;
        match self.remedy(&conditions) {
            Some(remedy) => write!(f, "; remedy: {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CounterRefusal {}

fn errno_name(errno: i32) -> String {
    let name = match errno {
        libc::ENOENT => "ENOENT",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        libc::ENODEV => "ENODEV",
        libc::ENXIO => "ENXIO",
        libc::EACCES => "EACCES",
        libc::EPERM => "EPERM",
        libc::ENOSYS => "ENOSYS",
        libc::EINVAL => "EINVAL",
        libc::EBUSY => "EBUSY",
        libc::EMFILE => "EMFILE",
        libc::ENFILE => "ENFILE",
        _ => return std::io::Error::from_raw_os_error(errno).to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(event: &str, errno: i32) -> CounterRefusal {
        CounterRefusal::new(&event.parse().unwrap(), errno)
    }

    fn bare(paranoid: i32) -> RefusalContext {
        RefusalContext {
            paranoid: Some(paranoid),
            filtered: false,
            virtual_machine: false,
            has_counters: true,
        }
    }

    #[test]
    fn a_virtual_machine_without_counters_is_told_from_a_processor_without_the_event() {
        let virtual_machine = RefusalContext { virtual_machine: true, has_counters: false, ..bare(2) };
        for errno in [libc::ENOENT, libc::EOPNOTSUPP, libc::ENODEV] {
            let found = refusal("branch-misses", errno);
            assert_eq!(found.cause(&virtual_machine), RefusalCause::NoCounter);
            assert!(found.reason(&virtual_machine).contains("virtual machine has no performance counters"));
            assert!(found.remedy(&virtual_machine).unwrap().contains("bare metal"));
            assert!(found.reason(&bare(2)).contains("this CPU has no such counter"));
            assert_eq!(found.remedy(&bare(2)), None);
        }
        let unknown = RefusalContext { has_counters: false, ..bare(2) };
        assert!(refusal("branches", libc::ENOENT).reason(&unknown).contains("typical of virtual machines"));
        // Without counters a raw event is refused with EINVAL by some kernels.
        assert_eq!(refusal("r1c4", libc::EINVAL).cause(&unknown), RefusalCause::NoCounter);
        assert_eq!(refusal("r1c4", libc::EINVAL).cause(&bare(2)), RefusalCause::NotUnderstood);
        assert_eq!(refusal("cpu-clock", libc::EINVAL).cause(&unknown), RefusalCause::NotUnderstood);
    }

    #[test]
    fn the_paranoid_setting_is_blamed_only_where_it_forbids_this_scope() {
        for (event, level, cause) in [
            ("branches:u", 3, RefusalCause::Paranoid),
            ("branches:u", 2, RefusalCause::Forbidden),
            ("branches:k", 2, RefusalCause::Paranoid),
            ("branches:uk", 2, RefusalCause::Paranoid),
            ("branches:uk", 1, RefusalCause::Forbidden),
            ("context-switches", 2, RefusalCause::Paranoid),
            ("branches:u", 4, RefusalCause::Paranoid),
        ] {
            for errno in [libc::EACCES, libc::EPERM] {
                assert_eq!(refusal(event, errno).cause(&bare(level)), cause, "{event} at {level}");
            }
        }
        let found = refusal("branches:u", libc::EACCES);
        assert!(found.reason(&bare(3)).contains("kernel.perf_event_paranoid is 3"));
        assert!(found.remedy(&bare(3)).unwrap().contains("perf_event_paranoid=2"));
        assert!(refusal("cs", libc::EACCES).remedy(&bare(2)).unwrap().contains("perf_event_paranoid=1"));
        assert!(found.remedy(&bare(3)).unwrap().contains("cap_perfmon"));
    }

    #[test]
    fn a_containers_filter_is_told_from_the_setting() {
        let filtered = RefusalContext { filtered: true, ..bare(2) };
        for errno in [libc::EPERM, libc::EACCES, libc::ENOSYS] {
            assert_eq!(refusal("branches", errno).cause(&filtered), RefusalCause::Filtered);
        }
        // With the strict setting too, EACCES is the kernel's own answer and EPERM the filter's.
        let both = RefusalContext { filtered: true, ..bare(3) };
        assert_eq!(refusal("branches", libc::EACCES).cause(&both), RefusalCause::Paranoid);
        assert_eq!(refusal("branches", libc::EPERM).cause(&both), RefusalCause::Filtered);
        assert!(refusal("branches", libc::EPERM).remedy(&filtered).unwrap().contains("--cap-add=PERFMON"));
        assert_eq!(refusal("branches", libc::ENOSYS).cause(&bare(2)), RefusalCause::NoCall);
    }

    #[test]
    fn other_refusals_say_the_kernels_error() {
        assert_eq!(refusal("branches", libc::EBUSY).cause(&bare(2)), RefusalCause::Busy);
        assert_eq!(refusal("branches", libc::EMFILE).cause(&bare(2)), RefusalCause::TooManyFiles);
        assert_eq!(refusal("branches", libc::EIO).cause(&bare(2)), RefusalCause::Other);
        for errno in [libc::EBUSY, libc::EMFILE, libc::EIO, libc::EINVAL, libc::ENOSYS, libc::EACCES] {
            let reason = refusal("branches", errno).reason(&bare(2));
            assert!(reason.contains(&errno_name(errno)), "{reason}");
        }
    }

    #[test]
    fn the_counters_of_cores_are_known_by_the_names_of_their_units() {
        for name in
            ["cpu", "cpu_core", "cpu_atom", "armv8_pmuv3_0", "armv8_cortex_a72", "apple_firestorm_pmu"]
        {
            assert!(is_core_unit(name), "{name}");
        }
        for name in ["software", "msr", "breakpoint", "uncore_imc_0", "tracepoint", "arm_spe_0", "power"] {
            assert!(!is_core_unit(name), "{name}");
        }
    }

    #[test]
    fn what_is_shown_names_the_event_and_never_ends_in_a_loose_end() {
        let text = refusal("branches", libc::ENOENT).to_string();
        assert!(text.starts_with("branches:u cannot be counted: "), "{text}");
    }
}
