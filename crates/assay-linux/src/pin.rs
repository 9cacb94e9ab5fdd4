//! Which processors this process may use, and binding a process to one of them.

use std::io;

/// The processors the kernel lets this process run on, ascending.
///
/// A container's cpuset is honoured: a processor outside it cannot be pinned to.
///
/// # Errors
/// The kernel's refusal of `sched_getaffinity`, which does not happen for the calling process.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    // SAFETY: an all-zero cpu_set_t is the empty set, and the kernel writes at most the size given.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` outlives the call and its size is passed.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } != 0 {
        return Err(with_context("sched_getaffinity", io::Error::last_os_error()));
    }
    Ok((0..libc::CPU_SETSIZE as usize)
        // SAFETY: the index is below CPU_SETSIZE.
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .collect())
}

/// "0-2,5" to its numbers; parts that are no numbers are left out.
pub fn cpu_list(list: &str) -> Vec<usize> {
    let span = |part: &str| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    };
    list.split(',').filter_map(span).flatten().collect()
}

/// The hardware threads of a processor's core, itself included; only itself where the kernel does not say.
pub fn threads_of_core(cpu: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let mut threads = std::fs::read_to_string(path).map(|list| cpu_list(&list)).unwrap_or_default();
    if !threads.contains(&cpu) {
        threads.push(cpu);
    }
    threads
}

/// Whether the calling thread can run on no hardware thread of a processor's core: whatever it does, it takes nothing from there.
pub fn keeps_off(cpu: usize) -> bool {
    let threads = threads_of_core(cpu);
    allowed_cpus().is_ok_and(|allowed| allowed.iter().all(|own| !threads.contains(own)))
}

/// Binds a process (0 is the caller's thread) to one processor.
///
/// # Errors
/// A processor that is offline or outside the cpuset, or a process that is gone; the message says which was asked for.
pub fn pin(pid: i32, cpu: usize) -> io::Result<()> {
    // SAFETY: as in `allowed_cpus`.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: CPU_SET ignores indices past the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: `set` outlives the call and its size is passed.
    if unsafe { libc::sched_setaffinity(pid, size_of::<libc::cpu_set_t>(), &set) } != 0 {
        let what = format!("sched_setaffinity to CPU {cpu} (choose an allowed one with --cpu)");
        return Err(with_context(&what, io::Error::last_os_error()));
    }
    Ok(())
}

/// Binds the calling thread to a set of processors, so that the lab stays off the measured one.
///
/// # Errors
/// As [`pin`].
pub fn keep_to(cpus: &[usize]) -> io::Result<()> {
    // SAFETY: as in `allowed_cpus`.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        // SAFETY: CPU_SET ignores indices past the set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: `set` outlives the call and its size is passed.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } != 0 {
        return Err(with_context("sched_setaffinity", io::Error::last_os_error()));
    }
    Ok(())
}

fn with_context(call: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{call}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_least_one_processor_and_can_stay_on_it() {
        let cpus = allowed_cpus().unwrap();
        assert!(!cpus.is_empty());
        std::thread::spawn(move || {
            pin(0, cpus[0]).unwrap();
            assert_eq!(allowed_cpus().unwrap(), vec![cpus[0]]);
            keep_to(&cpus).unwrap();
            assert_eq!(allowed_cpus().unwrap(), cpus);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn lists_of_processors_are_read_and_rubbish_is_not() {
        assert_eq!(cpu_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(cpu_list("7"), [7]);
        assert_eq!(cpu_list("(null)"), [0_usize; 0]);
    }

    #[test]
    fn a_thread_keeps_off_a_core_that_it_cannot_run_on() {
        let cpus = allowed_cpus().unwrap();
        std::thread::spawn(move || {
            let first = cpus[0];
            assert!(threads_of_core(first).contains(&first));
            pin(0, first).unwrap();
            for other in threads_of_core(first) {
                assert!(!keeps_off(other), "CPU {other} is of the core that it runs on");
            }
            let elsewhere = cpus.iter().find(|cpu| !threads_of_core(first).contains(cpu));
            assert!(elsewhere.is_none_or(|&cpu| keeps_off(cpu)));
            assert_eq!(threads_of_core(100_000), [100_000], "the kernel knows nothing of it");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn says_which_processor_cannot_be_had() {
        let error = pin(0, 1000).unwrap_err().to_string();
        assert!(error.contains("CPU 1000"), "{error}");
    }
}
