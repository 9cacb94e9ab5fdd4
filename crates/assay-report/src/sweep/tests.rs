use super::answer::sentence;
use super::page::{CrossoverPage, PageSweepKey, PairPage, RatioAt, ZonePage};
use super::value::{crossover, span, value};
use super::{columns, render_sweep, sample};
use crate::Detail;
use crate::golden::{assert_golden, assert_no_line_wider};
use crate::page::RatioInterval;
use assay_pure::sweep::Winner;

#[test]
fn the_views_are_the_golden_texts() {
    for (name, page) in [("share", sample::share()), ("size", sample::size())] {
        for width in [80, 160] {
            let text = render_sweep(&page, width, false, Detail::Brief);
            assert_golden(&format!("sweep-{name}-{width}.txt"), &text);
        }
    }
    assert_golden("sweep-share-120-all.txt", &render_sweep(&sample::share(), 120, false, Detail::Full));
    assert_golden("sweep-size.csv", &columns(&sample::size()));
}

#[test]
fn no_line_is_wider_than_asked() {
    for page in [sample::share(), sample::size(), sample::stopped()] {
        for detail in [Detail::Brief, Detail::Full] {
            assert_no_line_wider(60..170, |width| render_sweep(&page, width, false, detail));
        }
    }
}

#[test]
fn the_pairs_of_two_candidates_are_shown_in_full_only() {
    let page = sample::share();
    assert!(!render_sweep(&page, 100, false, Detail::Brief).contains("swar vs. bmi2"));
    assert!(render_sweep(&page, 100, false, Detail::Full).contains("swar vs. bmi2"));
}

#[test]
fn a_row_has_as_many_fields_as_the_header() {
    let text = columns(&sample::share());
    let fields: Vec<usize> = text.lines().map(|line| line.matches(',').count()).collect();
    assert_eq!(fields.len(), 12);
    assert!(fields.iter().all(|count| *count == fields[0]), "{fields:?}");
}

fn key() -> PageSweepKey {
    sample::share().key
}

fn plain_key() -> PageSweepKey {
    PageSweepKey { percent: false, ..sample::size().key }
}

fn flip(at: f64, lower: f64, upper: f64) -> CrossoverPage {
    let faster = |name: &str| name.to_owned();
    CrossoverPage {
        at,
        lower,
        upper,
        faster_below: faster("branch"),
        faster_above: faster("bmi2"),
        wanted_width: 1.0,
        limited_by: None,
        confirmed: true,
    }
}

#[test]
fn values_are_written_as_a_reader_wants_them() {
    assert_eq!(value(&key(), 0.313), "31.3 %");
    assert_eq!(value(&key(), 1.0), "100 %");
    assert_eq!(value(&plain_key(), 25_000.0), "25,000");
    assert_eq!(value(&plain_key(), 0.375), "0.375");
    assert_eq!(span(&key(), 0.28, 0.33), "28 to 33 %");
    assert_eq!(span(&plain_key(), 1000.0, 2e6), "1,000 to 2,000,000");
}

#[test]
fn a_crossover_shows_its_longer_side_with_the_digits_that_it_has() {
    assert_eq!(crossover(&key(), &flip(0.31, 0.29, 0.32)), "31 % ± 2");
    assert_eq!(crossover(&key(), &flip(0.3134, 0.302, 0.324)), "31.3 % ± 1.1");
    assert_eq!(crossover(&plain_key(), &flip(25_130.0, 24_000.0, 26_330.0)), "25,100 ± 1,200");
    assert_eq!(crossover(&plain_key(), &flip(4.0, 3.6, 4.4)), "4.0 ± 0.4");
}

#[test]
fn a_crossover_that_is_hardly_known_is_told_by_the_ends_of_its_interval() {
    assert_eq!(crossover(&plain_key(), &flip(53_600.0, 3162.0, 907_800.0)), "3,200 to 910,000");
    assert_eq!(crossover(&plain_key(), &flip(38.7, 15.0, 100.0)), "15 to 100");
    assert_eq!(crossover(&key(), &flip(0.02, 0.0, 0.045)), "0 to 4.5 %");
}

