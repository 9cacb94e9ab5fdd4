//! Who takes the least time on each input, as far as that can be said.
//!
//! A variant is out of the running on an input in a build when something else is shown to be faster there: a candidate when
//! it is slower than the baseline, or when its interval lies above that of another candidate that is decided; the baseline
//! when any candidate is faster. Intervals are those against the baseline, so two that only touch leave it open: stricter
//! than a comparison of the two would be. Over several builds those are told that are in the running in any of them. So
//! "branch or table" says that all others are slower, and never which of the two is faster.

use super::finding::{BuildRef, CandidateFinding};
use crate::page::{PageContrast, Verdict};
use assay_pure::words;

/// Who may be the fastest on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Running<'a> {
    /// Variants in the running in any build, in the order of the page.
    variants: Vec<&'a str>,
    how: How,
}

/// Why there is more than one, if there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// There is one.
    Alone,
    /// Each build has one of its own.
    ByBuild,
    /// They are equivalent in every build.
    Tied,
    /// Nothing tells them apart.
    Either,
    /// Nobody is out.
    Open,
}

/// "bmi2 takes least time on p80, branch or table on all-1; no clear winner on burst." `axis` is what builds differ in.
pub(super) fn sentence(findings: &[CandidateFinding], axis: &str) -> String {
    let all: Vec<&PageContrast> =
        findings.iter().flat_map(|finding| finding.contrasts.iter().copied()).collect();
    let mut inputs: Vec<&str> = Vec::new();
    for contrast in &all {
        if !inputs.contains(&contrast.input.as_str()) {
            inputs.push(&contrast.input);
        }
    }
    let mut groups: Vec<(Running, Vec<&str>)> = Vec::new();
    for &input in &inputs {
        let running = running(&all.iter().copied().filter(|c| c.input == input).collect::<Vec<_>>());
        match groups.iter_mut().find(|(known, _)| *known == running) {
            Some((_, held)) => held.push(input),
            None => groups.push((running, vec![input])),
        }
    }
    // The clearest first, of equally clear ones the larger holdings.
    groups.sort_by_key(|(running, held)| (running.how, std::cmp::Reverse(held.len())));
    let place = |held: &[&str]| match held.len() {
        n if n == inputs.len() && n > 1 => format!("on all {n} inputs"),
        n if n <= 3 => format!("on {}", words::list(held)),
        n => format!("on {n} of {} inputs", inputs.len()),
    };
    let mut parts = Vec::new();
    for (running, held) in &groups {
        let (names, plural) = running.told(axis);
        parts.push(match (running.how, parts.is_empty()) {
            (How::Open, _) => format!("no clear winner {}", place(held)),
            (_, true) => {
                format!("{names} {} least time {}", if plural { "take" } else { "takes" }, place(held))
            }
            (_, false) => format!("{names} {}", place(held)),
        });
    }
    format!("{}.", parts.join(", "))
}

impl Running<'_> {
    /// The names as a subject, and whether it takes a plural verb.
    fn told(&self, axis: &str) -> (String, bool) {
        match self.how {
            How::Alone | How::Open => (words::list(&self.variants), false),
            How::Tied => (format!("{} (equivalent)", words::list(&self.variants)), true),
            How::Either => (either(&self.variants), false),
            How::ByBuild => (format!("{}, by {axis},", either(&self.variants)), false),
        }
    }
}

fn either(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words::list(names),
    }
}

/// Who is in the running; all contrasts are of one input.
fn running<'a>(contrasts: &[&'a PageContrast]) -> Running<'a> {
    let mut builds: Vec<BuildRef> = Vec::new();
    let mut variants: Vec<&str> = Vec::new();
    for contrast in contrasts {
        if !builds.contains(&BuildRef::of(contrast)) {
            builds.push(BuildRef::of(contrast));
        }
        for name in [contrast.baseline.as_str(), contrast.candidate.as_str()] {
            if !variants.contains(&name) {
                variants.push(name);
            }
        }
    }
    let of_builds: Vec<(Vec<&str>, bool)> = builds
        .iter()
        .map(|build| {
            of_build(&contrasts.iter().copied().filter(|c| BuildRef::of(c) == *build).collect::<Vec<_>>())
        })
        .collect();
    let in_any: Vec<&str> =
        variants.iter().copied().filter(|name| of_builds.iter().any(|(own, _)| own.contains(name))).collect();
    let how = match in_any.len() {
        1 => How::Alone,
        _ if of_builds.iter().all(|(own, _)| own.len() == 1) => How::ByBuild,
        _ if of_builds.iter().all(|(own, tied)| *tied && *own == of_builds[0].0) => How::Tied,
        n if n == variants.len() => How::Open,
        _ => How::Either,
    };
    Running { variants: in_any, how }
}

/// Who is in the running in one build, and whether they are all known to be equivalent.
fn of_build<'a>(contrasts: &[&'a PageContrast]) -> (Vec<&'a str>, bool) {
    let below = |own: &PageContrast, other: &PageContrast| match (own.code, other.code) {
        (Some(own), Some(other)) => own.upper < other.lower,
        _ => false,
    };
    let is_out = |candidate: &PageContrast| {
        candidate.verdict == Verdict::Slower
            || contrasts.iter().any(|o| o.verdict != Verdict::Undecided && below(o, candidate))
    };
    let left: Vec<&PageContrast> = contrasts.iter().copied().filter(|c| !is_out(c)).collect();
    let baseline_is_out = contrasts.iter().any(|c| c.verdict == Verdict::Faster);
    let tied = !baseline_is_out && left.iter().all(|c| c.verdict == Verdict::Equivalent);
    let baseline = contrasts.first().filter(|_| !baseline_is_out).map(|c| c.baseline.as_str());
    (baseline.into_iter().chain(left.into_iter().map(|c| c.candidate.as_str())).collect(), tied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{contrast, undecided};

    fn findings(contrasts: &[PageContrast]) -> Vec<CandidateFinding<'_>> {
        let of =
            |name: &str| CandidateFinding::of(contrasts.iter().filter(|c| c.candidate == name).collect(), 3);
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
        assert_eq!(
            sentence(&findings(&contrasts), "compiler"),
            "bmi2 takes least time on p80 and log, branch on all-1."
        );
    }

    #[test]
    fn names_who_is_left_where_intervals_overlap_or_builds_differ() {
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
        assert_eq!(
            sentence(&findings(&contrasts), "compiler"),
            "table or bmi2, by compiler, takes least time on builds, table or bmi2 on overlap, branch or table on open."
        );
    }

    #[test]
    fn says_nothing_of_who_is_not_known_to_be_slower() {
        let contrasts = [
            undecided(contrast("table", "p80", "gcc-12", Verdict::Faster, 0.99), 9, 1.0),
            undecided(contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.99), 9, 1.0),
            contrast("table", "log", "gcc-12", Verdict::Equivalent, 1.0),
            contrast("bmi2", "log", "gcc-12", Verdict::Slower, 1.3),
        ];
        assert_eq!(
            sentence(&findings(&contrasts), "compiler"),
            "branch and table (equivalent) take least time on log, no clear winner on p80."
        );
        // Only what is decided puts another candidate out of the running.
        let contrasts = [
            undecided(contrast("table", "p80", "gcc-12", Verdict::Faster, 0.8), 9, 1.0),
            contrast("bmi2", "p80", "gcc-12", Verdict::Faster, 0.95),
        ];
        assert_eq!(sentence(&findings(&contrasts), "compiler"), "table or bmi2 takes least time on p80.");
    }
}
