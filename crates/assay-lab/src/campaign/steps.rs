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
pub struct Done {
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
pub struct Limits {
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
pub enum Step {
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
pub fn next(done: &Done, limits: &Limits) -> Step {
    let level = done.looks as usize;
    if done.undecided == Some(0) {
        return Step::Stop(Stopped::Decided);
    }
    if level >= limits.levels.len() {
        return Step::Stop(Stopped::Rotations);
    }
    let affordable = done.measured_seconds + limits.round_seconds <= limits.budget_seconds;
    match done.rounds_at_level {
        0 if level == 0 || affordable => Step::Round { level },
        0 => Step::Stop(Stopped::Budget),
        rounds if rounds < limits.rounds_per_level && affordable => Step::Round { level },
        _ => Step::Look,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { levels: looks(8, 32), rounds_per_level: 2, budget_seconds: 60.0, round_seconds: 5.0 }
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
        let limits = Limits { budget_seconds: 1.0, ..limits() };
        assert_eq!(next(&Done::default(), &limits), Step::Round { level: 0 });
        let after = Done { rounds_at_level: 1, measured_seconds: 5.0, ..Done::default() };
        assert_eq!(next(&after, &limits), Step::Look);
        let looked = Done { looks: 1, undecided: Some(3), rounds_at_level: 0, ..after };
        assert_eq!(next(&looked, &limits), Step::Stop(Stopped::Budget));
    }

    #[test]
    fn stops_when_every_contrast_is_decided() {
        let done = Done { looks: 1, undecided: Some(0), measured_seconds: 10.0, rounds_at_level: 0 };
        assert_eq!(next(&done, &limits()), Step::Stop(Stopped::Decided));
    }

    #[test]
    fn adds_rotations_while_a_contrast_is_undecided() {
        let done = Done { looks: 1, undecided: Some(1), measured_seconds: 10.0, rounds_at_level: 0 };
        assert_eq!(next(&done, &limits()), Step::Round { level: 1 });
        let measured = Done { rounds_at_level: 2, ..done };
        assert_eq!(next(&measured, &limits()), Step::Look);
    }

    #[test]
    fn gives_up_after_the_last_level() {
        let done = Done { looks: 5, undecided: Some(1), measured_seconds: 10.0, rounds_at_level: 0 };
        assert_eq!(next(&done, &limits()), Step::Stop(Stopped::Rotations));
    }
}
