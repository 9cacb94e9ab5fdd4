//! The binaries of one side, put where the benchmark command expects them, at whichever placement is asked for.
//!
//! A placed binary is renamed over the build's own, which keeps its time of change: a command that asks `make` first must
//! not be led to link again. The build's own binaries are back in the end; after a kill the next comparison does it
//! (`left_behind`).

use super::left_behind::{self, Displaced};
use anyhow::{Context, Result};
use assay_link::adopt::capture::{CapturedLink, PlacementLimit, Repeated};
use assay_link::build::Link;
use assay_pure::compare::VisitPlacement;
use assay_pure::event::Event;
use assay_pure::experiment::plan;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A link of the side and what was made of it.
struct UsedLink {
    link: CapturedLink,
    /// Where the build left it: the output first, then copies of it.
    files: Vec<Displaced>,
    modified: SystemTime,
    placed: BTreeMap<VisitPlacement, PathBuf>,
    text_bytes: u64,
}

/// Adds what is not said yet: what holds for several links, of one side or of both, is said once, with the first one's objects.
pub fn add_limits(known: &mut Vec<PlacementLimit>, more: impl IntoIterator<Item = PlacementLimit>) {
    for limit in more {
        if known.iter().all(|known| known.what != limit.what) {
            known.push(limit);
        }
    }
}

/// The binaries of one side.
pub struct Binaries {
    used: Vec<UsedLink>,
    /// Where replays go; removed in the end.
    folder: PathBuf,
    seed: u64,
    installed: VisitPlacement,
    limits: Vec<PlacementLimit>,
}

impl Binaries {
    /// Takes over the links that the benchmark uses. `folder` is made, and removed in the end.
    ///
    /// # Errors
    /// A binary cannot be read or kept, or its link cannot be repeated.
    pub fn new(links: Vec<CapturedLink>, folder: PathBuf, seed: u64) -> Result<Binaries> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut binaries = Binaries {
            used: Vec::new(),
            folder,
            seed,
            installed: VisitPlacement::AsBuilt,
            limits: Vec::new(),
        };
        for (number, link) in links.into_iter().enumerate() {
            let context = || format!("cannot keep {}", link.output.display());
            let modified =
                fs::metadata(&link.output).and_then(|found| found.modified()).with_context(context)?;
            let mut files = Vec::new();
            for (copy, path) in std::iter::once(&link.output).chain(&link.copies).enumerate() {
                let kept = binaries.folder.join(format!("own-{number}-{copy}"));
                bring(path, &kept).with_context(context)?;
                files.push(Displaced { path: path.clone(), kept });
            }
            binaries.look_at(&link)?;
            binaries.used.push(UsedLink { link, files, modified, placed: BTreeMap::new(), text_bytes: 0 });
        }
        let displaced: Vec<Displaced> = binaries.used.iter().flat_map(|used| used.files.clone()).collect();
        left_behind::note(&binaries.folder, &displaced)
            .with_context(|| format!("cannot write in {}", binaries.folder.display()))?;
        Ok(binaries)
    }

    /// Whether the link, repeated, gives what the build left.
    fn look_at(&mut self, link: &CapturedLink) -> Result<()> {
        let repeated: Repeated = link
            .is_reproducible(&self.folder)
            .with_context(|| format!("the link of {} cannot be repeated", link.output.display()))?;
        add_limits(&mut self.limits, repeated.limit(&link.output));
        Ok(())
    }

    /// What the links made, without copies.
    pub fn outputs(&self) -> impl Iterator<Item = &Path> {
        self.used.iter().map(|used| used.link.output.as_path())
    }

    /// Every file that is replaced by placed ones.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.used.iter().flat_map(|used| used.files.iter().map(|own| own.path.as_path()))
    }

    /// Per link: the paths by which it may be executed, the output first, and where the build's own output is kept.
    pub fn own(&self) -> impl Iterator<Item = (Vec<PathBuf>, &Path)> {
        let paths = |used: &UsedLink| used.files.iter().map(|own| own.path.clone()).collect();
        self.used.iter().map(move |used| (paths(used), used.files[0].kept.as_path()))
    }

    /// Bytes of code of each output, in the order of [`Binaries::outputs`]; 0 before its first replay.
    pub fn text_bytes(&self) -> impl Iterator<Item = u64> {
        self.used.iter().map(|used| used.text_bytes)
    }

    /// What could not be done as asked.
    pub fn limits(&self) -> &[PlacementLimit] {
        &self.limits
    }

    /// Links all binaries for a place, where that was not done yet.
    ///
    /// # Errors
    /// The link cannot be made in this placement.
    pub fn make(&mut self, place: VisitPlacement) -> Result<()> {
        let VisitPlacement::Placed { rotation, phase_bytes } = place else { return Ok(()) };
        let shuffle = plan::shuffle_seed(self.seed, rotation);
        for used in &mut self.used {
            if used.placed.contains_key(&place) {
                continue;
            }
            let output = used.link.output.display();
            let replayed = used
                .link
                .replay(Link::Placed { shuffle, phase_bytes }, &self.folder)
                .with_context(|| format!("{output} cannot be linked in another placement"))?;
            let dated = File::options().write(true).open(&replayed.path);
            dated
                .and_then(|file| file.set_modified(used.modified))
                .with_context(|| format!("cannot date {}", replayed.path.display()))?;
            used.text_bytes = replayed.text_bytes;
            used.placed.insert(place, replayed.path);
            add_limits(&mut self.limits, replayed.limits);
        }
        Ok(())
    }

    /// Puts the binaries of a place where the benchmark command expects them.
    ///
    /// # Errors
    /// They cannot be made or put there.
    pub fn install(&mut self, place: VisitPlacement) -> Result<()> {
        if self.installed == place {
            return Ok(());
        }
        self.make(place)?;
        for used in &self.used {
            for own in &used.files {
                let from = used.placed.get(&place).unwrap_or(&own.kept);
                replace(&own.path, from)
                    .with_context(|| format!("cannot put {} in its place", own.path.display()))?;
            }
        }
        self.installed = place;
        Ok(())
    }
}

