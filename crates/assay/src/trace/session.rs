//! One command under emulation, from finding the emulator to the last branch.

use super::{Observer, Options, Trace};
use std::ffi::OsString;
use std::path::Path;

/// Why nothing can be traced, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A whole sentence for the user: what was found, what is needed.
    pub reason: String,
    /// What the user can do, if anything.
    pub remedy: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// An emulator that is ready to run a program, and the threads of the lab that will read from it.
///
/// The caller starts the program itself: [`Session::prefix`], then the program and its arguments. When it has ended,
/// [`Session::finish`] gives what was seen.
pub struct Session<O: Observer> {
    prefix: Vec<OsString>,
    observer: Box<dyn FnMut() -> O + Send>,
}

impl<O: Observer> Session<O> {
    /// Looks at the program (architecture, format), finds the emulator and the plugin, checks that they fit, and makes the
    /// shared memory. `observer` is called once per traced thread.
    ///
    /// # Errors
    /// No such file, not an executable, a 32-bit one, no emulator, one that is too old, no plugin, another version's plugin.
    pub fn open(
        program: &Path,
        options: &Options,
        observer: impl FnMut() -> O + Send + 'static,
    ) -> Result<Session<O>, Refusal> {
        let _ = (options, observer);
        Err(Refusal { reason: format!("{} cannot be traced", program.display()), remedy: None })
    }

    /// What goes in front of the program and its arguments: the emulator with its own arguments.
    pub fn prefix(&self) -> &[OsString] {
        let _ = &self.observer;
        &self.prefix
    }

    /// Reads to the end what the command, which has ended with `ended`, and all that it started have written.
    ///
    /// # Errors
    /// The emulator never came up, or the plugin reported an error.
    pub fn finish(self, ended: Option<std::process::ExitStatus>) -> Result<Trace<O>, Refusal> {
        let _ = ended;
        Err(Refusal { reason: "nothing was traced".to_owned(), remedy: None })
    }
}

/// Runs a whole command under emulation, its standard streams those of the lab, and gives what was seen. `command` holds
/// the program (searched on PATH) and its arguments.
///
/// # Errors
/// As [`Session::open`] and [`Session::finish`].
pub fn command<O: Observer>(
    command: &[OsString],
    options: &Options,
    observer: impl FnMut() -> O + Send + 'static,
) -> Result<Trace<O>, Refusal> {
    let program = command.first().map_or(Path::new(""), Path::new);
    let session = Session::open(program, options, observer)?;
    session.finish(None)
}
