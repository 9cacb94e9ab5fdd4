//! Which straight combination of some columns comes nearest to the measured times, and how near is it?
//!
//! Method: ordinary least squares with an intercept. The columns are centred and scaled first, so that counts of millions and
//! of thousandths meet as equals, then reduced by Householder reflections; the normal equations, which square the condition
//! number, are never formed. Golub and Van Loan, Matrix Computations, 4th ed., 5.2 and 5.3.
//! Known limits: the intervals take the residuals for independent and equally spread, which cells of one campaign are not
//! quite: they share variants and inputs.
//! Checked: NIST's certified values for Longley's data, which are ill-conditioned on purpose; a line by hand.

use super::interval::{Interval, t_interval};
use std::fmt;

/// A column whose part that no other column explains is below this share of it is called a combination of the others.
const INDEPENDENT: f64 = 1e-9;

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionError {
    /// Fewer rows than coefficients plus one: nothing is left to judge the fit by.
    TooFewRows {
        /// Rows there are.
        have: usize,
        /// Rows it takes.
        need: usize,
    },
    /// A row has another number of columns than the first.
    Ragged {
        /// The row.
        row: usize,
    },
    /// A value is not finite.
    NotFinite {
        /// The row.
        row: usize,
    },
    /// A column is the same in all rows, or a combination of those before it.
    Dependent {
        /// The column.
        column: usize,
    },
    /// All responses are the same: there is nothing to explain.
    ConstantResponse,
}

impl fmt::Display for RegressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewRows { have, need } => write!(f, "{have} rows, a fit needs at least {need}"),
            Self::Ragged { row } => write!(f, "row {row} has another number of columns than the first"),
            Self::NotFinite { row } => write!(f, "row {row} holds a value that is not finite"),
            Self::Dependent { column } => {
                write!(f, "column {column} is the same in all rows or a combination of those before it")
            }
            Self::ConstantResponse => f.write_str("all responses are the same"),
        }
    }
}

impl std::error::Error for RegressionError {}

/// One coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// The estimate, response per unit of its column.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// A fitted combination.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearFit {
    /// The response where all columns are 0.
    pub intercept: Coefficient,
    /// One per column.
    pub slopes: Vec<Coefficient>,
    /// Share of the responses' variance that the fit explains, 0 to 1.
    pub r_squared: f64,
    /// Standard deviation of the residuals, in units of the response.
    pub residual_deviation: f64,
    /// Rows less coefficients.
    pub degrees: usize,
    /// Response less fitted value, by row.
    pub residuals: Vec<f64>,
}

impl LinearFit {
    /// The interval of a coefficient, at confidence 1 - `alpha`.
    ///
    /// Errors: `alpha` outside (0, 1).
    pub fn interval(&self, of: Coefficient, alpha: f64) -> Result<Interval, super::StatsError> {
        t_interval(of.value, of.standard_error, self.degrees as f64, alpha)
    }
}

/// Fits `response ≈ intercept + Σ slope · column`.
///
/// Input: one row of column values per response, all of one length. Returns: estimates with standard errors, in the units
/// given. Errors: see [`RegressionError`]. Cost: O(rows · columns²). Source: see the module. Checked: see the module.
pub fn least_squares(rows: &[Vec<f64>], response: &[f64]) -> Result<LinearFit, RegressionError> {
    let columns = rows.first().map_or(0, Vec::len);
    check(rows, response, columns)?;
    let n = rows.len() as f64;
    let mean_response = response.iter().sum::<f64>() / n;
    let mut y: Vec<f64> = response.iter().map(|value| value - mean_response).collect();
    let total: f64 = y.iter().map(|value| value * value).sum();
    if total <= f64::EPSILON * f64::EPSILON * n * mean_response * mean_response {
        return Err(RegressionError::ConstantResponse);
    }
    let Standardised { mut columns, means, scales } = standardise(rows, columns)?;
    let diagonal = triangulate(&mut columns, &mut y)?;
    let scaled = back_substitute(&columns, &diagonal, &y);
    let inverse = invert_triangle(&columns, &diagonal);

    let slopes: Vec<f64> = scaled.iter().zip(&scales).map(|(slope, scale)| slope / scale).collect();
    let fitted = |row: &Vec<f64>| -> f64 {
        row.iter().zip(&means).zip(&slopes).map(|((value, mean), slope)| (value - mean) * slope).sum::<f64>()
    };
    let residuals: Vec<f64> =
        rows.iter().zip(response).map(|(row, value)| value - mean_response - fitted(row)).collect();
    let left: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let degrees = rows.len() - slopes.len() - 1;
    let variance = left / degrees as f64;

    // Covariance of the slopes: variance · (RᵀR)⁻¹ = variance · R⁻¹R⁻ᵀ, scaled back.
    let covariance = |i: usize, j: usize| -> f64 {
        let product: f64 = inverse[i].iter().zip(&inverse[j]).map(|(a, b)| a * b).sum();
        variance * product / (scales[i] * scales[j])
    };
    let of_means: f64 = (0..slopes.len())
        .flat_map(|i| (0..slopes.len()).map(move |j| (i, j)))
        .map(|(i, j)| means[i] * means[j] * covariance(i, j))
        .sum();
    let intercept = mean_response - means.iter().zip(&slopes).map(|(mean, slope)| mean * slope).sum::<f64>();
    Ok(LinearFit {
        intercept: Coefficient { value: intercept, standard_error: (variance / n + of_means).sqrt() },
        slopes: slopes
            .iter()
            .enumerate()
            .map(|(i, &value)| Coefficient { value, standard_error: covariance(i, i).sqrt() })
            .collect(),
        r_squared: 1.0 - left / total,
        residual_deviation: variance.sqrt(),
        degrees,
        residuals,
    })
}

