//! Two revisions of a git repository, each checked out beside the user's tree, which is not touched.
//!
//! Trees of both sides lie at paths of one length: a path that the compiler writes into a binary then moves nothing.

use super::checkout;
use super::left_behind::Workplace;
use crate::lead::git::{bytes, git, path, text};
use crate::lead::{Hold, Misuse, Unable, hold};
use anyhow::{Context, Result};
use assay_pure::event::Event;
use assay_pure::words;
use std::path::{Path, PathBuf};

/// How many characters of a commit's hash name its tree.
const SHORT: usize = 12;

/// Where working trees are checked out, beside the folder of revisions, `trees`, and as long: each changed tree is another
/// commit, and only the last is kept.
const CHANGED: &str = "dirty";

/// Who makes the commit of a working tree, which no branch ever names: git wants somebody, and the user may be nobody yet.
const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "assay"),
    ("GIT_AUTHOR_EMAIL", "assay@localhost"),
    ("GIT_COMMITTER_NAME", "assay"),
    ("GIT_COMMITTER_EMAIL", "assay@localhost"),
];

/// A repository and where in it the user is.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    /// The user's folder, from the root.
    below: PathBuf,
}

/// A commit to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// As the user called it; `the working tree` where nobody did.
    pub name: String,
    /// Full hash.
    pub commit: String,
    /// What the user must know of it.
    pub note: Option<String>,
    /// Whether this is a working tree with changes, which no branch names.
    pub is_changed: bool,
}

impl Revision {
    /// The beginning of its hash, which names its folders.
    pub fn short(&self) -> &str {
        &self.commit[..SHORT.min(self.commit.len())]
    }
}

impl Repository {
    /// Where the user is, from the repository's root.
    pub fn below(&self) -> &Path {
        &self.below
    }

    /// The repository's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The repository that `folder` is in.
    ///
    /// # Errors
    /// It is in none, or there is no git.
    pub fn find(folder: &Path) -> Result<Repository> {
        let root = path(git(folder).args(["rev-parse", "--show-toplevel"]))?.map_err(|said| {
            Misuse(format!(
                "{} is not in a git repository, so there are no revisions to compare ({said}); run assay in \
                 the project, or compare two commands: assay compare -- 'CMD A' 'CMD B'",
                folder.display()
            ))
        })?;
        let below = path(git(folder).args(["rev-parse", "--show-prefix"]))?.unwrap_or_default();
        Ok(Repository { root, below })
    }

    /// The commit that a name stands for.
    ///
    /// # Errors
    /// There is none; the message names what there is.
    pub fn revision(&self, name: &str) -> Result<Revision> {
        let wanted = format!("{name}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let commit = text(git(&self.root).args(asked))?;
        let commit = commit.map_err(|_| {
            let branches = [
                "for-each-ref",
                "--format=%(refname:short)",
                "--count=6",
                "--sort=-committerdate",
                "refs/heads",
            ];
            let known = text(git(&self.root).args(branches)).ok().and_then(Result::ok).unwrap_or_default();
            Misuse(format!(
                "`{name}` is not a commit of {}: give a branch, a tag or a hash. The newest branches: {}",
                self.root.display(),
                known.lines().collect::<Vec<_>>().join(", ")
            ))
        })?;
        Ok(Revision { name: name.into(), commit, note: None, is_changed: false })
    }

    /// The working tree as it is now, as a commit that no branch names, the same one for the same contents; `HEAD` where
    /// nothing is changed. The user's index stays as it is; a copy of it is made in the store.
    ///
    /// # Errors
    /// There is no commit yet, files are unmerged, the store cannot be written.
    pub fn working_tree(&self, store: &Path, on: &mut dyn FnMut(Event)) -> Result<Revision> {
        let head = self.revision("HEAD")?;
        let name = "the working tree".to_owned();
        let refused = |said: String| {
            Misuse(format!("git cannot save the working tree ({said}); commit it and name the commit"))
        };
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        let untracked = bytes(git(&self.root).args(others))?.unwrap_or_default();
        let is_foreign = |file: &&[u8]| {
            !file.is_empty() && !file.split(|byte| *byte == b'/').any(|part| part == b".assay")
        };
        let untracked = untracked.split(|byte| *byte == 0).filter(is_foreign).count();
        let note = (untracked > 0).then(|| {
            let files = words::plural(untracked as u64, "untracked file");
            format!("not built: {files}; `git add` what the build needs")
        });
        if !bytes(git(&self.root).args(["ls-files", "--unmerged"]))?.map_err(refused)?.is_empty() {
            return Err(refused("some files are unmerged".into()).into());
        }
        let tree = self.write_tree(store, on)?.map_err(refused)?;
        let line = |words: &[&str]| text(git(&self.root).args(words));
        if line(&["rev-parse", &format!("{}^{{tree}}", head.commit)])?.map_err(refused)? == tree {
            return Ok(Revision { name, note, ..head });
        }
        // A date of its own would make another commit of the same contents, and `--resume` would find nothing.
        let date = line(&["log", "-1", "--format=%ct", &head.commit])?.map_err(refused)?;
        let mut commit = git(&self.root);
        commit.args(["commit-tree", &tree, "-p", &head.commit, "-m", &name]).envs(NOBODY);
        for role in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            commit.env(role, format!("@{date} +0000"));
        }
        let commit = text(&mut commit)?.map_err(refused)?;
        Ok(Revision { name, commit, note, is_changed: true })
    }

