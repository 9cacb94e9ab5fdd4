//! What is known of a machine: what the kernel's files say, and what was measured. Plain data, so that every check can be tested
//! without the machine that it is about.

use crate::examine::check::Facts;
use assay_linux::pin::cpu_list;
use assay_pure::stats::sharing::Sharing;
use std::path::Path;

/// A machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineFacts {
    /// What the kernel's files say.
    pub kernel: Kernel,
    /// What was measured.
    pub measured: MachineMeasurements,
}

impl Facts for MachineFacts {}

/// What the kernel's files say; what they don't is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// The processor that programs would be measured on.
    pub cpu: usize,
    /// Processors that this process may use.
    pub allowed: Vec<usize>,
    /// Frequency governor of the measuring processor.
    pub governor: Option<String>,
    /// Driver that sets the frequency.
    pub driver: Option<String>,
    /// Whether the clock may rise above its nominal frequency.
    pub boost: Option<bool>,
    /// Other hardware threads of the measuring core.
    pub siblings: Option<Vec<usize>>,
    /// Processors that the scheduler leaves alone.
    pub isolated: Vec<usize>,
    /// Processors without a timer tick.
    pub nohz_full: Vec<usize>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Processors online.
    pub online: usize,
    /// The clock source in use, and those there are.
    pub clock_source: Option<(String, Vec<String>)>,
    /// `perf_event_paranoid`.
    pub paranoid: Option<i64>,
    /// `randomize_va_space`.
    pub aslr: Option<u32>,
    /// What the control group allows.
    pub limits: GroupLimits,
    /// Whether it is a virtual machine.
    pub hypervisor: bool,
    /// Memory, bytes.
    pub memory: Option<MemoryFacts>,
    /// When memory is given in huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// Weaknesses of the processor that the kernel works around, and how.
    pub mitigations: Vec<(String, String)>,
}

/// What the control group allows; absent where there is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupLimits {
    /// Processors' worth of time.
    pub cpus: Option<f64>,
    /// Periods in which it was made to wait, since the group was made.
    pub throttled: Option<u64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryFacts {
    /// In all.
    pub total: u64,
    /// That programs can have without swapping.
    pub available: u64,
    /// Swapped out.
    pub swapped: u64,
}

/// What was measured here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineMeasurements {
    /// Seconds of looking.
    pub seconds: f64,
    /// Share of the measuring processor's time that the hypervisor gave to others.
    pub steal: Option<f64>,
    /// Share of the time in which other work ran on the hardware threads beside the measuring one.
    pub sibling_busy: Option<f64>,
    /// What a loop that only reads the clock was denied.
    pub gaps: Option<Gaps>,
    /// The clocks.
    pub timer: Option<TimerFacts>,
    /// What pulses tell of the other hardware thread of the measuring core.
    pub sharing: Option<Sharing>,
    /// Independent additions per cycle that the core has made at best, as far as `assay limits` knows.
    pub known_width: Option<f64>,
    /// Pairs of identical code at one place.
    pub same_place: Option<SamePlace>,
    /// Two identical functions over placements, as `assay run` measures them, or why there are none.
    pub two_places: Option<Result<TwoPlaces, String>>,
    /// Events that were tried.
    pub counters: Vec<TriedEvent>,
    /// The emulator's version, or why nothing can be traced.
    pub tracing: Option<Result<String, String>>,
    /// Compilers that experiments can be built with, with their versions.
    pub compilers: Vec<String>,
    /// Linkers on PATH, by their names.
    pub linkers: Vec<String>,
}

/// An event that was to be counted.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedEvent {
    /// Its name.
    pub event: String,
    /// Why it cannot be counted, if it cannot.
    pub refused: Option<String>,
    /// What would help.
    pub remedy: Option<String>,
}

/// Time that was taken away from a loop which only reads the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaps {
    /// How long it went on, nanoseconds.
    pub lasted_ns: f64,
    /// Sum of all gaps of more than a microsecond, nanoseconds.
    pub taken_ns: f64,
    /// How many.
    pub count: u64,
    /// The longest, nanoseconds.
    pub longest_ns: f64,
    /// CPU time of the thread, nanoseconds.
    pub cpu_ns: f64,
    /// Times that the kernel ran another thread in its place.
    pub switches: Option<u64>,
}

