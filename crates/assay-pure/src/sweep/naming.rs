//! What is behind a step: a cache of this machine, what its branch predictor remembers, or something unknown.
//!
//! Method: a name needs a measured step, and evidence of its own. A cache is named where the working set outgrows its size within
//! the step and every variant that is faster there, and so reads more bytes in the same time, steps too, and half of all at
//! least: what slows the slower one only, or one of many, is no cache. The predictor's memory is named where the step is one of the mispredictions too, or
//! where what there is to remember outgrows what this CPU was seen to remember. Mispredictions that explain most of the
//! step decide against a cache of the same size.
//! Limits: a cache's reach is taken as from three quarters to one and a half of its size. Checked: by hand.

use super::reading::Curve;
use super::scale::Scale;
use super::steps::{CurveStep, steps};
use crate::stats::predictor_memory::PredictorMemory;

/// Mispredictions explain a step if they make up this part of its time.
const MOST: f64 = 0.5;
/// A cache ends somewhere between these parts of its size: other data is in it too, and it is not filled evenly.
const REACH: (f64, f64) = (0.75, 1.5);
/// A working set that grows by less than this factor outgrows nothing: random lengths alone move it by as much.
const LEAST_GROWTH: f64 = 1.02;
/// A repeated walk with so much of the mispredictions of a first one remembers little.
const FORGOTTEN: f64 = 0.5;

/// A cache of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// `L1d`, `L2`, `last-level cache`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Caches as the machine's facts tell them ("L1d 32768"), the smallest first; instruction caches are none of them.
pub fn caches(facts: &[String]) -> Vec<Cache> {
    let mut found: Vec<Cache> = facts
        .iter()
        .filter_map(|fact| {
            let (name, size) = fact.rsplit_once(' ')?;
            let bytes = size_in_bytes(size).filter(|bytes| *bytes > 0)?;
            (!name.ends_with('i')).then(|| Cache { name: name.to_owned(), bytes })
        })
        .collect();
    found.sort_by_key(|cache| cache.bytes);
    found.dedup_by_key(|cache| cache.bytes);
    // The first level alone is not the last of several.
    if let Some(last) = found.last_mut().filter(|last| !last.name.starts_with("L1") && last.name != "L2") {
        last.name = "last-level cache".into();
    }
    found
}

/// A size as the kernel writes it: "32K", "16M", "49152".
fn size_in_bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// What is known at one end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEnd {
    /// Bytes of the input.
    pub bytes: u64,
    /// Units that are there to be remembered: those of the input, or of the stretch that it repeats.
    pub distinct_units: u64,
    /// The least that a predictor would have to remember, coin tosses, where known.
    pub tosses: Option<f64>,
    /// The most: every outcome of the branches on the data.
    pub outcomes: Option<f64>,
    /// Mispredictions per unit of a repeated walk, where counted or simulated.
    pub misses: Option<f64>,
    /// Mispredictions per unit of a first walk.
    pub fresh_misses: Option<f64>,
}

/// What is known of a step beside its times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepFacts {
    /// Ahead of it.
    pub before: StepEnd,
    /// Behind it.
    pub after: StepEnd,
    /// Nanoseconds per unit by which the time changes.
    pub change_ns: f64,
    /// Does every variant that is faster ahead of the step have one there too, and half of all at least?
    pub others_step_too: bool,
    /// Nanoseconds of one misprediction, where measured.
    pub penalty_ns: Option<f64>,
    /// What this CPU remembers, where measured.
    pub memory: Option<PredictorMemory>,
}

/// What is behind a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Behind {
    /// The working set outgrows this cache.
    Cache(Cache),
    /// The branch predictor's memory ends.
    Memory {
        /// Units at which it ends, between those of the two ends.
        units: u64,
        /// Mispredictions per unit ahead and behind, where these are the evidence.
        misses: Option<(f64, f64)>,
        /// Outcomes that this CPU was seen to memorise, where that is.
        remembered: Option<u64>,
    },
    /// More or fewer mispredictions, on data that no predictor memorises.
    Mispredictions {
        /// Per unit ahead and behind.
        misses: (f64, f64),
    },
    /// Unknown.
    Unexplained,
}

