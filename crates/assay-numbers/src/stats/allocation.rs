//! Where does the variance of a comparison come from, and so where should the time go: samples, visits or rotations?
//!
//! Method: at each placement the log ratios of pairs are grouped by visit. What samples scatter within a visit is estimated by
//! the median of all differences of two pairs of one visit, which a few interrupted samples do not move; what visits scatter
//! by the variance of their medians around the placement's mean, less what their samples bring; what rotations scatter by
//! the variance of their means, less what their visits bring. The best number of samples is then the root of
//! (variance of samples / variance of visits) · (cost of a visit / cost of a sample): with more, time is spent where
//! it teaches little, with fewer, visits cost more than they bring. More visits help until what they leave is
//! little beside what rotations scatter.
//! Source: Cochran 1977, section 10.6 (two-stage allocation); Shamos 1976, Rousseeuw and Croux 1993 (differences of pairs);
//! Kish 1965 (weights of clusters of unequal sizes).
//! Limits: one optimum for all placements; what lasts for a round counts as of visits, which is right: more rounds
//! help against it. Checked: by derivation, and by simulation with visits of two speeds (tests/calibration).

use super::quantile::median;

/// The log ratios of one placement's pairs, by visit.
pub type PlacementVisits = Vec<Vec<f64>>;

/// Rounds per rotation that are taken where nothing is known of visits, at most: usually rotations differ by more than their
/// samples do, and more rounds tell nothing new.
pub const USUAL_ROUNDS: u32 = 8;
/// The same where visits decide.
pub const MOST_ROUNDS: u32 = 64;
/// The share of the budget left that the way to the next look may take.
const LOOK_SHARE: f64 = 0.5;
/// What visits may leave of a rotation's variance, as a part of what rotations scatter.
const LEFT_BY_VISITS: f64 = 0.25;
/// Pairs that a placement should have: with fewer, one interrupted sample can carry its median.
const LEAST_PAIRS: u64 = 8;
/// The median of differences of two normal values, over their standard deviation: √2 · Φ⁻¹(3/4).
const SHAMOS: f64 = 0.953_872_552_4;
/// Fewest rotations that show how rotations scatter.
const LEAST_ROTATIONS: usize = 3;

/// Variances of log ratios, each beyond what those before it bring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitSpread {
    /// Of one pair of samples in its visit.
    pub samples: f64,
    /// Of a visit at its placement.
    pub visits: f64,
    /// Of a rotation.
    pub rotations: f64,
    /// Placements of a rotation.
    pub placements: f64,
}

impl VisitSpread {
    /// The spread of one contrast.
    ///
    /// Input: per rotation its placements, each with its visits. Returns: none where no visit has two pairs, no placement two
    /// visits, or there are fewer than three rotations. Cost: O(n log n) of the pairs, with few to a visit.
    pub fn of(rotations: &[Vec<PlacementVisits>]) -> Option<VisitSpread> {
        if rotations.len() < LEAST_ROTATIONS {
            return None;
        }
        let (mut differences, mut sum, mut degrees, mut brought, mut visits) =
            (Vec::new(), 0.0, 0.0, 0.0, 0.0);
        let (mut means, mut parts, mut placements) = (Vec::new(), 0.0, 0.0);
        for rotation in rotations {
            let mut of_placements = Vec::new();
            for placement in rotation {
                let medians: Vec<f64> = placement.iter().filter_map(|visit| median(visit)).collect();
                let Some(mean) = mean(&medians) else { continue };
                for visit in placement {
                    for (at, one) in visit.iter().enumerate() {
                        differences.extend(visit[at + 1..].iter().map(|other| (other - one).abs()));
                    }
                }
                sum += medians.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                degrees += medians.len() as f64 - 1.0;
                brought += placement.iter().map(|visit| median_share(visit.len())).sum::<f64>();
                visits += medians.len() as f64;
                parts += 1.0 / medians.len() as f64;
                placements += 1.0;
                of_placements.push(mean);
            }
            means.extend(self::mean(&of_placements));
        }
        if degrees < 1.0 || means.len() < LEAST_ROTATIONS {
            return None;
        }
        let samples = (median(&differences)? / SHAMOS).powi(2);
        let of_visits = sum / degrees;
        let per_rotation = placements / rotations.len() as f64;
        // A rotation's mean is one over its placements, each one over its visits.
        let left = of_visits * parts / placements / per_rotation;
        Some(VisitSpread {
            samples,
            visits: (of_visits - samples * brought / visits).max(0.0),
            rotations: (variance(&means)? - left).max(0.0),
            placements: per_rotation,
        })
    }

