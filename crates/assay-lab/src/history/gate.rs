//! The newest run beside the earlier ones on its machine.
//!
//! What it is compared with is decided by the change points of what was measured before, never by the run that is judged
//! ([`reference`]). A contrast speaks for its candidate; a time alone is judged only where no contrast speaks for the variant
//! and its machine code is not known to be the same, since what a machine does to a time is not the code's fault.

use super::code::{self, CampaignBuild, KeptBinaries, SameCode};
use super::runs::{LeftOutRun, RecordedRuns, RunData};
use super::series::Series;
use assay_pure::compare::Gate;
use assay_pure::history::{
    GateReading, LevelChange, LevelReading, Sensitivity, compare, limit, reference, rounding,
};
use assay_pure::words;
use assay_report::history::page::{GateCheck, GatePage, HistoryPoint, SeriesKind};

/// Half an interval at 95 % in standard errors.
const HALF: f64 = 1.96;

/// What the gate says.
pub fn judge(
    gate: Gate,
    sensitivity: &Sensitivity,
    series: &[Series],
    read: &RecordedRuns,
    binaries: &KeptBinaries,
) -> GatePage {
    let page = |reading, run, checks, notes| GatePage { gate: gate.to_string(), reading, run, checks, notes };
    let Some(newest) = read.judged() else {
        let why = "The first ledger has no run of this name, and only its newest run is judged.".to_owned();
        return page(GateReading::Undecided, None, Vec::new(), vec![why]);
    };
    let mut judged = Judged {
        limit: limit(&gate, sensitivity.minimum),
        sensitivity,
        newest,
        checks: 1,
        series,
        read,
        binaries,
    };
    let own: Vec<&Series> = series.iter().filter(|one| judged.speaks_at(one, newest)).collect();
    judged.checks = own.len();
    let mut checks: Vec<GateCheck> = own.into_iter().map(|one| judged.check_and_excuse(one)).collect();
    checks.extend(judged.missing());
    let any = |wanted: GateReading| checks.iter().any(|check| check.reading == wanted);
    let reading = if any(GateReading::Failed) {
        GateReading::Failed
    } else if any(GateReading::Undecided) || checks.is_empty() || judged.newer().next().is_some() {
        GateReading::Undecided
    } else {
        GateReading::Passed
    };
    checks.sort_by_key(|check| match check.reading {
        GateReading::Failed => 0,
        GateReading::Undecided => 1,
        GateReading::Passed => 2,
    });
    let notes = judged.notes(checks.is_empty());
    page(reading, Some(newest), checks, notes)
}

/// A run that is judged, and what is needed for it.
struct Judged<'a> {
    /// The step from which on the gate fails.
    limit: f64,
    sensitivity: &'a Sensitivity,
    newest: usize,
    /// Series that are judged.
    checks: usize,
    series: &'a [Series],
    read: &'a RecordedRuns,
    binaries: &'a KeptBinaries<'a>,
}

fn point_at(series: &Series, run: usize) -> Option<&HistoryPoint> {
    series.page.points.iter().find(|point| point.run == run)
}

/// A point's logarithm with its standard error; repetitions within one file of another tool say nothing of the next file.
fn reading(series: &Series, point: &HistoryPoint, rounding: f64) -> LevelReading {
    let own = point.lower.zip(point.upper).filter(|_| series.key.kind != SeriesKind::Imported);
    let error = own.filter(|ends| ends.0 > 0.0).map(|(lower, upper)| (upper / lower).ln() / (2.0 * HALF));
    LevelReading { value: point.value.ln(), error, rounding }
}

/// What the newest point is compared with.
struct GateComparison {
    found: LevelChange,
    /// The last run of it.
    last: usize,
    /// How many runs there are: where their spread is unknown, only the last is compared with.
    runs: usize,
    /// The first run of a slowdown that nobody accepted.
    unaccepted: Option<usize>,
}

impl GateComparison {
    /// How many runs it is compared with.
    fn compared(&self) -> usize {
        if self.found.spread_known { self.runs } else { 1 }
    }
}

