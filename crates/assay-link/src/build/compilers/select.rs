//! From the patterns of an experiment to compilers.

use super::{Compiler, ToolchainError, Toolchains};
use assay_pure::experiment::diagnostic::nearest;
use assay_pure::experiment::pattern::matches;

/// The compilers that match any pattern, in the order of `found`; all of them without patterns.
pub fn select(found: Vec<Compiler>, patterns: &[String]) -> Result<Vec<Compiler>, ToolchainError> {
    let mut wanted = vec![patterns.is_empty(); found.len()];
    for (index, pattern) in patterns.iter().enumerate() {
        let matching: Vec<usize> =
            (0..found.len()).filter(|&at| found[at].names().any(|name| fits(pattern, name))).collect();
        if matching.is_empty() {
            return Err(unknown(index, pattern, &found));
        }
        for at in matching {
            wanted[at] = true;
        }
    }
    Ok(found.into_iter().zip(wanted).filter_map(|(compiler, wanted)| wanted.then_some(compiler)).collect())
}

fn unknown(index: usize, pattern: &str, found: &[Compiler]) -> ToolchainError {
    ToolchainError::Unknown {
        among: Toolchains::OnPath,
        index,
        wanted: pattern.to_owned(),
        found: found.iter().map(|compiler| compiler.name.clone()).collect(),
        nearest: nearest(pattern, found.iter().flat_map(Compiler::names)).map(str::to_owned),
    }
}

/// Whether a pattern is this name; "all" is every name.
fn fits(pattern: &str, name: &str) -> bool {
    pattern == "all" || matches(pattern, name)
}

/// Versions by their numbers, so that 9 comes before 12.
pub fn version_key(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::CompilerFamily;

    fn compiler(family: CompilerFamily, version: &str, alias: &str) -> Compiler {
        let major = version.split('.').next().expect("a version");
        Compiler {
            name: format!("{}-{major}", family.name()),
            aliases: vec![alias.into()],
            family,
            version: version.into(),
            target: "x86_64-linux-gnu".into(),
            path: alias.into(),
            cxx_path: None,
            sha256: version.into(),
        }
    }

    fn three() -> Vec<Compiler> {
        vec![
            compiler(CompilerFamily::Gcc, "12.2.0", "gcc"),
            compiler(CompilerFamily::Clang, "14.0.6", "clang"),
            compiler(CompilerFamily::Clang, "16.0.6", "clang-16"),
        ]
    }

    fn selected(patterns: &[&str]) -> Result<Vec<String>, ToolchainError> {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Ok(select(three(), &patterns)?.into_iter().map(|compiler| compiler.name).collect())
    }

    #[test]
    fn names_aliases_globs_and_all_select() {
        assert_eq!(selected(&["gcc"]).as_deref(), Ok(&["gcc-12".to_owned()][..]));
        assert_eq!(selected(&["clang-1?"]).map(|names| names.len()), Ok(2));
        assert_eq!(selected(&["clang-16", "gcc*"]), Ok(vec!["gcc-12".into(), "clang-16".into()]));
        assert_eq!(selected(&["all"]).map(|names| names.len()), Ok(3));
        assert_eq!(selected(&[]).map(|names| names.len()), Ok(3));
    }

    #[test]
    fn an_unknown_one_is_refused_with_what_is_there_and_the_nearest() {
        let Err(error) = selected(&["gcc", "clang-17"]) else { panic!("clang-17 is not there") };
        let text = error.to_string();
        assert!(
            text.contains("there is no compiler `clang-17` on PATH; found: gcc-12, clang-14, clang-16"),
            "{text}"
        );
        let ToolchainError::Unknown { index, nearest, .. } = error else { panic!("of another kind") };
        assert_eq!(index, 1);
        assert!(nearest.is_some_and(|name| name.starts_with("clang-1")));
        let Err(error) = selected(&["zig"]) else { panic!("zig is not there") };
        assert!(error.to_string().contains("`assay compare`"), "{error}");
        let ToolchainError::Unknown { nearest, .. } = error else { panic!("{error}") };
        assert_eq!(nearest, None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version_key("9.4.0") < version_key("12.2.0"));
    }
}
