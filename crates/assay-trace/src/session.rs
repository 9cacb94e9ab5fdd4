//! One command under emulation, from finding the emulator to the last branch.

use super::reader::{Changed, Harvest, SessionReaders};
use super::refusal::{Blame, TraceRefusal};
use super::{Observer, Trace, TraceDetail, TraceOptions, TracedExit, emulator, plugin, program};
use assay_linux::private::PrivateFolder;
use assay_linux::shared::{self, SharedMemory};
use assay_linux::{family, wait};
use assay_pure::trace::channel::{self, control};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;

/// What shared memory should have free, bytes: rings and records of a few large programs.
const ROOM: u64 = 256 << 20;
/// What the folder of a session is called, before the lab's process id.
const PREFIX: &str = "assay-";

/// An emulator that is ready to run a program, and the threads of the lab that will read from it.
///
/// The caller starts the program itself: [`TraceSession::prefix`], then the program and its arguments. When it has ended,
/// [`TraceSession::finish`] gives what was seen.
pub struct TraceSession<O: Observer> {
    prefix: Vec<OsString>,
    script: bool,
    reader: SessionReaders<O>,
    emulator: String,
    _folder: PrivateFolder,
}

impl<O: Observer> TraceSession<O> {
    /// Looks at the program (architecture, format), finds the emulator and the plugin, checks that they fit, and makes the
    /// shared memory. `observer` is called once per traced thread.
    ///
    /// # Errors
    /// No such file, not an executable, a 32-bit one, no emulator, one that is too old, no plugin, another version's plugin.
    pub fn open(
        program: &Path,
        options: &TraceOptions,
        observer: impl FnMut() -> O + Send + 'static,
    ) -> Result<TraceSession<O>, TraceRefusal> {
        let looked = program::look_at(program)?;
        let emulator = emulator::find(looked.machine)?;
        let plugin = plugin::find(options.plugin.as_deref())?;
        let folder = new_folder()?;
        let control = make_control(folder.path(), options).map_err(|error| cannot_share(&error))?;
        let mut prefix = vec![emulator.path.into_os_string()];
        prefix.extend(emulator::arguments(looked.machine, &plugin, "session", folder.path()));
        write_prefix(folder.path(), &prefix).map_err(|error| cannot_share(&error))?;
        let script = !looked.interpreter.is_empty();
        prefix.extend(looked.interpreter);
        let reader = SessionReaders::start(control, folder.path().to_owned(), Box::new(observer));
        Ok(TraceSession { prefix, script, reader, emulator: emulator.version, _folder: folder })
    }

    /// What goes in front of the program and its arguments: the emulator with its own arguments.
    pub fn prefix(&self) -> &[OsString] {
        &self.prefix
    }

    /// Reads to the end what the command, which has ended with `ended`, and all that it started have written. What it
    /// started and left behind is no longer traced and goes on.
    ///
    /// # Errors
    /// The emulator never came up, the plugin reported an error, or the program changed its own code.
    pub fn finish(self, ended: Option<ExitStatus>) -> Result<Trace<O>, TraceRefusal> {
        self.finish_as(how(ended))
    }

    fn finish_as(self, ended: TracedExit) -> Result<Trace<O>, TraceRefusal> {
        let harvest = self.reader.finish(ended);
        let processes = accept(harvest)?;
        Ok(Trace { processes, emulator: self.emulator })
    }
}

fn accept<O>(harvest: Harvest<O>) -> Result<Vec<super::ProcessTrace<O>>, TraceRefusal> {
    if let Some(changed) = harvest.changed.first() {
        return Err(changed_itself(changed));
    }
    if let Some(error) = harvest.errors.first() {
        return Err(TraceRefusal { blame: Blame::Machine, reason: error.clone(), remedy: None });
    }
    if harvest.processes.is_empty() {
        let reason = if harvest.loaded {
            "the emulator ended before the program began"
        } else {
            "the emulator did not load the plugin"
        };
        let remedy = "what it wrote to standard error says why".to_owned();
        return Err(TraceRefusal { blame: Blame::Machine, reason: reason.to_owned(), remedy: Some(remedy) });
    }
    Ok(harvest.processes)
}

