//! A command of the user's, executed once under drawn surroundings: its own process group, pinned, its streams kept, all of it
//! ended at a time limit or when somebody interrupts the lab.
//!
//! Nothing of it is read before there is something to read, so the lab sleeps while it measures; it looks up five times a
//! second for an interruption.

mod pauses;

use crate::family::{WatchedProcess, kill_all};
use crate::tied::{HeldGroup, hold_group};
use pauses::Pauses;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicI32;
use std::time::{Duration, Instant};

/// Bytes of each stream that are kept; the rest is counted.
const KEPT: usize = 16 << 20;
/// How often it is looked whether somebody has interrupted the lab.
const LOOK: Duration = Duration::from_millis(200);
/// How long an interrupted command may take to end in its own way.
const GRACE: Duration = Duration::from_millis(500);
/// Asks for the personality without changing it (personality(2)).
const ASK: libc::c_ulong = 0xffff_ffff;

/// What to execute, and how.
#[derive(Clone, Debug)]
pub struct CommandSpec<'a> {
    /// For `sh -c`.
    pub command: &'a str,
    /// Where.
    pub folder: &'a Path,
    /// Added to the lab's own environment.
    pub environment: &'a [(OsString, OsString)],
    /// The processor that it and all that it starts are bound to.
    pub cpu: Option<usize>,
    /// Whether the kernel may place stack, heap and libraries at random.
    pub random_addresses: bool,
    /// How long it may take.
    pub limit: Option<Duration>,
    /// A pipe with a name is made here, and what is written to it kept: every process that opens it as its output file appends.
    pub side: Option<&'a Path>,
    /// It is stopped for this long after each as long of running; none: never.
    pub pauses: Option<Duration>,
}

/// A stream as far as it was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedStream {
    /// The beginning.
    pub bytes: Vec<u8>,
    /// Bytes behind it.
    pub lost: u64,
}

/// Why it did not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// It took longer than allowed.
    Limit,
    /// Somebody interrupted the lab, or the command and then the lab.
    Interrupted,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// Of the shell.
    pub status: ExitStatus,
    /// None: it ended by itself.
    pub killed: Option<Killed>,
    /// From its start until it was seen to have ended.
    pub elapsed: Duration,
    /// User and system time of it and of all descendants that were waited for (`wait4`).
    pub cpu: Duration,
    /// The most memory that one of its processes had at once, bytes, of those that were waited for; none where it was not more
    /// than the lab's own, which the kernel counts as the command's.
    pub peak_resident: Option<u64>,
    /// Standard output.
    pub stdout: CapturedStream,
    /// Standard error.
    pub stderr: CapturedStream,
    /// The named pipe.
    pub side: CapturedStream,
    /// Processes of its group were still there, and were killed.
    pub left_processes: bool,
    /// How long it was stopped.
    pub paused: Duration,
}

/// Whether this process may switch address randomisation off for what it starts. Containers often forbid it.
pub fn can_fix_addresses() -> bool {
    // The personality is a thread's own, so it is tried in one that ends.
    let attempt = std::thread::spawn(|| {
        // SAFETY: plain numbers.
        unsafe {
            let now = libc::personality(ASK);
            let fixed = libc::ADDR_NO_RANDOMIZE;
            now >= 0
                && libc::personality(now as libc::c_ulong | fixed as libc::c_ulong) >= 0
                && libc::personality(ASK) & fixed != 0
        }
    });
    attempt.join().unwrap_or(false)
}

/// Whether the kernel places anything at random at all (`kernel.randomize_va_space`).
pub fn kernel_randomises() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/randomize_va_space").is_ok_and(|text| text.trim() != "0")
}

