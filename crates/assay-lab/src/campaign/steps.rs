//! What a campaign does next, as a pure function of what it has done: so that a campaign that was killed goes on
//! exactly where it stopped, and the stopping rule can be tested without measuring.

use assay_pure::ledger::Stopped;

/// The rotations after which verdicts are looked at: `first`, then half as many again each time, up to `most`.
///
/// Looks are few, because each spends a part of the error that the experiment may make.
pub fn looks(first: u32, most: u32) -> Vec<u32> {
    let first = first.max(1);
    let mut levels = vec![first];
    while let Some(&last) = levels.last().filter(|&&last| last < most) {
        levels.push((last + (last / 2).max(2)).min(most));
    }
    levels
}

/// What has been done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoneSoFar {
    /// Finished rounds at the present level of rotations.
    pub rounds_at_level: u32,
    /// Looks taken.
    pub looks: u32,
    /// Contrasts still undecided at the last look; None before the first.
    pub undecided: Option<usize>,
    /// Measured so far, seconds.
    pub measured_seconds: f64,
}

/// What is allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLimits {
    /// Rotations at each look.
    pub levels: Vec<u32>,
    /// Rounds wanted at each level.
    pub rounds_per_level: u32,
    /// Seconds of measuring.
    pub budget_seconds: f64,
    /// What one more round at the present level is expected to take, seconds.
    pub round_seconds: f64,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CampaignStep {
    /// One more round over the rotations of this level (an index into the levels).
    Round {
        /// Which level.
        level: usize,
    },
    /// Look at the verdicts.
    Look,
    /// End, and why.
    Stop(Stopped),
}

/// Decides.
///
/// The first level gets at least one round whatever it costs: without it there is nothing to report.
pub fn next(done: &DoneSoFar, limits: &StepLimits) -> CampaignStep {
    let level = done.looks as usize;
    if done.undecided == Some(0) {
        return CampaignStep::Stop(Stopped::Decided);
    }
    if level >= limits.levels.len() {
        return CampaignStep::Stop(Stopped::Rotations);
    }
    let affordable = done.measured_seconds + limits.round_seconds <= limits.budget_seconds;
    match done.rounds_at_level {
        0 if level == 0 || affordable => CampaignStep::Round { level },
        0 => CampaignStep::Stop(Stopped::Budget),
        rounds if rounds < limits.rounds_per_level && affordable => CampaignStep::Round { level },
        _ => CampaignStep::Look,
    }
}

/// Rounds per rotation, at most: more tell nothing new, since rotations differ by more than their visits do.
pub const MOST_ROUNDS: u32 = 20;
/// The share of the budget left that the way to the next look may take.
const LOOK_SHARE: f64 = 0.5;
/// Visits of a placement of which one at the least has the core for itself nearly always.
const ENOUGH_VISITS: u32 = 3;
/// Rotations that a look adds at the least, where so many are planned.
const LEAST_ADDED: u32 = 2;

/// Rounds before a look: what half of the budget that is left allows, or before the `last` look all of it. Of few rounds so many as
/// visit each placement often enough, if the whole budget allows it: more rotations that are visited once would say less.
pub fn rounds_per_level(left_seconds: f64, round_seconds: f64, last: bool) -> u32 {
    let affordable = |share: f64| (left_seconds.max(0.0) * share / round_seconds.max(1e-6)).floor() as u32;
    affordable(share_of_budget(last)).max(affordable(1.0).min(ENOUGH_VISITS)).clamp(1, MOST_ROUNDS)
}

/// The part of the budget left that a level may take: all of it before the last look.
pub fn share_of_budget(last: bool) -> f64 {
    if last { 1.0 } else { LOOK_SHARE }
}

/// Rotations that the next look adds: those planned, or as many of them as can be visited often enough in so many seconds, of which
/// one visit of a rotation takes `rotation_seconds`.
///
/// A placement that is visited once is spoilt where that visit was disturbed; of three visits the undisturbed samples are found.
pub fn added(planned: u32, seconds: f64, rotation_seconds: f64) -> u32 {
    let visited_often = seconds.max(0.0) / (f64::from(ENOUGH_VISITS) * rotation_seconds.max(1e-9));
    planned.min((visited_often as u32).max(LEAST_ADDED))
}

/// Rounds that tell how much rounds differ: of two or three, an interval knows little and is wide.
const ENOUGH_ROUNDS: u32 = 4;

