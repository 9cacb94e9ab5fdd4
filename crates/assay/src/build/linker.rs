//! Which linker a driver calls, and how its sections can be moved.

use super::command::Started;
use std::path::Path;
use std::process::{Command, Stdio};

/// The linkers, by how they take orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Linker {
    /// GNU ld: moved by its own default script, in which the code's order is written out.
    Gnu {
        /// Its version line.
        version: String,
        /// The default script for these very flags.
        script: String,
    },
    /// LLVM's: a padding object first, sections shuffled by option.
    Lld {
        /// Its version line.
        version: String,
    },
    /// Any other: padding only.
    Other {
        /// Its version line.
        version: String,
    },
}

impl Linker {
    /// What it calls itself.
    pub fn version(&self) -> &str {
        match self {
            Self::Gnu { version, .. } | Self::Lld { version } | Self::Other { version } => version,
        }
    }

    /// What cannot be done with it.
    pub fn warning(&self, flags: &[String]) -> Option<String> {
        let lto = flags.iter().any(|flag| flag.starts_with("-flto"));
        match self {
            Self::Gnu { .. } if lto => Some(
                "with -flto GNU ld learns the functions too late to shuffle them: phases vary, the order does not \
                 (add -fuse-ld=lld to the flags)"
                    .into(),
            ),
            Self::Other { version } => Some(format!(
                "the linker ({version}) cannot be told the order of sections: phases vary, the order does not (GNU \
                 ld and lld can)"
            )),
            _ => None,
        }
    }
}

/// Asks the driver's linker who it is, with the very flags of the link, since they may choose another.
pub fn ask(driver: &Path, flags: &[String], folder: &Path, started: &Started) -> Linker {
    let said = |question: &str| {
        let output = Command::new(driver)
            .args(flags)
            .arg(format!("-Wl,{question}"))
            .current_dir(folder)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        started.note();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    };
    let version = said("--version").lines().next().unwrap_or("unknown").to_owned();
    if version.contains("LLD") {
        return Linker::Lld { version };
    }
    if version.starts_with("GNU ld") {
        // `--verbose` prints the script between two lines of equal signs, then fails for want of objects.
        let verbose = said("--verbose");
        let mut parts = verbose.split("\n==================================================\n");
        if let Some(script) = parts.nth(1).filter(|script| script.contains("*(.text.unlikely")) {
            return Linker::Gnu { version, script: script.to_owned() };
        }
    }
    Linker::Other { version }
}