impl Judged<'_> {
    /// Whether a series is judged at a run: it has a figure there, and nothing speaks better for it.
    fn speaks_at(&self, one: &Series, run: usize) -> bool {
        point_at(one, run).is_some()
            && match one.key.kind {
                SeriesKind::ContrastAsBuilt => false,
                SeriesKind::Contrast | SeriesKind::Imported => true,
                SeriesKind::Time => !self.series.iter().any(|other| {
                    other.key.kind == SeriesKind::Contrast
                        && other.key.time_of(&one.key.variant) == one.key
                        && other.key.variant == one.key.variant
                        && point_at(other, run).is_some()
                }),
            }
    }

    fn id(&self, run: usize) -> &str {
        &self.read.runs[run].page.id
    }

    fn beside(&self, one: &Series) -> Option<GateComparison> {
        let newest = point_at(one, self.newest)?;
        let machine = |point: &HistoryPoint| self.read.runs[point.run].page.machine;
        let is_earlier = |point: &&HistoryPoint| point.run < newest.run && machine(point) == machine(newest);
        let earlier: Vec<HistoryPoint> = one.page.points.iter().filter(is_earlier).copied().collect();
        let values: Vec<f64> = earlier.iter().map(|point| point.value.ln()).collect();
        let chosen = reference(&values, self.limit, self.sensitivity);
        let imported = one.key.kind == SeriesKind::Imported;
        let printed: Vec<f64> = earlier.iter().chain([newest]).map(|point| point.value).collect();
        let rounding = if imported { rounding(&printed) } else { 0.0 };
        let points = &earlier[chosen.runs.clone()];
        let readings: Vec<LevelReading> = points.iter().map(|point| reading(one, point, rounding)).collect();
        Some(GateComparison {
            found: compare(&readings, reading(one, newest, rounding)),
            last: points.last()?.run,
            runs: points.len(),
            unaccepted: chosen.unaccepted.map(|at| earlier[at].run),
        })
    }

    fn check(&self, one: &Series) -> GateCheck {
        let Some(beside) = self.beside(one) else {
            let note = "there is no earlier run on this machine to compare with.";
            return undecided(one, note.into());
        };
        let ratio = beside.found.step.exp();
        let interval = beside.found.interval();
        let mut reading = beside.found.read(self.limit, self.checks);
        // Times of a machine that others use differ by more than is assumed; contrasts do not.
        if one.key.kind == SeriesKind::Time && !beside.found.spread_known && reading == GateReading::Failed {
            reading = GateReading::Undecided;
        }
        GateCheck {
            series: one.page.label.clone(),
            reading,
            good: Some(beside.last),
            runs: beside.compared(),
            ratio: Some(ratio),
            lower: interval.map(|interval| interval.0.exp()),
            upper: interval.map(|interval| interval.1.exp()),
            note: self.note(&beside, reading),
        }
    }

    fn note(&self, beside: &GateComparison, reading: GateReading) -> String {
        let step = words::fine_change(beside.found.step.exp());
        let against = match beside.compared() {
            1 => format!("against run {}", self.id(beside.last)),
            runs => {
                let runs = words::plural(runs as u64, "earlier run");
                format!("against {runs}, the last of them {}", self.id(beside.last))
            }
        };
        let Some((lower, upper)) = beside.found.interval() else {
            let why = if beside.runs < 3 {
                "one figure does not show how much it varies; three earlier runs would"
            } else {
                "all of them have the same figure, so how much it varies is unknown"
            };
            return format!("{step} {against}; {why}.");
        };
        let mut note = format!("{step} ({}) {against}", words::fine_span(lower.exp(), upper.exp()));
        if !beside.found.spread_known {
            note += "; run-to-run noise is assumed to be 1 % until three earlier runs show it";
        } else if reading == GateReading::Undecided && lower > 0.0 && beside.found.step >= self.limit {
            let series = words::plural(self.checks as u64, "series");
            note += &format!("; among {series}, one can be this much slower by chance");
        }
        note += ".";
        if let Some(run) = beside.unaccepted.filter(|_| reading != GateReading::Passed) {
            note += &format!(" It got slower in run {0}: --since {0} accepts that.", self.id(run));
        }
        note
    }

    fn check_and_excuse(&self, one: &Series) -> GateCheck {
        let mut found = self.check(one);
        match (one.key.kind, found.reading) {
            (SeriesKind::Contrast, GateReading::Failed) => self.excuse_by_baseline(&mut found, one),
            (SeriesKind::Time, GateReading::Failed | GateReading::Undecided)
                if self.same_code(one, found.good) =>
            {
                found.reading = GateReading::Passed;
                found.note += " Its machine code is the same as in that run.";
            }
            _ => {}
        }
        found
    }

    /// A contrast also rises where its baseline got faster. That is no fault of the candidate if its own time passes, or if
    /// the step without the baseline's gain is below the gate; where that is open the check is.
    fn excuse_by_baseline(&self, found: &mut GateCheck, one: &Series) {
        let time = |name: &str| {
            let key = one.key.time_of(name);
            self.series
                .iter()
                .find(|other| other.key == key)
                .filter(|other| point_at(other, self.newest).is_some())
        };
        let Some(baseline) = time(&one.key.baseline) else { return };
        let of_baseline = self.check(baseline);
        let gained = of_baseline.upper.is_some_and(|upper| upper < 1.0);
        // The same code in less time: that was the machine, and the candidate had the same one.
        if !gained || self.same_code(baseline, of_baseline.good) {
            return;
        }
        let left = |of: Option<f64>, gain: Option<f64>| of.zip(gain).map(|(of, gain)| (of * gain).ln());
        let surely = left(found.upper, of_baseline.upper).is_some_and(|left| left < self.limit);
        let maybe = left(found.ratio, of_baseline.ratio).is_some_and(|left| left < self.limit);
        let candidate = time(&one.key.variant).map(|time| self.check(time).reading);
        if surely || candidate == Some(GateReading::Passed) {
            found.reading = GateReading::Passed;
            found.note += " The baseline got faster, not the candidate slower.";
        } else if maybe {
            found.reading = GateReading::Undecided;
            found.note += " The baseline got faster; whether the candidate got slower is open.";
        }
    }

    /// Whether a time's code is known to be the same in the newest run and an earlier one.
    fn same_code(&self, time: &Series, earlier: Option<usize>) -> bool {
        let side = |run: usize| match &self.read.runs[run].data {
            RunData::Campaign(campaign) => {
                let at = time.page.points.iter().position(|point| point.run == run)?;
                Some(CampaignBuild { campaign, build: &time.builds[at] })
            }
            RunData::Import(_) => None,
        };
        earlier.and_then(side).zip(side(self.newest)).is_some_and(|(before, after)| {
            code::compare(self.binaries, &time.key.variant, before, after) == SameCode::Same
        })
    }

    /// What earlier runs like this one had and this one has not, however long ago: a variant that crashed must not pass, nor pass
    /// from the second crash on.
    fn missing(&self) -> Vec<GateCheck> {
        let missing = |one: &Series| {
            let runs = one.page.points.iter().map(|point| point.run);
            let last =
                runs.filter(|run| *run < self.newest && self.read.are_alike(*run, self.newest)).max()?;
            let is_missing = point_at(one, self.newest).is_none() && self.speaks_at(one, last);
            let (has, next) = (self.id(last), self.id(last + 1));
            let note = format!(
                "not measured in this run; it was last measured in run {has}. --since {next} accepts the gap."
            );
            is_missing.then(|| undecided(one, note))
        };
        self.series.iter().filter_map(missing).collect()
    }

    /// Campaigns that began after the run that is judged, and have no figures: what they measured may be slower.
    fn newer(&self) -> impl Iterator<Item = &LeftOutRun> {
        let judged = self.read.runs[self.newest].page.unix;
        self.read.left_out.iter().filter(move |left_out| left_out.began > judged)
    }

    fn notes(&self, no_checks: bool) -> Vec<String> {
        let mut found = Vec::new();
        if no_checks {
            found.push(format!("Run {} has no figure that could be judged.", self.id(self.newest)));
        }
        for LeftOutRun { id, why, .. } in self.newer() {
            let judged = self.id(self.newest);
            found.push(format!(
                "Campaign {id} is newer, but {why}: run {judged} was judged instead, so the gate cannot pass."
            ));
        }
        found
    }
}

