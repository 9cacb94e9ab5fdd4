//! From artifacts to programs that wait to be visited: launched, and their machine code compared.

use super::placements::Placed;
use super::prepare::Prepared;
use crate::run::{Fault, Lineup, Stage, Subject};
use crate::store::{Failure, Identity, Ledger, ProcessRow};
use anyhow::Result;
use assay_link::build::text::command_line;
use assay_pure::event::Event;
use assay_pure::placement::identity::{self, Identity as Same};
use assay_pure::placement::layout;
use std::collections::HashSet;
use std::path::Path;

/// (variant, compiler, flags) and input: what fails together.
pub type Cell = ((usize, usize, usize), usize);

/// Programs that could be launched, and the ledger's numbers of their processes.
#[derive(Debug)]
pub struct Started {
    /// The programs.
    pub lineup: Lineup,
    /// Ledger number of each, by its number in the line-up.
    pub processes: Vec<i64>,
}

impl Started {
    /// A program of a variant, compiler and flags.
    pub fn program_of(&self, group: (usize, usize, usize)) -> Option<&Path> {
        let of = |subject: &&Subject| (subject.variant, subject.compiler, subject.flags) == group;
        let subjects = (0..self.lineup.len()).map(|number| self.lineup.subject(number));
        subjects.into_iter().find(of).map(|subject| subject.program.as_path())
    }
}

/// Keeps a fault as a failure of its cell (`input` None: of all inputs), and says so.
///
/// # Errors
/// The ledger cannot be written.
pub fn keep_fault(
    prepared: &Prepared,
    (ledger, campaign): (&Ledger, i64),
    (group, input): ((usize, usize, usize), Option<usize>),
    (fault, program): (&Fault, Option<&Path>),
    events: &mut dyn FnMut(Event),
) -> Result<()> {
    let (variant, compiler, flags) = group;
    let name = &prepared.experiment.variants[variant].name;
    let file = input.map(|input| prepared.inputs[input].file.as_path());
    let alone = program.and_then(|program| by_itself(fault, program, name, file));
    let failure = Failure {
        stage: fault.stage,
        variant: Some(name.clone()),
        input: input.map(|input| prepared.inputs[input].name.clone()),
        compiler: Some(prepared.compilers[compiler].name.clone()),
        flags: Some(prepared.experiment.flags[flags].name.clone()),
        reason: fault.to_string()
            + &alone.map_or(String::new(), |command| format!("; alone, or after gdb --args: {command}")),
    };
    let place = failure.input.as_deref().map_or(String::new(), |input| format!(" on {input}"));
    let what = format!(
        "{}{place}, {}, {}",
        failure.variant.as_deref().unwrap_or_default(),
        failure.compiler.as_deref().unwrap_or_default(),
        failure.flags.as_deref().unwrap_or_default()
    );
    events(Event::Failed { what, reason: failure.reason.clone() });
    ledger.put_failure(campaign, &failure)
}

/// The command that shows a fault without the lab, and to a debugger; none where no command does.
fn by_itself(fault: &Fault, program: &Path, variant: &str, file: Option<&Path>) -> Option<String> {
    let mut words = vec![program.to_string_lossy().into_owned()];
    let input = |input: &Path| ["--input".to_owned(), input.to_string_lossy().into_owned()];
    match (fault.stage, file) {
        _ if !fault.shows_alone => return None,
        (Stage::Start, _) => words.push("--list".to_owned()),
        (Stage::Agree, Some(file)) => words.extend(input(file)),
        (Stage::Load | Stage::Answer | Stage::Measure, Some(file)) => {
            words.extend(["--variant".to_owned(), variant.to_owned()]);
            words.extend(input(file));
        }
        _ => return None,
    }
    Some(command_line(&words))
}

/// Launches every subject. A group (variant, compiler, flags) whose program does not start is out for all inputs.
///
/// # Errors
/// The ledger cannot be written.
pub fn launch(
    prepared: &Prepared,
    mut lineup: Lineup,
    subjects: Vec<Subject>,
    (ledger, campaign, first): (&Ledger, i64, bool),
    failed: &mut HashSet<Cell>,
    events: &mut dyn FnMut(Event),
) -> Result<Started> {
    assay_linux::process::give_back_memory();
    let inputs = prepared.inputs.len();
    let is_out = |failed: &HashSet<Cell>, group| (0..inputs).all(|input| failed.contains(&(group, input)));
    for subject in subjects {
        let group = (subject.variant, subject.compiler, subject.flags);
        if is_out(failed, group) {
            continue;
        }
        if assay_linux::interrupt::asked() {
            // Each of those left may take its time to say that it hangs.
            break;
        }
        let program = subject.program.clone();
        if let Err(fault) = lineup.add(subject) {
            failed.extend((0..inputs).map(|input| (group, input)));
            if first {
                keep_fault(prepared, (ledger, campaign), (group, None), (&fault, Some(&program)), events)?;
            } else {
                // What earlier rotations told of it stands; it only cannot be told better.
                events(Event::Warning(format!("{}: {fault}", prepared.experiment.variants[group.0].name)));
            }
        }
    }
    let mut rows: Vec<ProcessRow> =
        (0..lineup.len()).map(|number| process_row(prepared, &lineup, number)).collect();
    ledger.put_processes(campaign, &mut rows.iter_mut().collect::<Vec<_>>())?;
    Ok(Started { lineup, processes: rows.iter().map(|row| row.id).collect() })
}

