//! Claims about a step, checked by arithmetic first and by what was found second.
//!
//! Counts are exact, so a claim on them is borne out or contradicted within its tolerance. Time goes by the verdict of the
//! placement design: a ratio is contradicted only if the whole interval speaks against it.

use super::quantity::{CommandFigures, Quantity};
use super::step::TimeFound;
use crate::stats::margin::Margin;
use crate::verdict::Verdict;
use crate::verdict::claims::arithmetic::{against, own_numbers, share};
use crate::verdict::claims::{ClaimFinding, ClaimResult, DEFAULT_TOLERANCE, Standing, conclude};
use serde::{Deserialize, Serialize};

/// One `[[claims]]` entry of a diary. It may state several things; all must hold for it to be confirmed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiaryClaim {
    /// The sentence as it was said.
    pub text: String,
    /// Who said it, where.
    pub source: Option<String>,
    /// The stage it is about, by number.
    pub stage: Option<usize>,
    /// The role it is about, by number; all if none.
    pub role: Option<usize>,
    /// What the stage is compared with.
    pub against: ComparedWith,
    /// The figure it is about.
    pub of: Option<Quantity>,
    /// The direction claimed.
    pub says: Option<Direction>,
    /// This stage / the other.
    pub ratio: Option<f64>,
    /// The same as a change: -0.47 is "47 % fewer".
    pub change: Option<f64>,
    /// The figure itself; nanoseconds for times.
    pub value: Option<f64>,
    /// `value` is per unit, not of the whole command.
    pub per_unit: bool,
    /// Relative tolerance on ratio, change and value.
    pub tolerance: Option<f64>,
    /// Two numbers of the claim itself that must reproduce `change` or `ratio`: before.
    pub before: Option<f64>,
    /// ... and after.
    pub after: Option<f64>,
    /// Two numbers of the claim itself that must reproduce `share`: the part.
    pub part: Option<f64>,
    /// ... and the whole.
    pub whole: Option<f64>,
    /// A part of a whole, as a fraction.
    pub share: Option<f64>,
}

/// What a claim compares a stage with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedWith {
    /// The stage before.
    #[default]
    Before,
    /// The first stage.
    First,
    /// An entrant by its number.
    Entrant(usize),
}

/// The direction of any quantity that a claim of a diary gives: times, counts, sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Less of it; faster.
    Less,
    /// More of it; slower.
    More,
    /// The same within the minimum effect.
    Same,
}

/// What was found of what a claim speaks of, in one role.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleFindings {
    /// "release against debug, alloc".
    pub place: String,
    /// Of the stage.
    pub own: CommandFigures,
    /// Of what it is compared with.
    pub other: Option<CommandFigures>,
    /// Of their times.
    pub time: Option<TimeFound>,
}

/// Compares a claim with its own numbers, then with what was found in each role it speaks of.
///
/// What is impossible is refuted without looking at a single figure.
pub fn check(claim: &DiaryClaim, seen: &[RoleFindings], margin: Margin) -> ClaimResult {
    let own = arithmetic(claim);
    if own.iter().any(|finding| finding.standing == Standing::Contradicted) {
        return conclude(&claim.text, &own);
    }
    let mut findings = own;
    if let Some(quantity) = claim.of {
        if seen.is_empty() {
            let text = format!("{} not measured", quantity.word());
            findings.push(ClaimFinding::new(Standing::Open, text));
        }
        for seen in seen {
            findings.extend(of_change(claim, quantity, seen, margin));
            findings.extend(claim.value.map(|value| of_value(claim, quantity, value, seen)));
        }
    }
    conclude(&claim.text, &findings)
}

fn tolerance(claim: &DiaryClaim) -> f64 {
    claim.tolerance.unwrap_or(DEFAULT_TOLERANCE)
}

fn arithmetic(claim: &DiaryClaim) -> Vec<ClaimFinding> {
    let mut findings = Vec::new();
    findings.extend(own_numbers((claim.before, claim.after), claim.change, claim.ratio, tolerance(claim)));
    findings.extend(part_of_whole(claim).or_else(|| claim.share.map(share)));
    findings.extend(one_change(claim));
    findings.extend(direction(claim));
    if let (Some(Quantity::MissRate), Some(value)) = (claim.of, claim.value.filter(|value| *value > 1.0)) {
        findings.push(against(format!("impossible: the miss rate {value} is not between 0 and 1")));
    }
    findings
}

