//! A commit checked out beside the user's repository, of which nothing is changed.
//!
//! The checkout is a repository of its own that borrows the user's objects, settings and refs: nothing is registered in the
//! user's, so nothing there is ever tidied up. It began as a worktree: `git worktree prune`, which that needs, also removed
//! worktrees of the user's whose disk was not mounted, with their index and detached commit. Nor does `git clone --shared`
//! serve: of a shallow repository, as in most CI, it copies only what branches reach. Builds find what they ask git for
//! (`git describe`), which an exported archive has not.

use crate::lead::Unable;
use crate::lead::git::{bytes, git, path, text};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// In the checkout's own folder of git, when all of it is there: the commit.
const COMPLETE: &str = ".git/assay-complete";

/// Settings of the checkout that must not be the user's.
const OWN: &str = "[core]\n\tsparseCheckout = false\n\tfsmonitor = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/// Whether all of a commit is checked out.
pub fn is_there(tree: &Path, commit: &str) -> bool {
    fs::read(tree.join(COMPLETE)).is_ok_and(|found| found == commit.as_bytes())
}

/// Checks out a commit of the repository at `root` in `tree`, which is absolute and not there; `name` is what the user calls it.
///
/// # Errors
/// git cannot do it, a submodule cannot be fetched.
pub fn make(root: &Path, name: &str, commit: &str, tree: &Path) -> Result<()> {
    let refused = |said: String| Unable(format!("cannot check out {name} at {}: {said}", tree.display()));
    fs::create_dir_all(tree).with_context(|| format!("cannot make {}", tree.display()))?;
    // Not known to old versions of git, which then have this one only.
    let format = text(git(root).args(["rev-parse", "--show-object-format"]))?.unwrap_or_default();
    let mut init = git(tree);
    init.args(["init", "--quiet", "--template="]);
    if format == "sha256" {
        init.arg("--object-format=sha256");
    }
    bytes(&mut init)?.map_err(refused)?;
    borrow(root, tree).with_context(|| format!("cannot write in {}", tree.display()))?;
    bytes(git(tree).args(["checkout", "--quiet", "--force", "--detach", commit]))?.map_err(refused)?;
    if tree.join(".gitmodules").exists() {
        let filled = bytes(git(tree).args(["submodule", "--quiet", "update", "--init", "--recursive"]))?;
        filled.map_err(|said| Unable(format!("cannot fetch the submodules of {name}: {said}")))?;
    }
    fs::write(tree.join(COMPLETE), commit).with_context(|| format!("cannot write in {}", tree.display()))
}

/// Lets the checkout find the objects, settings and refs of the repository.
fn borrow(root: &Path, tree: &Path) -> Result<()> {
    let common = path(git(root).args(["rev-parse", "--git-common-dir"]))?.map_err(Unable)?;
    let common = root.join(common).canonicalize()?;
    let own = tree.join(".git");
    for folder in ["info", "objects/info"] {
        fs::create_dir_all(own.join(folder))?;
    }
    for file in ["shallow", "info/attributes", "info/exclude"] {
        if common.join(file).is_file() {
            fs::copy(common.join(file), own.join(file))?;
        }
    }
    let objects = common.join("objects");
    fs::write(
        own.join("objects/info/alternates"),
        [&quoted(objects.as_os_str().as_bytes()), &b"\n"[..]].concat(),
    )?;
    // The user's settings first: of what is set twice, the last counts.
    let theirs = quoted(common.join("config").as_os_str().as_bytes());
    let first = fs::read(own.join("config"))?;
    let all = [b"[include]\n\tpath = ", theirs.as_slice(), b"\n", &first, OWN.as_bytes()].concat();
    fs::write(own.join("config"), all)?;
    let kinds = ["refs/heads", "refs/tags", "refs/remotes", "refs/notes", "refs/replace"];
    let refs = bytes(git(root).args(["for-each-ref", "--format=%(objectname) %(refname)"]).args(kinds))?;
    let mut refs = refs.unwrap_or_default();
    refs.push(b'\n');
    if refs.len() > 1 {
        fs::write(own.join("packed-refs"), refs)?;
    }
    Ok(())
}

/// A path as git's files quote it, in both settings and the list of alternates.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in path {
        match byte {
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

/// Removes a checkout, and what is left of one.
///
/// # Errors
/// It cannot be removed.
pub fn remove(root: &Path, tree: &Path) -> Result<()> {
    if tree.join(".git").is_file() {
        // Earlier versions of assay made worktrees. Only this one goes, also where it was left locked, and only if the
        // repository itself has it on its list.
        let _ = bytes(git(root).args(["worktree", "remove", "--force", "--force"]).arg(tree))?;
    }
    if tree.symlink_metadata().is_ok() {
        fs::remove_dir_all(tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    }
    Ok(())
}
