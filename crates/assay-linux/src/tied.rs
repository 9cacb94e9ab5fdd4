//! What the lab starts ends with the lab, by `kill -9` too.
//!
//! A death signal (`PR_SET_PDEATHSIG`) reaches a child and nobody below it: of `cd X && make` it ended the shell, and make went on.
//! All the lab holds the one end of a pipe for as long as it lives, so that its end is heard at the other, by one of these:
//!
//! - [`with_the_lab`]: the command has a guard for a parent, which adopts whatever comes loose below it, also in another session.
//!   It costs a second fork, so this is for what is not timed: builds, traces, recordings.
//! - [`hold_group`]: one keeper for the lab kills the process groups of what is being measured. Free of cost for them; what leaves
//!   its group is not found.
//!
//! Both leave the lab's session, whose groups may be killed as a whole. Who kills them, too, leaves the death signal.
//!
//! In the guard and in the keeper, which come of a fork beside threads, nothing but system calls is made.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// Groups at once; further ones have the death signal only.
const GROUPS: usize = 1024;
/// The place of a group that has not begun.
const TAKEN: i32 = -1;
/// How often a guard looks for what else it must kill, milliseconds.
const LOOK: libc::c_int = 2;

/// The ends of a pipe that nobody writes to. Only the lab has the second one open.
#[derive(Clone, Copy, Debug)]
struct LabPipe {
    read: RawFd,
    _write: RawFd,
}

impl LabPipe {
    /// One for this process; none where there are no more descriptors.
    fn get() -> Option<LabPipe> {
        static PIPE: OnceLock<Option<LabPipe>> = OnceLock::new();
        *PIPE.get_or_init(|| {
            let mut ends: [RawFd; 2] = [-1; 2];
            // SAFETY: the array has room for two descriptors.
            let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } == 0;
            made.then_some(LabPipe { read: ends[0], _write: ends[1] })
        })
    }
}

/// Has a command and all that it starts killed when the lab ends. `Child::id` is its guard's, which ends as the command does and
/// passes signals on. It stays in the lab's process group.
pub fn with_the_lab(command: &mut Command) -> &mut Command {
    let lab = LabPipe::get();
    // SAFETY: between fork and exec only system calls are made, on captured plain values.
    unsafe {
        command.pre_exec(move || {
            if let Some(lab) = lab {
                let guard = libc::getpid();
                match libc::fork() {
                    -1 => return Err(io::Error::last_os_error()),
                    0 => end_with(guard),
                    child => stand_guard(child, lab.read),
                }
            } else {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            }
            Ok(())
        })
    }
}

/// Has this process, a child of `parent`, killed when that ends.
fn end_with(parent: libc::pid_t) {
    // SAFETY: plain numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent {
            libc::_exit(1);
        }
    }
}

/// Waits for the child and ends as it does, or for the lab's end and kills all below.
fn stand_guard(child: libc::pid_t, lab: RawFd) -> ! {
    // SAFETY: system calls on integers and on structs that outlive them; all zeros are valid for these.
    unsafe {
        // A session of its own, not only a group: a parent in the same session would keep the lab's group from being an orphaned
        // one, and the kernel hangs up on a group that becomes one while a program in it is stopped.
        libc::setsid();
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
        close_all_but(lab);
        let signals = libc::signalfd(-1, &raw const all, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        loop {
            // Of what it has adopted nothing is laid to rest: how it ended may be asked.
            let mut status = 0;
            if libc::waitpid(child, &raw mut status, libc::WNOHANG) == child {
                end_as(status);
            }
            let wait = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut wanted = [wait(lab), wait(signals)];
            // Without a descriptor of signals it looks from time to time.
            let patience = if signals < 0 { 20 } else { -1 };
            libc::poll(wanted.as_mut_ptr(), 2, patience);
            if wanted[0].revents != 0 {
                kill_below(child);
                libc::_exit(1);
            }
            let mut told: libc::signalfd_siginfo = std::mem::zeroed();
            let size = std::mem::size_of::<libc::signalfd_siginfo>();
            while libc::read(signals, (&raw mut told).cast(), size) == size as isize {
                // The terminal's go to the lab's group, which the command is in; those to its guard are meant for it.
                if told.ssi_signo != libc::SIGCHLD as u32 {
                    libc::kill(child, told.ssi_signo as i32);
                }
            }
        }
    }
}

/// Ends this process in the way of another one.
fn end_as(status: libc::c_int) -> ! {
    // SAFETY: plain numbers, and structs that outlive the calls.
    unsafe {
        if libc::WIFSIGNALED(status) {
            let signal = libc::WTERMSIG(status);
            let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
            libc::signal(signal, libc::SIG_DFL);
            let mut only: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut only);
            libc::sigaddset(&raw mut only, signal);
            libc::kill(libc::getpid(), signal);
            libc::sigprocmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
            libc::_exit(128 + signal);
        }
        libc::_exit(libc::WEXITSTATUS(status))
    }
}

