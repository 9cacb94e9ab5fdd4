//! The artifacts of an experiment: compiled once per compiler and flag set, linked as built and at every phase of
//! every rotation that is asked for.

use super::count::capped::capped_flags;
use super::prepare::PreparedExperiment;
use super::scene::Scene;
use crate::run::Subject;
use crate::store::{ArtifactRow, FailureRow};
use anyhow::{Context, Result};
use assay_link::build::{Artifact, BuildFailure, Compiler, Link, LoggingProgram};
use assay_link::program::{ProgramBuilder, ProgramRecipe};
use assay_pure::compare::VisitPlacement;
use assay_pure::event::Event;
use assay_pure::experiment::matrix::Cell;
use assay_pure::experiment::plan;
use assay_pure::experiment::spec::{FlagSet, Program};
use assay_pure::ledger::Stage;
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;

/// One compiler with one flag set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildGroup {
    /// Number on the compiler axis.
    pub compiler: usize,
    /// Number on the flags axis.
    pub flags: usize,
}

impl BuildGroup {
    /// What a cell is built with.
    pub fn of(cell: Cell) -> BuildGroup {
        BuildGroup { compiler: cell.compiler, flags: cell.flags }
    }

    /// A cell that is built so.
    pub fn cell(self, variant: usize, input: usize) -> Cell {
        Cell { variant, input, compiler: self.compiler, flags: self.flags }
    }
}

/// A link and where it stands in the experiment.
#[derive(Clone, Debug)]
pub struct PlacedLink {
    /// What it was built with.
    pub group: BuildGroup,
    /// Where its code lies.
    pub placement: VisitPlacement,
    /// The binary.
    pub artifact: Artifact,
}

/// A link that is to be made.
struct WantedLink<'a> {
    group: BuildGroup,
    recipe: &'a ProgramRecipe,
    placement: VisitPlacement,
    link: Link,
}

/// Compiled recipes, ready to be linked in any placement.
pub struct Placements<'a> {
    prepared: &'a PreparedExperiment,
    builder: ProgramBuilder,
    recipes: Vec<(BuildGroup, ProgramRecipe)>,
}

impl<'a> Placements<'a> {
    /// Compiles the program with every compiler and flag set. A compilation that fails is a failed cell.
    ///
    /// # Errors
    /// The store or the ledger cannot be written.
    pub fn compile(prepared: &'a PreparedExperiment, scene: &mut Scene<'_>, store: &Path) -> Result<Self> {
        scene.phase("build");
        let builder = ProgramBuilder::new(store)?;
        let mut recipes = Vec::new();
        let mut warnings = Vec::new();
        for (compiler, identity) in prepared.compilers.iter().enumerate() {
            for (flags, set) in prepared.experiment.flags.iter().enumerate() {
                let group = BuildGroup { compiler, flags };
                let program = &prepared.experiment.program;
                let name = &identity.name;
                scene.doing(match prepared.experiment.flags.len() {
                    1 => format!("compiling with {name}"),
                    _ => format!("compiling with {name}, {}", set.name),
                });
                let on = RefCell::new(&mut *scene.on);
                let said = |line: &str| on.borrow_mut()(Event::Phase { name: format!("build: {line}") });
                match builder.compile(&prepared.folder, program, set, identity, &said) {
                    Ok(recipe) => {
                        warnings.extend(recipe.warnings().iter().cloned());
                        recipes.push((group, recipe));
                    }
                    Err(failure) => fail(prepared, scene, group, Stage::Compile, &failure)?,
                }
            }
        }
        warnings.extend(alike(prepared, &recipes));
        warnings.sort();
        warnings.dedup();
        for warning in warnings {
            scene.ledger.put_build_warning(scene.campaign.id, &warning)?;
            scene.warn(warning);
        }
        Ok(Self { prepared, builder, recipes })
    }

    /// All that could be compiled.
    pub fn groups(&self) -> Vec<BuildGroup> {
        self.recipes.iter().map(|(group, _)| *group).collect()
    }

