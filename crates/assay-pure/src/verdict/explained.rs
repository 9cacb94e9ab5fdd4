//! How much of all times do instructions and mispredictions explain, over every cell of a campaign?
//!
//! Method: nanoseconds per unit regressed on instructions and on mispredictions per unit (`stats::regression`), with a constant
//! for each variant: what its own chain of dependent instructions takes whatever the data. Where that is too much to ask of so
//! few cells, one constant for all; how much that explains is said in any case. The coefficient of mispredictions should meet
//! the penalty that was measured by itself; where the fit is poor, or a cell lies far from it, something else decides there,
//! and that is said.
//! Known limits: one price per instruction for all variants; cells that share a variant are not independent.
//! Checked: by hand.

use crate::stats::interval::Interval;
use crate::stats::quantile::mad;
use crate::stats::regression::{RegressionError, least_squares};
use crate::words;

/// Fewer cells than this are too few to explain anything by three figures.
pub const LEAST_CELLS: usize = 8;

/// The share of the variance from which on the times are called explained.
pub const EXPLAINED: f64 = 0.9;

/// Residuals that are shown, the worst first.
const WORST: usize = 5;

/// One cell with time and counts.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedCell {
    /// Variant, input, compiler and flag set.
    pub name: [String; 4],
    /// Nanoseconds per unit.
    pub ns: f64,
    /// Instructions per unit.
    pub instructions: f64,
    /// Mispredictions per unit.
    pub mispredictions: f64,
}

/// A coefficient with its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Nanoseconds per event.
    pub ns: f64,
    /// Its interval.
    pub interval: Interval,
}

/// A cell and what the fit says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// Variant, input, compiler and flag set.
    pub name: [String; 4],
    /// Measured, nanoseconds per unit.
    pub ns: f64,
    /// By the fit.
    pub fitted_ns: f64,
}

/// The fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Cells it rests on.
    pub cells: usize,
    /// Share of the variance explained, 0 to 1.
    pub r_squared: f64,
    /// The same with one constant for all variants; none where the counts do not allow it.
    pub r_squared_one_constant: Option<f64>,
    /// Per variant, nanoseconds per unit whatever the counts; one of an empty name where all share it.
    pub constants: Vec<(String, f64)>,
    /// Per instruction.
    pub instruction: Price,
    /// Per misprediction.
    pub misprediction: Price,
    /// Median absolute residual, nanoseconds per unit.
    pub typical_residual_ns: f64,
    /// The worst residuals first.
    pub worst: Vec<Residual>,
}

