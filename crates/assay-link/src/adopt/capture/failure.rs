//! What can go wrong while a build is captured or a link replayed, in words that name the remedy.

use super::go;
use crate::build::text;
use std::fmt;
use std::path::PathBuf;

/// Lines of a failed build's log that are shown from its end where it names no error, else from the first error on.
const LAST_LINES: usize = 20;
const ERROR_LINES: usize = 60;

/// A build that gives nothing to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The command failed.
    Failed(Box<FailedBuild>),
    /// It succeeded, and no link that is still there went through us.
    NothingCaptured(Box<NothingCaptured>),
    /// The store cannot be written, or the command not started.
    Unable {
        /// What was being done.
        doing: String,
        /// Why it failed.
        why: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failed) => write!(out, "{failed}"),
            Self::NothingCaptured(nothing) => write!(out, "{nothing}"),
            Self::Unable { doing, why } => write!(out, "{doing}: {why}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// A build command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBuild {
    /// It.
    pub command: String,
    /// Where it ran.
    pub folder: PathBuf,
    /// Exit status; nothing if a signal ended it.
    pub code: Option<i32>,
    /// How it ended, in words.
    pub ended: String,
    /// The symbol that a link misses or has twice, and what ends that.
    pub symbol: Option<String>,
    /// The last lines that it wrote.
    pub tail: Vec<String>,
    /// All that it wrote.
    pub log: PathBuf,
}

impl fmt::Display for FailedBuild {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = text::quote(&self.folder.to_string_lossy());
        let cause = || self.symbol.as_deref().or_else(|| cause(&self.tail).map(|line| line.trim()));
        write!(out, "the build failed: {}", self.ended)?;
        if let Some(cause) = cause() {
            write!(out, ": {cause}")?;
        }
        if let Some(remedy) = self.remedy() {
            write!(out, ". {remedy}")?;
        }
        write!(out, "\n  command: cd {folder} && {}", self.command)?;
        self.tail.iter().try_for_each(|line| write!(out, "\n    {line}"))?;
        write!(out, "\n  the whole log: {}", self.log.display())
    }
}

impl FailedBuild {
    /// What to write instead, where the log tells it.
    fn remedy(&self) -> Option<&'static str> {
        const REMEDIES: [(&[&str], &str); 4] = [
            (
                &["does not match the source", "CMakeCache.txt directory"],
                "The build folder belongs to another checkout: name one below the project, as in `cmake -B build`, which each \
                 revision then has for itself",
            ),
            (
                &["is not a CMake build directory"],
                "A checkout starts without configuration: the build command must configure it, as in `cmake -B build && cmake --build build`",
            ),
            (
                &["not a meson build directory"],
                "A checkout starts without configuration: the build command must configure it, as in `meson setup build && ninja -C build`",
            ),
            (
                &[
                    "loading 'build.ninja'",
                    "No targets specified and no makefile found",
                    "could not load cache",
                ],
                "A checkout has only what the revision has: the build command must configure it too, as in \
                 `cmake -B build && cmake --build build`; files that it needs must be committed",
            ),
        ];
        let is_in = |words: &str| self.tail.iter().any(|line| line.contains(words));
        let fits = |all: &[&str]| all.iter().any(|words| is_in(words));
        REMEDIES.iter().find(|(words, _)| fits(words)).map(|(_, remedy)| *remedy)
    }
}

/// A build command that succeeded without a link that could be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NothingCaptured {
    /// The command.
    pub command: String,
    /// All that it wrote.
    pub log: PathBuf,
    /// The folder that holds the capturing linkers.
    pub linkers: PathBuf,
    /// Why links that were seen could not be recorded.
    pub missed: Vec<String>,
    /// Outputs of captured links that are gone.
    pub gone: Vec<PathBuf>,
    /// New programs and libraries that no captured link made.
    pub unknown: Vec<PathBuf>,
}

impl NothingCaptured {
    /// Whether Go linked it without calling a linker.
    fn is_gos(&self, path: &std::path::Path) -> bool {
        self.gone.is_empty() && go::is_linked_by_go(path)
    }

    /// Why, in one sentence without its end.
    pub fn brief(&self) -> String {
        match self.unknown.first() {
            Some(path) if self.is_gos(path) => go::REMEDY.into(),
            Some(path) => format!(
                "{} was made by a linker that was not seen, such as one named by path",
                path.file_name().unwrap_or_default().to_string_lossy()
            ),
            None => format!("`{}` linked nothing", self.command),
        }
    }
}

