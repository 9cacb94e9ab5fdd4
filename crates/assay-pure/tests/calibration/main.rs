//! Does a judgement keep its promises? Simulated campaigns with known truth, judged as the runner judges them: at
//! 8, 12, 16, 24 and 32 rotations, stopping when all is decided. Seeded; slow, hence ignored by default:
//!
//!     cargo test --release -p assay-pure --test calibration -- --ignored --nocapture
//!
//! The figures of docs/methodology/calibration.md come from here.

mod adaptive;
mod alternatives;
mod gate;
mod history;
mod model;
mod outlying;

use adaptive::{Spending, Tally, simulate, simulate_spending};
use model::{Model, Residual};

const MINIMUM_EFFECT: f64 = 0.01;

/// ln of a ratio given as a percentage.
fn by(percent: f64) -> f64 {
    (percent / 100.0).ln_1p()
}

fn report(name: &str, tally: &Tally) {
    println!("{}", tally.row(name));
}

#[test]
#[ignore = "slow lane"]
fn null_campaigns_hardly_ever_name_a_winner() {
    println!("{}", Tally::header());
    for (name, residual, groups, candidates, campaigns) in [
        ("null normal 48", Residual::Normal, 16, 3, 100),
        ("null heavy 48", Residual::Heavy, 16, 3, 100),
        ("null bimodal 48", Residual::Bimodal, 16, 3, 100),
        ("null normal 4", Residual::Normal, 2, 2, 600),
        ("null normal 1", Residual::Normal, 1, 1, 1500),
        ("null bimodal 1", Residual::Bimodal, 1, 1, 1500),
    ] {
        let model = Model { groups, candidates, residual, ..Model::default() };
        let tally = simulate(&model, campaigns, 11, MINIMUM_EFFECT);
        report(name, &tally);
        assert!(tally.false_difference_rate() <= 0.01, "{name}");
        assert!(tally.family_error_rate() <= 0.05, "{name}");
        assert!(tally.coverage() >= 0.94, "{name}");
    }
}

#[test]
#[ignore = "slow lane"]
fn what_the_rounds_share_does_not_break_the_promise() {
    println!("{}", Tally::header());
    // The lab takes up to 20 rounds where the cells are few, and fewer where they are many and lend each other.
    for (rounds, round_spread, groups, candidates, campaigns) in [
        (2, 0.003, 16, 3, 100),
        (4, 0.003, 16, 3, 100),
        (2, 0.01, 16, 3, 100),
        (4, 0.01, 16, 3, 100),
        (4, 0.01, 2, 2, 400),
        (8, 0.01, 1, 1, 1000),
        (8, 0.003, 1, 1, 1000),
        (20, 0.01, 1, 1, 1000),
    ] {
        let model = Model { rounds, round_spread, groups, candidates, ..Model::default() };
        let tally = simulate(&model, campaigns, 17, MINIMUM_EFFECT);
        let percent = 100.0 * round_spread;
        report(&format!("{rounds} rounds of {percent} %, {}", groups * candidates), &tally);
        assert!(tally.false_difference_rate() <= 0.01);
    }
}

#[test]
#[ignore = "slow lane"]
fn visits_that_were_left_out_do_not_break_the_promise() {
    println!("{}", Tally::header());
    for (lost, round_spread, rounds, candidates, campaigns) in [
        ((0.0, 0.0), 0.01, 8, 1, 1000),
        ((0.3, 0.5), 0.01, 8, 1, 1000),
        ((0.1, 0.7), 0.01, 8, 1, 1000),
        ((0.1, 0.7), 0.003, 8, 1, 1000),
        ((0.1, 0.7), 0.0, 8, 1, 1000),
    ] {
        let model = Model { rounds, round_spread, lost, groups: 1, candidates, ..Model::default() };
        let tally = simulate(&model, campaigns, 19, MINIMUM_EFFECT);
        let (percent, from, to) = (100.0 * round_spread, 100.0 * lost.0, 100.0 * lost.1);
        report(&format!("{rounds} rounds of {percent} %, {from}-{to} % lost, {candidates}"), &tally);
        assert!(tally.false_difference_rate() <= 0.01);
        assert!(tally.coverage() >= 0.925);
    }
}