impl Explained {
    /// Whether instructions and mispredictions explain the times.
    pub fn holds(&self) -> bool {
        self.r_squared >= EXPLAINED
    }
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unexplained {
    /// Too few cells have time and counts.
    TooFewCells {
        /// Cells there are.
        have: usize,
    },
    /// The counts do not vary, or not independently.
    Regression(RegressionError),
}

impl std::fmt::Display for Unexplained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooFewCells { have } => {
                let have = words::plural(*have as u64, "cell");
                write!(f, "only {have} with both times and counts; a fit needs at least {LEAST_CELLS}")
            }
            Self::Regression(RegressionError::Dependent { column: 0 }) => {
                f.write_str("all cells execute the same number of instructions")
            }
            Self::Regression(RegressionError::Dependent { .. }) => {
                f.write_str("mispredictions are the same in all cells, or follow from the instructions")
            }
            Self::Regression(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Unexplained {}

/// Fits all cells.
///
/// Input: cells with time and counts. Returns: prices with intervals at 95 %. Errors: too few cells, counts that do not vary.
/// Cost: linear. Checked: a plane by hand.
pub fn explain_times(cells: &[TimedCell]) -> Result<Explained, Unexplained> {
    if cells.len() < LEAST_CELLS {
        return Err(Unexplained::TooFewCells { have: cells.len() });
    }
    let times: Vec<f64> = cells.iter().map(|cell| cell.ns).collect();
    let plain = least_squares(&rows(cells, &[]), &times);
    let variants = variants(cells);
    let enough = cells.len() >= variants.len() + 1 + LEAST_CELLS;
    let own = Some(&variants).filter(|variants| enough && variants.len() > 1);
    let own =
        own.and_then(|variants| Some((variants, least_squares(&rows(cells, &variants[1..]), &times).ok()?)));
    let r_squared_one_constant = plain.as_ref().ok().map(|plain| plain.r_squared);
    let (constants, fit) = match own {
        Some((variants, fit)) => {
            let more = std::iter::once(0.0).chain(fit.slopes[2..].iter().map(|slope| slope.value));
            let constant = |(name, more): (&String, f64)| (name.clone(), fit.intercept.value + more);
            (variants.iter().zip(more).map(constant).collect(), fit)
        }
        None => {
            let fit = plain.map_err(Unexplained::Regression)?;
            (vec![(String::new(), fit.intercept.value)], fit)
        }
    };
    let price = |slope: usize| {
        let interval = fit.interval(fit.slopes[slope], 0.05).expect("0.05 is a probability");
        Price { ns: fit.slopes[slope].value, interval }
    };
    let mut worst: Vec<Residual> = cells
        .iter()
        .zip(&fit.residuals)
        .map(|(cell, residual)| Residual {
            name: cell.name.clone(),
            ns: cell.ns,
            fitted_ns: cell.ns - residual,
        })
        .collect();
    worst.sort_by(|a, b| (b.ns - b.fitted_ns).abs().total_cmp(&(a.ns - a.fitted_ns).abs()));
    worst.truncate(WORST);
    Ok(Explained {
        cells: cells.len(),
        r_squared: fit.r_squared,
        r_squared_one_constant,
        constants,
        instruction: price(0),
        misprediction: price(1),
        typical_residual_ns: mad(&fit.residuals).unwrap_or(0.0),
        worst,
    })
}

/// Variants in the order of their first cells.
fn variants(cells: &[TimedCell]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in cells {
        if !names.contains(&cell.name[0]) {
            names.push(cell.name[0].clone());
        }
    }
    names
}

/// Instructions, mispredictions, and for each of `apart` whether the cell is of that variant.
fn rows(cells: &[TimedCell], apart: &[String]) -> Vec<Vec<f64>> {
    let row = |cell: &TimedCell| {
        let of = apart.iter().map(|name| f64::from(u8::from(cell.name[0] == *name)));
        [cell.instructions, cell.mispredictions].into_iter().chain(of).collect()
    };
    cells.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(at: usize, ns: f64, instructions: f64, mispredictions: f64) -> TimedCell {
        let name = [format!("v{at}"), "i".into(), "gcc".into(), "O2".into()];
        TimedCell { name, ns, instructions, mispredictions }
    }

    /// 0.3 ns, 0.2 per instruction, 5 per misprediction.
    fn plane() -> Vec<TimedCell> {
        let counts = [
            (5.0, 0.0),
            (10.0, 0.1),
            (20.0, 0.8),
            (7.0, 0.9),
            (12.0, 0.0),
            (9.0, 0.3),
            (15.0, 0.2),
            (6.0, 0.5),
        ];
        let row = |(at, (i, m)): (usize, (f64, f64))| cell(at, 0.3 + 0.2 * i + 5.0 * m, i, m);
        counts.into_iter().enumerate().map(row).collect()
    }

    #[test]
    fn a_plane_is_found_again() {
        let found = explain_times(&plane()).unwrap();
        assert!((found.instruction.ns - 0.2).abs() < 1e-9 && (found.misprediction.ns - 5.0).abs() < 1e-9);
        assert_eq!((found.constants.len(), found.constants[0].0.as_str()), (1, ""));
        assert!((found.constants[0].1 - 0.3).abs() < 1e-9 && (found.r_squared - 1.0).abs() < 1e-12);
        assert_eq!(found.r_squared_one_constant, Some(found.r_squared));
        assert!(found.holds() && found.cells == 8 && found.typical_residual_ns < 1e-9);
    }

    #[test]
    fn a_variant_that_takes_its_own_time_whatever_the_data_has_its_own_constant() {
        let mut cells = plane();
        for cell in &mut cells {
            cell.name[0] = "branch".into();
        }
        let serial = (0..4).map(|at| cell(at, 9.0 + 5.0 * 0.1 * at as f64, 40.0, 0.1 * at as f64));
        cells.extend(serial.map(|cell| TimedCell {
            name: ["serial".into(), "i".into(), "gcc".into(), "O2".into()],
            ..cell
        }));
        let found = explain_times(&cells).unwrap();
        // 9 ns less 40 · 0.2.
        let expected = [("branch", 0.3), ("serial", 1.0)];
        for ((name, ns), (wanted, constant)) in found.constants.iter().zip(expected) {
            assert!(name == wanted && (ns - constant).abs() < 1e-9, "{found:?}");
        }
        assert!((found.misprediction.ns - 5.0).abs() < 1e-9 && (found.r_squared - 1.0).abs() < 1e-12);
        assert!(found.r_squared_one_constant.is_some_and(|plain| plain < 1.0 - 1e-6), "{found:?}");
        // Two rows fewer than two variants need: one constant for all.
        let few = explain_times(&cells[2..]).unwrap();
        assert_eq!((few.constants.len(), few.r_squared_one_constant), (1, Some(few.r_squared)));
    }

    #[test]
    fn the_cell_that_something_else_decides_is_the_worst_residual() {
        let mut cells = plane();
        cells[4].ns += 3.0;
        let found = explain_times(&cells).unwrap();
        assert_eq!((found.worst[0].name[0].as_str(), found.worst.len()), ("v4", 5));
        assert!(found.worst[0].ns > found.worst[0].fitted_ns + 1.0, "{found:?}");
        assert!(found.worst.windows(2).all(|pair| {
            (pair[0].ns - pair[0].fitted_ns).abs() >= (pair[1].ns - pair[1].fitted_ns).abs()
        }));
        assert!(found.misprediction.interval.lower < found.misprediction.ns);
        assert!(found.misprediction.interval.upper > found.misprediction.ns);
    }

    #[test]
    fn nine_tenths_of_the_variance_are_called_an_explanation() {
        let found = explain_times(&plane()).unwrap();
        let holds = |r_squared| Explained { r_squared, ..found.clone() }.holds();
        assert!(holds(0.92) && holds(0.9) && !holds(0.89));
    }

    #[test]
    fn one_variant_alone_has_the_constant_of_all() {
        let mut cells = plane();
        cells.extend(plane());
        for cell in &mut cells {
            cell.name[0] = "branch".into();
        }
        let found = explain_times(&cells).unwrap();
        assert_eq!((found.constants.len(), found.constants[0].0.as_str()), (1, ""));
    }

    #[test]
    fn prices_have_the_fits_own_intervals_at_95_per_cent_and_one_outlier_is_not_typical() {
        let mut cells = plane();
        cells[4].ns += 3.0;
        let found = explain_times(&cells).unwrap();
        let times: Vec<f64> = cells.iter().map(|cell| cell.ns).collect();
        let fit = least_squares(&rows(&cells, &[]), &times).unwrap();
        for (price, slope) in [found.instruction, found.misprediction].iter().zip(&fit.slopes) {
            // t with 5 degrees at 95 %: 2.57058 (any table).
            let half = (price.interval.upper - price.interval.lower) / 2.0;
            assert!((half - 2.570_582 * slope.standard_error).abs() < 1e-5 * half, "{price:?}");
        }
        let outlier = (found.worst[0].ns - found.worst[0].fitted_ns).abs();
        assert!(found.typical_residual_ns > 0.0 && found.typical_residual_ns < 0.4 * outlier, "{found:?}");
        assert!(found.typical_residual_ns < 0.7 * fit.residual_deviation, "{found:?}");
    }

    #[test]
    fn times_that_counts_do_not_explain_do_not_hold() {
        let mut cells = plane();
        for (at, cell) in cells.iter_mut().enumerate() {
            cell.ns = [1.0, 9.0, 2.0, 8.0, 1.5, 7.0, 3.0, 9.0][at];
        }
        assert!(!explain_times(&cells).unwrap().holds());
    }

    #[test]
    fn too_few_cells_and_counts_that_do_not_vary_are_said() {
        assert_eq!(explain_times(&plane()[..7]), Err(Unexplained::TooFewCells { have: 7 }));
        let mut cells = plane();
        for cell in &mut cells {
            cell.mispredictions = 0.0;
        }
        let error = explain_times(&cells).unwrap_err();
        assert_eq!(error, Unexplained::Regression(RegressionError::Dependent { column: 1 }));
        assert!(error.to_string().contains("mispredictions are the same"), "{error}");
    }
}
