//! How much memory does this process have? The kernel counts what a child had before it became another program as that program's
//! own, so what is known of a command's memory is known only above this.

/// The most that this process had at once, bytes: what a child that shares its memory until it is another program inherits.
pub(crate) fn own_peak() -> Option<u64> {
    own("VmHWM:")
}

/// What this process has now, bytes: what a forked child inherits.
pub(crate) fn own_now() -> Option<u64> {
    own("VmRSS:")
}

fn own(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