#[test]
#[ignore = "slow lane"]
fn somebody_who_is_busy_unseen_does_not_break_the_promise() {
    println!("{}", Tally::header());
    let effects = vec![0.0, 0.0, by(2.0), by(-2.0), by(3.0), by(-3.0)];
    for (busy, rounds, groups, candidates, campaigns) in [
        ((0.2, 0.1), 4, 16, 3, 60),
        ((0.4, 0.1), 4, 16, 3, 60),
        ((0.4, 0.1), 8, 1, 1, 1000),
        ((0.6, 0.1), 8, 1, 1, 1000),
        ((0.4, 0.3), 8, 1, 1, 1000),
        ((0.4, 0.1), 3, 1, 1, 1000),
    ] {
        let model = Model { rounds, busy, groups, candidates, effects: effects.clone(), ..Model::default() };
        let tally = simulate(&model, campaigns, 23, MINIMUM_EFFECT);
        let (share, slowed) = (100.0 * busy.0, 100.0 * busy.1);
        report(&format!("{share} % busy by {slowed} %, {rounds} rounds, {}", groups * candidates), &tally);
        assert!(tally.false_difference_rate() <= 0.01);
        assert!(tally.family_error_rate() <= 0.05);
        assert!(tally.coverage() >= 0.93);
        assert_eq!(tally.wrong_sign, 0);
    }
}

#[test]
#[ignore = "slow lane"]
fn a_spread_far_above_the_margin_does_not_break_the_promise() {
    println!("{}", Tally::header());
    for (groups, candidates, campaigns) in [(1, 1, 2000), (1, 3, 700), (16, 3, 60)] {
        let model = Model { groups, candidates, spread: (0.02, 0.06), ..Model::default() };
        let tally = simulate(&model, campaigns, 12, MINIMUM_EFFECT);
        report(&format!("null, spread 2-6 %, {}", groups * candidates), &tally);
        assert!(tally.false_difference_rate() <= 0.012);
        assert!(tally.family_error_rate() <= 0.05);
    }
}

#[test]
#[ignore = "slow lane"]
fn mixed_campaigns_find_what_is_there() {
    println!("{}", Tally::header());
    let effects = vec![0.0, 0.0, by(2.0), by(-2.0), by(3.0), by(-3.0), by(5.0), by(10.0), by(-10.0)];
    for (name, residual, groups, candidates, campaigns) in [
        ("mixed normal 48", Residual::Normal, 16, 3, 100),
        ("mixed heavy 48", Residual::Heavy, 16, 3, 100),
        ("mixed bimodal 48", Residual::Bimodal, 16, 3, 100),
        ("mixed normal 6", Residual::Normal, 2, 3, 400),
        ("mixed normal 1", Residual::Normal, 1, 1, 1500),
    ] {
        let model = Model { groups, candidates, residual, effects: effects.clone(), ..Model::default() };
        let tally = simulate(&model, campaigns, 13, MINIMUM_EFFECT);
        report(name, &tally);
        assert_eq!(tally.wrong_sign, 0, "{name}");
        assert!(tally.family_error_rate() <= 0.05, "{name}");
        assert!(tally.coverage() >= 0.94, "{name}");
        for percent in [3.0, 5.0, 10.0] {
            assert!(tally.power(by(percent)) >= 0.95, "{name}: {percent} %");
        }
    }
}

#[test]
#[ignore = "slow lane"]
fn effects_at_the_margin_are_not_called_equivalent() {
    println!("{}", Tally::header());
    for percent in [1.1, -1.1, 1.5] {
        let model = Model { groups: 8, effects: vec![by(percent)], ..Model::default() };
        let tally = simulate(&model, 150, 14, MINIMUM_EFFECT);
        report(&format!("all {percent} %"), &tally);
        assert!(tally.family_error_rate() <= 0.05, "{percent}");
    }
}

#[test]
#[ignore = "slow lane"]
fn effects_on_the_margin_are_called_equivalent_in_no_more_campaigns_than_the_budget_allows() {
    println!("{}", Tally::header());
    for batches in [vec![32], vec![8, 24], vec![8, 4, 4, 8, 8]] {
        let looks = batches.len();
        let effects = vec![by(100.0 * MINIMUM_EFFECT)];
        let model = Model { groups: 24, candidates: 1, effects, batches, ..Model::default() };
        let tally = simulate(&model, 300, 15, MINIMUM_EFFECT);
        report(&format!("all on the margin, {looks} looks"), &tally);
        // 2.3 % with one look; one ladder for both questions has 5.0 % there.
        assert!(tally.family_error_rate() <= 0.04, "{looks} looks");
    }
}

