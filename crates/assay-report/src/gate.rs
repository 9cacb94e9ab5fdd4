//! What became of a gate: of a comparison of two builds, or of an experiment's variants.

pub use crate::page::GateResult;

use crate::compare::ComparePage;
use crate::ink::Ink;
use crate::page::{Axis, Page, PageCell, PageContrast, Stopped};
use crate::prose::escape;
use crate::sheet::Sheet;
use assay_pure::compare::{Gate, GateLimits, Gates, LimitReading, Rise};
use assay_pure::experiment::CountedEvent;
use assay_pure::words;

impl GateResult {
    /// The gate on an experiment: each variant beside the baseline. It passes where all were compared and none can be slower by
    /// what it does not allow.
    pub fn of_campaign(page: &Page, gates: &Gates) -> Self {
        let margin = page.campaign.minimum_effect;
        let contrasts = page.along(Axis::Variant).map(|found| (name_of(page, found), found));
        let contrasts: Vec<(String, &PageContrast)> = contrasts.collect();
        let named = |told: &dyn Fn(Gate, &PageContrast) -> bool| -> Vec<String> {
            let told =
                contrasts.iter().filter(|(name, found)| gates.of(name).is_some_and(|gate| told(gate, found)));
            told.map(|(name, _)| name.clone()).collect()
        };
        let mut failed = named(&|gate, found| gate.fails(found.verdict, found.code));
        let mut undecided =
            named(&|gate, found| gate.is_open(found.verdict, found.code, found.proven, margin));
        let (exceeded, unknown) = memory_of_campaign(page, gates, &contrasts);
        failed.extend(exceeded);
        undecided.extend(unknown);
        let missing =
            not_compared(page).into_iter().filter(|name| gates.limits(name) != GateLimits::default());
        undecided.extend(missing.map(|name| format!("{name} (not compared)")));
        if page.campaign.stopped_because == Stopped::Interrupted {
            undecided.push("the rest of the interrupted campaign".into());
        }
        let names: Vec<String> = contrasts.into_iter().map(|(name, _)| name).collect();
        Self::of(gates, &names, failed, undecided)
    }

    /// The gate on two builds: each benchmark of the candidate beside the baseline's. It passes where all were compared and none
    /// can be slower by what it does not allow.
    pub fn of_comparison(page: &ComparePage, gates: &Gates) -> Self {
        let margin = page.measured.minimum_effect;
        let judged = page.benchmarks.iter().filter_map(|found| Some((found, found.verdict?)));
        let judged = || {
            judged.clone().filter_map(|(found, verdict)| Some((found, verdict, gates.of(&found.benchmark)?)))
        };
        let failed = judged().filter(|(found, verdict, gate)| gate.fails(*verdict, found.code));
        let mut failed: Vec<String> = failed.map(|(found, ..)| found.benchmark.clone()).collect();
        let open = judged()
            .filter(|(found, verdict, gate)| gate.is_open(*verdict, found.code, found.proven, margin));
        let mut undecided: Vec<String> = open.map(|(found, ..)| found.benchmark.clone()).collect();
        let baseline = page.sides.first().map(|side| &side.name);
        let vanished = page.one_sided.iter().filter(|one| Some(&one.only_in) == baseline);
        let vanished = vanished.filter(|one| gates.of(&one.benchmark).is_some());
        undecided.extend(vanished.map(|one| format!("{} (only in {})", one.benchmark, one.only_in)));
        let memory = gates.limits(WHOLE_COMMAND).peak.map(|rise| memory_of_comparison(page, rise));
        match &memory {
            Some((LimitReading::Exceeded, told)) => failed.push(told.clone()),
            Some((LimitReading::Open, told)) => undecided.push(told.clone()),
            Some((LimitReading::Kept, _)) | None => {}
        }
        if page.measured.stopped_because == Stopped::Interrupted {
            undecided.push("the rest of the interrupted comparison".into());
        }
        if judged().next().is_none() && memory.is_none() && undecided.is_empty() {
            undecided.push("every benchmark (none that has a gate was compared)".into());
        }
        let one_sided = page.one_sided.iter().map(|one| &one.benchmark);
        let names = page.benchmarks.iter().map(|found| &found.benchmark).chain(one_sided).cloned();
        let names = names.chain(memory.is_some().then(|| WHOLE_COMMAND.to_owned()));
        Self::of(gates, &names.collect::<Vec<String>>(), failed, undecided)
    }

