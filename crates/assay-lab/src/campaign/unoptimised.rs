//! Variants whose code was built without optimisation are refused, unless the experiment asks for such code.
//!
//! Flags are read with the experiment. Here the code itself is looked at, as built: what the compiler wrote down of its flags (a
//! wrapper may have changed them), and the shape of the variant's function and of those that it calls (an attribute or a
//! pragma may have switched optimisation off for it alone).

use super::prepare::PreparedExperiment;
use super::scene::Scene;
use super::start::StartedPrograms;
use anyhow::Result;
use assay_pure::experiment::matrix::Cell;
use assay_pure::ledger::Stage;
use assay_pure::placement::layout;
use assay_pure::placement::optimised::unoptimised;
use assay_trace::sites::image::{ModuleImage, SymbolFunction};
use assay_trace::sites::instruction::InstructionFlow;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// Makes failed cells of unoptimised variants.
///
/// # Errors
/// The ledger cannot be written.
pub fn refuse(
    prepared: &PreparedExperiment,
    scene: &mut Scene<'_>,
    started: &StartedPrograms,
    failed: &mut HashSet<Cell>,
) -> Result<()> {
    let mut read: BTreeMap<PathBuf, Option<OpenedProgram>> = BTreeMap::new();
    for number in 0..started.lineup.len() {
        let subject = started.lineup.subject(number);
        let set = &prepared.experiment.flags[subject.flags];
        if !subject.placement.is_as_built() || set.allow_unoptimised {
            continue;
        }
        let own = &prepared.experiment.program;
        let flags: Vec<String> = own.flags.iter().chain(&set.flags).cloned().collect();
        // A build of its own has flags that the experiment does not know.
        let flags = own.build.is_none().then_some(&flags[..]);
        let program = read.entry(subject.program.clone()).or_insert_with(|| open(&subject.program, flags));
        let Some(OpenedProgram { image, base, build }) = program else { continue };
        let entry = started.lineup.announced(number).entry;
        let reason =
            build.clone().or_else(|| by_shape(image, base.wrapping_add(entry)).filter(|_| entry > 0));
        let Some(reason) = reason else { continue };
        let inputs = prepared.inputs.len();
        failed.extend((0..inputs).map(|input| subject.cell(input)));
        let reason = format!(
            "its code is unoptimised: {reason}. Times of such code say nothing about the code that is used. Build it as it is shipped (-O2, a \
             release profile), or set allow_unoptimised = true where such code is the question"
        );
        scene.fail(&prepared.failure(Stage::Compile, subject.cell(0), true, reason))?;
    }
    Ok(())
}

/// A program whose code is looked at.
struct OpenedProgram {
    image: ModuleImage,
    /// Where its first byte is loaded.
    base: u64,
    /// What its compiler wrote down against it.
    build: Option<String>,
}

fn open(path: &PathBuf, flags: Option<&[String]>) -> Option<OpenedProgram> {
    let elf = std::fs::read(path).ok()?;
    let base = layout::image_base(&elf).ok()?;
    let image = ModuleImage::open(path).ok()?;
    Some(OpenedProgram { image, base, build: flags.and_then(|flags| unoptimised(flags, &elf)) })
}

/// What the code of a function, or of one that it calls, says against it.
fn by_shape(image: &ModuleImage, entry: u64) -> Option<String> {
    let own = image.function(entry)?;
    let code = image.code(entry);
    let called = code.instructions.iter().filter_map(|instruction| match instruction.flow {
        InstructionFlow::Call(target) => image.function(target),
        _ => None,
    });
    let suspect = |function: &SymbolFunction<'_>| {
        let shape = image.shape(function.start);
        // Optimised code keeps no frame pointer unless it is told to.
        (shape.is_unoptimised() && shape.has_frame).then(|| {
            format!(
                "{} loads {} times a value that it has just stored on the stack",
                function.name(),
                shape.reloads
            )
        })
    };
    std::iter::once(own).chain(called).find_map(|function| suspect(&function))
}
