//! What a shell does on a machine: measure into the shard's ledger, or go on there; or simulate into the shard's result; and say
//! how it ended.

use super::cluster::{ARRAY_NUMBER, Sight};
use super::kept::{Shard, ShardedQuestion};
use super::simulation::{RESULT, TASKS, is_simulation};
use crate::lead::command;
use std::path::{Path, PathBuf};

/// Which job a script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptFor {
    /// The job of this shard, by its number among the question's.
    One(usize),
    /// Any of an array whose first shard has this number; which one it is stands in [`ARRAY_NUMBER`].
    Array(usize),
}

/// The script of a shard. `program` is this program, for machines that have no other.
///
/// A job that was stopped leaves no end: it is handed in again, or lost. One that is cancelled may yet end in order, as far as
/// assay can tell; the mark tells it apart. What stops the job stops assay first: the shell waits a moment for its own signal before
/// it calls that a failure.
///
/// One job of a shard measures at a time, by a lock on its file, which network file systems pass on: where the connection was lost
/// while a job started, the next one waits for the end of the first, and measures only if that came to none. Nothing that assay
/// starts has the lock, so that it cannot outlive the job.
pub fn script(question: &ShardedQuestion, job: ScriptFor, program: &Path, sight: &Sight) -> String {
    let path = |path: PathBuf| command::quoted(&sight.of(&path).to_string_lossy());
    let shard = match job {
        ScriptFor::One(at) | ScriptFor::Array(at) => &question.shards[at],
    };
    let file = |ending: &str| match job {
        ScriptFor::One(_) => path(shard.file(ending)),
        // A word of the shell is put together of pieces, quoted or not.
        ScriptFor::Array(_) => {
            format!("{}\"${ARRAY_NUMBER}\".{ending}", path(question.place.join(shard.array())))
        }
    };
    let program = sight.program.clone().unwrap_or_else(|| sight.of(program));
    let program = command::quoted(&program.to_string_lossy());
    let work = if is_simulation(&question.verb) {
        let tasks = path(question.place.join(TASKS));
        let of_job = match job {
            // Who shares a host with another shard waits for it, and has all processors then.
            ScriptFor::One(at) => format!("--shard {at} --turn"),
            ScriptFor::Array(first) => format!("--shard $(({first} + {ARRAY_NUMBER})) --threads 1"),
        };
        let verb = &question.verb;
        format!("{program} {verb} --quiet --tasks {tasks} {of_job} --result {} 9>&-\ncode=$?\n", file(RESULT))
    } else {
        measuring(question, shard, &program, &file("db"))
    };
    format!(
        "trap 'exit 143' TERM\n\
         cd {folder} || exit 1\n\
         exec 9>> {lock} || exit 1\n\
         if ! flock -n 9; then\n\
         \x20   echo \"assay: another job of this shard measures, or the lock of its file cannot be had; this one waits\"\n\
         \x20   flock 9 || echo \"assay: measuring without a lock\"\n\
         fi\n\
         if [ -e {end} ]; then exit 0; fi\n\
         echo \"${{SLURMD_NODENAME:-$(hostname)}}\" > {node}\n\
         end() {{ [ \"$1\" -eq 0 ] || sleep 3; echo \"$1\" > {draft} && mv {draft} {end}; exit \"$1\"; }}\n\
         found=$({program} --version 2>&1 | head -n 2)\n\
         if [ \"$found\" != {version} ]; then\n\
         \x20   echo \"assay: not measured:\" {program} \"on this machine is not the version that the job was handed in by, but\" $found\n\
         \x20   end 3\n\
         fi\n\
         {work}\
         if [ -e {cancelled} ] && [ $code -ne 0 ]; then exit $code; fi\n\
         end $code\n",
        folder = path(question.folder.clone()),
        lock = file("lock"),
        node = file("node"),
        draft = file("end-draft"),
        end = file("end"),
        cancelled = file("cancelled"),
        version = command::quoted(&question.version),
    )
}

/// Measures into a ledger: goes on with it, or begins it.
fn measuring(question: &ShardedQuestion, shard: &Shard, program: &str, ledger: &str) -> String {
    let words = question.words.iter().chain(shard.words()).map(|word| command::quoted(word));
    format!(
        "measure() {{ {program} {verb} --quiet --ledger {ledger} \"$@\" {words} > /dev/null 9>&-; code=$?; }}\n\
         if [ -e {ledger} ]; then\n\
         \x20   measure --resume\n\
         \x20   if [ $code -eq 2 ]; then measure; fi\n\
         else\n\
         \x20   measure\n\
         fi\n",
        verb = question.verb,
        words = words.collect::<Vec<_>>().join(" "),
    )
}