/// A share that its own numbers do not give.
fn part_of_whole(claim: &DiaryClaim) -> Option<ClaimFinding> {
    let (part, whole) = (claim.part?, claim.whole?);
    if part > whole || whole <= 0.0 {
        return Some(against(format!("impossible: the part {part} exceeds the whole {whole}")));
    }
    let (share, found) = (claim.share?, part / whole);
    // A share that is right to half a tenth of a point is only rounded.
    let allowed = (tolerance(claim) * share.abs()).max(0.0005);
    Some(if (found - share).abs() <= allowed {
        ClaimFinding::new(
            Standing::Consistent,
            format!("its own numbers agree: {part} of {whole} is {found:.4}"),
        )
    } else {
        against(format!("its own numbers contradict it: {part} of {whole} is {found:.4}, not {share}"))
    })
}

/// A ratio and a change of one claim say the same.
fn one_change(claim: &DiaryClaim) -> Option<ClaimFinding> {
    let (ratio, change) = (claim.ratio?, claim.change?);
    let agrees = (ratio - 1.0 - change).abs() <= (tolerance(claim) * ratio).max(0.01);
    (!agrees).then(|| {
        against(format!("the claim contradicts itself: a change of {change} is not a ratio of {ratio}"))
    })
}

fn direction(claim: &DiaryClaim) -> Option<ClaimFinding> {
    let ratio = claim.ratio.or(claim.change.map(|change| 1.0 + change))?;
    let (agrees, word) = match claim.says? {
        Direction::Less => (ratio < 1.0, "less"),
        Direction::More => (ratio > 1.0, "more"),
        Direction::Same => ((ratio - 1.0).abs() <= tolerance(claim), "the same"),
    };
    (!agrees)
        .then(|| against(format!("the claim contradicts itself: it says {word}, but its ratio is {ratio}")))
}

/// What it says of the change.
fn of_change(
    claim: &DiaryClaim,
    quantity: Quantity,
    seen: &RoleFindings,
    margin: Margin,
) -> Vec<ClaimFinding> {
    let claimed = claim.ratio.or(claim.change.map(|change| 1.0 + change));
    if claim.says.is_none() && claimed.is_none() {
        return Vec::new();
    }
    let place = &seen.place;
    if quantity == Quantity::Time {
        let Some(time) = &seen.time else {
            return vec![ClaimFinding::new(Standing::Open, format!("times not compared ({place})"))];
        };
        let said = claim.says.map(|says| of_direction_of_time(says, time, place));
        return said
            .into_iter()
            .chain(claimed.map(|ratio| of_ratio_of_time(claim, ratio, time, place)))
            .collect();
    }
    let ratio = seen.other.as_ref().and_then(|other| seen.own.ratio(other, quantity));
    let Some(ratio) = ratio else {
        let text = format!("{}: not measured on both sides ({place})", quantity.word());
        return vec![ClaimFinding::new(Standing::Open, text)];
    };
    let found = format!("{}: ratio {ratio:.4} ({place})", quantity.word());
    let said = claim.says.map(|says| {
        let holds = match says {
            Direction::Less => ratio < 1.0,
            Direction::More => ratio > 1.0,
            Direction::Same => margin.covers(ratio),
        };
        ClaimFinding::new(if holds { Standing::Holds } else { Standing::Contradicted }, found.clone())
    });
    let exact = claimed.map(|claimed| {
        let holds = (ratio - claimed).abs() <= tolerance(claim) * claimed;
        let text = if holds { found } else { format!("{found}, not {claimed}") };
        ClaimFinding::new(if holds { Standing::Holds } else { Standing::Contradicted }, text)
    });
    match (said, exact) {
        // Both would say the same.
        (Some(said), Some(exact)) if said.standing == exact.standing => vec![exact],
        (said, exact) => said.into_iter().chain(exact).collect(),
    }
}

