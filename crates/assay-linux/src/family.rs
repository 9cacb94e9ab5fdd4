//! A command and everything that it starts: adopted when their parents end, found, ended together.

use crate::tied::with_the_lab;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Once;
use std::time::Duration;

/// Starts a command with the lab's own standard streams, in the lab's own process group, so that the terminal's signals
/// reach both. It ends with the lab.
///
/// # Errors
/// The program is missing or not executable, or no process can be had; the message names it.
pub fn start(command: &[OsString]) -> io::Result<Child> {
    let program = command.first().ok_or_else(|| io::Error::other("no command was given"))?;
    start_as(Path::new(program), command, &[])
}

/// The same of this program, under the name that the command begins with, with further variables.
///
/// # Errors
/// As [`start`].
pub fn start_as(program: &Path, command: &[OsString], variables: &[(&str, &OsStr)]) -> io::Result<Child> {
    let mut started = Command::new(program);
    started.arg0(command.first().map_or(program.as_os_str(), OsString::as_os_str));
    started.envs(variables.iter().copied());
    with_the_lab(started.args(command.iter().skip(1)))
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("starting {}: {error}", program.display())))
}

/// From now on processes whose parent has ended become children of this one, so that they can be found.
pub fn adopt_orphans() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a flag of this process.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    });
}

/// Kills a process and all its descendants. They are stopped first, until no new one is found: a process that is stopped
/// starts no other, and one whose parent is killed could not be told from a stranger.
pub fn kill_all(root: u32) {
    kill(|| descendants(root));
}

/// Kills all descendants of a process, but not itself.
pub fn kill_below(root: u32) {
    kill(|| descendants(root).into_iter().filter(|pid| *pid != root).collect());
}

/// Lays to rest what was adopted from a group and has ended: it would count as alive. The group's own first process must have
/// been waited for.
pub(crate) fn reap_group(group: u32) {
    // SAFETY: plain numbers, and no status is asked for.
    while unsafe { libc::waitpid(-(group as i32), std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}

fn kill(found: impl Fn() -> Vec<u32>) {
    let mut stopped = HashSet::new();
    for _ in 0..100 {
        let new: Vec<u32> = found().into_iter().filter(|pid| stopped.insert(*pid)).collect();
        if new.is_empty() {
            break;
        }
        signal(&new, libc::SIGSTOP);
    }
    signal(&stopped.into_iter().collect::<Vec<u32>>(), libc::SIGKILL);
}

fn signal(pids: &[u32], signal: i32) {
    for pid in pids {
        // SAFETY: ids of processes that were descendants a moment ago.
        unsafe { libc::kill(*pid as i32, signal) };
    }
}

/// The process and all its descendants that are not zombies.
fn descendants(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let alive = parent_and_state(pid).filter(|(_, state)| !matches!(state, 'Z' | 'X'));
        if let Some((parent, _)) = alive {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![root];
    let mut seen = HashSet::from([root]);
    let mut at = 0;
    while at < found.len() {
        for child in children.get(&found[at]).into_iter().flatten() {
            if seen.insert(*child) {
                found.push(*child);
            }
        }
        at += 1;
    }
    found
}

/// From `/proc/PID/stat`, whose second field is a name that may hold anything, a parenthesis too.
pub(crate) fn parent_and_state(pid: u32) -> Option<(u32, char)> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// How a process that has ended did so, unless its parent has asked already. One that was adopted is laid to rest.
pub fn how_ended(pid: u32) -> Option<ExitStatus> {
    let mut status = 0;
    // SAFETY: a word to fill; only this process is waited for, and not for long.
    if unsafe { libc::waitpid(pid as i32, &raw mut status, libc::WNOHANG) } == pid as i32 {
        return Some(ExitStatus::from_raw(status));
    }
    // proc(5): `exit_code` is the 52nd field, the 50th behind the name.
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let code: i32 = fields.get(49)?.parse().ok()?;
    matches!(fields.first(), Some(&("Z" | "X"))).then(|| ExitStatus::from_raw(code))
}

/// A process whose end can be seen, whoever its parent is.
#[derive(Debug)]
pub struct WatchedProcess {
    descriptor: OwnedFd,
}

impl WatchedProcess {
    /// Watches a process.
    ///
    /// # Errors
    /// It is gone already, or the kernel is older than 5.3.
    pub fn new(pid: u32) -> io::Result<WatchedProcess> {
        // SAFETY: plain numbers; the descriptor is ours from here on.
        unsafe {
            let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(WatchedProcess { descriptor: OwnedFd::from_raw_fd(descriptor as i32) })
        }
    }

    /// Whether it has ended.
    pub fn ended(&self) -> bool {
        self.poll(0)
    }

    /// Sleeps until it ends, at most `timeout`.
    pub fn wait(&self, timeout: Duration) {
        self.poll(i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX).max(1));
    }

    /// Its descriptor, readable when the process has ended, to be waited for among others.
    pub(crate) fn descriptor(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    fn poll(&self, milliseconds: i32) -> bool {
        let mut entry = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, ours.
        unsafe { libc::poll(&raw mut entry, 1, milliseconds) == 1 && entry.revents != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<OsString> {
        ["/bin/sh", "-c", script].map(OsString::from).to_vec()
    }

    #[test]
    fn how_a_child_ended_is_told_once() {
        let mut child = start(&shell("exit 5")).expect("a shell");
        let watched = WatchedProcess::new(child.id()).expect("pidfd");
        watched.wait(Duration::from_secs(60));
        assert_eq!(how_ended(child.id()).and_then(|status| status.code()), Some(5));
        assert_eq!(how_ended(child.id()), None);
        assert!(child.wait().is_err(), "laid to rest already");
        assert_eq!(how_ended(std::process::id()), None);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = start(&["/no/such/program".into()]).expect_err("missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }

    #[test]
    fn the_end_of_a_process_is_seen() {
        let mut child = start(&shell("read x; exit 0")).expect("a shell");
        let watched = WatchedProcess::new(child.id()).expect("pidfd");
        kill_all(child.id());
        watched.wait(Duration::from_secs(60));
        assert!(watched.ended());
        child.wait().expect("waited");
    }
}
