//! Which functions of the built binaries does a benchmark execute, and in how many instructions per call?
//!
//! The command runs under the emulator, counts only: a benchmark that can be asked for alone with few iterations
//! ([`super::select`]), a plain command as it is.

use assay_link::adopt::capture::StartedProgram;
use assay_trace::sites::image::ModuleImage;
use assay_trace::{self, MappedModule, ProcessTrace, TraceDetail, TraceOptions, TracedExit};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a benchmark may take under the emulator.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a function did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionWork {
    /// Times it was entered at its first instruction.
    pub calls: u64,
    /// Instructions executed in it.
    pub instructions: u64,
}

impl FunctionWork {
    /// Instructions per call; `None` for code that is entered elsewhere.
    pub fn per_call(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.instructions as f64 / self.calls as f64)
    }
}

/// By output, by the address at which a function starts.
pub type Executed = BTreeMap<PathBuf, BTreeMap<u64, FunctionWork>>;

/// What a benchmark executes on both sides.
#[derive(Clone, Debug)]
pub struct ExecutedSides {
    /// From start to end.
    pub all: [Executed; 2],
    /// How instructions are counted.
    pub counted: CountedSides,
}

/// How the instructions of both sides are made comparable.
#[derive(Clone, Debug)]
pub enum CountedSides {
    /// By iterations, without the start of the program.
    Iterations {
        /// What they execute.
        sides: [Executed; 2],
        /// So many.
        number: u32,
        /// What the library does for a benchmark as such is not in it, so that shares are those of the iterations.
        alone: bool,
    },
    /// From start to end, as both do the same work once.
    Run,
    /// By calls: both do as much as they like.
    Calls,
}

/// What the longer of two executions did more than the shorter; none where it did less in all, as a library does that does not
/// understand how long it is asked to run.
pub fn more(short: &Executed, long: &Executed) -> Option<Executed> {
    let mut found = Executed::new();
    for (file, functions) in long {
        for (start, work) in functions {
            let known = short.get(file).and_then(|known| known.get(start)).copied().unwrap_or_default();
            let more = FunctionWork {
                calls: work.calls.saturating_sub(known.calls),
                instructions: work.instructions.saturating_sub(known.instructions),
            };
            if more.instructions > 0 {
                found.entry(file.clone()).or_default().insert(*start, more);
            }
        }
    }
    (total(long) > total(short)).then_some(found)
}

/// All instructions.
pub fn total(executed: &Executed) -> u64 {
    executed.values().flat_map(|functions| functions.values()).map(|work| work.instructions).sum()
}

/// A command to look at.
#[derive(Clone, Debug)]
pub struct ExecutedCommand<'a> {
    /// For `sh -c`.
    pub command: &'a str,
    /// Where it runs.
    pub folder: &'a Path,
    /// Added to the environment.
    pub environment: &'a [(String, String)],
}

/// Runs programs under the emulator, by their words, and adds up what they execute of `images`: each with the paths that it may
/// be executed by, under the first of which it is told.
///
/// # Errors
/// It cannot be traced, or did not end; a sentence.
pub fn executed(
    programs: &[Vec<OsString>],
    images: &[(&[PathBuf], &ModuleImage)],
) -> Result<Executed, String> {
    let options = TraceOptions {
        detail: TraceDetail::Counts,
        follow: true,
        time_limit: Some(PATIENCE),
        ..TraceOptions::default()
    };
    let (mut found, mut notes) = (Executed::new(), Vec::new());
    for program in programs {
        let traced = assay_trace::command(program, &options, || ()).map_err(|refusal| refusal.to_string())?;
        for process in traced.processes {
            if process.ended == TracedExit::TimeLimit {
                return Err(format!("it did not finish within {} s under the emulator", PATIENCE.as_secs()));
            }
            for (paths, image) in images {
                add(&process, paths, image, &mut found);
            }
            notes.extend(process.notes);
        }
    }
    if found.is_empty() {
        let why = if notes.is_empty() {
            "none of the built binaries was executed".into()
        } else {
            notes.join("; ")
        };
        return Err(why);
    }
    Ok(found)
}

/// The words by which a command of somebody's is traced: `env` in its folder becomes the shell, which runs it silently.
pub fn words(looked: &ExecutedCommand<'_>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["env".into(), "-C".into(), looked.folder.into()];
    words.extend(looked.environment.iter().map(|(name, value)| format!("{name}={value}").into()));
    words.extend(silently(looked.command));
    words
}

/// The same for a program that cargo would start.
pub fn program_words(program: StartedProgram) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["env".into(), "-C".into(), program.folder.into(), "-i".into()];
    words.extend(program.environment);
    words.extend(silently(r#"exec "$0" "$@""#));
    words.extend(program.words);
    words
}

/// What a script prints is not ours to print.
fn silently(script: &str) -> [OsString; 3] {
    ["sh".into(), "-c".into(), format!("exec > /dev/null 2>&1 < /dev/null\n{script}").into()]
}

fn add(process: &ProcessTrace<()>, paths: &[PathBuf], image: &ModuleImage, found: &mut Executed) {
    let is_ours = |module: &&MappedModule| paths.contains(&module.path);
    let modules: Vec<&MappedModule> = process.modules.iter().filter(is_ours).collect();
    for block in process.blocks.iter().filter(|block| block.executed > 0) {
        let module = modules.iter().find(|module| (module.start..module.end).contains(&block.pc));
        let offset = module.and_then(|module| (block.pc - module.start).checked_add(module.file_offset));
        let Some(address) = offset.and_then(|offset| image.address_of_offset(offset)) else { continue };
        let Some(function) = image.function(address) else { continue };
        let work = found.entry(paths[0].clone()).or_default().entry(function.start).or_default();
        work.instructions += u64::from(block.instructions) * block.executed;
        if address == function.start {
            work.calls += block.executed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_is_what_more_iterations_execute_more_of() {
        let of = |functions: &[(u64, u64, u64)]| -> Executed {
            let functions = functions.iter();
            let functions = functions.map(|(start, calls, instructions)| {
                (*start, FunctionWork { calls: *calls, instructions: *instructions })
            });
            [(PathBuf::from("p"), functions.collect())].into()
        };
        let (short, long) = (of(&[(1, 1, 900), (2, 1, 50)]), of(&[(1, 1, 900), (2, 4, 200), (3, 3, 30)]));
        assert_eq!(more(&short, &long), Some(of(&[(2, 3, 150), (3, 3, 30)])));
        assert_eq!(more(&long, &short), None, "it printed how it is used, and ended");
        assert_eq!(total(&long), 1130);
    }

    #[test]
    fn code_that_is_entered_elsewhere_has_no_calls() {
        assert_eq!(FunctionWork { calls: 0, instructions: 7 }.per_call(), None);
        assert_eq!(FunctionWork { calls: 4, instructions: 10 }.per_call(), Some(2.5));
    }
}