fn of_direction_of_time(says: Direction, time: &TimeFound, place: &str) -> ClaimFinding {
    let wanted = match says {
        Direction::Less => Verdict::Faster,
        Direction::More => Verdict::Slower,
        Direction::Same => Verdict::Equivalent,
    };
    let standing = match time.verdict {
        Verdict::Undecided => Standing::Open,
        verdict if verdict == wanted => Standing::Holds,
        _ => Standing::Contradicted,
    };
    ClaimFinding::new(
        standing,
        format!("{}, the ratio of times is {} ({place})", time.verdict.word(), span(time)),
    )
}

fn of_ratio_of_time(claim: &DiaryClaim, claimed: f64, time: &TimeFound, place: &str) -> ClaimFinding {
    let width = tolerance(claim) * claimed;
    let (low, high) = (claimed - width, claimed + width);
    let standing = if time.upper < low || time.lower > high {
        Standing::Contradicted
    } else if (low..=high).contains(&time.ratio) {
        Standing::Holds
    } else {
        Standing::Open
    };
    ClaimFinding::new(standing, format!("the ratio of times is {}, claimed {claimed} ({place})", span(time)))
}

fn span(time: &TimeFound) -> String {
    format!("{:.3} ({:.3} to {:.3})", time.ratio, time.lower, time.upper)
}

