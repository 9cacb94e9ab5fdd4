//! Series of a history: the same contrast, time or benchmark over all runs.

use super::runs::{CampaignData, RecordedRuns, RunData};
use assay_pure::experiment::Axis;
use assay_pure::history::{FEWEST, Sensitivity, changes_by_machine, spread};
use assay_pure::stats::quantile::median;
use assay_pure::words;
use assay_report::history::page::{ChangePoint, HistoryPoint, HistorySeries, SeriesKind};
use assay_report::page::{PageCell, PageContrast};
use std::collections::{BTreeMap, BTreeSet};

/// How a variant was compiled; both empty for imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildName {
    /// The compiler's name.
    pub compiler: String,
    /// The flag set's name.
    pub flags: String,
}

/// A series, and where its points come from.
pub struct Series {
    /// What tells it from the others.
    pub key: SeriesKey,
    /// As shown.
    pub page: HistorySeries,
    /// Build of each point.
    pub builds: Vec<BuildName>,
}

/// What tells series apart, and orders them: contrasts first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesKey {
    /// What it is of.
    pub kind: SeriesKind,
    /// The candidate, the variant, or the benchmark of an import.
    pub variant: String,
    /// Of a contrast; else empty.
    pub baseline: String,
    /// Empty of imports.
    pub input: String,
    /// Empty where there is only one; of imports the tool.
    pub compiler: String,
    /// Empty where there is only one; of imports the unit.
    pub flags: String,
}

impl SeriesKey {
    /// The key of a variant's time in the same build on the same input.
    pub fn time_of(&self, variant: &str) -> SeriesKey {
        SeriesKey {
            kind: SeriesKind::Time,
            variant: variant.to_owned(),
            baseline: String::new(),
            ..self.clone()
        }
    }

    /// The key of the same contrast in the code.
    pub fn of_code(&self) -> SeriesKey {
        SeriesKey { kind: SeriesKind::Contrast, ..self.clone() }
    }
}

/// How builds are named in keys: a compiler that was replaced by its next version goes on in the same series.
struct Naming {
    compilers: bool,
    families: bool,
    flags: bool,
}

impl Naming {
    fn of(read: &RecordedRuns) -> Naming {
        let mut naming = Naming { compilers: false, families: true, flags: false };
        for run in &read.runs {
            let RunData::Campaign(campaign) = &run.data else { continue };
            let names: BTreeSet<&str> =
                campaign.page.cells.iter().map(|cell| cell.compiler.as_str()).collect();
            let families: BTreeSet<&str> = names.iter().map(|name| family(name)).collect();
            let flags: BTreeSet<&str> = campaign.page.cells.iter().map(|cell| cell.flags.as_str()).collect();
            naming.compilers |= names.len() > 1;
            naming.families &= families.len() == names.len();
            naming.flags |= flags.len() > 1;
        }
        naming
    }

    fn compiler(&self, name: &str) -> String {
        match (self.compilers, self.families) {
            (false, _) => String::new(),
            (true, true) => family(name).to_owned(),
            (true, false) => name.to_owned(),
        }
    }

    fn flags(&self, name: &str) -> String {
        if self.flags { name.to_owned() } else { String::new() }
    }
}

/// "gcc" of "gcc-12".
fn family(name: &str) -> &str {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if end.len() < name.len() { end.strip_suffix('-').unwrap_or(name) } else { name }
}

#[derive(Default)]
struct SeriesPoints {
    unit: String,
    tool: String,
    points: Vec<HistoryPoint>,
    builds: Vec<BuildName>,
}

/// All series, contrasts first.
pub fn all(read: &RecordedRuns) -> Vec<Series> {
    let naming = Naming::of(read);
    let mut found: BTreeMap<SeriesKey, SeriesPoints> = BTreeMap::new();
    for (number, run) in read.runs.iter().enumerate() {
        match &run.data {
            RunData::Campaign(campaign) => add_campaign(&mut found, &naming, number, campaign),
            RunData::Import(import) => add_import(&mut found, number, import),
        }
    }
    let measured = found.keys().filter(|key| key.kind != SeriesKind::Imported);
    let inputs: BTreeSet<&str> = measured.map(|key| key.input.as_str()).collect();
    let several = inputs.len() > 1;
    found.into_iter().map(|(key, gathered)| series(key, gathered, several)).collect()
}

fn key(kind: SeriesKind, variant: &str, baseline: &str, input: &str) -> SeriesKey {
    let owned = str::to_owned;
    SeriesKey {
        kind,
        variant: owned(variant),
        baseline: owned(baseline),
        input: owned(input),
        compiler: String::new(),
        flags: String::new(),
    }
}

