//! What to do about what the answer leaves open: one line below it.
//!
//! Method: an undecided contrast is worth more measuring if its estimated need is at most ten times what was measured; for
//! the rest the line says how small the difference must be, by the intervals, so that the reader may stop. Where
//! something makes the figures untrue, that is mended first; where the twin control failed, nothing else matters. Limits: the need is an extrapolation of the spread seen, and says "about".

use crate::page::{Page, PageContrast, Stopped, TwinVerdict, Verdict};
use assay_pure::words;

/// Measuring that is suggested, at most, in times of what was measured.
pub(crate) const MOST_TIMES: f64 = 10.0;
/// A difference of at most this much, a fraction, is no statement.
const MOST_TOLD: f64 = 1.0;

/// The line; nothing where nothing is to be done.
pub fn next(page: &Page) -> Option<String> {
    if let Some(first) = page.findings.first() {
        return Some(first.remedy.clone());
    }
    if page.contrasts.is_empty() {
        return None;
    }
    if page.twin_control.verdict == TwinVerdict::Different {
        let what = "measure again while nothing else runs, or on another core (--cpu N): in this campaign the baseline differs \
                    from itself";
        return Some(what.to_owned());
    }
    let parts: Vec<String> = longer(page).into_iter().chain(learned(page)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// "--budget 180 (seconds) should decide 5 of the 7 undecided contrasts; the others differ by at most 1.3 %".
fn longer(page: &Page) -> Option<String> {
    let open: Vec<&PageContrast> =
        page.contrasts.iter().filter(|contrast| contrast.verdict == Verdict::Undecided).collect();
    if open.is_empty() {
        return None;
    }
    let reach = MOST_TIMES * page.campaign.measured_seconds.max(page.campaign.budget_seconds);
    let is_near = |contrast: &&&PageContrast| contrast.seconds_needed.is_some_and(|seconds| seconds <= reach);
    let (near, far): (Vec<&PageContrast>, Vec<&PageContrast>) =
        open.iter().partition(|contrast| is_near(contrast));
    let rest = far_told(&far, near.is_empty());
    // Rotations serve all contrasts at once: the most demanding one decides.
    let seconds = near.iter().filter_map(|contrast| contrast.seconds_needed).reduce(f64::max);
    let Some(seconds) = seconds else { return Some(rest) };
    let all_measured = page.campaign.stopped_because == Stopped::Rotations;
    // Where rotations were lost more rounds fill them; where none was, only more rotations tell more.
    let lost = near.iter().any(|contrast| contrast.rotations_lost > 0);
    let least = if all_measured && lost { 2.0 * page.campaign.budget_seconds } else { 0.0 };
    let budget = rounded_up((page.campaign.measured_seconds + seconds).max(least));
    let rotations = near.iter().filter_map(|contrast| contrast.rotations_needed).max();
    let more = rotations
        .filter(|_| all_measured && !lost)
        .map(|needed| format!(" with max_rotations = {needed}"))
        .unwrap_or_default();
    let decides = match (near.len(), open.len()) {
        (1, 1) => "the undecided contrast".to_owned(),
        (near, open) if near == open => format!("the {open} undecided contrasts"),
        (near, open) => format!("{near} of the {open} undecided contrasts"),
    };
    let rest = if far.is_empty() { String::new() } else { format!("; {rest}") };
    Some(format!("--budget {budget:.0} (seconds){more} should decide {decides}{rest}"))
}

/// Of contrasts that no affordable measuring decides: how large the difference can be at most.
fn far_told(far: &[&PageContrast], all: bool) -> String {
    let bound = bound(far)
        .filter(|bound| *bound <= MOST_TOLD)
        .map(|bound| format!(" by at most {}", words::fraction(bound)));
    let (who, verb) = match (far.len(), all) {
        (1, true) => ("the undecided contrast".to_owned(), "differs"),
        (_, true) => (format!("the {} undecided contrasts", far.len()), "differ"),
        (1, false) => ("the other".to_owned(), "differs"),
        (_, false) => ("the others".to_owned(), "differ"),
    };
    match bound {
        Some(bound) => {
            format!(
                "{who} {verb}{bound}; measuring longer will hardly decide that: if it does not matter, raise minimum_effect"
            )
        }
        None => format!("{who} had too few samples to say anything: raise --budget"),
    }
}

/// The farthest that any of these can be from no difference, by its interval: a fraction of the baseline's time. None where one has
/// no interval.
fn bound(open: &[&PageContrast]) -> Option<f64> {
    let reach = |contrast: &&PageContrast| {
        contrast.code.map(|code| (code.upper - 1.0).abs().max((1.0 - code.lower).abs()))
    };
    open.iter().map(reach).try_fold(0.0_f64, |most, reach| Some(most.max(reach?)))
}

/// "use at least 84,000 varints in log-uniform, more than a predictor memorises".
fn learned(page: &Page) -> Option<String> {
    let one = |input: &crate::page::LearnedInput| {
        format!("{} in {}", words::plural(input.enough_units, &page.unit), input.input)
    };
    let needs: Vec<String> = page.learned_inputs.iter().map(one).collect();
    (!needs.is_empty())
        .then(|| format!("use at least {}, more than a predictor memorises", words::list(&needs)))
}

/// To two digits, upwards: 183.2 is 190.
pub(crate) fn rounded_up(seconds: f64) -> f64 {
    let step = 10f64.powf(seconds.max(1.0).log10().floor() - 1.0);
    (seconds / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{contrast, nothing, undecided};

    fn page(contrasts: Vec<PageContrast>) -> Page {
        let mut page = Page { contrasts, ..nothing() };
        page.campaign.measured_seconds = 40.0;
        page.campaign.budget_seconds = 60.0;
        page.campaign.stopped_because = Stopped::Budget;
        page
    }

    fn open(rotations: u32, seconds: f64) -> PageContrast {
        undecided(contrast("table", "p80", "gcc-12", Verdict::Faster, 0.99), rotations, seconds)
    }

    #[test]
    fn says_nothing_where_all_is_decided() {
        let decided = contrast("table", "p80", "gcc-12", Verdict::Faster, 0.8);
        assert_eq!(next(&page(vec![decided])), None);
        assert_eq!(next(&page(Vec::new())), None);
    }

    #[test]
    fn names_the_budget_that_would_decide() {
        let one = next(&page(vec![open(12, 8.4)]));
        assert_eq!(one.as_deref(), Some("--budget 49 (seconds) should decide the undecided contrast"));
        let two = next(&page(vec![open(12, 8.4), open(40, 143.2)]));
        assert_eq!(two.as_deref(), Some("--budget 190 (seconds) should decide the 2 undecided contrasts"));
    }

    #[test]
    fn where_rotations_are_spent_it_asks_for_more_of_them() {
        let mut spent = page(vec![open(12, 8.4)]);
        spent.campaign.stopped_because = Stopped::Rotations;
        let needed = spent.contrasts[0].rotations_needed.expect("the sample knows it");
        let expected = format!(
            "--budget 49 (seconds) with max_rotations = {needed} should decide the undecided contrast"
        );
        assert_eq!(next(&spent), Some(expected));
    }

    #[test]
    fn where_rotations_were_lost_more_rounds_are_what_helps() {
        let mut lost = page(vec![open(1, 0.4)]);
        lost.campaign.stopped_because = Stopped::Rotations;
        lost.contrasts[0].rotations_lost = 6;
        let told = next(&lost);
        assert_eq!(told.as_deref(), Some("--budget 120 (seconds) should decide the undecided contrast"));
    }

    #[test]
    fn what_is_out_of_reach_is_told_by_its_interval() {
        let far = next(&page(vec![open(8_000, 90_000.0)]));
        assert_eq!(
            far.as_deref(),
            Some(
                "the undecided contrast differs by at most 3.1 %; measuring longer will hardly decide that: if it does not \
                 matter, raise minimum_effect"
            )
        );
        let both = next(&page(vec![open(12, 8.4), open(8_000, 90_000.0)]));
        assert!(both.expect("a line").starts_with(
            "--budget 49 (seconds) should decide 1 of the 2 undecided contrasts; the other differs by at most 3.1 %"
        ));
        let mut nothing_known = page(vec![open(8_000, 90_000.0)]);
        nothing_known.contrasts[0].code = None;
        assert_eq!(
            next(&nothing_known).as_deref(),
            Some("the undecided contrast had too few samples to say anything: raise --budget")
        );
    }

    #[test]
    fn a_failed_twin_control_comes_alone() {
        let mut failed = page(vec![open(12, 8.4)]);
        failed.twin_control.verdict = TwinVerdict::Different;
        assert!(next(&failed).expect("a line").starts_with("measure again"));
    }
}