#[test]
#[ignore = "slow lane"]
fn the_twin_control_seldom_cries_wolf() {
    println!("twin control: share of campaigns at the last look, null candidates, 5 looks");
    for (name, drift, residual) in [
        ("no drift", (0.0, 0.0), Residual::Normal),
        ("steady drift 1 % per round", (0.01, 0.0), Residual::Normal),
        ("random walk 1 % per round", (0.0, 0.01), Residual::Normal),
        ("random walk 3 % per round", (0.0, 0.03), Residual::Normal),
        ("bimodal residual", (0.0, 0.01), Residual::Bimodal),
        ("heavy residual", (0.0, 0.01), Residual::Heavy),
    ] {
        let one_by_one = vec![1; 32];
        for (layout, batches) in [("batches", vec![8, 4, 4, 8, 8]), ("one rotation at a time", one_by_one)] {
            let model = Model { groups: 8, candidates: 1, drift, residual, batches, ..Model::default() };
            let twin = adaptive::twins(&model, 600, 15, MINIMUM_EFFECT);
            println!("{name:28} {layout:24} {twin}");
            assert!(twin.different_rate() <= 0.012, "{name}");
        }
    }
}

#[test]
#[ignore = "slow lane"]
fn an_equal_share_per_look_decides_earlier_than_obrien_and_fleming() {
    println!("{}", Tally::header());
    let effects = vec![0.0, 0.0, by(2.0), by(3.0), by(5.0)];
    for (groups, candidates, campaigns) in [(1, 1, 600), (2, 2, 300), (16, 3, 60)] {
        let model = Model { groups, candidates, effects: effects.clone(), ..Model::default() };
        for spending in [Spending::Equal, Spending::OBrienFleming] {
            let tally = simulate_spending(&model, campaigns, 16, MINIMUM_EFFECT, spending);
            report(&format!("{spending:?} {}", groups * candidates), &tally);
            assert!(tally.family_error_rate() <= 0.05);
        }
    }
}

#[test]
#[ignore = "slow lane"]
fn borrowed_spreads_keep_their_coverage() {
    alternatives::moderation();
}

#[test]
#[ignore = "slow lane"]
fn the_rejected_alternatives_are_worse() {
    alternatives::estimators();
    let table = alternatives::methods();
    assert!(table.ours_false <= 0.01);
    assert!(table.u_test_false > 0.3);
}

#[test]
#[ignore = "slow lane"]
fn unchanged_series_hardly_ever_change() {
    println!("changes told per 1000 points without one");
    for (likeness, heavy, machines) in [
        (0.0, false, false),
        (0.3, false, false),
        (0.5, false, false),
        (0.0, true, false),
        (0.3, true, false),
        (0.5, true, false),
        (0.3, false, true),
        (0.5, true, true),
        (0.7, false, false),
    ] {
        let kind = history::Kind { spread: 0.02, likeness, heavy };
        let rate = history::false_alarms(&kind, 250, machines);
        println!("φ {likeness} heavy {heavy} machines {machines}: {rate:.2}");
        // Beyond 0.5 a series wanders; how often it is told as changes is on the page of the method, not promised.
        assert!(rate <= 1.0 || likeness > 0.5, "φ {likeness} heavy {heavy} machines {machines}: {rate}");
    }
}

#[test]
#[ignore = "slow lane"]
fn steps_of_three_percent_are_found_within_five_points() {
    println!("share of steps of 3 % told within 5 points");
    for history in [10, 15, 20, 30, 50] {
        for (likeness, heavy) in [(0.0, false), (0.3, false), (0.5, false), (0.3, true)] {
            for spread in [0.003, 0.004, 0.005, 0.0075, 0.01] {
                let kind = history::Kind { spread, likeness, heavy };
                let share = history::found(&kind, history, 0.03, 200);
                println!("history {history} φ {likeness} heavy {heavy} spread {spread}: {share:.3}");
                let promised = spread <= 0.004 && likeness <= 0.3 && history >= 20;
                assert!(
                    !promised || share >= 0.95,
                    "history {history} φ {likeness} spread {spread}: {share}"
                );
            }
        }
    }
}

#[test]
#[ignore = "slow lane"]
fn a_gate_hardly_ever_fails_without_a_change() {
    println!("shares of gates slower:2% over unchanged series");
    for own in [Some(0.003), None] {
        for (likeness, heavy) in
            [(0.0, false), (0.3, false), (0.5, false), (0.0, true), (0.3, true), (0.5, true)]
        {
            for (earlier, checks, gates) in
                [(1, 1, 4000), (3, 1, 4000), (6, 1, 4000), (20, 1, 2000), (60, 1, 600), (20, 10, 300)]
            {
                for spread in [0.002, 0.004, 0.01, 0.02, 0.05] {
                    let kind = history::Kind { spread, likeness, heavy };
                    let case = gate::Case { kind, own, earlier, slower: 0, step: 0.0, checks };
                    let (failed, undecided) = gate::shares(&case, gates);
                    println!(
                        "{earlier} earlier, {checks} checks, own error {own:?}, φ {likeness} heavy {heavy} noise {spread}: failed {:.2} %, \
                         undecided {:.1} %",
                        100.0 * failed,
                        100.0 * undecided
                    );
                    // With one or two earlier campaigns their noise is taken to be 1 %.
                    let promised = earlier >= 3 || spread <= 0.01;
                    // Ten series with heavy tails: 1.2 %.
                    let chance = 2.6 * (0.01 / gates as f64).sqrt();
                    assert!(!promised || failed <= 0.01 + chance, "{failed}");
                }
            }
        }
    }
}

