//! A comparison as it was planned: what the ledger keeps of it, from which its page is made again.

use assay_pure::compare::{Gates, PHASES};
use assay_pure::stats::margin::Margin;
use serde::{Deserialize, Serialize};

/// What was varied so that chance is told from code; the words of the page.
pub use assay_report::compare::Method;

/// Everything that a comparison's visits follow from, and what its page must say of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// What built both sides.
    pub build: Option<String>,
    /// The benchmark command, or both.
    pub bench: Vec<String>,
    /// What reads its figures, in a few words.
    pub adapter: String,
    /// What is varied.
    pub method: Method,
    /// The equivalence margin.
    pub minimum_effect: Margin,
    /// Of all verdicts together.
    pub confidence: f64,
    /// Of orders, shuffles and surroundings.
    pub seed: u64,
    /// Sides measured: 1 or 2; as many as there are builds in a session of a diary.
    pub sides: u32,
    /// Shuffles.
    pub rotations: u32,
    /// Passes over all placements at most.
    pub rounds: u32,
    /// After how many rounds the verdicts are looked at; the last is `rounds`. None: one visit of each side is made, for the times
    /// of what is proven.
    pub looks: Vec<u32>,
    /// Seconds of measuring.
    pub budget_seconds: f64,
    /// When it shall fail a build.
    pub gate: Option<Gates>,
    /// What it cannot tell; sentences.
    pub limits: Vec<String>,
    /// What the reader should know; sentences.
    pub warnings: Vec<String>,
}

impl Spec {
    /// Visits of one round.
    pub fn visits_per_round(&self) -> u64 {
        visits_per_round(self.rotations, self.sides)
    }

    /// How many of the planned looks are behind, given complete rounds; the one under way counts once there are rounds.
    pub fn look(&self, rounds: u32) -> u32 {
        (self.looks.iter().filter(|look| **look <= rounds).count() as u32).max(1)
    }
}

/// Visits of one round of `rotations` shuffles.
pub fn visits_per_round(rotations: u32, sides: u32) -> u64 {
    (1 + u64::from(rotations) * PHASES.len() as u64) * u64::from(sides)
}

/// What the user asks of how a budget is spent; none: it is shared out by what visits take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedEffort {
    /// Shuffles.
    pub rotations: Option<u32>,
    /// Passes over all placements, at most.
    pub rounds: Option<u32>,
}

/// How a budget is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Shuffles.
    pub rotations: u32,
    /// Passes over all placements.
    pub rounds: u32,
    /// After how many rounds the verdicts are looked at.
    pub looks: Vec<u32>,
}

/// Fewest rotations that an interval is built on with some confidence.
pub const FEWEST_ROTATIONS: u32 = 4;
/// Rotations by default: with them the placement is averaged to about half a percent.
pub const ROTATIONS: u32 = 8;
/// Seconds that starting a command takes at least.
pub const SHORTEST_VISIT: f64 = 1e-3;
/// Rounds beyond which rotations are what is lacking.
const MOST_ROUNDS: u32 = 12;

/// Shares a budget out: rotations first, since placement is the largest error, then rounds.
///
/// Input: seconds; what one visit took; rotations and rounds asked for, if any. Returns `None` if not even the fewest rotations fit
/// once, with nothing asked for.
pub fn effort(budget: f64, visit_seconds: f64, asked: AskedEffort, sides: u32) -> Option<Effort> {
    let most = asked.rounds.unwrap_or(MOST_ROUNDS);
    let rounds_of = |rotations: u32| {
        let round = visits_per_round(rotations, sides) as f64 * visit_seconds.max(SHORTEST_VISIT);
        (budget / round).floor() as u32
    };
    let candidates = match asked.rotations {
        Some(asked) => asked..=asked,
        None => FEWEST_ROTATIONS..=ROTATIONS,
    };
    let rotations = candidates
        .clone()
        .rev()
        .find(|rotations| rounds_of(*rotations) >= most.min(2))
        .or_else(|| candidates.rev().find(|rotations| rounds_of(*rotations) >= 1))?;
    let rounds = rounds_of(rotations).min(most);
    let looks = if rounds >= 4 { vec![rounds.div_ceil(2), rounds] } else { vec![rounds] };
    Some(Effort { rotations, rounds, looks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_come_before_rounds() {
        // 66 visits per round of 8 rotations.
        let of = |budget, visit| {
            effort(budget, visit, AskedEffort::default(), 2).map(|found| (found.rotations, found.rounds))
        };
        assert_eq!(of(660.0, 1.0), Some((8, 10)));
        assert_eq!(of(132.0, 1.0), Some((8, 2)));
        assert_eq!(of(131.0, 1.0), Some((7, 2)), "two rounds of 58");
        assert_eq!(
            of(67.9, 1.0),
            Some((8, 1)),
            "not even two of 34: as many rotations as one round has room for"
        );
        assert_eq!(of(40.0, 1.0), Some((4, 1)));
        assert_eq!(of(33.0, 1.0), None);
        assert_eq!(of(1e9, 1.0), Some((8, MOST_ROUNDS)));
    }

    #[test]
    fn what_is_asked_for_is_kept() {
        let of_rotations = |rotations| AskedEffort { rotations: Some(rotations), rounds: None };
        let found = effort(660.0, 1.0, of_rotations(16), 2).unwrap();
        assert_eq!((found.rotations, found.rounds, found.looks), (16, 5, vec![3, 5]));
        assert_eq!(effort(100.0, 1.0, of_rotations(16), 2), None);
        assert_eq!(effort(660.0, 1.0, of_rotations(8), 1).unwrap().rounds, 12);
        assert_eq!(effort(200.0, 1.0, AskedEffort::default(), 2).unwrap().looks, [3]);
    }
}
