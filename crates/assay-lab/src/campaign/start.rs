//! From artifacts to programs that wait to be visited: launched, and their machine code compared.

use super::placements::{BuildGroup, PlacedLink};
use super::prepare::PreparedExperiment;
use super::scene::Scene;
use super::{sources, unregistered};
use crate::run::worker::Announced;
use crate::run::{Lineup, ProgramFault, Stage, Subject};
use crate::store::{IdentityRow, Ledger, ProcessRow};
use anyhow::Result;
use assay_link::build::text::command_line;
use assay_pure::experiment::matrix::{self, Cell};
use assay_pure::ledger::CodeFound;
use assay_pure::placement::identity::{self, Identity as Same};
use assay_pure::placement::layout;
use assay_pure::placement::same_loops::same_loops;
use assay_pure::protocol::VariantKind;
use std::collections::HashSet;
use std::path::Path;

/// Programs that could be launched, and the ledger's numbers of their processes.
#[derive(Debug)]
pub struct StartedPrograms {
    /// The programs.
    pub lineup: Lineup,
    /// Ledger number of each, by its number in the line-up.
    pub processes: Vec<i64>,
}

impl StartedPrograms {
    /// A program of a cell.
    pub fn program_of(&self, cell: Cell) -> Option<&Path> {
        let of = |subject: &&Subject| subject.cell(cell.input) == cell;
        let subjects = (0..self.lineup.len()).map(|number| self.lineup.subject(number));
        subjects.into_iter().find(of).map(|subject| subject.program.as_path())
    }
}

/// A fault that was met.
#[derive(Clone, Copy, Debug)]
pub struct Met<'a> {
    /// What was wrong.
    pub fault: &'a ProgramFault,
    /// In which cell.
    pub cell: Cell,
    /// It is of all inputs.
    pub everywhere: bool,
    /// The program that showed it.
    pub program: Option<&'a Path>,
}

/// Keeps a fault as a failure of its cell, and says so.
///
/// # Errors
/// The ledger cannot be written.
pub fn keep_fault(prepared: &PreparedExperiment, scene: &mut Scene<'_>, met: Met<'_>) -> Result<()> {
    if assay_linux::interrupt::asked() {
        // The lab itself, or Ctrl-C, may have ended the program. A fault of its own shows again with --resume.
        return Ok(());
    }
    let name = &prepared.experiment.variants[met.cell.variant].name;
    let file = (!met.everywhere).then(|| prepared.inputs[met.cell.input].file.as_path());
    let alone = met.program.and_then(|program| by_itself(met.fault, program, name, file));
    let alone =
        alone.map_or(String::new(), |command| format!("; to run it alone or with gdb --args: {command}"));
    let unregistered = met
        .fault
        .is_unregistered
        .then(|| unregistered::function(name, &sources::of(&prepared.experiment.program, &prepared.folder)));
    let function = unregistered.flatten().map_or(String::new(), |told| format!(". {told}"));
    let reason = met.fault.to_string() + &function + &alone;
    scene.fail(&prepared.failure(met.fault.stage, met.cell, met.everywhere, reason))
}