impl fmt::Display for NothingCaptured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unknown.first().is_some_and(|path| self.is_gos(path)) {
            return write!(out, "`{}` succeeded, but {}", self.command, go::REMEDY);
        }
        writeln!(
            out,
            "`{}` succeeded, but none of its links could be captured, so its binaries cannot be relinked in \
             other placements",
            self.command
        )?;
        for why in &self.missed {
            writeln!(out, "  a link was seen but not recorded: {why}")?;
        }
        for path in &self.gone {
            writeln!(out, "  {} was linked, but the file does not exist", path.display())?;
        }
        for path in &self.unknown {
            writeln!(out, "  {} is new, but no linker that made it was seen", path.display())?;
        }
        let linkers = text::quote(&self.linkers.to_string_lossy());
        write!(
            out,
            "  - is everything up to date already? Then nothing was linked: build in a fresh folder, or run \
             `make clean` (ninja -t clean, cargo clean) first\n  - does the build name its linker by path \
             (-fuse-ld=/path, --ld-path, -B, LD=/path)? Use -B{linkers} before any other -B, or \
             LD={linkers}/ld; inside the build ASSAY_LINKERS is that folder\n  - does it only fetch or unpack \
             a prebuilt binary, or build in a container? such code cannot be placed; only the environment's \
             size, the stack and ASLR can be varied\n  the whole log: {}",
            self.log.display()
        )
    }
}

/// What of a log tells why a build failed.
pub fn telling_lines(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    let last = lines.len().saturating_sub(LAST_LINES);
    let begin = lines.iter().position(|line| is_error(line)).map_or(last, |first| first.min(last));
    lines[begin..].iter().take(ERROR_LINES).map(|&line| line.to_owned()).collect()
}

/// How compilers, linkers and cargo begin an error, behind its place; CMake says where in a line of its own.
fn is_error(line: &str) -> bool {
    ["error: ", "error[", "*** No rule to make target "].iter().any(|words| line.contains(words))
        || is_missing_symbol(line)
        || is_cmakes(line)
}

/// Drivers and cargo say ahead of it only that a link failed.
fn is_missing_symbol(line: &str) -> bool {
    ["undefined reference to ", "undefined symbol: "].iter().any(|words| line.contains(words))
}

fn is_cmakes(line: &str) -> bool {
    line.starts_with("CMake Error") && line.ends_with(':')
}

/// The line that most readers need, and all that a list of failures shows: a missing symbol, else the first error, else the last
/// line that is not the build system's own word that something failed, else that word.
fn cause(lines: &[String]) -> Option<&String> {
    let own =
        |line: &str| ["make: ", "make[", "gmake", "ninja: "].iter().any(|words| line.starts_with(words));
    let last = || {
        let said = || lines.iter().filter(|line| !line.trim().is_empty());
        said().rfind(|line| !own(line)).or_else(|| said().next_back())
    };
    if let Some(missing) = lines.iter().find(|line| is_missing_symbol(line)) {
        return Some(missing);
    }
    match lines.iter().position(|line| is_error(line)) {
        Some(first) if is_cmakes(&lines[first]) => {
            lines[first + 1..].iter().find(|line| !line.trim().is_empty())
        }
        Some(first) => lines.get(first),
        None => last(),
    }
}

/// A link that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// A file that the link read is not what it was, and was not kept.
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// The link follows a script of its own, which fixes the places itself.
    OwnScript {
        /// The option that names it.
        option: String,
    },
    /// The linker cannot be asked, or its answer be used.
    Linker {
        /// The linker.
        linker: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The linker failed.
    Failed {
        /// How it ended, in words.
        ended: String,
        /// The lines that tell of its errors, else the last ones that it wrote.
        tail: Vec<String>,
        /// All that it wrote; none where that could not be kept.
        log: Option<PathBuf>,
        /// The call, as one can paste it into a shell.
        command: String,
    },
    /// What it made cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A file cannot be written.
    Unwritten {
        /// The file or folder.
        file: PathBuf,
        /// Why.
        why: String,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { file } => write!(
                out,
                "{} was read by the link and has changed or vanished since; build again",
                file.display()
            ),
            Self::OwnScript { option } => write!(
                out,
                "the link cannot be placed: {option} names a linker script, which fixes all addresses; remove \
                 it from the measured build, or vary only the environment"
            ),
            Self::Linker { linker, why } => write!(out, "{}: {why}", linker.display()),
            Self::Failed { ended, tail, log, command } => {
                let cause = cause(tail).map(|line| format!(": {}", line.trim())).unwrap_or_default();
                write!(out, "the replayed link failed: {ended}{cause}\n  command: {command}")?;
                tail.iter().try_for_each(|line| write!(out, "\n    {line}"))?;
                log.iter().try_for_each(|log| write!(out, "\n  the whole log: {}", log.display()))
            }
            Self::Unreadable { file, why } => write!(out, "{}: {why}", file.display()),
            Self::Unwritten { file, why } => write!(out, "cannot write {}: {why}", file.display()),
        }
    }
}

