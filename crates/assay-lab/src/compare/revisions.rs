//! Two revisions of a git repository, each checked out beside the user's tree, which is not touched.
//!
//! Trees of both sides lie at paths of one length: a path that the compiler writes into a binary then moves nothing.

use crate::lead::{Hold, Misuse, Unable, hold};
use anyhow::{Context, Result};
use assay_pure::words;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many characters of a commit's hash name its tree.
const SHORT: usize = 12;

/// Who makes the commit of a working tree, which no branch ever names: git wants somebody, and the user may be nobody yet.
const NOBODY: [&str; 4] = ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];

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
}

impl Repository {
    /// The repository that `folder` is in.
    ///
    /// # Errors
    /// It is in none, or there is no git.
    pub fn find(folder: &Path) -> Result<Repository> {
        let root = git(folder, &["rev-parse", "--show-toplevel"])?.map_err(|said| {
            Misuse(format!(
                "{} is not in a git repository, so there are no revisions to compare ({said}); run assay in \
                 the project, or compare two commands: assay compare -- 'CMD A' 'CMD B'",
                folder.display()
            ))
        })?;
        let below = git(folder, &["rev-parse", "--show-prefix"])?.unwrap_or_default();
        Ok(Repository { root: PathBuf::from(root), below: PathBuf::from(below) })
    }

    /// The commit that a name stands for.
    ///
    /// # Errors
    /// There is none; the message names what there is.
    pub fn revision(&self, name: &str) -> Result<Revision> {
        let wanted = format!("{name}^{{commit}}");
        let commit = git(&self.root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
        let commit = commit.map_err(|_| {
            let branches = [
                "for-each-ref",
                "--format=%(refname:short)",
                "--count=6",
                "--sort=-committerdate",
                "refs/heads",
            ];
            let known = git(&self.root, &branches).ok().and_then(Result::ok).unwrap_or_default();
            Misuse(format!(
                "`{name}` is not a commit of {}: give a branch, a tag or a hash. The newest branches: {}",
                self.root.display(),
                known.lines().collect::<Vec<_>>().join(", ")
            ))
        })?;
        Ok(Revision { name: name.into(), commit, note: None })
    }

    /// The working tree as it is now, as a commit that no branch names; `HEAD` where nothing is changed.
    ///
    /// # Errors
    /// There is no commit yet.
    pub fn working_tree(&self) -> Result<Revision> {
        let head = self.revision("HEAD")?;
        let name = "the working tree".to_owned();
        let stashed = git(&self.root, &[&NOBODY[..], &["stash", "create"]].concat())?.map_err(|said| {
            Misuse(format!("git cannot save the working tree ({said}); commit it and name the commit"))
        })?;
        let untracked = git(&self.root, &["ls-files", "--others", "--exclude-standard"])?.unwrap_or_default();
        let untracked = untracked.lines().filter(|file| !file.starts_with(".assay/")).count();
        let note = (untracked > 0).then(|| {
            let files = words::plural(untracked as u64, "untracked file");
            format!("not built: {files}; `git add` what the build needs")
        });
        if stashed.is_empty() {
            return Ok(Revision { name, note, ..head });
        }
        Ok(Revision { name, commit: stashed, note })
    }

    /// Whether tracked files differ from `HEAD`: what is uncommitted is in no revision.
    ///
    /// # Errors
    /// There is no git.
    pub fn is_dirty(&self) -> Result<bool> {
        let changed = git(&self.root, &["status", "--porcelain", "--untracked-files=no"])?;
        Ok(changed.is_ok_and(|lines| !lines.is_empty()))
    }

    /// Checks a commit out below `trees`, where it is not there yet, and returns the user's folder in it and whether it
    /// was there.
    ///
    /// # Errors
    /// The tree cannot be made.
    pub fn check_out(&self, revision: &Revision, trees: &Path) -> Result<(PathBuf, bool)> {
        let tree = tree_of(revision, trees);
        let there = tree.join(".git").exists()
            && git(&tree, &["rev-parse", "HEAD"])?.is_ok_and(|commit| commit == revision.commit);
        if !there {
            self.remove(&tree)?;
            std::fs::create_dir_all(trees).with_context(|| format!("cannot make {}", trees.display()))?;
            let place = tree.to_string_lossy().into_owned();
            let made =
                git(&self.root, &["worktree", "add", "--force", "--detach", &place, &revision.commit])?;
            made.map_err(|said| Unable(format!("cannot check out {} at {place}: {said}", revision.name)))?;
            self.fill_submodules(&tree, revision)?;
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
        std::fs::create_dir_all(trees).with_context(|| format!("cannot make {}", trees.display()))?;
        hold::take(&tree_of(revision, trees), "tree")?.ok_or_else(|| {
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
        self.remove(&tree_of(revision, trees))
    }

    fn remove(&self, tree: &Path) -> Result<()> {
        if tree.exists() {
            std::fs::remove_dir_all(tree).with_context(|| format!("cannot remove {}", tree.display()))?;
        }
        // A tree that somebody removed by hand is still on git's list.
        let _ = git(&self.root, &["worktree", "prune"])?;
        Ok(())
    }

    fn fill_submodules(&self, tree: &Path, revision: &Revision) -> Result<()> {
        if !tree.join(".gitmodules").exists() {
            return Ok(());
        }
        let filled = git(tree, &["submodule", "update", "--init", "--recursive"])?;
        filled
            .map_err(|said| {
                Unable(format!("cannot fetch the submodules of {}: {said}", revision.name)).into()
            })
            .map(|_| ())
    }
}

fn tree_of(revision: &Revision, trees: &Path) -> PathBuf {
    trees.join(&revision.commit[..SHORT.min(revision.commit.len())])
}

/// What git printed, or what it complained of; an error if there is no git.
fn git(folder: &Path, words: &[&str]) -> Result<Result<String, String>> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words);
    // Set by hooks; they would lead git elsewhere.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let ran = command.output().map_err(|error| Unable(format!("comparing revisions needs git: {error}")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    Ok(if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with two commits on `main`, a file `a` that says 1, then 2, and a folder `sub`.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| {
            let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
            let words: Vec<&str> = identity.iter().chain(words).copied().collect();
            git(folder.path(), &words).unwrap().unwrap()
        };
        run(&["init", "--quiet", "--initial-branch=main"]);
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("sub/b"), "b").unwrap();
        for text in ["1", "2"] {
            std::fs::write(folder.path().join("a"), text).unwrap();
            run(&["add", "."]);
            run(&["commit", "--quiet", "-m", text]);
        }
        folder
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
        let clean = found.working_tree().unwrap();
        assert_eq!((clean.commit, clean.note), (found.revision("HEAD").unwrap().commit, None));
        std::fs::write(folder.path().join("a"), "3").unwrap();
        std::fs::write(folder.path().join("new"), "new").unwrap();
        let changed = found.working_tree().unwrap();
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
