//! Sweeps on simulated machines of known truth: what is asked, what is found, and how often an interval holds.
//!
//! The fast ones are deterministic. The calibration is slow, hence ignored by default:
//!
//!     cargo test --release -p assay-pure --test sweep -- --ignored --nocapture
//!
//! The figures of docs/methodology/sweeps.md come from here.

mod coverage;
mod machine;

use assay_pure::sweep::{Scale, SweepSpec, Tolerance, crossovers};
use machine::{CONFIDENCE, Machine, Noise, spec};

/// A sweep finds what a fine grid of the same machine finds, from a quarter of its points.
fn held_against_a_fine_grid(machine: &Machine, sweep: &SweepSpec, truth: &[f64]) {
    let fine = SweepSpec { points: 129, ..sweep.clone() };
    let mut on_grid = machine.begin(9);
    on_grid.measure(&fine.grid());
    let mut swept = machine.begin(10);
    swept.walk(sweep);
    let points = swept.points();
    assert!(4 * points <= fine.grid().len(), "{points} points against {}", fine.grid().len());
    let find = |run: &machine::Run| crossovers(&run.readings(), 0.0, sweep.scale, CONFIDENCE);
    let (few, many) = (find(&swept), find(&on_grid));
    assert_eq!((few.len(), many.len()), (truth.len(), truth.len()), "{few:?} {many:?}");
    for ((found, exhaustive), truth) in few.iter().zip(&many).zip(truth) {
        assert!(found.holds(*truth), "{truth} is not in {found:?}");
        assert!(found.holds(exhaustive.at), "{exhaustive:?} is not in {found:?}");
        assert!(
            found.upper - found.lower <= sweep.wanted_width(found.at) * 1.000_001,
            "{found:?} is too wide"
        );
    }
}

#[test]
fn a_smooth_crossing_is_where_a_fine_grid_finds_it() {
    let machine = Machine { truth: |x| 0.5 * (x - 0.313), noise: Noise::LITTLE };
    held_against_a_fine_grid(&machine, &spec(0.0, 1.0, 9), &[0.313]);
}

#[test]
fn a_steep_crossing_on_a_geometric_scale_is_where_a_fine_grid_finds_it() {
    // The ratio turns within a factor of two around 25,000.
    let machine = Machine { truth: |x| 0.8 * ((x / 25_000.0).ln() * 6.0).tanh(), noise: Noise::LITTLE };
    let sweep = SweepSpec { scale: Scale::Geometric, whole: true, ..spec(1000.0, 1e6, 7) };
    held_against_a_fine_grid(&machine, &sweep, &[25_000.0]);
}

#[test]
fn a_jump_is_narrowed_by_halving_to_the_gap_that_it_lies_in() {
    let machine = Machine { truth: |x| if x < 0.6181 { -0.4 } else { 0.3 }, noise: Noise::LITTLE };
    held_against_a_fine_grid(&machine, &spec(0.0, 1.0, 9), &[0.6181]);
}

#[test]
fn two_crossings_are_both_narrowed() {
    let machine = Machine { truth: |x| (x - 0.2) * (x - 0.9), noise: Noise::LITTLE };
    held_against_a_fine_grid(&machine, &spec(0.0, 1.0, 9), &[0.2, 0.9]);
}

#[test]
fn where_nothing_crosses_no_point_is_spent() {
    let machine = Machine { truth: |x| 0.1 + 0.1 * x, noise: Noise::LITTLE };
    let mut run = machine.begin(3);
    run.walk(&spec(0.0, 1.0, 9));
    assert_eq!(run.points(), 9);
    assert_eq!(crossovers(&run.readings(), 0.0, Scale::Linear, CONFIDENCE), []);
}

#[test]
fn points_end_where_noise_hides_what_they_would_show() {
    // A slope of 0.05 over the range and intervals of some ± 0.01: the crossing is not known better than to a fifth of it.
    let machine = Machine {
        truth: |x| 0.05 * (x - 0.5),
        noise: Noise { shuffle: 0.0, rotation: 0.01, ..Noise::LITTLE },
    };
    let mut run = machine.begin(5);
    run.walk(&SweepSpec { refine: 40, ..spec(0.0, 1.0, 9) });
    assert!(run.points() < 9 + 40, "{} points", run.points());
    let found = crossovers(&run.readings(), 0.0, Scale::Linear, CONFIDENCE);
    assert!(found.len() == 1 && found[0].holds(0.5), "{found:?}");
}

#[test]
fn a_sweep_ends_and_tells_no_wrong_flip_where_somebody_comes_to_stay() {
    let noise = Noise { campaign: 0.002, shared: 1.0, alone: 1, ..Noise::LITTLE };
    let machine = Machine { truth: |x| 0.5 * (x - 0.313), noise };
    for seed in 0..200 {
        let mut run = machine.begin(seed);
        run.walk(&SweepSpec { refine: 40, ..spec(0.0, 1.0, 9) });
        let found = crossovers(&run.readings(), 0.0, Scale::Linear, CONFIDENCE);
        assert!(found.len() == 1 && found[0].holds(0.313), "{seed}: {found:?}");
        assert!(run.visits() < 9 + 3 * 40, "{seed}: {} visits", run.visits());
    }
}

#[test]
fn no_more_points_are_spent_than_allowed() {
    let machine = Machine { truth: |x| 0.5 * (x - 0.313), noise: Noise::LITTLE };
    let sweep = SweepSpec { refine: 3, tolerance: Some(Tolerance::Absolute(1e-4)), ..spec(0.0, 1.0, 5) };
    let mut run = machine.begin(3);
    run.walk(&sweep);
    assert_eq!(run.points(), 8);
}
