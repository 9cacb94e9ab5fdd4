//! What an examination has seen that makes figures untrue, the gravest first; what the file accepts is left out.
//!
//! A finding that follows from another one is not told beside it: dead code is too fast as well, and memory that is allocated in each
//! call is touched for the first time there. The same finding on several inputs or builds is one.

use crate::examine::check::{CheckFinding, CheckOutcome, FindingPlace};
use crate::examine::checks::CHECKS;
use crate::examine::facts::{ExperimentFacts, TracedCell};
use assay_pure::experiment::Acceptance;
use assay_report::page::{FindingKind, PageFinding};
use std::collections::BTreeMap;

/// What is found and not accepted.
pub fn findings(facts: &ExperimentFacts, accept: &[Acceptance]) -> Vec<PageFinding> {
    let mut found: Vec<PageFinding> = Vec::new();
    for kind in FindingKind::ALL {
        let Some(check) = CHECKS.iter().find(|check| check.name == kind.name()) else { continue };
        let CheckOutcome::Found(own) = check.run(facts) else { continue };
        for one in own {
            let one = finding(facts, kind, one);
            let inputs: Vec<&str> = one.inputs.iter().map(String::as_str).collect();
            let is_meant =
                accept.iter().any(|entry| entry.covers(check.name, one.variant.as_deref(), &inputs));
            let follows = found.iter().any(|graver| {
                kind.follows_from(graver.kind)
                    && graver.variant == one.variant
                    && one.inputs.iter().any(|input| graver.inputs.contains(input))
            });
            if is_meant || follows {
                continue;
            }
            match found.iter_mut().find(|known| (known.kind, &known.variant) == (kind, &one.variant)) {
                Some(known) if one.variant.is_some() => {
                    let new: Vec<String> =
                        one.inputs.into_iter().filter(|input| !known.inputs.contains(input)).collect();
                    known.inputs.extend(new);
                }
                _ => found.push(one),
            }
        }
    }
    found
}

fn finding(facts: &ExperimentFacts, kind: FindingKind, found: CheckFinding) -> PageFinding {
    let (variant, inputs) = match found.place {
        FindingPlace::Experiment { variant, inputs, .. } => (variant, inputs),
        FindingPlace::Machine | FindingPlace::Code(_) => (None, Vec::new()),
    };
    let is_it = |cell: &&TracedCell| {
        variant.as_ref().is_none_or(|variant| *variant == cell.variant)
            && facts.inputs.get(cell.input).is_some_and(|input| inputs.contains(&input.name))
    };
    let figures = facts.cells.iter().find(is_it).map(figures).unwrap_or_default();
    PageFinding {
        kind,
        variant,
        inputs,
        saw: found.saw,
        why: found.advice.why.to_owned(),
        remedy: found.advice.remedy.into_owned(),
        figures,
    }
}