impl std::error::Error for ReplayError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_build_shows_its_last_lines_and_where_all_of_them_are() {
        let log: String = (1..=30).map(|number| format!("line {number}\n")).collect();
        let failed = FailedBuild {
            command: "make".into(),
            folder: "/src".into(),
            code: Some(2),
            ended: "exit status 2".into(),
            symbol: None,
            tail: telling_lines(&log),
            log: "/store/log".into(),
        };
        let error = BuildError::Failed(Box::new(failed));
        let text = error.to_string();
        assert!(
            text.starts_with(
                "the build failed: exit status 2: line 30\n  command: cd /src && make\n    line 11\n"
            ),
            "{text}"
        );
        assert!(text.ends_with("    line 30\n  the whole log: /store/log"), "{text}");
    }

    #[test]
    fn a_failed_replay_tells_its_error_first_and_where_its_log_is() {
        let log = "ld: a.o: in function `main':\na.c:(.text+0x9): undefined reference to `helper'\n";
        let failed = ReplayError::Failed {
            ended: "exit status 1".into(),
            tail: telling_lines(log),
            log: Some("/store/orders/0a.log".into()),
            command: "cd /src && ld a.o".into(),
        };
        assert_eq!(
            failed.to_string(),
            "the replayed link failed: exit status 1: a.c:(.text+0x9): undefined reference to `helper'\n  command: cd /src && ld a.o\n    \
             ld: a.o: in function `main':\n    a.c:(.text+0x9): undefined reference to `helper'\n  the whole log: /store/orders/0a.log"
        );
    }

    #[test]
    fn the_cause_of_a_failed_build_is_its_first_error_or_its_last_own_line() {
        let log = |text: &str| telling_lines(text);
        let compiled = log(&format!(
            "a.c:3:9: error: expected ';'\n{}make: *** [Makefile:1: x] Error 1\n",
            "  note\n".repeat(30)
        ));
        assert_eq!(cause(&compiled).map(String::as_str), Some("a.c:3:9: error: expected ';'"));
        let scripted = log("no zig 0.15.2 here\nmake: *** [Makefile:1: x] Error 3\n");
        assert_eq!(cause(&scripted).map(String::as_str), Some("no zig 0.15.2 here"));
        assert_eq!(cause(&log("")), None);
        let linked = log(
            "error: linking with `cc` failed: exit status: 1\n  = note: \"cc\" \"-m64\"\n  = note: main.rs:3: undefined reference to `fast`\n",
        );
        assert_eq!(
            cause(&linked).map(String::as_str),
            Some("  = note: main.rs:3: undefined reference to `fast`"),
            "the driver's own error says nothing"
        );
        let target = log(
            "-- Build files have been written to: /b\ngmake: *** No rule to make target 'bnch'.  Stop.\n",
        );
        assert_eq!(
            cause(&target).map(String::as_str),
            Some("gmake: *** No rule to make target 'bnch'.  Stop.")
        );
        let silent = log("make: *** [Makefile:2: bench] Error 2\n");
        assert_eq!(cause(&silent).map(String::as_str), Some("make: *** [Makefile:2: bench] Error 2"));
        let configured = log(
            "-- Detecting\nCMake Error at CMakeLists.txt:4 (find_package):\n  Could not find benchmark\n\n-- Configuring incomplete, \
             errors occurred!\nSee also \"/b/CMakeOutput.log\".\n",
        );
        assert_eq!(cause(&configured).map(String::as_str), Some("  Could not find benchmark"));
    }

    #[test]
    fn what_other_peoples_first_command_fails_at_is_told_with_what_to_write() {
        let told = |line: &str| {
            let failed = FailedBuild {
                command: "cmake -B /tmp/build".into(),
                folder: "/src".into(),
                code: Some(1),
                ended: "exit status 1".into(),
                symbol: None,
                tail: telling_lines(line),
                log: "/store/log".into(),
            };
            failed.to_string()
        };
        for (line, remedy) in [
            (
                "CMake Error: The source \"/a/CMakeLists.txt\" does not match the source \"/b/CMakeLists.txt\" used to \
                 generate cache.",
                "as in `cmake -B build`, which each",
            ),
            (
                "Error: /x/build is not a CMake build directory (missing CMakeCache.txt)",
                "cmake --build build",
            ),
            ("ninja: error: loading 'build.ninja': No such file or directory", "must configure it too"),
            ("make: *** No targets specified and no makefile found.  Stop.", "must configure it too"),
        ] {
            assert!(told(line).contains(remedy), "{line}: {}", told(line));
        }
        assert!(!told("a.c:1: error: x").contains("A checkout"));
    }

    #[test]
    fn a_build_without_links_names_the_remedies() {
        let nothing = NothingCaptured {
            command: "make".into(),
            log: "/store/log".into(),
            linkers: "/store/linkers".into(),
            missed: vec!["the disk is full".into()],
            gone: Vec::new(),
            unknown: vec!["/src/app".into()],
        };
        let error = BuildError::NothingCaptured(Box::new(nothing));
        let text = error.to_string();
        for remedy in [
            "`make clean`",
            "-B/store/linkers",
            "LD=/store/linkers/ld",
            "prebuilt",
            "the disk is full",
            "/src/app is new",
        ] {
            assert!(text.contains(remedy), "{remedy}: {text}");
        }
    }
}
