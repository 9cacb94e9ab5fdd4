//! Who takes the least time on each input, where that can be said.
//!
//! A candidate wins on an input when it is faster than the baseline and its interval lies below those of all other
//! candidates, in every build. The baseline wins when every candidate is slower. Intervals are those against the baseline, so
//! two that only touch leave it open: stricter than a comparison of the two would be.

use super::finding::{Build, Finding};
use crate::page::{Contrast, Verdict};
use crate::prose;

/// "bmi2 takes least time on p80, branch on all-1; no clear winner on burst."
pub(super) fn sentence(findings: &[Finding]) -> String {
    let all: Vec<&Contrast> = findings.iter().flat_map(|finding| finding.contrasts.iter().copied()).collect();
    let mut inputs: Vec<&str> = Vec::new();
    for contrast in &all {
        if !inputs.contains(&contrast.input.as_str()) {
            inputs.push(&contrast.input);
        }
    }
    let mut groups: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    for &input in &inputs {
        let winner = winner(all.iter().copied().filter(|c| c.input == input).collect());
        match groups.iter_mut().find(|(known, _)| *known == winner) {
            Some((_, won)) => won.push(input),
            None => groups.push((winner, vec![input])),
        }
    }
    // The unclear ones last, the larger holdings first.
    groups.sort_by_key(|(winner, won)| (winner.is_none(), std::cmp::Reverse(won.len())));
    let place = |won: &[&str]| match won.len() {
        n if n == inputs.len() && n > 1 => format!("on all {n} inputs"),
        n if n <= 3 => format!("on {}", prose::list(won)),
        n => format!("on {n} of {} inputs", inputs.len()),
    };
    let mut parts = Vec::new();
    for (winner, won) in &groups {
        parts.push(match winner {
            Some(name) if parts.is_empty() => format!("{name} takes least time {}", place(won)),
            Some(name) => format!("{name} {}", place(won)),
            None => format!("no clear winner {}", place(won)),
        });
    }
    format!("{}.", parts.join(", "))
}

/// The one that wins in every build; all contrasts are of one input.
fn winner(contrasts: Vec<&Contrast>) -> Option<&str> {
    let mut builds: Vec<Build> = Vec::new();
    for contrast in &contrasts {
        if !builds.contains(&Build::of(contrast)) {
            builds.push(Build::of(contrast));
        }
    }
    let of_build = |build: &Build| {
        let own: Vec<&Contrast> = contrasts.iter().copied().filter(|c| Build::of(c) == *build).collect();
        winner_of_build(&own)
    };
    let winners: Vec<Option<&str>> = builds.iter().map(of_build).collect();
    let first = *winners.first()?;
    if winners.iter().all(|winner| *winner == first) { first } else { None }
}

fn winner_of_build<'a>(contrasts: &[&'a Contrast]) -> Option<&'a str> {
    if contrasts.iter().all(|c| c.verdict == Verdict::Slower) {
        return contrasts.first().map(|c| c.baseline.as_str());
    }
    let wins = |candidate: &Contrast| {
        let below = |other: &Contrast| match (candidate.code, other.code) {
            (Some(own), Some(theirs)) => own.upper < theirs.lower,
            _ => false,
        };
        candidate.verdict == Verdict::Faster
            && contrasts.iter().all(|other| other.candidate == candidate.candidate || below(other))
    };
    contrasts.iter().find(|candidate| wins(candidate)).map(|candidate| candidate.candidate.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{contrast, undecided};

    fn findings(contrasts: &[Contrast]) -> Vec<Finding<'_>> {
        let of = |name: &str| Finding::of(contrasts.iter().filter(|c| c.candidate == name).collect(), 3);
        vec![of("table"), of("bmi2")]
    }

    #[test]
    fn names_the_winner_of_each_input() {
        let contrasts = [
            contrast("table", "all-1", "gcc-12", Verdict::Slower, 1.2),
            contrast("bmi2", "all-1", "gcc-12", Verdict::Slower, 2.3),
            contrast("table", "p80", "gcc-12", Verdict::Faster, 0.9),
            contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.8),
            contrast("table", "log", "gcc-12", Verdict::Slower, 1.2),
            contrast("bmi2", "log", "gcc-12", Verdict::Faster, 0.4),
        ];
        assert_eq!(sentence(&findings(&contrasts)), "bmi2 takes least time on p80 and log, branch on all-1.");
    }

    #[test]
    fn leaves_open_what_overlaps_is_undecided_or_differs_by_build() {
        let contrasts = [
            contrast("table", "overlap", "gcc-12", Verdict::Faster, 0.803),
            contrast("bmi2", "overlap", "gcc-12", Verdict::Faster, 0.8),
            undecided(contrast("table", "open", "gcc-12", Verdict::Faster, 0.99), 9, 1.0),
            contrast("bmi2", "open", "gcc-12", Verdict::Slower, 1.3),
            contrast("table", "builds", "gcc-12", Verdict::Faster, 0.7),
            contrast("bmi2", "builds", "gcc-12", Verdict::Faster, 0.8),
            contrast("table", "builds", "clang-16", Verdict::Faster, 0.8),
            contrast("bmi2", "builds", "clang-16", Verdict::Faster, 0.7),
        ];
        assert_eq!(sentence(&findings(&contrasts)), "no clear winner on all 3 inputs.");
    }
}
