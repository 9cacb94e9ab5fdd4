//! The matrix an experiment spans: which cells are measured, which of them are compared, how many links that takes.
//!
//! Placement is not an axis of the matrix: it is the factor over which each cell is measured (see `placement`), so it
//! multiplies links and samples, never contrasts.

use super::Experiment;
use super::axis::{self, Axis};

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

impl Cell {
    /// The cell by name, given that of its compiler.
    pub fn id(&self, experiment: &Experiment, compiler: &str) -> CellId {
        CellId {
            variant: experiment.variants[self.variant].name.clone(),
            input: experiment.inputs[self.input].name.clone(),
            compiler: compiler.to_owned(),
            flags: experiment.flags[self.flags].name.clone(),
        }
    }
}

/// A cell by the names on its axes: what is kept of it, so that it is known without the experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct CellId {
    /// Variant.
    pub variant: String,
    /// Input.
    pub input: String,
    /// Compiler.
    pub compiler: String,
    /// Flag set.
    pub flags: String,
}

/// The same, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellName<'a> {
    /// Variant.
    pub variant: &'a str,
    /// Input.
    pub input: &'a str,
    /// Compiler.
    pub compiler: &'a str,
    /// Flag set.
    pub flags: &'a str,
}

impl CellId {
    /// Borrows it.
    pub fn name(&self) -> CellName<'_> {
        CellName { variant: &self.variant, input: &self.input, compiler: &self.compiler, flags: &self.flags }
    }
}

impl From<CellName<'_>> for CellId {
    fn from(name: CellName<'_>) -> CellId {
        CellId {
            variant: name.variant.to_owned(),
            input: name.input.to_owned(),
            compiler: name.compiler.to_owned(),
            flags: name.flags.to_owned(),
        }
    }
}

/// Two cells that differ in one axis only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Contrast {
    /// The axis they differ in.
    pub axis: Axis,
    /// The cell the verdict is about.
    pub candidate: Cell,
    /// The baseline's cell, equal but for that axis.
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

/// All contrasts of an experiment with these compilers found: along each of its axes in turn, in the order of [`cells`].
///
/// Input: the names of the compilers, as the baseline may name one. Along the variants it is every variant but the
/// baseline against the baseline, none if no variant is the baseline, which [`Experiment::from_toml`] refuses.
pub fn contrasts(experiment: &Experiment, compilers: &[String]) -> Vec<Contrast> {
    let spec = &experiment.contrasts;
    let flags: Vec<String> = experiment.flags.iter().map(|set| set.name.clone()).collect();
    let compiler_pairs = axis::pairs(compilers, spec.compiler.as_deref());
    let flags_pairs = axis::pairs(&flags, spec.flags.as_deref());
    let all = cells(experiment, compilers.len());
    let mut found = Vec::new();
    for &axis in &spec.along {
        for &candidate in &all {
            let level = |pairs: &[(usize, usize)], own: usize| -> Vec<usize> {
                pairs.iter().filter(|(of, _)| *of == own).map(|&(_, baseline)| baseline).collect()
            };
            let baselines: Vec<Cell> = match axis {
                Axis::Variant => {
                    let others = experiment.baseline_index().filter(|&other| other != candidate.variant);
                    others.map(|variant| Cell { variant, ..candidate }).into_iter().collect()
                }
                Axis::Compiler => level(&compiler_pairs, candidate.compiler)
                    .into_iter()
                    .map(|compiler| Cell { compiler, ..candidate })
                    .collect(),
                Axis::Flags => level(&flags_pairs, candidate.flags)
                    .into_iter()
                    .map(|flags| Cell { flags, ..candidate })
                    .collect(),
            };
            found.extend(baselines.into_iter().map(|baseline| Contrast { axis, candidate, baseline }));
        }
    }
    found
}

/// Links that `rotations` rotations take: one as built, and one per rotation and phase, for each compiler and flag set.
pub fn links(experiment: &Experiment, compilers: usize, rotations: u32) -> usize {
    let placements = 1 + rotations as usize * experiment.placement.phases.len();
    compilers * experiment.flags.len() * placements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ContrastSpec;
    use std::collections::HashSet;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("gcc-{}", 10 + number)).collect()
    }

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
        let all = contrasts(&experiment(), &names(5));
        assert_eq!(all.len(), 2 * 2 * 5 * 2);
        for Contrast { axis, candidate, baseline } in all {
            assert_eq!((axis, baseline.variant), (Axis::Variant, 1));
            assert_ne!(candidate.variant, 1);
            assert_eq!(Cell { variant: 1, ..candidate }, baseline);
        }
    }

    #[test]
    fn has_no_contrast_without_a_baseline() {
        let mut experiment = experiment();
        experiment.baseline = "gone".into();
        assert!(contrasts(&experiment, &names(2)).is_empty());
    }

    #[test]
    fn compares_along_each_axis_asked_for_in_cells_that_are_equal_otherwise() {
        let mut experiment = experiment();
        experiment.contrasts = ContrastSpec {
            along: vec![Axis::Compiler, Axis::Flags],
            compiler: None,
            flags: Some("O3".into()),
        };
        let all = contrasts(&experiment, &names(3));
        let along = |axis| all.iter().filter(move |contrast| contrast.axis == axis);
        // Two of three compilers against the first, in 3 variants, 2 inputs, 2 flag sets.
        assert_eq!(along(Axis::Compiler).count(), 2 * 3 * 2 * 2);
        for contrast in along(Axis::Compiler) {
            assert_ne!(contrast.candidate.compiler, 0);
            assert_eq!(contrast.baseline, Cell { compiler: 0, ..contrast.candidate });
        }
        // One of two sets against the one that is named.
        assert_eq!(along(Axis::Flags).count(), 3 * 2 * 3);
        for contrast in along(Axis::Flags) {
            assert_eq!((contrast.candidate.flags, contrast.baseline.flags), (0, 1));
            assert_eq!(contrast.baseline, Cell { flags: 1, ..contrast.candidate });
        }
        assert_eq!(along(Axis::Variant).count(), 0);
    }

    #[test]
    fn compares_every_pair_of_compilers_where_each_is_asked_for() {
        let mut experiment = experiment();
        experiment.contrasts =
            ContrastSpec { along: vec![Axis::Compiler], compiler: Some("each".into()), flags: None };
        let all = contrasts(&experiment, &names(4));
        assert_eq!(all.len(), 6 * 3 * 2 * 2);
        assert!(all.iter().all(|contrast| contrast.baseline.compiler < contrast.candidate.compiler));
        assert_eq!(contrasts(&experiment, &names(1)), []);
    }

    #[test]
    fn counts_one_link_as_built_and_one_per_rotation_and_phase() {
        assert_eq!(links(&experiment(), 3, 4), 3 * 2 * (1 + 4 * 2));
        assert_eq!(links(&experiment(), 0, 4), 0);
    }
}