#[test]
fn a_crossover_that_lies_near_one_end_of_its_interval_is_told_by_both_ends() {
    assert_eq!(crossover(&plain_key(), &flip(25_130.0, 20_000.0, 26_330.0)), "20,000 to 26,300");
    assert_eq!(crossover(&key(), &flip(0.869, 0.7832, 0.875)), "78.3 to 87.5 %");
}

fn zone(winner: Winner, from: f64, to: f64) -> ZonePage {
    let (lowest_ratio, highest_ratio) = match winner {
        Winner::Candidate => (0.5, 0.8),
        Winner::Baseline => (1.25, 2.0),
        Winner::Neither | Winner::Unclear => (0.999, 1.001),
    };
    ZonePage { winner, from, to, lowest_ratio, highest_ratio }
}

fn said(crossovers: Vec<CrossoverPage>, zones: Vec<ZonePage>) -> String {
    let pair = PairPage {
        candidate: "bmi2".into(),
        baseline: "branch".into(),
        note: String::new(),
        ratios: Vec::new(),
        crossovers,
        zones,
        campaigns_differ_by: None,
    };
    sentence(&key(), &pair, 0.01)
}

#[test]
fn a_flip_is_told_with_its_interval_and_the_zone_in_which_it_does_not_matter() {
    let (low, high) = (zone(Winner::Baseline, 0.0, 0.28), zone(Winner::Candidate, 0.34, 1.0));
    assert_eq!(
        said(vec![flip(0.31, 0.29, 0.33)], vec![low, high]),
        "bmi2 wins above multi_byte = 31 % ± 2, branch below"
    );
    assert_eq!(
        said(vec![flip(0.31, 0.29, 0.33)], vec![low, zone(Winner::Neither, 0.3, 0.32), high]),
        "bmi2 wins above multi_byte = 31 % ± 2, branch below; equal within 1 % from 30 to 32 %"
    );
}

#[test]
fn a_flip_within_the_margin_is_no_practical_one() {
    let (low, equal) = (zone(Winner::Baseline, 0.0, 0.28), zone(Winner::Neither, 0.3, 1.0));
    assert_eq!(
        said(vec![flip(0.31, 0.29, 0.33)], vec![low, equal]),
        "branch wins below multi_byte = 31 % ± 2; bmi2 is nowhere ahead by 1 % or more"
    );
    assert_eq!(
        said(vec![flip(0.31, 0.29, 0.33)], vec![zone(Winner::Neither, 0.0, 1.0)]),
        "no practical difference: they cross at multi_byte = 31 % ± 2, but neither is ahead by 1 % anywhere"
    );
}

#[test]
fn without_a_flip_the_winner_or_its_absence_is_named() {
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Candidate, 0.0, 1.0)]),
        "bmi2 wins everywhere (multi_byte = 0 to 100 %), by 20 to 50 %"
    );
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Baseline, 0.0, 1.0)]),
        "branch wins everywhere (multi_byte = 0 to 100 %), by 20 to 50 %"
    );
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Neither, 0.0, 1.0)]),
        "no practical difference between bmi2 and branch (multi_byte = 0 to 100 %)"
    );
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Unclear, 0.0, 1.0)]),
        "undecided: whether bmi2 and branch differ by 1 % or more"
    );
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Candidate, 0.0, 0.5), zone(Winner::Neither, 0.6, 1.0)]),
        "bmi2 wins from 0 to 50 % by 20 to 50 %, no practical difference from 60 to 100 % (multi_byte)"
    );
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Candidate, 0.25, 0.75)]),
        "bmi2 wins from 25 to 75 % by 20 to 50 %, not measured below 25 %, not measured above 75 % (multi_byte)"
    );
    assert_eq!(
        said(Vec::new(), vec![zone(Winner::Candidate, 0.0, 0.0), zone(Winner::Neither, 0.6, 1.0)]),
        "bmi2 wins at 0 % by 20 to 50 %, no practical difference from 60 to 100 % (multi_byte)"
    );
    assert_eq!(said(Vec::new(), Vec::new()), "bmi2 and branch were never measured together");
}

