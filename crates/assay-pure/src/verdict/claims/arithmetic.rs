//! Claims that are impossible whatever was measured.

use super::context::{ClaimContext, InputFacts};
use super::finding::{ClaimFinding, Standing, tolerance};
use super::scope;
use crate::experiment::{ClaimSpec, Says};
use crate::stats::margin::Margin;
use crate::words;

/// A change that its own numbers reproduce to one percentage point is only rounded.
const ROUNDING: f64 = 0.01;

/// Everything arithmetic can say of a claim.
pub(super) fn check(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    let mut findings = Vec::new();
    findings.extend(domain(claim));
    findings.extend(direction(claim, context.margin));
    findings.extend(own_numbers((claim.before, claim.after), claim.change, claim.ratio, tolerance(claim)));
    findings.extend(claim.share.map(share));
    findings.extend(misses(claim, context));
    findings
}

pub(crate) fn against(text: String) -> ClaimFinding {
    ClaimFinding::new(Standing::Contradicted, text)
}

/// Times and ratios are positive, rates lie between 0 and 1.
fn domain(claim: &ClaimSpec) -> Vec<ClaimFinding> {
    let mut findings = Vec::new();
    for (what, value) in [
        ("ratio of times", claim.ratio),
        ("time", claim.ns_per_unit),
        ("rate", claim.gigabytes_per_second),
        ("rate", claim.million_units_per_second),
    ] {
        if let Some(value) = value.filter(|value| value.is_nan() || *value <= 0.0) {
            findings.push(against(format!("impossible: a {what} of {value} is not positive")));
        }
    }
    if let Some(rate) = claim.miss_rate.filter(|rate| !(0.0..=1.0).contains(rate)) {
        findings.push(against(format!("impossible: a miss rate of {rate} does not lie between 0 and 1")));
    }
    if let Some(misses) = claim.misses_per_unit.filter(|misses| misses.is_nan() || *misses < 0.0) {
        findings.push(against(format!("impossible: {misses} mispredictions per unit")));
    }
    findings
}

/// The direction must agree with the claim's own ratio.
fn direction(claim: &ClaimSpec, margin: Margin) -> Option<ClaimFinding> {
    let (says, ratio) = (claim.says?, claim.ratio?);
    let (agrees, word) = match says {
        Says::Faster => (ratio < 1.0, "faster"),
        Says::Slower => (ratio > 1.0, "slower"),
        Says::Equivalent => (margin.covers(ratio), "equivalent"),
    };
    (!agrees).then(|| {
        against(format!(
            "the claim contradicts itself: it says {word}, but its ratio of times (candidate / baseline) is {ratio}"
        ))
    })
}

/// Before and after must reproduce the change, or the ratio where no change is stated.
pub(crate) fn own_numbers(
    (before, after): (Option<f64>, Option<f64>),
    change: Option<f64>,
    ratio: Option<f64>,
    tolerance: f64,
) -> Option<ClaimFinding> {
    let (before, after) = (before?, after?);
    let (name, stated) = match (change, ratio) {
        (Some(change), _) => ("change", change),
        (None, Some(ratio)) => ("ratio", ratio),
        (None, None) => return None,
    };
    if before == 0.0 {
        return Some(ClaimFinding::new(
            Standing::Open,
            format!("no {name} can be computed from a \"before\" of 0"),
        ));
    }
    let computed = if name == "change" { (after - before) / before } else { after / before };
    let allowed = (tolerance * stated.abs()).max(ROUNDING);
    Some(if (computed - stated).abs() <= allowed {
        ClaimFinding::new(
            Standing::Consistent,
            format!("its own numbers agree: from {before} to {after} is a {name} of {computed:.4}"),
        )
    } else {
        against(format!(
            "its own numbers contradict it: from {before} to {after} is a {name} of {computed:.4}, not {stated}"
        ))
    })
}

/// A share lies between nothing and the whole.
pub(crate) fn share(share: f64) -> ClaimFinding {
    if (0.0..=1.0).contains(&share) {
        ClaimFinding::new(Standing::Consistent, format!("a share of {share} is possible"))
    } else {
        against(format!("impossible: a share of {share} is not part of a whole"))
    }
}