/// Names a step.
pub fn behind(facts: &StepFacts, caches: &[Cache]) -> Behind {
    let grows = facts.after.distinct_units > facts.before.distinct_units;
    let units =
        ((facts.before.distinct_units as f64) * facts.after.distinct_units as f64).sqrt().round() as u64;
    let misses = facts.before.misses.zip(facts.after.misses);
    let explained = misses.zip(facts.penalty_ns).is_some_and(|((before, after), penalty)| {
        let cost = (after - before) * penalty;
        cost * facts.change_ns > 0.0 && cost.abs() >= MOST * facts.change_ns.abs()
    });
    if explained && let Some(misses) = misses {
        let knew = facts.before.fresh_misses.is_some_and(|fresh| misses.0 < FORGOTTEN * fresh);
        return if grows && knew && misses.1 > misses.0 {
            Behind::Memory { units, misses: Some(misses), remembered: None }
        } else {
            Behind::Mispredictions { misses }
        };
    }
    if facts.change_ns > 0.0
        && facts.others_step_too
        && let Some(cache) = outgrown(facts, caches)
    {
        return Behind::Cache(cache);
    }
    if facts.change_ns > 0.0 && grows && forgets(facts) {
        let remembered = facts.memory.map(|memory| memory.learned_outcomes);
        return Behind::Memory { units, misses: None, remembered };
    }
    Behind::Unexplained
}

/// Do all variants that are faster ahead of a step have one there, and half of all at least?
///
/// Input: the curves of all variants, that of the step, the scale and the two-sided level of the noise of a gap. A curve that was
/// not measured ahead of the step has no say.
pub fn others_step_too(curves: &[Curve], own: &Curve, step: &CurveStep, scale: Scale, alpha: f64) -> bool {
    let ahead = |curve: &Curve| {
        let before = curve.readings.iter().rfind(|reading| reading.at <= step.from);
        before.map(|reading| reading.estimate)
    };
    let has_step = |curve: &Curve| {
        let overlaps = |other: &CurveStep| other.from < step.to && other.to > step.from && other.change > 0.0;
        steps(&curve.readings, scale, alpha).iter().any(overlaps)
    };
    let others: Vec<&Curve> = curves.iter().filter(|curve| curve.variant != own.variant).collect();
    let mut faster = others.iter().filter(|curve| ahead(curve).is_some_and(|time| time < step.before));
    let stepping = 1 + others.iter().filter(|curve| has_step(curve)).count();
    faster.all(|curve| has_step(curve)) && 2 * stepping >= curves.len()
}

/// The cache whose size the working set passes within the step, the nearest to its middle.
fn outgrown(facts: &StepFacts, caches: &[Cache]) -> Option<Cache> {
    let (before, after) = (facts.before.bytes as f64, facts.after.bytes as f64);
    let passes = |cache: &&Cache| {
        let size = cache.bytes as f64;
        after >= LEAST_GROWTH * before && before <= REACH.1 * size && after >= REACH.0 * size
    };
    let far = |cache: &Cache| ((before.max(1.0) * after).sqrt() / cache.bytes as f64).ln().abs();
    caches.iter().filter(passes).min_by(|a, b| far(a).total_cmp(&far(b))).cloned()
}