/// The command that shows a fault without the lab, and to a debugger; none where no command does.
fn by_itself(fault: &ProgramFault, program: &Path, variant: &str, file: Option<&Path>) -> Option<String> {
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

/// Launches every subject of the `first` level or a later one. A program that does not start is out for all inputs; so is what
/// would be measured alone, as the variant that it is compared with is not registered: that is a slip to be mended, not a result.
///
/// # Errors
/// The ledger cannot be written.
pub fn launch(
    prepared: &PreparedExperiment,
    scene: &mut Scene<'_>,
    mut lineup: Lineup,
    subjects: Vec<Subject>,
    first: bool,
    failed: &mut HashSet<Cell>,
) -> Result<StartedPrograms> {
    assay_linux::process::give_back_memory();
    let inputs = prepared.inputs.len();
    let mut lacking: HashSet<BuildGroup> = HashSet::new();
    for subject in subjects {
        let cells: Vec<Cell> = (0..inputs).map(|input| subject.cell(input)).collect();
        if cells.iter().all(|cell| failed.contains(cell)) {
            continue;
        }
        if assay_linux::interrupt::asked() {
            // Each of those left may take its time to say that it hangs.
            break;
        }
        let (program, cell) = (subject.program.clone(), subject.cell(0));
        if let Err(fault) = lineup.add(subject) {
            failed.extend(cells);
            if first {
                lacking.extend(fault.is_unregistered.then_some(BuildGroup::of(cell)));
                let met = Met { fault: &fault, cell, everywhere: true, program: Some(&program) };
                keep_fault(prepared, scene, met)?;
            } else {
                // What earlier rotations told of it stands; it only cannot be told better.
                scene.warn(format!("{}: {fault}", prepared.experiment.variants[cell.variant].name));
            }
        }
    }
    let names: Vec<String> = prepared.compilers.iter().map(|compiler| compiler.name.clone()).collect();
    let contrasts = matrix::contrasts(&prepared.experiment, &names);
    let all = matrix::cells(&prepared.experiment, prepared.compilers.len());
    failed.extend(unregistered::without_a_rival(&lacking, &contrasts, &all, failed));
    let mut rows: Vec<ProcessRow> =
        (0..lineup.len()).map(|number| process_row(prepared, &lineup, number)).collect();
    scene.ledger.put_processes(scene.campaign.id, &mut rows.iter_mut().collect::<Vec<_>>())?;
    Ok(StartedPrograms { lineup, processes: rows.iter().map(|row| row.id).collect() })
}

fn process_row(prepared: &PreparedExperiment, lineup: &Lineup, number: usize) -> ProcessRow {
    use crate::run::round::VisitBench as _;
    let subject = lineup.subject(number);
    let region = lineup.region(number);
    let (wall_read_ns, cpu_read_ns) = lineup.read_costs(number);
    ProcessRow {
        id: 0,
        artifact: subject.artifact.clone(),
        compiler: prepared.compilers[subject.compiler].name.clone(),
        flags: prepared.experiment.flags[subject.flags].name.clone(),
        variant: subject.variant_name.clone(),
        rotation: subject.placement.rotation(),
        phase_bytes: subject.placement.phase_bytes(),
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
    prepared: &PreparedExperiment,
    started: &StartedPrograms,
    placed: &[PlacedLink],
    ledger: &Ledger,
) -> Result<()> {
    let baseline = prepared.baseline();
    let chosen = started.lineup.one_of_each_code(baseline);
    for subjects in chosen.iter().filter(|(code, _)| !code.as_built).map(|(_, subjects)| subjects) {
        let Some((&first, others)) = subjects.split_first() else { continue };
        if started.lineup.subject(first).variant != baseline {
            continue;
        }
        let hash = &started.lineup.subject(first).artifact;
        let Some(placed) = placed.iter().find(|placed| &placed.artifact.hash == hash) else { continue };
        let elf = std::fs::read(&placed.artifact.path).unwrap_or_default();
        for &other in others {
            let found = compare(&elf, started.lineup.announced(first), started.lineup.announced(other));
            let names =
                (&started.lineup.subject(first).variant_name, &started.lineup.subject(other).variant_name);
            ledger.put_identity(hash, names.0, names.1, &found)?;
        }
    }
    Ok(())
}

/// The same code is a proof where it gets nothing but the input: what another function has prepared may differ.
fn compare(elf: &[u8], one: &Announced, other: &Announced) -> IdentityRow {
    let unknown = |evidence: String| IdentityRow { verdict: CodeFound::Unknown, evidence };
    let (first, second) = (one.entry, other.entry);
    let whole = one.kind == other.kind && matches!(one.kind, VariantKind::Call | VariantKind::Loop);
    if first == 0 || second == 0 {
        return unknown("the program does not say where its functions are".into());
    }
    let base = match layout::image_base(elf) {
        Ok(base) => base,
        Err(error) => return unknown(error.to_string()),
    };
    match identity::same_code_at(elf, base + first, base + second) {
        Ok(Same::Identical { note }) => IdentityRow {
            verdict: if whole { CodeFound::Proven } else { CodeFound::Identical },
            evidence: evidence(note, first == second),
        },
        Ok(Same::Different { at, .. }) => match same_loops(elf, base + first, base + second) {
            Ok(Some(loops)) => IdentityRow {
                verdict: CodeFound::SameLoops,
                evidence: serde_json::to_string(&loops).expect("numbers"),
            },
            _ => IdentityRow { verdict: CodeFound::Different, evidence: format!("from byte {at} on") },
        },
        Ok(Same::Unknown { reason }) => unknown(reason),
        Err(error) => unknown(error.to_string()),
    }
}

/// What shows that two functions are the same code.
fn evidence(note: Option<String>, is_one: bool) -> String {
    let same = || "the same instructions after relocation".to_owned();
    if is_one {
        "one function at one address: the compiler folded the two".to_owned()
    } else {
        note.unwrap_or_else(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_command_that_shows_it_without_the_lab() {
        let alone = |stage, input: Option<&str>| {
            let fault = ProgramFault {
                shows_alone: true,
                ..ProgramFault::of_lab(stage, "was ended by signal 11".into())
            };
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
        let fault =
            ProgramFault::of_lab(Stage::Measure, "gave more than the 3 samples it was asked for".into());
        assert_eq!(
            by_itself(&fault, Path::new("p"), "v", Some(Path::new("x"))),
            None,
            "the lab alone asks for samples"
        );
    }

    #[test]
    fn variants_that_the_compiler_made_one_function_of_are_told_as_such() {
        assert_eq!(evidence(None, true), "one function at one address: the compiler folded the two");
        assert_eq!(evidence(Some("but for padding".into()), false), "but for padding");
        assert_eq!(evidence(None, false), "the same instructions after relocation");
    }
}
