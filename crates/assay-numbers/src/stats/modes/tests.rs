use super::*;
use crate::choices::SeededChoices;

/// Numbers drawn from a seed.
struct Chance(SeededChoices);

impl Chance {
    fn of(seed: u64) -> Chance {
        Chance(SeededChoices::new(seed, &[77]))
    }

    fn uniform(&mut self) -> f64 {
        (self.0.below(1 << 40) as f64 + 0.5) / (1u64 << 40) as f64
    }

    /// Box and Muller 1958.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.uniform().ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        radius * angle.cos()
    }
}

/// A campaign's visits to one side: 8 rotations at 4 offsets, 6 rounds.
#[derive(Clone, Copy)]
struct Drawn {
    /// ln(slow / fast).
    gap: f64,
    /// Probability that a visit is slow.
    slow: f64,
    /// Standard deviation between visits.
    visits: f64,
    /// Of processes at one offset.
    processes: f64,
    /// Probability of a visit that something else lengthened, by a half on average.
    outliers: f64,
    /// Whole processes are slow, not visits.
    sticky: bool,
}

const CALM: Drawn =
    Drawn { gap: 0.0, slow: 0.0, visits: 0.02, processes: 0.01, outliers: 0.0, sticky: false };

impl Drawn {
    fn visits(self, chance: &mut Chance) -> Vec<VisitLevel> {
        let offsets = [0.0, 0.2, -0.1, 0.05];
        let rounds: Vec<f64> = (0..6).map(|_| 0.05 * chance.normal()).collect();
        let mut visits = Vec::new();
        for process in 0..32 {
            let place = process % 4;
            let level = offsets[place as usize] + self.processes * chance.normal();
            let always = chance.uniform() < self.slow;
            for (round, shift) in rounds.iter().enumerate() {
                let slow = if self.sticky { always } else { chance.uniform() < self.slow };
                let longer =
                    if chance.uniform() < self.outliers { -0.5 * chance.uniform().ln() } else { 0.0 };
                let mode = if slow { self.gap } else { 0.0 };
                let log = level + shift + mode + longer + self.visits * chance.normal();
                visits.push(VisitLevel { log, place, process, round: round as u32 });
            }
        }
        visits
    }

    /// In how many of so many campaigns two modes are told.
    fn told(self, campaigns: u64) -> u64 {
        self.told_by(Comparable::Places, campaigns)
    }

    fn told_by(self, by: Comparable, campaigns: u64) -> u64 {
        let is_told = |seed: &u64| modes(&self.visits(&mut Chance::of(*seed)), by, 0.01).is_some();
        (0..campaigns).filter(is_told).count() as u64
    }
}

#[test]
fn the_fit_is_that_of_scikit_learn() {
    // GaussianMixture(2, covariance_type="tied", tol=1e-14, reg_covar=0): means, width, share of the upper one.
    let clear: Vec<f64> = (0..40u32)
        .map(|at| 0.1 * f64::from((at * 37) % 11) / 11.0)
        .chain((0..10u32).map(|at| 0.4 + 0.1 * f64::from((at * 23) % 7) / 7.0))
        .collect();
    let fit = TwoNormals::fitted(&clear).unwrap();
    assert!((fit.lower - 0.044_090_909_090_909_09).abs() < 1e-9, "{fit:?}");
    assert!((fit.upper - 0.438_571_428_571_428_56).abs() < 1e-9, "{fit:?}");
    assert!((fit.width - 0.028_724_5).abs() < 1e-6 && (fit.share - 0.2).abs() < 1e-9, "{fit:?}");
    assert_eq!(TwoNormals::fitted(&[1.0; 5]), None);
}

#[test]
fn both_speeds_their_shares_and_who_was_slow_are_found() {
    let drawn = Drawn { gap: 0.38, slow: 0.2, ..CALM };
    let visits = drawn.visits(&mut Chance::of(5));
    let found = modes(&visits, Comparable::Places, 0.01).expect("two modes");
    assert!((found.log_gap - 0.38).abs() < 0.02, "{}", found.log_gap);
    let share = found.slow.iter().filter(|slow| **slow).count() as f64 / visits.len() as f64;
    assert!((share - 0.2).abs() < 0.08, "{share}");
    assert_eq!(found.places, [0, 1, 2, 3]);
}

#[test]
fn what_has_one_mode_is_not_split() {
    assert_eq!(CALM.told(40), 0, "normal");
    assert_eq!(Drawn { processes: 0.1, ..CALM }.told(40), 0, "processes that differ");
    assert_eq!(Drawn { visits: 0.1, ..CALM }.told(40), 0, "wide");
    assert_eq!(Drawn { outliers: 0.05, ..CALM }.told(40), 0, "outliers");
    assert_eq!(Drawn { outliers: 0.3, ..CALM }.told(40), 0, "many outliers");
    for one in [CALM, Drawn { visits: 0.1, ..CALM }, Drawn { outliers: 0.3, processes: 0.1, ..CALM }] {
        assert_eq!(one.told_by(Comparable::Processes, 40), 0, "by processes");
    }
}

