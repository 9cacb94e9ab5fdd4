//! The binaries of one side, put where the benchmark command expects them, at whichever placement is asked for.
//!
//! A placed binary is renamed over the build's own, which keeps its time of change: a command that asks `make` first must
//! not be led to link again. The build's own binaries are back in the end; after a kill the next comparison does it
//! (`left_behind`). What somebody else builds meanwhile stays: only what assay itself put there is ever replaced, and a
//! comparison whose programs are gone stops.

use super::left_behind::{self, Displaced};
use anyhow::{Context, Result, bail};
use assay_link::adopt::bench::FileIdentity;
use assay_link::adopt::capture::{CapturedLink, PlacementLimit, Repeated};
use assay_link::build::Link;
use assay_linux::output;
use assay_pure::compare::VisitPlacement;
use assay_pure::event::Event;
use assay_pure::experiment::plan;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where the build left a file, and what is known to be there: the build's own or what assay put in its place.
struct OutputPlace {
    own: Displaced,
    there: Option<FileIdentity>,
}

impl OutputPlace {
    /// Puts a file there, unless somebody else did: then it stays, and this is false.
    fn put(&mut self, from: &Path) -> io::Result<bool> {
        let Some(known) = self.there else { return Ok(false) };
        let placed = replace(&self.own.path, from, known)?;
        if placed.is_some() {
            self.there = placed;
        }
        Ok(placed.is_some())
    }

    fn is_as_known(&self) -> bool {
        self.there.is_some() && FileIdentity::of(&self.own.path) == self.there
    }
}

/// A link of the side and what was made of it.
struct UsedLink {
    link: CapturedLink,
    /// Where the build left it: the output first, then copies of it.
    files: Vec<OutputPlace>,
    modified: SystemTime,
    placed: BTreeMap<VisitPlacement, PathBuf>,
    text_bytes: u64,
}

impl UsedLink {
    /// Puts this file, or the build's own where there is none, wherever the output lies.
    fn put(&mut self, from: Option<&Path>) -> Result<()> {
        for place in &mut self.files {
            let from = from.unwrap_or(&place.own.kept).to_owned();
            let put = place.put(&from);
            if !put.with_context(|| format!("cannot put {} in its place", place.own.path.display()))? {
                bail!(left(&place.own.path));
            }
        }
        Ok(())
    }
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
    /// None where something else than a placement lies there.
    installed: Option<VisitPlacement>,
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
            installed: Some(VisitPlacement::AsBuilt),
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
                let there = FileIdentity::of(path);
                files.push(OutputPlace { own: Displaced { path: path.clone(), kept }, there });
            }
            binaries.look_at(&link)?;
            binaries.used.push(UsedLink { link, files, modified, placed: BTreeMap::new(), text_bytes: 0 });
        }
        let displaced: Vec<Displaced> = binaries.places().map(|place| place.own.clone()).collect();
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

    fn places(&self) -> impl Iterator<Item = &OutputPlace> {
        self.used.iter().flat_map(|used| &used.files)
    }

    /// Every file that is replaced by placed ones.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.places().map(|place| place.own.path.as_path())
    }

    /// Per link: the paths by which it may be executed, the output first, and where the build's own output is kept.
    pub fn own(&self) -> impl Iterator<Item = (Vec<PathBuf>, &Path)> {
        let paths = |used: &UsedLink| used.files.iter().map(|place| place.own.path.clone()).collect();
        self.used.iter().map(move |used| (paths(used), used.files[0].own.kept.as_path()))
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
    /// They cannot be made or put there, or somebody has built there meanwhile, which is left.
    pub fn install(&mut self, place: VisitPlacement) -> Result<()> {
        if self.installed == Some(place) {
            return Ok(());
        }
        self.make(place)?;
        self.installed = None;
        for used in &mut self.used {
            let placed = used.placed.get(&place).cloned();
            used.put(placed.as_deref())?;
        }
        self.installed = Some(place);
        Ok(())
    }

    /// Puts programs with these contents there, one per link in the order of [`Binaries::own`], until the next is installed.
    ///
    /// # Errors
    /// As [`Binaries::install`].
    pub fn install_changed(&mut self, contents: &[Vec<u8>]) -> Result<()> {
        self.installed = None;
        for (number, (used, bytes)) in self.used.iter_mut().zip(contents).enumerate() {
            let changed = self.folder.join(format!("changed-{number}"));
            let write = || -> io::Result<()> {
                // Another file, not other contents: an earlier one may be in place.
                match fs::remove_file(&changed) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => fs::write(&changed, bytes)?,
                }
                fs::set_permissions(&changed, fs::metadata(&used.files[0].own.kept)?.permissions())?;
                File::options().write(true).open(&changed)?.set_modified(used.modified)
            };
            write().with_context(|| format!("cannot write {}", changed.display()))?;
            used.put(Some(&changed))?;
        }
        Ok(())
    }

    /// Whether all that was put in its place is still there: what was measured of anything else means nothing.
    ///
    /// # Errors
    /// Somebody has built there meanwhile.
    pub fn check(&self) -> Result<()> {
        match self.places().find(|place| !place.is_as_known()) {
            Some(place) => bail!(left(&place.own.path)),
            None => Ok(()),
        }
    }
}

