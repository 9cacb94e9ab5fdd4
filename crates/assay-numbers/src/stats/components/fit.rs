//! Sums of squares, what they are expected to be, and the variances that follow.
//!
//! Method: each sum of squares is y'Qy for a projection Q, and its expectation the sum over sources of variance times
//! tr(Z'QZ), Z being which value has which level. Side and placement are nested, so their projections are means of groups;
//! the rounds, which cross them, are projected on what placements leave, by a matrix of rounds × rounds alone.

use super::source::VarianceSource;
use std::collections::BTreeMap;

/// A process: its levels, and its repetitions summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessSums {
    pub(super) side: u32,
    pub(super) placement: u32,
    pub(super) round: u32,
    pub(super) count: f64,
    pub(super) mean: f64,
    pub(super) within: f64,
}

/// Variances by source, in their order.
#[derive(Clone, Debug)]
pub(super) struct VarianceFit {
    pub(super) variances: Vec<(VarianceSource, f64)>,
    /// Sources that are not told, and the one each is in.
    pub(super) within: Vec<(VarianceSource, VarianceSource)>,
    /// Variance of the means of two sides, and the part of it that is expected of the other sources.
    pub(super) two_sides: Option<(f64, f64)>,
}

/// One sum of squares: its degrees of freedom, and how often each source's variance is expected in it.
struct Square {
    source: VarianceSource,
    sum: f64,
    degrees: f64,
    expected: BTreeMap<VarianceSource, f64>,
}

/// Degrees of freedom this small are rounding.
const NONE: f64 = 1e-9;

impl VarianceFit {
    /// None: nothing is repeated.
    pub(super) fn new(processes: &[ProcessSums]) -> Option<VarianceFit> {
        let squares = squares(processes);
        let told = |source: VarianceSource| {
            squares.iter().any(|square| square.source == source && square.degrees > NONE)
        };
        let mut within = Vec::new();
        if !told(VarianceSource::Process) && !told(VarianceSource::Rest) {
            return None;
        }
        if !told(VarianceSource::Rest) {
            within.push((VarianceSource::Rest, VarianceSource::Process));
        }
        if !told(VarianceSource::Process) {
            within.push((VarianceSource::Process, VarianceSource::Placement));
        }
        // Rounds that differ only between placements; a single round has no spread to be told.
        if !told(VarianceSource::Round) && processes.iter().any(|process| process.round != processes[0].round)
        {
            within.push((VarianceSource::Round, VarianceSource::Placement));
        }
        // From the rest up: each sum of squares has one source that those solved before it do not have.
        let mut solved: BTreeMap<VarianceSource, f64> = BTreeMap::new();
        let mut two_sides = None;
        for square in squares.iter().rev().filter(|square| told(square.source)) {
            let others: f64 =
                solved.iter().map(|(source, variance)| square.expected[source] * variance).sum();
            let own = square.expected[&square.source];
            if square.source == VarianceSource::Side && square.degrees == 1.0 {
                two_sides = Some((square.sum / own, others / own));
            }
            solved.insert(square.source, (square.sum - others) / own);
        }
        Some(VarianceFit { variances: solved.into_iter().collect(), within, two_sides })
    }

    /// A source's variance over the sum of those above 0; below 0 where the variance is.
    pub(super) fn share(&self, at: usize) -> f64 {
        let total: f64 = self.variances.iter().map(|(_, variance)| variance.max(0.0)).sum();
        if total > 0.0 { self.variances[at].1 / total } else { 0.0 }
    }

    /// The share of two sides at the ends of the interval of their difference.
    ///
    /// The root of half the square of the difference is normal about its true value where that is large beside its error,
    /// the root of what other sources bring; near 0 the range holds 0.
    pub(super) fn range_of_two_sides(&self, t: f64) -> Option<(f64, f64)> {
        let (square, noise) = self.two_sides?;
        let (middle, half) = (square.sqrt(), t * noise.max(0.0).sqrt());
        let told = self.variances.iter().filter(|(source, _)| *source != VarianceSource::Side);
        let others: f64 = told.map(|(_, variance)| variance.max(0.0)).sum();
        let share =
            |root: f64| if others + root * root > 0.0 { root * root / (others + root * root) } else { 0.0 };
        Some((share((middle - half).max(0.0)), share(middle + half)))
    }
}

/// Totals of groups of processes.
type Sums<K> = BTreeMap<K, f64>;