/// Is one more round of this level worth more than a look, because some contrast `lacks` complete rotations to say anything? If one
/// was made for that, there are as many as tell how much they differ.
///
/// What was lost was lost to others' work, not to what it showed: measuring it again chooses nothing. Before there is any
/// answer the budget may be spent twice.
pub fn measures_again(done: &DoneSoFar, limits: &StepLimits, lacks: bool, most_rounds: u32) -> bool {
    let made = done.rounds_at_level > limits.rounds_per_level && done.rounds_at_level < ENOUGH_ROUNDS;
    let times = if done.looks == 0 { 2.0 } else { 1.0 };
    (lacks || made)
        && done.rounds_at_level < most_rounds
        && done.measured_seconds + limits.round_seconds <= times * limits.budget_seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> StepLimits {
        StepLimits { levels: looks(8, 32), rounds_per_level: 2, budget_seconds: 60.0, round_seconds: 5.0 }
    }

    #[test]
    fn a_level_takes_half_of_what_is_left_but_visits_each_placement_thrice_if_all_of_it_allows_that() {
        assert_eq!(rounds_per_level(60.0, 5.0, false), 6);
        assert_eq!(rounds_per_level(60.0, 1.0, false), MOST_ROUNDS);
        assert_eq!((rounds_per_level(4.0, 1.2, false), rounds_per_level(4.0, 1.5, false)), (3, 2));
        assert_eq!((rounds_per_level(4.0, 9.0, false), rounds_per_level(-1.0, 1.0, true)), (1, 1));
        assert_eq!(rounds_per_level(10.0, 2.0, true), 5);
    }

    #[test]
    fn a_look_adds_only_rotations_that_are_visited_often_enough() {
        assert_eq!(added(9, 100.0, 0.1), 9, "all that are planned");
        assert_eq!(added(9, 1.6, 0.1), 5);
        assert_eq!(added(9, 0.1, 0.1), 2);
        assert_eq!((added(1, 0.0, 0.1), added(9, 1.0, 0.0)), (1, 9));
    }

    #[test]
    fn looks_ever_more_rarely_up_to_the_last_rotation() {
        assert_eq!(looks(8, 32), vec![8, 12, 18, 27, 32]);
        assert_eq!(looks(4, 4), vec![4]);
        assert_eq!(looks(3, 6), vec![3, 5, 6]);
        assert_eq!(looks(8, 2), vec![8], "the minimum is measured even above the maximum");
    }

    #[test]
    fn measures_the_first_level_once_even_beyond_the_budget() {
        let limits = StepLimits { budget_seconds: 1.0, ..limits() };
        assert_eq!(next(&DoneSoFar::default(), &limits), CampaignStep::Round { level: 0 });
        let after = DoneSoFar { rounds_at_level: 1, measured_seconds: 5.0, ..DoneSoFar::default() };
        assert_eq!(next(&after, &limits), CampaignStep::Look);
        let looked = DoneSoFar { looks: 1, undecided: Some(3), rounds_at_level: 0, ..after };
        assert_eq!(next(&looked, &limits), CampaignStep::Stop(Stopped::Budget));
    }

    #[test]
    fn stops_when_every_contrast_is_decided() {
        let done = DoneSoFar { looks: 1, undecided: Some(0), measured_seconds: 10.0, rounds_at_level: 0 };
        assert_eq!(next(&done, &limits()), CampaignStep::Stop(Stopped::Decided));
    }

    #[test]
    fn adds_rotations_while_a_contrast_is_undecided() {
        let done = DoneSoFar { looks: 1, undecided: Some(1), measured_seconds: 10.0, rounds_at_level: 0 };
        assert_eq!(next(&done, &limits()), CampaignStep::Round { level: 1 });
        let measured = DoneSoFar { rounds_at_level: 2, ..done };
        assert_eq!(next(&measured, &limits()), CampaignStep::Look);
    }

    #[test]
    fn gives_up_after_the_last_level() {
        let done = DoneSoFar { looks: 5, undecided: Some(1), measured_seconds: 10.0, rounds_at_level: 0 };
        assert_eq!(next(&done, &limits()), CampaignStep::Stop(Stopped::Rotations));
    }

    #[test]
    fn a_level_that_lost_its_rotations_is_measured_again_within_twice_the_budget() {
        let limits = StepLimits { budget_seconds: 10.0, round_seconds: 4.0, ..limits() };
        let after = |rounds: u32, looks: u32| DoneSoFar {
            rounds_at_level: rounds,
            looks,
            measured_seconds: f64::from(rounds) * 4.0,
            ..DoneSoFar::default()
        };
        for (rounds, looks, lacks, again) in [
            (1, 0, true, true),
            (4, 0, true, true),
            (5, 0, true, false),
            (1, 1, true, true),
            (2, 1, true, false),
            // Two were wanted; the third is made for what was lost, and the fourth tells how much they differ.
            (2, 0, false, false),
            (3, 0, false, true),
            (4, 0, false, false),
        ] {
            let found = measures_again(&after(rounds, looks), &limits, lacks, 8);
            assert_eq!(found, again, "{rounds} rounds, {looks} looks, lacks {lacks}");
        }
        assert!(!measures_again(&after(1, 0), &limits, true, 1), "no more rounds than tell something");
    }
}