    /// The tracked files as they are now, as a tree of git's.
    fn write_tree(&self, store: &Path, on: &mut dyn FnMut(Event)) -> Result<Result<String, String>> {
        let place =
            Workplace::new(store, on).with_context(|| format!("cannot write in {}", store.display()))?;
        let index = place.folder().join("index");
        let theirs = match path(git(&self.root).args(["rev-parse", "--git-path", "index"]))? {
            Ok(theirs) => self.root.join(theirs),
            Err(said) => return Ok(Err(said)),
        };
        if theirs.exists() {
            let context = || format!("cannot copy {}", theirs.display());
            std::fs::copy(&theirs, &index).with_context(context)?;
            // A file that was changed in the second in which the index was written is looked into only if the index is as old.
            let written = theirs.metadata().and_then(|found| found.modified()).with_context(context)?;
            let copy = std::fs::File::options().write(true).open(&index);
            copy.and_then(|copy| copy.set_modified(written)).with_context(context)?;
        }
        let mut add = git(&self.root);
        add.args(["-c", "core.safecrlf=false", "add", "--update"]).env("GIT_INDEX_FILE", &index);
        if let Err(said) = bytes(&mut add)? {
            return Ok(Err(said));
        }
        text(git(&self.root).arg("write-tree").env("GIT_INDEX_FILE", &index))
    }

    /// Whether tracked files differ from `HEAD`: what is uncommitted is in no revision.
    ///
    /// # Errors
    /// There is no git.
    pub fn is_dirty(&self) -> Result<bool> {
        let changed = bytes(git(&self.root).args(["status", "--porcelain", "--untracked-files=no"]))?;
        Ok(changed.is_ok_and(|lines| !lines.is_empty()))
    }

    /// Where a revision is checked out below `trees`.
    ///
    /// # Errors
    /// The folder that it lies in cannot be made.
    pub fn tree(&self, revision: &Revision, trees: &Path) -> Result<PathBuf> {
        made_tree_of(revision, trees)
    }

    /// Whether all of a revision is checked out below `trees`.
    ///
    /// # Errors
    /// The folder that it lies in cannot be made.
    pub fn has(&self, revision: &Revision, trees: &Path) -> Result<bool> {
        Ok(checkout::is_there(&made_tree_of(revision, trees)?, &revision.commit))
    }

    /// Checks a commit out below `trees`, where it is not there yet, and returns the user's folder in it and whether it
    /// was there.
    ///
    /// # Errors
    /// The tree cannot be made.
    pub fn check_out(&self, revision: &Revision, trees: &Path) -> Result<(PathBuf, bool)> {
        let tree = made_tree_of(revision, trees)?;
        let there = checkout::is_there(&tree, &revision.commit);
        if !there {
            checkout::remove(&self.root, &tree)?;
            if revision.is_changed {
                self.forget_others(&tree)?;
            }
            checkout::make(&self.root, &revision.name, &revision.commit, &tree)?;
        }
        let folder = tree.join(&self.below);
        if !folder.is_dir() {
            return Err(Misuse(format!(
                "{} has no folder {}; run assay in one that both sides have",
                revision.name,
                self.below.display()
            ))
            .into());
        }
        Ok((folder, there))
    }

    /// The right to build and run in the tree of a revision, until it is dropped.
    ///
    /// # Errors
    /// [`Unable`]: another assay is at work in it.
    pub fn hold(&self, revision: &Revision, trees: &Path) -> Result<Hold> {
        hold::take(&made_tree_of(revision, trees)?, "tree")?.ok_or_else(|| {
            let wait = "another comparison is building or measuring";
            Unable(format!(
                "{wait} {} in this store; wait for it to end, or use another --store DIR",
                revision.name
            ))
            .into()
        })
    }