    /// Links the given groups as built (if asked) and at all phases of the given rotations; keeps the artifacts.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn link(
        &self,
        groups: &[BuildGroup],
        rotations: &[u32],
        as_built: bool,
        scene: &mut Scene<'_>,
    ) -> Result<Vec<PlacedLink>> {
        let mut wanted: Vec<WantedLink<'_>> = Vec::new();
        for (group, recipe) in self.recipes.iter().filter(|(group, _)| groups.contains(group)) {
            if as_built {
                wanted.push(WantedLink {
                    group: *group,
                    recipe,
                    placement: VisitPlacement::AsBuilt,
                    link: Link::AsBuilt,
                });
            }
            for &rotation in rotations {
                let shuffle = plan::shuffle_seed(self.prepared.experiment.seed, rotation);
                for &phase_bytes in &self.prepared.experiment.placement.phases {
                    wanted.push(WantedLink {
                        group: *group,
                        recipe,
                        placement: VisitPlacement::Placed { rotation, phase_bytes },
                        link: Link::Placed { shuffle, phase_bytes },
                    });
                }
            }
        }
        let jobs: Vec<(&ProgramRecipe, Link)> =
            wanted.iter().map(|wanted| (wanted.recipe, wanted.link)).collect();
        let before = self.builder.stats().artifacts_from_cache;
        let told = RefCell::new(&mut *scene.on);
        let results = self.builder.link_all(&jobs, &|done, total| {
            let cached = self.builder.stats().artifacts_from_cache - before;
            told.borrow_mut()(Event::Linked { done: done as u64, total: total as u64, cached });
        });
        self.keep(wanted, results, scene)
    }

    fn keep(
        &self,
        wanted: Vec<WantedLink<'_>>,
        results: Vec<Result<Artifact, BuildFailure>>,
        scene: &mut Scene<'_>,
    ) -> Result<Vec<PlacedLink>> {
        let mut placed = Vec::new();
        let mut failed: Vec<BuildGroup> = Vec::new();
        // The first links of a campaign bring the one as built; what later ones cannot add takes nothing away.
        let first = wanted.iter().any(|wanted| wanted.placement.is_as_built());
        for (WantedLink { group, placement, .. }, result) in wanted.into_iter().zip(results) {
            match result {
                Ok(artifact) => {
                    placed.push(PlacedLink { group, placement, artifact });
                }
                Err(failure) if !failed.contains(&group) => {
                    failed.push(group);
                    if !first {
                        scene.warn(failure.to_string());
                        continue;
                    }
                    fail(self.prepared, scene, group, Stage::Link, &failure)?;
                }
                Err(_) => {}
            }
        }
        placed.retain(|placed| !failed.contains(&placed.group));
        let rows: Vec<ArtifactRow> = placed.iter().map(|placed| self.row(placed)).collect();
        scene.ledger.put_artifacts(&rows).context("keeping the artifacts")?;
        Ok(placed)
    }

    /// A build of the same program for the emulator, which lacks some instructions, and a word on it. Nothing where no flag
    /// would help.
    ///
    /// # Errors
    /// It does not compile or link with other flags.
    pub fn capped(&self, group: BuildGroup) -> Result<Option<(Artifact, String)>, BuildFailure> {
        let experiment = &self.prepared.experiment;
        let set = &experiment.flags[group.flags];
        let compiler = &self.prepared.compilers[group.compiler];
        let family = compiler.family;
        // A flag for all sets may ask for the architecture too; the set's own come later and so win.
        let Some((flags, note)) = capped_flags(&set.flags, family) else { return Ok(None) };
        let Some((common, _)) = capped_flags(&experiment.program.flags, family) else {
            return Ok(None);
        };
        let program = Program { flags: common, ..experiment.program.clone() };
        let set = FlagSet { flags, ..set.clone() };
        let recipe = self.builder.compile(&self.prepared.folder, &program, &set, compiler, &|_| {})?;
        Ok(Some((self.builder.link(&recipe, Link::AsBuilt)?, note)))
    }

    /// A build of the same program that logs its branches.
    ///
    /// # Errors
    /// Why there is none, as part of a sentence.
    pub fn instrument(&self, placed: &PlacedLink) -> Result<LoggingProgram, String> {
        let recipe = self.recipes.iter().find(|(group, _)| *group == placed.group);
        let (_, recipe) = recipe.ok_or("it was not compiled")?;
        self.builder.instrument(recipe, &placed.artifact)
    }

    fn row(&self, placed: &PlacedLink) -> ArtifactRow {
        let compiler = &self.prepared.compilers[placed.group.compiler];
        ArtifactRow {
            hash: placed.artifact.hash.clone(),
            compiler: compiler_json(compiler),
            flags: json!(self.all_flags(placed.group)),
            link: json!(placed.artifact.link),
            command: json!(placed.artifact.command),
            functions: json!(placed.artifact.functions),
            text_bytes: placed.artifact.text_bytes,
        }
    }

    fn all_flags(&self, group: BuildGroup) -> Vec<String> {
        let experiment = &self.prepared.experiment;
        experiment.program.flags.iter().chain(&experiment.flags[group.flags].flags).cloned().collect()
    }

    /// What processes are launched from: the artifacts for the given variants, with environments drawn by the seed.
    pub fn subjects(&self, placed: &[PlacedLink], variants: &[usize]) -> Vec<Subject> {
        let experiment = &self.prepared.experiment;
        let mut subjects = Vec::new();
        for place in placed {
            for &variant in variants {
                let key = [
                    place.group.compiler as u64,
                    place.group.flags as u64,
                    place.placement.rotation().map_or(u64::MAX, u64::from),
                    place.placement.phase_bytes().map_or(u64::MAX, u64::from),
                    variant as u64,
                ];
                subjects.push(Subject {
                    program: place.artifact.path.clone(),
                    artifact: place.artifact.hash.clone(),
                    variant,
                    variant_name: experiment.variants[variant].name.clone(),
                    compiler: place.group.compiler,
                    flags: place.group.flags,
                    placement: place.placement,
                    environment_bytes: plan::environment_bytes(experiment.seed, &key),
                });
            }
        }
        subjects
    }
}

