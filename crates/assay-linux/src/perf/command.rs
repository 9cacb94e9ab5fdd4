//! A command with its events: opened between fork and exec, so that nothing but the command is counted.
//!
//! Method: `std::process` forks and executes; in between the child says its number through a pipe and waits; a thread of
//! the lab opens the events on that number and lets it go on.

use super::counter::{Counter, CounterReading, Target};
use super::event::CounterEvent;
use super::refusal::CounterRefusal;
use crate::tied::with_the_lab;
use assay_pure::command::EndedBy;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often the lab looks for an interrupt and the time limit while a command goes on.
const LOOK: Duration = Duration::from_millis(50);
/// How long a command that was asked to end may take, before it is ended by the next stronger signal.
const GRACE: Duration = Duration::from_millis(1500);

/// The events of a command, open or refused, in the order asked for.
#[derive(Debug)]
pub struct CommandCounters {
    events: Vec<(CounterEvent, Result<Counter, CounterRefusal>)>,
}

impl CommandCounters {
    /// What each has counted, or why it was not opened.
    ///
    /// # Errors
    /// A failing read, which is a bug or a kernel out of order.
    pub fn read(&self) -> io::Result<Vec<(CounterEvent, Result<CounterReading, CounterRefusal>)>> {
        let read = |(event, counter): &(CounterEvent, Result<Counter, CounterRefusal>)| {
            let reading = match counter {
                Ok(counter) => Ok(counter.read()?),
                Err(refusal) => Err(refusal.clone()),
            };
            Ok((event.clone(), reading))
        };
        self.events.iter().map(read).collect()
    }
}

/// Opens groups of events on a process that is about to exec. In a group the first that opens leads; software events
/// stand alone, as they need no counter.
fn open(groups: &[Vec<CounterEvent>], target: Target) -> CommandCounters {
    let mut events: Vec<(CounterEvent, Result<Counter, CounterRefusal>)> = Vec::new();
    for group in groups {
        let mut leader: Option<usize> = None;
        for event in group {
            let leading = leader.and_then(|at| events[at].1.as_ref().ok()).filter(|_| !event.is_software());
            let counter = Counter::open(event, target, leading);
            if counter.is_ok() && leader.is_none() && !event.is_software() {
                leader = Some(events.len());
            }
            events.push((event.clone(), counter));
        }
    }
    CommandCounters { events }
}

/// Starts a command and counts it from its first instruction on, with all processes that it starts if they are to be
/// followed. Events of one group are on counters together.
///
/// # Errors
/// The program is missing or not executable, or no process can be had. A refused event is no error.
pub fn spawn(
    mut command: Command,
    groups: &[Vec<CounterEvent>],
    follow: bool,
) -> io::Result<(Child, CommandCounters)> {
    let (announcement, announce) = pipe()?;
    let (release, released) = pipe()?;
    let ends = ChildEnds {
        announce: announce.as_raw_fd(),
        release: release.as_raw_fd(),
        lab_end: released.as_raw_fd(),
    };
    // First its guard: what announces itself is the child below it, and the guard itself is not counted.
    with_the_lab(&mut command);
    // SAFETY: between fork and exec only async-signal-safe system calls are made, on captured plain values.
    unsafe { command.pre_exec(move || wait_for_release(ends)) };
    std::thread::scope(|scope| {
        let opener = scope.spawn(move || open_when_announced(announcement, released, groups, follow));
        let child = command.spawn();
        // If there was no fork nobody announces anything: closing our end lets the thread see that.
        drop(announce);
        let counters = opener.join().expect("opening counters does not panic");
        drop(release);
        Ok((child?, counters?.expect("a started child has announced itself")))
    })
}

/// The number of the child, its counters, and the child released.
fn open_when_announced(
    mut announcement: File,
    mut released: File,
    groups: &[Vec<CounterEvent>],
    follow: bool,
) -> io::Result<Option<CommandCounters>> {
    let mut number = [0u8; 4];
    match announcement.read_exact(&mut number) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let counters = open(groups, Target::FromExec { process: u32::from_ne_bytes(number), follow });
    released.write_all(&[1])?;
    Ok(Some(counters))
}

/// The pipes as the child finds them.
#[derive(Clone, Copy)]
struct ChildEnds {
    announce: RawFd,
    release: RawFd,
    /// The lab's end of `release`.
    lab_end: RawFd,
}

