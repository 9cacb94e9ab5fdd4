//! Where a curve bends: a time that its neighbours do not foretell.

use super::reading::Reading;
use super::scale::Scale;

/// A time further than this from the straight line between its neighbours is a bend, noise apart: 5 %.
pub const BEND: f64 = 0.05;

/// A reading off the line between its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Its index.
    pub index: usize,
    /// How far off it is beyond its noise and [`BEND`], on the log scale; above 0.
    pub by: f64,
}

/// The bends of a curve.
///
/// Input: logarithms of times, rising in the key; two-sided level of the noise. The line is straight in the logarithm over the
/// scale. Its own noise and that of its neighbours count, as if independent.
pub fn bends(readings: &[Reading], scale: Scale, alpha: f64) -> Vec<Bend> {
    let mut found = Vec::new();
    for (index, three) in readings.windows(3).enumerate() {
        let [left, here, right] = three else { continue };
        let places = [left, here, right].map(|reading| scale.place(reading.at));
        let part = (places[1] - places[0]) / (places[2] - places[0]);
        let line = left.estimate + part * (right.estimate - left.estimate);
        let noise = [(left, 1.0 - part), (here, 1.0), (right, part)]
            .map(|(reading, weight)| weight * reading.half_width(alpha))
            .iter()
            .map(|half| half * half)
            .sum::<f64>()
            .sqrt();
        let by = (here.estimate - line).abs() - noise - BEND;
        if by > 0.0 {
            found.push(Bend { index: index + 1, by });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::reading::CampaignsSeen;

    fn reading(at: f64, estimate: f64) -> Reading {
        Reading { at, estimate, standard_error: 0.001, degrees: 30.0, seen: CampaignsSeen::ONCE }
    }

    #[test]
    fn a_straight_line_has_no_bend_on_its_own_scale() {
        let line: Vec<Reading> = [1.0, 10.0, 100.0].map(|at: f64| reading(at, at.ln())).to_vec();
        assert_eq!(bends(&line, Scale::Geometric, 0.05), []);
        assert_eq!(bends(&line, Scale::Linear, 0.05).len(), 1, "which bends on another");
    }

    #[test]
    fn a_bend_is_what_is_left_beyond_noise_and_margin() {
        let found = bends(&[reading(0.0, 0.0), reading(1.0, 0.0), reading(2.0, 0.4)], Scale::Linear, 0.05);
        // 0.2 off the line; noise 2.0423 · 0.001 · sqrt(1 + 1/4 + 1/4).
        assert_eq!(found[0].index, 1);
        assert!((found[0].by - (0.2 - 0.05 - 2.042_27e-3 * 1.5f64.sqrt())).abs() < 1e-6, "{found:?}");
        let noisy = [0.0, 0.0, 0.4]
            .map(|estimate| Reading { standard_error: 0.1, ..reading(estimate * 5.0 + estimate, estimate) });
        let noisy = [
            Reading { at: 0.0, ..noisy[0] },
            Reading { at: 1.0, ..noisy[1] },
            Reading { at: 2.0, ..noisy[2] },
        ];
        assert_eq!(bends(&noisy, Scale::Linear, 0.05), []);
        assert_eq!(bends(&found_small(), Scale::Linear, 0.05), [], "3 % is no bend");
    }

    fn found_small() -> [Reading; 3] {
        [reading(0.0, 0.0), reading(1.0, 0.03), reading(2.0, 0.0)]
    }
}