fn check(rows: &[Vec<f64>], response: &[f64], columns: usize) -> Result<(), RegressionError> {
    let (have, need) = (rows.len().min(response.len()), columns + 2);
    if have < need || rows.len() != response.len() {
        return Err(RegressionError::TooFewRows { have, need });
    }
    for (row, (values, response)) in rows.iter().zip(response).enumerate() {
        if values.len() != columns {
            return Err(RegressionError::Ragged { row });
        }
        if !response.is_finite() || values.iter().any(|value| !value.is_finite()) {
            return Err(RegressionError::NotFinite { row });
        }
    }
    Ok(())
}

/// Columns of mean 0 and length 1, with what brings them back.
struct Standardised {
    columns: Vec<Vec<f64>>,
    means: Vec<f64>,
    scales: Vec<f64>,
}

fn standardise(rows: &[Vec<f64>], columns: usize) -> Result<Standardised, RegressionError> {
    let mut found = Standardised { columns: Vec::new(), means: Vec::new(), scales: Vec::new() };
    for column in 0..columns {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64;
        let centred: Vec<f64> = rows.iter().map(|row| row[column] - mean).collect();
        let scale = length(&centred);
        let size = length(&rows.iter().map(|row| row[column]).collect::<Vec<_>>());
        if scale <= INDEPENDENT * size {
            return Err(RegressionError::Dependent { column });
        }
        found.columns.push(centred.iter().map(|value| value / scale).collect());
        found.means.push(mean);
        found.scales.push(scale);
    }
    Ok(found)
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Householder reflections: column j keeps row i < j of the triangle at [j][i], the diagonal is returned.
fn triangulate(columns: &mut [Vec<f64>], y: &mut [f64]) -> Result<Vec<f64>, RegressionError> {
    let mut diagonal = Vec::with_capacity(columns.len());
    for step in 0..columns.len() {
        let (head, rest) = columns.split_at_mut(step + 1);
        let column = &mut head[step];
        let norm = length(&column[step..]);
        // The columns came with length 1, so what is left of this one is its share that those before do not explain.
        if norm <= INDEPENDENT {
            return Err(RegressionError::Dependent { column: step });
        }
        let alpha = if column[step] > 0.0 { -norm } else { norm };
        let mut mirror: Vec<f64> = column[step..].to_vec();
        mirror[0] -= alpha;
        let twice = 2.0 / mirror.iter().map(|value| value * value).sum::<f64>();
        let reflect = |values: &mut [f64]| {
            let along: f64 = mirror.iter().zip(values.iter()).map(|(a, b)| a * b).sum();
            for (value, normal) in values.iter_mut().zip(&mirror) {
                *value -= twice * along * normal;
            }
        };
        for other in rest {
            reflect(&mut other[step..]);
        }
        reflect(&mut y[step..]);
        diagonal.push(alpha);
    }
    Ok(diagonal)
}

fn back_substitute(columns: &[Vec<f64>], diagonal: &[f64], y: &[f64]) -> Vec<f64> {
    let mut solution = vec![0.0; columns.len()];
    for i in (0..columns.len()).rev() {
        let known: f64 = (i + 1..columns.len()).map(|j| columns[j][i] * solution[j]).sum();
        solution[i] = (y[i] - known) / diagonal[i];
    }
    solution
}

/// Rows of the triangle's inverse.
fn invert_triangle(columns: &[Vec<f64>], diagonal: &[f64]) -> Vec<Vec<f64>> {
    let size = columns.len();
    let mut rows = vec![vec![0.0; size]; size];
    for unit in 0..size {
        let mut e = vec![0.0; size];
        e[unit] = 1.0;
        for (row, value) in rows.iter_mut().zip(back_substitute(columns, diagonal, &e)) {
            row[unit] = value;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
    }

    /// Longley (1967), as in NIST's Statistical Reference Datasets: employment; deflator, GNP, unemployed, armed forces,
    /// population, year.
    const LONGLEY: [[f64; 7]; 16] = [
        [60323.0, 83.0, 234289.0, 2356.0, 1590.0, 107608.0, 1947.0],
        [61122.0, 88.5, 259426.0, 2325.0, 1456.0, 108632.0, 1948.0],
        [60171.0, 88.2, 258054.0, 3682.0, 1616.0, 109773.0, 1949.0],
        [61187.0, 89.5, 284599.0, 3351.0, 1650.0, 110929.0, 1950.0],
        [63221.0, 96.2, 328975.0, 2099.0, 3099.0, 112075.0, 1951.0],
        [63639.0, 98.1, 346999.0, 1932.0, 3594.0, 113270.0, 1952.0],
        [64989.0, 99.0, 365385.0, 1870.0, 3547.0, 115094.0, 1953.0],
        [63761.0, 100.0, 363112.0, 3578.0, 3350.0, 116219.0, 1954.0],
        [66019.0, 101.2, 397469.0, 2904.0, 3048.0, 117388.0, 1955.0],
        [67857.0, 104.6, 419180.0, 2822.0, 2857.0, 118734.0, 1956.0],
        [68169.0, 108.4, 442769.0, 2936.0, 2798.0, 120445.0, 1957.0],
        [66513.0, 110.8, 444546.0, 4681.0, 2637.0, 121950.0, 1958.0],
        [68655.0, 112.6, 482704.0, 3813.0, 2552.0, 123366.0, 1959.0],
        [69564.0, 114.2, 502601.0, 3931.0, 2514.0, 125368.0, 1960.0],
        [69331.0, 115.7, 518173.0, 4806.0, 2572.0, 127852.0, 1961.0],
        [70551.0, 116.9, 554894.0, 4007.0, 2827.0, 130081.0, 1962.0],
    ];

    #[test]
    fn agrees_with_the_certified_values_of_longleys_data() {
        let rows: Vec<Vec<f64>> = LONGLEY.iter().map(|row| row[1..].to_vec()).collect();
        let response: Vec<f64> = LONGLEY.iter().map(|row| row[0]).collect();
        let fit = least_squares(&rows, &response).unwrap();
        // https://www.itl.nist.gov/div898/strd/lls/data/LINKS/DATA/Longley.dat
        let certified = [
            (15.0618722713733, 84.9149257747669),
            (-0.0358191792925910, 0.0334910077722432),
            (-2.02022980381683, 0.488399681651699),
            (-1.03322686717359, 0.214274163161675),
            (-0.0511041056535807, 0.226073200069370),
            (1829.15146461355, 455.478499142212),
        ];
        near(fit.intercept.value, -3482258.63459582, 1e-9);
        near(fit.intercept.standard_error, 890420.383607373, 1e-9);
        for (found, (value, error)) in fit.slopes.iter().zip(certified) {
            near(found.value, value, 1e-8);
            near(found.standard_error, error, 1e-9);
        }
        near(fit.r_squared, 0.995479004577296, 1e-12);
        near(fit.residual_deviation, 304.854073561965, 1e-10);
        assert_eq!(fit.degrees, 9);
    }

    #[test]
    fn a_line_by_hand() {
        // x 0 1 2 3, y 1 3 2 4: mean y 2.5, Sxy 4, Sxx 5: slope 0.8, intercept 1.3; residuals -0.3 0.9 -0.9 0.3,
        // their squares 1.8 of Syy 5: R² 0.64; variance 0.9, error of the slope sqrt(0.9 / 5), of the intercept
        // sqrt(0.9 (1/4 + 2.25 / 5)).
        let rows: Vec<Vec<f64>> = (0..4).map(|x| vec![f64::from(x)]).collect();
        let fit = least_squares(&rows, &[1.0, 3.0, 2.0, 4.0]).unwrap();
        near(fit.slopes[0].value, 0.8, 1e-12);
        near(fit.intercept.value, 1.3, 1e-12);
        near(fit.r_squared, 0.64, 1e-12);
        near(fit.slopes[0].standard_error, 0.18f64.sqrt(), 1e-12);
        near(fit.intercept.standard_error, 0.63f64.sqrt(), 1e-12);
        for (found, expected) in fit.residuals.iter().zip([-0.3, 0.9, -0.9, 0.3]) {
            assert!((found - expected).abs() < 1e-12);
        }
        // t with 2 degrees at 95 %: 4.30265 (any table).
        let interval = fit.interval(fit.slopes[0], 0.05).unwrap();
        assert!((interval.upper - (0.8 + 4.302652729 * 0.18f64.sqrt())).abs() < 1e-6);
        assert!((interval.lower + interval.upper - 1.6).abs() < 1e-12);
    }

    #[test]
    fn the_unit_of_a_column_changes_its_slope_and_nothing_else() {
        let rows: Vec<Vec<f64>> =
            (0..12).map(|i| vec![f64::from(i % 5), f64::from(i * i % 7), f64::from(i)]).collect();
        let response: Vec<f64> = (0..12).map(|i| f64::from((i * 37 + 5) % 11)).collect();
        let scaled: Vec<Vec<f64>> =
            rows.iter().map(|row| vec![row[0] * 1e6, row[1] * 1e-6, row[2]]).collect();
        let (plain, scaled) =
            (least_squares(&rows, &response).unwrap(), least_squares(&scaled, &response).unwrap());
        near(scaled.r_squared, plain.r_squared, 1e-10);
        near(scaled.slopes[0].value, plain.slopes[0].value * 1e-6, 1e-8);
        near(scaled.slopes[1].value, plain.slopes[1].value * 1e6, 1e-8);
        near(scaled.slopes[2].value, plain.slopes[2].value, 1e-8);
        near(scaled.slopes[1].standard_error, plain.slopes[1].standard_error * 1e6, 1e-8);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused_with_its_place() {
        let rows = |values: &[[f64; 2]]| values.iter().map(|row| row.to_vec()).collect::<Vec<_>>();
        let y = [1.0, 2.0, 4.0, 3.0, 5.0];
        let error = |rows: Vec<Vec<f64>>, y: &[f64]| least_squares(&rows, y).unwrap_err();
        let good = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0], [5.0, 9.0]];
        assert!(least_squares(&rows(&good), &y).is_ok());
        assert_eq!(error(rows(&good[..3]), &y[..3]), RegressionError::TooFewRows { have: 3, need: 4 });
        assert_eq!(error(rows(&good), &y[..4]), RegressionError::TooFewRows { have: 4, need: 4 });
        assert_eq!(error(Vec::new(), &[]), RegressionError::TooFewRows { have: 0, need: 2 });
        let twice: Vec<[f64; 2]> = good.iter().map(|row| [row[0], 2.0 * row[0] + 1.0]).collect();
        assert_eq!(error(rows(&twice), &y), RegressionError::Dependent { column: 1 });
        let constant: Vec<[f64; 2]> = good.iter().map(|row| [7.1, row[1]]).collect();
        assert_eq!(error(rows(&constant), &y), RegressionError::Dependent { column: 0 });
        // 1e-10 of its size is rounding, not information.
        let still: Vec<[f64; 2]> = good.iter().map(|row| [1e6 + 1e-5 * row[0], row[1]]).collect();
        assert_eq!(error(rows(&still), &y), RegressionError::Dependent { column: 0 });
        let zero: Vec<[f64; 2]> = good.iter().map(|row| [row[0], 0.0]).collect();
        assert_eq!(error(rows(&zero), &y), RegressionError::Dependent { column: 1 });
        assert_eq!(error(rows(&good), &[0.1; 5]), RegressionError::ConstantResponse);
        // Six times 0.1 has a mean that is not 0.1: what is left is rounding, too.
        let six = [rows(&good), rows(&[[6.0, 7.0]])].concat();
        assert_eq!(error(six, &[0.1; 6]), RegressionError::ConstantResponse);
        let mut ragged = rows(&good);
        ragged[3].pop();
        assert_eq!(error(ragged, &y), RegressionError::Ragged { row: 3 });
        let mut infinite = rows(&good);
        infinite[2][1] = f64::NAN;
        assert_eq!(error(infinite, &y), RegressionError::NotFinite { row: 2 });
        assert_eq!(
            error(rows(&good), &[1.0, f64::INFINITY, 2.0, 3.0, 4.0]),
            RegressionError::NotFinite { row: 1 }
        );
    }
}