/// Mispredictions against the floor of an independent stream, input by input.
fn misses(claim: &ClaimSpec, context: &ClaimContext<'_>) -> Vec<ClaimFinding> {
    if claim.miss_rate.is_none() && claim.misses_per_unit.is_none() {
        return Vec::new();
    }
    let inputs: Vec<&InputFacts> =
        context.inputs.iter().filter(|facts| scope::names(&claim.inputs, &facts.name)).collect();
    if inputs.is_empty() {
        return vec![ClaimFinding::new(
            Standing::Open,
            "nothing is known of the inputs it speaks of".to_string(),
        )];
    }
    // What was counted is settled by the count; here only what no count could make true.
    let counted: Vec<&str> =
        context.missed_in(claim).into_iter().map(|cell| cell.cell.input.as_str()).collect();
    let rates = claim.miss_rate.map(|rate| inputs.iter().map(move |facts| of_rate(claim, rate, facts)));
    let counts =
        claim.misses_per_unit.map(|count| inputs.iter().map(move |facts| of_count(claim, count, facts)));
    let findings = rates.into_iter().flatten().chain(counts.into_iter().flatten());
    findings
        .zip(inputs.iter().cycle())
        .filter_map(|(finding, facts)| {
            let is_settled = finding.standing == Standing::Open && counted.contains(&facts.name.as_str());
            (!is_settled).then_some(finding)
        })
        .collect()
}

/// Branches per unit that a rate may have been divided by beside those of the decoder: a loop, a call, a return.
/// `perf stat` counts them all, so a rate is called impossible only if it is so even with them.
const OTHER_BRANCHES: f64 = 3.0;

fn of_rate(claim: &ClaimSpec, rate: f64, facts: &InputFacts) -> ClaimFinding {
    let (Some(floor), Some(branches)) = (facts.floor_misses_per_unit, facts.branches_per_unit) else {
        return unknown_floor(facts);
    };
    let counted = branches + OTHER_BRANCHES;
    let least = floor / counted;
    let least_text = format!("{} of the branches", words::fraction(least));
    if rate * (1.0 + tolerance(claim)) >= least {
        return possible(facts, least_text);
    }
    if facts.learnable {
        return learned(facts, least_text);
    }
    against(format!(
        "impossible on {}: its outcomes are independent, no predictor misses less than {floor:.3} per unit, which is {} of the {branches:.2} branches of the decoder and {} even if a loop, a call and a return are counted too; the claim says {}",
        facts.name,
        words::fraction(floor / branches),
        words::fraction(least),
        words::asked(rate)
    ))
}

fn of_count(claim: &ClaimSpec, count: f64, facts: &InputFacts) -> ClaimFinding {
    if let Some(branches) =
        facts.branches_per_unit.filter(|branches| count > branches * (1.0 + tolerance(claim)))
    {
        return against(format!(
            "impossible on {}: {count} mispredictions per unit, but only {branches:.2} branches",
            facts.name
        ));
    }
    let Some(floor) = facts.floor_misses_per_unit else {
        return unknown_floor(facts);
    };
    if facts.learnable && count * (1.0 + tolerance(claim)) < floor {
        learned(facts, format!("{floor:.3} per unit"))
    } else if count * (1.0 + tolerance(claim)) < floor {
        against(format!(
            "impossible on {}: its outcomes are independent, no predictor misses less than {floor:.3} per unit, the claim says {count}",
            facts.name
        ))
    } else {
        possible(facts, format!("{floor:.3} per unit"))
    }
}

/// A short input read again and again can be memorised, and then the floor of fresh data is no bound.
fn learned(facts: &InputFacts, least: String) -> ClaimFinding {
    let text = format!(
        "{}: below the floor of {least} that fresh data of this kind has; possible only if the predictor memorises this short input",
        facts.name
    );
    ClaimFinding::new(Standing::Open, text)
}

fn unknown_floor(facts: &InputFacts) -> ClaimFinding {
    let text = format!(
        "{}: no floor is known (its outcomes are not independent) and no mispredictions were counted",
        facts.name
    );
    ClaimFinding::new(Standing::Open, text)
}

fn possible(facts: &InputFacts, least: String) -> ClaimFinding {
    let text = format!("{}: not below the floor of {least}, but no mispredictions were counted", facts.name);
    ClaimFinding::new(Standing::Open, text)
}
