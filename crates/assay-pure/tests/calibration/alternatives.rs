//! What was rejected, with numbers: other locations of the samples, and other ways to compare two variants.

use crate::model::{Dice, Model, Residual};
use assay_pure::stats::interval::{mean_and_variance, t_interval};
use assay_pure::stats::moderation::{PRIOR_CAP, Prior, estimate_prior, moderate};
use assay_pure::stats::quantile::median;
use assay_pure::stats::rotation::Effect;
use assay_pure::verdict::effect::{code_effect, compare_at, observe};
use assay_pure::verdict::{Observation, ObservedContrast, PairAt, Verdict, VerdictOptions, judge};

/// A named way to reduce one placement to ln(candidate / baseline).
type Estimator = (&'static str, fn(&PairAt) -> f64);

fn logs(side: &[Observation]) -> Vec<f64> {
    side.iter().map(|sample| sample.ns_per_unit.ln()).collect()
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn walsh_averages(pair: &PairAt) -> f64 {
    let differences: Vec<f64> =
        logs(&pair.candidate).iter().zip(logs(&pair.baseline)).map(|(c, b)| c - b).collect();
    let averages: Vec<f64> = (0..differences.len())
        .flat_map(|i| (i..differences.len()).map(move |j| (i, j)))
        .map(|(i, j)| 0.5 * (differences[i] + differences[j]))
        .collect();
    median(&averages).expect("samples")
}

const ESTIMATORS: [Estimator; 5] = [
    ("median of paired log ratios", |pair| compare_at(pair).expect("samples").log_ratio),
    ("Hodges-Lehmann of paired", walsh_averages),
    ("difference of medians", |pair| {
        median(&logs(&pair.candidate)).expect("samples") - median(&logs(&pair.baseline)).expect("samples")
    }),
    ("difference of minima", |pair| least(&logs(&pair.candidate)) - least(&logs(&pair.baseline))),
    ("difference of means", |pair| mean(&logs(&pair.candidate)) - mean(&logs(&pair.baseline))),
];

/// Prints the standard error of each estimator at one placement; the truth is known to the last digit because both
/// sides lie at the same offset with no residual.
pub fn estimators() {
    println!("standard error of ln ratio at one placement, % (rounds x samples; window cost differs by 5 %)");
    for (rounds, outliers) in [(1, 0.05), (2, 0.05), (3, 0.05), (2, 0.15), (6, 0.05)] {
        let model = Model {
            groups: 60,
            candidates: 1,
            spread: (1e-9, 2e-9),
            rounds,
            outliers,
            batches: vec![8],
            ..Model::default()
        };
        let campaign = model.campaign(&mut Dice::new(21));
        let same_offset: Vec<&PairAt> = campaign
            .contrasts
            .iter()
            .flat_map(|contrast| contrast.rotations.iter().flat_map(|rotation| &rotation.phases))
            .filter(|pair| pair.candidate_offset == pair.baseline_offset)
            .collect();
        let errors: Vec<String> = ESTIMATORS
            .iter()
            .map(|(name, estimator)| {
                let squares: Vec<f64> = same_offset.iter().map(|pair| estimator(pair).powi(2)).collect();
                format!("{name} {:.2}", 100.0 * mean(&squares).sqrt())
            })
            .collect();
        println!("{rounds} x 4, {:2.0} % outliers: {}", 100.0 * outliers, errors.join(", "));
    }
}

/// How often each way of comparing names a winner between two copies of the same code.
pub struct Methods {
    pub ours_false: f64,
    pub u_test_false: f64,
}

/// Null pairs, 8 rotations (32 links); prints false winners beyond 1 % and the half widths of the intervals.
pub fn methods() -> Methods {
    let model = Model { groups: 400, candidates: 1, rounds: 4, batches: vec![8], ..Model::default() };
    let contrasts = model.campaign(&mut Dice::new(22)).contrasts;
    let share = |wrong: &dyn Fn(&ObservedContrast) -> bool| {
        contrasts.iter().filter(|contrast| wrong(contrast)).count() as f64 / contrasts.len() as f64
    };
    let as_built = |contrast: &ObservedContrast| contrast.as_built.clone().expect("as built");
    let u_test = share(&|contrast| {
        let pair = as_built(contrast);
        mann_whitney_p(&logs(&pair.candidate), &logs(&pair.baseline)) < 0.05
            && ESTIMATORS[2].1(&pair).abs() > 0.01
    });
    let minima = share(&|contrast| ESTIMATORS[3].1(&as_built(contrast)).abs() > 0.01);
    let t_test = share(&|contrast| welch_says_different(&as_built(contrast)));
    let options = VerdictOptions::default();
    let ours = judge(&contrasts, &options);
    let ours_false = ours.contrasts.iter().filter(|found| found.verdict.is_difference()).count() as f64
        / contrasts.len() as f64;
    let naive = share(&|contrast| {
        let found = &judge(std::slice::from_ref(contrast), &options).contrasts[0];
        found.as_built_verdict.is_some_and(Verdict::is_difference)
    });
    println!("null pairs called faster or slower beyond 1 %, 400 pairs:");
    println!(
        "  U test on as-built samples {u_test:.3}, best-of-n as built {minima:.3}, Welch on as-built samples {t_test:.3},"
    );
    println!("  paired by rounds as built {naive:.3}, rotations {ours_false:.4}");
    let (random, rotated) = (half_widths(&contrasts, false), half_widths(&contrasts, true));
    println!(
        "  median half width of a 95 % interval from 32 links: random links {:.2} %, rotations {:.2} %",
        random, rotated
    );
    Methods { ours_false, u_test_false: u_test }
}

/// Median over contrasts of the 95 % half width in %: 32 placements as if each were a random link, or 8 rotations.
fn half_widths(contrasts: &[ObservedContrast], rotated: bool) -> f64 {
    let mut dice = Dice::new(23);
    let widths: Vec<f64> = contrasts
        .iter()
        .map(|contrast| {
            let values: Vec<f64> = if rotated {
                let found = assay_pure::verdict::effect::observe(contrast);
                found.ratios.iter().map(|ratio| ratio.log_ratio).collect()
            } else {
                // A random link puts either function anywhere: the sides come from independently drawn phases.
                let phases: Vec<&PairAt> =
                    contrast.rotations.iter().flat_map(|rotation| &rotation.phases).collect();
                (0..32)
                    .map(|_| {
                        let (a, b) = (dice.pick(&phases), dice.pick(&phases));
                        median(&logs(&a.candidate)).expect("samples")
                            - median(&logs(&b.baseline)).expect("samples")
                    })
                    .collect()
            };
            let (centre, variance) = mean_and_variance(&values).expect("several");
            let error = (variance / values.len() as f64).sqrt();
            let interval = t_interval(centre, error, values.len() as f64 - 1.0, 0.05).expect("a level");
            100.0 * 0.5 * (interval.upper - interval.lower)
        })
        .collect();
    median(&widths).expect("contrasts")
}

fn welch_says_different(pair: &PairAt) -> bool {
    let side = |samples: &[Observation]| {
        let (mean, variance) = mean_and_variance(&logs(samples)).expect("several");
        (mean, variance / samples.len() as f64)
    };
    let ((mean_c, error_c), (mean_b, error_b)) = (side(&pair.candidate), side(&pair.baseline));
    let estimate = mean_c - mean_b;
    estimate.abs() > 0.01 && estimate.abs() > 1.96 * (error_c + error_b).sqrt()
}

/// Two-sided p of the Mann-Whitney U test, normal approximation (no ties in continuous timings).
fn mann_whitney_p(a: &[f64], b: &[f64]) -> f64 {
    let wins: f64 = a.iter().map(|x| b.iter().filter(|y| x > y).count() as f64).sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let z = (wins - n * m / 2.0).abs() / (n * m * (n + m + 1.0) / 12.0).sqrt();
    // Student's t with very many degrees is the normal distribution.
    assay_pure::stats::student::two_sided_p(z, 1e6)
}

/// A named way to set an effect's variance and degrees, given the prior.
type Moderation = (&'static str, fn(Effect, Prior) -> Effect);

const MODERATIONS: [Moderation; 3] = [
    ("plain t", |effect, _| effect),
    ("moderated as in limma", |effect, prior| {
        let borrowed = prior.degrees.min(PRIOR_CAP * effect.degrees);
        let degrees = effect.degrees + borrowed;
        let variance = (borrowed * prior.variance + effect.degrees * effect.variance) / degrees;
        Effect { variance, degrees, ..effect }
    }),
    ("moderated, restricted", moderate),
];

/// Coverage at the level one of fifty contrasts gets (99.9 %) and the median half width, for three ways to judge spreads.
pub fn moderation() {
    println!("coverage of 99.9 % and of 95 % intervals, median half width at 99.9 %");
    for (residual, groups, candidates, spread) in [
        (Residual::Normal, 16, 3, (0.003, 0.015)),
        (Residual::Heavy, 16, 3, (0.003, 0.015)),
        (Residual::Bimodal, 16, 3, (0.003, 0.015)),
        (Residual::Normal, 16, 3, (0.006, 0.008)),
        (Residual::Normal, 4, 3, (0.003, 0.015)),
        (Residual::Normal, 4, 2, (0.003, 0.015)),
    ] {
        for rotations in [4, 8] {
            let model =
                Model { groups, candidates, residual, spread, batches: vec![rotations], ..Model::default() };
            let campaigns = 16_000 / (groups * candidates);
            let found = coverage_of(&model, campaigns, rotations);
            let row: Vec<String> = MODERATIONS
                .iter()
                .zip(&found)
                .map(|((name, _), (far, plain, width))| format!("{name} {far:.4} {plain:.3} {width:.2} %"))
                .collect();
            println!(
                "{residual:?} {} contrasts, spread {spread:?}, {rotations} rotations: {}",
                groups * candidates,
                row.join("; ")
            );
            assert!(found[2].0 >= 0.9983 && found[2].1 >= 0.945, "{residual:?} {groups} {rotations}");
        }
    }
}

fn coverage_of(model: &Model, campaigns: usize, rotations: usize) -> Vec<(f64, f64, f64)> {
    let mut counts = vec![(0.0, 0.0, Vec::new()); MODERATIONS.len()];
    let mut total = 0.0;
    for number in 0..campaigns {
        let campaign = model.campaign(&mut Dice::new(31_000_003 + number as u64));
        let effects: Vec<Effect> =
            campaign.after(rotations).iter().map(|c| code_effect(&observe(c)).expect("rotations")).collect();
        let prior = estimate_prior(&effects).expect("eight contrasts and more");
        for (effect, truth) in effects.iter().zip(&campaign.truth) {
            total += 1.0;
            for ((_, change), counts) in MODERATIONS.iter().zip(&mut counts) {
                let changed = change(*effect, prior);
                let (far, plain) =
                    (changed.interval(0.001).expect("level"), changed.interval(0.05).expect("level"));
                counts.0 += f64::from(u8::from(far.lower <= *truth && *truth <= far.upper));
                counts.1 += f64::from(u8::from(plain.lower <= *truth && *truth <= plain.upper));
                counts.2.push(100.0 * 0.5 * (far.upper - far.lower));
            }
        }
    }
    counts
        .iter()
        .map(|(far, plain, widths)| (far / total, plain / total, median(widths).expect("some")))
        .collect()
}