    fn of(gates: &Gates, names: &[String], failed: Vec<String>, undecided: Vec<String>) -> Self {
        let passed = failed.is_empty() && undecided.is_empty();
        Self { gate: gates.to_string(), passed, failed, undecided, unmatched: gates.unmatched(names) }
    }

    /// Whether it passed, in a word, and what is to be said to it.
    pub fn outcome(&self) -> (&'static str, String) {
        let open = |all: &[String]| match all {
            [one] => format!("{one} is undecided and may exceed it"),
            [first, more @ ..] => {
                format!("{first} and {} more are undecided and may exceed it", more.len())
            }
            [] => String::new(),
        };
        let (word, mut more) = match (&self.failed[..], &self.undecided[..]) {
            ([], []) => ("passed", String::new()),
            ([], undecided) => ("undecided", format!(": {}", open(undecided))),
            (failed, []) => ("failed", format!(" by {}", words::list(failed))),
            (failed, undecided) => ("failed", format!(" by {}; {}", words::list(failed), open(undecided))),
        };
        if !self.unmatched.is_empty() {
            let patterns: Vec<String> = self.unmatched.iter().map(|pattern| format!("`{pattern}`")).collect();
            more += &format!("; {} in {} matches nothing here", words::list_or(&patterns), self.gate);
        }
        (word, more)
    }

    /// What became of it.
    pub fn sentence(&self) -> String {
        let (word, more) = self.outcome();
        format!("{word}{more}")
    }

    /// The same for a pull request.
    pub(crate) fn markdown(&self) -> String {
        let (word, more) = self.outcome();
        let word = if self.passed { word.to_owned() } else { format!("**{word}**") };
        format!("Gate `{}`: {word}{}.\n\n", self.gate, escape(&more))
    }

    /// On a terminal, below the answer.
    pub(crate) fn show(&self, sheet: &mut Sheet) {
        let ink = match (self.failed.is_empty(), self.undecided.is_empty()) {
            (false, _) => Ink::Bad,
            (_, true) => Ink::Good,
            _ => Ink::Doubt,
        };
        sheet.labelled(ink, &format!("gate {}: ", self.gate), &self.sentence());
    }
}

/// The name that limits of a benchmark command's memory are looked up by: it has one peak for all of its benchmarks.
const WHOLE_COMMAND: &str = "peak memory";

/// What limits of memory say of a comparison. Where nothing that is executed differs there is one run of each side, and the same
/// code allocates the same.
fn memory_of_comparison(page: &ComparePage, rise: Rise) -> (LimitReading, String) {
    let same_code = !page.benchmarks.is_empty() && page.benchmarks.iter().all(|found| found.proven);
    let change = page.memory.and_then(|found| found.change);
    let known = page.memory.and_then(|found| Some((found.baseline_bytes, found.candidate_bytes?)));
    let told = match known {
        Some((before, after)) => {
            format!("{WHOLE_COMMAND} ({} to {})", words::bytes(before), words::bytes(after))
        }
        None => format!("{WHOLE_COMMAND} (unknown: below assay's own)"),
    };
    let reading = if same_code && change.is_none() { LimitReading::Kept } else { rise.of_change(change) };
    (reading, told)
}

/// What exceeds limits of memory in a campaign, and what was not counted.
fn memory_of_campaign(
    page: &Page,
    gates: &Gates,
    contrasts: &[(String, &PageContrast)],
) -> (Vec<String>, Vec<String>) {
    let (mut exceeded, mut unknown) = (Vec::new(), Vec::new());
    for (name, found) in contrasts {
        let limits = gates.limits(name);
        let limited = [
            (limits.peak, CountedEvent::PeakBytes, "peak bytes"),
            (limits.allocations, CountedEvent::Allocations, "allocations"),
        ];
        for (rise, event, word) in limited {
            let Some(rise) = rise else { continue };
            let count = |variant: &str| {
                let of = [variant, &found.input, &found.compiler, &found.flags];
                let cell = page
                    .cells
                    .iter()
                    .find(|cell| [&cell.variant, &cell.input, &cell.compiler, &cell.flags] == of);
                cell.and_then(|cell| cell.per_unit.get(event.name())).map(|count| count.value)
            };
            match (count(&found.baseline), count(&found.candidate)) {
                (Some(before), Some(after)) => {
                    if rise.of_counts(before, after) == LimitReading::Exceeded {
                        let (before, after) = (counted(before), counted(after));
                        exceeded.push(format!("{name} ({before} to {after} {word} per {})", page.unit));
                    }
                }
                _ => unknown.push(format!("{name} ({word} not counted: events = [\"{}\"])", event.name())),
            }
        }
    }
    (exceeded, unknown)
}