    /// The spread that several contrasts have on average: they share their visits.
    pub fn mean(spreads: &[VisitSpread]) -> Option<VisitSpread> {
        let of = |part: fn(&VisitSpread) -> f64| mean(&spreads.iter().map(part).collect::<Vec<f64>>());
        Some(VisitSpread {
            samples: of(|spread| spread.samples)?,
            visits: of(|spread| spread.visits)?,
            rotations: of(|spread| spread.rotations)?,
            placements: of(|spread| spread.placements)?,
        })
    }

    /// The correlation of two pairs of one visit, between 0 and 1.
    pub fn correlation(&self) -> f64 {
        let all = self.samples + self.visits;
        if all > 0.0 { self.visits / all } else { 0.0 }
    }

    /// Samples that a visit should have, from 1 to `most`, where a visit without any costs as much as `visit_cost` samples and
    /// a placement gets about `rounds` visits.
    pub fn samples(&self, visit_cost: f64, rounds: u32, most: u64) -> u64 {
        let best = (self.samples / self.visits * visit_cost).sqrt();
        let best = if best.is_finite() { best.round().max(1.0) as u64 } else { most };
        best.max(LEAST_PAIRS.div_ceil(u64::from(rounds.max(1)))).min(most.max(1))
    }

    /// Visits that a placement should have where each has so many samples; more would leave the error as it is.
    pub fn rounds(&self, samples: u64) -> u32 {
        let visit = self.visits + self.samples * median_share(samples as usize);
        let wanted = visit / (self.placements * LEFT_BY_VISITS * self.rotations);
        if wanted.is_nan() { 1 } else { wanted.ceil().clamp(1.0, f64::from(MOST_ROUNDS)) as u32 }
    }
}

/// The time of one level: of the rotations that are measured together before the next look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelTime {
    /// Seconds that were left when it began.
    pub left: f64,
    /// Seconds that it has taken so far.
    pub spent: f64,
    /// Rounds that it has taken so far.
    pub done: u32,
    /// Seconds that its next round is expected to take.
    pub round: f64,
    /// Its share of all rotations that may still come; 1: it is the last level.
    pub share: f64,
}

impl LevelTime {
    /// Rounds of this level in all, of which `wanted` would be best: as many as usual where half of the time left allows them,
    /// and more where visits decide, as long as all rotations to come can have as many.
    pub fn rounds(&self, wanted: u32) -> u32 {
        let affordable = |share: f64| {
            let more = (self.left.max(0.0) * share - self.spent) / self.round.max(1e-6);
            self.done.saturating_add(more.max(0.0) as u32)
        };
        let usual = affordable(if self.share < 1.0 { LOOK_SHARE } else { 1.0 }).min(USUAL_ROUNDS);
        usual.max(affordable(self.share).min(wanted)).max(self.done).max(1)
    }
}

