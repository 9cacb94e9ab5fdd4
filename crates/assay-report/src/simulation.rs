//! Predictors on stored traces: the page of `assay trace simulate`, of one trace or many.
//!
//! The mean over traces is that of the branch prediction championships: the arithmetic mean of the mispredictions per 1000
//! instructions (MPKI), so that each trace counts alike, however long it is. Traces that do not tell their instructions have
//! none; the mean of the shares of mispredicted branches is beside it for that.
//!
//! The JSON is an interface (schema "assay.trace-simulate/2", `schema/trace-simulate-2.schema.json`, generated from the types).

use super::ink::{Ink, Palette};
use super::sheet::Sheet;
use super::table::{Column, Entry, Table};
use assay_pure::predict::PredictionKind;
use assay_pure::simulation::{Gathered, KINDS, SimulationPlan, TraceCounts, WholeTrace};
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// The value of `schema`.
pub const SIMULATION_SCHEMA: &str = "assay.trace-simulate/2";

/// Rows of traces on a terminal, at most; the JSON has all.
const ROWS: usize = 100;

/// Traces times predictors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimulationPage {
    /// Name and version of this format.
    pub schema: String,
    /// Where the figures come from: `simulated`.
    pub source: String,
    /// Which stream of each trace; absent for the sum over all.
    pub stream: Option<u32>,
    /// What was simulated, a column for each kind of branch that a predictor judges, with its means over the traces.
    pub columns: Vec<SimulatedColumn>,
    /// The traces that were simulated to their end, in the order in which they were named.
    pub traces: Vec<SimulatedTrace>,
    /// Those that could not be read.
    pub broken: Vec<BrokenTrace>,
    /// Those that were not simulated, or not by all predictors: a machine is missing.
    pub missing: Vec<String>,
}

/// A predictor and a kind of branch that it judges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimulatedColumn {
    /// The predictor, with its parameters.
    pub predictor: String,
    /// A hash of what it does, hexadecimal: a changed predictor has another.
    pub definition: String,
    /// What is predicted: `direction`, `target`, `return`.
    pub of: String,
    /// Arithmetic mean over the traces of mispredictions per 1000 instructions; absent where a trace does not tell its
    /// instructions.
    pub mean_mpki: Option<f64>,
    /// Arithmetic mean over the traces of the share of branches that were mispredicted, of those that have such branches; absent
    /// where none has.
    pub mean_rate: Option<f64>,
}

/// A trace and each column's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SimulatedTrace {
    /// As it was named.
    pub file: String,
    /// Its format.
    pub format: String,
    /// Its branches of all kinds.
    pub branches: u64,
    /// Its instructions; absent where it does not tell them.
    pub instructions: Option<u64>,
    /// Why it may not be what it seems; absent where nothing is wrong.
    pub warning: Option<String>,
    /// Branches that each column predicted.
    pub predicted: Vec<u64>,
    /// Mispredictions of each column.
    pub mispredicted: Vec<u64>,
    /// The same per 1000 instructions; null where these are unknown.
    pub mpki: Vec<Option<f64>>,
}

/// A trace that could not be read to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BrokenTrace {
    /// As it was named.
    pub file: String,
    /// What is wrong with it, and where.
    pub why: String,
}

/// A predictor, as the page must know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedPredictor {
    /// Its name.
    pub name: String,
    /// A hash of what it does.
    pub definition: u64,
    /// What it predicts.
    pub judges: &'static [PredictionKind],
}

