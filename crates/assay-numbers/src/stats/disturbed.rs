//! Which samples of one function were disturbed, where neither a clock nor a pulse saw it.
//!
//! Question: on a shared machine a third of the samples are slower by 3 to 60 %, for some microseconds each. A median over pairs
//! of samples feels that: a disturbed sample of one side moves it up, one of the other side down.
//! Method: what disturbs a sample only makes it slower, so the fast samples tell the time (Chen & Revels 2016, arXiv:1608.04295,
//! who take the fastest). The logarithms are fitted by a level for each placement and one for each stretch of the input at each
//! time, in turn, both lower quartiles. The twentieth and the lower quartile of what is left tell how undisturbed samples scatter;
//! a sample is disturbed if it lies higher than a normal distribution with that scatter would reach.
//! Limits: a placement of which three quarters are disturbed is taken for what it then is. Code that is slow by itself part of the
//! time looks the same from one side: whoever compares has to see that both sides lose as many.
//! Checked: tests below; errors against known truth and coverage by simulation, docs/methodology/verdicts.md.

use super::quantile::quantile;

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedSample {
    /// Where the function lay, from 0.
    pub placement: usize,
    /// The round, and its number in the visit: equal numbers mean the same stretch of the input at about the same time.
    pub at: (u32, u32),
    /// ln of its time.
    pub log: f64,
}

/// Fewest placements whose samples are fitted, and fewest samples for each in the mean.
const FEWEST_PLACEMENTS: usize = 4;
const FEWEST_SAMPLES: usize = 4;
/// Times that both levels are fitted in turn; more change nothing.
const TURNS: usize = 4;
/// The lower quartile of a normal distribution lies so many standard deviations below its middle ...
const QUARTILE: f64 = 0.674_490;
/// ... and its lowest twentieth so many below that.
const QUARTILE_TO_TWENTIETH: f64 = 1.644_854 - QUARTILE;
/// What lies so many standard deviations above the middle is disturbed: 6 of 1000 samples of a quiet machine.
const UNDISTURBED: f64 = 2.5;
/// The least scatter that is believed, ln: clocks tick.
const LEAST_SCATTER: f64 = 2e-4;

/// Which of one function's samples were disturbed; `None` where there are too few to tell.
///
/// Input: finite logarithms, in any order. Cost: linear, some passes.
pub fn disturbed(samples: &[PlacedSample]) -> Option<Vec<bool>> {
    let of_placements = grouped(samples, |sample| (sample.placement as u32, 0));
    if of_placements.len() < FEWEST_PLACEMENTS || samples.len() < FEWEST_SAMPLES * of_placements.len() {
        return None;
    }
    let of_stretches = grouped(samples, |sample| sample.at);
    let mut left: Vec<f64> = samples.iter().map(|sample| sample.log).collect();
    for _ in 0..TURNS {
        for groups in [&of_placements, &of_stretches] {
            take_levels(&mut left, groups);
        }
    }
    take_levels(&mut left, &of_placements);
    let (twentieth, quartile) = (quantile(&left, 0.05)?, quantile(&left, 0.25)?);
    let scatter = ((quartile - twentieth) / QUARTILE_TO_TWENTIETH).max(LEAST_SCATTER);
    let most = quartile + (QUARTILE + UNDISTURBED) * scatter;
    Some(left.into_iter().map(|one| one > most).collect())
}

/// Takes the lower quartile of each group from its samples.
fn take_levels(left: &mut [f64], groups: &[Vec<usize>]) {
    for group in groups {
        let values: Vec<f64> = group.iter().map(|&at| left[at]).collect();
        let level = quantile(&values, 0.25).unwrap_or(0.0);
        group.iter().for_each(|&at| left[at] -= level);
    }
}

/// The places of the samples that have a key in common.
fn grouped(samples: &[PlacedSample], key: impl Fn(&PlacedSample) -> (u32, u32)) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by_key(|&at| key(&samples[at]));
    order.chunk_by(|&one, &next| key(&samples[one]) == key(&samples[next])).map(<[usize]>::to_vec).collect()
}