/// The variance of the median of so many normal values over that of one of them: 1 for one, π / 2n for many.
fn median_share(count: usize) -> f64 {
    let half_pi = std::f64::consts::FRAC_PI_2;
    half_pi / (count as f64 + half_pi - 1.0)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variance(values: &[f64]) -> Option<f64> {
    super::interval::mean_and_variance(values).map(|(_, variance)| variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of normal values for tests: the sum of twelve uniform ones.
    struct Drawn(u64);

    impl Drawn {
        fn normal(&mut self) -> f64 {
            let mut uniform = || {
                self.0 =
                    self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.0 >> 11) as f64 / (1u64 << 53) as f64
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        }
    }

    fn drawn(sd: (f64, f64, f64), visits: usize, samples: usize) -> Vec<Vec<PlacementVisits>> {
        let mut drawn = Drawn(7);
        (0..64)
            .map(|_| {
                let rotation = sd.2 * drawn.normal();
                (0..4)
                    .map(|_| {
                        (0..visits)
                            .map(|_| {
                                let visit = rotation + sd.1 * drawn.normal();
                                (0..samples).map(|_| visit + sd.0 * drawn.normal()).collect()
                            })
                            .collect()
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn the_variances_are_those_that_were_drawn() {
        let spread = VisitSpread::of(&drawn((0.02, 0.03, 0.04), 4, 5)).unwrap();
        for (found, sd) in [(spread.samples, 0.02), (spread.visits, 0.03), (spread.rotations, 0.04)] {
            let found: f64 = found.sqrt();
            assert!((found / sd - 1.0).abs() < 0.15, "{found} for {sd}");
        }
        assert_eq!(spread.placements, 4.0);
    }

    #[test]
    fn an_interrupted_sample_in_twenty_is_not_taken_for_scatter() {
        let mut rotations = drawn((0.02, 0.0, 0.0), 4, 5);
        let pairs = rotations.iter_mut().flatten().flatten().flatten();
        pairs.step_by(20).for_each(|pair| *pair += 0.5);
        let spread = VisitSpread::of(&rotations).unwrap();
        assert!(spread.samples.sqrt() < 0.025, "{}", spread.samples.sqrt());
    }

    #[test]
    fn visits_that_differ_more_than_samples_get_one_sample_each() {
        let spread = VisitSpread { samples: 25e-4, visits: 144e-4, rotations: 1e-4, placements: 4.0 };
        assert_eq!(spread.samples(1.4, 8, 4), 1);
        // 2.78 · 1.4 and its root by hand: 1.97.
        assert_eq!(VisitSpread { visits: 9e-4, ..spread }.samples(1.4, 8, 4), 2);
        assert_eq!(VisitSpread { visits: 1e-6, ..spread }.samples(1.4, 8, 4), 4, "never more than before");
        assert_eq!(VisitSpread { visits: 0.0, ..spread }.samples(1.4, 8, 4), 4);
        assert_eq!(spread.samples(1.4, 2, 4), 4, "two rounds of one sample would be two pairs");
    }

    #[test]
    fn more_rounds_are_taken_only_while_visits_decide() {
        let spread = VisitSpread { samples: 0.0, visits: 144e-4, rotations: 9e-4, placements: 4.0 };
        // 144e-4 / 4 visits' worth, to a quarter of 9e-4: 16.
        assert_eq!(spread.rounds(1), 16);
        assert_eq!(VisitSpread { rotations: 0.0, ..spread }.rounds(1), MOST_ROUNDS);
        assert_eq!(VisitSpread { visits: 0.0, ..spread }.rounds(1), 1);
        assert_eq!(VisitSpread { visits: 0.0, rotations: 0.0, ..spread }.rounds(1), 1);
    }

    #[test]
    fn a_level_takes_half_of_what_is_left_or_its_share_where_visits_decide() {
        let level = LevelTime { left: 4.0, spent: 0.0, done: 0, round: 0.1, share: 0.25 };
        assert_eq!(level.rounds(1), USUAL_ROUNDS);
        assert_eq!(level.rounds(64), 10, "a quarter of four seconds");
        assert_eq!(level.rounds(9), 9);
        assert_eq!(LevelTime { round: 0.5, ..level }.rounds(64), 4, "half of four seconds");
        assert_eq!(LevelTime { share: 1.0, round: 0.5, ..level }.rounds(1), 8);
        assert_eq!(LevelTime { share: 1.0, ..level }.rounds(64), 40);
        assert_eq!(LevelTime { left: -1.0, ..level }.rounds(64), 1, "one round whatever it costs");
        // Two rounds at 0.1 s are over; what is left of its second takes 16 of half the time.
        assert_eq!(LevelTime { spent: 0.2, done: 2, round: 0.05, ..level }.rounds(64), 18);
        assert_eq!(LevelTime { spent: 3.0, done: 2, ..level }.rounds(64), 2);
    }

    #[test]
    fn too_little_to_tell_says_nothing() {
        assert_eq!(VisitSpread::of(&drawn((0.02, 0.03, 0.04), 1, 5)), None, "one visit at each placement");
        assert_eq!(VisitSpread::of(&drawn((0.02, 0.03, 0.04), 4, 1)), None, "one pair in each visit");
        assert_eq!(VisitSpread::of(&drawn((0.02, 0.03, 0.04), 4, 5)[..2]), None);
        assert_eq!(VisitSpread::mean(&[]), None);
    }

    #[test]
    fn the_correlation_is_the_share_of_visits() {
        let spread = VisitSpread { samples: 1e-4, visits: 3e-4, rotations: 0.0, placements: 4.0 };
        assert!((spread.correlation() - 0.75).abs() < 1e-12);
        assert_eq!(VisitSpread { samples: 0.0, visits: 0.0, ..spread }.correlation(), 0.0);
    }
}