#[test]
fn several_flips_are_told_in_order() {
    let back =
        CrossoverPage { faster_below: "bmi2".into(), faster_above: "branch".into(), ..flip(0.9, 0.88, 0.92) };
    assert_eq!(
        said(vec![flip(0.31, 0.29, 0.33), back], Vec::new()),
        "branch wins up to multi_byte = 31 % ± 2, bmi2 up to 90 % ± 2, branch above"
    );
}

#[test]
fn a_flip_that_is_hardly_known_is_between_two_values() {
    let zones = || vec![zone(Winner::Baseline, 0.0, 0.01), zone(Winner::Candidate, 1.0, 1.0)];
    assert_eq!(
        said(vec![flip(0.11, 0.0001, 1.0)], zones()),
        "bmi2 wins above a point between multi_byte = 0.010 and 100 %, branch below"
    );
}

#[test]
fn a_measured_end_of_the_range_is_undecided_and_no_gap() {
    let ratio = |at: f64, winner: Winner| RatioAt {
        at,
        ratio: RatioInterval { ratio: 0.6, lower: 0.3, upper: 1.2 },
        winner,
        campaigns: 1,
        shared: true,
    };
    let (open, won) = (Winner::Unclear, Winner::Candidate);
    let mut page = sample::share();
    let pair = PairPage {
        ratios: vec![
            ratio(0.0, open),
            ratio(0.25, won),
            ratio(0.75, won),
            ratio(0.875, open),
            ratio(1.0, open),
        ],
        crossovers: Vec::new(),
        zones: vec![zone(won, 0.25, 0.75)],
        ..page.series[0].pairs[0].clone()
    };
    let (candidate, baseline) = (pair.candidate.clone(), pair.baseline.clone());
    assert_eq!(
        sentence(&key(), &pair, 0.01),
        format!(
            "{candidate} wins from 25 to 75 % by 20 to 50 %, undecided at 0 %, undecided from 87.5 to 100 % (multi_byte)"
        )
    );
    let two = PairPage { candidate: "other".into(), ..pair.clone() };
    let three = PairPage { candidate: "third".into(), ..pair.clone() };
    page.series[0].pairs = vec![pair, two, three];
    let told = super::answer::answer(&page);
    let first = format!("Compared with {baseline}, {candidate} wins from 25 to 75 %, undecided at 0 %");
    assert!(told.starts_with(&first), "{told}");
}

#[test]
fn an_answer_about_many_has_a_sentence_for_each_and_refers_to_nothing_elsewhere() {
    let mut page = sample::share();
    let of = |candidate: &str, crossovers: Vec<CrossoverPage>, zones: Vec<ZonePage>| PairPage {
        candidate: candidate.into(),
        baseline: "branch".into(),
        note: String::new(),
        ratios: Vec::new(),
        crossovers,
        zones,
        campaigns_differ_by: None,
    };
    let faster = |below: &str, above: &str, found: CrossoverPage| CrossoverPage {
        faster_below: below.into(),
        faster_above: above.into(),
        ..found
    };
    let won = || vec![zone(Winner::Candidate, 0.4, 0.7)];
    page.baseline = "branch".into();
    page.series.truncate(1);
    page.series[0].pairs = vec![
        of("table", Vec::new(), vec![zone(Winner::Baseline, 0.0, 1.0)]),
        of("hinted", Vec::new(), vec![zone(Winner::Candidate, 0.0, 1.0)]),
        of(
            "swar",
            vec![
                faster("branch", "swar", flip(0.3, 0.28, 0.32)),
                faster("swar", "branch", flip(0.869, 0.7832, 0.875)),
            ],
            won(),
        ),
        of("stable", vec![faster("stable", "branch", flip(0.01, 0.0001, 1.0))], won()),
        of("alike", Vec::new(), vec![zone(Winner::Unclear, 0.0, 1.0)]),
    ];
    assert_eq!(
        super::answer::answer(&page),
        "Compared with branch, hinted wins everywhere. table loses everywhere. swar wins from 30 % ± 2 to a point between 78.3 and \
         87.5 % (multi_byte). stable wins below a point between 0.010 and 100 %. alike is undecided: whether it differs by 1 % or more."
    );
}

#[test]
fn nothing_measured_is_said_so() {
    assert_eq!(sample::stopped().answer, "Nothing could be measured.");
}