fn changed_itself(changed: &Changed) -> TraceRefusal {
    TraceRefusal {
        blame: Blame::Machine,
        reason: format!(
            "{} changes its own code while it runs, as just-in-time compilers do ({} times, first at {:#x}): \
             one address then stands for several branches, and counts per address would mix them",
            changed.program.display(),
            changed.times,
            changed.at
        ),
        remedy: Some("switch off its just-in-time compiler, or trace a part that does not use it".to_owned()),
    }
}

pub(crate) fn how(status: Option<ExitStatus>) -> TracedExit {
    match status {
        None => TracedExit::Unknown,
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => TracedExit::Exited(code),
            (_, Some(signal)) => TracedExit::Signalled(signal),
            _ => TracedExit::Unknown,
        },
    }
}

fn cannot_share(error: &std::io::Error) -> TraceRefusal {
    TraceRefusal {
        blame: Blame::Machine,
        reason: format!("the memory shared with the emulator cannot be created: {error}"),
        remedy: None,
    }
}

/// A new folder of this user's alone, after removing those of labs that were killed.
fn new_folder() -> Result<PrivateFolder, TraceRefusal> {
    PrivateFolder::new(&shared::folder(ROOM), PREFIX).map_err(|error| cannot_share(&error))
}

fn make_control(folder: &Path, options: &TraceOptions) -> std::io::Result<SharedMemory> {
    let control = SharedMemory::create(&folder.join(channel::CONTROL_FILE), control::SIZE)?;
    let set = |offset: usize, value: u32| control.u32(offset).store(value, Ordering::Relaxed);
    set(control::VERSION, channel::VERSION);
    set(control::DETAIL, u32::from(options.detail == TraceDetail::Branches));
    set(control::FOLLOW, u32::from(options.follow));
    set(control::LAB, std::process::id());
    control.u64(control::MAGIC).store(channel::MAGIC, Ordering::Release);
    Ok(control)
}

fn write_prefix(folder: &Path, prefix: &[OsString]) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    for word in prefix {
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    }
    let file = folder.join(channel::PREFIX_FILE);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(&bytes)
}

/// Whether programs of this machine can be traced: the emulator's version.
///
/// # Errors
/// No emulator, one that is too old, no plugin, another version's plugin.
pub fn available(plugin: Option<&Path>) -> Result<String, TraceRefusal> {
    let looked = program::look_at(&std::env::current_exe().unwrap_or_default())?;
    let found = emulator::find(looked.machine)?;
    plugin::find(plugin).map(|_| found.version)
}

/// Looks at what a command names, without starting anything: is it there, and is it a program that can be traced?
///
/// # Errors
/// No such command, not an executable, one for a machine that is not emulated.
pub fn check(command: &[OsString]) -> Result<(), TraceRefusal> {
    let name = command.first().cloned().unwrap_or_default();
    program::look_at(&program::search(&name)?).map(drop)
}

/// Runs a whole command under emulation, its standard streams those of the lab, and gives what was seen. `command` holds
/// the program (searched on PATH) and its arguments.
///
/// # Errors
/// As [`TraceSession::open`] and [`TraceSession::finish`].
pub fn command<O: Observer>(
    command: &[OsString],
    options: &TraceOptions,
    observer: impl FnMut() -> O + Send + 'static,
) -> Result<Trace<O>, TraceRefusal> {
    let name = command.first().cloned().unwrap_or_default();
    let program = program::search(&name)?;
    let session = TraceSession::open(&program, options, observer)?;
    family::adopt_orphans();
    let mut line = session.prefix.clone();
    if !session.script {
        // The name that the program is called by need not be its path.
        line.extend(["-0".into(), name]);
    }
    line.push(program.into_os_string());
    line.extend(command.iter().skip(1).cloned());
    let failed = |error: std::io::Error| TraceRefusal {
        blame: Blame::Machine,
        reason: error.to_string(),
        remedy: None,
    };
    let mut child = family::start(&line).map_err(failed)?;
    let (status, killed) = wait::wait_or_kill(&mut child, options.time_limit).map_err(failed)?;
    session.finish_as(if killed { TracedExit::TimeLimit } else { how(Some(status)) })
}
