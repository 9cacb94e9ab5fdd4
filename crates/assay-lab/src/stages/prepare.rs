//! From what is wanted to commands that can be run: builds, first runs, links that can be placed.

use super::again::SessionPlan;
use super::asked::StagesRequest;
use super::build::{BuildDestination, BuiltEntrant};
use super::first::{CommandOptions, FirstRun, Runnable, files_of, try_out};
use crate::compare::left_behind::Workplace;
use crate::compare::places::Binaries;
use anyhow::{Context, Result, bail};
use assay_pure::compare::VisitPlacement;
use assay_pure::event::Event;
use assay_pure::stages::Diary;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Folders and the processor of this process's own work.
pub struct DiaryWorkspace {
    place: Workplace,
    /// The processor.
    pub cpu: usize,
    /// How commands are run.
    pub way: CommandOptions,
}

impl DiaryWorkspace {
    /// Makes them.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn new(asked: &StagesRequest, cpu: usize, on: &mut dyn FnMut(Event)) -> Result<DiaryWorkspace> {
        let place = Workplace::new(&asked.store, on)
            .with_context(|| format!("cannot create a folder in {}", asked.store.display()))?;
        let scratch = place.folder().join("scratch");
        Ok(DiaryWorkspace {
            place,
            cpu,
            way: CommandOptions { cpu: asked.pin.then_some(cpu), patience: asked.patience, scratch },
        })
    }
}

/// An entrant of this session.
pub struct ReadyEntrant {
    /// Its number in the diary.
    pub number: usize,
    /// What was built, or why not.
    pub built: Result<BuiltEntrant, String>,
    /// First runs by role.
    pub tried: BTreeMap<usize, FirstRun>,
    /// Its binaries, where they can be placed.
    pub binaries: Option<Binaries>,
    /// Why its links cannot be placed.
    pub unplaced: Option<String>,
}

impl ReadyEntrant {
    /// What can be run of it.
    pub fn runnable(&self) -> impl Iterator<Item = &Runnable> {
        self.tried.values().filter_map(|tried| tried.found.as_ref().ok())
    }

    /// Whether there is a command that runs.
    pub fn is_measured(&self) -> bool {
        self.runnable().next().is_some()
    }

    /// What one run of all its commands takes.
    pub fn seconds(&self) -> f64 {
        let worked = self.tried.values().filter(|tried| tried.found.is_ok());
        worked.map(|tried| tried.seconds).sum()
    }

    /// Why nothing of it is measured.
    pub fn failure(&self) -> Option<String> {
        match &self.built {
            Err(why) => Some(why.clone()),
            Ok(_) if self.is_measured() => None,
            Ok(_) => {
                let why = self.tried.values().find_map(|tried| tried.found.as_ref().err());
                Some(why.cloned().unwrap_or_else(|| "no role uses it".to_owned()))
            }
        }
    }
}

/// Builds everything that is wanted and runs each command once.
///
/// # Errors
/// A revision does not exist, the store cannot be written, somebody interrupted.
pub fn prepare(
    asked: &StagesRequest,
    work: &DiaryWorkspace,
    wanted: &SessionPlan,
    on: &mut dyn FnMut(Event),
) -> Result<Vec<ReadyEntrant>> {
    let diary = &asked.opened.diary;
    std::fs::create_dir_all(&asked.store)
        .with_context(|| format!("cannot make {}", asked.store.display()))?;
    let store = asked.store.canonicalize()?;
    let site = BuildDestination { diary, folder: &asked.opened.folder, store: &store };
    let mut all = Vec::new();
    for number in &wanted.entrants {
        let entrant = &diary.entrants[*number];
        on(Event::Phase { name: format!("build {}", entrant.name) });
        let built = site.build(entrant, on)?;
        if let Err(why) = &built {
            on(Event::Failed { what: entrant.name.clone(), reason: first_line(why) });
        }
        all.push(ReadyEntrant {
            number: *number,
            built,
            tried: BTreeMap::new(),
            binaries: None,
            unplaced: None,
        });
        if assay_linux::interrupt::asked() {
            bail!("interrupted while building; nothing was measured yet");
        }
    }
    on(Event::Phase { name: "first runs".into() });
    for ready in &mut all {
        first_runs(diary, ready, work, on);
        place(diary, ready, work)?;
    }
    Ok(all)
}

/// For a line of progress.
pub fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn first_runs(diary: &Diary, ready: &mut ReadyEntrant, work: &DiaryWorkspace, on: &mut dyn FnMut(Event)) {
    let Ok(built) = &ready.built else { return };
    let entrant = &diary.entrants[ready.number];
    for (role, task) in &entrant.tasks {
        let tried = try_out(diary, *role, task, built, &work.way);
        if let Err(why) = &tried.found {
            let what = format!("{} as {}", entrant.name, diary.roles[*role].name);
            on(Event::Failed { what, reason: first_line(why) });
        }
        ready.tried.insert(*role, tried);
    }
}

/// Takes over the links that its commands use; what cannot be linked again stays where it is.
fn place(diary: &Diary, ready: &mut ReadyEntrant, work: &DiaryWorkspace) -> Result<()> {
    let Ok(built) = &mut ready.built else { return Ok(()) };
    let opened: BTreeSet<PathBuf> =
        ready.tried.values().flat_map(|tried| tried.opened.iter().cloned()).collect();
    let mut links = std::mem::take(&mut built.links);
    let had_links = !links.is_empty();
    links.retain(|link| files_of(link).any(|file| opened.contains(file)));
    if links.is_empty() {
        let why = if had_links {
            "its commands use none of the binaries that the build linked"
        } else {
            "nothing was linked for it here"
        };
        ready.unplaced = Some(why.to_owned());
        return Ok(());
    }
    let folder = work.place.folder().join(format!("side-{}", ready.number));
    let placed = Binaries::new(links, folder, diary.seed).and_then(|mut binaries| {
        // One placement ahead of all measuring: what the linker cannot do is known.
        binaries.make(VisitPlacement::Placed { rotation: 0, phase_bytes: 0 })?;
        Ok(binaries)
    });
    match placed {
        Ok(binaries) => {
            built.warnings.extend(binaries.limits().iter().map(ToString::to_string));
            let files: Vec<PathBuf> = binaries.files().map(PathBuf::from).collect();
            for tried in ready.tried.values_mut() {
                if let Ok(runnable) = &mut tried.found {
                    runnable.bench.watched.clone_from(&files);
                }
            }
            ready.binaries = Some(binaries);
        }
        Err(why) => ready.unplaced = Some(format!("{why:#}")),
    }
    Ok(())
}