fn undecided(one: &Series, note: String) -> GateCheck {
    GateCheck {
        series: one.page.label.clone(),
        reading: GateReading::Undecided,
        good: None,
        runs: 0,
        ratio: None,
        lower: None,
        upper: None,
        note,
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::{BuildName, SeriesKey};
    use super::*;
    use assay_report::history::page::HistorySeries;
    use std::path::Path;

    /// Twelve quiet runs at 10 ns or at 1, then the newest ones.
    fn series(kind: SeriesKind, names: [&str; 2], flags: &str, level: f64, newest: &[f64]) -> Series {
        let wobble = |at: usize| level * (1.0 + 0.001 * ((at * 7 % 5) as f64 - 2.0));
        let values = (0..12).map(wobble).chain(newest.iter().copied());
        let points: Vec<HistoryPoint> = values
            .enumerate()
            .map(|(run, value)| HistoryPoint { run, value, lower: None, upper: None, verdict: None })
            .collect();
        let owned = |text: &str| text.to_owned();
        let key = SeriesKey {
            kind,
            variant: owned(names[0]),
            baseline: owned(names[1]),
            input: owned("mixed"),
            compiler: String::new(),
            flags: owned(flags),
        };
        let builds = vec![BuildName { flags: owned(flags), ..BuildName::default() }; points.len()];
        let page = HistorySeries {
            label: format!("{} / {} {flags}", names[0], names[1]),
            kind,
            variant: owned(names[0]),
            baseline: None,
            input: None,
            unit: "ns".into(),
            points,
            changes: Vec::new(),
            noise: None,
            unexamined: None,
        };
        Series { key, page, builds }
    }

    fn said(series: &[Series], runs: usize) -> GatePage {
        let read = RecordedRuns::of_days(runs);
        let sensitivity = Sensitivity { minimum: 0.01, ..Sensitivity::default() };
        let binaries = KeptBinaries { store: Path::new("none"), ledgers: &[] };
        judge(Gate { slower: 0.02 }, &sensitivity, series, &read, &binaries)
    }

    /// A contrast of b and a with their times, in one build.
    fn group(flags: &str, contrast: f64, baseline: f64, candidate: f64) -> Vec<Series> {
        vec![
            series(SeriesKind::Contrast, ["b", "a"], flags, 1.0, &[contrast]),
            series(SeriesKind::Time, ["a", ""], flags, 10.0, &[baseline]),
            series(SeriesKind::Time, ["b", ""], flags, 10.0, &[candidate]),
        ]
    }

    fn of<'a>(page: &'a GatePage, label: &str) -> &'a GateCheck {
        page.checks.iter().find(|check| check.series.starts_with(label)).unwrap_or_else(|| panic!("{page:?}"))
    }

    #[test]
    fn a_faster_baseline_excuses_only_a_candidate_that_is_not_slower() {
        let faster = said(&group("", 1.1, 10.0 / 1.1, 10.0), 13);
        assert_eq!(of(&faster, "b / a").reading, GateReading::Passed, "{faster:?}");
        assert!(of(&faster, "b / a").note.contains("baseline got faster"));
        // The baseline gained 3 %, and the candidate lost 7 %.
        let both = said(&group("", 1.1, 9.7, 10.67), 13);
        assert_eq!((of(&both, "b / a").reading, both.reading), (GateReading::Failed, GateReading::Failed));
    }

    #[test]
    fn a_baseline_of_other_flags_excuses_nothing() {
        let mut all = group("O3", 1.0, 10.0 / 1.1, 10.0 / 1.1);
        all.extend(group("O2", 1.1, 10.0, 11.0));
        let found = said(&all, 13);
        assert_eq!(of(&found, "b / a O2").reading, GateReading::Failed, "{found:?}");
        // Nor does a contrast of one build speak for a time of another.
        all.retain(|one| one.key.flags == "O2" || one.key.kind == SeriesKind::Time);
        let found = said(&all, 13);
        assert!(found.checks.iter().any(|check| check.series.starts_with("b /  O3")), "{found:?}");
    }

    #[test]
    fn what_the_run_before_had_is_missed() {
        let crashed = series(SeriesKind::Contrast, ["b", "a"], "", 1.0, &[]);
        let alive = series(SeriesKind::Contrast, ["c", "a"], "", 1.0, &[1.0]);
        let found = said(&[crashed, alive], 13);
        assert_eq!(
            (of(&found, "c / a").reading, found.reading),
            (GateReading::Passed, GateReading::Undecided)
        );
        assert!(of(&found, "b / a").note.contains("it was last measured in run 12"), "{found:?}");
    }

    #[test]
    fn what_vanished_is_missed_until_it_is_accepted() {
        let mut crashed = series(SeriesKind::Contrast, ["b", "a"], "", 1.0, &[]);
        crashed.page.points.truncate(9);
        let alive = series(SeriesKind::Contrast, ["c", "a"], "", 1.0, &[1.0]);
        let found = said(&[crashed, alive], 13);
        assert_eq!(found.reading, GateReading::Undecided, "three runs after it vanished: {found:?}");
        let note = &of(&found, "b / a").note;
        assert!(note.contains("last measured in run 9. --since 10 accepts the gap"), "{note}");
    }

    #[test]
    fn a_newer_campaign_without_figures_leaves_the_gate_undecided() {
        let quiet = [series(SeriesKind::Contrast, ["b", "a"], "", 1.0, &[1.0])];
        let said = |began: f64, why| {
            let mut read = RecordedRuns::of_days(13);
            read.left_out.push(LeftOutRun { id: 14, began, why });
            let sensitivity = Sensitivity { minimum: 0.01, ..Sensitivity::default() };
            let binaries = KeptBinaries { store: Path::new("none"), ledgers: &[] };
            judge(Gate { slower: 0.02 }, &sensitivity, &quiet, &read, &binaries)
        };
        let newer = said(86_400.0 * 20.0, "did not end");
        assert_eq!(newer.reading, GateReading::Undecided);
        assert!(newer.notes[0].contains("Campaign 14 is newer, but did not end: run 13"), "{newer:?}");
        assert_eq!(said(86_400.0 * 20.0, "cannot be read").reading, GateReading::Undecided);
        assert_eq!(said(86_400.0 * 2.0, "did not end").reading, GateReading::Passed, "an older one");
    }

    #[test]
    fn where_the_spread_is_unknown_only_the_last_run_is_compared_and_that_is_said() {
        let mut short = series(SeriesKind::Contrast, ["b", "a"], "", 1.0, &[]);
        short.page.points.truncate(3);
        for point in &mut short.page.points {
            (point.lower, point.upper) = (Some(point.value * 0.999), Some(point.value * 1.001));
        }
        short.builds.truncate(3);
        let found = said(&[short], 3);
        let check = of(&found, "b / a");
        assert!(
            check.note.contains("against run 2;") || check.note.contains("against run 2 "),
            "{}",
            check.note
        );
        assert_eq!((check.runs, check.note.contains("earlier runs,")), (1, false), "{}", check.note);
    }

    #[test]
    fn without_a_figure_there_is_a_reason() {
        let found = said(&[], 3);
        assert_eq!(found.reading, GateReading::Undecided);
        assert!(found.notes[0].contains("no figure that could be judged"), "{found:?}");
        assert!(said(&[], 0).notes[0].contains("only its newest run is judged"));
    }
}