/// What is said of a file that somebody else has built anew.
fn left(path: &Path) -> String {
    let done = if path.symlink_metadata().is_ok() { "changed" } else { "removed" };
    format!(
        "{} was {done} by another program while assay measured, so measuring stopped; the file was left as it is now. Build \
         only after assay has ended, or compare two revisions: each is built in a tree of its own. If the benchmark command \
         itself builds, give one that only runs",
        path.display()
    )
}

impl Drop for Binaries {
    fn drop(&mut self) {
        for place in self.used.iter_mut().flat_map(|used| &mut used.files) {
            let kept = place.own.kept.clone();
            let _ = place.put(&kept);
        }
        let _ = left_behind::remove(&self.folder);
    }
}

/// The same file under another name, which nobody has, copied where that cannot be.
fn bring(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy(from, to),
        linked => linked,
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let (mut original, mut copied) = (File::open(from)?, File::create_new(to)?);
    io::copy(&mut original, &mut copied)?;
    let facts = original.metadata()?;
    copied.set_permissions(facts.permissions())?;
    copied.set_modified(facts.modified()?)
}

/// Undoes what a comparison that was killed left.
///
/// # Errors
/// A file cannot be put back.
pub fn put_back(store: &Path, on: &mut dyn FnMut(Event)) -> Result<()> {
    let context = || format!("cannot restore what an earlier comparison replaced in {}", store.display());
    let again = |path: &Path, kept: &Path| match FileIdentity::of(path) {
        Some(known) => replace(path, kept, known).map(drop),
        None => Ok(()),
    };
    for path in left_behind::put_back(store, again, on).with_context(context)? {
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

/// Puts a file in the place of one that is known, at once: nobody ever finds half of it. Returns what is there now; none where
/// something else than the known file was there, which stays.
///
/// The two are exchanged, and only then it is certain what was there: a build may end at any moment.
fn replace(output: &Path, from: &Path, known: FileIdentity) -> io::Result<Option<FileIdentity>> {
    if FileIdentity::of(output) != Some(known) {
        return Ok(None);
    }
    // In assay's own folder where that is on the same disk: after a kill nothing lies beside the user's file.
    let linked = output::beside(from, |draft| fs::hard_link(from, draft)).map(|((), draft)| draft);
    let draft = match linked.and_then(|draft| reaches(draft, output)) {
        Ok(draft) => draft,
        Err(_) => output::beside(output, |draft| copy(from, draft))?.1,
    };
    let placed = FileIdentity::of(&draft);
    let put = match output::exchange(&draft, output) {
        Ok(()) if FileIdentity::of(&draft) == Some(known) => Ok(placed),
        Ok(()) => output::exchange(&draft, output).map(|()| None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            fs::rename(&draft, output).map(|()| placed)
        }
        Err(error) => Err(error),
    };
    // Two names of one file: renaming one over the other does nothing, and leaves it.
    let _ = fs::remove_file(&draft);
    put
}

/// The draft, if it can be renamed to where the output is; it is removed if not.
fn reaches(draft: PathBuf, output: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    if fs::symlink_metadata(&draft)?.dev() == fs::symlink_metadata(output)?.dev() {
        return Ok(draft);
    }
    fs::remove_file(&draft)?;
    Err(io::ErrorKind::CrossesDevices.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(output: &Path, from: &Path) -> Option<FileIdentity> {
        replace(output, from, FileIdentity::of(output).unwrap()).unwrap()
    }

    #[test]
    fn a_file_is_replaced_at_once_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let [output, own, placed] = ["output", "own", "placed"].map(|name| folder.path().join(name));
        fs::write(&output, "built").unwrap();
        fs::write(&placed, "placed").unwrap();
        bring(&output, &own).unwrap();
        assert_eq!(put(&output, &placed), FileIdentity::of(&output));
        assert_eq!(fs::read_to_string(&output).unwrap(), "placed");
        assert_eq!(
            fs::read_to_string(&own).unwrap(),
            "built",
            "the build's own file is kept, not overwritten"
        );
        put(&output, &own).unwrap();
        put(&output, &own).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), "built");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        assert!(bring(&own, &placed).is_err(), "a name that is taken");
        assert_eq!(fs::read_to_string(&placed).unwrap(), "placed");
    }

    #[test]
    fn a_file_from_another_disk_is_copied_with_its_time() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm"));
        let Ok(other) = other else {
            eprintln!("skipped: there is no second disk");
            return;
        };
        let (output, placed) = (folder.path().join("output"), other.path().join("placed"));
        fs::write(&output, "built").unwrap();
        fs::write(&placed, "placed").unwrap();
        File::options().write(true).open(&placed).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        put(&output, &placed).unwrap();
        assert_eq!(fs::read_to_string(&output).unwrap(), "placed");
        assert_eq!(fs::metadata(&output).unwrap().modified().unwrap(), SystemTime::UNIX_EPOCH);
        let left = [folder.path(), other.path()].map(|folder| fs::read_dir(folder).unwrap().count());
        assert_eq!(left, [1, 1]);
    }

    #[test]
    fn what_somebody_else_put_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [output, kept, theirs] = ["output", "kept", "theirs"].map(|name| folder.path().join(name));
        let place = || {
            fs::write(&output, "built").unwrap();
            let _ = fs::remove_file(&kept);
            bring(&output, &kept).unwrap();
            let own = Displaced { path: output.clone(), kept: kept.clone() };
            OutputPlace { own, there: FileIdentity::of(&output) }
        };
        let by_rename = || {
            fs::write(&theirs, "theirs").unwrap();
            fs::rename(&theirs, &output).unwrap();
        };
        // As `cp` does: the file is the same, what is in it is not.
        let in_place = || fs::write(&output, "theirs").unwrap();
        let changes: [&dyn Fn(); 2] = [&by_rename, &in_place];
        for change in changes {
            let mut place = place();
            change();
            assert!(!place.is_as_known());
            assert!(!place.put(&kept.clone()).unwrap());
            assert_eq!(fs::read_to_string(&output).unwrap(), "theirs");
            assert!(left(&output).contains("output was changed by another program"));
        }
        let mut place = place();
        fs::remove_file(&output).unwrap();
        assert!(!place.put(&kept.clone()).unwrap() && !output.exists());
        assert!(left(&output).contains("output was removed by another program"));
    }
}