/// Builds of one compiler that left the same program for different flags: either the flags make no difference, or they never
/// reached a compiler.
fn alike(prepared: &PreparedExperiment, recipes: &[(BuildGroup, ProgramRecipe)]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, (group, recipe)) in recipes.iter().enumerate() {
        let same = |(other, known): &&(BuildGroup, ProgramRecipe)| {
            other.compiler == group.compiler
                && recipe.as_built().is_some_and(|own| known.as_built() == Some(own))
        };
        if let Some((first, _)) = recipes[..at].iter().find(same) {
            let name = |group: &BuildGroup| prepared.experiment.flags[group.flags].name.as_str();
            found.push(format!(
                "{}: the build makes the same program with {} and {}. If that is not meant, have the build append CFLAGS and CXXFLAGS to its own flags",
                prepared.compilers[group.compiler].name,
                name(first),
                name(group)
            ));
        }
    }
    found
}

/// What our own message, compilers and make say where a signal ended something, maybe the one that asks the lab to stop.
const ENDED_BY_SIGNAL: [&str; 4] = ["signal", "Terminated", "Interrupt", "Hangup"];

fn fail(
    prepared: &PreparedExperiment,
    scene: &mut Scene<'_>,
    group: BuildGroup,
    stage: Stage,
    failure: &BuildFailure,
) -> Result<()> {
    let reason = failure.to_string();
    if ENDED_BY_SIGNAL.iter().any(|words| reason.contains(words)) {
        assay_linux::interrupt::wait_for_own();
    }
    if assay_linux::interrupt::asked() {
        // Ctrl-C reaches the compilers too, and one that it ended has not failed: `--resume` tries again.
        return Ok(());
    }
    scene.fail(&FailureRow {
        stage,
        variant: None,
        input: None,
        compiler: Some(prepared.compilers[group.compiler].name.clone()),
        flags: Some(prepared.experiment.flags[group.flags].name.clone()),
        reason,
    })
}

/// A compiler's identity as kept.
pub fn compiler_json(compiler: &Compiler) -> serde_json::Value {
    json!({
        "name": compiler.name,
        "version": compiler.version,
        "target": compiler.target,
        "sha256": compiler.sha256,
    })
}