/// What the clocks are like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimerFacts {
    /// What one read of the wall clock takes, nanoseconds.
    pub read_ns: f64,
    /// The least step it was seen to make, nanoseconds.
    pub step_ns: f64,
    /// What one read of the thread's clock takes, nanoseconds.
    pub cpu_read_ns: f64,
    /// By how much the steered clock runs faster than the hardware's, parts per million.
    pub drift_ppm: f64,
}

/// Two identical functions over placements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TwoPlaces {
    /// Rotations of placements.
    pub rotations: u64,
    /// Seconds of measuring.
    pub seconds: f64,
    /// The smallest effect that 60 s would show, a fraction.
    pub smallest: f64,
    /// By what the identical functions seemed to differ, a fraction.
    pub estimate: f64,
}

/// Pairs of identical code at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SamePlace {
    /// Pairs.
    pub pairs: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// Share of samples that were interrupted, and left out.
    pub interrupted: f64,
    /// The smallest effect that 60 s would show if placement did nothing, a fraction.
    pub smallest: f64,
    /// By what the identical codes seemed to differ, a fraction.
    pub estimate: f64,
}

/// Reads the kernel's files below `root`, which is `/` on a machine, for a process that may use `allowed`.
pub fn read(root: &Path, cpu: usize, allowed: Vec<usize>) -> Kernel {
    let text = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let own = format!("sys/devices/system/cpu/cpu{cpu}");
    let cpus = |path: &str| text(path).map(|list| cpu_list(&list));
    let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
    Kernel {
        cpu,
        allowed,
        governor: text(&format!("{own}/cpufreq/scaling_governor")),
        driver: text(&format!("{own}/cpufreq/scaling_driver")),
        boost: boost(&text),
        siblings: cpus(&format!("{own}/topology/thread_siblings_list"))
            .map(|all| all.into_iter().filter(|other| *other != cpu).collect()),
        isolated: cpus("sys/devices/system/cpu/isolated").unwrap_or_default(),
        nohz_full: cpus("sys/devices/system/cpu/nohz_full").unwrap_or_default(),
        load: text("proc/loadavg").and_then(|line| load(&line)),
        online: cpus("sys/devices/system/cpu/online").map_or(0, |all| all.len()),
        clock_source: clock_source(&text),
        paranoid: text("proc/sys/kernel/perf_event_paranoid").and_then(|value| value.parse().ok()),
        aslr: text("proc/sys/kernel/randomize_va_space").and_then(|value| value.parse().ok()),
        limits: limits(&text),
        hypervisor: is_virtual(&text, &cpuinfo),
        memory: text("proc/meminfo").and_then(|table| memory(&table)),
        huge_pages: text("sys/kernel/mm/transparent_hugepage/enabled").and_then(|line| chosen(&line)),
        mitigations: mitigations(root),
    }
}

/// On x86 the processor says so by a flag; elsewhere the firmware's names do.
fn is_virtual(text: &dyn Fn(&str) -> Option<String>, cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags")).peekable();
    if flags.peek().is_some() {
        return flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    }
    let names = ["sys_vendor", "product_name"].map(|file| text(&format!("sys/class/dmi/id/{file}")));
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    // Whole machines are rented under the same vendor's name.
    let is_metal = names.contains(".metal");
    text("sys/hypervisor/type").is_some()
        || text("proc/device-tree/hypervisor/compatible").is_some()
        || !is_metal && GUESTS.iter().any(|guest| names.contains(guest))
}

/// What the firmware of virtual machines calls them.
const GUESTS: [&str; 11] = [
    "QEMU",
    "KVM",
    "Virtual",
    "VMware",
    "Google Compute Engine",
    "Amazon EC2",
    "Alibaba Cloud ECS",
    "OpenStack",
    "Parallels",
    "vServer",
    "domU",
];

/// Intel's switch says what is off, the others what is on.
fn boost(text: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
    let intel = text("sys/devices/system/cpu/intel_pstate/no_turbo").map(|value| value == "0");
    intel.or_else(|| text("sys/devices/system/cpu/cpufreq/boost").map(|value| value == "1"))
}