fn of_value(claim: &DiaryClaim, quantity: Quantity, value: f64, seen: &RoleFindings) -> ClaimFinding {
    let found = if claim.per_unit { seen.own.per_unit(quantity) } else { seen.own.total(quantity) };
    let (place, word) = (&seen.place, quantity.word());
    let Some(found) = found else {
        return ClaimFinding::new(Standing::Open, format!("{word}: not measured ({place})"));
    };
    let holds = (found - value).abs() <= tolerance(claim) * value.abs();
    let told = if found.fract() == 0.0 { format!("{found}") } else { format!("{found:.4}") };
    let text = format!("{word}: {told} ({place})");
    if holds {
        return ClaimFinding::new(Standing::Holds, text);
    }
    ClaimFinding::new(Standing::Contradicted, format!("{text}, claimed {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::claims::ClaimStatus;

    fn claim() -> DiaryClaim {
        DiaryClaim { text: "t".into(), stage: Some(1), ..DiaryClaim::default() }
    }

    fn seen() -> Vec<RoleFindings> {
        let figures = |branches, misses| CommandFigures {
            units: 100.0,
            branches: Some(branches),
            misses: Some(misses),
            time_ns: Some(2000.0),
            ..CommandFigures::default()
        };
        vec![RoleFindings {
            place: "release against debug, alloc".into(),
            own: figures(9000, 700),
            other: Some(figures(17000, 1850)),
            time: Some(TimeFound {
                ratio: 0.58,
                lower: 0.56,
                upper: 0.60,
                verdict: Verdict::Faster,
                as_built: None,
                as_built_says: None,
            }),
        }]
    }

    fn status(claim: &DiaryClaim) -> ClaimStatus {
        check(claim, &seen(), Margin::of(0.02)).status
    }

    #[test]
    fn a_change_that_its_own_numbers_contradict_is_refuted_unseen() {
        // "0.103 s to 0.060 s, 30 % faster": it would be 42 % less.
        let claimed = DiaryClaim { before: Some(0.103), after: Some(0.060), change: Some(-0.30), ..claim() };
        let found = check(&claimed, &[], Margin::of(0.02));
        assert_eq!(found.status, ClaimStatus::Refuted);
        assert!(found.found.contains("-0.4175"), "{}", found.found);
        let right = DiaryClaim { change: Some(-0.42), ..claimed };
        assert_eq!(
            check(&right, &[], Margin::of(0.02)).status,
            ClaimStatus::Undecided,
            "agreeing with itself settles nothing"
        );
    }

    #[test]
    fn a_share_must_be_what_its_numbers_give() {
        // The document's first row: 1,854,018 of 17,098,340 are 10.84 %, not the 10.89 % of its heading.
        let of = |share| DiaryClaim {
            part: Some(1854018.0),
            whole: Some(17098340.0),
            share: Some(share),
            ..claim()
        };
        let exact = |share| DiaryClaim { tolerance: Some(0.0), ..of(share) };
        assert_eq!(status(&exact(0.1084)), ClaimStatus::Undecided);
        assert_eq!(status(&exact(0.1184)), ClaimStatus::Refuted);
        assert_eq!(
            status(&DiaryClaim { part: Some(2.0), whole: Some(1.0), ..claim() }),
            ClaimStatus::Refuted
        );
        assert_eq!(status(&DiaryClaim { share: Some(1.2), ..claim() }), ClaimStatus::Refuted);
        let rate = DiaryClaim { of: Some(Quantity::MissRate), value: Some(10.84), ..claim() };
        assert_eq!(status(&rate), ClaimStatus::Refuted);
    }

    #[test]
    fn a_direction_against_its_own_ratio_is_refuted() {
        let of = |says, ratio| DiaryClaim {
            of: Some(Quantity::Time),
            says: Some(says),
            ratio: Some(ratio),
            ..claim()
        };
        assert_eq!(status(&of(Direction::Less, 1.3)), ClaimStatus::Refuted);
        assert_eq!(status(&of(Direction::More, 0.7)), ClaimStatus::Refuted);
        assert_eq!(status(&of(Direction::Same, 0.7)), ClaimStatus::Refuted);
        let both = DiaryClaim { change: Some(-0.2), ratio: Some(0.5), ..claim() };
        assert_eq!(status(&both), ClaimStatus::Refuted);
    }

    #[test]
    fn counts_are_confirmed_or_refuted_exactly() {
        // 9000 / 17000 = 0.529.
        let of = |change| DiaryClaim { of: Some(Quantity::Branches), change: Some(change), ..claim() };
        assert_eq!(status(&of(-0.47)), ClaimStatus::Confirmed);
        assert_eq!(status(&of(-0.40)), ClaimStatus::Refuted);
        let says = |says| DiaryClaim { of: Some(Quantity::Branches), says: Some(says), ..claim() };
        assert_eq!(status(&says(Direction::Less)), ClaimStatus::Confirmed);
        assert_eq!(status(&says(Direction::More)), ClaimStatus::Refuted);
        assert_eq!(status(&says(Direction::Same)), ClaimStatus::Refuted);
        let instructions = DiaryClaim { of: Some(Quantity::Instructions), ..says(Direction::Less) };
        assert_eq!(status(&instructions), ClaimStatus::Undecided);
    }

    #[test]
    fn values_are_totals_unless_said_otherwise() {
        let of = |value, per_unit| DiaryClaim {
            of: Some(Quantity::Branches),
            value: Some(value),
            per_unit,
            ..claim()
        };
        assert_eq!(status(&of(9000.0, false)), ClaimStatus::Confirmed);
        assert_eq!(status(&of(90.0, true)), ClaimStatus::Confirmed);
        assert_eq!(status(&of(90.0, false)), ClaimStatus::Refuted);
        // 700 / 9000.
        let rate = DiaryClaim { of: Some(Quantity::MissRate), value: Some(0.078), ..claim() };
        assert_eq!(status(&rate), ClaimStatus::Confirmed);
    }

    #[test]
    fn times_go_by_the_verdict_and_its_interval() {
        let of = |ratio| DiaryClaim { of: Some(Quantity::Time), ratio: Some(ratio), ..claim() };
        assert_eq!(status(&of(0.58)), ClaimStatus::Confirmed);
        assert_eq!(status(&of(0.60)), ClaimStatus::Confirmed, "within five percent");
        assert_eq!(
            status(&of(0.62)),
            ClaimStatus::Undecided,
            "0.589 to 0.651 meets the interval, not the estimate"
        );
        assert_eq!(status(&of(0.70)), ClaimStatus::Refuted);
        let says = |says| DiaryClaim { of: Some(Quantity::Time), says: Some(says), ..claim() };
        assert_eq!(status(&says(Direction::Less)), ClaimStatus::Confirmed);
        assert_eq!(status(&says(Direction::More)), ClaimStatus::Refuted);
        assert_eq!(check(&says(Direction::Less), &[], Margin::of(0.02)).status, ClaimStatus::Undecided);
    }
}
