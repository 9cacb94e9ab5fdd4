//! From what the user named to sides that are built and can be run.

use super::places::put_back;
use super::revisions::{Repository, Revision};
use crate::lead::{Hold, Misuse, Unable, hold};
use anyhow::{Context, Result, bail};
use assay_link::adopt::capture::{self, BuildAsked, BuildError, CapturedLink};
use assay_pure::event::Event;
use assay_pure::inputs::digest::digest;
use std::path::{Path, PathBuf};

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The one tree the user is in, against its own placements.
    Tree {
        /// The build command.
        build: String,
        /// The benchmark command.
        bench: String,
    },
    /// A revision against another, or against the working tree.
    Revisions {
        /// The build command.
        build: String,
        /// The benchmark command.
        bench: String,
        /// The baseline.
        baseline: String,
        /// The candidate; the working tree if there is none.
        candidate: Option<String>,
    },
    /// Two commands as they are.
    Commands([String; 2]),
}

/// A side ready to be run.
pub struct PreparedSide {
    /// As the user called it.
    pub name: String,
    /// Full hash of the commit.
    pub revision: Option<String>,
    /// The benchmark command.
    pub bench: String,
    /// Where it runs.
    pub folder: PathBuf,
    /// What the build linked.
    pub links: Vec<CapturedLink>,
}

/// All sides with what the user must know of them.
pub struct ReadySides {
    /// The baseline first.
    pub sides: Vec<PreparedSide>,
    /// Sentences.
    pub warnings: Vec<String>,
    /// Why nothing can be relinked, where that is so.
    pub unlinked: Option<String>,
    /// The trees, which are nobody else's meanwhile.
    pub holds: Vec<Hold>,
}

/// Checks out and builds what is compared, when whatever a comparison that was killed left is put back: a build may take a placed
/// binary for its own.
///
/// # Errors
/// A revision does not exist, a build fails.
pub fn prepare(what: &What, folder: &Path, store: &Path, on: &mut dyn FnMut(Event)) -> Result<ReadySides> {
    let plain = |name: &str, bench: &str| PreparedSide {
        name: name.into(),
        revision: None,
        bench: bench.into(),
        folder: folder.to_owned(),
        links: Vec::new(),
    };
    // First, so that nobody displaces anything in it from here on.
    let hold = matches!(what, What::Tree { .. }).then(|| hold_tree(folder, store)).transpose()?;
    put_back(store, on)?;
    match what {
        What::Commands(commands) => Ok(ReadySides {
            sides: commands.iter().map(|command| plain(command, command)).collect(),
            warnings: Vec::new(),
            unlinked: Some("the commands' binaries were not built here".into()),
            holds: Vec::new(),
        }),
        What::Tree { build, bench } => {
            on(Event::Phase { name: "build".into() });
            let mut side = plain("the tree", bench);
            let mut warnings = Vec::new();
            // Up to date already: measuring would tell half of what was asked.
            side.links = built(build, &side.name, folder, store, &mut warnings, on)?
                .map_err(|nothing| Misuse(nothing.to_string()))?;
            Ok(ReadySides { sides: vec![side], warnings, unlinked: None, holds: hold.into_iter().collect() })
        }
        What::Revisions { build, bench, baseline, candidate } => {
            let repository = Repository::find(folder)?;
            let revisions = revisions(&repository, baseline, candidate.as_deref(), store)?;
            let mut ready =
                ReadySides { sides: Vec::new(), warnings: Vec::new(), unlinked: None, holds: Vec::new() };
            if candidate.is_some() && repository.is_dirty()? {
                ready.warnings.push(
                    "the working tree has changes that are in neither revision; to measure them, name only \
                     one revision"
                        .into(),
                );
            }
            for revision in revisions {
                let side = of_revision(&repository, &revision, (build, bench), store, &mut ready, on)?;
                ready.sides.push(side);
            }
            Ok(ready)
        }
    }
}

/// The right to build and run in the user's own tree.
fn hold_tree(folder: &Path, store: &Path) -> Result<Hold> {
    let trees = store.join("trees");
    std::fs::create_dir_all(&trees).with_context(|| format!("cannot make {}", trees.display()))?;
    let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
    let name = digest(folder.as_os_str().as_encoded_bytes());
    hold::take(&trees.join(format!("here-{}", &name[..12])), "tree")?.ok_or_else(|| {
        Unable(format!(
            "another comparison is building or measuring in {}; wait for it to end, or compare revisions, \
             each of which gets its own tree",
            folder.display()
        ))
        .into()
    })
}

fn revisions(
    repository: &Repository,
    baseline: &str,
    candidate: Option<&str>,
    store: &Path,
) -> Result<[Revision; 2]> {
    let baseline = repository.revision(baseline)?;
    let candidate = match candidate {
        Some(name) => repository.revision(name)?,
        None => repository.working_tree(store)?,
    };
    if baseline.commit == candidate.commit {
        return Err(Misuse(format!(
            "{} and {} are the same commit, {}; name two different ones, or none to measure the effect of \
             placement alone",
            baseline.name,
            candidate.name,
            &baseline.commit[..12.min(baseline.commit.len())]
        ))
        .into());
    }
    Ok([baseline, candidate])
}

fn of_revision(
    repository: &Repository,
    revision: &Revision,
    (build, bench): (&str, &str),
    store: &Path,
    ready: &mut ReadySides,
    on: &mut dyn FnMut(Event),
) -> Result<PreparedSide> {
    let trees = store.join("trees");
    on(Event::Phase { name: "build".into() });
    ready.holds.push(repository.hold(revision, &trees)?);
    // A tree that is built already would link nothing.
    repository.forget(revision, &trees)?;
    let folder = repository.check_out(revision, &trees)?.0;
    ready.warnings.extend(revision.note.clone());
    let links = built(build, &revision.name, &folder, store, &mut ready.warnings, on)?;
    let links = links.unwrap_or_else(|nothing| {
        ready.unlinked = Some(nothing.to_string());
        Vec::new()
    });
    let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
    Ok(PreparedSide {
        name: revision.name.clone(),
        revision: Some(revision.commit.clone()),
        bench: bench.into(),
        folder,
        links,
    })
}

/// The links of a build, or that there were none.
fn built(
    command: &str,
    name: &str,
    folder: &Path,
    store: &Path,
    warnings: &mut Vec<String>,
    on: &mut dyn FnMut(Event),
) -> Result<Result<Vec<CapturedLink>, BuildError>> {
    let asked = BuildAsked::new(command, folder, &store.join("links"))?;
    let said = std::cell::RefCell::new(on);
    let built = capture::build(&asked, &|line| {
        (said.borrow_mut())(Event::Phase { name: format!("build {name}: {line}") });
    });
    if assay_linux::interrupt::asked() {
        bail!("interrupted while building {name}; nothing was measured yet");
    }
    match built {
        Ok(built) => {
            warnings.extend(built.warnings);
            Ok(Ok(built.links))
        }
        Err(nothing @ BuildError::NothingCaptured(_)) => Ok(Err(nothing)),
        Err(error) => Err(anyhow::anyhow!("{name} cannot be built: {error}")),
    }
}