fn sums<K: Ord>(
    processes: &[ProcessSums],
    key: impl Fn(&ProcessSums) -> K,
    value: impl Fn(&ProcessSums) -> f64,
) -> Sums<K> {
    let mut sums = Sums::new();
    for process in processes {
        *sums.entry(key(process)).or_insert(0.0) += value(process);
    }
    sums
}

type GroupMean = (u32, u32);

fn cell(process: &ProcessSums) -> GroupMean {
    (process.side, process.placement)
}

fn squares(processes: &[ProcessSums]) -> Vec<Square> {
    let count = |process: &ProcessSums| process.count;
    let all: f64 = processes.iter().map(count).sum();
    let centre = processes.iter().map(|one| one.count * one.mean).sum::<f64>() / all;
    let sides = sums(processes, |one| one.side, count);
    let cells = sums(processes, cell, count);
    let side_sums = sums(processes, |one| one.side, |one| one.count * (one.mean - centre));
    let cell_sums = sums(processes, cell, |one| one.count * (one.mean - centre));
    let by_side: f64 = side_sums.iter().map(|(side, sum)| sum * sum / sides[side]).sum();
    let by_cell: f64 = cell_sums.iter().map(|(cell, sum)| sum * sum / cells[cell]).sum();
    let by_process: f64 = processes.iter().map(|one| one.count * (one.mean - centre).powi(2)).sum();
    let rounds = Rounds::new(processes, &cells, &cell_sums, centre);
    let traces = Traces::new(processes, all, &sides, &cells);
    let (process_count, cell_count, side_count) =
        (processes.len() as f64, cells.len() as f64, sides.len() as f64);
    let square = |source, sum, degrees, expected: &[(VarianceSource, f64)]| {
        let expected = expected.iter().copied().chain([(VarianceSource::Rest, degrees)]).collect();
        Square { source, sum, degrees, expected }
    };
    let beyond = |upper: &[(VarianceSource, f64); 4],
                  lower: &[(VarianceSource, f64); 4]|
     -> Vec<(VarianceSource, f64)> {
        upper.iter().zip(lower).map(|(upper, lower)| (upper.0, upper.1 - lower.1)).collect()
    };
    let round_process = rounds.of_processes(processes, &cells);
    let [_, _, (_, round_of_cells), (_, process_of_cells)] = traces.cell;
    let left = process_count - cell_count - rounds.rank as f64;
    vec![
        square(VarianceSource::Side, by_side, side_count - 1.0, &beyond(&traces.side, &traces.all)),
        square(
            VarianceSource::Placement,
            by_cell - by_side,
            cell_count - side_count,
            &beyond(&traces.cell, &traces.side),
        ),
        square(
            VarianceSource::Round,
            rounds.sum,
            rounds.rank as f64,
            &[(VarianceSource::Round, all - round_of_cells), (VarianceSource::Process, round_process)],
        ),
        square(
            VarianceSource::Process,
            by_process - by_cell - rounds.sum,
            left,
            &[(VarianceSource::Process, all - process_of_cells - round_process)],
        ),
        square(VarianceSource::Rest, processes.iter().map(|one| one.within).sum(), all - process_count, &[]),
    ]
}

/// tr(Z'PZ) of each source for the projections on all values' mean, on sides, on placements.
struct Traces {
    all: [(VarianceSource, f64); 4],
    side: [(VarianceSource, f64); 4],
    cell: [(VarianceSource, f64); 4],
}

impl Traces {
    fn new(processes: &[ProcessSums], all: f64, sides: &Sums<u32>, cells: &Sums<GroupMean>) -> Traces {
        let count = |process: &ProcessSums| process.count;
        let rounds = sums(processes, |one| one.round, count);
        let side_rounds = sums(processes, |one| (one.side, one.round), count);
        let cell_rounds = sums(processes, |one| (cell(one), one.round), count);
        let squared = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
        let over = |group: f64, part: &f64| part * part / group;
        let of = |side, placement, round, process| {
            [
                (VarianceSource::Side, side),
                (VarianceSource::Placement, placement),
                (VarianceSource::Round, round),
                (VarianceSource::Process, process),
            ]
        };
        Traces {
            all: of(
                squared(&mut sides.values().copied()) / all,
                squared(&mut cells.values().copied()) / all,
                squared(&mut rounds.values().copied()) / all,
                squared(&mut processes.iter().map(count)) / all,
            ),
            side: of(
                all,
                cells.iter().map(|(cell, part)| over(sides[&cell.0], part)).sum(),
                side_rounds.iter().map(|(key, part)| over(sides[&key.0], part)).sum(),
                processes.iter().map(|one| over(sides[&one.side], &one.count)).sum(),
            ),
            cell: of(
                all,
                all,
                cell_rounds.iter().map(|(key, part)| over(cells[&key.0], part)).sum(),
                processes.iter().map(|one| over(cells[&cell(one)], &one.count)).sum(),
            ),
        }
    }
}

