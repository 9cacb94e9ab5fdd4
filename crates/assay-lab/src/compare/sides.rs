//! From what the user named to sides that are built and can be run.

use super::held::{self, SideBuild, SidePlace};
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
    /// What the command must see besides its own environment, as the build saw it.
    pub environment: Vec<(String, String)>,
    /// It was built for an earlier comparison.
    pub held: bool,
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

/// Where builds are kept, and which of those that are there are used.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    /// The folder.
    pub store: &'a Path,
    /// Bytes of builds that it may hold.
    pub limit: u64,
    /// Builds of earlier comparisons are used.
    pub believe: bool,
}

/// Checks out and builds what is compared, when whatever a comparison that was killed left is put back: a build may take a placed
/// binary for its own.
///
/// # Errors
/// A revision does not exist, a build fails.
pub fn prepare(
    what: &What,
    folder: &Path,
    keeping: Keeping<'_>,
    on: &mut dyn FnMut(Event),
) -> Result<ReadySides> {
    let store = keeping.store;
    let plain = |name: &str, bench: &str| PreparedSide {
        name: name.into(),
        revision: None,
        bench: bench.into(),
        folder: folder.to_owned(),
        links: Vec::new(),
        environment: Vec::new(),
        held: false,
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
            let mut side = plain("the tree", bench);
            let mut ready =
                ReadySides { sides: Vec::new(), warnings: Vec::new(), unlinked: None, holds: Vec::new() };
            ready.holds.extend(hold);
            on(Event::Phase { name: "build".into() });
            let links = links_of_tree(folder, store)?;
            let built = built(build, &side.name, folder, &links, on)?;
            if let Some(nothing) = built.why {
                // Up to date already: measuring would tell half of what was asked.
                return Err(Misuse(nothing).into());
            }
            ready.warnings = built.warnings;
            (side.links, side.environment) = (built.links, built.environment);
            ready.sides.push(side);
            Ok(ready)
        }
        What::Revisions { build, bench, baseline, candidate } => {
            let repository = Repository::find(folder)?;
            let revisions = revisions(&repository, baseline, candidate.as_deref(), store, on)?;
            let mut ready =
                ReadySides { sides: Vec::new(), warnings: Vec::new(), unlinked: None, holds: Vec::new() };
            if candidate.is_some() && repository.is_dirty()? {
                ready.warnings.push(
                    "the working tree has changes that are in neither revision; to measure them, name only \
                     one revision"
                        .into(),
                );
            }
            inside(&repository, build)?;
            for revision in revisions {
                let side = of_revision(&repository, &revision, build, bench, keeping, &mut ready, on)?;
                ready.sides.push(side);
            }
            apart(&ready.sides)?;
            for removed in held::make_room(store, keeping.limit)? {
                on(Event::Doing { what: format!("removing the build of {}, which made room", removed.name) });
            }
            Ok(ready)
        }
    }
}

/// A build command that leads back to the user's own tree would build there, the same for both sides.
fn inside(repository: &Repository, build: &str) -> Result<(), Misuse> {
    let root = repository.root().to_string_lossy();
    if root.len() < 2 || !leads_to(build, &root) {
        return Ok(());
    }
    Err(Misuse(format!(
        "the build command names {root}, but each revision is built in a checkout of its own: write paths relative to that \
         folder, as in `cmake -B build`"
    )))
}

/// Whether a command works in a folder, as far as its words tell. It may read files below it, as a cache of sources.
fn leads_to(command: &str, folder: &str) -> bool {
    const WRITTEN: [&str; 4] = ["-B", "-C", "--target-dir", "--build-dir"];
    command.match_indices(folder).any(|(at, _)| {
        let ahead = command[..at].trim_end_matches([' ', '=', '"', '\'']);
        let behind = &command[at + folder.len()..];
        let whole =
            behind.trim_start_matches('/').chars().next().is_none_or(|next| " \t\n;&|)\"'".contains(next));
        whole || (behind.starts_with('/') && WRITTEN.iter().any(|option| ahead.ends_with(option)))
    })
}

