//! Is one machine out of line with the others of its kind?
//!
//! Method: a figure of two machines is compared placement by placement, the same program on the same input, so that neither code
//! nor placement differs. That they differ by no more than a tolerance is the null: machines of a kind do differ a little. To
//! the error of that mean comes [`NOISE`] of each machine, since a campaign that is repeated does not find quite the same.
//! A machine is named where it differs, in one direction, from more than half of all of them: of the p-values of its pairs the
//! u-th smallest of n counts n - u + 1 times, which tests that at least u of n differ, however they depend on each other
//! (Benjamini and Heller 2008). So of two none can be named, and a sick one makes no healthy one suspicious while most are
//! healthy. Where none can be named, pairs that differ are told. Both families share [`LEVEL`], by Holm over everything that
//! was looked at.
//! Limits: a machine that is off by less than about 7 % is not found from one campaign each; where campaigns of one machine differ
//! by more than [`NOISE`], the rate of false alarms is larger than promised.
//! Source: tolerance in the null: Hodges and Lehmann 1954; degrees of freedom: Welch 1947, Satterthwaite 1946.
//! Checked by: SciPy on one pair; simulation, `tests/calibration/outlying.rs`.

use crate::stats::interval::mean_and_variance;
use crate::stats::multiplicity::holm;
use crate::stats::quantile::median;
use crate::stats::student;
use std::collections::BTreeMap;

/// The probability that machines which are alike are said to differ: of one report, whatever it compares.
pub const LEVEL: f64 = 0.01;
/// Standard deviation between campaigns of one machine, a difference of logarithms: assumed, since most measured once.
pub const NOISE: f64 = 0.01;
/// How far times of healthy machines of a kind may lie apart, a fraction: memory is laid out anew, no two chips are the same.
pub const TIME_TOLERANCE: f64 = 0.02;
/// Placements that two machines must share: fewer tell no spread.
const FEWEST: usize = 3;

/// A figure of one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineReading<'a> {
    /// The machine's number.
    pub machine: usize,
    /// Logarithms of a time or ratio, by the program that they are of: what has the same name is the same machine code in the same
    /// place.
    pub by_placement: BTreeMap<&'a str, f64>,
}

/// The same figure of several machines of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedFigure<'a> {
    /// How far healthy machines may lie apart, a difference of logarithms.
    pub tolerance: f64,
    /// One for each machine.
    pub readings: Vec<MachineReading<'a>>,
}

/// A machine that differs from more than half of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlying {
    /// Number of the figure.
    pub figure: usize,
    /// The machine.
    pub machine: usize,
    /// The median of its differences from the others, of logarithms; above 0 the figure is larger there.
    pub step: f64,
    /// From more than half of all it differs by this much at the least, with the confidence of the report.
    pub at_least: f64,
}

/// Two machines that differ, where none can be named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Number of the figure.
    pub figure: usize,
    /// The one whose figure is larger.
    pub larger: usize,
    /// The other.
    pub smaller: usize,
    /// The difference of their logarithms, above 0.
    pub step: f64,
    /// It is this much at the least.
    pub at_least: f64,
}

/// What is out of line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutOfLine {
    /// Machines, by figure.
    pub outlying: Vec<Outlying>,
    /// The pair furthest apart of each figure on which no machine is named and some pair differs.
    pub apart: Vec<Apart>,
}

/// One machine less another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference {
    step: f64,
    error: f64,
    degrees: f64,
}

impl Difference {
    fn of(one: &MachineReading, other: &MachineReading) -> Option<Difference> {
        let both = |(placement, value): (&&str, &f64)| Some(value - other.by_placement.get(placement)?);
        let found: Vec<f64> = one.by_placement.iter().filter_map(both).collect();
        let (step, variance) = mean_and_variance(&found).filter(|_| found.len() >= FEWEST)?;
        let (own, of_campaigns) = (variance / found.len() as f64, 2.0 * NOISE * NOISE);
        let whole = own + of_campaigns;
        let degrees = (whole / own).powi(2) * (found.len() - 1) as f64;
        Some(Difference { step, error: whole.sqrt(), degrees: degrees.min(f64::from(u32::MAX)) })
    }

    /// The same in the other direction.
    fn turned(self, sign: f64) -> Difference {
        Difference { step: sign * self.step, ..self }
    }

    /// The probability of a difference so far above the tolerance where there is none above it.
    fn p(&self, tolerance: f64) -> f64 {
        let t = (self.step - tolerance) / self.error;
        let half = 0.5 * student::two_sided_p(t, self.degrees);
        if t > 0.0 { half } else { 1.0 - half }
    }

    /// It is above this, at a one-sided level.
    fn lower(&self, level: f64) -> f64 {
        let t = student::two_sided_quantile(2.0 * level, self.degrees).unwrap_or(f64::INFINITY);
        self.step - t * self.error
    }
}

/// All machines of a figure beside each other; none of a machine beside itself and of two that share too little.
type Differences = Vec<Vec<Option<Difference>>>;