/// Rounds on what placements leave.
struct Rounds {
    places: BTreeMap<u32, usize>,
    /// A generalised inverse of Z'(I - P)Z.
    inverse: Vec<Vec<f64>>,
    rank: usize,
    sum: f64,
}

impl Rounds {
    fn new(
        processes: &[ProcessSums],
        cells: &Sums<GroupMean>,
        cell_sums: &Sums<GroupMean>,
        centre: f64,
    ) -> Rounds {
        let levels: std::collections::BTreeSet<u32> = processes.iter().map(|one| one.round).collect();
        let places: BTreeMap<u32, usize> = levels.into_iter().zip(0..).collect();
        let size = places.len();
        let mut matrix = vec![vec![0.0; size]; size];
        let mut left = vec![0.0; size];
        for process in processes {
            let place = places[&process.round];
            let mean = centre + cell_sums[&cell(process)] / cells[&cell(process)];
            matrix[place][place] += process.count;
            left[place] += process.count * (process.mean - mean);
        }
        for (cell, counts) in counts_by_cell(processes, &places) {
            for (row, first) in counts.iter().enumerate().filter(|(_, first)| **first > 0.0) {
                for (column, second) in counts.iter().enumerate() {
                    matrix[row][column] -= first * second / cells[&cell];
                }
            }
        }
        let rank = invert(&mut matrix);
        let sum = quadratic(&matrix, &left);
        Rounds { places, inverse: matrix, rank, sum }
    }

    /// tr(Z'QZ) of processes for the projection on rounds beyond placements.
    fn of_processes(&self, processes: &[ProcessSums], cells: &Sums<GroupMean>) -> f64 {
        let squares = sums(processes, |one| (cell(one), one.round), |one| one.count * one.count);
        let counts = counts_by_cell(processes, &self.places);
        let mut trace = 0.0;
        for ((cell, round), square) in &squares {
            let mut direction: Vec<f64> = counts[cell].iter().map(|count| -count / cells[cell]).collect();
            direction[self.places[round]] += 1.0;
            trace += square * quadratic(&self.inverse, &direction);
        }
        trace
    }
}

fn counts_by_cell(processes: &[ProcessSums], places: &BTreeMap<u32, usize>) -> BTreeMap<GroupMean, Vec<f64>> {
    let mut counts: BTreeMap<GroupMean, Vec<f64>> = BTreeMap::new();
    for process in processes {
        let of_cell = counts.entry(cell(process)).or_insert_with(|| vec![0.0; places.len()]);
        of_cell[places[&process.round]] += process.count;
    }
    counts
}

fn quadratic(matrix: &[Vec<f64>], vector: &[f64]) -> f64 {
    let row = |row: &Vec<f64>| row.iter().zip(vector).map(|(entry, value)| entry * value).sum::<f64>();
    matrix.iter().zip(vector).map(|(entries, value)| value * row(entries)).sum()
}

/// Makes a symmetric matrix without negative eigenvalues into a generalised inverse of itself; returns its rank.
///
/// Source: Goodnight 1979, the sweep operator; pivots that are rounding are passed over, their rows and columns cleared.
fn invert(matrix: &mut [Vec<f64>]) -> usize {
    let size = matrix.len();
    let least: Vec<f64> = (0..size).map(|place| 1e-9 * matrix[place][place].abs()).collect();
    let mut rank = 0;
    for pivot in 0..size {
        let value = matrix[pivot][pivot];
        if value <= least[pivot] {
            matrix[pivot].fill(0.0);
            for entries in matrix.iter_mut() {
                entries[pivot] = 0.0;
            }
            continue;
        }
        rank += 1;
        let row: Vec<f64> = matrix[pivot].iter().map(|entry| entry / value).collect();
        for (_, entries) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != pivot) {
            let factor = entries[pivot];
            for (column, entry) in entries.iter_mut().enumerate() {
                *entry -= factor * row[column];
            }
            entries[pivot] = -factor / value;
        }
        matrix[pivot] = row;
        matrix[pivot][pivot] = 1.0 / value;
    }
    rank
}
