//! Which limit is a measured time near?
//!
//! Method: for each limit whose count is known, the least time of a unit: bytes over the bandwidth at the working set, loads that wait
//! for each other times their latency there, mispredictions times the penalty, instructions times the least time of one. What
//! takes longest binds, if it takes at least half of the time measured. A least time above the measured one says that its
//! model is wrong here; it is told and never binds.
//! Mispredictions are known in two ways. **By entropy**: no predictor can do better on independent units, if the code branches on each
//! of them; that it does is told by counts (mispredictions near the floor or above), else it stays an assumption and
//! does not bind. **By count**: of a simulated predictor, or of the CPU itself.
//! Known limits: as of the module. A simulated predictor is not this CPU's.
//! Checked: by hand.

use super::{Limits, cost};
use crate::words::short;

/// A least time above the measured one by more than this share contradicts its model; below it the intervals meet.
const TOLERANCE: f64 = 0.05;
/// Below this share of the time no limit is said to bind.
const LEAST_SHARE: f64 = 0.5;
/// Mispredictions from this share of the entropy's floor on say that the code branches on each unit.
const NEAR_FLOOR: f64 = 0.9;

/// A measured time with what is known of the work, all per unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRow {
    /// Nanoseconds.
    pub ns: f64,
    /// Bytes read that were not read a moment ago: of the input.
    pub bytes_read: Option<f64>,
    /// Bytes written likewise.
    pub bytes_written: Option<f64>,
    /// Bytes that are walked through again and again.
    pub working_set_bytes: Option<f64>,
    /// Instructions.
    pub instructions: Option<f64>,
    /// Branches of all kinds.
    pub branches: Option<f64>,
    /// Mispredictions, as counted or simulated.
    pub misses: Option<Misses>,
    /// The least mispredictions of any predictor, were the units independent and each of them branched on.
    pub floor_misses: Option<f64>,
    /// Loads that wait for the one before: of a measurement of latency.
    pub dependent_loads: Option<f64>,
}

/// Mispredictions of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misses {
    /// Per unit, of the predictor that stands for this CPU.
    pub per_unit: f64,
    /// Of the best one.
    pub fewest: f64,
    /// Counted by the CPU itself.
    pub counted: bool,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Bytes through the caches or the memory.
    Bytes,
    /// Loads that wait for each other.
    Latency,
    /// Branches that no predictor knows.
    Mispredictions,
    /// Instructions side by side.
    Instructions,
    /// Branches side by side.
    Branches,
}

impl LimitKind {
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            LimitKind::Bytes => "bytes",
            LimitKind::Latency => "latency",
            LimitKind::Mispredictions => "mispredictions",
            LimitKind::Instructions => "instructions",
            LimitKind::Branches => "branches",
        }
    }
}

/// Where the count of a limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitSource {
    /// The input and the kind of measurement say it.
    Given,
    /// Counted by the CPU.
    Counted,
    /// Traced, or simulated on a trace.
    Traced,
    /// By the entropy of the input.
    Entropy,
}

/// How a least time stands to the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitStanding {
    /// It is the largest, and at least half of the time.
    Binds,
    /// It is smaller than another, or small.
    Leaves,
    /// It would be so if the code branched on each unit, which is not known.
    Assumed,
    /// It is larger than the time: its model is wrong here.
    Exceeded,
}

/// The least time that one limit gives a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Which.
    pub limit: LimitKind,
    /// Where its count comes from.
    pub source: LimitSource,
    /// Nanoseconds.
    pub ns: f64,
    /// Of the measured time, 1 is all of it.
    pub share: f64,
    /// How it stands to the others.
    pub standing: LimitStanding,
    /// What it is made of, in words: "2.76 bytes at 96 per ns (L2)".
    pub made_of: String,
}

