//! What a campaign's program was made of: the digest of each source, and the commit they lie in.

use super::prepare::Prepared;
use crate::lead::git::{git, text};
use assay_linux::given;
use assay_pure::inputs::digest::digest;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The facts as kept with a campaign. A source that cannot be read is left out; without git there is no commit.
pub(super) fn facts(prepared: &Prepared) -> Value {
    let mut files = Map::new();
    for source in &prepared.experiment.program.sources {
        if let Ok(bytes) = given::read(&prepared.folder.join(source), given::DATA) {
            files.insert(source.clone(), digest(&bytes).into());
        }
    }
    let (revision, changed) = commit(&prepared.folder);
    json!({ "files": files, "revision": revision, "changed": changed })
}

/// The commit checked out in a folder, and whether files below it differ.
fn commit(folder: &Path) -> (Option<String>, Option<bool>) {
    let said = |words: &[&str]| text(git(folder).args(words)).ok().and_then(Result::ok);
    let revision = said(&["rev-parse", "--verify", "-q", "HEAD"]);
    let changed = revision.as_ref().and_then(|_| said(&["status", "--porcelain", "-uno", "--", "."]));
    (revision, changed.map(|listed| !listed.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_any_repository_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit(folder.path()), (None, None));
    }

    #[test]
    fn a_commit_and_a_change_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            assert!(git(folder.path()).args(who).args(words).output().unwrap().status.success(), "{words:?}");
        };
        run(&["init", "-q"]);
        std::fs::write(folder.path().join("x.c"), "1").unwrap();
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "one"]);
        let (revision, changed) = commit(folder.path());
        assert_eq!((revision.map(|hash| hash.len()), changed), (Some(40), Some(false)));
        std::fs::write(folder.path().join("x.c"), "2").unwrap();
        assert_eq!(commit(folder.path()).1, Some(true));
    }
}
