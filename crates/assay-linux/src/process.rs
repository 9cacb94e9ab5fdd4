//! A measured program as a child: its own process group, pinned, spoken to over two pipes, its output drained and cut.
//!
//! It dies with the lab, with what it started in its group ([`crate::tied`]), leaves no core file, and whatever it started is found and ended with it.

use crate::tied::{HeldGroup, hold_group};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What of a program's own output is kept, bytes; the rest is counted.
const OUTPUT_KEPT: usize = 8 * 1024;
/// A reply longer than this is not a reply, bytes with the newline (PROTOCOL.md).
const LINE_LIMIT: usize = 16 * 1024;

/// How long a reply is looked for before the lab goes to sleep. Waking it up takes a fifth of a millisecond where its processor is a
/// virtual one, as long as a short visit's samples; the processor is the lab's own ([`crate::pin::keeps_off`]).
const AWAKE: Duration = Duration::from_millis(2);
/// If so much passes between two looks, another process wants the lab's processor. One who sleeps is let in at once when the reply
/// comes, one who is always awake waits for its turn: the lab sleeps for the next replies.
const TAKEN_AWAY: Duration = Duration::from_micros(500);
const SLEEPS_FOR: u32 = 100;
/// Replies that are still waited for asleep.
static ASLEEP: AtomicU32 = AtomicU32::new(0);

/// How to start a measured program.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// What runs it, with its own arguments: an emulator. Empty where it runs by itself.
    pub prefix: &'a [OsString],
    /// The executable.
    pub program: &'a Path,
    /// Its whole environment; the channel is added.
    pub environment: &'a [(String, String)],
    /// The processor it is bound to from its first instruction on.
    pub cpu: Option<usize>,
}

/// A running measured program.
#[derive(Debug)]
pub struct WorkerProcess {
    child: Child,
    held: Option<HeldGroup>,
    requests: File,
    replies: File,
    output: File,
    pending: Vec<u8>,
    kept_output: Vec<u8>,
    /// The lab runs on other processors than the program, so waiting awake takes nothing from it.
    waits_awake: bool,
    /// Bytes it has written to its standard output and error so far.
    pub output_bytes: u64,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// One line, without its newline; bytes that are not UTF-8 replaced.
    Line(String),
    /// The program closed its end.
    Closed,
    /// Nothing by the deadline.
    TimedOut,
    /// More than the longest reply without a newline.
    TooLong,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Exit code, if it exited.
    pub code: Option<i32>,
    /// Signal, if it was killed by one.
    pub signal: Option<i32>,
    /// It was still running and had to be killed.
    pub killed: bool,
    /// It left other processes behind, which were ended.
    pub left_processes: bool,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.killed, self.code, self.signal) {
            (true, _, _) => write!(f, "was still running and was killed")?,
            (_, Some(code), _) => write!(f, "exited with code {code}")?,
            (_, _, Some(signal)) => write!(f, "was ended by signal {signal} ({})", signal_name(signal))?,
            _ => write!(f, "ended")?,
        }
        if self.left_processes {
            write!(f, ", leaving other processes behind")?;
        }
        Ok(())
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV, a bad memory access",
        libc::SIGILL => "SIGILL, an instruction this CPU does not have",
        libc::SIGABRT => "SIGABRT, it called abort",
        libc::SIGFPE => "SIGFPE, such as a division by zero",
        libc::SIGBUS => "SIGBUS",
        libc::SIGKILL => "SIGKILL, perhaps out of memory",
        libc::SIGTERM => "SIGTERM",
        libc::SIGPIPE => "SIGPIPE",
        _ => "see man 7 signal",
    }
}

/// Gives memory that was freed back to the kernel, as far as the allocator can: what is left must be copied for each program that
/// is started, which takes longer than the program's own start.
pub fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no memory that is in use, and may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