    /// Removes the tree of a revision, so that it is made anew.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self, revision: &Revision, trees: &Path) -> Result<()> {
        checkout::remove(&self.root, &made_tree_of(revision, trees)?)
    }

    /// Removes checkouts of other changed working trees, unless somebody is at work in one.
    fn forget_others(&self, tree: &Path) -> Result<()> {
        let all = std::fs::read_dir(tree.parent().unwrap_or(tree)).into_iter().flatten().flatten();
        for other in all.map(|entry| entry.path()).filter(|other| other != tree && other.is_dir()) {
            if let Some(_hold) = hold::take(&other, "tree")? {
                checkout::remove(&self.root, &other)?;
            }
        }
        Ok(())
    }
}

/// Where a revision is checked out; git is in another folder than we, so it is told the whole path. Makes the folder that
/// it lies in.
fn made_tree_of(revision: &Revision, trees: &Path) -> Result<PathBuf> {
    let folder = if revision.is_changed { trees.with_file_name(CHANGED) } else { trees.to_owned() };
    let context = || format!("cannot make {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(context)?;
    let folder = folder.canonicalize().with_context(context)?;
    Ok(folder.join(revision.short()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with two commits on `main`, a file `a` that says 1, then 2, and a folder `sub`.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        folder
    }

    fn fill(folder: &Path) {
        run(folder, &["init", "--quiet", "--initial-branch=main"]);
        std::fs::create_dir(folder.join("sub")).unwrap();
        std::fs::write(folder.join("sub/b"), "b").unwrap();
        for text in ["1", "2"] {
            std::fs::write(folder.join("a"), text).unwrap();
            run(folder, &["add", "."]);
            run(folder, &["commit", "--quiet", "-m", text]);
        }
    }

    /// What git prints in a folder.
    fn run(folder: &Path, words: &[&str]) -> String {
        let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
        text(git(folder).args(identity).args(words)).unwrap().unwrap()
    }

    /// Every file below a folder with its contents and time of change, sorted by name.
    fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                all.extend(files(&entry.path()));
            } else {
                let changed = entry.metadata().unwrap().modified().unwrap();
                all.push((entry.path(), std::fs::read(entry.path()).unwrap(), changed));
            }
        }
        all.sort();
        all
    }

    /// All of a repository but its objects, of which a working tree with changes adds some.
    fn but_objects(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut all = files(folder);
        all.retain(|(file, ..)| !file.starts_with(folder.join(".git/objects")));
        all
    }

    #[test]
    fn a_worktree_of_the_users_whose_disk_is_not_mounted_stays_to_the_last_byte() {
        let folder = repository();
        let elsewhere = tempfile::tempdir().unwrap();
        let [disk, unmounted] = ["disk", "unmounted"].map(|name| elsewhere.path().join(name));
        run(folder.path(), &["worktree", "add", "--quiet", "--detach", disk.to_str().unwrap()]);
        std::fs::write(disk.join("a"), "detached").unwrap();
        run(&disk, &["commit", "--quiet", "-am", "on no branch"]);
        std::fs::write(disk.join("a"), "only in the index").unwrap();
        run(&disk, &["add", "a"]);
        std::fs::rename(&disk, &unmounted).unwrap();
        // So old that git itself would call it stale.
        let gone = folder.path().join(".git/worktrees/disk/gitdir");
        std::fs::File::options().write(true).open(gone).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        std::fs::write(folder.path().join("a"), "changed").unwrap();
        let before = but_objects(folder.path());
        let store = tempfile::tempdir().unwrap();
        let trees = store.path().join("trees");
        let found = Repository::find(folder.path()).unwrap();
        let sides =
            [found.revision("HEAD~1").unwrap(), found.working_tree(store.path(), &mut |_| ()).unwrap()];
        for revision in sides {
            found.forget(&revision, &trees).unwrap();
            found.check_out(&revision, &trees).unwrap();
            found.forget(&revision, &trees).unwrap();
        }
        assert!(found.is_dirty().unwrap());
        assert!(but_objects(folder.path()) == before, "the repository is as it was");
        std::fs::rename(&unmounted, &disk).unwrap();
        assert_eq!(run(&disk, &["show", ":a"]), "only in the index");
        assert_eq!(run(&disk, &["log", "-1", "--format=%s"]), "on no branch");
    }

    #[test]
    fn a_worktree_that_an_earlier_version_registered_goes_by_name_also_where_it_was_killed() {
        let folder = repository();
        let elsewhere = tempfile::tempdir().unwrap();
        let disk = elsewhere.path().join("disk");
        run(folder.path(), &["worktree", "add", "--quiet", "--detach", disk.to_str().unwrap()]);
        let store = tempfile::tempdir().unwrap();
        let trees = store.path().join("trees");
        let found = Repository::find(folder.path()).unwrap();
        let head = found.revision("HEAD").unwrap();
        let tree = made_tree_of(&head, &trees).unwrap();
        run(folder.path(), &["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
        run(folder.path(), &["worktree", "lock", "--reason", "initializing", tree.to_str().unwrap()]);
        std::fs::remove_dir_all(&disk).unwrap();
        let (tree, there) = found.check_out(&head, &trees).unwrap();
        assert!(!there && tree.join(".git").is_dir());
        let left = std::fs::read_dir(folder.path().join(".git/worktrees")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["disk"]);
    }

    #[test]
    fn a_checkout_that_was_killed_is_made_anew() {
        let folder = repository();
        let store = tempfile::tempdir().unwrap();
        let trees = store.path().join("trees");
        let found = Repository::find(folder.path()).unwrap();
        let head = found.revision("HEAD").unwrap();
        let (tree, _) = found.check_out(&head, &trees).unwrap();
        std::fs::remove_file(tree.join(".git/assay-complete")).unwrap();
        std::fs::remove_file(tree.join("a")).unwrap();
        std::fs::write(tree.join(".git/index.lock"), "").unwrap();
        let (tree, there) = found.check_out(&head, &trees).unwrap();
        assert!(!there && tree.join("a").exists() && !tree.join(".git/index.lock").exists());
    }

    #[test]
    fn a_checkout_knows_the_tags_and_settings_of_the_users_repository_even_of_a_shallow_one() {
        let folder = repository();
        run(folder.path(), &["tag", "-a", "-m", "first", "v1", "HEAD"]);
        let elsewhere = tempfile::tempdir().unwrap();
        let shallow = elsewhere.path().join("shallow");
        let from = format!("file://{}", folder.path().display());
        run(elsewhere.path(), &["clone", "--quiet", "--depth=1", &from, shallow.to_str().unwrap()]);
        run(&shallow, &["config", "filter.upper.smudge", "tr a-z A-Z"]);
        std::fs::write(shallow.join(".gitattributes"), "a filter=upper\n").unwrap();
        std::fs::write(shallow.join("a"), "text").unwrap();
        run(&shallow, &["add", "."]);
        let store = tempfile::tempdir().unwrap();
        let found = Repository::find(&shallow).unwrap();
        let changed = found.working_tree(store.path(), &mut |_| ()).unwrap();
        let (tree, _) = found.check_out(&changed, &store.path().join("trees")).unwrap();
        assert_eq!(std::fs::read_to_string(tree.join("a")).unwrap(), "TEXT");
        assert!(run(&tree, &["describe", "--dirty"]).starts_with("v1-1-g"));
        assert_eq!(run(&tree, &["remote", "get-url", "origin"]), from);
        run(&tree, &["fsck", "--connectivity-only"]);
    }

    #[test]
    fn the_same_changes_are_the_same_commit_and_only_the_last_checkout_is_kept() {
        let folder = repository();
        let store = tempfile::tempdir().unwrap();
        let trees = store.path().join("trees");
        let found = Repository::find(folder.path()).unwrap();
        for text in ["3", "4", "5"] {
            std::fs::write(folder.path().join("a"), text).unwrap();
            let changed = found.working_tree(store.path(), &mut |_| ()).unwrap();
            let (tree, _) = found.check_out(&changed, &trees).unwrap();
            assert_eq!(std::fs::read_to_string(tree.join("a")).unwrap(), text);
            std::thread::sleep(std::time::Duration::from_millis(1100));
            assert_eq!(found.working_tree(store.path(), &mut |_| ()).unwrap(), changed, "a second later");
        }
        assert_eq!(std::fs::read_dir(store.path().join(CHANGED)).unwrap().count(), 1);
        let left =
            std::fs::read_dir(store.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
        assert_eq!(left.count(), 1, "no folder of a process");
    }

    #[test]
    fn folders_may_have_any_name() {
        use std::os::unix::ffi::OsStrExt as _;
        let elsewhere = tempfile::tempdir().unwrap();
        for name in [&b"blank "[..], b"blank", b"a 'b' \"c\" \\d", b"two\nlines\n", b"no \xff text", b" #; "]
        {
            let folder = elsewhere.path().join(std::ffi::OsStr::from_bytes(name));
            let below = folder.join(std::ffi::OsStr::from_bytes(name));
            std::fs::create_dir(&folder).unwrap();
            fill(&folder);
            std::fs::create_dir(&below).unwrap();
            std::fs::write(below.join("named"), name).unwrap();
            run(&folder, &["add", "."]);
            run(&folder, &["commit", "--quiet", "-m", "named"]);
            std::fs::write(folder.join("a"), "changed").unwrap();
            let found = Repository::find(&below).unwrap();
            let store = below.join("store");
            for revision in
                [found.revision("HEAD").unwrap(), found.working_tree(&store, &mut |_| ()).unwrap()]
            {
                let (there, _) = found.check_out(&revision, &store.join("trees")).unwrap();
                assert_eq!(std::fs::read(there.join("named")).unwrap(), name);
            }
        }
    }

    #[test]
    fn both_revisions_lie_beside_the_users_tree() {
        let folder = repository();
        let trees = tempfile::tempdir().unwrap();
        let found = Repository::find(&folder.path().join("sub")).unwrap();
        let (old, new) = (found.revision("HEAD~1").unwrap(), found.revision("main").unwrap());
        let (at_old, there) = found.check_out(&old, trees.path()).unwrap();
        assert!(!there && at_old.ends_with("sub"));
        let (at_new, _) = found.check_out(&new, trees.path()).unwrap();
        assert_eq!(std::fs::read_to_string(at_old.join("../a")).unwrap(), "1");
        assert_eq!(std::fs::read_to_string(at_new.join("../a")).unwrap(), "2");
        assert_eq!(at_old.as_os_str().len(), at_new.as_os_str().len());
        assert!(found.check_out(&old, trees.path()).unwrap().1, "the second time it is there");
        assert!(!found.is_dirty().unwrap(), "the user's tree is as it was");
    }

    #[test]
    fn a_tree_that_was_removed_by_hand_is_made_again() {
        let folder = repository();
        let trees = tempfile::tempdir().unwrap();
        let found = Repository::find(folder.path()).unwrap();
        let head = found.revision("HEAD").unwrap();
        let (tree, _) = found.check_out(&head, trees.path()).unwrap();
        std::fs::remove_dir_all(&tree).unwrap();
        assert!(!found.check_out(&head, trees.path()).unwrap().1);
    }

    #[test]
    fn a_tree_that_another_builds_or_runs_in_is_refused_with_what_to_do() {
        let folder = repository();
        let trees = tempfile::tempdir().unwrap();
        let found = Repository::find(folder.path()).unwrap();
        let head = found.revision("HEAD").unwrap();
        let first = found.hold(&head, trees.path()).unwrap();
        let refused = found.hold(&head, trees.path()).unwrap_err().to_string();
        assert!(refused.contains("HEAD in this store") && refused.contains("--store DIR"), "{refused}");
        drop(first);
        assert!(found.hold(&head, trees.path()).is_ok());
    }

    #[test]
    fn the_working_tree_is_built_with_its_changes_and_stays() {
        let folder = repository();
        let trees = tempfile::tempdir().unwrap();
        let found = Repository::find(folder.path()).unwrap();
        let clean = found.working_tree(trees.path(), &mut |_| ()).unwrap();
        assert_eq!((clean.commit, clean.note), (found.revision("HEAD").unwrap().commit, None));
        std::fs::write(folder.path().join("a"), "3").unwrap();
        std::fs::write(folder.path().join("new"), "new").unwrap();
        let changed = found.working_tree(trees.path(), &mut |_| ()).unwrap();
        assert!(changed.note.as_ref().unwrap().starts_with("not built: 1 untracked file;"), "{changed:?}");
        let (tree, _) = found.check_out(&changed, trees.path()).unwrap();
        assert_eq!(std::fs::read_to_string(tree.join("a")).unwrap(), "3");
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap(), "3");
        assert!(found.is_dirty().unwrap());
    }

    #[test]
    fn what_names_no_commit_is_told_with_what_there_is() {
        let folder = repository();
        let found = Repository::find(folder.path()).unwrap();
        let said = found.revision("mian").unwrap_err().to_string();
        assert!(
            said.contains("`mian` is not a commit") && said.ends_with("The newest branches: main"),
            "{said}"
        );
        assert!(found.revision("--all").unwrap_err().to_string().contains("is not a commit"));
        let outside = tempfile::tempdir().unwrap();
        let said = Repository::find(outside.path()).unwrap_err().to_string();
        assert!(said.contains("is not in a git repository") && said.contains("assay compare --"), "{said}");
    }
}
