//! The newest run against the last good ones.
//!
//! Good is what did not fail, from the oldest run on: one that failed is no measure for the next. Where a figure moves
//! without failing, the good ones begin anew at its new level. A contrast speaks for its candidate; a time alone is judged
//! only where no contrast speaks for the variant and its machine code is not known to be the same, since what a machine
//! does to a time is not the code's fault.

use super::code::{self, Binaries, SameCode};
use super::runs::{RunData, Runs};
use super::series::Series;
use assay_pure::compare::Gate;
use assay_pure::history::{Compared, GateReading, LevelReading, compare};
use assay_pure::words;
use assay_report::history::page::{GateCheck, GatePage, HistoryPoint, SeriesKind};

/// Good runs that the newest is compared with at most.
const MOST: usize = 12;
/// Half an interval at 95 % in standard errors.
const HALF: f64 = 1.96;

/// What the gate says.
pub fn judge(gate: Gate, series: &[Series], read: &Runs, binaries: &Binaries) -> GatePage {
    let newest = read.runs.len().checked_sub(1);
    let mut checks = Vec::new();
    for one in series {
        if one.page.kind == SeriesKind::ContrastAsBuilt
            || one.page.points.last().map(|point| point.run) != newest
        {
            continue;
        }
        if one.page.kind == SeriesKind::Time && has_contrast(one, series) {
            continue;
        }
        let mut found = check(&gate, one, read);
        if found.reading != GateReading::Passed {
            excuse(&mut found, &gate, one, series, read, binaries);
        }
        checks.push(found);
    }
    let any = |wanted: GateReading| checks.iter().any(|check| check.reading == wanted);
    let reading = if any(GateReading::Failed) {
        GateReading::Failed
    } else if any(GateReading::Undecided) || checks.is_empty() {
        GateReading::Undecided
    } else {
        GateReading::Passed
    };
    checks.sort_by_key(|check| match check.reading {
        GateReading::Failed => 0,
        GateReading::Undecided => 1,
        GateReading::Passed => 2,
    });
    GatePage { gate: gate.to_string(), reading, run: newest.filter(|_| !checks.is_empty()), checks }
}

/// Whether a contrast speaks for the variant of a time.
fn has_contrast(time: &Series, all: &[Series]) -> bool {
    let newest = time.page.points.last().map(|point| point.run);
    all.iter().any(|other| {
        other.page.kind == SeriesKind::Contrast
            && (&other.page.variant, &other.page.input) == (&time.page.variant, &time.page.input)
            && other.page.points.last().map(|point| point.run) == newest
    })
}

/// A point's logarithm with its standard error; repetitions within one file of another tool say nothing of the next file.
fn reading(series: &Series, point: &HistoryPoint) -> LevelReading {
    let own = point.lower.zip(point.upper).filter(|_| series.page.kind != SeriesKind::Imported);
    let error = own.filter(|ends| ends.0 > 0.0).map(|(lower, upper)| (upper / lower).ln() / (2.0 * HALF));
    LevelReading { value: point.value.ln(), error }
}

/// The points of the newest run's machine, and the good ones among those before it.
fn good(gate: &Gate, series: &Series, read: &Runs) -> Vec<HistoryPoint> {
    let machine = |point: &HistoryPoint| read.runs[point.run].page.machine;
    let points = &series.page.points;
    let Some((newest, before)) = points.split_last() else { return Vec::new() };
    let minimum = read.minimum_effect.ln_1p();
    let mut good: Vec<HistoryPoint> = Vec::new();
    for point in before.iter().filter(|point| machine(point) == machine(newest)) {
        if good.is_empty() {
            good.push(*point);
            continue;
        }
        let found = against(series, &good, point);
        // One that may have moved, and does not know, would make all that follow undecided: two levels look like noise.
        let doubtful = found.step.abs() >= gate.slower.ln_1p().max(minimum);
        match found.read(gate, minimum) {
            GateReading::Failed => continue,
            GateReading::Undecided if doubtful => continue,
            _ => {}
        }
        let moved = found.interval.is_some_and(|(lower, upper)| lower > 0.0 || upper < 0.0)
            && found.step.abs() >= minimum;
        if moved {
            good.clear();
        }
        good.push(*point);
        let over = good.len().saturating_sub(MOST);
        good.drain(..over);
    }
    good
}

fn against(series: &Series, good: &[HistoryPoint], point: &HistoryPoint) -> Compared {
    let readings: Vec<LevelReading> = good.iter().map(|point| reading(series, point)).collect();
    compare(&readings, reading(series, point))
}

fn check(gate: &Gate, series: &Series, read: &Runs) -> GateCheck {
    let good = good(gate, series, read);
    let newest = series.page.points.last().expect("the series ends at the newest run");
    let Some(last) = good.last() else {
        return GateCheck {
            series: series.page.label.clone(),
            reading: GateReading::Undecided,
            good: None,
            runs: 0,
            ratio: None,
            lower: None,
            upper: None,
            note: "there is no earlier run on this machine to compare with.".into(),
        };
    };
    let found = against(series, &good, newest);
    let ratio = found.step.exp();
    let against = format!(
        "against {}, the last good run {}",
        words::plural(good.len() as u64, "run"),
        read.runs[last.run].page.id
    );
    let note = match found.interval {
        Some((lower, upper)) => {
            let rests = if found.spread_known {
                ""
            } else {
                "; of the two runs' own intervals, what differs between runs is unknown"
            };
            format!(
                "{} ({}) {against}{rests}.",
                words::fine_change(ratio),
                words::fine_span(lower.exp(), upper.exp())
            )
        }
        None => format!(
            "{} {against}; single numbers do not tell how much they vary: three good runs do.",
            words::fine_change(ratio)
        ),
    };
    GateCheck {
        series: series.page.label.clone(),
        reading: found.read(gate, read.minimum_effect.ln_1p()),
        good: Some(last.run),
        runs: good.len(),
        ratio: Some(ratio),
        lower: found.interval.map(|interval| interval.0.exp()),
        upper: found.interval.map(|interval| interval.1.exp()),
        note,
    }
}

/// What did not pass passes all the same where the code cannot be at fault: a baseline that got faster, a variant of the same code.
fn excuse(
    found: &mut GateCheck,
    gate: &Gate,
    one: &Series,
    all: &[Series],
    read: &Runs,
    binaries: &Binaries,
) {
    let Some(good) = found.good else { return };
    match one.page.kind {
        SeriesKind::Contrast if found.reading == GateReading::Failed => {
            let of_baseline = all.iter().find(|other| {
                other.page.kind == SeriesKind::Time
                    && Some(&other.page.variant) == one.page.baseline.as_ref()
                    && other.page.input == one.page.input
            });
            let baseline = of_baseline.map(|time| check(gate, time, read));
            if baseline.and_then(|baseline| baseline.upper).is_some_and(|upper| upper < 1.0) {
                found.reading = GateReading::Passed;
                found.note += " The baseline got faster, not the candidate slower.";
            }
        }
        SeriesKind::Time => {
            let newest = one.page.points.last().map_or(good, |point| point.run);
            let side = |run: usize| match &read.runs[run].data {
                RunData::Campaign(campaign) => {
                    let at = one.page.points.iter().position(|point| point.run == run)?;
                    Some((&**campaign, &one.builds[at]))
                }
                RunData::Import(_) => None,
            };
            if let (Some(before), Some(after)) = (side(good), side(newest))
                && code::compare(binaries, &one.page.variant, before, after) == SameCode::Same
            {
                found.reading = GateReading::Passed;
                found.note += " Its machine code is the same as then.";
            }
        }
        _ => {}
    }
}