impl Drop for Binaries {
    fn drop(&mut self) {
        for own in self.used.iter().flat_map(|used| &used.files) {
            let _ = replace(&own.path, &own.kept);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The same file under another name, copied where that cannot be.
fn bring(from: &Path, to: &Path) -> std::io::Result<()> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    let modified = fs::metadata(from)?.modified()?;
    File::options().write(true).open(to)?.set_modified(modified)
}

/// Undoes what a comparison that was killed left.
///
/// # Errors
/// A file cannot be put back.
pub fn put_back(store: &Path, on: &mut dyn FnMut(Event)) -> Result<()> {
    let context = || format!("cannot restore what an earlier comparison replaced in {}", store.display());
    for path in left_behind::put_back(store, replace).with_context(context)? {
        on(Event::Warning(format!(
            "{} was restored: an earlier comparison was killed while it measured another placement of it",
            path.display()
        )));
    }
    for list in left_behind::foreign(store) {
        on(Event::Warning(format!(
            "{} names files to be restored, but was not made by assay here, so none was; if it came with the repository or a \
             copy, remove its folder",
            list.display()
        )));
    }
    Ok(())
}

/// Puts a file in the place of another at once: nobody ever finds half of it.
fn replace(output: &Path, from: &Path) -> std::io::Result<()> {
    let mut draft = output.as_os_str().to_owned();
    draft.push(format!(".assay-{}", std::process::id()));
    let draft = PathBuf::from(draft);
    let _ = fs::remove_file(&draft);
    let placed = bring(from, &draft).and_then(|()| fs::rename(&draft, output));
    // Two names of one file: renaming one over the other does nothing, and leaves it.
    let _ = fs::remove_file(&draft);
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_at_once_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let [output, own, placed] = ["output", "own", "placed"].map(|name| folder.path().join(name));
        fs::write(&output, "built").unwrap();
        fs::write(&placed, "placed").unwrap();
        bring(&output, &own).unwrap();
        replace(&output, &placed).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), "placed");
        assert_eq!(
            fs::read_to_string(&own).unwrap(),
            "built",
            "the build's own file is kept, not overwritten"
        );
        replace(&output, &own).unwrap();
        replace(&output, &own).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), "built");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
