//! What did a stage bring against the one before, and which steps brought most?
//!
//! Method: the verdict on the time comes from the placement design and decides; counts are exact and need no interval. A
//! step whose builds look different as linked, though their code is equivalent over placements, is a ghost: it brought
//! nothing, and looks as if it had. The part of a step is what it saved of the time (or branches) of the first stage,
//! divided by what all steps together saved; on that scale steps add up, whatever their order of size.
//! Limits: the parts are those of this order of steps; in another order a step may bring something else.
//! Checked: values by hand below.

use super::quantity::{CommandFigures, Quantity};
use crate::stats::margin::Margin;
use crate::verdict::{AsBuiltSays, Verdict};
use serde::{Deserialize, Serialize};

/// What the placement design says of the time of a stage against another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeFound {
    /// Time of this stage / time of the other, over placements.
    pub ratio: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end of its interval.
    pub upper: f64,
    /// What is said of it.
    pub verdict: Verdict,
    /// The same ratio as built, if it was measured.
    pub as_built: Option<f64>,
    /// What the comparison as built is worth.
    pub as_built_says: Option<AsBuiltSays>,
}

/// What a stage is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The stage before.
    Before,
    /// The first stage.
    First,
    /// A reference.
    Reference,
}

/// What a step brought in a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Brought {
    /// Less time.
    Faster,
    /// More time.
    Slower,
    /// Nothing, though the builds as linked differ.
    Ghost,
    /// The same time by other counts: work that was saved or added where it costs nothing.
    OnlyCounts,
    /// Neither time nor counts.
    Nothing,
    /// Not known: the time is undecided or was not measured.
    Open,
}

impl Brought {
    /// The word of tables.
    pub fn word(self) -> &'static str {
        match self {
            Brought::Faster => "faster",
            Brought::Slower => "slower",
            Brought::Ghost => "ghost",
            Brought::OnlyCounts => "only counts",
            Brought::Nothing => "nothing",
            Brought::Open => "open",
        }
    }

    /// Whether the step may as well be undone, as far as time goes.
    pub fn is_nothing(self) -> bool {
        matches!(self, Brought::Ghost | Brought::Nothing | Brought::OnlyCounts)
    }
}

/// Counts that a step can change.
const COUNTS: [Quantity; 3] = [Quantity::Instructions, Quantity::Branches, Quantity::Misses];

/// Judges a step: the time decides, then what it looked like as built, then the counts.
///
/// Input: figures before and after; what is known of the time; the margin. A count that is known on one side
/// alone does not count as changed.
pub fn brought(
    before: &CommandFigures,
    after: &CommandFigures,
    time: Option<&TimeFound>,
    margin: Margin,
) -> Brought {
    let Some(time) = time else { return Brought::Open };
    match (time.verdict, time.as_built_says) {
        (Verdict::Faster, _) => Brought::Faster,
        (Verdict::Slower, _) => Brought::Slower,
        (Verdict::Undecided, _) => Brought::Open,
        (Verdict::Equivalent, Some(AsBuiltSays::Ghost)) => Brought::Ghost,
        (Verdict::Equivalent, _) if COUNTS.iter().any(|count| is_changed(before, after, *count, margin)) => {
            Brought::OnlyCounts
        }
        (Verdict::Equivalent, _) => Brought::Nothing,
    }
}

/// Whether a quantity per unit differs by more than the margin.
pub fn is_changed(
    before: &CommandFigures,
    after: &CommandFigures,
    quantity: Quantity,
    margin: Margin,
) -> bool {
    match (before.per_unit(quantity), after.per_unit(quantity)) {
        // From nothing to something is a change, however small.
        (Some(0.0), Some(after)) => after != 0.0,
        // What lies on the margin is within it, whatever the last bit says.
        (Some(before), Some(after)) => (after / before).ln().abs() > margin.ln() + 1e-9,
        _ => false,
    }
}

