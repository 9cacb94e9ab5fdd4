//! The axes that contrasts may run along, and which level of each the others are compared with.

use std::fmt;

/// What differs between the two sides of a contrast, in otherwise equal cells. Placement does not: it is averaged over.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Two variants, in the same build.
    #[default]
    Variant,
    /// Two compilers of the same variant, with the same flags.
    Compiler,
    /// Two flag sets of the same variant, by the same compiler.
    Flags,
}

impl Axis {
    /// All of them, in the order of tables.
    pub const ALL: [Axis; 3] = [Axis::Variant, Axis::Compiler, Axis::Flags];

    /// Its name in experiment files and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Variant => "variant",
            Axis::Compiler => "compiler",
            Axis::Flags => "flags",
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `[contrasts]`: what is compared with what.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ContrastSpec {
    /// The axes, each once, at least one.
    pub along: Vec<Axis>,
    /// The baseline on the compiler axis: a name, [`EACH`], or the first compiler found where the file says nothing.
    pub compiler: Option<String>,
    /// The baseline on the flags axis: a flag set's name, [`EACH`], or the first set.
    pub flags: Option<String>,
}

/// Instead of a baseline: each level is compared with each before it.
pub const EACH: &str = "each";

impl Default for ContrastSpec {
    fn default() -> Self {
        ContrastSpec { along: vec![Axis::Variant], compiler: None, flags: None }
    }
}

/// The pairs (candidate, baseline) of levels on an axis, by candidate.
///
/// Input: the names of the levels in order; the baseline as in [`ContrastSpec`]. A baseline that is not among the levels
/// (a compiler that this machine lacks) gives way to the first: some comparison is better than none, and
/// [`missing_baseline`] lets the caller say so.
pub fn pairs(levels: &[String], baseline: Option<&str>) -> Vec<(usize, usize)> {
    if baseline == Some(EACH) {
        return (1..levels.len())
            .flat_map(|candidate| (0..candidate).map(move |baseline| (candidate, baseline)))
            .collect();
    }
    let named = baseline.and_then(|name| levels.iter().position(|level| level == name));
    let baseline = named.unwrap_or(0);
    (0..levels.len())
        .filter(|candidate| *candidate != baseline)
        .map(|candidate| (candidate, baseline))
        .collect()
}

/// The baseline that was asked for by name and is none of the levels.
pub fn missing_baseline<'a>(levels: &[String], baseline: Option<&'a str>) -> Option<&'a str> {
    baseline.filter(|name| *name != EACH && !levels.iter().any(|level| level == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels() -> Vec<String> {
        ["gcc-11", "gcc-12", "clang-16"].map(String::from).to_vec()
    }

    #[test]
    fn compares_all_others_with_the_first_or_the_one_named() {
        assert_eq!(pairs(&levels(), None), [(1, 0), (2, 0)]);
        assert_eq!(pairs(&levels(), Some("gcc-12")), [(0, 1), (2, 1)]);
        assert_eq!(pairs(&levels()[..1], None), []);
        assert_eq!(pairs(&[], None), []);
    }

    #[test]
    fn compares_each_with_each_before_it() {
        assert_eq!(pairs(&levels(), Some(EACH)), [(1, 0), (2, 0), (2, 1)]);
        assert_eq!(pairs(&[], Some(EACH)), []);
    }

    #[test]
    fn takes_the_first_for_a_baseline_that_is_not_there_and_says_which() {
        assert_eq!(pairs(&levels(), Some("gcc-9")), [(1, 0), (2, 0)]);
        assert_eq!(missing_baseline(&levels(), Some("gcc-9")), Some("gcc-9"));
        assert_eq!(missing_baseline(&levels(), Some("gcc-12")), None);
        assert_eq!(missing_baseline(&levels(), Some(EACH)), None);
        assert_eq!(missing_baseline(&levels(), None), None);
    }
}