/// How much of each side may be disturbed beyond the other, as a share of its samples, before what is slow is taken for the code's.
pub const MOST_APART: f64 = 0.2;

/// Which samples of two sides to leave out; nothing where it cannot be told, or where one side has more of them than the other: then
/// its code is slow by itself.
pub fn disturbed_alike(sides: [&[PlacedSample]; 2]) -> Option<[Vec<bool>; 2]> {
    let [one, other] = sides.map(disturbed);
    let (one, other) = (one?, other?);
    let share = |flags: &[bool]| flags.iter().filter(|flag| **flag).count() as f64 / flags.len() as f64;
    ((share(&one) - share(&other)).abs() <= MOST_APART).then_some([one, other])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 placements, 6 rounds of 4 samples; `slow` says by how much one is slower, ln.
    fn side(slow: impl Fn(usize, u32, u32, usize) -> f64) -> Vec<PlacedSample> {
        let mut samples = Vec::new();
        for placement in 0..8 {
            for round in 0..6 {
                for index in 0..4 {
                    let number = samples.len();
                    // Placements differ by 20 %, windows by 30 %, samples scatter by 0.25 %, nearly normally.
                    let level = 0.03 * placement as f64 + 0.1 * ((round * 4 + index) % 4) as f64;
                    let part = |factor, modulus| (number * factor % modulus) as f64 / modulus as f64 - 0.5;
                    let scatter = 0.005 * (part(37, 101) + part(53, 89) + part(71, 97));
                    let log = level + scatter + slow(placement, round, index, number);
                    samples.push(PlacedSample { placement, at: (round, index), log });
                }
            }
        }
        samples
    }

    fn count(flags: &[bool]) -> usize {
        flags.iter().filter(|flag| **flag).count()
    }

    #[test]
    fn on_a_quiet_machine_nothing_is_left_out_wherever_the_code_lies_and_whatever_its_input_costs() {
        let flags = disturbed(&side(|_, _, _, _| 0.0)).unwrap();
        assert!(count(&flags) <= flags.len() / 20, "{}", count(&flags));
    }

    #[test]
    fn what_a_neighbour_slows_by_a_few_percent_is_found_sample_by_sample() {
        let is_slow = |number: usize| number * 53 % 10 < 4;
        let samples =
            side(|_, _, _, number| if is_slow(number) { 0.05 + 0.01 * (number % 7) as f64 } else { 0.0 });
        let flags = disturbed(&samples).unwrap();
        let wrong = flags.iter().enumerate().filter(|(number, flag)| **flag != is_slow(*number)).count();
        assert!(wrong <= flags.len() / 20, "{wrong} of {}", flags.len());
    }

    #[test]
    fn a_whole_round_that_is_slower_is_no_disturbed_sample() {
        let flags = disturbed(&side(|_, round, _, _| if round == 3 { 0.2 } else { 0.0 })).unwrap();
        assert!(count(&flags) <= flags.len() / 20, "{}", count(&flags));
    }

    #[test]
    fn code_that_is_slow_by_itself_in_half_of_its_samples_loses_none_of_them() {
        let plain = side(|_, _, _, _| 0.0);
        let of_two_speeds = side(|_, _, _, number| if number * 53 % 10 < 5 { 0.3 } else { 0.0 });
        assert_eq!(disturbed_alike([&of_two_speeds, &plain]), None);
        let both = disturbed_alike([&of_two_speeds, &of_two_speeds]).unwrap();
        assert!(both.iter().all(|flags| count(flags) > flags.len() * 4 / 10));
    }

    #[test]
    fn few_samples_tell_nothing() {
        let all = side(|_, _, _, _| 0.0);
        let few = all.iter().copied().filter(|sample| sample.at.0 == 0 && sample.at.1 < 3);
        assert_eq!(disturbed(&few.collect::<Vec<_>>()), None, "three of each placement");
        let one: Vec<PlacedSample> = all.into_iter().filter(|sample| sample.placement < 3).collect();
        assert_eq!(disturbed(&one), None, "three placements");
        assert_eq!(disturbed(&[]), None);
    }
}