fn load(line: &str) -> Option<[f64; 3]> {
    let mut words = line.split_whitespace().map(str::parse::<f64>);
    Some([words.next()?.ok()?, words.next()?.ok()?, words.next()?.ok()?])
}

fn clock_source(text: &dyn Fn(&str) -> Option<String>) -> Option<(String, Vec<String>)> {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let current = text(&format!("{folder}/current_clocksource"))?;
    let others = text(&format!("{folder}/available_clocksource")).unwrap_or_default();
    Some((current, others.split_whitespace().map(str::to_owned).collect()))
}

fn memory(table: &str) -> Option<MemoryFacts> {
    let field = |name: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    };
    let swapped =
        field("SwapTotal").zip(field("SwapFree")).map_or(0, |(total, free)| total.saturating_sub(free));
    Some(MemoryFacts { total: field("MemTotal")?, available: field("MemAvailable")?, swapped })
}

/// "always [madvise] never" to what stands in brackets.
fn chosen(line: &str) -> Option<String> {
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn mitigations(root: &Path) -> Vec<(String, String)> {
    let folder = root.join("sys/devices/system/cpu/vulnerabilities");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(String, String)> = entries
        .flatten()
        .filter_map(|entry| {
            let how = std::fs::read_to_string(entry.path()).ok()?;
            let how = how.trim().strip_prefix("Mitigation: ")?.to_owned();
            Some((entry.file_name().to_string_lossy().into_owned(), how))
        })
        .collect();
    found.sort();
    found
}

/// The tightest limits of the process's own group and of those above it, of either version of control groups.
fn limits(text: &dyn Fn(&str) -> Option<String>) -> GroupLimits {
    let mut limits = GroupLimits::default();
    for line in text("proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let folders: &[&str] = match controllers {
            "" => &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
            _ if controllers.split(',').any(|one| one == "cpu") => {
                &["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"]
            }
            _ if controllers.split(',').any(|one| one == "memory") => &["sys/fs/cgroup/memory"],
            _ => &[],
        };
        for folder in folders {
            for above in std::path::Path::new(path).ancestors() {
                let above = above.to_string_lossy();
                tighten(&mut limits, text, &format!("{folder}{}", above.trim_end_matches('/')));
            }
        }
    }
    limits
}

