//! What a shell does on a machine: measure into the shard's ledger, or go on there, and say how it ended.

use super::cluster::Sight;
use super::kept::{Shard, ShardedQuestion};
use crate::lead::command;
use std::path::{Path, PathBuf};

/// The script of a shard. `program` is this program, for machines that have no other.
///
/// A job that was stopped leaves no end: it is handed in again, or lost. One that is cancelled may yet end in order, as far as
/// assay can tell; the mark tells it apart. What stops the job stops assay first: the shell waits a moment for its own signal before
/// it calls that a failure.
///
/// One job of a shard measures at a time, by a lock on its file, which network file systems pass on: where the connection was lost
/// while a job started, the next one waits for the end of the first, and measures only if that came to none. Nothing that assay
/// starts has the lock, so that it cannot outlive the job.
pub fn script(question: &ShardedQuestion, shard: &Shard, program: &Path, sight: &Sight) -> String {
    let path = |path: PathBuf| command::quoted(&sight.of(&path).to_string_lossy());
    let words = question.words.iter().chain(shard.words()).map(|word| command::quoted(word));
    let program = sight.program.clone().unwrap_or_else(|| sight.of(program));
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
         end() {{ [ \"$1\" -eq 0 ] || sleep 1; echo \"$1\" > {draft} && mv {draft} {end}; exit \"$1\"; }}\n\
         found=$({program} --version 2>&1 | head -n 2)\n\
         if [ \"$found\" != {version} ]; then\n\
         \x20   echo \"assay: not measured:\" {program} \"on this machine is not the version that the job was handed in by, but\" $found\n\
         \x20   end 3\n\
         fi\n\
         measure() {{ {program} {verb} --quiet --ledger {ledger} \"$@\" {words} > /dev/null 9>&-; code=$?; }}\n\
         if [ -e {ledger} ]; then\n\
         \x20   measure --resume\n\
         \x20   if [ $code -eq 2 ]; then measure; fi\n\
         else\n\
         \x20   measure\n\
         fi\n\
         if [ -e {cancelled} ] && [ $code -ne 0 ]; then exit $code; fi\n\
         end $code\n",
        folder = path(question.folder.clone()),
        lock = path(shard.file("lock")),
        node = path(shard.file("node")),
        draft = path(shard.file("end-draft")),
        end = path(shard.file("end")),
        cancelled = path(shard.file("cancelled")),
        ledger = path(shard.ledger()),
        program = command::quoted(&program.to_string_lossy()),
        version = command::quoted(&question.version),
        verb = question.verb,
        words = words.collect::<Vec<_>>().join(" "),
    )
}