fn differences(figure: &SharedFigure) -> Differences {
    let of = |(at, one): (usize, &MachineReading)| {
        let beside = |(other_at, other)| if at == other_at { None } else { Difference::of(one, other) };
        figure.readings.iter().enumerate().map(beside).collect()
    };
    figure.readings.iter().enumerate().map(of).collect()
}

/// What is out of line.
///
/// Input: finite logarithms. Returns: see [`OutOfLine`]; wrong of machines that are alike in at most [`LEVEL`] of reports.
/// Cost: the machines' pairs by figures, a beta function each.
pub fn out_of_line(figures: &[SharedFigure]) -> OutOfLine {
    let all: Vec<Differences> = figures.iter().map(differences).collect();
    let outlying = outlying(figures, &all);
    let apart = apart(figures, &all, &outlying);
    OutOfLine { outlying, apart }
}

/// From how many others a machine must differ: with itself on the side of the others, it is one of less than half.
fn most_of(machines: usize) -> usize {
    machines / 2 + 1
}

fn outlying(figures: &[SharedFigure], all: &[Differences]) -> Vec<Outlying> {
    struct Asked {
        figure: usize,
        row: usize,
        sign: f64,
        p: f64,
    }
    let mut asked = Vec::new();
    for (figure, table) in all.iter().enumerate() {
        let (others, wanted) = (table.len().saturating_sub(1), most_of(table.len()));
        if wanted > others {
            continue;
        }
        for (row, beside) in table.iter().enumerate() {
            for sign in [1.0, -1.0] {
                let tolerance = figures[figure].tolerance;
                let p = |found: &Option<Difference>| found.map_or(1.0, |it| it.turned(sign).p(tolerance));
                let mut found: Vec<f64> =
                    beside.iter().enumerate().filter(|(at, _)| *at != row).map(|(_, it)| p(it)).collect();
                found.sort_by(f64::total_cmp);
                let p = (found[wanted - 1] * (others - wanted + 1) as f64).min(1.0);
                asked.push(Asked { figure, row, sign, p });
            }
        }
    }
    let p_values: Vec<f64> = asked.iter().map(|one| one.p).collect();
    let steps = holm(&p_values, 0.5 * LEVEL, 0.5 * LEVEL);
    let named = asked.iter().zip(steps).filter(|(_, step)| step.rejected).map(|(one, step)| {
        let table = &all[one.figure];
        let wanted = most_of(table.len());
        let level = step.alpha / (table.len() - wanted) as f64;
        let known: Vec<Difference> = table[one.row].iter().flatten().map(|it| it.turned(one.sign)).collect();
        let mut bounds: Vec<f64> = known.iter().map(|it| it.lower(level)).collect();
        bounds.sort_by(|a, b| b.total_cmp(a));
        let steps: Vec<f64> = known.iter().map(|it| it.step).collect();
        Outlying {
            figure: one.figure,
            machine: figures[one.figure].readings[one.row].machine,
            step: one.sign * median(&steps).unwrap_or(0.0),
            at_least: one.sign * bounds[wanted - 1],
        }
    });
    named.collect()
}