/// Both sides in one file would be one side, measured twice.
fn apart(sides: &[PreparedSide]) -> Result<(), Misuse> {
    let [one, other] = sides else { return Ok(()) };
    let mut outputs = one.links.iter().map(|link| &link.output);
    match outputs.find(|output| other.links.iter().any(|link| link.output == **output)) {
        Some(both) => Err(Misuse(format!(
            "{} and {} are both built as {}, so the second replaced the first: let the build command write below its own \
             folder, as in `cmake -B build`",
            one.name,
            other.name,
            both.display()
        ))),
        None => Ok(()),
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
    on: &mut dyn FnMut(Event),
) -> Result<[Revision; 2]> {
    let baseline = repository.revision(baseline)?;
    let candidate = match candidate {
        Some(name) => repository.revision(name)?,
        None => repository.working_tree(store, on)?,
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
    build: &str,
    bench: &str,
    keeping: Keeping<'_>,
    ready: &mut ReadySides,
    on: &mut dyn FnMut(Event),
) -> Result<PreparedSide> {
    let key = held::key(build, repository.root(), repository.below());
    let place = SidePlace::new(keeping.store, &key, revision);
    on(Event::Phase { name: "build".into() });
    ready.holds.push(repository.hold(revision, &place.trees)?);
    let tree = repository.tree(revision, &place.trees)?;
    let mut known = Err(None);
    if keeping.believe && repository.has(revision, &place.trees)? {
        known = place.recall(revision, &tree);
    }
    let held = known.is_ok();
    let side = match known {
        Ok(side) => {
            on(Event::Doing { what: format!("{} was built before", revision.name) });
            side
        }
        Err(why) => {
            if let Some(why) = why {
                on(Event::Doing { what: format!("building {} again: {why}", revision.name) });
            }
            place.forget()?;
            // A tree that is built already would link nothing.
            repository.forget(revision, &place.trees)?;
            let folder = repository.check_out(revision, &place.trees)?.0;
            let side = built(build, &revision.name, &folder, &place.links, on)?;
            place
                .keep(revision, &tree, &side)
                .with_context(|| format!("cannot write in {}", place.links.display()))?;
            side
        }
    };
    ready.warnings.extend(revision.note.clone());
    ready.warnings.extend(side.warnings);
    if side.unlinked.is_some() {
        ready.unlinked = side.unlinked;
    }
    let folder = repository.check_out(revision, &place.trees)?.0;
    let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
    Ok(PreparedSide {
        name: revision.name.clone(),
        revision: Some(revision.commit.clone()),
        bench: bench.into(),
        folder,
        links: side.links,
        environment: side.environment,
        held,
    })
}

/// Where the links of the user's own tree are kept: emptied, as nothing of an earlier build is used again.
fn links_of_tree(folder: &Path, store: &Path) -> Result<PathBuf> {
    let folder = folder.canonicalize().with_context(|| format!("cannot enter {}", folder.display()))?;
    let name = digest(folder.as_os_str().as_encoded_bytes());
    let links = store.join("links").join(format!("here-{}", &name[..12]));
    for old in ["builds", "kept"] {
        match std::fs::remove_dir_all(links.join(old)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot empty {}", links.display()));
            }
            _ => (),
        }
    }
    Ok(links)
}

/// What a build gives.
fn built(
    command: &str,
    name: &str,
    folder: &Path,
    links: &Path,
    on: &mut dyn FnMut(Event),
) -> Result<SideBuild> {
    let asked = BuildAsked::new(command, folder, links)?;
    let said = std::cell::RefCell::new(on);
    let built = capture::build(&asked, &|line| {
        (said.borrow_mut())(Event::Phase { name: format!("build {name}: {line}") });
    });
    if assay_linux::interrupt::asked() {
        bail!("interrupted while building {name}; nothing was measured yet");
    }
    match built {
        Ok(built) => Ok(SideBuild {
            links: built.links,
            warnings: built.warnings,
            environment: built.environment,
            ..SideBuild::default()
        }),
        Err(BuildError::NothingCaptured(nothing)) => Ok(SideBuild {
            unlinked: Some(nothing.brief()),
            why: Some(nothing.to_string()),
            ..SideBuild::default()
        }),
        Err(error) => Err(anyhow::anyhow!("{name} cannot be built: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_works_in_the_users_tree_is_told_from_one_that_reads_there() {
        for command in [
            "cmake -S /srv/me/project -B build",
            "make -C /srv/me/project/",
            "cd '/srv/me/project' && make",
            "cmake -B /srv/me/project/build",
            "cmake -B/srv/me/project/build && ninja -C build",
            "cargo bench --no-run --target-dir=/srv/me/project/target",
        ] {
            assert!(leads_to(command, "/srv/me/project"), "{command}");
        }
        for command in [
            "cmake -B build",
            "cmake -B build -DSOURCES=/srv/me/project/.cache",
            "cmake -S /srv/me/project-2 -B /srv/me/projects",
        ] {
            assert!(!leads_to(command, "/srv/me/project"), "{command}");
        }
    }
}
