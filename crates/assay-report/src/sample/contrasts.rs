//! Contrasts of the sample pages: every verdict and every word for as built.

use crate::page::*;

/// A contrast with a tight interval; `as_built` 0 leaves the plain link out.
pub(crate) fn contrast(
    candidate: &str,
    input: &str,
    compiler: &str,
    verdict: Verdict,
    code: f64,
) -> PageContrast {
    PageContrast {
        candidate: candidate.to_owned(),
        baseline: "branch".to_owned(),
        input: input.to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        axis: Axis::Variant,
        against: None,
        as_built: None,
        code: Some(RatioInterval { ratio: code, lower: code - 0.005, upper: code + 0.005 }),
        placement_ratio: None,
        verdict,
        proven: false,
        as_built_says: None,
        causes: Vec::new(),
        modes: None,
        reasons: Vec::new(),
        rotations: 8,
        rotations_lost: 0,
        rotations_needed: None,
        seconds_needed: None,
        minimum_detectable_effect: Some(0.006),
    }
}

/// A contrast both of whose sides run at two speeds, and are equal in each.
pub(crate) fn two_speeds() -> PageContrast {
    let mut found = contrast("copy", "p80", "gcc-12", Verdict::Undecided, 1.021);
    let side = |fast: f64, slow_share: f64, offsets: &[u32]| SideModes {
        visits: 192,
        fast,
        slow: Some(fast * 1.465),
        slow_share,
        mean: fast * (1.0 + 0.465 * slow_share),
        offsets: offsets.to_vec(),
    };
    let ratio = |ratio: f64, half: f64| RatioInterval { ratio, lower: ratio - half, upper: ratio + half };
    found.modes = Some(ContrastModes {
        candidate: side(0.356, 0.14, &[0, 16, 32, 48]),
        baseline: side(0.355, 0.09, &[0, 32]),
        fast: ratio(1.002, 0.004),
        slow: Some(ratio(1.003, 0.007)),
        slow_share_difference: ShareDifference { difference: 0.05, lower: -0.02, upper: 0.12 },
        equal_in_each: true,
    });
    found.causes = vec![cause(Cause::Modes, Some(0.9), "copy runs at 0.356 ns or 0.522 ns per unit")];
    found
}

/// The same with what one plain link shows.
pub(crate) fn built(mut contrast: PageContrast, ratio: f64, says: AsBuiltSays) -> PageContrast {
    contrast.as_built = Some(RatioInterval { ratio, lower: ratio - 0.002, upper: ratio + 0.002 });
    contrast.placement_ratio = contrast.code.map(|code| ratio / code.ratio);
    contrast.as_built_says = Some(says);
    contrast
}

/// An undecided contrast that four rotations and `rotations` more would decide.
pub(crate) fn undecided(mut contrast: PageContrast, rotations: u32, seconds: f64) -> PageContrast {
    contrast.code = contrast.code.map(|code| RatioInterval {
        lower: code.ratio - 0.021,
        upper: code.ratio + 0.021,
        ..code
    });
    contrast.verdict = Verdict::Undecided;
    contrast.rotations = 4;
    contrast.rotations_needed = Some(4 + rotations);
    contrast.seconds_needed = Some(seconds);
    contrast.minimum_detectable_effect = Some(0.021);
    contrast
}

fn cause(cause: Cause, share: Option<f64>, evidence: &str) -> CauseEvidence {
    CauseEvidence { cause, share, evidence: evidence.to_owned() }
}

pub(crate) fn page_contrasts() -> Vec<PageContrast> {
    use AsBuiltSays::{Confirmed, Deflated, Ghost, Inflated, Masked, Reversed};
    use Verdict::{Equivalent, Faster, Slower};
    let mut ghost = built(contrast("copy", "p80", "gcc-12", Equivalent, 1.004), 1.206, Ghost);
    ghost.causes = vec![
        cause(
            Cause::IdenticalCode,
            None,
            "both functions are the same 47 bytes of machine code after relocation",
        ),
        cause(
            Cause::Placement,
            Some(0.98),
            "as built, branch starts at offset 0 (0.713 ns) and copy at 16 (0.872 ns)",
        ),
    ];
    ghost.reasons = vec!["the interval of the code effect lies within ±1 %".to_owned()];
    let mut reversed = built(contrast("table", "all-1", "gcc-12", Slower, 1.212), 0.931, Reversed);
    reversed.causes =
        vec![cause(Cause::Placement, None, "as built, branch starts at its slowest offset, 48")];
    let mut slower = built(contrast("table", "log-uniform", "gcc-12", Slower, 1.382), 1.361, Confirmed);
    slower.causes = vec![cause(Cause::Work, Some(0.9), "5 more instructions per byte")];
    slower.reasons =
        vec!["the interval of the code effect excludes 0 and the estimate is beyond 1 %".to_owned()];
    let mut open =
        built(undecided(contrast("bmi2", "p80", "clang-16", Faster, 0.987), 12, 8.4), 0.972, Confirmed);
    open.as_built_says = None;
    open.reasons = vec!["the interval of the code effect reaches from -3.4 to +0.8 %".to_owned()];
    vec![
        reversed,
        built(contrast("table", "p80", "gcc-12", Slower, 1.121), 1.214, Inflated),
        slower,
        built(contrast("copy", "all-1", "gcc-12", Equivalent, 0.9993), 1.003, Confirmed),
        ghost,
        built(contrast("copy", "log-uniform", "gcc-12", Equivalent, 1.001), 0.998, Confirmed),
        built(contrast("bmi2", "all-1", "gcc-12", Slower, 2.315), 2.294, Confirmed),
        built(contrast("bmi2", "p80", "gcc-12", Faster, 0.908), 0.991, Masked),
        built(contrast("bmi2", "log-uniform", "gcc-12", Faster, 0.448), 0.441, Confirmed),
        built(contrast("table", "all-1", "clang-16", Slower, 1.201), 1.043, Deflated),
        contrast("table", "p80", "clang-16", Slower, 1.154),
        contrast("table", "log-uniform", "clang-16", Slower, 1.209),
        contrast("bmi2", "all-1", "clang-16", Slower, 2.297),
        open,
        contrast("bmi2", "log-uniform", "clang-16", Faster, 0.431),
    ]
}

pub(crate) fn dependence(compiler: &str, note: &str) -> InputDependentContrast {
    InputDependentContrast {
        candidate: "bmi2".to_owned(),
        baseline: "branch".to_owned(),
        compiler: compiler.to_owned(),
        flags: "O2".to_owned(),
        against: None,
        flips: Dependence::Sign,
        favours_candidate: vec!["log-uniform".to_owned()],
        favours_baseline: vec!["all-1".to_owned()],
        note: note.to_owned(),
    }
}