impl Bound {
    /// Why the measured time can be below this least time, in words; for one that is [`LimitStanding::Exceeded`].
    pub fn why_exceeded(&self) -> &'static str {
        match (self.limit, self.source) {
            (LimitKind::Bytes, _) => "its data was in a nearer cache than its size suggests",
            (LimitKind::Latency, _) => "its loads did not wait for each other",
            (LimitKind::Mispredictions, LimitSource::Entropy) => {
                "it does not branch on each unit, or the units were learned"
            }
            (LimitKind::Mispredictions, _) => {
                "this CPU predicts better than the model, or resolves these branches early"
            }
            (LimitKind::Instructions | LimitKind::Branches, _) => {
                "the CPU fuses or eliminates more of them than in assay's loops"
            }
        }
    }
}

/// All limits whose counts are known, the largest share first.
///
/// Input: a row with a positive time, and a machine's limits. Cost: nothing to speak of. Checked: by hand.
pub fn binding(row: &MeasuredRow, limits: &Limits) -> Vec<Bound> {
    let mut found: Vec<Bound> =
        [bytes(row, limits), latency(row, limits), instructions(row, limits), branches(row, limits)]
            .into_iter()
            .flatten()
            .collect();
    found.extend(mispredictions(row, limits));
    for bound in &mut found {
        bound.share = bound.ns / row.ns;
        if bound.share > 1.0 + TOLERANCE {
            bound.standing = LimitStanding::Exceeded;
        }
    }
    found.retain(|bound| bound.ns > 0.0);
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    let binds = found.iter_mut().find(|bound| bound.standing == LimitStanding::Leaves);
    if let Some(bound) = binds.filter(|bound| bound.share >= LEAST_SHARE) {
        bound.standing = LimitStanding::Binds;
    }
    found
}

/// A bound whose share is not known yet.
fn bound(limit: LimitKind, source: LimitSource, ns: f64, made_of: String) -> Bound {
    Bound { limit, source, ns, share: 0.0, standing: LimitStanding::Leaves, made_of }
}

fn bytes(row: &MeasuredRow, limits: &Limits) -> Option<Bound> {
    let set = row.working_set_bytes?;
    let (read, written) = (row.bytes_read.unwrap_or(0.0), row.bytes_written.unwrap_or(0.0));
    let speed = |operation: &str| fastest(limits, operation, set);
    // What is read and written at once is copied; the rest goes alone.
    let copied = read.min(written);
    let part =
        |bytes: f64, operation: &str| if bytes > 0.0 { Some(bytes / speed(operation)?) } else { Some(0.0) };
    let ns = part(copied, "copy")? + part(read - copied, "read")? + part(written - copied, "write")?;
    let level = limits.level_of(set).map_or("memory", |level| &level.name);
    let per_ns = (read + written - copied) / ns;
    let what = match (read > 0.0, written > 0.0) {
        (true, true) => format!("{} bytes read and {} written", short(read), short(written)),
        (true, false) => format!("{} bytes read", short(read)),
        (false, _) => format!("{} bytes written", short(written)),
    };
    Some(bound(
        LimitKind::Bytes,
        LimitSource::Given,
        ns,
        format!("{what}, {} per ns from {level}", short(per_ns)),
    ))
}

/// Bytes per nanosecond of the fastest way of an operation at a working set.
fn fastest(limits: &Limits, operation: &str, working_set_bytes: f64) -> Option<f64> {
    let own = limits.bandwidth.iter().filter(|curve| curve.operation == operation);
    own.filter_map(|curve| super::levels::at(&curve.points, working_set_bytes)).reduce(f64::max)
}

fn latency(row: &MeasuredRow, limits: &Limits) -> Option<Bound> {
    let (loads, set) = (row.dependent_loads?, row.working_set_bytes?);
    let small = limits.latency.iter().find(|curve| curve.pages == super::PageSize::Small)?;
    let each = super::levels::at(&small.points, set)?;
    let level = limits.level_of(set).map_or("memory", |level| &level.name);
    let made_of = format!("{} loads in a row, {} ns each from {level}", short(loads), short(each));
    Some(bound(LimitKind::Latency, LimitSource::Given, loads * each, made_of))
}