fn tighten(limits: &mut GroupLimits, text: &dyn Fn(&str) -> Option<String>, folder: &str) {
    let number = |path: &str| text(&format!("{folder}/{path}")).and_then(|value| value.parse::<f64>().ok());
    let second = text(&format!("{folder}/cpu.max")).and_then(|line| {
        let (quota, period) = line.split_once(' ')?;
        Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
    });
    let first = number("cpu.cfs_quota_us").filter(|quota| *quota > 0.0).zip(number("cpu.cfs_period_us"));
    let cpus = second.or(first.map(|(quota, period)| quota / period));
    let least = |known: Option<f64>, found: Option<f64>| match (known, found) {
        (Some(known), Some(found)) => Some(known.min(found)),
        (known, found) => known.or(found),
    };
    limits.cpus = least(limits.cpus, cpus);
    let throttled = text(&format!("{folder}/cpu.stat")).and_then(|table| {
        table.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse::<u64>().ok())
    });
    limits.throttled = limits.throttled.max(throttled);
    // The kernel says "no limit" by a number near the largest.
    let memory =
        number("memory.max").or_else(|| number("memory.limit_in_bytes")).filter(|bytes| *bytes < 1e18);
    let known = limits.memory_bytes.map(|bytes| bytes as f64);
    limits.memory_bytes = least(known, memory).map(|bytes| bytes as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> Kernel {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/doctor/machines").join(name);
        read(&root, 1, vec![0, 1])
    }

    #[test]
    fn a_quiet_machine_is_read_from_its_files() {
        let found = fixture("quiet");
        assert_eq!(
            (found.governor.as_deref(), found.driver.as_deref()),
            (Some("performance"), Some("acpi-cpufreq"))
        );
        assert_eq!((found.boost, found.siblings), (Some(false), Some(Vec::new())));
        assert_eq!((found.isolated, found.nohz_full, found.online), (vec![1], vec![1], 2));
        assert_eq!(found.load, Some([0.01, 0.02, 0.0]));
        assert_eq!(found.clock_source, Some(("tsc".to_owned(), vec!["tsc".to_owned(), "hpet".to_owned()])));
        assert_eq!((found.paranoid, found.aslr, found.hypervisor), (Some(1), Some(2), false));
        assert_eq!(found.limits, GroupLimits::default());
        let memory = MemoryFacts { total: 16_384_000 << 10, available: 12_000_000 << 10, swapped: 0 };
        assert_eq!((found.memory, found.huge_pages.as_deref()), (Some(memory), Some("madvise")));
        assert_eq!(found.mitigations, []);
    }

    #[test]
    fn a_container_on_a_noisy_machine_is_read_from_its_files() {
        let found = fixture("noisy");
        assert_eq!((found.governor.as_deref(), found.boost), (Some("powersave"), Some(true)));
        assert_eq!(found.siblings, Some(vec![3]));
        assert_eq!((found.isolated.len(), found.online), (0, 4));
        assert_eq!(found.clock_source.map(|(current, _)| current).as_deref(), Some("hpet"));
        assert_eq!((found.paranoid, found.aslr, found.hypervisor), (Some(4), Some(0), true));
        // The group above allows less than the group itself.
        let limits = GroupLimits { cpus: Some(1.5), throttled: Some(17), memory_bytes: Some(512 << 20) };
        assert_eq!(found.limits, limits);
        assert_eq!(found.memory.map(|memory| memory.swapped), Some(500_000 << 10));
        assert_eq!(found.mitigations, [("spectre_v2".to_owned(), "Retpolines".to_owned())]);
    }

    #[test]
    fn without_flags_the_firmware_tells_a_virtual_machine() {
        let said = |cpuinfo: &str, files: &[(&str, &str)]| {
            let text = |path: &str| {
                let (_, text) = files.iter().find(|(file, _)| *file == path)?;
                Some((*text).to_owned())
            };
            is_virtual(&text, cpuinfo)
        };
        let arm = "processor\t: 0\nFeatures\t: fp asimd\n";
        let ec2 = ("sys/class/dmi/id/sys_vendor", "Amazon EC2");
        assert!(said(arm, &[ec2, ("sys/class/dmi/id/product_name", "c7g.large")]));
        assert!(!said(arm, &[ec2, ("sys/class/dmi/id/product_name", "c7g.metal")]));
        assert!(said(arm, &[("sys/hypervisor/type", "xen")]));
        assert!(said(arm, &[("proc/device-tree/hypervisor/compatible", "linux,kvm")]));
        assert!(!said(arm, &[("sys/class/dmi/id/sys_vendor", "Ampere")]) && !said(arm, &[]));
        // A processor that has flags says it itself.
        assert!(!said("flags\t\t: fpu sse2\n", &[ec2]));
        assert!(said("flags\t\t: fpu hypervisor\n", &[]));
    }

    #[test]
    fn a_group_of_the_first_version_without_limits_says_so_by_odd_numbers() {
        let told = |quota: &'static str, bytes: &'static str| {
            let text = move |path: &str| match path {
                "proc/self/cgroup" => Some("4:memory:/\n3:cpu,cpuacct:/\n".to_owned()),
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us" => Some(quota.to_owned()),
                "sys/fs/cgroup/cpu/cpu.cfs_period_us" => Some("100000".to_owned()),
                "sys/fs/cgroup/memory/memory.limit_in_bytes" => Some(bytes.to_owned()),
                _ => None,
            };
            limits(&text)
        };
        assert_eq!(told("-1", "9223372036854771712"), GroupLimits::default());
        let tight = GroupLimits { cpus: Some(0.5), throttled: None, memory_bytes: Some(1 << 20) };
        assert_eq!(told("50000", "1048576"), tight);
    }

    #[test]
    fn what_no_file_says_is_absent() {
        let found = read(Path::new("/no/such/folder"), 0, vec![0]);
        assert_eq!(found, Kernel { allowed: vec![0], ..Kernel::default() });
    }
}