fn add_campaign(
    found: &mut BTreeMap<SeriesKey, SeriesPoints>,
    naming: &Naming,
    run: usize,
    campaign: &CampaignData,
) {
    let mut add = |mut key: SeriesKey, build: BuildName, unit: &str, point: HistoryPoint| {
        if !(point.value.is_finite() && point.value > 0.0) {
            return;
        }
        (key.compiler, key.flags) = (naming.compiler(&build.compiler), naming.flags(&build.flags));
        let gathered = found.entry(key).or_default();
        gathered.unit = unit.to_owned();
        gathered.points.push(point);
        gathered.builds.push(build);
    };
    let variants = campaign.page.contrasts.iter().filter(|contrast| contrast.axis == Axis::Variant);
    for contrast in variants {
        let PageContrast { candidate, baseline, input, compiler, flags, .. } = contrast;
        let build = BuildName { compiler: compiler.clone(), flags: flags.clone() };
        let verdict = Some(contrast.verdict);
        for (kind, ratio, verdict) in [
            (SeriesKind::Contrast, contrast.code, verdict),
            (SeriesKind::ContrastAsBuilt, contrast.as_built, None),
        ] {
            if let Some(found) = ratio {
                let point = HistoryPoint {
                    run,
                    value: found.ratio,
                    lower: Some(found.lower),
                    upper: Some(found.upper),
                    verdict,
                };
                add(key(kind, candidate, baseline, input), build.clone(), "ratio", point);
            }
        }
    }
    for cell in &campaign.page.cells {
        let PageCell { variant, input, compiler, flags, ns_per_unit: Some(time), .. } = cell else {
            continue;
        };
        let (lower, upper) = (Some(time.lower), Some(time.upper));
        let point = HistoryPoint { run, value: time.median, lower, upper, verdict: None };
        let build = BuildName { compiler: compiler.clone(), flags: flags.clone() };
        add(key(SeriesKind::Time, variant, "", input), build, "ns", point);
    }
}

fn add_import(found: &mut BTreeMap<SeriesKey, SeriesPoints>, run: usize, import: &crate::store::ImportedRow) {
    let mut by_name: BTreeMap<(&str, &str), Vec<&crate::store::ImportedFigure>> = BTreeMap::new();
    for figure in &import.file.figures {
        by_name.entry((&figure.benchmark, &figure.unit)).or_default().push(figure);
    }
    for ((benchmark, unit), figures) in by_name {
        let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
        let Some(value) = median(&values).filter(|value| value.is_finite() && *value > 0.0) else { continue };
        let own = figures[0].interval.filter(|_| figures.len() == 1);
        // Tools are series of their own, and so are units: a number means what its tool means by it.
        let mut key = key(SeriesKind::Imported, benchmark, "", "");
        (key.compiler, key.flags) = (import.file.tool.clone(), unit.to_owned());
        let gathered = found.entry(key).or_default();
        gathered.unit = unit.to_owned();
        gathered.tool = import.file.tool.clone();
        gathered.points.push(HistoryPoint {
            run,
            value,
            lower: own.map(|own| own.0),
            upper: own.map(|own| own.1),
            verdict: None,
        });
        gathered.builds.push(BuildName::default());
    }
}

fn series(key: SeriesKey, gathered: SeriesPoints, several_inputs: bool) -> Series {
    let mut label = match key.kind {
        SeriesKind::Contrast => format!("{} / {}", key.variant, key.baseline),
        SeriesKind::ContrastAsBuilt => format!("{} / {} as built", key.variant, key.baseline),
        SeriesKind::Time => key.variant.clone(),
        SeriesKind::Imported => format!("{}: {}", gathered.tool, key.variant),
    };
    let imported = key.kind == SeriesKind::Imported;
    if !imported {
        let more = [key.input.as_str(), &key.compiler, &key.flags];
        for part in more.iter().skip(usize::from(!several_inputs)).filter(|part| !part.is_empty()) {
            label += &format!(", {part}");
        }
    }
    let page = HistorySeries {
        label,
        kind: key.kind,
        variant: key.variant.clone(),
        baseline: (!key.baseline.is_empty()).then(|| key.baseline.clone()),
        input: (!imported).then(|| key.input.clone()),
        unit: gathered.unit,
        points: gathered.points,
        changes: Vec::new(),
        noise: None,
        unexamined: None,
    };
    Series { key, page, builds: gathered.builds }
}

/// Points as the search for changes takes them.
pub fn logarithms(series: &HistorySeries, read: &RecordedRuns) -> Vec<(usize, f64)> {
    series.points.iter().map(|point| (read.runs[point.run].page.machine, point.value.ln())).collect()
}

/// Looks for changes.
pub fn examine(series: &mut Series, read: &RecordedRuns, sensitivity: &Sensitivity) {
    let points = logarithms(&series.page, read);
    let most = (0..read.machines().len())
        .map(|machine| points.iter().filter(|point| point.0 == machine).count())
        .max();
    let most = most.unwrap_or(0);
    if most < FEWEST {
        let there = if most == 1 { "there is" } else { "there are" };
        let runs = words::plural(most as u64, "run");
        series.page.unexamined =
            Some(format!("changes are detected from {FEWEST} runs on one machine; {there} {runs}"));
    }
    let found = changes_by_machine(&points, sensitivity);
    series.page.noise = spread(&points, &found).map(f64::exp_m1);
    let run = |at: usize| series.page.points[at].run;
    series.page.changes = found
        .iter()
        .map(|change| ChangePoint {
            before: run(change.before),
            at: run(change.at),
            told_at: run(change.told_at),
            ratio: change.step.exp(),
            lower: change.lower.exp(),
            upper: change.upper.exp(),
            p: change.p,
            causes: Vec::new(),
            sentence: String::new(),
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_s_family_is_its_name_without_the_version() {
        for (name, wanted) in [
            ("gcc-12", "gcc"),
            ("clang-14", "clang"),
            ("gcc", "gcc"),
            ("rustc-1.89.0", "rustc"),
            ("x86", "x86"),
        ] {
            assert_eq!(family(name), wanted);
        }
    }
}