/// What was seen of a cell, by name.
fn figures(cell: &TracedCell) -> BTreeMap<String, f64> {
    let sample = cell.sample.as_ref();
    let work = cell.work.as_ref();
    let per_unit = |ns: f64, units: u64| (units > 0).then(|| ns / units as f64);
    let all = [
        ("call_ns", sample.map(|sample| sample.call_ns)),
        ("region_ns", sample.map(|sample| sample.region_ns)),
        ("calls_per_sample", sample.map(|sample| sample.iterations as f64)),
        ("new_pages_per_call", cell.new_pages),
        ("first_walk_ns_per_unit", cell.walks.and_then(|walks| per_unit(walks.first_ns, walks.units))),
        ("later_walks_ns_per_unit", cell.walks.and_then(|walks| per_unit(walks.later_ns, walks.units))),
        ("instructions_first_call", work.and_then(|work| work.passes.first().map(|count| *count as f64))),
        ("instructions_later_calls", work.and_then(|work| work.settled().map(|count| count as f64))),
        ("instructions_half_input", work.and_then(|work| work.half.last().map(|count| *count as f64))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examine::facts::{ExaminedInput, GrowthTimes, Pages, PlannedSample, Sizes, WalkTimes};
    use assay_pure::protocol::VariantKind;
    use assay_pure::verdict::learned::Learned;

    const SIZES: Sizes = Sizes { units: 8192, half_units: 4096, bytes: 8192, half_bytes: 4096 };

    /// Two variants that read all of an input of 6,000 bytes, which no predictor memorises.
    fn honest() -> ExperimentFacts {
        let cell = |variant: &str| TracedCell {
            variant: variant.into(),
            build: "gcc, O2".into(),
            kind: Some(VariantKind::Call),
            pages: Some(Pages { read: 2, of: 2 }),
            times: Some(GrowthTimes { sizes: SIZES, ns: 2000.0, half_ns: 1000.0 }),
            sample: Some(PlannedSample {
                call_ns: 2000.0,
                units: 6000.0,
                bytes: 6000.0,
                iterations: 50,
                region_ns: 40.0,
            }),
            new_pages: Some(0.0),
            walks: Some(WalkTimes { units: 6000, first_ns: 2100.0, later_ns: 2000.0 }),
            ..TracedCell::default()
        };
        let input = ExaminedInput {
            name: "short".into(),
            bytes: 6000,
            units: 6000,
            distinct: 6000,
            windows: 1,
            is_generated: true,
            ..ExaminedInput::default()
        };
        ExperimentFacts {
            unit: "byte".into(),
            inputs: vec![input],
            cells: vec![cell("sum"), cell("hash")],
            learned: Some(Vec::new()),
            ..ExperimentFacts::default()
        }
    }

    fn kinds(facts: &ExperimentFacts) -> Vec<FindingKind> {
        findings(facts, &[]).iter().map(|found| found.kind).collect()
    }

    #[test]
    fn an_honest_experiment_is_silent() {
        assert_eq!(findings(&honest(), &[]), []);
    }

    #[test]
    fn dead_code_is_one_finding_and_not_also_too_fast() {
        let mut facts = honest();
        let dead = &mut facts.cells[1];
        dead.pages = Some(Pages { read: 0, of: 2 });
        dead.times = Some(GrowthTimes { sizes: SIZES, ns: 2.1, half_ns: 2.1 });
        dead.sample = dead.sample.map(|sample| PlannedSample { call_ns: 2.1, ..sample });
        let found = findings(&facts, &[]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!((found[0].kind, found[0].variant.as_deref()), (FindingKind::DeadCode, Some("hash")));
        assert_eq!(found[0].figures["call_ns"], 2.1);
        assert!(
            found[0]
                .sentence()
                .starts_with("hash on short is dead code: a call reads none of the input's 2 pages")
        );
        let meant = Acceptance {
            check: "dead-code".into(),
            variants: vec!["hash".into()],
            inputs: Vec::new(),
            because: "the empty call is the question".into(),
        };
        assert!(findings(&facts, &[meant]).iter().all(|found| found.kind != FindingKind::DeadCode));
    }

    #[test]
    fn a_loop_that_reads_its_input_in_no_time_has_read_it_ahead() {
        let mut facts = honest();
        let ahead = &mut facts.cells[1];
        ahead.kind = Some(VariantKind::Loop);
        ahead.times = Some(GrowthTimes { sizes: SIZES, ns: 0.8, half_ns: 0.8 });
        assert_eq!(kinds(&facts), [FindingKind::HoistedWork]);
        facts.cells[1].pages = Some(Pages { read: 0, of: 2 });
        assert_eq!(kinds(&facts), [FindingKind::DeadCode]);
    }

    #[test]
    fn new_pages_in_each_call_are_told_where_they_take_a_part_of_it() {
        let mut facts = honest();
        facts.cells[1].new_pages = Some(16.0);
        assert_eq!(kinds(&facts), [FindingKind::FirstTouch]);
        facts.cells[1].sample = facts.cells[1].sample.map(|sample| PlannedSample { call_ns: 1e6, ..sample });
        assert_eq!(kinds(&facts), [], "6.4 us of a millisecond");
        facts.cells[1].sample = honest().cells[1].sample;
        facts.cells[1].new_pages = Some(1.0);
        assert_eq!(kinds(&facts), [], "one page is an accident");
    }

    #[test]
    fn a_call_that_is_hardly_longer_than_the_loop_around_it_is_too_small() {
        let mut facts = honest();
        let short = |cell: &mut TracedCell, call_ns| {
            cell.times = None;
            cell.sample =
                Some(PlannedSample { call_ns, units: 1.0, bytes: 1.0, iterations: 30_000, region_ns: 40.0 });
        };
        short(&mut facts.cells[1], 2.9);
        assert_eq!(kinds(&facts), [FindingKind::TooFewUnits]);
        short(&mut facts.cells[1], 6.1);
        assert_eq!(kinds(&facts), []);
    }

    #[test]
    fn a_memorised_input_is_told_with_both_times() {
        let mut facts = honest();
        facts.cells[1].walks = Some(WalkTimes { units: 6000, first_ns: 18_000.0, later_ns: 3000.0 });
        facts.learned = Some(vec![Learned {
            input: "short".into(),
            variant: "hash".into(),
            units: 6000,
            tosses: 5954,
            remembered: None,
            in_part: false,
            fresh: 0.496,
            repeated: 0.007,
            predictor: "sunny-cove".into(),
            enough_units: 140_000,
        }]);
        let found = findings(&facts, &[]);
        assert_eq!(found.len(), 1);
        let said = found[0].sentence();
        assert!(
            said.starts_with(
                "the predictor memorises short: hash takes 0.500 ns per byte on it again and again, and 3.00 ns on the first walk"
            ),
            "{said}"
        );
        // Without an emulator nothing is told, however far apart the times are: cold caches do that, too.
        facts.learned = None;
        assert_eq!(kinds(&facts), []);
    }

    #[test]
    fn what_was_seen_is_read_back_as_it_was_kept() {
        let facts = honest();
        let kept = serde_json::to_value(&facts).expect("plain data");
        let again: ExperimentFacts = serde_json::from_value(kept).expect("its own form");
        assert_eq!(findings(&again, &[]), findings(&facts, &[]));
        assert_eq!(again.cells.len(), 2);
    }
}
