//! Waiting for a command's end: its own, that of its time, or an interrupt of the lab.

use crate::family::{WatchedProcess, kill_all};
use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How often a wait looks whether somebody has interrupted the lab.
const LOOK: Duration = Duration::from_millis(200);
/// How long an interrupted command may take to end in its own way: the terminal has told it, too.
const GRACE: Duration = Duration::from_millis(500);

/// Waits for the child until `limit` has passed or somebody has interrupted the lab ([`crate::interrupt`]), then kills it
/// and what it started. Returns its status and whether it was killed for the limit.
///
/// # Errors
/// The child is not ours to wait for.
pub fn wait_or_kill(child: &mut Child, limit: Option<Duration>) -> io::Result<(ExitStatus, bool)> {
    let begun = Instant::now();
    let mut interrupted: Option<Instant> = None;
    let alive = WatchedProcess::new(child.id());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        let left = limit.map_or(LOOK, |limit| limit.saturating_sub(begun.elapsed()));
        if crate::interrupt::asked() {
            interrupted = interrupted.or(Some(Instant::now()));
        }
        let late = interrupted.is_some_and(|since| since.elapsed() >= GRACE);
        if left.is_zero() || late {
            kill_all(child.id());
            return Ok((child.wait()?, left.is_zero()));
        }
        match &alive {
            Ok(watched) => watched.wait(left.min(LOOK)),
            Err(_) => std::thread::sleep(left.min(Duration::from_millis(5))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{parent_and_state, start};
    use std::ffi::OsString;
    use std::os::unix::process::ExitStatusExt as _;

    fn shell(script: &str) -> Vec<OsString> {
        ["/bin/sh", "-c", script].map(OsString::from).to_vec()
    }

    #[test]
    fn a_command_that_ends_in_time_keeps_its_status() {
        let mut child = start(&shell("exit 7")).expect("a shell");
        let (status, killed) = wait_or_kill(&mut child, Some(Duration::from_secs(60))).expect("waited");
        assert_eq!((status.code(), killed), (Some(7), false));
        let mut child = start(&shell("exit 3")).expect("a shell");
        assert_eq!(wait_or_kill(&mut child, None).expect("waited").0.code(), Some(3));
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_with_what_it_started() {
        let marker = format!("97{}", std::process::id());
        let mut child = start(&shell(&format!("sleep {marker} & sleep {marker}"))).expect("a shell");
        let (status, killed) = wait_or_kill(&mut child, Some(Duration::from_millis(300))).expect("waited");
        assert_eq!((status.signal(), killed), (Some(libc::SIGKILL), true));
        let alive = || {
            std::fs::read_dir("/proc").expect("proc").flatten().any(|entry| {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let sleeps = line == format!("sleep\0{marker}\0").into_bytes();
                let pid = entry.file_name().to_string_lossy().parse().unwrap_or(0);
                sleeps && parent_and_state(pid).is_some_and(|found| found.1 != 'Z')
            })
        };
        // A signal is delivered when its process is next scheduled.
        let deadline = Instant::now() + Duration::from_secs(30);
        while alive() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!alive(), "a grandchild is still there");
    }
}