/// The part of each step in what a chain of steps saved, or added, in all.
///
/// Input: per step the ratio after / before. Returns: parts that sum to 1, negative for steps the other way; `None` if
/// there is no step or the chain ends within the margin of where it began, where parts of nothing would be told.
pub fn parts(ratios: &[f64], margin: Margin) -> Option<Vec<f64>> {
    let mut level = 1.0;
    let mut saved = Vec::with_capacity(ratios.len());
    for ratio in ratios {
        let next = level * ratio;
        saved.push(level - next);
        level = next;
    }
    let all = 1.0 - level;
    let told = level > 0.0 && level.is_finite() && margin.is_exceeded_by(level);
    told.then(|| saved.into_iter().map(|saved| saved / all).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(branches: u64, misses: u64) -> CommandFigures {
        CommandFigures {
            units: 10.0,
            branches: Some(branches),
            misses: Some(misses),
            instructions: Some(1000),
            ..CommandFigures::default()
        }
    }

    fn time(ratio: f64, verdict: Verdict, as_built_says: Option<AsBuiltSays>) -> TimeFound {
        TimeFound { ratio, lower: ratio, upper: ratio, verdict, as_built: Some(1.2), as_built_says }
    }

    #[test]
    fn the_time_decides_whatever_the_counts_say() {
        let (before, after) = (figures(100, 5), figures(50, 5));
        let found =
            |verdict, says| brought(&before, &after, Some(&time(0.5, verdict, says)), Margin::of(0.02));
        assert_eq!(found(Verdict::Faster, None), Brought::Faster);
        assert_eq!(found(Verdict::Slower, Some(AsBuiltSays::Confirmed)), Brought::Slower);
        assert_eq!(found(Verdict::Undecided, None), Brought::Open);
        assert_eq!(brought(&before, &after, None, Margin::of(0.02)), Brought::Open);
    }

    #[test]
    fn a_step_that_only_looks_like_one_is_a_ghost() {
        let same = figures(100, 5);
        let ghost = time(1.001, Verdict::Equivalent, Some(AsBuiltSays::Ghost));
        assert_eq!(brought(&same, &same, Some(&ghost), Margin::of(0.02)), Brought::Ghost);
        assert_eq!(
            brought(&same, &figures(50, 5), Some(&ghost), Margin::of(0.02)),
            Brought::Ghost,
            "as built it misleads all the same"
        );
        let plain = time(1.001, Verdict::Equivalent, Some(AsBuiltSays::Confirmed));
        assert_eq!(brought(&same, &same, Some(&plain), Margin::of(0.02)), Brought::Nothing);
        assert!(
            Brought::Ghost.is_nothing() && Brought::OnlyCounts.is_nothing() && !Brought::Open.is_nothing()
        );
    }

    #[test]
    fn counts_within_the_margin_are_no_change() {
        let equivalent = time(1.0, Verdict::Equivalent, None);
        let found =
            |after: CommandFigures| brought(&figures(1000, 100), &after, Some(&equivalent), Margin::of(0.02));
        assert_eq!(found(figures(1020, 100)), Brought::Nothing);
        assert_eq!(found(figures(1021, 100)), Brought::OnlyCounts);
        // 1/1.02 is the same step down.
        assert_eq!(found(figures(981, 100)), Brought::Nothing);
        assert_eq!(found(figures(980, 100)), Brought::OnlyCounts);
        assert_eq!(found(figures(1000, 90)), Brought::OnlyCounts);
        assert_eq!(found(CommandFigures { misses: None, ..figures(1000, 0) }), Brought::Nothing);
        let fewer_instructions = CommandFigures { instructions: Some(900), ..figures(1000, 100) };
        assert_eq!(found(fewer_instructions), Brought::OnlyCounts);
    }

    #[test]
    fn more_work_in_more_units_is_no_change() {
        let more = CommandFigures { units: 20.0, instructions: Some(2000), ..figures(200, 10) };
        let equivalent = time(1.0, Verdict::Equivalent, None);
        assert_eq!(brought(&figures(100, 5), &more, Some(&equivalent), Margin::of(0.02)), Brought::Nothing);
    }

    #[test]
    fn something_where_there_was_nothing_is_a_change() {
        let (none, some) = (figures(100, 0), figures(100, 1));
        assert!(is_changed(&none, &some, Quantity::Misses, Margin::of(0.5)));
        assert!(!is_changed(&none, &none, Quantity::Misses, Margin::of(0.5)));
        assert!(is_changed(&some, &none, Quantity::Misses, Margin::of(0.5)));
    }

    #[test]
    fn parts_are_of_what_was_saved_in_all() {
        // 100 -> 50 -> 55 -> 20: saved 50, -5, 35 of 80.
        let found = parts(&[0.5, 1.1, 20.0 / 55.0], Margin::of(0.02)).unwrap();
        let expected = [50.0 / 80.0, -5.0 / 80.0, 35.0 / 80.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        // What became slower in all: 100 -> 150, the whole of it by the second step.
        assert_eq!(parts(&[1.0, 1.5], Margin::of(0.02)), Some(vec![0.0, 1.0]));
        assert_eq!(parts(&[0.5, 2.01], Margin::of(0.02)), None, "it ends where it began");
        assert_eq!(parts(&[], Margin::of(0.02)), None);
        assert_eq!(parts(&[f64::NAN], Margin::of(0.02)), None);
        assert_eq!(parts(&[0.0], Margin::of(0.02)), None);
    }
}