fn apart(figures: &[SharedFigure], all: &[Differences], named: &[Outlying]) -> Vec<Apart> {
    let mut asked = Vec::new();
    for (figure, table) in all.iter().enumerate() {
        for (row, beside) in table.iter().enumerate() {
            let pairs = beside.iter().enumerate().filter(|(at, _)| *at != row);
            asked.extend(pairs.map(|(at, found)| (figure, row, at, *found)));
        }
    }
    let p = |(figure, _, _, found): &(usize, usize, usize, Option<Difference>)| {
        found.map_or(1.0, |it| it.p(figures[*figure].tolerance))
    };
    let p_values: Vec<f64> = asked.iter().map(p).collect();
    let mut widest: BTreeMap<usize, Apart> = BTreeMap::new();
    for ((figure, row, at, found), step) in asked.iter().zip(holm(&p_values, 0.5 * LEVEL, 0.5 * LEVEL)) {
        let Some(found) = found.filter(|_| step.rejected) else { continue };
        let machine = |at: &usize| figures[*figure].readings[*at].machine;
        if named.iter().any(|one| one.figure == *figure) {
            continue;
        }
        let pair = Apart {
            figure: *figure,
            larger: machine(row),
            smaller: machine(at),
            step: found.step,
            at_least: found.lower(step.alpha),
        };
        let widest = widest.entry(*figure).or_insert(pair);
        if pair.step > widest.step {
            *widest = pair;
        }
    }
    widest.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACEMENTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

    /// Machines at these levels; placements differ by a tenth, and a thousandth is each reading's own.
    fn figure(levels: &[f64], tolerance: f64) -> SharedFigure<'static> {
        let reading = |(machine, level): (usize, &f64)| {
            let value =
                |at: usize| 0.1 * at as f64 + level + 0.001 * ((machine * 5 + at * 7) % 5) as f64 - 0.002;
            let by_placement = PLACEMENTS.iter().enumerate().map(|(at, name)| (*name, value(at))).collect();
            MachineReading { machine, by_placement }
        };
        SharedFigure { tolerance, readings: levels.iter().enumerate().map(reading).collect() }
    }

    fn named(levels: &[f64]) -> Vec<usize> {
        out_of_line(&[figure(levels, 0.02)]).outlying.iter().map(|one| one.machine).collect()
    }

    #[test]
    fn one_machine_of_three_is_named_with_how_far_it_is_off_and_no_healthy_one_is() {
        let found = out_of_line(&[figure(&[0.0, 0.2, 0.003], 0.02)]);
        assert_eq!(found.outlying.len(), 1, "{found:?}");
        let one = found.outlying[0];
        assert_eq!((one.figure, one.machine), (0, 1));
        assert!(
            (one.step - 0.1985).abs() < 0.002 && one.at_least > 0.1 && one.at_least < one.step,
            "{one:?}"
        );
        assert!(found.apart.is_empty(), "whom it differs from is no further finding: {found:?}");
        let faster = out_of_line(&[figure(&[0.0, -0.2, 0.003], 0.02)]);
        assert!(faster.outlying[0].step < -0.19 && faster.outlying[0].at_least < -0.1, "{faster:?}");
    }

    #[test]
    fn of_two_machines_and_of_two_halves_none_is_named_but_that_they_differ_is() {
        for levels in [&[0.0, 0.2][..], &[0.0, 0.2, 0.001, 0.201]] {
            let found = out_of_line(&[figure(levels, 0.02)]);
            assert!(found.outlying.is_empty() && found.apart.len() == 1, "{found:?}");
            assert!(found.apart[0].larger % 2 == 1 && found.apart[0].smaller.is_multiple_of(2), "{found:?}");
            assert!((0.1..0.21).contains(&found.apart[0].at_least), "{found:?}");
        }
    }

    #[test]
    fn two_sick_machines_of_five_are_both_named_and_three_are_the_rule() {
        assert_eq!(named(&[0.0, 0.2, 0.0, 0.25, 0.001]), [1, 3]);
        assert_eq!(named(&[0.0, 0.2, 0.2, 0.2, 0.0]), [0, 4]);
    }

    #[test]
    fn what_lies_within_the_tolerance_is_no_difference_however_well_it_is_known() {
        assert_eq!(out_of_line(&[figure(&[0.0, 0.02, 0.01, 0.0], 0.02)]), OutOfLine::default());
        let wide = out_of_line(&[figure(&[0.0, 0.2, 0.0], 0.2)]);
        assert_eq!(wide, OutOfLine::default(), "a fifth is allowed");
        assert_eq!(out_of_line(&[]), OutOfLine::default());
        assert_eq!(out_of_line(&[figure(&[0.0], 0.02)]), OutOfLine::default());
    }

    #[test]
    fn what_ran_other_programs_is_not_compared() {
        let mut one = figure(&[0.0, 0.2, 0.0], 0.02);
        let others: BTreeMap<&str, f64> =
            ["u", "v", "w", "a", "b"].into_iter().map(|name| (name, 0.2)).collect();
        one.readings[1].by_placement = others;
        assert_eq!(out_of_line(&[one]), OutOfLine::default(), "two placements tell no spread");
    }

    #[test]
    fn many_figures_need_a_clearer_difference() {
        let sick = figure(&[0.0, 0.075, 0.0], 0.02);
        assert_eq!(out_of_line(std::slice::from_ref(&sick)).outlying.len(), 1);
        let mut many: Vec<SharedFigure> = (0..40).map(|_| figure(&[0.0, 0.0, 0.0], 0.02)).collect();
        many.push(sick);
        assert!(out_of_line(&many).outlying.is_empty());
    }

    #[test]
    fn a_pair_is_what_scipy_says_of_it() {
        // scipy 1.17.1: d = [.05, .06, .04, .07]; own = var(d, ddof=1)/4; v = own + 2e-4; df = v**2/(own**2/3);
        // t.sf((mean(d) - .02)/sqrt(v), df), mean(d) - t.isf(.001, df)*sqrt(v)
        let reading = |values: [f64; 4]| MachineReading {
            machine: 0,
            by_placement: PLACEMENTS.into_iter().zip(values).collect(),
        };
        let found =
            Difference::of(&reading([0.15, 0.26, 0.34, 0.47]), &reading([0.1, 0.2, 0.3, 0.4])).unwrap();
        assert!((found.degrees - SCIPY[0]).abs() < 1e-6, "{found:?}");
        assert!((found.p(0.02) - SCIPY[1]).abs() < 1e-9, "{}", found.p(0.02));
        assert!((found.lower(0.001) - SCIPY[2]).abs() < 1e-9, "{}", found.lower(0.001));
    }

    const SCIPY: [f64; 3] = [100.919_999_999_999_97, 0.013_262_772_344_848_723, 0.005_674_335_693_764_194];
}