/// Runs in the child: only async-signal-safe calls.
fn wait_for_release(ends: ChildEnds) -> io::Result<()> {
    let ChildEnds { announce, release, lab_end } = ends;
    // SAFETY: plain system calls on integers and on buffers that outlive them. The child closes its own copy of a
    // descriptor: while it held that, it would wait for ever for a lab that gave up.
    unsafe {
        libc::close(lab_end);
        let number = (libc::getpid() as u32).to_ne_bytes();
        if libc::write(announce, number.as_ptr().cast(), number.len()) != number.len() as isize {
            return Err(io::Error::last_os_error());
        }
        let mut byte = 0u8;
        loop {
            match libc::read(release, (&raw mut byte).cast(), 1) {
                1 => return Ok(()),
                0 => return Err(io::Error::from_raw_os_error(libc::EPIPE)),
                _ if *libc::__errno_location() == libc::EINTR => {}
                _ => return Err(io::Error::last_os_error()),
            }
        }
    }
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: the array has room for two descriptors; on success both are ours alone.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])))
    }
}

/// How a command ended and what the kernel knows of it.
#[derive(Clone, Copy, Debug)]
pub struct CommandEnding {
    /// Its exit code or signal.
    pub status: ExitStatus,
    /// Whether it ended of itself.
    pub end: EndedBy,
    /// From the release to the end.
    pub elapsed: Duration,
    /// Time of the processor in user mode, with the children that it waited for.
    pub user: Duration,
    /// The same in the kernel.
    pub system: Duration,
    /// The most memory that the command, or a child that it waited for, had at once, bytes; none where the lab itself had as
    /// much before, which the kernel counts as the command's own.
    pub peak_resident: Option<u64>,
}

impl CommandEnding {
    /// Waits for the end of a command, which is asked to end at the time limit or when the lab is asked to stop
    /// ([`crate::interrupt`]), and made to end when it does not.
    ///
    /// # Errors
    /// A failing `wait4`, which is a bug.
    pub fn wait(child: &mut Child, limit: Option<Duration>) -> io::Result<CommandEnding> {
        let started = Instant::now();
        let process = child.id() as libc::pid_t;
        let handle = ProcessHandle::open(process);
        let mut end = EndedBy::Itself;
        let mut next: Option<(Instant, libc::c_int)> = None;
        while !handle.wait(process, LOOK) {
            let now = Instant::now();
            if end == EndedBy::Itself {
                end = match limit {
                    _ if crate::interrupt::asked() => EndedBy::Interrupt,
                    Some(limit) if now - started >= limit => EndedBy::TimeLimit,
                    _ => continue,
                };
                // A terminal's Ctrl-C has reached the command itself: it may end in its own way first.
                let patience = if end == EndedBy::Interrupt { GRACE / 3 } else { Duration::ZERO };
                next = Some((now + patience, libc::SIGTERM));
            }
            if let Some((_, signal)) = next.filter(|(when, _)| now >= *when) {
                // SAFETY: kill takes integers; the process has not been waited for, so the number is still its own.
                unsafe { libc::kill(process, signal) };
                next = Some((now + GRACE, libc::SIGKILL));
            }
        }
        let elapsed = started.elapsed();
        let (status, usage) = reap(process)?;
        let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
        let (user, system) = (time(usage.ru_utime), time(usage.ru_stime));
        let peak = usage.ru_maxrss as u64 * 1024;
        let peak_resident = crate::resident::own_peak().filter(|own| peak > *own).map(|_| peak);
        Ok(CommandEnding { status, end, elapsed, user, system, peak_resident })
    }
}

/// A descriptor that becomes readable at the end of a process; none on kernels before 5.3.
struct ProcessHandle(Option<File>);

impl ProcessHandle {
    fn open(process: libc::pid_t) -> ProcessHandle {
        // SAFETY: the call takes integers; a descriptor it returns is ours alone.
        unsafe {
            let descriptor = libc::syscall(libc::SYS_pidfd_open, process, 0) as RawFd;
            ProcessHandle((descriptor >= 0).then(|| File::from_raw_fd(descriptor)))
        }
    }

    /// Whether the process has ended, waiting at most that long. It is not reaped.
    fn wait(&self, process: libc::pid_t, patience: Duration) -> bool {
        if let Some(file) = &self.0 {
            let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: `wanted` outlives the call. An interrupted call is as good as one that timed out.
            return unsafe { libc::poll(&mut wanted, 1, patience.as_millis() as libc::c_int) } > 0;
        }
        std::thread::sleep(Duration::from_millis(1));
        // SAFETY: all zeros are a valid siginfo_t, which outlives the call; WNOWAIT leaves the process to be reaped.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, process as libc::id_t, &mut info, options) == 0 && info.si_pid() != 0
        }
    }
}

