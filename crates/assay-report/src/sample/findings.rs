//! What the sample pages find beside contrasts: memorised inputs, explained times, claims.

use crate::page::*;

pub(crate) fn learned_input() -> LearnedInput {
    LearnedInput {
        input: "log-uniform".to_owned(),
        units: 10_000,
        tosses: 15_760,
        remembered_tosses: Some(46_336),
        in_part: false,
        fresh_misses_per_unit: 0.788,
        repeated_misses_per_unit: 0.002,
        predictor: "tage-sc-l-64k".to_owned(),
        enough_units: 84_000,
        note: "the input log-uniform is memorised by the predictor".to_owned(),
    }
}

pub(crate) fn explained() -> ExplainedTimes {
    ExplainedTimes {
        cells: 21,
        predictor: Some("tage-sc-l-64k".to_owned()),
        r_squared: Some(0.953),
        holds: true,
        r_squared_one_constant: Some(0.871),
        constants_ns: [("branch".to_owned(), 0.12), ("bmi2".to_owned(), 1.71)].into(),
        ns_per_instruction: Some(MedianInterval { median: 0.153, lower: 0.141, upper: 0.165 }),
        ns_per_misprediction: Some(MedianInterval { median: 5.21, lower: 4.98, upper: 5.44 }),
        typical_residual_ns: Some(0.21),
        worst: vec![CellResidual {
            variant: "bmi2".to_owned(),
            input: "all-1".to_owned(),
            compiler: "gcc-12".to_owned(),
            flags: "O2".to_owned(),
            ns: 1.91,
            fitted_ns: 2.55,
        }],
        note: Some("too few cells".to_owned()),
    }
}

pub(crate) fn claims() -> Vec<Claim> {
    let claim = |text: &str, status, found: &str, source: Option<&str>| Claim {
        text: text.to_owned(),
        status,
        found: found.to_owned(),
        source: source.map(str::to_owned),
    };
    vec![
        claim(
            "the table decoder is 1.3 times faster on random lengths",
            ClaimStatus::Refuted,
            "table takes 21 to 38 % more time on log-uniform",
            Some("a weekend with a lookup table"),
        ),
        claim(
            "branch wins on realistic data",
            ClaimStatus::Confirmed,
            "table takes 12 to 15 % more time on p80",
            None,
        ),
        claim(
            "bmi2 is 5 % faster on p80",
            ClaimStatus::Undecided,
            "-9.2 % with gcc-12, undecided with clang-16 (about 12 more rotations)",
            None,
        ),
    ]
}
