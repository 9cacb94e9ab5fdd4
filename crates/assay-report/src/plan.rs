//! What would be measured: the view of `assay plan`. Nothing was built or measured to make it, so all times are
//! estimates and are called so.

use serde::{Deserialize, Serialize};

use super::ink::Ink;
use super::page::{Axis, PageCompiler, PageFailure, PageFlagSet, PageInput, PageVariant};
use super::sheet::Sheet;
use super::table::{Column, Entry, Table};
use assay_pure::words;

/// The value of `schema` in every plan written by this version.
pub const PLAN_SCHEMA: &str = "assay.plan/1";

/// Hexadecimal digits of a digest that a table shows.
const DIGEST_SHOWN: usize = 12;

/// The plan of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanPage {
    /// Name and version of this format.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The question in the author's words.
    pub question: String,
    /// What the author expects.
    pub prediction: Option<String>,
    /// The item of work every figure is divided by, singular.
    pub unit: String,
    /// The variant all others are compared with.
    pub baseline: String,
    /// All variants, in file order.
    pub variants: Vec<PageVariant>,
    /// All inputs, in file order.
    pub inputs: Vec<PageInput>,
    /// The compilers that the file's names matched.
    pub compilers: Vec<PageCompiler>,
    /// All flag sets, in file order.
    pub flag_sets: Vec<PageFlagSet>,
    /// Paddings ahead of all code, bytes.
    pub phases: Vec<u32>,
    /// Rotations before the first look at the verdicts.
    pub rotations: u32,
    /// Rotations at most.
    pub max_rotations: u32,
    /// Cells to be measured: variant × input × compiler × flags, without the skipped.
    pub cells: u64,
    /// Contrasts to be judged.
    pub contrasts: u64,
    /// The axes that contrasts run along.
    pub along: Vec<Axis>,
    /// What will be left out, with the reason.
    pub skipped: Vec<PageFailure>,
    /// Translation units to compile.
    pub compiles: Amount,
    /// Links to make.
    pub links: Amount,
    /// Measured programs alive at most.
    pub processes: u64,
    /// Answers to be proven.
    pub answers: u64,
    /// The budget of measuring, seconds.
    pub budget_seconds: f64,
    /// How long each part takes, about.
    pub estimate: Estimate,
    /// Seed of the plan.
    pub seed: u64,
}

/// How many of something, and how many of those need no work because they are in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Amount {
    /// All.
    pub total: u64,
    /// In the store already.
    pub cached: u64,
}

/// Estimated seconds by part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Compiling and linking what is not in the store.
    pub build_seconds: f64,
    /// Making inputs and proving answers.
    pub answers_seconds: f64,
    /// Measuring until the first look at the verdicts.
    pub first_look_seconds: f64,
    /// Measuring at most.
    pub measuring_seconds: f64,
}

/// The plan as text, no line wider than `width` columns (at least 40), with ANSI colours if `colour`.
pub fn render_plan(plan: &PlanPage, width: usize, colour: bool) -> String {
    let mut sheet = Sheet::new(width, colour);
    sheet.paragraph(Ink::Bold, "", &format!("{}: {}", plan.experiment, plan.question));
    if let Some(prediction) = &plan.prediction {
        sheet.labelled(Ink::Dim, "expected  ", prediction);
    }
    axes(plan, &mut sheet);
    sheet.heading("Inputs");
    sheet.table(&input_table(&plan.inputs, &plan.unit));
    if !plan.skipped.is_empty() {
        sheet.heading("Left out");
        for skipped in &plan.skipped {
            sheet.labelled(Ink::Doubt, &format!("  {}: ", skipped.what), &skipped.reason);
        }
    }
    amounts(plan, &mut sheet);
    sheet.into_text()
}

