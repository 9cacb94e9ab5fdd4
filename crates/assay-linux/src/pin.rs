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
    fn says_which_processor_cannot_be_had() {
        let error = pin(0, 1000).unwrap_err().to_string();
        assert!(error.contains("CPU 1000"), "{error}");
    }
}