impl SimulationPage {
    /// Of all that has come together; `predictors` are the plan's.
    pub fn of(
        plan: &SimulationPlan,
        predictors: &[SimulatedPredictor],
        gathered: &Gathered,
    ) -> SimulationPage {
        // Each column's predictor and kind, by number.
        let places: Vec<(usize, usize)> = (0..predictors.len())
            .flat_map(|at| (0..KINDS.len()).map(move |kind| (at, kind)))
            .filter(|(at, kind)| predictors[*at].judges.contains(&KINDS[*kind].0))
            .collect();
        let (mut traces, mut broken, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for (at, file) in plan.traces.iter().enumerate() {
            match gathered.trace(at) {
                WholeTrace::Simulated(counts) => traces.push(trace(file, &counts, &places)),
                WholeTrace::Broken(why) => broken.push(BrokenTrace { file: file.clone(), why }),
                WholeTrace::Missing => missing.push(file.clone()),
            }
        }
        let columns = places.iter().enumerate().map(|(column, (at, kind))| SimulatedColumn {
            predictor: predictors[*at].name.clone(),
            definition: format!("{:016x}", predictors[*at].definition),
            of: KINDS[*kind].1.to_owned(),
            mean_mpki: mean_mpki(&traces, column),
            mean_rate: mean(traces.iter().filter_map(|trace| trace.rate(column))),
        });
        SimulationPage {
            schema: SIMULATION_SCHEMA.into(),
            source: "simulated".into(),
            stream: plan.stream,
            columns: columns.collect(),
            traces,
            broken,
            missing,
        }
    }

    /// The page as indented JSON with a newline at its end.
    pub fn to_json(&self) -> String {
        crate::json::written(self)
    }

    /// Whether all that was asked for is there.
    pub fn is_whole(&self) -> bool {
        self.broken.is_empty() && self.missing.is_empty()
    }
}

fn trace(file: &str, counts: &TraceCounts, places: &[(usize, usize)]) -> SimulatedTrace {
    let mispredicted: Vec<u64> = places.iter().map(|(at, kind)| counts.mispredicted[*at][*kind]).collect();
    let per_1000 = |missed: &u64| share(*missed, counts.instructions).map(|share| share * 1000.0);
    SimulatedTrace {
        file: file.to_owned(),
        format: counts.format.clone(),
        branches: counts.branches,
        instructions: (counts.instructions > 0).then_some(counts.instructions),
        warning: counts.warning.clone(),
        predicted: places.iter().map(|(_, kind)| counts.predicted[*kind]).collect(),
        mpki: mispredicted.iter().map(per_1000).collect(),
        mispredicted,
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The arithmetic mean; none of nothing.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

/// Of all traces or of none: a mean over some of them could not be compared with a championship's.
fn mean_mpki(traces: &[SimulatedTrace], column: usize) -> Option<f64> {
    let all: Option<Vec<f64>> = traces.iter().map(|trace| trace.mpki[column]).collect();
    mean(all?.into_iter())
}

impl SimulatedTrace {
    fn rate(&self, column: usize) -> Option<f64> {
        share(self.mispredicted[column], self.predicted[column])
    }
}

impl SimulatedColumn {
    /// "tage", "zen4, return".
    fn title(&self) -> String {
        if self.of == KINDS[0].1 {
            self.predictor.clone()
        } else {
            format!("{}, {}", self.predictor, self.of)
        }
    }
}

/// The page for a terminal.
pub fn render_simulation(page: &SimulationPage, width: usize, palette: impl Into<Palette>) -> String {
    let mut sheet = Sheet::new(width, palette);
    match &page.traces[..] {
        [one] if page.is_whole() => of_one(&mut sheet, page, one),
        _ => of_many(&mut sheet, page),
    }
    sheet.into_text()
}

fn of_one(sheet: &mut Sheet, page: &SimulationPage, trace: &SimulatedTrace) {
    let branches = words::count(trace.branches);
    sheet.paragraph(
        Ink::Bold,
        "",
        &format!("{}: {}, {branches} branches, simulated", trace.file, trace.format),
    );
    sheet.gap();
    let columns = ["predicted", "mispredicted", "share", "mpki"].map(Column::right);
    let columns = [Column::left("predictor"), Column::left("of")].into_iter().chain(columns);
    let mut table = Table::new(columns.collect(), 2);
    for (at, column) in page.columns.iter().enumerate() {
        table.row(vec![
            column.predictor.clone().into(),
            column.of.clone().into(),
            words::count(trace.predicted[at]).into(),
            words::count(trace.mispredicted[at]).into(),
            trace.rate(at).map_or("-".to_owned(), words::rate).into(),
            trace.mpki[at].map_or("-".to_owned(), words::short).into(),
        ]);
    }
    sheet.table(&table);
}

fn of_many(sheet: &mut Sheet, page: &SimulationPage) {
    sheet.answer(&answer(page), (!page.is_whole()).then(|| next(page)));
    sheet.warnings(page.broken.iter().map(|broken| broken.why.clone()));
    let warned =
        page.traces.iter().filter_map(|trace| Some(format!("{}: {}", trace.file, trace.warning.as_ref()?)));
    sheet.warnings(warned);
    if page.traces.is_empty() || page.columns.is_empty() {
        return;
    }
    let per_1000 = page.traces.iter().all(|trace| trace.instructions.is_some());
    sheet.heading(if per_1000 {
        "mispredictions per 1000 instructions"
    } else {
        "mispredicted share of the branches that are predicted: not all traces tell their instructions"
    });
    let columns = page.columns.iter().map(|column| Column::right(&column.title()));
    let first = [Column::left("trace"), Column::right("branches")];
    let mut table = Table::new(first.into_iter().chain(columns).collect(), 1);
    let figure = |value: Option<f64>| -> Entry {
        value.map_or("-".to_owned(), if per_1000 { words::short } else { words::rate }).into()
    };
    for trace in page.traces.iter().take(ROWS) {
        let figures =
            (0..page.columns.len()).map(|at| figure(if per_1000 { trace.mpki[at] } else { trace.rate(at) }));
        let first = [Entry::from(trace.file.clone()), words::count(trace.branches).into()];
        table.row(first.into_iter().chain(figures).collect());
    }
    let means =
        page.columns.iter().map(|column| figure(if per_1000 { column.mean_mpki } else { column.mean_rate }));
    let branches: u64 = page.traces.iter().map(|trace| trace.branches).sum();
    let name = format!("mean of {}", words::count(page.traces.len() as u64));
    let first = [Entry::inked(name, Ink::Bold), words::count(branches).into()];
    table.row(first.into_iter().chain(means).collect());
    sheet.table(&table);
    if let Some(hidden) = page.traces.len().checked_sub(ROWS).filter(|hidden| *hidden > 0) {
        let hidden = words::plural(hidden as u64, "more trace");
        sheet.paragraph(Ink::Dim, "", &format!("{hidden} not shown here; --json has all."));
    }
}

/// Which predictor is best, and on what.
fn answer(page: &SimulationPage) -> String {
    let traces = words::plural(page.traces.len() as u64, "trace");
    let directions = || page.columns.iter().filter(|column| column.of == KINDS[0].1);
    let best = |of: fn(&SimulatedColumn) -> Option<f64>| {
        directions()
            .filter_map(|column| Some((of(column)?, column)))
            .min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let what = match (best(|column| column.mean_mpki), best(|column| column.mean_rate)) {
        _ if directions().count() < 2 => None,
        (Some((mean, column)), _) => Some((
            column,
            format!(
                "{} mispredictions per 1000 instructions, the arithmetic mean over {traces}",
                words::short(mean)
            ),
        )),
        (None, Some((mean, column))) => Some((
            column,
            format!(
                "{} of the conditional branches mispredicted, the arithmetic mean over {traces}",
                words::rate(mean)
            ),
        )),
        (None, None) => None,
    };
    match what {
        Some((column, text)) => format!("{} has the fewest: {text}.", column.predictor),
        None => format!("{traces} simulated."),
    }
}

/// What to do about what is missing.
fn next(page: &SimulationPage) -> &'static str {
    if page.missing.is_empty() {
        "the traces below could not be read and are in no mean"
    } else {
        "not all is simulated; the same command with --resume does the rest"
    }
}

#[cfg(test)]
mod tests;
