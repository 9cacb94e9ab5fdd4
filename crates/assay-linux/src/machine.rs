//! Facts of the machine that a timing depends on, read from /proc and /sys; what cannot be read is absent.

use std::fs;

/// What the machine is, as far as the kernel tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// What it is called: tells it from others of its kind.
    pub host: Option<String>,
    /// CPU model name.
    pub cpu: String,
    /// Vendor, family and model, as "AuthenticAMD 25 17": what placement rules depend on.
    pub cpu_id: String,
    /// Feature flags as in /proc/cpuinfo.
    pub features: Vec<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// Processors this process may use.
    pub cpus: Vec<usize>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// True under a hypervisor.
    pub virtual_machine: bool,
    /// Data and unified cache sizes in bytes with their level, as "L1d 32768".
    pub caches: Vec<String>,
    /// Total memory, bytes.
    pub memory_bytes: u64,
    /// Address space randomisation, as in /proc/sys/kernel/randomize_va_space.
    pub aslr: Option<u32>,
}

/// Reads them.
pub fn facts() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| field_of(&cpuinfo, name);
    let features: Vec<String> = field("flags")
        .or_else(|| field("Features"))
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    Machine {
        host: host(),
        cpu: field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpu_id: ["vendor_id", "cpu family", "model"]
            .iter()
            .filter_map(|name| field(name))
            .collect::<Vec<_>>()
            .join(" "),
        virtual_machine: features.iter().any(|feature| feature == "hypervisor"),
        features,
        microcode: field("microcode"),
        kernel: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        cpus: crate::pin::allowed_cpus().unwrap_or_default(),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        caches: caches(),
        memory_bytes: memory_bytes(),
        aslr: read("/proc/sys/kernel/randomize_va_space").and_then(|text| text.parse().ok()),
    }
}

/// Slurm's own name of a node comes first: it is what its user can ask for.
fn host() -> Option<String> {
    let of_slurm = std::env::var("SLURMD_NODENAME").ok();
    of_slurm.or_else(|| read("/proc/sys/kernel/hostname")).filter(|name| !name.is_empty())
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn field_of(cpuinfo: &str, name: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn caches() -> Vec<String> {
    let mut found = Vec::new();
    for index in 0..8 {
        let base = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let (Some(level), Some(kind), Some(size)) =
            (read(&format!("{base}/level")), read(&format!("{base}/type")), read(&format!("{base}/size")))
        else {
            continue;
        };
        let suffix = match kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        found.push(format!("L{level}{suffix} {size}"));
    }
    found
}

fn memory_bytes() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    field_of(&meminfo, "MemTotal")
        .and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_field_whatever_blanks_surround_it() {
        let text = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(field_of(text, "model").as_deref(), Some("17"));
        assert_eq!(field_of(text, "model name").as_deref(), Some("AMD EPYC"));
        assert_eq!(field_of(text, "stepping"), None);
    }

    #[test]
    fn knows_this_machine_has_a_kernel_and_memory() {
        let machine = facts();
        assert!(!machine.kernel.is_empty());
        assert!(machine.memory_bytes > 0);
        assert!(!machine.cpus.is_empty());
        assert!(machine.host.is_some());
    }
}