impl WorkerProcess {
    /// Starts it.
    ///
    /// # Errors
    /// The program is missing or not executable, no more processes or descriptors can be had; the message names it.
    pub fn start(launch: &Launch<'_>) -> io::Result<Self> {
        let (request_read, request_write) = pipe()?;
        let (reply_read, reply_write) = pipe()?;
        let (output_read, output_write) = pipe()?;
        let mut command = match launch.prefix.split_first() {
            Some((runner, arguments)) => {
                let mut command = Command::new(runner);
                command.args(arguments).arg(launch.program);
                command
            }
            None => Command::new(launch.program),
        };
        command.env_clear();
        command.envs(launch.environment.iter().map(|(key, value)| (key, value)));
        command.env("ASSAY_CHANNEL", format!("{},{}", request_read.as_raw_fd(), reply_write.as_raw_fd()));
        command.stdin(Stdio::null()).stdout(output_write.try_clone()?).stderr(output_write);
        let inherited = [request_read.as_raw_fd(), reply_write.as_raw_fd()];
        let cpu = launch.cpu;
        let held = hold_group();
        let place = held.as_ref().map(HeldGroup::place);
        // SAFETY: between fork and exec only async-signal-safe system calls are made, on captured plain values.
        unsafe { command.pre_exec(move || before_exec(inherited, cpu, place)) };
        let child = spawn_patiently(&mut command).map_err(|error| {
            io::Error::new(error.kind(), format!("starting {}: {error}", launch.program.display()))
        })?;
        set_nonblocking(&request_write)?;
        set_nonblocking(&reply_read)?;
        set_nonblocking(&output_read)?;
        Ok(Self {
            child,
            held,
            requests: request_write,
            replies: reply_read,
            output: output_read,
            pending: Vec::new(),
            kept_output: Vec::new(),
            waits_awake: launch.cpu.is_some_and(crate::pin::keeps_off),
            output_bytes: 0,
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request, waiting until `deadline` for a program that does not read.
    ///
    /// # Errors
    /// `BrokenPipe` when the program is gone, `TimedOut` when it does not read.
    pub fn send(&mut self, text: &str, deadline: Instant) -> io::Result<()> {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            match self.requests.write(left) {
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() >= deadline {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    self.drain_output();
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next reply line, waiting until `deadline`; drains the program's own output meanwhile. A line that is there
    /// is returned however late it is asked for, so who reads lines in a loop must know how many there may be.
    ///
    /// # Errors
    /// Only a failing `poll` or `read`, which is a bug or a kernel out of memory.
    pub fn receive(&mut self, deadline: Instant) -> io::Result<Incoming> {
        loop {
            if let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
                let rest = self.pending.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.pending, rest);
                line.pop();
                return Ok(Incoming::Line(String::from_utf8_lossy(&line).into_owned()));
            }
            if self.pending.len() > LINE_LIMIT {
                return Ok(Incoming::TooLong);
            }
            if self.waits_awake {
                self.look_for_reply();
            }
            // A lab that was stopped (Ctrl-Z) or kept waiting for a processor may find the deadline past and the reply
            // there: it is looked for once more before the program is called late.
            let left = deadline.saturating_duration_since(Instant::now());
            let [reply_ready, output_ready] =
                poll_two(self.replies.as_raw_fd(), self.output.as_raw_fd(), left)?;
            if output_ready {
                self.drain_output();
            }
            if reply_ready && self.read_replies()? == 0 {
                return Ok(Incoming::Closed);
            }
            if !reply_ready && left.is_zero() {
                return Ok(Incoming::TimedOut);
            }
        }
    }

    /// Looks whether a reply has come, again and again for a while.
    fn look_for_reply(&self) {
        if ASLEEP.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            return;
        }
        let begun = Instant::now();
        let mut last = begun;
        let mut reply = libc::pollfd { fd: self.replies.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        loop {
            // SAFETY: one entry that outlives the call.
            let is_there = unsafe { libc::poll(&raw mut reply, 1, 0) } != 0;
            let now = Instant::now();
            if now - last > TAKEN_AWAY {
                ASLEEP.store(SLEEPS_FOR, Ordering::Relaxed);
                return;
            }
            last = now;
            if is_there || now - begun > AWAKE {
                return;
            }
            (0..64).for_each(|_| std::hint::spin_loop());
        }
    }

    fn read_replies(&mut self) -> io::Result<usize> {
        let mut buffer = [0u8; 16 * 1024];
        match self.replies.read(&mut buffer) {
            Ok(count) => {
                self.pending.extend_from_slice(&buffer[..count]);
                Ok(count)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(1)
            }
            Err(error) => Err(error),
        }
    }

    fn drain_output(&mut self) {
        let mut buffer = [0u8; 16 * 1024];
        // One pipe's worth per call, so that a program that never stops printing cannot hold the lab here.
        for _ in 0..8 {
            match self.output.read(&mut buffer) {
                Ok(count) if count > 0 => {
                    self.output_bytes += count as u64;
                    let room = OUTPUT_KEPT.saturating_sub(self.kept_output.len());
                    self.kept_output.extend_from_slice(&buffer[..count.min(room)]);
                }
                _ => break,
            }
        }
    }

    /// The beginning of what it printed on its standard output and error.
    pub fn output(&mut self) -> String {
        self.drain_output();
        String::from_utf8_lossy(&self.kept_output).into_owned()
    }

    /// Does it have child processes at this moment? None where /proc does not say.
    pub fn children(&self) -> Option<usize> {
        let pid = self.child.id();
        let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        Some(list.split_whitespace().count())
    }

    /// Waits up to `patience` for its end, then kills it and its group.
    pub fn finish(&mut self, patience: Duration) -> Exit {
        let deadline = Instant::now() + patience;
        let mut status = self.child.try_wait().ok().flatten();
        while status.is_none() && Instant::now() < deadline {
            self.drain_output();
            std::thread::sleep(Duration::from_micros(500));
            status = self.child.try_wait().ok().flatten();
        }
        let killed = status.is_none();
        let group = -(self.child.id() as i32);
        if !killed {
            crate::family::reap_group(self.child.id());
        }
        // SAFETY: kill takes plain integers; the group is the child's own (setpgid in before_exec), never ours. The
        // child, if it has ended, was just reaped, but its group lives on as long as a member does.
        let left_processes = if killed { false } else { unsafe { libc::kill(group, 0) == 0 } };
        // SAFETY: as above.
        unsafe { libc::kill(group, libc::SIGKILL) };
        if killed {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // Its number may be another group's from now on.
        self.held = None;
        Exit {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            killed,
            left_processes,
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

/// Raises the limit of open files as far as allowed and returns it: each live program needs three descriptors.
pub fn raise_file_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct outlives both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return 256;
        }
        limit.rlim_cur = limit.rlim_max.min(65_536);
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
    }
    limit.rlim_cur
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
fn before_exec(inherited: [RawFd; 2], cpu: Option<usize>, place: Option<&AtomicI32>) -> io::Result<()> {
    // SAFETY: plain system calls on integers and on a struct that outlives the call.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &no_core);
        for descriptor in inherited {
            if libc::fcntl(descriptor, libc::F_SETFD, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    if let Some(place) = place {
        HeldGroup::begin(place);
    }
    match cpu {
        Some(cpu) => crate::pin::pin(0, cpu),
        None => Ok(()),
    }
}

/// A program just written can be "busy" for a moment, while a sibling forked during the writing has not yet called
/// exec and still holds the file open.
fn spawn_patiently(command: &mut Command) -> io::Result<Child> {
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            outcome => return outcome,
        }
    }
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: the array has room for two descriptors; on success both are ours alone.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            let error = io::Error::last_os_error();
            return Err(io::Error::new(
                error.kind(),
                format!("pipe2: {error} (too many measured programs at once? raise `ulimit -n`)"),
            ));
        }
        Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])))
    }
}