/// Executes a command to its end.
///
/// # Errors
/// The folder, the shell or the named pipe cannot be had, or the kernel refuses to wait; the message names it. How the
/// command ended is no error here.
pub fn run(asked: &CommandSpec<'_>) -> io::Result<CommandResult> {
    let side = asked.side.map(crate::pipe::named).transpose()?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(asked.command).current_dir(asked.folder);
    command.envs(asked.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (cpu, random) = (asked.cpu, asked.random_addresses);
    let held = hold_group();
    let place = held.as_ref().map(HeldGroup::place);
    // SAFETY: between fork and exec only async-signal-safe system calls are made, on captured plain values.
    unsafe { command.pre_exec(move || before_exec(cpu, random, place)) };
    let own = crate::resident::own_now();
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        io::Error::new(error.kind(), format!("starting sh in {}: {error}", asked.folder.display()))
    })?;
    let pid = child.id();
    let mut streams = [
        Stream::new(child.stdout.take().map(|pipe| owned(pipe.into()))),
        Stream::new(child.stderr.take().map(|pipe| owned(pipe.into()))),
        Stream::new(side),
    ];
    let mut pauses = Pauses::new(asked.pauses);
    let killed = follow(pid, &mut streams, asked.limit.map(|limit| begun + limit), &mut pauses);
    let (status, cpu, peak) = wait(pid)?;
    let peak_resident = own.filter(|own| peak > *own).map(|_| peak);
    let elapsed = begun.elapsed();
    drain(&mut streams);
    let left_processes = end_group(pid) && killed.is_none();
    drop(held);
    drain(&mut streams);
    let killed = killed.or_else(|| ended_first(status).then_some(Killed::Interrupted));
    let [stdout, stderr, side] = streams.map(|stream| stream.kept);
    let paused = pauses.total;
    Ok(CommandResult {
        status,
        killed,
        elapsed,
        cpu,
        peak_resident,
        stdout,
        stderr,
        side,
        left_processes,
        paused,
    })
}

/// Whether a signal that asks the lab to stop has ended the command before the lab had it. A shell makes of a signal that ended
/// its last command an exit code.
fn ended_first(status: ExitStatus) -> bool {
    let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
    signal.is_some_and(crate::interrupt::wait_behind)
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
fn before_exec(cpu: Option<usize>, random: bool, place: Option<&AtomicI32>) -> io::Result<()> {
    // SAFETY: plain system calls on integers and on a struct that outlives the call.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &no_core);
        let now = libc::personality(ASK);
        if now >= 0 {
            // Refused in some containers; who asks has looked with `can_fix_addresses`.
            let others = now & !libc::ADDR_NO_RANDOMIZE;
            let wanted = if random { others } else { others | libc::ADDR_NO_RANDOMIZE };
            libc::personality(wanted as libc::c_ulong);
        }
    }
    if let Some(place) = place {
        HeldGroup::begin(place);
    }
    cpu.map_or(Ok(()), |cpu| crate::pin::pin(0, cpu))
}

/// One of its outputs.
struct Stream {
    file: Option<File>,
    kept: CapturedStream,
}

impl Stream {
    fn new(file: Option<File>) -> Stream {
        if let Some(file) = &file {
            set_nonblocking(file.as_raw_fd());
        }
        Stream { file, kept: CapturedStream::default() }
    }