/// Kills the children of this process until there are none: those of one that was killed become its own.
fn kill_below(child: libc::pid_t) {
    let mut text = [0u8; 4096];
    // SAFETY: system calls on integers, a string with its end, and a buffer that outlives them.
    unsafe {
        loop {
            libc::kill(child, libc::SIGKILL);
            let list = libc::open(c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            let size = libc::read(list, text.as_mut_ptr().cast(), text.len());
            libc::close(list);
            let mut number = 0;
            for byte in &text[..usize::try_from(size).unwrap_or(0)] {
                if byte.is_ascii_digit() {
                    number = number * 10 + i32::from(byte - b'0');
                } else if number > 0 {
                    libc::kill(number, libc::SIGKILL);
                    number = 0;
                }
            }
            loop {
                match libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) {
                    -1 => return,
                    0 => break,
                    _ => {}
                }
            }
            libc::poll(std::ptr::null_mut(), 0, LOOK);
        }
    }
}

fn close_all_but(kept: RawFd) {
    // SAFETY: plain numbers. Nothing of the lab's is used after this.
    unsafe {
        let kept_number = kept as libc::c_uint;
        let below = kept_number == 0 || libc::syscall(libc::SYS_close_range, 0, kept_number - 1, 0) == 0;
        if !below || libc::syscall(libc::SYS_close_range, kept_number + 1, libc::c_uint::MAX, 0) != 0 {
            // A kernel before 5.9.
            (0..4096).filter(|fd| *fd != kept).for_each(|fd| {
                libc::close(fd);
            });
        }
    }
}

/// The place of a process group that is killed when the lab ends; until it is dropped.
#[derive(Debug)]
pub struct HeldGroup(&'static AtomicI32);

impl HeldGroup {
    /// In the child, between fork and exec: the group that this process leads is the one.
    pub fn begin(place: &AtomicI32) {
        // SAFETY: a system call without arguments.
        place.store(unsafe { libc::getpid() }, Ordering::SeqCst);
    }

    /// For [`HeldGroup::begin`].
    pub fn place(&self) -> &'static AtomicI32 {
        self.0
    }
}

impl Drop for HeldGroup {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

/// A place for a group that is about to begin; none where there is no keeper or no place.
pub fn hold_group() -> Option<HeldGroup> {
    let free =
        |place: &&AtomicI32| place.compare_exchange(0, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    keeper()?.iter().find(free).map(HeldGroup)
}

/// The places that the keeper reads, in memory that it shares with the lab and the lab's children.
fn keeper() -> Option<&'static [AtomicI32]> {
    static PLACES: OnceLock<Option<&'static [AtomicI32]>> = OnceLock::new();
    *PLACES.get_or_init(|| {
        let lab = LabPipe::get()?;
        // SAFETY: new memory, all zeros, which is valid for these and never given back.
        let places = unsafe {
            let (size, access) = (GROUPS * size_of::<AtomicI32>(), libc::PROT_READ | libc::PROT_WRITE);
            let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(std::ptr::null_mut(), size, access, shared, -1, 0);
            if memory == libc::MAP_FAILED {
                return None;
            }
            std::slice::from_raw_parts(memory.cast::<AtomicI32>(), GROUPS)
        };
        // SAFETY: the child makes nothing but system calls.
        match unsafe { libc::fork() } {
            -1 => None,
            0 => keep(places, lab.read),
            _ => Some(places),
        }
    })
}

/// Waits for the lab's end and kills the groups.
fn keep(places: &[AtomicI32], lab: RawFd) -> ! {
    // SAFETY: system calls on integers and on values that outlive them; all zeros are a valid set.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"assay-keeper".as_ptr());
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
        close_all_but(lab);
        let mut byte = 0u8;
        libc::read(lab, (&raw mut byte).cast(), 1);
        for place in places {
            let group = place.load(Ordering::SeqCst);
            if group > 0 {
                libc::kill(-group, libc::SIGKILL);
            }
        }
        libc::_exit(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Stdio;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_guard_ends_as_its_command_does() {
        assert_eq!(with_the_lab(&mut shell("exit 7")).status().unwrap().code(), Some(7));
        assert_eq!(with_the_lab(&mut shell("kill -SEGV $$")).status().unwrap().signal(), Some(libc::SIGSEGV));
        let missing = with_the_lab(&mut Command::new("/no/such/program")).status();
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_guard_holds_no_stream_of_its_command_open() {
        let ran = with_the_lab(&mut shell("exec 1>&-; sleep 0.2; echo late >&2")).output().unwrap();
        assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (&b""[..], &b"late\n"[..]));
    }

    #[test]
    fn a_signal_to_a_guard_reaches_the_command() {
        let mut command = shell("trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done");
        let mut child = with_the_lab(command.stdout(Stdio::piped())).spawn().unwrap();
        let mut byte = [0];
        io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
        // SAFETY: a child that has not been waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        assert_eq!(child.wait().unwrap().code(), Some(9));
    }

    #[test]
    fn a_place_is_free_again_when_its_group_has_ended() {
        let held = hold_group().expect("there is a keeper");
        let place = held.place();
        assert_eq!(place.load(Ordering::SeqCst), TAKEN);
        drop(held);
        assert_eq!(place.load(Ordering::SeqCst), 0);
    }
}