/// Can what there is to remember outgrow what this CPU remembers, within the step?
///
/// What the CPU remembers was measured with tosses of one branch. A stream of several kinds of units is somewhere between its tosses
/// and all its outcomes, so the step is where the one is below the end of the memory and the other beyond its beginning.
fn forgets(facts: &StepFacts) -> bool {
    let after = facts.after.outcomes.or(facts.after.tosses);
    let (Some(memory), Some(before), Some(after)) = (facts.memory, facts.before.tosses, after) else {
        return false;
    };
    let ends = memory.unlearned_outcomes.map_or(f64::INFINITY, |outcomes| outcomes as f64);
    before < ends && after > memory.learned_outcomes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;

    fn machine() -> Vec<Cache> {
        caches(&["L1i 32768", "L1d 32768", "L2 1048576", "L3 33554432"].map(str::to_owned))
    }

    fn end(units: u64) -> StepEnd {
        StepEnd { bytes: 2 * units, distinct_units: units, ..StepEnd::default() }
    }

    fn step(before: u64, after: u64) -> StepFacts {
        StepFacts {
            before: end(before),
            after: end(after),
            change_ns: 1.0,
            others_step_too: true,
            ..StepFacts::default()
        }
    }

    fn name(facts: &StepFacts) -> String {
        match behind(facts, &machine()) {
            Behind::Cache(cache) => cache.name,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_step_where_the_working_set_outgrows_a_cache_is_named_after_it() {
        assert_eq!(name(&step(10_000, 20_000)), "L1d");
        assert_eq!(name(&step(400_000, 700_000)), "L2");
        assert_eq!(name(&step(12_000_000, 30_000_000)), "last-level cache");
        assert_eq!(name(&step(100_000, 200_000)), "Unexplained", "400 KB is no cache's size");
        assert_eq!(name(&step(20_000, 10_000)), "Unexplained", "nothing is outgrown");
    }

    #[test]
    fn the_reach_of_a_cache_has_ends() {
        // 32 KiB: from below 1.5 of it to above 0.75 of it.
        assert_eq!(name(&step(24_576, 60_000)), "L1d");
        assert_eq!(name(&step(24_577, 60_000)), "Unexplained");
        assert_eq!(name(&step(6_000, 12_288)), "L1d");
        assert_eq!(name(&step(6_000, 12_287)), "Unexplained");
    }

    #[test]
    fn a_working_set_that_hardly_grows_outgrows_nothing() {
        // 0.8 MB of 1 MiB, by 1.8 and by 2.2 %.
        assert_eq!(name(&step(400_000, 407_000)), "Unexplained");
        assert_eq!(name(&step(400_000, 409_000)), "L2");
    }

    #[test]
    fn a_cache_that_slows_only_the_slower_variant_is_no_cache() {
        assert_eq!(name(&StepFacts { others_step_too: false, ..step(10_000, 20_000) }), "Unexplained");
        assert_eq!(
            name(&StepFacts { change_ns: -1.0, ..step(10_000, 20_000) }),
            "Unexplained",
            "nor one that speeds up"
        );
    }

    #[test]
    fn mispredictions_that_come_with_the_step_are_the_predictors_memory() {
        let mut facts = StepFacts { penalty_ns: Some(5.0), ..step(10_000, 40_000) };
        facts.before = StepEnd { misses: Some(0.0), fresh_misses: Some(0.87), ..facts.before };
        facts.after = StepEnd { misses: Some(0.87), fresh_misses: Some(0.87), ..facts.after };
        let expected = Behind::Memory { units: 20_000, misses: Some((0.0, 0.87)), remembered: None };
        assert_eq!(behind(&facts, &machine()), expected, "though L1d is outgrown as well");
        // Fresh data ahead of the step, too: nothing was remembered.
        facts.before.fresh_misses = Some(0.0);
        assert_eq!(behind(&facts, &machine()), Behind::Mispredictions { misses: (0.0, 0.87) });
        // Too few to explain it: 0.05 · 5 ns of 1 ns.
        facts.after.misses = Some(0.05);
        assert_eq!(name(&facts), "L1d");
        // Fewer mispredictions do not explain that it takes longer.
        facts.before.misses = Some(0.9);
        assert_eq!(name(&facts), "L1d");
    }

    #[test]
    fn what_this_cpu_remembers_names_a_step_that_no_cache_explains() {
        let memory = PredictorMemory::of(32_768, Some(131_072));
        let mut facts = StepFacts { memory: Some(memory), others_step_too: false, ..step(10_000, 40_000) };
        facts.before.tosses = Some(16_000.0);
        facts.after.tosses = Some(64_000.0);
        let expected = Behind::Memory { units: 20_000, misses: None, remembered: Some(32_768) };
        assert_eq!(behind(&facts, &machine()), expected);
        let early = StepFacts { after: StepEnd { tosses: Some(30_000.0), ..facts.after }, ..facts.clone() };
        assert_eq!(behind(&early, &machine()), Behind::Unexplained);
        let many = StepFacts { after: StepEnd { outcomes: Some(33_000.0), ..early.after }, ..early };
        assert_eq!(behind(&many, &machine()), expected, "its outcomes are more than its tosses");
        let late = StepFacts { before: StepEnd { tosses: Some(131_072.0), ..facts.before }, ..facts.clone() };
        assert_eq!(behind(&late, &machine()), Behind::Unexplained);
        let unknown = StepFacts { memory: None, ..facts };
        assert_eq!(behind(&unknown, &machine()), Behind::Unexplained);
    }

    /// Flat at `low` up to 4, and at `high` from 8 on.
    fn curve(variant: &str, low: f64, high: f64) -> Curve {
        let reading = |at: f64| crate::sweep::Reading {
            at,
            estimate: if at < 5.0 { low.ln() } else { high.ln() },
            standard_error: 0.001,
            degrees: 30.0,
            seen: CampaignsSeen::ONCE,
        };
        let readings = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(reading).to_vec();
        Curve { variant: variant.into(), readings, left_out: Vec::new() }
    }

    #[test]
    fn a_step_that_faster_ones_do_not_have_or_few_have_is_alone() {
        let own = curve("own", 2.0, 3.0);
        let step = steps(&own.readings, Scale::Geometric, 0.05)[0];
        let too = |others: &[Curve]| {
            let all: Vec<Curve> = others.iter().cloned().chain([own.clone()]).collect();
            others_step_too(&all, &own, &step, Scale::Geometric, 0.05)
        };
        assert!(too(&[]), "there is no other");
        assert!(too(&[curve("faster", 1.0, 1.5)]));
        assert!(!too(&[curve("faster", 1.0, 1.0)]), "which would feel a cache first");
        assert!(!too(&[curve("faster", 1.5, 1.0)]), "which goes the other way");
        assert!(too(&[curve("slower", 4.0, 4.0)]), "which may hide it; half of two step");
        assert!(!too(&[curve("slower", 4.0, 4.0), curve("third", 5.0, 5.0)]), "one of three");
        assert!(too(&[curve("slower", 4.0, 6.0), curve("third", 5.0, 5.0)]));
        let late = Curve {
            readings: curve("late", 1.0, 1.0).readings[3..].to_vec(),
            variant: "late".into(),
            left_out: Vec::new(),
        };
        assert!(too(&[late]), "of which nothing is known ahead of the step");
    }

    #[test]
    fn caches_are_read_from_the_machines_facts() {
        let names: Vec<(String, u64)> =
            machine().into_iter().map(|cache| (cache.name, cache.bytes)).collect();
        let expected = [("L1d", 32_768), ("L2", 1_048_576), ("last-level cache", 33_554_432)];
        assert_eq!(names, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
        assert_eq!(caches(&["L1d 49152".into(), "nonsense".into()])[0].name, "L1d");
        assert_eq!(caches(&["L1d 1".into(), "L2 2".into()])[1].name, "L2");
        assert_eq!(caches(&[]), []);
        let bytes = |text: &str| caches(&[text.to_owned()]).first().map(|cache| cache.bytes);
        assert_eq!(
            (bytes("L1d 48K"), bytes("L3 16M"), bytes("L4 1G")),
            (Some(49_152), Some(1 << 24), Some(1 << 30))
        );
        assert_eq!((bytes("L1d K"), bytes("L1d 0"), bytes("L1i 32K")), (None, None, None));
    }
}