fn reap(process: libc::pid_t) -> io::Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    // SAFETY: both are plain data that outlive the call; all zeros are a valid rusage.
    let (reaped, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(process, &mut status, 0, &mut usage), usage)
    };
    if reaped != process {
        return Err(io::Error::last_os_error());
    }
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(names: &[&str]) -> Vec<CounterEvent> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Software events of a script, or None (said) where even those are refused.
    fn count(script: &str, names: &[&str], follow: bool) -> Option<(Vec<CounterReading>, CommandEnding)> {
        let (mut child, counters) = spawn(shell(script), &[events(names)], follow).unwrap();
        let ending = CommandEnding::wait(&mut child, None).unwrap();
        let mut readings = Vec::new();
        for (_, reading) in counters.read().unwrap() {
            match reading {
                Ok(reading) => readings.push(reading),
                Err(refusal) => {
                    println!("skipped: {refusal}");
                    return None;
                }
            }
        }
        Some((readings, ending))
    }

    #[test]
    fn the_most_memory_of_a_command_is_told_where_it_is_more_than_our_own() {
        let peak = |script: &str| {
            let (mut child, _) = spawn(shell(script), &[], true).unwrap();
            CommandEnding::wait(&mut child, None).unwrap().peak_resident
        };
        // A variable of the shell's, 400 MB long, which is more than the tests have.
        let most = peak("x=$(head -c 400000000 /dev/zero | tr '\\0' a); :").expect("more than our own");
        assert!((400_000_000..4_000_000_000).contains(&most), "{most}");
        let own = crate::resident::own_peak().expect("Linux says");
        assert!(peak(":").is_none_or(|least| least > own));
    }

    #[test]
    fn counts_a_command_from_its_first_instruction_to_its_last() {
        let Some((readings, ending)) = count("exit 7", &["page-faults:u", "task-clock:u"], true) else {
            return;
        };
        assert_eq!((ending.status.code(), ending.end), (Some(7), EndedBy::Itself));
        // A shell touches some tens of pages, its time is some fraction of a millisecond at least.
        assert!((10..100_000).contains(&readings[0].value), "{readings:?}");
        assert!(readings[1].value > 10_000, "{readings:?}");
        for reading in readings {
            assert!(reading.was_counted() && !reading.is_multiplexed(), "{reading:?}");
        }
    }

    #[test]
    fn counts_what_the_command_starts_if_it_is_to_be_followed() {
        let Some((alone, _)) = count("true", &["page-faults:u"], true) else { return };
        // Each subshell with an external program faults in pages of its own.
        let script = "for i in 1 2 3 4 5 6 7 8; do (env true); done; exit 0";
        let Some((many, _)) = count(script, &["page-faults:u"], true) else { return };
        assert!(many[0].value > alone[0].value + 8 * 10, "{} against {}", many[0].value, alone[0].value);
        let Some((unfollowed, _)) = count(script, &["page-faults:u"], false) else { return };
        assert!(unfollowed[0].value + 8 * 10 < many[0].value, "{} of {}", unfollowed[0].value, many[0].value);
    }

    #[test]
    fn a_refused_event_stands_beside_counted_ones() {
        // No kernel has this software event; an event that the kernel does not know must not spoil its group.
        let nonsense = CounterEvent { config: 99, .."task-clock".parse().unwrap() };
        let group = vec![nonsense, "page-faults:u".parse().unwrap()];
        let (mut child, counters) = spawn(shell("true"), &[group], true).unwrap();
        CommandEnding::wait(&mut child, None).unwrap();
        let readings = counters.read().unwrap();
        assert_eq!(readings.len(), 2);
        assert!(readings[0].1.is_err());
        match &readings[1].1 {
            Ok(reading) => assert!(reading.value > 0),
            Err(refusal) => println!("skipped: {refusal}"),
        }
    }

    #[test]
    fn a_missing_program_is_an_error_and_leaves_no_thread_waiting() {
        let command = Command::new("no-such-program-anywhere");
        let error = spawn(command, &[events(&["task-clock"])], true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_command_that_never_ends_is_ended_at_the_limit_even_if_it_ignores_being_asked() {
        for (script, signal) in
            [("exec sleep 100", libc::SIGTERM), ("trap '' TERM; while :; do sleep 0.05; done", libc::SIGKILL)]
        {
            let (mut child, _counters) = spawn(shell(script), &[], true).unwrap();
            let ending = CommandEnding::wait(&mut child, Some(Duration::from_millis(200))).unwrap();
            assert_eq!((ending.end, ending.status.signal()), (EndedBy::TimeLimit, Some(signal)), "{script}");
        }
    }

    #[test]
    fn the_fallback_without_process_descriptors_sees_the_end_too() {
        let (mut child, _counters) = spawn(shell("sleep 0.05"), &[], true).unwrap();
        let handle = ProcessHandle(None);
        let process = child.id() as libc::pid_t;
        while !handle.wait(process, LOOK) {}
        assert!(reap(process).unwrap().0.success());
        assert!(child.try_wait().is_err(), "it was reaped");
    }
}
