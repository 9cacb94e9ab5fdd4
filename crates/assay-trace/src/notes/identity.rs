//! Would the kernel have given the program another identity than the user's?
//!
//! The kernel executes the emulator, not the program, so its set-user-ID and set-group-ID bits and its file capabilities
//! have no effect (execve(2), capabilities(7)).

use assay_linux::identity;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SET_USER: u32 = 0o4000;
/// Without the group's execute bit the other means something else.
const SET_GROUP: u32 = 0o2010;

/// A sentence if so, and if it makes a difference to this user.
pub(crate) fn identity(program: &Path) -> Option<String> {
    let facts = std::fs::metadata(program).ok()?;
    let would_be = if facts.mode() & SET_USER != 0 && facts.uid() != identity::user() {
        format!("as user {}", facts.uid())
    } else if facts.mode() & SET_GROUP == SET_GROUP && facts.gid() != identity::group() {
        format!("as group {}", facts.gid())
    } else if identity::user() != 0 && identity::gives_capabilities(program) {
        "with capabilities of its own".to_owned()
    } else {
        return None;
    };
    Some(format!(
        "{} would run {would_be}; under the emulator it has your rights only, and may do something else for lack of them.",
        program.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown};

    #[test]
    fn a_program_that_would_run_as_somebody_else_is_told_with_whom() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("ping");
        File::create(&program).expect("a file");
        let with = |mode| set_permissions(&program, Permissions::from_mode(mode)).expect("our own file");
        with(0o6755);
        assert_eq!(identity(&program), None, "as whom we are");
        if chown(&program, Some(identity::user() + 1), Some(identity::group() + 2)).is_err() {
            println!("skipped: only root gives files away");
            return;
        }
        for (mode, whom) in [
            (0o4755, Some(format!("as user {};", identity::user() + 1))),
            (0o2755, Some(format!("as group {};", identity::group() + 2))),
            (0o2745, None),
            (0o0755, None),
        ] {
            with(mode);
            let said = identity(&program);
            assert_eq!(said.is_some(), whom.is_some(), "{mode:o}");
            assert!(said.zip(whom).is_none_or(|(said, whom)| said.contains(&whom)), "{mode:o}");
        }
    }
}
