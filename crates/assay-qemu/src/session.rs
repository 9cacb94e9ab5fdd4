//! The two files of shared memory of this process: the session's control file and its own.

use crate::heads::HEADS;
use crate::segment::SharedSegment;
use assay_predict::trace::channel::{self, control, head, process};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What stays the same over forks.
pub(crate) struct PluginSession {
    pub(crate) folder: String,
    pub(crate) control: SharedSegment,
    /// Where the process's file is mapped; a fork maps another file at the same place.
    pub(crate) own: SharedSegment,
    pub(crate) architecture: u32,
    /// Every block is logged, in order; otherwise counted while there is one thread.
    pub(crate) detailed: bool,
    /// Children are traced.
    pub(crate) follow: bool,
    /// The emulator and its own arguments, to execute further programs with.
    pub(crate) prefix: Vec<Vec<u8>>,
}

static SESSION: OnceLock<PluginSession> = OnceLock::new();
/// Nobody reads what this process writes.
static MUTED: AtomicBool = AtomicBool::new(false);

/// The session, after installing.
pub(crate) fn get() -> &'static PluginSession {
    SESSION.get().expect("callbacks are registered after the session is open")
}

/// Whether nobody reads what this process writes.
pub(crate) fn muted() -> bool {
    MUTED.load(Ordering::Relaxed)
}

/// From now on nobody does.
pub(crate) fn mute() {
    MUTED.store(true, Ordering::Relaxed);
}

/// Opens the lab's folder and makes this process's file.
pub(crate) fn open(folder: &str, target: &str) -> Result<(), String> {
    let architecture = match target {
        "x86_64" => process::X86_64,
        "aarch64" => process::AARCH64,
        other => return Err(format!("programs for {other} cannot be traced")),
    };
    let control =
        SharedSegment::map(&format!("{folder}/{}", channel::CONTROL_FILE), control::SIZE, false, None, 0)?;
    let version = control.u32(control::VERSION).load(Ordering::Acquire);
    if control.u64(control::MAGIC).load(Ordering::Relaxed) != channel::MAGIC || version != channel::VERSION {
        return Err(format!("the lab speaks version {version}, this plugin {}", channel::VERSION));
    }
    control.u32(control::LOADED).store(1, Ordering::Release);
    let prefix = std::fs::read(format!("{folder}/{}", channel::PREFIX_FILE))
        .map_err(|error| format!("reading the session's {}: {error}", channel::PREFIX_FILE))?;
    let mut prefix: Vec<Vec<u8>> = prefix.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    prefix.pop();
    let slot = claim(&control).ok_or("the session has no room for another process")?;
    let path = format!("{folder}/{}", channel::process_file(slot));
    let own = SharedSegment::map(&path, process::SIZE, true, None, 0)?;
    map_heads(&path)?;
    let session = PluginSession {
        folder: folder.to_owned(),
        own,
        architecture,
        detailed: control.u32(control::DETAIL).load(Ordering::Relaxed) != 0,
        follow: control.u32(control::FOLLOW).load(Ordering::Relaxed) != 0,
        prefix,
        control,
    };
    SESSION.set(session).map_err(|_| "the plugin was installed twice".to_owned())?;
    announce(slot);
    Ok(())
}

/// Tells the lab which program this is; once.
pub(crate) fn name(program: &[u8]) {
    let own = &get().own;
    let program = &program[..program.len().min(process::PROGRAM_SIZE)];
    own.write(process::PROGRAM + 4, program);
    own.u32(process::PROGRAM).store(program.len() as u32, Ordering::Release);
}

/// A place among the session's processes.
fn claim(control: &SharedSegment) -> Option<u32> {
    let slot = control.u32(control::CLAIMED).fetch_add(1, Ordering::AcqRel);
    (slot < channel::MAX_PROCESSES).then_some(slot)
}

/// The heads lie in the plugin's own data, where generated code reaches them by one instruction; the file is mapped there.
fn map_heads(path: &str) -> Result<(), String> {
    let size = channel::MAX_THREADS as usize * head::SIZE;
    SharedSegment::map(path, size, false, Some(HEADS.place()), process::HEADS).map(|_| ())
}