    /// Takes what is there, a pipe's worth at most; forgets the stream at its end.
    fn take(&mut self) -> usize {
        let mut buffer = [0u8; 64 * 1024];
        let Some(file) = &mut self.file else { return 0 };
        match file.read(&mut buffer) {
            Ok(0) => self.file = None,
            Ok(count) => {
                let room = (KEPT - self.kept.bytes.len()).min(count);
                self.kept.bytes.extend_from_slice(&buffer[..room]);
                self.kept.lost += (count - room) as u64;
                return count;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.file = None,
        }
        0
    }
}

/// What is left when nobody writes any more; bounded, in case somebody does.
fn drain(streams: &mut [Stream]) {
    for stream in streams {
        for _ in 0..256 {
            if stream.take() == 0 {
                break;
            }
        }
    }
}

/// Reads until the process has ended or has to; then it is killed.
fn follow(
    pid: u32,
    streams: &mut [Stream; 3],
    deadline: Option<Instant>,
    pauses: &mut Pauses,
) -> Option<Killed> {
    let watched = WatchedProcess::new(pid).ok();
    let mut interrupted: Option<Instant> = None;
    loop {
        let now = Instant::now();
        let left = deadline.map_or(LOOK, |deadline| deadline.saturating_duration_since(now)).min(LOOK);
        if ended_after(pid, watched.as_ref(), streams, pauses.left(left)) {
            return interrupted.map(|_| Killed::Interrupted);
        }
        pauses.turn(pid);
        if crate::interrupt::asked() && interrupted.is_none() {
            interrupted = Some(Instant::now());
            pauses.end(pid);
            // SAFETY: plain numbers; the group is the child's own.
            unsafe { libc::kill(-(pid as i32), libc::SIGINT) };
        }
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || interrupted.is_some_and(|since| since.elapsed() >= GRACE) {
            kill_all(pid);
            return Some(if interrupted.is_some() { Killed::Interrupted } else { Killed::Limit });
        }
    }
}

/// Sleeps until something is written or the process ends, at most `left`; reads; says whether it has ended.
fn ended_after(
    pid: u32,
    watched: Option<&WatchedProcess>,
    streams: &mut [Stream; 3],
    left: Duration,
) -> bool {
    let descriptor = |file: &Option<File>| file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let [first, second, third] = [0, 1, 2].map(|at: usize| descriptor(&streams[at].file));
    let end = watched.map_or(-1, WatchedProcess::descriptor);
    let mut entries =
        [first, second, third, end].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // A kernel without pidfds is asked in short turns.
    let left = if watched.is_some() { left } else { left.min(Duration::from_millis(5)) };
    let milliseconds = left.as_micros().div_ceil(1000) as i32;
    // SAFETY: the entries outlive the call; negative descriptors are passed over.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, milliseconds) };
    for (entry, stream) in entries.iter().zip(streams.iter_mut()) {
        if entry.revents != 0 {
            stream.take();
        }
    }
    match watched {
        Some(_) => entries[3].revents != 0,
        None => has_ended(pid),
    }
}

/// Whether a child has ended, leaving it to be waited for.
fn has_ended(pid: u32) -> bool {
    // SAFETY: an all-zero siginfo_t is valid, and the kernel fills it.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, pid, &mut info, flags) == 0 && info.si_pid() == pid as i32
    }
}

/// How it ended, its CPU time and the most memory of one of its processes, bytes.
fn wait(pid: u32) -> io::Result<(ExitStatus, Duration, u64)> {
    let mut status = 0;
    loop {
        // SAFETY: an all-zero rusage is valid; both are filled by the kernel and outlive the call.
        let (found, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage), usage)
        };
        if found == pid as i32 {
            let time = |time: libc::timeval| {
                Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
            };
            let cpu = time(usage.ru_utime) + time(usage.ru_stime);
            return Ok((ExitStatus::from_raw(status), cpu, usage.ru_maxrss as u64 * 1024));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(io::Error::new(error.kind(), format!("waiting for process {pid}: {error}")));
        }
    }
}

/// Kills what is left of a group; says whether there was anything alive.
fn end_group(pid: u32) -> bool {
    crate::family::reap_group(pid);
    // SAFETY: plain numbers; a group lives on as long as a member does, so its number is nobody else's.
    unsafe { libc::kill(-(pid as i32), libc::SIGKILL) == 0 }
}

fn owned(descriptor: std::os::fd::OwnedFd) -> File {
    File::from(descriptor)
}