/// Inputs with size, digest and a line about each; also used by the page.
pub(super) fn input_table(inputs: &[PageInput], unit: &str) -> Table {
    let columns = vec![
        Column::left("input"),
        Column::right(&words::plural_noun(unit)),
        Column::right("bytes"),
        Column::left("sha256").optional(1),
        Column::left("what it is").wrapping(),
    ];
    let mut table = Table::new(columns, 1);
    for input in inputs {
        // The author's line says it better than the recipe; the JSON has both.
        let what = input.summary.clone().or_else(|| input.recipe.clone()).unwrap_or_default();
        let digest: String = input.digest.chars().take(DIGEST_SHOWN).collect();
        table.row(vec![
            input.name.clone().into(),
            words::count(input.units).into(),
            words::bytes(input.bytes).into(),
            Entry::inked(digest, Ink::Dim),
            what.into(),
        ]);
    }
    table
}

fn axes(plan: &PlanPage, sheet: &mut Sheet) {
    sheet.heading("Axes");
    let variants: Vec<String> =
        plan.variants.iter().map(|variant| variant_text(variant, &plan.baseline)).collect();
    let compilers: Vec<String> = plan.compilers.iter().map(PageCompiler::told).collect();
    let flags: Vec<String> = plan.flag_sets.iter().map(PageFlagSet::told).collect();
    let phases: Vec<String> = plan.phases.iter().map(u32::to_string).collect();
    let inputs: Vec<&str> = plan.inputs.iter().map(|input| input.name.as_str()).collect();
    let placement = format!(
        "{} to {} rotations of phases {} bytes, and one ordinary link (as built)",
        plan.rotations,
        plan.max_rotations,
        phases.join(", ")
    );
    for (label, text) in [
        ("variants", variants.join("; ")),
        ("inputs", inputs.join(", ")),
        ("compilers", compilers.join(", ")),
        ("flags", flags.join(", ")),
        ("placement", placement),
    ] {
        let text = if text.is_empty() { "none".to_owned() } else { text };
        sheet.labelled(Ink::Dim, &format!("  {label:<9}  "), &text);
    }
}

fn variant_text(variant: &PageVariant, baseline: &str) -> String {
    let role = if variant.name == baseline { " (baseline)" } else { "" };
    let about = variant.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    format!("{}{role}{about}", variant.name)
}

fn amounts(plan: &PlanPage, sheet: &mut Sheet) {
    sheet.heading("What it takes");
    let amount = |amount: Amount, noun: &str| {
        let cached = if amount.cached > 0 {
            format!(", {} cached", words::count(amount.cached))
        } else {
            String::new()
        };
        format!("{}{cached}", words::plural(amount.total, noun))
    };
    let estimate = &plan.estimate;
    let before = estimate.build_seconds + estimate.answers_seconds;
    let time = format!(
        "about {} to build, {} for inputs and answers, {} of measuring to the first verdicts and {} at most (budget {}); {} in all",
        words::duration(estimate.build_seconds),
        words::duration(estimate.answers_seconds),
        words::duration(estimate.first_look_seconds),
        words::duration(estimate.measuring_seconds),
        words::duration(plan.budget_seconds),
        words::duration(before + estimate.measuring_seconds),
    );
    let axes: Vec<&str> = plan.along.iter().map(|axis| axis.name()).collect();
    let contrasts = words::plural(plan.contrasts, "contrast");
    let cells = format!("{}, {contrasts} along {}", words::plural(plan.cells, "cell"), words::list(&axes));
    let build = format!("{}; {}", amount(plan.compiles, "compilation"), amount(plan.links, "link"));
    let programs =
        format!("{} started, one of them measuring at a time", words::plural(plan.processes, "program"));
    for (label, text) in [
        ("cells", cells),
        ("build", build),
        ("programs", programs),
        ("answers", format!("{} checked before timing", words::plural(plan.answers, "answer"))),
        ("time", time),
        ("seed", plan.seed.to_string()),
    ] {
        sheet.labelled(Ink::Dim, &format!("  {label:<9}  "), &text);
    }
}