/// "2", "0.25": most counts per unit are whole.
fn counted(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e15 { words::count(value as u64) } else { words::short(value) }
}

/// "b on bytes", with its build where there are several.
fn name_of(page: &Page, contrast: &PageContrast) -> String {
    name(page, [&contrast.candidate, &contrast.input, &contrast.compiler, &contrast.flags])
}

fn name(page: &Page, [variant, input, compiler, flags]: [&str; 4]) -> String {
    let mut name = format!("{variant} on {input}");
    if page.machine.compilers.len() > 1 {
        name += &format!(", {compiler}");
    }
    if page.flag_sets.len() > 1 {
        name += &format!(", {flags}");
    }
    name
}

/// Variants without a contrast, whole or in some cells: left out by this machine, crashed, or beside a baseline that did. Who
/// compares nothing has passed nothing.
fn not_compared(page: &Page) -> Vec<String> {
    let stands = |cell: &PageCell| {
        page.along(Axis::Variant).any(|found| {
            [&found.candidate, &found.input, &found.compiler, &found.flags]
                == [&cell.variant, &cell.input, &cell.compiler, &cell.flags]
        })
    };
    let candidates = page.variants.iter().filter(|variant| variant.name != page.baseline);
    let mut found = Vec::new();
    for variant in candidates {
        if !page.along(Axis::Variant).any(|contrast| contrast.candidate == variant.name) {
            found.push(variant.name.clone());
            continue;
        }
        let cells = page.cells.iter().filter(|cell| cell.variant == variant.name && !stands(cell));
        found.extend(cells.map(|cell| name(page, [&cell.variant, &cell.input, &cell.compiler, &cell.flags])));
    }
    if found.is_empty() && page.along(Axis::Variant).next().is_none() {
        found.push(format!("{}, the only variant", page.baseline));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare;
    use crate::page::{Count, CountSource, PageVariant, RatioInterval, Verdict};
    use crate::sample;

    fn page(verdicts: &[(Verdict, [f64; 3])]) -> Page {
        let mut page = sample::page();
        let like = page.contrasts[0].clone();
        let contrast = |(number, (verdict, code)): (usize, &(Verdict, [f64; 3]))| PageContrast {
            candidate: format!("v{number}"),
            verdict: *verdict,
            code: Some(RatioInterval { ratio: code[0], lower: code[1], upper: code[2] }),
            ..like.clone()
        };
        page.contrasts = verdicts.iter().enumerate().map(contrast).collect();
        let variants = page
            .contrasts
            .iter()
            .map(|found| PageVariant { name: found.candidate.clone(), description: None });
        page.variants = variants.collect();
        page.variants.push(PageVariant { name: page.baseline.clone(), description: None });
        page.cells.clear();
        page.campaign.stopped_because = Stopped::Decided;
        page
    }

    fn said(verdicts: &[(Verdict, [f64; 3])]) -> (bool, &'static str, usize, usize) {
        let found = GateResult::of_campaign(&page(verdicts), &Gate { slower: 0.02 }.into());
        (found.passed, found.outcome().0, found.failed.len(), found.undecided.len())
    }

    #[test]
    fn an_experiment_passes_where_no_variant_can_be_slower_by_more_than_the_gate_allows() {
        let slower = (Verdict::Slower, [1.05, 1.04, 1.06]);
        let by_less = (Verdict::Slower, [1.015, 1.012, 1.018]);
        let open = (Verdict::Undecided, [1.0, 0.9, 1.1]);
        let faster_or_not = (Verdict::Undecided, [0.98, 0.96, 1.01]);
        let same = (Verdict::Equivalent, [1.0, 0.995, 1.005]);
        assert_eq!(said(&[same, by_less, faster_or_not]), (true, "passed", 0, 0));
        assert_eq!(said(&[same, open]), (false, "undecided", 0, 1));
        assert_eq!(said(&[slower, open]), (false, "failed", 1, 1));
    }

    #[test]
    fn what_is_slower_by_more_or_less_than_the_gate_is_undecided() {
        let across = (Verdict::Slower, [1.019, 1.005, 1.05]);
        let wide_margin = (Verdict::Equivalent, [1.0, 0.97, 1.03]);
        assert_eq!(said(&[across]), (false, "undecided", 0, 1));
        assert_eq!(said(&[wide_margin]), (false, "undecided", 0, 1));
        let mut same_code = page(&[wide_margin]);
        same_code.contrasts[0].proven = true;
        assert!(GateResult::of_campaign(&same_code, &Gate { slower: 0.02 }.into()).passed);
    }

    #[test]
    fn contrasts_of_other_axes_are_not_the_gates_business() {
        let same = (Verdict::Equivalent, [1.0, 0.995, 1.005]);
        let mut page = page(&[(Verdict::Slower, [1.5, 1.4, 1.6]), same]);
        page.contrasts[0].axis = Axis::Compiler;
        page.contrasts[0].candidate = page.contrasts[1].candidate.clone();
        page.variants.remove(0);
        assert!(GateResult::of_campaign(&page, &Gate { slower: 0.02 }.into()).passed);
        page.contrasts.remove(1);
        let alone = GateResult::of_campaign(&page, &Gate { slower: 0.02 }.into());
        assert_eq!((alone.passed, &alone.undecided[..]), (false, &["v1 (not compared)".to_owned()][..]));
    }

    #[test]
    fn what_was_not_compared_has_not_passed() {
        let same = (Verdict::Equivalent, [1.0, 0.995, 1.005]);
        let judged = |page: &Page| GateResult::of_campaign(page, &Gate { slower: 0.02 }.into());
        let mut lacking = page(&[same]);
        lacking.variants.push(PageVariant { name: "simd".into(), description: None });
        assert_eq!(judged(&lacking).undecided, ["simd (not compared)"]);
        let mut interrupted = page(&[same]);
        interrupted.campaign.stopped_because = Stopped::Interrupted;
        assert_eq!(judged(&interrupted).outcome().0, "undecided");
        let mut crashed = page(&[same]);
        let mut cell = sample::page().cells.remove(0);
        (cell.variant, cell.input) = ("v0".into(), "other".into());
        crashed.cells.push(cell);
        let found = judged(&crashed);
        assert!(!found.passed && found.undecided[0].starts_with("v0 on other"), "{found:?}");
        let mut alone = page(&[]);
        assert!(!judged(&alone).passed);
        alone.variants.clear();
        assert!(!judged(&alone).passed && judged(&alone).undecided[0].contains("the only variant"));
    }

    #[test]
    fn a_comparison_of_nothing_does_not_pass_and_a_vanished_benchmark_is_named() {
        let judged = |page: &ComparePage| GateResult::of_comparison(page, &Gate { slower: 0.5 }.into());
        let mut page = compare::sample::two();
        page.measured.stopped_because = Stopped::Budget;
        page.one_sided[0].only_in = page.sides[0].name.clone();
        let found = judged(&page);
        assert!(found.undecided.contains(&"BM_new (only in main)".to_owned()), "{found:?}");
        page.benchmarks.retain(|found| found.verdict == Some(Verdict::Equivalent));
        assert_eq!(judged(&page).outcome().0, "undecided");
        page.one_sided.clear();
        assert_eq!(judged(&page).outcome(), ("passed", String::new()));
        page.measured.stopped_because = Stopped::Interrupted;
        assert_eq!(judged(&page).outcome().0, "undecided");
        page.measured.stopped_because = Stopped::Budget;
        (page.benchmarks, page.one_sided) = (Vec::new(), Vec::new());
        assert_eq!(judged(&page).outcome().0, "undecided");
    }

    #[test]
    fn a_file_has_a_gate_for_each_pattern_of_names_and_one_that_matches_nothing_is_told() {
        let mut page = compare::sample::two();
        page.measured.stopped_because = Stopped::Budget;
        page.one_sided.clear();
        let same =
            page.benchmarks.iter().find(|found| found.verdict == Some(Verdict::Equivalent)).unwrap().clone();
        let named = |name: &str, verdict: Verdict, code: [f64; 3]| {
            let code = Some(RatioInterval { ratio: code[0], lower: code[1], upper: code[2] });
            let (benchmark, verdict) = (name.to_owned(), Some(verdict));
            compare::Compared { benchmark, verdict, code, proven: false, ..same.clone() }
        };
        page.benchmarks = vec![
            named("crc/64", Verdict::Slower, [1.03, 1.025, 1.035]),
            named("io/read", Verdict::Slower, [1.3, 1.2, 1.4]),
            named("sort", Verdict::Slower, [1.03, 1.025, 1.035]),
        ];
        let judged = |file: &str| GateResult::of_comparison(&page, &Gates::read("gates.toml", file).unwrap());
        let found = judged("'*' = 'slower:5%'\n'crc/*' = 'slower:1%'\n'io/*' = 'off'\n");
        assert_eq!((&found.failed[..], found.undecided.len()), (&["crc/64".to_owned()][..], 0));
        assert!(judged("'*' = 'slower:5%'\n'io/*' = 'off'\n").passed);
        let misspelt = judged("'*' = 'slower:50%'\n'cr/*' = 'slower:1%'\n");
        assert_eq!(misspelt.sentence(), "passed; `cr/*` in gates.toml matches nothing here");
        assert_eq!(judged("'*' = 'off'\n").outcome().0, "undecided");
    }

    #[test]
    fn memory_that_rose_fails_and_what_was_not_counted_is_undecided() {
        let same = (Verdict::Equivalent, [1.0, 0.995, 1.005]);
        let mut page = page(&[same]);
        let contrast = page.contrasts[0].clone();
        let like = sample::page().cells.remove(0);
        let cell = |variant: &str, allocations: f64| {
            let count = Count::exact(allocations, CountSource::Counted);
            let mut cell = PageCell { variant: variant.into(), ..like.clone() };
            (cell.input, cell.compiler, cell.flags) =
                (contrast.input.clone(), contrast.compiler.clone(), contrast.flags.clone());
            cell.per_unit = [("allocations".to_owned(), count)].into();
            cell
        };
        page.cells = vec![cell(&contrast.baseline, 1.0), cell("v0", 2.0)];
        let judged = |page: &Page, gate: &str| {
            let found = GateResult::of_campaign(page, &Gates::for_all(gate, gate.parse().unwrap()));
            (found.outcome().0, [found.failed, found.undecided].concat())
        };
        let (word, told) = judged(&page, "slower:2%,allocations:0");
        assert_eq!(word, "failed");
        assert!(told[0].contains("(1 to 2 allocations per"), "{told:?}");
        assert_eq!(judged(&page, "allocations:1").0, "passed");
        assert_eq!(judged(&page, "allocations:100%").0, "passed");
        let (word, told) = judged(&page, "peak:5%");
        assert!(word == "undecided" && told[0].contains("events = [\"peak-bytes\"]"), "{told:?}");
    }

    #[test]
    fn the_memory_of_a_command_is_judged_by_its_interval() {
        let mut page = compare::sample::two();
        page.measured.stopped_because = Stopped::Budget;
        page.one_sided.clear();
        let judged = |page: &ComparePage, gate: &str| {
            GateResult::of_comparison(page, &Gates::for_all(gate, gate.parse().unwrap()))
        };
        let found = judged(&page, "peak:5%");
        assert_eq!(found.failed, ["peak memory (48.0 MiB to 61.0 MiB)"]);
        assert!(judged(&page, "peak:30%").passed);
        let of_file = Gates::read("g", "'BM*' = 'slower:99%'\n'peak memory' = 'peak:5%'\n").unwrap();
        let found = GateResult::of_comparison(&page, &of_file);
        assert_eq!((found.failed.len(), found.unmatched.len()), (1, 0));
        page.memory = None;
        assert_eq!(judged(&page, "peak:5%").undecided, ["peak memory (unknown: below assay's own)"]);
        page.benchmarks.iter_mut().for_each(|found| found.proven = true);
        assert!(judged(&page, "peak:5%").passed, "the same code");
    }
}