#[test]
#[ignore = "slow lane"]
fn a_gate_fails_for_steps_of_three_percent_and_goes_on_failing() {
    println!("shares of gates slower:2% over series that got slower by 3 %");
    for (likeness, checks) in [(0.0, 1), (0.3, 1), (0.5, 1), (0.3, 10)] {
        for earlier in [6, 12, 20, 40] {
            for slower in [1, 2, 3, 5, 10] {
                for spread in [0.002, 0.004, 0.006, 0.01, 0.02] {
                    let kind = history::Kind { spread, likeness, heavy: false };
                    let before = earlier + slower - 1;
                    let case = gate::Case { kind, own: None, earlier: before, slower, step: 0.03, checks };
                    let (failed, undecided) = gate::shares(&case, if checks > 1 { 60 } else { 500 });
                    println!(
                        "{earlier} at the old level, run {slower} of the new one, {checks} checks, φ {likeness} noise {spread}: \
                         failed {:.1} %, undecided {:.1} %",
                        100.0 * failed,
                        100.0 * undecided
                    );
                    let promised = earlier >= 20 && spread <= 0.004 && checks == 1;
                    assert!(!promised || failed >= 0.95, "{failed}");
                }
            }
        }
    }
}

#[test]
fn a_few_gates_fail_where_something_got_slower_and_not_elsewhere() {
    let case = |spread, slower| gate::Case {
        kind: history::Kind { spread, likeness: 0.3, heavy: false },
        own: Some(0.001),
        earlier: 20,
        slower,
        step: 0.03,
        checks: 1,
    };
    assert!(gate::shares(&case(0.003, 1), 20).0 >= 0.95);
    assert_eq!(gate::shares(&case(0.02, 0), 60).0, 0.0);
}

#[test]
fn a_few_series_change_where_they_do_and_not_elsewhere() {
    let quiet = history::Kind { spread: 0.003, likeness: 0.3, heavy: false };
    assert!(history::found(&quiet, 20, 0.03, 20) >= 0.95);
    assert_eq!(history::false_alarms(&history::Kind { spread: 0.02, ..quiet }, 8, false), 0.0);
}

#[test]
#[ignore = "slow lane"]
fn machines_that_are_alike_are_hardly_ever_said_to_differ() {
    println!("reports that say of machines within the tolerance that some differ");
    for machines in [2, 3, 5, 10] {
        for halves in [false, true] {
            for heavy in [false, true] {
                for noise in [0.0, 0.004, 0.01, 0.015, 0.02] {
                    let case = outlying::Case { machines, halves, noise, heavy, slower: 0.0 };
                    let reports = 2000;
                    let said = outlying::shares(&case, reports).any;
                    println!(
                        "{machines} machines, {} noise {:.1} % heavy {heavy}: {:.2} %",
                        if halves { "half of them at the tolerance," } else { "alike," },
                        100.0 * noise,
                        100.0 * said
                    );
                    // Heavy tails at the edge of what is allowed are on the page of the method, not promised.
                    let promised = noise <= 0.01 && !(halves && heavy);
                    let chance = 2.6 * (0.01 / f64::from(reports)).sqrt();
                    assert!(!promised || said <= 0.01 + chance, "{machines} machines, noise {noise}: {said}");
                }
            }
        }
    }
}

#[test]
#[ignore = "slow lane"]
fn a_slow_machine_is_told_and_no_healthy_one_in_its_place() {
    println!("reports that tell of a slow machine (of two: that they differ), and that name a healthy one");
    for machines in [2, 3, 5, 10] {
        for slower in [0.05, 0.10, 0.20] {
            for noise in [0.004, 0.01] {
                let case = outlying::Case { machines, halves: false, noise, heavy: false, slower };
                let found = outlying::shares(&case, 2000);
                println!(
                    "{machines} machines, one {:.0} % slower, noise {:.1} %: told {:.1} %, a healthy one named {:.2} %",
                    100.0 * slower,
                    100.0 * noise,
                    100.0 * found.right,
                    100.0 * found.wrong
                );
                assert!(found.wrong <= 0.01, "{machines} machines, {slower}: {}", found.wrong);
                assert!(
                    slower < 0.2 || found.right >= 0.95,
                    "{machines} machines, {slower}: {}",
                    found.right
                );
            }
        }
    }
}
