//! Which predictor explains measured time, and on which CPU?
//!
//! Found by `casebook/profiles.py` from campaigns whose branches were judged by all of them; its page,
//! casebook/PROFILES.md, says how. It writes `compared.tsv`, so that lists of predictors say what was found.

/// Predictor, CPU, per cent that it explains, per cent that the plain predictor does.
const TABLE: &str = include_str!("compared.tsv");

/// The predictor that a profile is to do better than.
const PLAIN: &str = "gshare";

/// What a predictor explains of the times on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The CPU that took the times.
    pub cpu: &'static str,
    /// Of the variance of times within machine codes, per cent.
    pub explained: u32,
    /// What [`PLAIN`] explains of it.
    pub plain: u32,
    /// Whether it explains less than that, and should not.
    pub is_worse: bool,
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Comparison { cpu, explained, plain, .. } = self;
        let less = if self.is_worse { "less than " } else { "" };
        write!(f, "explains {explained} % of how times differ on {cpu} ({less}{PLAIN}: {plain} %)")
    }
}

/// All comparisons of the predictor of this name.
pub fn of(name: &str) -> impl Iterator<Item = Comparison> {
    let rows = TABLE.lines().filter_map(row);
    rows.filter(move |(of, _)| *of == name).map(|(_, found)| found)
}

fn row(line: &'static str) -> Option<(&'static str, Comparison)> {
    let mut cells = line.split('\t');
    let (name, cpu) = (cells.next()?, cells.next()?);
    let (explained, plain) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    Some((name, Comparison { cpu, explained, plain, is_worse: cells.next()? == "worse" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::predict::zoo;

    #[test]
    fn every_row_is_read_and_of_a_known_predictor() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let (name, found) = row(line).unwrap_or_else(|| panic!("{line:?}"));
            assert!(zoo::entries().any(|entry| entry.name == name), "{line}");
            assert!(found.explained <= 100 && found.plain <= 100 && !found.cpu.is_empty(), "{line}");
            assert!(of(name).any(|other| other == found));
        }
    }

    #[test]
    fn a_comparison_says_its_figure_and_its_cpu() {
        let found = row("zen1\tAMD, Zen 4\t40\t52\tworse").unwrap().1;
        assert_eq!(
            found.to_string(),
            "explains 40 % of how times differ on AMD, Zen 4 (less than gshare: 52 %)"
        );
        let found = row("zen4\tAMD, Zen 4\t94\t52\t").unwrap().1;
        assert_eq!(found.to_string(), "explains 94 % of how times differ on AMD, Zen 4 (gshare: 52 %)");
        assert_eq!(row("# a comment, with one cell"), None);
    }
}