fn instructions(row: &MeasuredRow, limits: &Limits) -> Option<Bound> {
    let (count, each) = (row.instructions?, limits.cost(cost::INSTRUCTION)?.ns.median);
    let width = limits.clock.map(|clock| clock.cycle_ns.median / each);
    let rate =
        width.map_or(format!("{} per ns", short(1.0 / each)), |width| format!("{} a cycle", short(width)));
    let made_of = format!("{} instructions, {rate} at best", short(count));
    Some(bound(LimitKind::Instructions, source(row), count * each, made_of))
}

fn branches(row: &MeasuredRow, limits: &Limits) -> Option<Bound> {
    let each = [cost::UNTAKEN, cost::TAKEN].iter().filter_map(|name| Some(limits.cost(name)?.ns.median));
    let (count, each) = (row.branches?, each.reduce(f64::min)?);
    let made_of = format!("{} branches, {} ns each at best", short(count), short(each));
    Some(bound(LimitKind::Branches, source(row), count * each, made_of))
}

fn source(row: &MeasuredRow) -> LimitSource {
    if row.misses.is_some_and(|misses| misses.counted) { LimitSource::Counted } else { LimitSource::Traced }
}

/// By count and by entropy.
fn mispredictions(row: &MeasuredRow, limits: &Limits) -> Vec<Bound> {
    let Some(penalty) = limits.cost(cost::MISPREDICTION).map(|cost| cost.ns.median) else {
        return Vec::new();
    };
    let made_of =
        |count: f64, how: &str| format!("{} mispredictions {how}, {} ns each", short(count), short(penalty));
    let mut found = Vec::new();
    if let Some(misses) = row.misses {
        let how = if misses.counted { "counted" } else { "simulated" };
        found.push(bound(
            LimitKind::Mispredictions,
            source(row),
            misses.per_unit * penalty,
            made_of(misses.per_unit, how),
        ));
    }
    let Some(floor) = row.floor_misses.filter(|floor| *floor > 0.0) else { return found };
    // A predictor that did much better than independent units allow shows code that does not branch on each of them, or
    // units that depend on each other.
    let standing = match row.misses {
        Some(misses) if misses.fewest < NEAR_FLOOR * floor => return found,
        Some(_) => LimitStanding::Leaves,
        None => LimitStanding::Assumed,
    };
    let by_entropy = bound(
        LimitKind::Mispredictions,
        LimitSource::Entropy,
        floor * penalty,
        made_of(floor, "estimated from the input's entropy"),
    );
    found.push(Bound { standing, ..by_entropy });
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn shares(row: &MeasuredRow) -> Vec<(LimitKind, LimitSource, i64, LimitStanding)> {
        let thousandths = |share: f64| (1000.0 * share).round() as i64;
        let found = binding(row, &sample::limits());
        found
            .iter()
            .map(|bound| (bound.limit, bound.source, thousandths(bound.share), bound.standing))
            .collect()
    }

    fn misses(per_unit: f64, fewest: f64) -> Option<Misses> {
        Some(Misses { per_unit, fewest, counted: false })
    }

    #[test]
    fn a_branchy_decoder_is_bound_by_what_no_predictor_knows() {
        // 0.8 by entropy at 5 ns are 4.0 of 5.0 ns; 0.85 simulated 4.25; 20 instructions at 0.05 are 1.0; 3 branches at
        // 0.125 are 0.375; 3 bytes at 100 per ns are 0.03.
        let row = MeasuredRow {
            ns: 5.0,
            bytes_read: Some(3.0),
            working_set_bytes: Some(512.0 * 1024.0),
            instructions: Some(20.0),
            branches: Some(3.0),
            misses: misses(0.85, 0.82),
            floor_misses: Some(0.8),
            ..MeasuredRow::default()
        };
        assert_eq!(
            shares(&row),
            [
                (LimitKind::Mispredictions, LimitSource::Traced, 850, LimitStanding::Binds),
                (LimitKind::Mispredictions, LimitSource::Entropy, 800, LimitStanding::Leaves),
                (LimitKind::Instructions, LimitSource::Traced, 200, LimitStanding::Leaves),
                (LimitKind::Branches, LimitSource::Traced, 75, LimitStanding::Leaves),
                (LimitKind::Bytes, LimitSource::Given, 6, LimitStanding::Leaves),
            ]
        );
        let found = binding(&row, &sample::limits());
        assert_eq!(found[0].made_of, "0.85 mispredictions simulated, 5.00 ns each");
        assert_eq!(found[1].made_of, "0.80 mispredictions estimated from the input's entropy, 5.00 ns each");
        assert_eq!(found[2].made_of, "20.0 instructions, 5.00 a cycle at best");
        assert_eq!(found[3].made_of, "3.00 branches, 0.12 ns each at best");
        assert_eq!(found[4].made_of, "3.00 bytes read, 100 per ns from L2");
        assert!((found[0].ns - 4.25).abs() < 1e-12);
    }

    #[test]
    fn a_branchless_decoder_is_not_held_against_the_entropy() {
        let row = MeasuredRow {
            ns: 1.6,
            instructions: Some(24.0),
            misses: misses(0.01, 0.005),
            floor_misses: Some(0.8),
            ..MeasuredRow::default()
        };
        assert_eq!(
            shares(&row),
            [
                (LimitKind::Instructions, LimitSource::Traced, 750, LimitStanding::Binds),
                (LimitKind::Mispredictions, LimitSource::Traced, 31, LimitStanding::Leaves),
            ]
        );
    }

    #[test]
    fn without_counts_the_entropy_is_an_assumption_and_never_binds() {
        let row = MeasuredRow { ns: 5.0, floor_misses: Some(0.8), ..MeasuredRow::default() };
        assert_eq!(
            shares(&row),
            [(LimitKind::Mispredictions, LimitSource::Entropy, 800, LimitStanding::Assumed)]
        );
        let fast = MeasuredRow { ns: 1.6, ..row };
        assert_eq!(
            shares(&fast),
            [(LimitKind::Mispredictions, LimitSource::Entropy, 2500, LimitStanding::Exceeded)]
        );
    }

    #[test]
    fn a_least_time_above_the_measured_one_is_told_and_the_next_one_binds() {
        // 6 mispredictions would take 30 ns.
        let row = MeasuredRow {
            ns: 10.0,
            instructions: Some(120.0),
            misses: misses(6.0, 6.0),
            ..MeasuredRow::default()
        };
        assert_eq!(
            shares(&row),
            [
                (LimitKind::Mispredictions, LimitSource::Traced, 3000, LimitStanding::Exceeded),
                (LimitKind::Instructions, LimitSource::Traced, 600, LimitStanding::Binds),
            ]
        );
        // Within the tolerance it is all of the time.
        let all = MeasuredRow { ns: 1.0, instructions: Some(20.9), ..MeasuredRow::default() };
        assert_eq!(
            shares(&all),
            [(LimitKind::Instructions, LimitSource::Traced, 1045, LimitStanding::Binds)]
        );
        let beyond = MeasuredRow { ns: 1.0, instructions: Some(21.2), ..MeasuredRow::default() };
        assert_eq!(
            shares(&beyond),
            [(LimitKind::Instructions, LimitSource::Traced, 1060, LimitStanding::Exceeded)]
        );
    }

    #[test]
    fn each_model_says_in_what_it_can_be_wrong() {
        let row = MeasuredRow {
            ns: 1e-6,
            bytes_read: Some(3.0),
            working_set_bytes: Some(4096.0),
            instructions: Some(20.0),
            branches: Some(3.0),
            misses: misses(0.85, 0.82),
            floor_misses: Some(0.8),
            dependent_loads: Some(1.0),
            ..MeasuredRow::default()
        };
        let found = binding(&row, &sample::limits());
        let mut words: Vec<&str> = found.iter().map(Bound::why_exceeded).collect();
        assert!(found.iter().all(|bound| bound.standing == LimitStanding::Exceeded) && words.len() == 6);
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 5, "instructions and branches share theirs");
    }

    #[test]
    fn nothing_binds_where_every_share_is_small() {
        let row = MeasuredRow { ns: 1.0, instructions: Some(9.9), ..MeasuredRow::default() };
        assert_eq!(
            shares(&row),
            [(LimitKind::Instructions, LimitSource::Traced, 495, LimitStanding::Leaves)]
        );
        let half = MeasuredRow { ns: 1.0, instructions: Some(10.0), ..MeasuredRow::default() };
        assert_eq!(
            shares(&half),
            [(LimitKind::Instructions, LimitSource::Traced, 500, LimitStanding::Binds)]
        );
    }

    #[test]
    fn bytes_that_are_read_and_written_are_copied_and_the_rest_goes_alone() {
        // In L1: 8 copied at 80 are 0.1, 8 more written at 100 are 0.08.
        let row = MeasuredRow {
            ns: 0.2,
            bytes_read: Some(8.0),
            bytes_written: Some(16.0),
            working_set_bytes: Some(8192.0),
            ..MeasuredRow::default()
        };
        assert_eq!(shares(&row), [(LimitKind::Bytes, LimitSource::Given, 900, LimitStanding::Binds)]);
        // 16 bytes touched in 0.18 ns: 88.9 per ns.
        let made_of = &binding(&row, &sample::limits())[0].made_of;
        assert_eq!(made_of, "8.00 bytes read and 16.0 written, 88.9 per ns from L1");
        let written = MeasuredRow { bytes_read: None, ..row };
        assert_eq!(shares(&written), [(LimitKind::Bytes, LimitSource::Given, 800, LimitStanding::Binds)]);
        let unknown = MeasuredRow { working_set_bytes: None, ..written };
        assert_eq!(binding(&unknown, &sample::limits()), []);
    }

    #[test]
    fn loads_in_a_row_take_the_latency_of_their_working_set() {
        // Half of a load per unit from memory: 50 of 60 ns.
        let row = MeasuredRow {
            ns: 60.0,
            dependent_loads: Some(0.5),
            working_set_bytes: Some(1e9),
            ..MeasuredRow::default()
        };
        assert_eq!(shares(&row), [(LimitKind::Latency, LimitSource::Given, 833, LimitStanding::Binds)]);
        assert_eq!(
            binding(&row, &sample::limits())[0].made_of,
            "0.50 loads in a row, 100 ns each from memory"
        );
    }

    #[test]
    fn counted_mispredictions_are_called_so() {
        let counted = Some(Misses { per_unit: 1.0, fewest: 1.0, counted: true });
        let row = MeasuredRow { ns: 8.0, misses: counted, instructions: Some(4.0), ..MeasuredRow::default() };
        let found = binding(&row, &sample::limits());
        assert_eq!((found[0].source, found[1].source), (LimitSource::Counted, LimitSource::Counted));
        assert_eq!(found[0].made_of, "1.00 mispredictions counted, 5.00 ns each");
    }

    #[test]
    fn what_was_not_measured_gives_no_limit() {
        let mut limits = sample::limits();
        limits.costs.clear();
        limits.bandwidth.clear();
        limits.latency.clear();
        let row = MeasuredRow {
            ns: 1.0,
            bytes_read: Some(1.0),
            working_set_bytes: Some(1e4),
            instructions: Some(1.0),
            branches: Some(1.0),
            misses: misses(1.0, 1.0),
            floor_misses: Some(1.0),
            dependent_loads: Some(1.0),
            bytes_written: None,
        };
        assert_eq!(binding(&row, &limits), []);
    }
}