fn process_row(prepared: &Prepared, lineup: &Lineup, number: usize) -> ProcessRow {
    use crate::run::round::Bench as _;
    let subject = lineup.subject(number);
    let region = lineup.region(number);
    let (wall_read_ns, cpu_read_ns) = lineup.read_costs(number);
    ProcessRow {
        id: 0,
        artifact: subject.artifact.clone(),
        compiler: prepared.compilers[subject.compiler].name.clone(),
        flags: prepared.experiment.flags[subject.flags].name.clone(),
        variant: subject.variant_name.clone(),
        rotation: subject.rotation,
        phase_bytes: subject.phase_bytes,
        entry_address: lineup.announced(number).entry,
        environment_bytes: subject.environment_bytes,
        region_wall_ns: region.wall_ns,
        region_cpu_ns: region.cpu_ns,
        wall_read_ns,
        cpu_read_ns,
    }
}

/// Compares every variant's machine code with the baseline's, in the first placed artifact of each group.
///
/// # Errors
/// The ledger cannot be written.
pub fn compare_code(
    prepared: &Prepared,
    started: &Started,
    placed: &[Placed],
    ledger: &Ledger,
) -> Result<()> {
    let baseline = prepared.baseline();
    let chosen = started.lineup.one_of_each_code(baseline);
    for subjects in chosen.iter().filter(|((_, _, as_built), _)| !as_built).map(|(_, subjects)| subjects) {
        let Some((&first, others)) = subjects.split_first() else { continue };
        if started.lineup.subject(first).variant != baseline {
            continue;
        }
        let hash = &started.lineup.subject(first).artifact;
        let Some(placed) = placed.iter().find(|placed| &placed.artifact.hash == hash) else { continue };
        let elf = std::fs::read(&placed.artifact.path).unwrap_or_default();
        for &other in others {
            let found =
                compare(&elf, started.lineup.announced(first).entry, started.lineup.announced(other).entry);
            let names =
                (&started.lineup.subject(first).variant_name, &started.lineup.subject(other).variant_name);
            ledger.put_identity(hash, names.0, names.1, &found)?;
        }
    }
    Ok(())
}

fn compare(elf: &[u8], first: u64, second: u64) -> Identity {
    let unknown = |evidence: String| Identity { verdict: "unknown".into(), evidence };
    if first == 0 || second == 0 {
        return unknown("the program does not tell where the functions lie".into());
    }
    let base = match layout::image_base(elf) {
        Ok(base) => base,
        Err(error) => return unknown(error.to_string()),
    };
    match identity::same_code_at(elf, base + first, base + second) {
        Ok(Same::Identical { note }) => Identity {
            verdict: "identical".into(),
            evidence: note.unwrap_or_else(|| "the same instructions after relocation".into()),
        },
        Ok(Same::Different { at, .. }) => {
            Identity { verdict: "different".into(), evidence: format!("from byte {at} on") }
        }
        Ok(Same::Unknown { reason }) => unknown(reason),
        Err(error) => unknown(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_command_that_shows_it_without_the_lab() {
        let alone = |stage, input: Option<&str>| {
            let fault = Fault { shows_alone: true, ..Fault::of_lab(stage, "was ended by signal 11".into()) };
            by_itself(&fault, Path::new("a b/program"), "it's", input.map(Path::new))
        };
        let cell = Some(r"'a b/program' --variant 'it'\''s' --input inputs/0f".to_owned());
        for stage in [Stage::Load, Stage::Answer, Stage::Measure] {
            assert_eq!(alone(stage, Some("inputs/0f")), cell);
            assert_eq!(alone(stage, None), None);
        }
        assert_eq!(alone(Stage::Start, None), Some("'a b/program' --list".to_owned()));
        assert_eq!(alone(Stage::Agree, Some("x")), Some("'a b/program' --input x".to_owned()));
        assert_eq!((alone(Stage::Count, Some("x")), alone(Stage::End, None)), (None, None));
        let fault = Fault::of_lab(Stage::Measure, "gave more than the 3 samples it was asked for".into());
        assert_eq!(
            by_itself(&fault, Path::new("p"), "v", Some(Path::new("x"))),
            None,
            "the lab alone asks for samples"
        );
    }
}