fn set_nonblocking(descriptor: RawFd) {
    // SAFETY: plain numbers of a descriptor that is open.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(command: &str) -> CommandSpec<'_> {
        CommandSpec {
            command,
            folder: Path::new("/"),
            environment: &[],
            cpu: None,
            random_addresses: true,
            limit: Some(Duration::from_secs(120)),
            side: None,
            pauses: None,
        }
    }

    fn text(kept: &CapturedStream) -> String {
        String::from_utf8_lossy(&kept.bytes).into_owned()
    }

    #[test]
    fn a_command_is_executed_in_its_folder_and_both_streams_are_kept() {
        let ran = run(&asked("pwd; echo bad >&2; exit 3")).unwrap();
        assert_eq!((text(&ran.stdout), text(&ran.stderr)), ("/\n".into(), "bad\n".into()));
        assert_eq!((ran.status.code(), ran.killed, ran.left_processes), (Some(3), None, false));
    }

    #[test]
    fn a_long_output_is_counted_behind_what_is_kept() {
        let command = format!("head -c {} /dev/zero", KEPT + 100_000);
        let ran = run(&asked(&command)).unwrap();
        assert_eq!((ran.stdout.bytes.len(), ran.stdout.lost), (KEPT, 100_000));
    }

    #[test]
    fn what_does_not_end_is_killed_with_what_it_started() {
        let limit = Some(Duration::from_millis(300));
        let ran = run(&CommandSpec { limit, ..asked("sleep 1000 & sleep 1000") }).unwrap();
        assert_eq!((ran.killed, ran.status.signal()), (Some(Killed::Limit), Some(libc::SIGKILL)));
        assert!(ran.elapsed >= Duration::from_millis(300));
    }

    #[test]
    fn what_a_command_leaves_behind_is_ended_and_not_waited_for() {
        let ran = run(&asked("sleep 1000 & echo done")).unwrap();
        assert_eq!((text(&ran.stdout), ran.left_processes, ran.killed), ("done\n".into(), true, None));
    }

    #[test]
    fn every_program_appends_to_the_named_pipe() {
        let path = std::env::temp_dir().join(format!("assay-side-{}", std::process::id()));
        let command = format!("echo one > '{0}'; echo two > '{0}'", path.display());
        let ran = run(&CommandSpec { side: Some(&path), ..asked(&command) }).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text(&ran.side), "one\ntwo\n");
    }

    #[test]
    fn the_cpu_time_is_of_all_that_it_started() {
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let alone = run(&asked(script)).unwrap().cpu;
        assert!(alone > Duration::ZERO);
        // The same work in a grandchild is counted for the shell that waits for it.
        let below =
            run(&asked(&format!("sh -c 'sh -c \"{}\"; true'; true", script.replace('$', "\\$")))).unwrap();
        assert!(below.status.success() && below.cpu > Duration::ZERO, "{below:?}");
        let idle = run(&asked("exec sleep 0.3")).unwrap();
        assert!(idle.elapsed >= Duration::from_millis(300) && idle.cpu < idle.elapsed, "{idle:?}");
    }

    #[test]
    fn a_command_that_is_stopped_by_turns_takes_that_longer() {
        let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let ran = run(&CommandSpec { pauses: Some(Duration::from_millis(10)), ..asked(script) }).unwrap();
        assert!(ran.status.success() && ran.paused > Duration::ZERO, "{ran:?}");
        assert!(ran.elapsed > ran.paused, "{ran:?}");
        assert_eq!(run(&asked("true")).unwrap().paused, Duration::ZERO);
        // Its limit holds while it is stopped, too.
        let (limit, pauses) = (Some(Duration::from_millis(300)), Some(Duration::from_secs(100)));
        let ran = run(&CommandSpec { limit, pauses, ..asked("sleep 1000") }).unwrap();
        assert_eq!(ran.killed, Some(Killed::Limit));
    }

    /// `startstack` of the program that reads it, as proc(5) has it.
    fn stack(random_addresses: bool, padding: usize) -> u64 {
        let environment = [(OsString::from("ASSAY_PADDING"), OsString::from("x".repeat(padding)))];
        let command = CommandSpec {
            random_addresses,
            environment: &environment,
            ..asked("exec cut -d' ' -f28 /proc/self/stat")
        };
        text(&run(&command).unwrap().stdout).trim().parse().unwrap()
    }

    #[test]
    fn padding_moves_a_stack_that_is_not_placed_at_random() {
        if !can_fix_addresses() {
            println!("skipped: address randomisation cannot be switched off here");
            return;
        }
        let base = stack(false, 0);
        assert_ne!(base, 0);
        for padding in [16, 32, 1024, 4080] {
            assert_eq!(stack(false, padding), base - padding as u64);
        }
        if kernel_randomises() {
            let found: std::collections::HashSet<u64> = (0..4).map(|_| stack(true, 0)).collect();
            assert!(found.len() > 1, "{found:?}");
        }
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let error = run(&CommandSpec { folder: Path::new("/no/such/folder"), ..asked("true") })
            .unwrap_err()
            .to_string();
        assert!(error.contains("/no/such/folder"), "{error}");
        let side = Some(Path::new("/no/such/folder/pipe"));
        assert!(run(&CommandSpec { side, ..asked("true") }).unwrap_err().to_string().contains("named pipe"));
    }
}