/// Fills in the header and tells the lab.
fn announce(slot: u32) {
    let session = get();
    let own = &session.own;
    // SAFETY: no arguments.
    let (pid, parent) = unsafe { (libc::getpid() as u32, libc::getppid() as u32) };
    own.u64(process::MAGIC).store(channel::MAGIC, Ordering::Relaxed);
    own.u32(process::VERSION).store(channel::VERSION, Ordering::Relaxed);
    own.u32(process::STATE).store(process::LIVE, Ordering::Relaxed);
    own.u32(process::PID).store(pid, Ordering::Relaxed);
    own.u32(process::PARENT).store(parent, Ordering::Relaxed);
    own.u32(process::ARCHITECTURE).store(session.architecture, Ordering::Relaxed);
    own.u64(process::BASE).store(own.base() as u64, Ordering::Relaxed);
    session.control.u32(control::SLOTS + 4 * slot as usize).store(1, Ordering::Release);
    ring_bell();
}

/// Wakes the lab if it sleeps.
pub(crate) fn ring_bell() {
    let control = &get().control;
    let bell = control.u32(control::BELL);
    if control.u32(control::SLEEPING).load(Ordering::SeqCst) != 0 {
        bell.fetch_add(1, Ordering::SeqCst);
        crate::futex::wake(bell);
    }
}

/// Whether the lab still reads.
pub(crate) fn lab_listens() -> bool {
    let control = &get().control;
    if control.u32(control::CLOSED).load(Ordering::Relaxed) != 0 {
        return false;
    }
    let lab = control.u32(control::LAB).load(Ordering::Relaxed);
    // SAFETY: signal 0 only asks whether the process exists.
    unsafe { libc::kill(lab as i32, 0) == 0 || *libc::__errno_location() != libc::ESRCH }
}

/// What is known of the code when a child is born.
#[derive(Clone, Copy)]
pub(crate) struct KnownCode {
    /// Blocks recorded.
    pub(crate) blocks: u32,
    /// Bytes of instruction lengths.
    pub(crate) lengths_bytes: usize,
}

/// In a new child: a file of its own at the places of the parent's, with what the parent knew and nothing counted.
/// Returns false when it cannot be traced; then the memory is its own and nobody's else.
pub(crate) fn reopen_after_fork(known: KnownCode) -> bool {
    let session = get();
    let reopened = session.follow && !muted() && copy_to_new_file(known).is_some();
    if !reopened {
        mute();
        let own = session.own;
        let _ = SharedSegment::hide(own.base(), own.size());
        let _ = SharedSegment::hide(HEADS.place(), channel::MAX_THREADS as usize * head::SIZE);
    }
    reopened
}

fn copy_to_new_file(known: KnownCode) -> Option<()> {
    let session = get();
    let old = &session.own;
    let slot = claim(&session.control)?;
    let path = format!("{}/{}", session.folder, channel::process_file(slot));
    let new = SharedSegment::map(&path, process::SIZE, true, None, 0).ok()?;
    let copy = |offset: usize, size: usize| {
        // SAFETY: both are maps of this layout, this thread is the only one of a new process, and what the parent goes on
        // to append lies behind what was published before the fork.
        unsafe { std::ptr::copy_nonoverlapping(old.base().add(offset), new.base().add(offset), size) };
    };
    let modules = old.u32(process::MODULES_USED).load(Ordering::Acquire);
    copy(process::RECORDS, known.blocks as usize * channel::BlockRecord::SIZE);
    copy(process::LENGTHS, known.lengths_bytes);
    copy(process::MODULES, (modules as usize).min(process::MODULES_SIZE));
    copy(process::PROGRAM, 4 + process::PROGRAM_SIZE);
    copy(process::HANDLERS, 8 * process::MAX_HANDLERS as usize);
    let handlers = old.u32(process::HANDLERS_USED).load(Ordering::Acquire);
    new.u32(process::HANDLERS_USED).store(handlers, Ordering::Relaxed);
    new.u32(process::BLOCKS).store(known.blocks, Ordering::Relaxed);
    new.u32(process::MODULES_USED).store(modules, Ordering::Relaxed);
    let counting = old.u32(process::COUNTING).load(Ordering::Relaxed);
    new.u32(process::COUNTING).store(counting, Ordering::Relaxed);
    // The same file once more, in place of the parent's.
    SharedSegment::map(&path, process::SIZE, false, Some(old.base()), 0).ok()?;
    map_heads(&path).ok()?;
    // SAFETY: mapped above and used no more.
    unsafe { libc::munmap(new.base().cast(), new.size()) };
    announce(slot);
    Some(())
}