fn set_nonblocking(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as `file` lives.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Which of two descriptors can be read (or is closed), waiting at most `patience`.
fn poll_two(first: RawFd, second: RawFd, patience: Duration) -> io::Result<[bool; 2]> {
    let wanted = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut set = [wanted(first), wanted(second)];
    let milliseconds = patience.as_millis().clamp(1, 1000) as libc::c_int;
    // SAFETY: `set` has two entries and outlives the call.
    let ready = unsafe { libc::poll(set.as_mut_ptr(), 2, milliseconds) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok([false; 2]) } else { Err(error) };
    }
    // A program that closed its output but lives on makes POLLHUP come for ever: it is not waited for.
    let hung_up_output = set[1].revents & libc::POLLIN == 0 && set[1].revents & libc::POLLHUP != 0;
    if hung_up_output && set[0].revents == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok([set[0].revents != 0, set[1].revents & libc::POLLIN != 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (WorkerProcess, tempdir::Script) {
        let script = tempdir::Script::new(script);
        let environment = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let process = WorkerProcess::start(&Launch {
            prefix: &[],
            program: &script.path,
            environment: &environment,
            cpu: None,
        })
        .unwrap();
        (process, script)
    }

    mod tempdir {
        use std::os::unix::fs::PermissionsExt;
        use std::path::PathBuf;
        use std::sync::atomic::{AtomicU32, Ordering};

        pub struct Script {
            pub path: PathBuf,
        }

        impl Script {
            pub fn new(body: &str) -> Self {
                static NUMBER: AtomicU32 = AtomicU32::new(0);
                let number = NUMBER.fetch_add(1, Ordering::SeqCst);
                let path =
                    std::env::temp_dir().join(format!("assay-linux-{}-{number}.sh", std::process::id()));
                let text = format!("#!/bin/bash\nr=${{ASSAY_CHANNEL%,*}}; w=${{ASSAY_CHANNEL#*,}}\n{body}\n");
                std::fs::write(&path, text).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
                Self { path }
            }
        }

        impl Drop for Script {
            fn drop(&mut self) {
                let _ = std::fs::remove_file(&self.path);
            }
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn carries_requests_and_replies_and_sees_the_end() {
        let (mut process, _script) = shell("eval \"read line <&$r\"; eval \"echo got \\$line >&$w\"");
        process.send("hello\n", soon()).unwrap();
        assert_eq!(process.receive(soon()).unwrap(), Incoming::Line("got hello".into()));
        assert_eq!(process.receive(soon()).unwrap(), Incoming::Closed);
        let ended = process.finish(Duration::from_secs(10));
        assert_eq!((ended.code, ended.killed, ended.left_processes), (Some(0), false, false));
    }

    #[test]
    fn keeps_the_start_of_a_megabyte_of_output_and_counts_the_rest() {
        let (mut process, _script) = shell("head -c 1000000 /dev/zero | tr '\\0' x; eval \"echo done >&$w\"");
        assert_eq!(process.receive(soon()).unwrap(), Incoming::Line("done".into()));
        process.finish(Duration::from_secs(10));
        assert!(process.output().len() <= OUTPUT_KEPT);
        assert!(process.output_bytes >= 900_000, "{}", process.output_bytes);
    }

    #[test]
    fn hears_a_reply_at_once_or_late_whether_it_waits_awake_or_not() {
        for waits_awake in [false, true] {
            for seconds in ["0", "0.02"] {
                let (mut process, _script) =
                    shell(&format!("sleep {seconds}; eval \"echo done >&$w\"; sleep 1000"));
                process.waits_awake = waits_awake;
                assert_eq!(process.receive(soon()).unwrap(), Incoming::Line("done".into()));
                assert_eq!(process.receive(Instant::now()).unwrap(), Incoming::TimedOut);
            }
        }
    }

    #[test]
    fn kills_a_program_that_does_not_end() {
        let (mut process, _script) = shell("sleep 1000");
        assert_eq!(process.receive(Instant::now() + Duration::from_millis(20)).unwrap(), Incoming::TimedOut);
        assert!(process.finish(Duration::ZERO).killed);
    }

    #[test]
    fn takes_a_reply_that_was_there_before_anyone_looked() {
        let (mut process, _script) = shell("eval \"echo early >&$w\"; sleep 1000");
        let past = Instant::now();
        let mut looks = (0..2000).map(|_| {
            std::thread::sleep(Duration::from_millis(5));
            process.receive(past).unwrap()
        });
        let found = looks.find(|incoming| *incoming != Incoming::TimedOut);
        assert_eq!(found, Some(Incoming::Line("early".into())));
    }

    #[test]
    fn finds_what_a_program_left_running() {
        let (mut process, _script) = shell("sleep 1000 & eval \"echo bye >&$w\"");
        assert_eq!(process.receive(soon()).unwrap(), Incoming::Line("bye".into()));
        assert!(process.finish(Duration::from_secs(10)).left_processes);
    }

    #[test]
    fn tells_the_signal_that_ended_it() {
        let (mut process, _script) = shell("kill -SEGV $$");
        assert_eq!(process.receive(soon()).unwrap(), Incoming::Closed);
        let ended = process.finish(Duration::from_secs(10));
        assert_eq!(ended.signal, Some(libc::SIGSEGV));
        assert!(ended.to_string().contains("SIGSEGV"));
    }

    #[test]
    fn refuses_a_line_without_end() {
        let (mut process, _script) = shell("eval \"head -c 200000 /dev/zero >&$w\"");
        assert_eq!(process.receive(soon()).unwrap(), Incoming::TooLong);
    }

    #[test]
    fn names_a_program_that_is_missing() {
        let launch =
            Launch { prefix: &[], program: Path::new("/nowhere/at-all"), environment: &[], cpu: None };
        assert!(WorkerProcess::start(&launch).unwrap_err().to_string().contains("/nowhere/at-all"));
    }
}