#[test]
fn where_processes_lie_at_unknown_places_they_are_compared_with_their_own_level() {
    let drawn = Drawn { gap: 0.2, slow: 0.3, processes: 0.1, visits: 0.01, ..CALM };
    assert!(drawn.told_by(Comparable::Places, 40) < 20, "hidden by what processes differ by");
    assert_eq!(drawn.told_by(Comparable::Processes, 40), 40);
    assert_eq!(Drawn { sticky: true, ..drawn }.told_by(Comparable::Processes, 40), 0);
}

#[test]
fn the_share_is_that_of_all_visits_though_processes_may_be_seen_in_one_mode() {
    for (share, visits) in [(0.1, 4), (0.3, 3), (0.5, 6), (0.8, 4), (0.9, 6)] {
        let mut chance = Chance::of(9);
        let seen: Vec<[f64; 2]> = (0..4000)
            .map(|_| {
                let slow = f64::from((0..visits).filter(|_| chance.uniform() < share).count() as u32);
                // What is slow in all visits looks like what is fast in all.
                if slow == f64::from(visits) { [slow, 0.0] } else { [f64::from(visits) - slow, slow] }
            })
            .collect();
        let found = slow_share(&seen).expect("some were seen in both");
        assert!((found - share).abs() < 0.015, "{found} for {share}");
    }
    assert_eq!(slow_share(&[[1.0, 1.0], [2.0, 0.0]]), None, "either mode explains two visits as well");
    assert_eq!(slow_share(&[[4.0, 0.0]]), None);
}

#[test]
fn neighbouring_figures_of_few_digits_are_no_modes() {
    let figures = |drawn: Drawn, digits: f64| {
        let mut visits = drawn.visits(&mut Chance::of(4));
        visits.iter_mut().for_each(|visit| visit.log = ((visit.log.exp() * digits).round() / digits).ln());
        visits
    };
    let calm = Drawn { visits: 0.01, processes: 0.0, ..CALM };
    for by in [Comparable::Places, Comparable::Processes] {
        assert_eq!(modes(&figures(calm, 30.0), by, 0.01), None);
        let two = Drawn { gap: 0.4, slow: 0.3, ..calm };
        assert!(modes(&figures(two, 30.0), by, 0.01).is_some(), "twelve steps");
    }
}

#[test]
fn two_speeds_are_found_where_the_slow_one_has_a_tenth_of_the_visits() {
    // The transcription into Python: 95 %, 91 % and all.
    assert!(Drawn { gap: 0.38, slow: 0.1, ..CALM }.told(40) >= 34);
    assert!(Drawn { gap: 0.1, slow: 0.15, visits: 0.01, ..CALM }.told(40) >= 32);
    assert_eq!(Drawn { gap: 0.38, slow: 0.5, ..CALM }.told(40), 40);
}

#[test]
fn the_sign_test_is_the_tail_of_a_binomial_distribution() {
    // scipy.stats: binom.sf(more - 1, more + fewer, .5)
    assert!((sign_test(10, 0) - 0.000_976_562_5).abs() < 1e-15);
    assert!((sign_test(20, 7) - 0.009_578_645_229_339_6).abs() < 1e-12);
    assert!((sign_test(0, 0) - 1.0).abs() < 1e-15);
    assert!(sign_test(900, 300) < 1e-60 && sign_test(2, 9) > 0.99);
}

#[test]
fn a_place_may_have_one_speed_beside_others_with_two() {
    let mut visits = Drawn { gap: 0.38, slow: 0.3, ..CALM }.visits(&mut Chance::of(2));
    let one = CALM.visits(&mut Chance::of(3));
    visits
        .iter_mut()
        .zip(one)
        .filter(|(visit, _)| visit.place % 2 == 1)
        .for_each(|(visit, calm)| *visit = calm);
    let found = modes(&visits, Comparable::Places, 0.01).expect("two modes at two places");
    assert_eq!(found.places, [0, 2]);
    assert!(visits.iter().zip(&found.slow).all(|(visit, slow)| !slow || visit.place % 2 == 0));
}

#[test]
fn what_a_process_keeps_is_placement_and_no_mode() {
    let kept = Drawn { gap: 0.38, slow: 0.3, sticky: true, ..CALM };
    assert_eq!(kept.told(30), 0);
    assert_eq!(Drawn { sticky: false, ..kept }.told(30), 30);
}

#[test]
fn gaps_below_what_is_of_interest_and_few_visits_tell_nothing() {
    let drawn = Drawn { gap: 0.1, slow: 0.3, visits: 0.005, processes: 0.0, ..CALM };
    let visits = drawn.visits(&mut Chance::of(1));
    assert!(modes(&visits, Comparable::Places, 0.05).is_some());
    assert_eq!(modes(&visits, Comparable::Places, 0.12), None);
    assert_eq!(modes(&visits[..LEAST_VISITS - 1], Comparable::Places, 0.05), None);
    let mut infinite = visits;
    infinite[3].log = f64::NEG_INFINITY;
    assert_eq!(modes(&infinite, Comparable::Places, 0.05), None);
}
