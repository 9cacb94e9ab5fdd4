//! The matrix an experiment spans: which cells are measured, which of them are compared, how many links that takes.
//!
//! Placement is not an axis of the matrix: it is the factor over which each cell is measured (see `placement`), so it
//! multiplies links and samples, never contrasts.

use super::Experiment;

/// One combination of the axes, as indices into the experiment's lists and the list of compilers found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Cell {
    /// Index into `Experiment::variants`.
    pub variant: usize,
    /// Index into `Experiment::inputs`.
    pub input: usize,
    /// Index into the compilers that `Experiment::compilers` resolved to.
    pub compiler: usize,
    /// Index into `Experiment::flags`.
    pub flags: usize,
}

/// Two cells that differ in the variant only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Contrast {
    /// The cell the verdict is about.
    pub candidate: Cell,
    /// The baseline's cell on the same input, compiler and flags.
    pub baseline: Cell,
}

/// All cells of an experiment with `compilers` compilers found: by compiler, flags, input, variant, each in file order.
///
/// This is the order of tables, not of measuring; that one is [`super::plan::round`]'s.
pub fn cells(experiment: &Experiment, compilers: usize) -> Vec<Cell> {
    let mut cells = Vec::new();
    for compiler in 0..compilers {
        for flags in 0..experiment.flags.len() {
            for input in 0..experiment.inputs.len() {
                for variant in 0..experiment.variants.len() {
                    cells.push(Cell { variant, input, compiler, flags });
                }
            }
        }
    }
    cells
}

/// Every variant but the baseline against the baseline, in the order of [`cells`]. Empty if no variant is the baseline,
/// which [`Experiment::from_toml`] refuses.
pub fn contrasts(experiment: &Experiment, compilers: usize) -> Vec<Contrast> {
    let Some(baseline) = experiment.baseline_index() else {
        return Vec::new();
    };
    cells(experiment, compilers)
        .into_iter()
        .filter(|cell| cell.variant != baseline)
        .map(|candidate| Contrast { candidate, baseline: Cell { variant: baseline, ..candidate } })
        .collect()
}

/// Links that `rotations` rotations take: one as built, and one per rotation and phase, for each compiler and flag set.
pub fn links(experiment: &Experiment, compilers: usize, rotations: u32) -> usize {
    let placements = 1 + rotations as usize * experiment.placement.phases.len();
    compilers * experiment.flags.len() * placements
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn experiment() -> Experiment {
        let text = r#"
            question = "q"
            baseline = "b"
            variants = ["a", "b", "c"]
            program.sources = ["x.c"]
            flags.O2 = ["-O2"]
            flags.O3 = ["-O3"]
            placement.phases = [0, 32]
            [inputs.one]
            path = "one"
            [inputs.two]
            path = "two"
        "#;
        Experiment::from_toml(text, "x.toml").expect("a valid file").experiment
    }

    #[test]
    fn has_each_combination_once() {
        let all = cells(&experiment(), 5);
        assert_eq!(all.len(), 3 * 2 * 5 * 2);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }

    #[test]
    fn lists_variants_of_one_input_side_by_side() {
        let all = cells(&experiment(), 1);
        let first: Vec<_> = all.iter().take(4).map(|c| (c.input, c.variant)).collect();
        assert_eq!(first, [(0, 0), (0, 1), (0, 2), (1, 0)]);
    }

    #[test]
    fn compares_each_other_variant_with_the_baseline_in_an_otherwise_equal_cell() {
        let all = contrasts(&experiment(), 5);
        assert_eq!(all.len(), 2 * 2 * 5 * 2);
        for Contrast { candidate, baseline } in all {
            assert_eq!(baseline.variant, 1);
            assert_ne!(candidate.variant, 1);
            assert_eq!(Cell { variant: 1, ..candidate }, baseline);
        }
    }

    #[test]
    fn has_no_contrast_without_a_baseline() {
        let mut experiment = experiment();
        experiment.baseline = "gone".into();
        assert!(contrasts(&experiment, 2).is_empty());
    }

    #[test]
    fn counts_one_link_as_built_and_one_per_rotation_and_phase() {
        assert_eq!(links(&experiment(), 3, 4), 3 * 2 * (1 + 4 * 2));
        assert_eq!(links(&experiment(), 0, 4), 0);
    }
}
