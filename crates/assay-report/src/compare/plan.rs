//! What a comparison would do: the view of `assay compare --plan`. Nothing was built or measured to make it.
//!
//! The JSON is an interface (schema "assay.comparison-plan/1", `schema/comparison-plan-1.schema.json`, generated from the types).

use crate::ink::Ink;
use crate::sheet::Sheet;
use crate::table::{Column, Table};
use assay_pure::words;
use serde::{Deserialize, Serialize};

/// The value of `schema` in every plan written by this version.
pub const COMPARE_PLAN_SCHEMA: &str = "assay.comparison-plan/1";
/// Letters of a commit that are shown.
const COMMIT_SHOWN: usize = 12;

/// The plan of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparePlan {
    /// Name and version of this format.
    pub schema: String,
    /// Which benchmark of the folder the commands are of, where they were found there.
    pub found: Option<String>,
    /// The build command.
    pub build: Option<String>,
    /// The benchmark command, or both.
    pub bench: Vec<String>,
    /// What would be compared, the baseline first.
    pub sides: Vec<PlannedSide>,
    /// Fewest shuffled orders.
    pub fewest_rotations: u32,
    /// Fewest runs of the benchmark command.
    pub fewest_runs: u64,
    /// Budget of measuring, seconds.
    pub budget_seconds: f64,
    /// What is needed, by the time of one run.
    pub times: Vec<PlannedRun>,
}

/// A side that would be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedSide {
    /// As the user called it.
    pub name: String,
    /// Full hash of the commit.
    pub revision: Option<String>,
}

/// What is needed if one run takes so long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedRun {
    /// Seconds of one run.
    pub run_seconds: f64,
    /// Runs of an earlier comparison of the same commands that this is the median of; 0: an assumption.
    pub measured_runs: u64,
    /// Least budget, seconds.
    pub needed_seconds: f64,
    /// Shuffled orders that the budget allows; none: not even the fewest.
    pub rotations: Option<u32>,
    /// Rounds that it allows.
    pub rounds: Option<u32>,
    /// Runs that it allows.
    pub runs: Option<u64>,
}

/// The plan as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_compare_plan(plan: &ComparePlan, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.paragraph(Ink::Bold, "", &title(plan));
    if let Some(found) = &plan.found {
        sheet.labelled(Ink::Dim, "  found      ", found);
    }
    if let Some(build) = &plan.build {
        sheet.labelled(Ink::Dim, "  build      ", build);
    }
    for bench in &plan.bench {
        sheet.labelled(Ink::Dim, "  benchmark  ", bench);
    }
    sheet.labelled(Ink::Dim, "  runs       ", &runs(plan));
    sheet.heading("What it takes");
    sheet.table(&table(plan));
    let too_long = plan.times.iter().find(|time| time.rotations.is_none());
    if let Some(time) = too_long {
        let remedy = format!(
            "If one run takes {}, give --budget {:.0} or more, or choose fewer benchmarks (--filter) or shorter ones.",
            words::duration(time.run_seconds),
            time.needed_seconds.ceil()
        );
        sheet.gap();
        sheet.paragraph(Ink::Plain, "  ", &remedy);
    }
    sheet.into_text()
}

fn title(plan: &ComparePlan) -> String {
    let names: Vec<String> = plan.sides.iter().map(named).collect();
    match &names[..] {
        [one] => format!(
            "{one} alone: how much placement changes each benchmark; a revision to compare it with: assay compare main"
        ),
        [baseline, candidate] => format!("{baseline} and {candidate} would be compared"),
        _ => words::list(&names),
    }
}

fn named(side: &PlannedSide) -> String {
    match &side.revision {
        Some(commit) => format!("{} ({})", side.name, commit.get(..COMMIT_SHOWN).unwrap_or(commit)),
        None => side.name.clone(),
    }
}

fn runs(plan: &ComparePlan) -> String {
    format!(
        "at least {} of the benchmark command: {} at four offsets, and as built, of {}",
        words::count(plan.fewest_runs),
        words::plural(u64::from(plan.fewest_rotations), "shuffled order"),
        words::plural(plan.sides.len() as u64, "side")
    )
}

fn table(plan: &ComparePlan) -> Table {
    let budget = format!("within {}", words::duration(plan.budget_seconds));
    let columns = vec![
        Column::right("one run"),
        Column::left("known from"),
        Column::right("needs at least"),
        Column::left(&budget).wrapping(),
    ];
    let mut table = Table::new(columns, 1);
    for time in &plan.times {
        let source = match time.measured_runs {
            0 => "assumed".to_owned(),
            runs => format!("median of {}", words::plural(runs, "run")),
        };
        let within = match (time.rotations, time.rounds, time.runs) {
            (Some(rotations), Some(rounds), Some(runs)) => format!(
                "{}, {}: {}",
                words::plural(u64::from(rotations), "order"),
                words::plural(u64::from(rounds), "round"),
                words::plural(runs, "run")
            ),
            _ => "too short".to_owned(),
        };
        table.row(vec![
            words::duration(time.run_seconds).into(),
            source.into(),
            words::duration(time.needed_seconds).into(),
            within.into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> ComparePlan {
        let time = |run_seconds: f64, measured_runs, rotations: Option<u32>| PlannedRun {
            run_seconds,
            measured_runs,
            needed_seconds: 34.0 * run_seconds,
            rotations,
            rounds: rotations.map(|_| 2),
            runs: rotations.map(|rotations| 2 * 2 * (1 + 4 * u64::from(rotations))),
        };
        let side = |name: &str, revision: Option<&str>| PlannedSide {
            name: name.into(),
            revision: revision.map(str::to_owned),
        };
        ComparePlan {
            schema: COMPARE_PLAN_SCHEMA.into(),
            found: Some("benchmark `parse` of Cargo.toml (criterion)".into()),
            build: Some("cargo bench --no-run --bench parse".into()),
            bench: vec!["cargo bench --bench parse".into()],
            sides: vec![side("main", Some("0123456789abcdef")), side("the working tree", None)],
            fewest_rotations: 4,
            fewest_runs: 34,
            budget_seconds: 140.0,
            times: vec![time(1.0, 0, Some(8)), time(5.0, 0, None), time(2.0, 66, Some(4))],
        }
    }

    #[test]
    fn the_schema_is_that_of_the_plan() {
        let bare = ComparePlan { found: None, build: None, times: Vec::new(), ..plan() };
        crate::schema::assert_published(COMPARE_PLAN_SCHEMA, &[plan()], &[bare]);
    }

    #[test]
    fn a_plan_says_what_is_built_and_what_budget_it_takes() {
        let text = render_compare_plan(&plan(), 100, false);
        for wanted in [
            "main (0123456789ab) and the working tree would be compared",
            "  found      benchmark `parse` of Cargo.toml (criterion)",
            "  build      cargo bench --no-run --bench parse",
            "  benchmark  cargo bench --bench parse",
            "at least 34 of the benchmark command: 4 shuffled orders at four offsets, and as built,\n             of 2 sides",
            "8 orders, 2 rounds: 132 runs",
            "median of 66 runs",
            "too short",
            "If one run takes 5.0 s, give --budget 170 or more",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(render_compare_plan(&plan(), 60, false).lines().all(|line| line.chars().count() <= 60));
    }
}
