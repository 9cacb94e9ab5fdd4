//! What was measured at one point: a number on the log scale and how well it is known.

use crate::stats::rotation::Effect;
use crate::stats::student;

/// A log ratio of two variants, or the logarithm of one's time, at one value of the swept key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The key's value.
    pub at: f64,
    /// The estimate, on the log scale.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
    /// What measured it.
    pub seen: CampaignsSeen,
}

/// The campaigns behind a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CampaignsSeen {
    /// Those that count: which had the core for themselves, or all where none had.
    pub campaigns: u32,
    /// All that measured the point.
    pub tried: u32,
    /// None had the core for itself there.
    pub shared: bool,
}

impl CampaignsSeen {
    /// In one campaign with the core to itself.
    pub const ONCE: CampaignsSeen = CampaignsSeen { campaigns: 1, tried: 1, shared: false };
}

/// The readings of one variant's nanoseconds per unit, in order of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The variant.
    pub variant: String,
    /// Logarithms of its times.
    pub readings: Vec<Reading>,
    /// The same of points that were never measured with the core to themselves, where most were.
    pub left_out: Vec<Reading>,
}

/// Those that had the core for themselves once, and the others; all are of the first kind where these are not fewer, as then the
/// shared core is what there is to be told of.
pub fn without_shared(readings: Vec<Reading>) -> (Vec<Reading>, Vec<Reading>) {
    let shared = readings.iter().filter(|reading| reading.seen.shared).count();
    if 2 * shared < readings.len() {
        readings.into_iter().partition(|reading| !reading.seen.shared)
    } else {
        (readings, Vec::new())
    }
}

impl Reading {
    /// An effect over rotations at a value of the key.
    pub fn of(at: f64, effect: &Effect) -> Reading {
        Reading {
            at,
            estimate: effect.estimate,
            standard_error: effect.standard_error(),
            degrees: effect.error_degrees(),
            seen: CampaignsSeen::ONCE,
        }
    }

    /// The reading of that many campaigns, which differ by more than their own errors. Source: Satterthwaite 1946.
    pub fn over(self, seen: CampaignsSeen, between: Option<CampaignSpread>) -> Reading {
        let Some(between) = between.filter(|between| between.variance > 0.0) else {
            return Reading { seen, ..self };
        };
        let (own, added) = (self.standard_error.powi(2), between.variance / f64::from(seen.campaigns));
        let squares = own.powi(2) / self.degrees + added.powi(2) / between.degrees;
        let degrees = (own + added).powi(2) / squares;
        Reading { standard_error: (own + added).sqrt(), degrees, seen, ..self }
    }

    /// Half the width of its interval at two-sided level `alpha`; infinite for a level that is none.
    pub fn half_width(&self, alpha: f64) -> f64 {
        let t = student::two_sided_quantile(alpha, self.degrees);
        t.map_or(f64::INFINITY, |t| t * self.standard_error)
    }

    /// Two-sided probability of an estimate as far from `level` if that is the truth.
    pub fn p_value(&self, level: f64) -> f64 {
        student::two_sided_p((self.estimate - level) / self.standard_error, self.degrees)
    }

    /// The side of `level` that it is on at two-sided level `alpha`: -1, 1, or 0 where that is not known.
    pub fn side(&self, level: f64, alpha: f64) -> i8 {
        if self.p_value(level) > alpha {
            return 0;
        }
        if self.estimate > level { 1 } else { -1 }
    }
}

/// What campaigns of one point differ by, beyond their own errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CampaignSpread {
    /// Variance of the log ratio.
    pub variance: f64,
    /// Its degrees of freedom: campaigns beyond the first, over all points.
    pub degrees: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const READING: Reading =
        Reading { at: 1.0, estimate: 0.05, standard_error: 0.01, degrees: 7.0, seen: CampaignsSeen::ONCE };

    #[test]
    fn a_reading_is_compared_with_any_level() {
        let reading = READING;
        // scipy: t.isf(.025, 7) = 2.36462425159. The tails 2 P(T > 5) and 2 P(T > 2) by Simpson integration of the density.
        assert!((reading.half_width(0.05) - 0.023_646_242_5).abs() < 1e-10);
        assert!((reading.p_value(0.0) - 0.001_565_277_953).abs() < 1e-11, "{}", reading.p_value(0.0));
        assert!((reading.p_value(0.03) - 0.085_619_328_563).abs() < 1e-11, "{}", reading.p_value(0.03));
        assert_eq!((reading.side(0.0, 0.05), reading.side(0.03, 0.05), reading.side(0.1, 0.05)), (1, 0, -1));
        assert_eq!(reading.half_width(1.5), f64::INFINITY);
    }

    #[test]
    fn readings_of_a_shared_core_are_told_apart_where_they_are_fewer() {
        let of = |shared: &[bool]| {
            let reading = |(at, &shared): (i32, &bool)| Reading {
                at: f64::from(at),
                seen: CampaignsSeen { shared, ..CampaignsSeen::ONCE },
                ..READING
            };
            let (kept, left_out) = without_shared((0..).zip(shared).map(reading).collect());
            let at = |readings: &[Reading]| readings.iter().map(|reading| reading.at).collect::<Vec<_>>();
            (at(&kept), at(&left_out))
        };
        assert_eq!(of(&[false, true, false]), (vec![0.0, 2.0], vec![1.0]));
        assert_eq!(of(&[false, true]), (vec![0.0, 1.0], vec![]));
        assert_eq!(of(&[]), (vec![], vec![]));
    }

    #[test]
    fn what_campaigns_differ_by_is_added_and_falls_with_their_number() {
        let reading = READING;
        let times = |campaigns| CampaignsSeen { campaigns, tried: campaigns, shared: false };
        let between = Some(CampaignSpread { variance: 6e-4, degrees: 2.0 });
        let over = reading.over(times(2), between);
        // 1e-4 + 3e-4; (4e-4)² / (1e-8 / 7 + 9e-8 / 2).
        assert!((over.standard_error - 0.02).abs() < 1e-15 && over.seen == times(2));
        assert!((over.degrees - 16.0 / (1.0 / 7.0 + 4.5)).abs() < 1e-9);
        assert_eq!(reading.over(times(3), None), Reading { seen: times(3), ..reading });
        let none = Some(CampaignSpread { variance: 0.0, degrees: 2.0 });
        assert_eq!(reading.over(times(2), none), Reading { seen: times(2), ..reading });
    }
}
