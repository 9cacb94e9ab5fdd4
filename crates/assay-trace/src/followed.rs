//! Two functions followed under emulation, each in a run of its own: what did its loops execute, and which addresses did they
//! reach? The answer is a digest; two runs with the same one executed the same.
//!
//! The plugin takes it (`channel::followed`); the lab starts the program with [`FollowedRun::prefix`] ahead of it, has it do
//! its work, and reads [`FollowedRun::seen`]. Addresses of two runs of one program are the same under emulation: it places the
//! program, its stack and its memory by itself, and what it makes up comes from a fixed seed.

use super::emulator;
use super::plugin;
use super::program;
use super::refusal::{Blame, TraceRefusal};
use assay_linux::private::PrivateFolder;
use assay_linux::shared::{self, SharedMemory};
use assay_pure::placement::same_execution::{FollowedCode, FollowedRole};
use assay_pure::trace::channel::followed as file;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;

/// What the folder of a run is called, before the lab's process id.
const PREFIX: &str = "assay-followed-";

/// An emulator that is ready to run a program one of whose functions is followed.
pub struct FollowedRun {
    prefix: Vec<OsString>,
    memory: SharedMemory,
    _folder: PrivateFolder,
}

/// What was seen of a function so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedExecution {
    /// Of the instructions of its loops and of what they call, and the addresses that these reach, in order.
    pub digest: [u64; 2],
    /// Instructions executed in loops and in what they call.
    pub looped: u64,
    /// Instructions executed around the loops.
    pub around: u64,
    /// Why this is not all, if it isn't.
    pub incomplete: Option<&'static str>,
}

impl FollowedRun {
    /// Prepares a run of `program` in which `code` is followed; `first_code`: where the file has its first code.
    ///
    /// # Errors
    /// The program cannot be emulated here; the emulator or the plugin is missing; no memory can be shared.
    pub fn open(program: &Path, code: &FollowedCode, first_code: u64) -> Result<FollowedRun, TraceRefusal> {
        let looked = program::look_at(program)?;
        let found = emulator::find(looked.machine)?;
        let plugin = plugin::find(None)?;
        let cannot = |error: std::io::Error| TraceRefusal {
            blame: Blame::Machine,
            reason: format!("the memory shared with the emulator cannot be created: {error}"),
            remedy: None,
        };
        let size = file::size(code.len());
        let folder = PrivateFolder::new(&shared::folder(size as u64), PREFIX).map_err(cannot)?;
        let path = folder.path().join("followed");
        let memory = SharedMemory::create(&path, size).map_err(cannot)?;
        let set = |offset, value| memory.u64(offset).store(value, Ordering::Relaxed);
        for (entry, (&address, role)) in code.iter().enumerate() {
            let at = file::FIRST_ENTRY + entry * file::ENTRY_SIZE;
            set(at, address);
            set(at + 8, role_word(*role));
        }
        set(file::FIRST_CODE, first_code);
        set(file::ENTRIES, code.len() as u64);
        memory.u64(file::MAGIC).store(file::MAGIC_WORD, Ordering::Release);
        let mut prefix = vec![found.path.into_os_string()];
        prefix.extend(emulator::arguments(looked.machine, &plugin, "followed", &path));
        prefix.extend(looked.interpreter);
        Ok(FollowedRun { prefix, memory, _folder: folder })
    }

    /// What goes in front of the program and its arguments.
    pub fn prefix(&self) -> &[OsString] {
        &self.prefix
    }

    /// Forgets what was seen. The program waits for a request meanwhile.
    pub fn begin(&self) {
        for offset in [
            file::DIGEST,
            file::SECOND_DIGEST,
            file::LOOPED,
            file::AROUND,
            file::LEFT,
            file::THREADS,
            file::INSIDE,
        ] {
            self.memory.u64(offset).store(0, Ordering::Release);
        }
    }

    /// What was seen since it began; all of it once the program has answered.
    pub fn seen(&self) -> FollowedExecution {
        let word = |offset| self.memory.u64(offset).load(Ordering::Acquire);
        let incomplete = match () {
            () if word(file::LOADED) == 0 => Some("the emulator did not load the plugin"),
            () if word(file::LOOPED) == 0 => Some("none of its loops was executed"),
            () if word(file::THREADS) > 0 => Some("several threads executed it"),
            () if word(file::LEFT) > 0 => Some("it calls or jumps elsewhere around its loops"),
            () => None,
        };
        FollowedExecution {
            digest: [word(file::DIGEST), word(file::SECOND_DIGEST)],
            looped: word(file::LOOPED),
            around: word(file::AROUND),
            incomplete,
        }
    }
}

fn role_word(role: FollowedRole) -> u64 {
    match role {
        FollowedRole::Around => file::ROLE_AROUND,
        FollowedRole::Leaves => file::ROLE_LEAVES,
        FollowedRole::Looped(number) => file::ROLE_LOOPED + u64::from(number),
    }
}
