//! What `assay --version` says beside the number: from which commit, for which machine, what is linked in.

use std::sync::OnceLock;

/// The commit, where whoever built it said so.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// Tells what the program was built from.
pub fn tell_commit(commit: Option<&'static str>) {
    if let Some(commit) = commit.filter(|commit| !commit.is_empty()) {
        let _ = COMMIT.set(commit);
    }
}

/// The text below `assay`.
pub fn long() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| text(COMMIT.get().copied()))
}

fn text(commit: Option<&str>) -> String {
    format!(
        "{}\ncommit: {}\ntarget: {}\nlicence: {}\n\nlinked in, by licence:\n{}\
         in pages and pictures: D3 and Observable Plot (ISC), the font DejaVu (its own, free)\n\n\
         Their texts: THIRD-PARTY.txt beside the packages' licences, or each crate's source.",
        env!("CARGO_PKG_VERSION"),
        commit.unwrap_or("unknown"),
        env!("ASSAY_TARGET"),
        env!("CARGO_PKG_LICENSE"),
        include_str!(concat!(env!("OUT_DIR"), "/linked.txt")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_version_and_a_commit_that_nobody_told_is_unknown() {
        assert_eq!(text(None).lines().next(), Some(env!("CARGO_PKG_VERSION")));
        assert!(text(None).contains("\ncommit: unknown\n"));
        assert!(text(Some("1234abc")).contains("\ncommit: 1234abc\n"));
    }
}
